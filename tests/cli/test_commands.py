"""The commands, from a table to predictions."""

import io
import json
import re
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from budgetlearn.cli import predict as asking
from budgetlearn.cli.commands import cli
from budgetlearn.cli.fit import parts_of, sampled
from budgetlearn.cli.output import least, not_compared
from budgetlearn.cli.saved_model import SavedModel
from budgetlearn.cli.serve import conversation
from budgetlearn.cli.table import AN_ID, read_own_table
from tests.cli.conftest import FIT, PRICES, QUICK, patients

pytestmark = pytest.mark.usefixtures("quick_cascade")


def test_fit_prints_what_each_price_buys_and_marks_the_budget(folder, told):
    status, out, err = told(*FIT, "--method", "msb", "--budget", "4", "--out", "m.joblib")
    assert (status, err) == (0, "")
    assert (
        "144 rows to train, 48 to validate, 48 held out; 4 columns with a total cost of 41.3" in out
    )
    assert "smoker has the categories: former, no, yes" in out
    (marked,) = [line for line in out.splitlines() if line.startswith("→ ") and "buys" not in line]
    price, score, _, error = marked[1:].split()[:4]
    assert float(price) <= 4
    assert 0.5 < float(score) < 1
    assert error.startswith(".")
    saved = SavedModel.load("m.joblib")
    assert saved.budget == 4
    assert saved.costs.full == pytest.approx(41.3)
    assert saved.curve["test_score"].between(0.4, 1).all()


@pytest.mark.parametrize("method", ["cascade", "fmcc"])
def test_a_price_that_differs_between_rows_has_its_error_beside_it(folder, told, method):
    _, out, _ = told(*FIT, "--method", method, "--out", "m.joblib")
    curve = SavedModel.load("m.joblib").steps()
    row = curve[curve["cost_se"] > 0.005].iloc[0]
    assert f" {least(row['cost'])} ± {row['cost_se']:.2f}  " in out
    # A cap alone does not lead to a stage that the curve lacks.
    status, out, _ = told("predict", "m.joblib", "table.csv", "--max-cost", "5", "--fallback")
    assert status == 0
    assert pd.read_csv(io.StringIO(out))["cost"].between(0, 5).all()


def test_without_prices_each_column_costs_1(folder, told):
    status, out, _ = told("fit", "table.csv", "--target", "ill", "--method", "filter_forest")
    assert status == 0
    assert "4 columns with a total cost of 4." in out


@pytest.mark.parametrize("method", ["msb", "cascade", "budgetrf", "cost_sensitive_rf"])
def test_predict_needs_only_what_is_bought(folder, told, method):
    assert told(*FIT, "--method", method, "--budget", "20", "--out", "m.joblib")[0] == 0
    status, _, err = told("predict", "m.joblib", "table.csv", "--out", "out.csv")
    assert (status, err) == (0, "")
    made = pd.read_csv("out.csv", keep_default_na=False)
    assert made.columns.tolist() == [
        "ill",
        "probability",
        "probability_no",
        "probability_yes",
        "cost",
        "bought",
    ]
    assert (made["ill"] == patients()["ill"]).mean() > 0.7
    prices = {"age": 1, "smoker": 2, "glucose": 15.5, "insulin": 20.7, "": 0}
    for cost, bought in zip(made["cost"], made["bought"], strict=True):
        names = bought.split("; ")
        blood = 2.1 * bool({"glucose", "insulin"} & set(names))
        assert cost == pytest.approx(sum(prices[name] for name in names) + blood)
    ever = sorted(set("; ".join(made["bought"]).split("; ")) - {""})
    patients()[ever].to_csv("few.csv", index=False)
    status, again, _ = told("predict", "m.joblib", "few.csv")
    assert status == 0
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(again), keep_default_na=False), made)


