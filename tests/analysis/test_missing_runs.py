"""A run that a method did not complete counts as the free constant: nobody gains by failing."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis import Results
from budgetbench.analysis.areas import HORIZONS, mean_curve
from budgetbench.analysis.efforts import effort_table
from budgetbench.analysis.ranks import horizon_ranks
from budgetbench.analysis.schedules import CASE, RUN
from tests.factories import fail, make_display, make_points

N_RUNS = 6
RIVALS = ["msb", "logitb"]
KEY = ["dataset", "run"]


@pytest.fixture(scope="module")
def points():
    """Points in which no method is ever below the constant: that has the least score of its run."""
    points = make_points(N_RUNS)
    free = points["method"] == "constant"
    least = points.groupby(KEY)["test_score"].transform("min")
    return points.assign(test_score=points["test_score"].mask(free, least))


def all_runs(points):
    return points[["dataset", "costs", "method", "run"]].drop_duplicates()


def results_of(points, expected):
    return Results(points, make_display(), expected)


@pytest.fixture(scope="module")
def complete(points):
    """The results of all runs."""
    return results_of(points, all_runs(points))


@pytest.fixture(scope="module")
def before(complete):
    return standing(complete)


def worst_first(complete, method):
    """Return a method's runs (dataset, run), that of the least area first."""
    areas = complete.areas.query("method == @method")
    return list(map(tuple, areas.sort_values("aup_test")[KEY].to_numpy()))


def patterns(complete, method):
    """Yield 11 ways to fail, each a list of runs (dataset, run)."""
    worst = worst_first(complete, method)
    for count in (1, 4, 11):
        yield worst[:count]
    for dataset in ("wine", "breast_cancer"):
        own = [key for key in worst if key[0] == dataset]
        yield own
        yield own[:-1]
    yield worst
    yield worst[::-1][:3]
    random = np.random.default_rng(5)
    for _ in range(2):
        yield [key for key in worst if random.random() < 0.4]


def standing(results):
    """Return by method and horizon rank and each data set's mean area."""
    rows = {}
    for view, table in results.horizons.items():
        ranks = horizon_ranks(table, RIVALS)
        for horizon in HORIZONS:
            own = table[table["horizon"] == horizon]
            rows[view, horizon, "rank"] = -ranks[horizon]
            for case, part in own.groupby(CASE):
                rows[view, horizon, case] = part.set_index("method")["mean_test"]
    for column in ("mean_test", "mean_valid"):
        for case, part in results.summary.groupby(CASE):
            rows[column, case] = part.set_index("method")[column]
    return pd.DataFrame(rows).T[RIVALS]


@pytest.mark.parametrize("recorded", [True, False], ids=["failed", "no record"])
@pytest.mark.parametrize("method", RIVALS)
def test_no_pattern_of_failures_raises_who_fails(points, complete, before, method, recorded):
    expected = all_runs(points)
    ways = list(patterns(complete, method))
    assert len(ways) == 11
    # A quarter each: what becomes of a run depends neither on who failed nor on what it left.
    for failed in ways[2 * RIVALS.index(method) + (not recorded) :: 4]:
        broken = points
        for dataset, run in failed:
            broken = fail(broken, method, run, dataset, "timeout: stopped after 5 s")
        broken = broken if recorded else broken[broken["status"] == "ok"]
        after = standing(results_of(broken, expected))
        assert after[method].notna().all()
        assert (after[method] <= before[method] + 1e-9).all(), failed


def test_a_failed_run_scores_what_the_constant_does(points):
    results = results_of(fail(points, "msb", 2), None)
    areas = results.areas.set_index(RUN)
    lost = areas.loc[("wine", "random", "msb", 2)]
    free = areas.loc[("wine", "random", "constant", 2)]
    assert lost["status"] == "failed: ValueError: made up"
    assert lost["n_points"] == 0
    assert (lost["aup_test"], lost["aup_valid"]) == (free["aup_test"], free["aup_valid"])
    row = results.summary.set_index(["dataset", "method"]).loc[("wine", "msb")]
    assert row[["n_runs", "n_failed", "n_constant"]].tolist() == [N_RUNS - 1, 1, 1]
    own = areas.xs(("wine", "random", "msb"))["aup_test"]
    assert row["mean_test"] == pytest.approx(own.mean())


def test_the_mean_curve_counts_failed_runs_too(points):
    results = results_of(fail(points, "msb", 2), None)
    frame = results.schedules.query("dataset == 'wine'")
    free = frame[frame["method"] == "constant"].set_index("run")["test_score"]
    curve = mean_curve(frame[frame["method"] == "msb"], "cost_fraction", free)
    assert set(curve["n_runs"]) == {N_RUNS}
    assert curve["n_affording"].max() == N_RUNS - 1
    area = np.diff(np.r_[0, curve["budget"], 1]) @ np.r_[free.mean(), curve["mean"]]
    mean = results.summary.set_index(["dataset", "method"]).loc[("wine", "msb"), "mean_test"]
    assert area == pytest.approx(mean)


def test_a_run_without_a_record_counts_only_where_it_was_planned(points):
    lost = (points["method"] == "msb") & (points["run"] == 2)
    for expected, n_runs in ((None, N_RUNS - 1), (all_runs(points), N_RUNS)):
        results = results_of(points[~lost], expected)
        own = results.areas.query("method == 'msb' and dataset == 'wine'")
        assert own["run"].nunique() == n_runs
        table = effort_table(results.by_cost, results.areas).set_index(["dataset", "method"])
        row = table.loc[("wine", "msb")]
        assert row["aup"] == row["default_aup"] == pytest.approx(own["aup_test"].mean())


def test_a_method_that_the_study_does_not_ask_for_is_not_counted(points):
    fewer = points[(points["method"] != "logitb") | (points["dataset"] == "wine")]
    for expected in (None, all_runs(fewer)):
        results = results_of(fewer, expected)
        asked = set(map(tuple, results.summary[["dataset", "method"]].to_numpy()))
        assert ("breast_cancer", "logitb") not in asked
        assert set(results.areas["status"]) == {"ok"}
