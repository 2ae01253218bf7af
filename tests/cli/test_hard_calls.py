"""Calls that could give a wrong number: each is done right, or it says what was taken how."""

import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import check_random_state

from budgetlearn import FreeConstantClassifier
from budgetlearn.cli import output
from budgetlearn.cli.commands import run
from budgetlearn.cli.fit import _curve, fit_table, parts_of, telling
from budgetlearn.cli.fit import rates as rates_of
from budgetlearn.cli.output import amount, least, lines_of, print_schedule
from budgetlearn.cli.saved_model import SavedModel
from budgetlearn.cli.table import read_own_table
from tests.cli.conftest import FIT, PRICES, QUICK, patients

pytestmark = pytest.mark.usefixtures("quick_cascade")

N = 240
RANDOM = np.random.default_rng(5)
NUMBERS = RANDOM.permutation(N) + 1000
HALVES = RANDOM.integers(0, 16, N) / 2
FEW = RANDOM.integers(0, 5, N)
BINARY = RANDOM.integers(0, 2, N)
NOISE = np.where(RANDOM.random(N) < 0.8, "no", "yes")
FOREST = ("--target", "ill", "--method", "filter_forest")


def fit(told, table, *words):
    """Fit to a changed table; return exit status, what was said, and what was complained of."""
    table.to_csv("table.csv", index=False)
    return told("fit", "table.csv", *(words or FOREST))


def bought(out):
    """Return what the steps of a printed schedule buy."""
    return " ".join(re.findall(r"± \.\d+   (?:on average .* of: )?(.*)", out))


