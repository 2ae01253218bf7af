"""The page of one model: its picture has round numbers, and it says what was measured."""

import copy
import re
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from budgetlearn.cli import fit
from budgetlearn.cli.commands import run
from budgetlearn.cli.output import for_nothing, labels, plus_minus, ticks, write_page
from budgetlearn.cli.saved_model import SavedModel
from budgetlearn.cli.serve import conversation
from tests.cli.conftest import FIT, PRICES, patients

pytestmark = pytest.mark.usefixtures("quick_cascade")


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0, 45.5, ["0", "10", "20", "30", "40"]),
        (0.66, 0.88, ["0.70", "0.75", "0.80", "0.85"]),
        (0, 2.6e6, ["0", "500000", "1000000", "1500000", "2000000", "2500000"]),
        (0, 6e-7, [f"0.000000{k}" for k in range(7)]),
        (-1.2, 0.9, ["-1.0", "-0.5", "0.0", "0.5"]),
        (5, 5, ["5"]),
    ],
)
def test_ticks_are_round_and_labelled_alike(low, high, shown):
    assert labels(ticks(low, high)) == shown


def test_the_page_has_each_step_its_prices_and_its_categories(folder, told):
    words = ("--method", "msb", "--budget", "20", "--out", "m.joblib", "--report", "m.html")
    assert told(*FIT, *words)[0] == 0
    page = (folder / "m.html").read_text()
    saved = SavedModel.load("m.joblib")
    steps = saved.steps()
    assert page.count("<circle") == 2 * len(steps)
    assert page.count('r="7"') == 1
    for row in steps.itertuples():
        for score, error in ((row.score, row.score_se), (row.test_score, row.test_score_se)):
            assert plus_minus(score, error) in page
        assert f">{row.cost:.2f}</td>" in page
    chosen = saved.curve.loc[saved.stage()]
    assert f"for {chosen['cost']:.2f} a row" in page
    assert "2.1 with insulin" in page
    assert "former; no; yes" in page
    assert not re.findall(r"<script|https?://", page)


@pytest.mark.parametrize(
    ("score", "name", "bought", "budget", "advised"),
    [
        (0.88, "accuracy", [0.87], None, True),
        (0.88, "accuracy", [0.87], 1.0, True),
        (0.88, "accuracy", [], None, True),
        (0.88, "accuracy", [], 0.5, False),  # because of the budget, not of the score
        (0.88, "accuracy", [0.89], None, False),
        (0.60, "accuracy", [0.59], None, False),
        (0.88, "macro F1", [0.87], None, False),
    ],
)
def test_who_sees_no_gain_with_most_rows_alike_is_told_of_other_scores(
    score, name, bought, budget, advised
):
    free = {"says": "no", "score": score, "score_se": 0.0, "test_score": 0.88, "test_score_se": 0.0}
    steps = pd.DataFrame({"cost": [1.0] * len(bought), "test_score": bought})
    saved = SimpleNamespace(task="classification", score_name=name, free=free, budget=budget)
    saved.steps, saved.curve, saved.stage = lambda: steps, steps, lambda: 0
    if not bought:
        saved.curve = pd.DataFrame({"cost": [0.0], "test_score": [0.88]})
    said = for_nothing(saved)
    # `--method auto`, because others take no scoring.
    assert ("--method auto --scoring roc_auc" in said) == advised
    assert ("better on the held-out rows" in said) == (bought != [] and max(bought) < 0.88)


@pytest.fixture(scope="module")
def paged(tmp_path_factory):
    """The page of a cascade with a budget, and its model."""
    folder = tmp_path_factory.mktemp("page")
    patients().to_csv(folder / "table.csv", index=False)
    (folder / "prices.csv").write_text(PRICES)
    words = ("fit", folder / "table.csv", "--target", "ill", "--costs", folder / "prices.csv")
    more = ("--budget", 20, "--out", folder / "m", "--report", folder / "m.html")
    assert run([str(word) for word in (*words, "--method", "cascade", *more)]) == 0
    return (folder / "m.html").read_text(), SavedModel.load(folder / "m")


