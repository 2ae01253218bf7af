"""Areas, times and coverage: a hand-made example, properties, and honest gaps."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.analysis.areas import area_table, summary_table
from budgetbench.analysis.differences import lead_table
from budgetbench.analysis.efforts import time_table
from budgetbench.analysis.schedules import (
    GROUP,
    RUN,
    compressed_points,
    coverage_table,
    score_table,
)
from budgetbench.study.records import RecordError
from budgetlearn.exceptions import ConfigError
from tests.factories import fail, make_points

RATIOS = {"wine": 0.25, "breast_cancer": 0.25}


@pytest.fixture(scope="module")
def points():
    return make_points()


def small_study(models, constant=0.5, run=0):
    """Return one method with `models`, tuples (cost of 10, valid, test), and the constant."""
    head = {"dataset": "d", "costs": "random", "run": run, "fit": 0, "status": "ok"}
    times = {"fit_seconds": 2.0, "predict_seconds": 0.1}
    rows = [
        {"method": "m", "stage": i, "cost": c, "valid_score": v, "test_score": t}
        for i, (c, v, t) in enumerate(models)
    ]
    rows.append({"method": "constant", "stage": 0, "cost": 0.0} | {"valid_score": 0.55})
    rows[-1]["test_score"] = constant
    frame = pd.DataFrame([head | times | row for row in rows])
    return frame.assign(cost_fraction=frame["cost"] / 10)


def areas_of(points):
    return area_table(points, compressed_points(points))


def area_of(points, method="m"):
    areas = areas_of(points)
    return areas[areas["method"] == method].iloc[0]


def test_areas_of_a_hand_made_example():
    # The model of cost 4 falls out: on validation data it does not beat that of cost 2.
    row = area_of(small_study([(2, 0.7, 0.6), (4, 0.7, 0.99), (5, 0.9, 0.8)]))
    assert row["aup_test"] == pytest.approx(0.2 * 0.5 + 0.3 * 0.6 + 0.5 * 0.8)
    assert row["aup_valid"] == pytest.approx(0.2 * 0.7 + 0.3 * 0.7 + 0.5 * 0.9)
    assert row["n_points"] == 2
    assert row["status"] == "ok"


def test_controls_score_the_majority_rate(points):
    areas = areas_of(points).set_index(RUN)
    rate = points[points["method"] == "constant"].set_index(RUN)["test_score"]
    for control in ("constant", "all_features"):
        own = areas.xs(control, level="method")["aup_test"]
        expected = rate.xs("constant", level="method")
        np.testing.assert_allclose(own, expected.reindex(own.index))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9
    ),
    st.floats(0, 1),
)
def test_area_agrees_with_a_slow_twin(models, constant):
    grid = (np.arange(1000) + 0.5) / 100  # budgets 0..10; jumps lie between grid points
    best, steps = -1.0, []
    for cost, valid, test in sorted(models, key=lambda m: (m[0], -m[1])):
        if valid > best:
            best, steps = valid, [*steps, (cost, valid, test)]
    expected = []
    for part, start in ((2, constant), (1, steps[0][1])):
        height = np.full(grid.size, start)
        for step in steps:
            height[grid > step[0]] = step[part]
        expected.append(height.mean())
    row = area_of(small_study(models, constant))
    np.testing.assert_allclose([row["aup_test"], row["aup_valid"]], expected, atol=1e-9)


def test_a_missing_constant_is_an_error_but_not_in_some_runs(points):
    with pytest.raises(ConfigError, match="Include the control method 'constant'"):
        areas_of(points[points["method"] != "constant"])
    one = (points["method"] == "constant") & (points["run"] == 2) & (points["dataset"] == "wine")
    areas = areas_of(points[~one])
    lost = areas[areas["aup_test"].isna()]
    assert set(zip(lost["dataset"], lost["run"], strict=True)) == {("wine", 2)}


def test_a_constant_that_costs_is_an_error():
    paid = small_study([(2, 0.7, 0.6)])
    paid.loc[paid["method"] == "constant", "cost"] = 1.0
    with pytest.raises(RecordError, match="must cost nothing"):
        areas_of(paid)


def test_a_failed_run_is_counted_not_dropped(points):
    areas = areas_of(fail(points, "logitb", 3))
    assert len(areas) == 2 * 5 * 4
    assert areas["aup_test"].notna().all()
    lost = areas[areas["status"] != "ok"]
    assert lost[RUN].to_numpy().tolist() == [["wine", "random", "logitb", 3]]
    assert lost["status"].item() == "failed: ValueError: made up"
    summary = summary_table(areas).set_index(GROUP)
    assert tuple(summary.loc[("wine", "random", "logitb"), ["n_runs", "n_failed"]]) == (4, 1)
    assert (summary["n_runs"] + summary["n_failed"] == 5).all()


def test_a_failed_constant_takes_the_areas_of_its_run_along(points):
    areas = areas_of(fail(points, "constant", 1))
    lost = areas[areas["aup_test"].isna()]
    assert set(lost["run"]) == {1}
    assert lost["aup_valid"].isna().all()
    assert set(lost["method"]) == set(points["method"])
    assert (lost.loc[lost["method"] != "constant", "status"].str.contains("constant failed")).all()
    assert (summary_table(areas)["n_constant"] == 0).all()  # these runs are not in the means


def test_summary_is_mean_and_sample_deviation():
    runs = [small_study([(2, t + 0.1, t)], run=run) for run, t in enumerate((0.6, 0.8))]
    summary = summary_table(areas_of(pd.concat(runs)))
    row = summary[summary["method"] == "m"].iloc[0]
    areas = [0.1 + 0.8 * 0.6, 0.1 + 0.8 * 0.8]
    assert row["mean_test"] == pytest.approx(np.mean(areas))
    assert row["sd_test"] == pytest.approx(np.std(areas, ddof=1))
    assert (row["mean_valid"], row["sd_valid"]) == pytest.approx((0.8, np.sqrt(0.02)))
    single = summary_table(areas_of(runs[0]))
    assert single["sd_test"].isna().all()


def test_leads_are_measured_within_runs(points):
    areas = areas_of(fail(points, "logitb", 3))
    lead = lead_table(areas, ["msb", "logitb"], RATIOS).set_index("dataset").loc["wine"]
    wide = areas.query("dataset == 'wine'").pivot_table("aup_test", "run", "method")
    difference = (wide["msb"] - wide["logitb"]).dropna()
    assert (lead["best"], lead["runner_up"], lead["n_runs"]) == ("msb", "logitb", 5)
    assert lead["lead"] == pytest.approx(difference.mean())
    assert lead["lead_sd"] == pytest.approx(difference.std())
    assert lead["wins"] == (difference > 0).sum()
    alone = lead_table(areas, ["msb"], RATIOS)
    assert alone["runner_up"].isna().all()


def test_the_time_of_each_fit_is_counted_once():
    points = small_study([(2, 0.7, 0.6), (5, 0.9, 0.8), (6, 0.9, 0.8)])
    points.loc[points["stage"] == 2, ["fit", "fit_seconds", "predict_seconds"]] = 1, 5.0, 0.4
    again = points.assign(run=1)
    again[["fit_seconds", "predict_seconds"]] *= 3
    times = time_table(pd.concat([points, again]))
    assert times["fit_mean"].tolist() == [4.0, 14.0]
    assert times["fit_sd"].tolist() == pytest.approx([2 * np.sqrt(2), 7 * np.sqrt(2)])
    assert times["predict_mean"].tolist() == pytest.approx([0.2, 0.4])
    assert times["predict_sd"].tolist() == pytest.approx([0.1 * np.sqrt(2), 0.2 * np.sqrt(2)])
    assert times["n_points"].tolist() == [1, 3]


def test_scores_of_controls(points):
    scores = score_table(fail(points, "all_features", 0), ["all_features", "constant"])
    wine = scores[scores["dataset"] == "wine"].set_index("method")
    assert wine["n_runs"].to_dict() == {"all_features": 4, "constant": 5}
    own = points.query("dataset == 'wine' and method == 'all_features' and run > 0")["test_score"]
    assert wine.loc["all_features", ["mean", "sd"]].tolist() == pytest.approx(
        [own.mean(), own.std()]
    )


def coverage_of(points, expected):
    table = coverage_table(points, expected).set_index(GROUP)
    return table.loc[("wine", "random", "msb")]


def test_coverage_counts_what_completed_failed_and_is_missing(points):
    gaps = fail(fail(points, "msb", 3), "msb", 4, status="timeout: stopped after 5 s")
    gone = (gaps["dataset"] == "wine") & (gaps["method"] == "msb") & (gaps["run"] == 0)
    gaps = gaps[~gone].reset_index(drop=True)
    first = gaps.query("dataset == 'wine' and method == 'msb' and run == 1").index[0]
    gaps.loc[first, "status"] = "failed: one stage"
    wanted = points[RUN].drop_duplicates()
    row = coverage_of(gaps, wanted)
    counts = row[["n_ok", "n_partial", "n_failed", "n_missing"]].tolist()
    assert counts == [1, 1, 2, 1]
    assert row["message"] == "failed: one stage"
    assert coverage_of(points, wanted)["message"] == ""


def test_coverage_knows_what_was_expected(points):
    wanted = points[RUN].drop_duplicates()
    extra = wanted.assign(run=wanted["run"] + 5)
    row = coverage_of(points, pd.concat([wanted, extra]))
    assert (row["n_ok"], row["n_missing"]) == (5, 5)