# Tables that work, and what is said of them: (table, what stands on the screen, the note).
TAKEN = {
    "numeric id": (lambda t: t.assign(id=NUMBERS), "4 columns", "id has a different whole number"),
    "id as decimals": (lambda t: t.assign(id=NUMBERS * 1.0), "4 columns", "--keep id"),
    "id with a strange name": (lambda t: t.assign(**{"my id": NUMBERS}), "4", "--keep 'my id'"),
    "index written by pandas": (lambda t: t.reset_index(), "4 columns", "--keep index"),
    "whole numbers to predict": (
        *(lambda t: t.assign(ill=FEW), "is one of: 0 (", "5 different numbers, taken as classes"),
    ),
    "capitals": (
        lambda t: t.assign(ill=np.where(t.index % 4, t["ill"], t["ill"].str.upper())),
        "is one of: NO (",
        "'NO' and 'no' differ only in capitals and count as two",
    ),
    "two numbers to tell apart": (lambda t: t.assign(ill=BINARY), "is one of: 0 (", None),
    "truth values": (lambda t: t.assign(ill=BINARY == 1), "is one of: False (", None),
    "three classes": (
        lambda t: t.assign(ill=np.array(list("abc"))[FEW % 3]),
        "is one of: a (",
        None,
    ),
    "None is a word": (
        *(lambda t: t.assign(smoker=t["smoker"].replace("no", "None")), "None, former, yes", None),
    ),
    "NA is a gap": (
        *(
            lambda t: t.assign(smoker=t["smoker"].replace("no", "NA")),
            "categories: former, yes",
            None,
        ),
    ),
    "nothing to learn": (
        lambda t: t.assign(ill=NOISE)[["insulin", "ill"]],
        "No purchase is better on the held-out rows.",
        None,
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_for_granted_is_told(folder, told, name):
    change, said, note = TAKEN[name]
    status, out, err = fit(told, change(patients()))
    assert status == 0, err
    assert said in out
    assert "id" not in bought(out).split(", ")
    assert (note is None) == (err == "")
    assert note is None or note in err


# Tables that are refused in one line, and what it says.
REFUSED = {
    "only an id": (lambda t: t[["ill"]].assign(id=NUMBERS), "measurements with --keep"),
    "one row of a class": (
        lambda t: t.assign(ill=np.where(t.index == 7, "odd", t["ill"])),
        "'odd' in 1 of 240 rows: too few",
    ),
    "an id to predict": (
        lambda t: t.assign(ill=[f"p{k}" for k in range(N)]),
        "240 classes are so rare",
    ),
    "dates to predict": (
        lambda t: t.assign(ill=pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")),
        "'2020-01-01' in 1 of 240 rows (240 classes",
    ),
    "amounts for a classifier": (lambda t: t.assign(ill=HALVES), "use --task classification"),
    "an odd cell in the target": (
        lambda t: t.assign(ill=np.where(t.index == 7, "?", BINARY)),
        "'?' in row 8 (rows counted from 1, without the header)",
    ),
    "a gap in the target": (lambda t: t.assign(ill=t["ill"].where(t.index != 7)), "empty in row 8"),
    "classes with blanks": (
        lambda t: t.assign(ill=np.where(t.index % 2, "a b", "a  b")),
        "'a  b' and 'a b' differ only in blanks",
    ),
    "a class with accents of two kinds": (
        lambda t: t.assign(ill=np.where(t.index % 2, "caf\xe9", "cafe\u0301")),
        "The target 'ill': 'cafe\\u0301' and 'caf\\xe9' look the same: Unicode has two ways",
    ),
    "a class with a blank behind": (
        lambda t: t.assign(ill=np.where(t.index % 3, t["ill"], t["ill"] + " ")),
        "The target 'ill': 'no ' and 'no' differ only in blanks. Write them the same way.",
    ),
    "dates": (lambda t: t.assign(when="1.3.2024"), "'when' holds dates or times"),
    "decimal commas": (
        lambda t: t.assign(age=t["insulin"].map(str).str.replace(".", ",")),
        "--dec",
    ),
    "a unit": (
        lambda t: t.assign(age=t["insulin"].map("{} kg".format)),
        "Take 'kg' out of its cells.",
    ),
    "question marks": (lambda t: t.assign(age=[*["80"] * 239, "?"]), "--na '?' reads them"),
    "two marks": (
        lambda t: t.assign(age=[*["80"] * 238, "?", "#DIV/0!"]),
        "--na '?' --na '#DIV/0!'",
    ),
    "names": (lambda t: t.assign(who=[f"p{k}" for k in range(N)]), "names or free text"),
    "names in a small table": (
        *(
            lambda t: t.head(40).assign(who=[f"p{k}" for k in range(40)]),
            "40 different words in 40",
        ),
    ),
    "infinity": (lambda t: t.assign(age=[*[1.5] * 239, np.inf]), "'age' holds infinity in row 240"),
    "an empty column": (lambda t: t.assign(more=None), "without a single value: 'more'"),
    "a wrong target": (
        lambda t: t.rename(columns={"ill": "Ill"}),
        "no column 'ill'. It has: 'age'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_right_is_refused(folder, told, name):
    change, said = REFUSED[name]
    status, out, err = fit(told, change(patients()))
    assert (status, out) == (2, "")
    assert said in err.splitlines()[-1]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_column_written_down_afterwards_is_told_whatever_it_costs(folder, told, kind):
    table = patients()
    if kind == "numbers":
        table["ill"] = table["glucose"] + RANDOM.normal(0, 20, N)
    leak = {"yes": 1.0, "no": 0.0}
    leaking = table.assign(leak=table["ill"].map(leak) if kind == "classes" else -table["ill"])
    leaking["other leak"] = 1 - leaking["leak"]
    (folder / "prices.csv").write_text(f"{PRICES}leak,900,,\nother leak,1,,\n")
    method = "filter_forest" if kind == "classes" else "cascade"
    words = ("--target", "ill", "--costs", "prices.csv", "--method", method)
    status, out, err = fit(told, leaking, *words)
    assert status == 0
    if kind == "classes":  # 48 rows are all right, which leaves some doubt
        assert "1.000 ± .020" in out
        assert "± .000" not in out
    assert "Note: leak alone predicts ill almost perfectly" in err
    assert "--drop 'other leak'" in err


def test_a_frequent_class_and_few_rows_tell_nothing():
    rows = pd.DataFrame({"same": np.zeros(4_000)}), np.where(np.arange(4_000), "no", "yes")
    assert telling("classification", rows, rows) == []
    # The order of few rows is often the same by chance.
    numbers = pd.DataFrame({"up": np.arange(8.0)}), np.arange(8.0)
    assert telling("regression", numbers, numbers) == ["up"]
    few = tuple(part[:7] for part in numbers)
    assert telling("regression", numbers, few) == []


def test_a_target_of_few_amounts_is_estimated(folder, told):
    table = patients().assign(ill=HALVES)
    status, out, err = fit(told, table, "--target", "ill")
    assert (status, out[:7]) == (0, "auto on")
    assert "16 different numbers, taken as amounts to estimate (regression)" in err
    assert re.search(r"Buying nothing and always predicting 3\.\d+: R²", out)
    many = table.assign(ill=NUMBERS % 40)
    assert "40 different numbers, taken as amounts" in fit(told, many)[2]
    status, out, err = fit(told, table, *FOREST, "--task", "classification")
    assert (status, err) == (0, "")
    assert "is one of: 0 (" in out


def test_an_identifier_that_is_kept_or_named_otherwise_stays(folder, told):
    table = patients().assign(id=NUMBERS)
    for words in (("--keep", "id"), ("--categorical", "id")):
        status, out, err = fit(told, table, *FOREST, *words)
        assert (status, err) == (0, "")
        assert "5 columns" in out
    assert fit(told, table, *FOREST, "--keep", "Id")[0] == 2


def test_the_price_of_an_identifier_is_not_needed(folder, told):
    (folder / "prices.csv").write_text(PRICES + "id,4,,\n")
    assert "with a total cost of 41.3" in fit(told, patients().assign(id=NUMBERS), *QUICK[2:])[1]


def test_a_class_that_drawing_rows_would_lose_is_told(folder, told):
    table = patients().assign(ill=lambda t: np.where(t.index < 6, "odd", t["ill"]))
    assert fit(told, table)[0] == 0
    status, _, err = fit(told, table, *FOREST, "--max-rows", "80")
    assert status == 2
    assert "'odd' in 2 of 80 rows" in err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "table.csv cannot be read as a workbook (.xlsx)"),
        (b"age,age,ill\n1,2,yes\n", "column names must differ; repeated: ['age']"),
        (b"age,ill\n1,yes,\n", "line 2: 3 fields, but 2"),
    ],
    ids=["no workbook", "a name twice", "one field too many"],
)
def test_files_that_are_no_table(folder, told, content, said):
    (folder / "table.csv").write_bytes(content)
    status, out, err = told("fit", "table.csv", *FOREST)
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("age,1,,\n", "", "no price for: 'age'. Add them"),
        ("age,1,", "Age,1,", "unknown features: 'Age'"),
        ("age,1,", "age,,", "line 2: the cost of 'age' is missing"),
        ("age,1,", "age,-1,", "must be finite and >= 0"),
        ("smoker,2,", "age,2,", "more than once: age"),
        ("20.7,blood,2.1", "20.7,blood,3.1", "'blood' must have the same group_cost"),
        ("age,1,,", "age,1,blood,", "'blood' must have the same group_cost"),
    ],
)
def test_price_lists_that_would_charge_wrongly(folder, told, old, new, said):
    (folder / "prices.csv").write_text(PRICES.replace(old, new))
    status, out, err = told(*QUICK)
    assert (status, out) == (2, "")
    assert said in err


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a table, its prices, and two models with a budget of 15."""
    folder = tmp_path_factory.mktemp("models")
    patients().to_csv(folder / "table.csv", index=False)
    (folder / "prices.csv").write_text(PRICES)
    words = ["fit", folder / "table.csv", "--target", "ill", "--costs", folder / "prices.csv"]
    for method in ("cascade", "filter_forest"):
        out = ("--method", method, "--budget", 25, "--out", folder / f"{method}.joblib")
        assert run([str(word) for word in (*words, *out)]) == 0
    return folder


@pytest.fixture
def predicted(models, told):
    """Predict a changed table; return exit status, the rows, and what was complained of."""

    def made(table, *words, model="filter_forest"):
        table.to_csv(models / "new.csv", index=False)
        words = ("predict", models / f"{model}.joblib", models / "new.csv", *words)
        status, out, err = told(*words)
        rows = pd.read_csv(io.StringIO(out), keep_default_na=False) if out else None
        return status, rows, err

    return made


ROWS = patients().iloc[1:13]


def test_only_the_bought_columns_are_needed(predicted):
    status, rows, err = predicted(ROWS[["age", "smoker", "glucose"]])
    assert (status, err) == (0, "")
    assert rows.equals(predicted(ROWS)[1])


def test_columns_of_another_name_are_told_with_those_that_are_there(predicted):
    status, _, err = predicted(ROWS.rename(columns={"age": "Age"}))
    assert status == 2
    assert "'age' (found: 'Age'). It has: 'Age', 'smoker', 'glucose'" in err
    assert "Rename them, or use --fallback" in err
    status, rows, err = predicted(ROWS.rename(columns={"age": "Age"}), "--fallback")
    assert status == 0
    assert "lacks age." in err
    assert not rows["bought"].str.contains("age").any()
    status, _, err = predicted(ROWS.add_prefix("my "))
    assert "none of the columns to buy: 'age' (found: 'my age')" in err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"glucose": np.nan},
            "has no value of 'glucose', which the prediction needs, in any of its 12 rows",
        ),
        ({"glucose": "1,5"}, "'glucose' held numbers in training, but now '1,5' in row 1"),
        ({"age": "old"}, "'age' held numbers in training, but now 'old'"),
        ({"age": "?"}, "'age' held numbers in training, but now '?'"),
    ],
)
def test_cells_that_training_did_not_have_are_refused(predicted, change, said):
    status, rows, err = predicted(ROWS.assign(**change))
    assert (status, rows) == (2, None)
    assert said in err
    assert "fallback=True" not in err


def test_new_categories_are_told(predicted):
    status, rows, err = predicted(ROWS.assign(smoker="YES"))
    assert (status, len(rows)) == (0, len(ROWS))
    assert "Column 'smoker' has categories unknown in training, taken as missing: 'YES'" in err


# Words that are no numbers together, and what some of them alone would be read as.
CODES = {
    "leading zeros": {"yes": "01", "no": "1A", "former": "002"},
    "decimals": {"yes": "1.50", "no": "V2", "former": "7.0"},
    "truth values": {"yes": "true", "no": "unknown", "former": "false"},
}


@pytest.mark.parametrize("name", CODES)
def test_words_are_read_as_they_were_written_in_training(folder, told, name):
    table = patients().assign(smoker=patients()["smoker"].map(CODES[name]))
    words = (*FOREST, "--categorical", "smoker", "--out", "m.joblib")
    assert fit(told, table, *words)[0] == 0
    some = table[table["smoker"] != CODES[name]["no"]].dropna().head(9)
    some.to_csv("some.csv", index=False)
    table.loc[[*some.index, table.index[table["smoker"] == CODES[name]["no"]][0]]].to_csv(
        "more.csv", index=False
    )
    status, out, err = told("predict", "m.joblib", "some.csv")
    assert (status, err) == (0, "")
    assert told("predict", "m.joblib", "more.csv")[1].startswith(out)


def test_marks_between_thousands_are_refused_as_in_training(folder, told):
    patients().to_csv("table.csv", sep=";", decimal=",", index=False)
    assert told("fit", "table.csv", *FOREST, "--decimal", ",", "--out", "m.joblib")[0] == 0
    ROWS.assign(glucose="1.234").to_csv("new.csv", sep=";", decimal=",", index=False)
    status, out, err = told("predict", "m.joblib", "new.csv")
    assert (status, out) == (2, "")
    assert "Column 'glucose' holds numbers that are stored as text (the first is '" in err
    assert "Is --decimal right? Marks between thousands must be taken out." in err


def test_a_table_without_rows_is_refused(predicted):
    assert "has column names, but no rows" in predicted(ROWS.head(0))[2]


@pytest.mark.parametrize("budget", ["0", "0.5"])
def test_a_budget_below_the_cheapest_names_it(models, told, predicted, budget):
    status, rows, err = predicted(ROWS, "--budget", budget)
    assert (status, rows) == (2, None)
    assert "the cheapest one costs 1. Raise the budget to 1 or more." in err
    status, out, err = told("ask", models / "filter_forest.joblib", "--budget", budget, "--json")
    assert (status, out) == (2, "")
    assert "the cheapest one costs 1. Raise the budget to 1 or more." in err


@pytest.mark.parametrize("budget", ["0", "0.5"])
def test_a_cascade_without_money_says_the_constant(models, told, predicted, budget):
    status, rows, err = predicted(ROWS, "--budget", budget, model="cascade")
    assert (status, err) == (0, "")
    broken = predicted(ROWS.assign(age="1,5"), "--budget", budget, model="cascade")
    assert (broken[0], broken[2]) == (status, err)  # what cannot be bought is not parsed
    assert set(rows["ill"]) == {"yes"}
    assert not rows["cost"].any()
    status, out, err = told("ask", models / "cascade.joblib", "--budget", budget, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["done"]


@pytest.mark.parametrize("budget", ["nan", "-1", "forty"])
def test_a_budget_that_is_none(predicted, budget):
    status, rows, err = predicted(ROWS, "--budget", budget)
    assert (status, rows) == (2, None)
    assert "budget" in err


def test_a_mean_budget_that_some_rows_exceed_says_what_was_to_be_expected(models, predicted):
    costs = predicted(patients(), model="cascade")[1]["cost"]
    means = {n: costs.nlargest(n).mean() for n in range(40, 60)}
    # Rounded up, as "cost 25.00, more than the budget of 25" would puzzle.
    n = next(n for n, mean in means.items() if round(mean, 2) < mean)
    assert means[n] > 25
    expensive = costs.nlargest(n).index
    status, _, err = predicted(patients().loc[expensive], model="cascade")
    assert status == 0
    shown = round(means[n] + 0.005, 2)
    assert f"cost {shown:.2f} on average, more than the budget of 25" in err
    saved = SavedModel.load(models / "cascade.joblib")
    mean, margin = saved.expected_cost(saved.stage(), n)
    assert f"{n} new rows are expected to cost {mean:.2f} ± {margin:.2f}" in err
    _, row, err = predicted(patients().loc[expensive[:1]], model="cascade")
    assert f"this row costs {row['cost'].iloc[0]:.2f}, more than the budget of 25" in err
    assert "known in training, 30 new rows are expected to cost" in err


def test_an_expected_cost_weighs_the_quote_and_the_rows_held_out_by_their_errors(models):
    saved = SavedModel.load(models / "cascade.joblib")
    costs = predictions_held_out(saved, models)[1]
    quote = saved.curve.loc[saved.stage()]
    sure = np.array([quote["cost_se"], costs.std() / np.sqrt(48)]) ** -2
    mean, margin = saved.expected_cost(saved.stage(), 100)
    assert mean == pytest.approx(np.average([quote["cost"], costs.mean()], weights=sure))
    assert margin == pytest.approx(2 * np.sqrt(1 / sure.sum() + costs.var() / 100))
    saved.curve["cost_se"] = 0.0  # a quote without an error does not count
    mean, margin = saved.expected_cost(saved.stage(), 100)
    assert mean == pytest.approx(costs.mean())
    assert margin == pytest.approx(2 * costs.std() * np.sqrt(1 / 48 + 1 / 100))
    fixed = SavedModel.load(models / "filter_forest.joblib")
    assert fixed.expected_cost(fixed.stage(), 100)[1] == 0
    # In groups of two alike, the error of the mean grows, but not the spread of new rows.
    groups = costs.argsort().argsort() // 2
    examples = held_out(saved, models)
    saved.curve = _curve(saved.model, (*examples, {}), *examples, groups=groups)
    saved.curve["cost_se"] = 0.0
    error = np.sqrt(24 / 23 * np.square(np.bincount(groups, costs - costs.mean())).sum()) / 48
    assert error > 1.3 * costs.std() / np.sqrt(48)
    margin = saved.expected_cost(saved.stage(), 10)[1]
    assert margin == pytest.approx(2 * np.sqrt(error**2 + costs.var() / 10))


def held_out(saved, folder):
    """Return the rows that were held out, as the model takes them, and their classes."""
    described = ("ill", folder / "prices.csv", (), None)
    own = read_own_table(folder / "table.csv", *described)
    test = parts_of(own, np.arange(len(own.y)), check_random_state(0))[2]
    return saved.preprocessor.transform(own.X.iloc[test]), own.y[test]


def predictions_held_out(saved, folder):
    """Return how often a model is right on the rows that were held out, and what each costs."""
    (X, y), budget = held_out(saved, folder), saved.limit()
    return np.mean(saved.model.predict(X, budget) == y), saved.model.acquisition_cost(X, budget)


@pytest.mark.parametrize("method", ["cascade", "filter_forest"])
def test_what_is_quoted_was_measured_with_the_model_that_is_written(models, method):
    saved = SavedModel.load(models / f"{method}.joblib")
    right, costs = predictions_held_out(saved, models)
    quoted = saved.curve.loc[saved.stage()]
    assert quoted["test_score"] == pytest.approx(right)
    assert quoted["test_cost"] == pytest.approx(costs.mean())


def test_a_guaranteed_budget_keeps_its_distance(folder, told):
    patients(400).to_csv("table.csv", index=False)
    words = ("--costs", "prices.csv", "--method", "cascade", "--target", "ill", "--guaranteed")
    status, out, err = told("fit", "table.csv", *words, "--budget", 20, "--out", "m.joblib")
    assert (status, err) == (0, "")
    assert "240 rows to train" not in out
    assert "80 held out, 80 to calibrate" in out
    assert "with 95 % confidence, new rows cost no more than 20 on average" in out
    saved = SavedModel.load("m.joblib")
    assert saved.stage() == saved.stage(20) == saved.certificate.stage
    assert 16 < saved.curve.loc[saved.stage(), "cost"] < 18
    assert saved.limit(19) == 19
    new = patients(2000).tail(1600)
    new.to_csv("new.csv", index=False)
    assert told("predict", "m.joblib", "new.csv", "--out", "out.csv")[::2] == (0, "")
    assert pd.read_csv("out.csv")["cost"].mean() < 20


def test_a_guarantee_that_cannot_be_given_is_refused(folder, told):
    words = (*QUICK[:-1], "cascade", "--guaranteed")
    assert "--guaranteed needs a --budget" in told(*words)[2]
    status, out, err = told(*QUICK[:-1], "msb", "--guaranteed", "--budget", "0.5")
    assert (status, out) == (2, "")
    assert "no operating point keeps cost <= 0.5 with confidence 0.95" in err
    assert err.endswith("Raise the limit to 3, or give more rows.\n")
    patients(13).to_csv("few.csv", index=False)
    status, out, err = told("fit", "few.csv", *words[2:], "--budget", 1)
    assert (status, out) == (2, "")
    assert "Error: 5 folds need at least 10 examples, got n_samples=7" in err
    assert err.endswith("Give more rows, or use another --method.\n")


def test_a_guaranteed_budget_buys_what_never_costs_more(folder, told):
    for budget, line in (("1.1", r"→ +1\.00 .* age\n"), ("1.5", r"→ +1\.07 .*, smoker 2 %\n")):
        status, out, err = told(*QUICK[:-1], "cascade", "--guaranteed", "--budget", budget)
        assert (status, err) == (0, "")
        assert re.search(line, out)
        assert f"with 95 % confidence, new rows cost no more than {budget} on average" in out


def test_predictions_take_the_marks_of_missing_cells_from_training(folder, told):
    table = patients().assign(age=lambda t: t["age"].fillna(-9))
    status, _, err = fit(told, table, *FOREST, "--na", "-9", "--out", "m.joblib")
    assert (status, err) == (0, "")
    marked = told("predict", "m.joblib", "table.csv")[1]
    patients().to_csv("gaps.csv", index=False)
    assert marked == told("predict", "m.joblib", "gaps.csv")[1]
    assert marked != told("predict", "m.joblib", "table.csv", "--na", "?")[1]
    table.to_parquet("table.parquet")
    assert marked == told("predict", "m.joblib", "table.parquet")[1]


def test_a_mark_of_a_missing_cell_is_no_answer(models, told, monkeypatch):
    lines = '{"value": "NA"}\n{"value": ""}\n{"value": null}\n{"value": null}\n'
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    status, out, _ = told("ask", models / "cascade.joblib", "--json")
    last = json.loads(out.splitlines()[-1])
    assert (status, last["done"], last["spent"]) == (0, True, 0.0)


def test_a_mark_that_is_a_number_is_none_in_any_writing(folder, told, monkeypatch):
    table = patients().assign(age=lambda t: t["age"].fillna(-9).replace(t["age"].max(), "?"))
    marks = ("--na", "-9", "--na", "?")
    assert fit(told, table, *FOREST, *marks, "--out", "m.joblib")[0] == 0
    told_last = set()
    for cell in ("-9", "-9.0", '"-9.0"', '" -9 "', "null", '"?"'):
        lines = "".join(f'{{"value": {cell}}}\n' for _ in range(4))
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        told_last.add(told("ask", "m.joblib", "--json")[1].splitlines()[-1])
    (last,) = told_last
    assert json.loads(last)["spent"] == 0


def test_a_model_that_buys_nothing_predicts_every_row(folder, told):
    own = read_own_table("table.csv", "ill", "prices.csv", (), None)
    constant, about = (
        FreeConstantClassifier(feature_costs=own.costs),
        {"method": "constant", "budget": 20},
    )
    saved = fit_table(own, constant, {}, np.arange(N), check_random_state(0), about)
    assert "0.00" in lines_of(saved, 20)[1]
    saved.save("m.joblib")
    for words in ((), ("--budget", "0"), ("--fallback",)):
        status, out, err = told("predict", "m.joblib", "table.csv", *words)
        assert (status, err, out.count("\n")) == (0, "", N + 1)
    pd.DataFrame({"other": range(7)}).to_csv("new.csv", index=False)
    said = pd.read_csv(io.StringIO(told("predict", "m.joblib", "new.csv")[1]))
    share = (own.y == "yes").mean()  # of all rows, of which some are held out
    assert said["ill"].tolist() == ["yes"] * 7
    assert said["probability"].tolist() == pytest.approx([share] * 7, abs=0.01)
    assert said["cost"].tolist() == [0.0] * 7
    status, out, _ = told("ask", "m.joblib", "--json")
    assert (status, json.loads(out)["done"], json.loads(out)["spent"]) == (0, True, 0.0)


def test_a_budget_that_is_spent_on_what_is_no_better_is_told(folder, told, capsys):
    assert told(*FIT, "--out", "m.joblib")[0] == 0
    saved = SavedModel.load("m.joblib")
    points = saved.model.operating_points_
    assert len(points) > 3
    for frame in (points, saved.curve):
        frame.loc[2, "score"] = frame.loc[1, "score"]
    for row, is_told in ((1, False), (2, True)):
        saved.budget = points["cost"][row]
        print_schedule(saved)
        out = capsys.readouterr().out
        (chosen,) = (line for line in out.splitlines() if line.startswith("→  "))
        assert f"{least(points['cost'][row])}" in chosen
        assert ("not better than a cheaper line, but not surely worse" in out) == is_told


def test_columns_that_most_rows_buy_come_first():
    point = pd.Series({"variables": ("age", "blood", "urine"), "n_features": 1.3})
    rates = pd.Series({"age": 0.3, "blood": 1.0, "urine": 0.001, "weight": 0.0})
    assert output.bought(point, rates) == "on average 1.3 of: blood 100 %, age 30 %, urine <1 %"
    # Held out, not one row bought any.
    assert output.bought(point, 0 * rates) == "on average 1.3 of: age, blood, urine"
    # Those that all rows buy are counted where a line has no room for all names.
    six = pd.Series({"variables": tuple("abcdef"), "n_features": 4.4})
    said = "on average 4.4 of: 4 columns 100 %, c 30 %, e 10 % (6 columns)"
    assert output.bought(six, pd.Series([1, 1, 0.3, 1, 0.1, 1], [*"abcdef"])) == said
    everything = point.replace(1.3, 3.0)
    assert output.bought(everything, rates) == "age, blood, urine"
    everything["variables"] = ["height, cm", "age", "line\nend"]
    assert output.bought(everything) == r"'height, cm', age, 'line\nend'"
    # Of 60 columns, the one that a line buys counts, though the last line buys all.
    stages = [np.arange(60)[None] == 57, np.full((1, 60), True)]
    model = SimpleNamespace(stages=lambda X, want: (SimpleNamespace(acquired=a) for a in stages))
    saved = SimpleNamespace(model=model, stage=lambda: 0, steps=lambda also: pd.DataFrame([0, 1]))
    saved.preprocessor = SimpleNamespace(feature_names_in_=np.arange(60))
    assert rates_of(saved, None).loc[0, 57] == 1


def test_large_numbers_are_shown_in_full_and_small_ones_in_short():
    assert [amount(each) for each in (1_000_000_014.5, 1_234_567.89, 2.228855721, -1e-7)] == [
        "1000000014",
        "1234567.89",
        "2.22886",
        "-1e-07",
    ]