def cells_of(page, title):
    """Return the texts of the cells, row by row, of the table below a headline."""
    section = page[page.index(f"<h2>{title}") :]
    body = section[section.index("<tbody>") : section.index("</tbody>")]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL)]
        for row in rows
    ]


def test_what_only_the_page_shows_is_measured_for_a_page_alone(folder, told):
    for more, measured in (((), False), (("--report", "m.html"), True)):
        assert told(*FIT, "--method", "budgetrf", "--out", "m.joblib", *more)[0] == 0
        views = SavedModel.load("m.joblib").held_out
        assert ("everything" in views) == ("stops" in views) == measured


def test_the_picture_has_the_lines_of_nothing_and_of_everything(paged, tmp_path):
    page, saved = paged
    everything = saved.held_out["everything"]
    assert (
        f"everything: {everything['model']} on all columns, {everything['test_score']:.3f}" in page
    )
    assert f"nothing: the constant, {saved.free['test_score']:.3f}" in page
    (free,) = saved.curve.loc[saved.curve["n_features"] == 0, "score"]
    assert saved.free["score"] == free  # the line that buys nothing
    assert page.count('class="across"') == 2
    assert everything["test_score"] > saved.free["test_score"]
    # Beside the points, not among them: the better one above its line, the other below.
    points = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', page)]
    labels = re.findall(r'y2="([\d.]+)"/><text x="(\d+)" y="([\d.]+)">(\w+)</text>', page)
    assert [name for *_, name in labels] == ["everything", "nothing"]
    assert [float(y) < float(line) for line, _, y, _ in labels] == [True, False]
    assert all(float(x) > max(points) for _, x, *_ in labels)
    # The staircase does not go down to an everything that is worse.
    worse, last = copy.copy(saved), saved.curve["cost"].idxmax()
    worse.curve = worse.curve.assign(everything=worse.curve.index == last)
    worse.curve.loc[last, "score"] = 0.0
    worse.n_rows = (*worse.n_rows[:3], 7)
    write_page(worse, tmp_path / "worse.html")
    page = (tmp_path / "worse.html").read_text()
    heights = [float(y) for y in re.findall(r"V([\d.]+)", re.search(r'<path d="([^"]*)"', page)[1])]
    assert heights == sorted(heights, reverse=True)
    assert len(heights) + 2 == len(worse.steps()) == page.count("<circle") / 2
    assert "held out, 7 to calibrate." in page


def test_scores_out_of_fold_are_not_called_those_of_validation_data(paged):
    page = paged[0]
    assert "validation data" not in page
    assert page.count("by the model's own estimate, ") == 2


def test_what_is_bought_first_is_what_the_rows_held_out_bought(paged, tmp_path):
    page, saved = paged
    rates = saved.held_out["rates"]
    shown = cells_of(page, "What is bought first")
    assert shown[0][0] == "age"
    assert {row[0]: row[1] for row in shown} == {
        name: f"{price:g}"
        for name, price in zip(saved.preprocessor.feature_names_in_, saved.costs.costs, strict=True)
        if name in rates
    }
    chosen = rates.loc[saved.stage()]
    for name, _, *shares in shown:
        at = sorted(saved.steps().index, key=saved.curve["cost"].get).index(saved.stage())
        if len(shares) == len(saved.steps()):
            assert shares[at] == ("" if not chosen[name] else f"{100 * chosen[name]:.0f}")
    # The mean price that these shares make is the one that was measured.
    prices = dict(zip(saved.preprocessor.feature_names_in_, saved.costs.costs, strict=True))
    blood = saved.held_out["stops"]["way"].map(lambda way: {"glucose", "insulin"} & {*way} != set())
    stops = saved.held_out["stops"]
    shared = 2.1 * stops["n_rows"][blood].sum() / stops["n_rows"].sum()
    mean = sum(prices[name] * share for name, share in chosen.items()) + shared
    assert mean == pytest.approx(saved.curve.loc[saved.stage(), "test_cost"])
    # No share above 0 is shown as 0.
    stops = stops.assign(n_rows=[1, *(200 * stops["n_rows"][1:])])
    with mock.patch.dict(saved.held_out, rates=0 * rates + 0.005, stops=stops):
        write_page(saved, tmp_path / "few.html")
    page = (tmp_path / "few.html").read_text()
    assert {cells[-1] for cells in cells_of(page, "What is bought first")} == {"&lt;1"}
    assert cells_of(page, "Where rows stop")[0][1] == "&lt;1 % (1)"