def test_predict_tells_unknown_words_and_missing_columns(folder, told):
    assert told(*FIT, "--method", "cascade", "--out", "m.joblib")[0] == 0
    patients().head(5).assign(smoker="maybe").to_csv("new.csv", index=False)
    _, _, err = told("predict", "m.joblib", "new.csv")
    assert "Column 'smoker' has categories unknown in training, taken as missing: 'maybe'" in err
    patients()[["insulin"]].head(3).to_csv("new.csv", index=False)
    status, _, err = told("predict", "m.joblib", "new.csv")
    assert status == 2
    wanted = "'age', 'smoker', 'glucose' (found: none like it). It has: 'insulin'"
    assert f"lacks columns that the prediction needs: {wanted}" in err
    status, out, _ = told("predict", "m.joblib", "new.csv", "--fallback")
    assert (status, out.count("\n")) == (0, 4)
    # With a cap, what no row can pay for is not missed, and each row goes as a case does.
    patients()[["age", "smoker"]].head(30).assign(glucose=None).to_csv("new.csv", index=False)
    status, out, err = told("predict", "m.joblib", "new.csv", "--max-cost", "3")
    assert (status, err) == (0, "")
    made, case = pd.read_csv(io.StringIO(out)), asking.Case(SavedModel.load("m.joblib"), None, 3)
    while case.next:
        case.give(case.next, patients()[case.next][1])
    assert made["ill"][1] == case.state()["prediction"]
    assert 0 < made["cost"].max() <= 3
    assert made["cost"][1] == case.state()["spent"]
    assert "(without glucose)" in told("predict", "m.joblib", "new.csv", "--max-cost", "30")[2]


def test_ask_at_the_prompt_and_in_json_agree(folder, told, monkeypatch):
    assert told(*FIT, "--method", "cascade", "--out", "m.joblib")[0] == 0
    case = {"age": 61, "smoker": "yes", "glucose": 131.5, "insulin": None}
    done, lines = None, []
    session = asking.Case(SavedModel.load("m.joblib"), None, None)
    while session.next is not None:
        lines.append(json.dumps({"value": case[session.next]}))
        session.give(session.next, case[session.next])
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    _, out, _ = told("ask", "m.joblib", "--json")
    states = [json.loads(line) for line in out.splitlines()]
    *steps, done = states
    assert [set(step) for step in steps] == [
        {"next", "price", "prediction", "probability", "probabilities", "spent"}
    ] * len(steps)
    assert done["done"]
    spent = np.cumsum([step["price"] for step in steps if case[step["next"]] is not None])
    assert done["spent"] == pytest.approx(spent[-1])
    typed = "".join(
        f"{'' if case[step['next']] is None else case[step['next']]}\n" for step in steps
    )
    shown = CliRunner().invoke(cli, ["ask", "m.joblib"], input=typed)
    assert f"next: {steps[0]['next']}, {steps[0]['price']:.2f}; now" in shown.output
    digits = int(0.995 < done["probability"] < 1)
    sure = f"{done['prediction']} ({100 * done['probability']:.{digits}f} % sure)"
    assert f"prediction: {sure}, for {done['spent']:.2f}" in shown.output
    again = CliRunner().invoke(cli, ["ask", "m.joblib"], input=f"old\n{typed}").output
    what = {True: "is not a number (decimal mark: '.'). Leave it", False: "known categories: "}
    assert what[steps[0]["next"] != "smoker"] in again
    assert "Leave it empty if you do not have it.\n" in again


def test_a_cap_alone_chooses_what_it_affords(folder, told, monkeypatch):
    assert told(*FIT, "--method", "greedy_miser", "--out", "m.joblib")[0] == 0
    saved = SavedModel.load("m.joblib")
    measured = saved.curve.loc[saved.model.choose(None, 3.0)]
    assert 0 < measured["cost"] <= 3 < saved.limit()
    assert asking.Case(saved, None, 3.0).stage == measured.name
    said = conversation(saved, None, 3.0, [])["about"]
    assert f"accuracy {measured['test_score']:.3f} ±" in said
    assert said.endswith("on average, measured without the limit of 3 per case.")
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"value": 61}\n{"value": "yes"}\n'))
    status, out, _ = told("ask", "m.joblib", "--json", "--max-cost", "3")
    last = json.loads(out.splitlines()[-1])
    assert (status, last["done"]) == (0, True)
    assert 0 < last["spent"] <= 3