def test_who_stops_where_are_all_rows_held_out(paged):
    page, saved = paged
    stops = saved.held_out["stops"]
    assert stops["n_rows"].sum() == saved.n_rows[2]
    row = saved.curve.loc[saved.stage()]
    assert np.average(stops["score"], weights=stops["n_rows"]) == pytest.approx(row["test_score"])
    assert np.average(stops["cost"], weights=stops["n_rows"]) == pytest.approx(row["test_cost"])
    shown = cells_of(page, "Where rows stop")
    assert [cells[0] for cells in shown] == [" → ".join(way) for way in stops["way"]]
    first = stops.iloc[0]
    assert f"({first['n_rows']})" in shown[0][1]
    assert shown[0][3] == f"{100 * first['score']:.0f} %"


def test_ways_that_are_rare_are_put_together(paged, monkeypatch):
    _, saved = paged
    monkeypatch.setattr(fit, "MOST_WAYS", 1)
    table = patients()
    X = saved.preprocessor.transform(table)
    ways = fit.stops(saved, X, table["ill"].to_numpy())
    assert (ways["way"] == fit.OTHERS).sum() == 1
    assert ways["n_rows"].sum() == len(table)


def test_the_page_of_a_regression_has_numbers(folder, told):
    patients().assign(ill=lambda t: t["age"].fillna(50) * 2 + t["glucose"]).to_csv("table.csv")
    words = ("fit", "table.csv", "--target", "ill", "--drop", "Unnamed: 0", "--report", "m.html")
    assert told(*words)[0] == 0
    page = (folder / "m.html").read_text()
    assert "mean absolute error" in page
    assert "on average</td>" in page
    assert re.search(r"everything: .+ on all columns, 0\.\d+", page)


def test_everything_is_scored_by_what_counts(folder, told):
    words = ("--scoring", "neg_log_loss", "--minutes", "1e-5", "--report", "m.html")
    assert told(*FIT, *words, "--out", "m.joblib")[0] == 0
    saved = SavedModel.load("m.joblib")
    everything = saved.held_out["everything"]
    assert everything["test_score"] == saved.curve["test_score"].iloc[-1] < 0
    assert everything["model"] == saved.curve["method"].iloc[-1]


def test_without_a_budget_the_last_line_of_the_schedule_counts(folder, told):
    assert told(*FIT, "--method", "fmcc", "--out", "m.joblib", "--report", "m.html")[0] == 0
    saved = SavedModel.load("m.joblib")
    # Without a limit FMCC would acquire all that it can: no line says what that scores.
    assert saved.model.choose(None) not in saved.curve.index
    assert saved.stage() == saved.steps().index[-1]
    stops, best = saved.held_out["stops"], saved.curve.loc[saved.steps().index[-1]]
    assert np.average(stops["cost"], weights=stops["n_rows"]) == pytest.approx(best["test_cost"])
    assert "accuracy" in conversation(saved, None, None, [])["about"]


def test_without_lightgbm_everything_is_what_scikit_learn_has(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    X, y = pd.DataFrame(np.arange(40.0)[:, None]), np.arange(40) % 2
    for task in ("classification", "regression"):
        found = fit.everything(task, (X, y), (X[:0], y[:0]), (X, y))
        assert found["model"] == "scikit-learn's boosted trees"