def test_ask_says_which_words_it_knows(folder, told):
    assert told(*FIT, "--method", "cascade", "--out", "m.joblib", "--drop", "age")[0] == 0
    case = asking.Case(SavedModel.load("m.joblib"), None, None)
    with pytest.raises(Exception, match="'maybe' is unknown; known categories: former, no, yes"):
        case.give("smoker", "maybe")


def test_the_prompt_says_that_there_are_more_words_than_it_shows(capsys):
    words, state = [f"w{k}" for k in range(9)], {"prediction": 1, "probability": None, "price": 1}
    case = SimpleNamespace(next="job", form=None, words=words, state=lambda: state)
    stopped = mock.patch("click.prompt", side_effect=KeyboardInterrupt)
    with stopped as prompt, pytest.raises(KeyboardInterrupt):
        asking._at_the_prompt(case)
    assert prompt.call_args.args[0].endswith("w6, w7 and 1 more)")


def test_a_target_of_numbers_is_regression(folder, told):
    patients().assign(ill=lambda t: t["age"].fillna(50) * 2 + t["glucose"]).to_csv("table.csv")
    table = ("fit", "table.csv", "--target", "ill", "--drop", "Unnamed: 0", "--out", "m.joblib")
    status, out, _ = told(*table, "--costs", "prices.csv")
    assert status == 0
    assert out.startswith("auto on table.csv")
    assert "R²" in out
    status, out, _ = told("predict", "m.joblib", "table.csv")
    assert status == 0
    assert out.startswith("ill,cost,bought\n")
    (folder / "free.csv").write_text(PRICES.replace("age,1,", "age,0,"))
    for method in ("budgetrf", "lightgbm", "cascade"):
        status, out, _ = told(*table, "--method", method, "--costs", "free.csv")
        assert status == 0
        assert "Buying nothing" in out
        saved = SavedModel.load("m.joblib", trust=True)
        assert saved.free["says"] == pytest.approx(saved.model.constant_[0])  # of the same rows
    status, _, err = told(*table, "--method", "msb")
    assert status == 2
    assert "msb does not predict numbers. Methods for regression: auto, cascade" in err


@pytest.mark.parametrize(
    ("separator", "decimal", "extra"),
    [(";", ",", ["--decimal", ","]), ("\t", ".", []), (",", ".", [])],
)
def test_csv_as_spreadsheets_write_it(folder, told, separator, decimal, extra):
    text = patients().to_csv(index=False, sep=separator, decimal=decimal)
    (folder / "table.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    status, out, err = told(*QUICK, *extra)
    assert (status, err) == (0, "")
    assert "4 columns" in out


def test_parquet_gives_the_same_as_csv(folder, told):
    patients().to_parquet("table.parquet")
    table = ("table.parquet", "--target", "ill", "--costs", "prices.csv", "--method")
    _, parquet, _ = told("fit", *table, "filter_forest")
    assert parquet.replace("table.parquet", "table.csv") == told(*QUICK)[1]


def test_rows_are_capped_and_it_is_told(folder, told):
    status, out, err = told(*QUICK, "--max-rows", "100", "--report", "m.html")
    assert status == 0
    assert "Note: 100 of 240 rows are used, drawn at random (--max-rows)." in err
    assert "60 rows to train, 20 to validate, 20 held out, drawn from 240; 4 columns" in out
    page = " ".join((folder / "m.html").read_text().split())
    assert "20 held out, drawn at random from 240 rows." in page


def test_the_rows_that_are_drawn_keep_the_classes_in_proportion(folder, told):
    table = patients().assign(ill=lambda t: np.where(t.index % 8 == 0, "rare", "usual"))
    table.to_csv("table.csv", index=False)
    own = read_own_table("table.csv", "ill", None, (), None)
    drawn = [sampled(own, 80, np.random.RandomState(seed)) for seed in (0, 0, 1, 2, 3)]
    for rows in drawn:
        assert (own.y[rows] == "rare").sum() == 10
        assert rows.size == np.unique(rows).size == 80
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    assert sampled(own, 240, np.random.RandomState(0)).tolist() == list(range(240))


def test_methods_that_were_not_compared_are_named_together(folder, told):
    out = told("fit", "table.csv", "--target", "ill", "--minutes", "1e-5")[1]
    (line,) = (line for line in out.splitlines() if line.startswith("Not compared"))
    assert "LightGBM, " in line
    assert line.endswith("sparse linear (longer than --minutes).")
    late = "longer than max_minutes"
    said = not_compared({"cascade": late, "msB": "no solution"}, buys_nothing=False)
    assert said[1:] == [
        "Not compared: msB (no solution).",
        "The cascade often predicts best for its cost: try more --minutes or --jobs.",
    ]
    assert len(not_compared({"msB": late}, buys_nothing=False)) == 1


@pytest.mark.parametrize("guaranteed", [False, True])
@pytest.mark.parametrize("words", [False, True])
def test_rows_of_one_id_are_all_in_one_part(folder, guaranteed, words):
    name = "p" if words else ""
    table = patients().assign(
        who=lambda t: [f"{name}{k // 4}" if k % 20 else None for k in t.index]
    )
    table.to_csv("table.csv", index=False)
    own = read_own_table("table.csv", "ill", None, (), None, row_id="who")
    rows = sampled(own, 200, np.random.RandomState(0))
    parts = parts_of(own, rows, np.random.RandomState(0), guaranteed)
    calibration = table["who"][parts[3]]
    assert calibration.dropna().is_unique  # a row of each
    assert (calibration.size > 5) == guaranteed
    parts = [set(table["who"][part].dropna()) for part in parts]
    assert sum(map(len, parts)) == len(set.union(*parts)) > 40
    assert read_own_table("table.csv", "ill", None, (), None).groups is None


@pytest.mark.parametrize("n_levels", [100, 3])
def test_repeats_are_told_where_they_are_no_chance(folder, n_levels):
    table = pd.DataFrame({name: np.arange(100) % n_levels + 0.5 for name in "abcd"} | {"ill": "no"})
    table.loc[::3, "ill"] = "yes"
    table.loc[np.arange(100).repeat(3)].to_csv("table.csv", index=False)
    notes = list(read_own_table("table.csv", "ill", None, (), None).notes)
    assert [each[:28] for each in notes] == ["200 rows repeat earlier ones"] * (n_levels == 100)
    one = table.head(99).assign(ill="no", two=np.arange(99) + 0.5)
    pd.concat([one, one.assign(ill="yes")]).to_csv("table.csv", index=False)
    assert not list(read_own_table("table.csv", "ill", None, (), None).notes)  # no case twice


def test_the_doubt_of_what_is_held_out_is_that_of_so_many_ids(folder, told):
    table = patients().loc[np.arange(240).repeat(4)].assign(who=lambda t: t.index)
    table.to_csv("table.csv", index=False)
    for method in ("budgetrf", "auto"):
        words = ("fit", "table.csv", "--target", "ill", "--method", method, "--minutes", "1e-5")
        assert told(*words, "--id", "who", "--out", "m.joblib")[0] == 0
        saved = SavedModel.load("m.joblib", trust=True)
        scores = {"test_score": saved.n_rows[2]}
        if method == "budgetrf":
            scores["score"] = saved.n_rows[1]  # on validation rows
        for row in (saved.curve.iloc[0], saved.free):
            for score, n_rows in scores.items():
                wanted = np.sqrt(row[score] * (1 - row[score]) / (n_rows / 4 - 1))
                assert row[f"{score}_se"] == pytest.approx(wanted)


def test_the_same_seed_gives_the_same_schedule(folder, told):
    assert told(*QUICK)[1] == told(*QUICK)[1]


def test_the_same_model_gives_the_same_bytes(folder, told):
    """Not even the name of the file is in it."""
    for name in ("one", "other"):
        assert told(*QUICK, "--out", name)[0] == 0
    assert (folder / "one").read_bytes() == (folder / "other").read_bytes()


def test_every_command_has_help(told):
    for command in cli.commands:
        status, out, _ = told(command, "--help")
        assert status == 0
        assert "--debug" in out


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "Case Id", "patientId", "caseID"])
def test_what_may_name_patients_is_asked_about(name):
    assert re.search(AN_ID, name)
    for other in ("paid", "grid", "acid", "idea", "PAID", "identity", "fluid "):
        assert not re.search(AN_ID, other)
