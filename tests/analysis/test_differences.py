"""Paired differences: the corrected interval by hand, Holm, data sets, wins and losses."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from budgetbench.analysis.differences import (
    corrected_interval,
    difference_table,
    lead_table,
    overall_table,
    reference_of,
)
from budgetbench.analysis.ranks import ranking_of


def areas_of(gaps, n_runs=5, spread=0.0, seed=0):
    """Return areas of "ours" ahead of "peer" by a gap on each data set."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset, gap in gaps.items():
        for run in range(n_runs):
            base = rng.uniform(0.6, 0.9)
            ours = base + gap + rng.normal(0, spread)
            rows += [(dataset, "random", "peer", run, base), (dataset, "random", "ours", run, ours)]
    return pd.DataFrame(rows, columns=["dataset", "costs", "method", "run", "aup_test"])


def test_the_interval_by_hand_and_without_shared_examples():
    gaps = np.array([0.01, 0.03, 0.02])
    mean, low, high, p = corrected_interval(gaps, 0.25)
    error = np.sqrt((1 / 3 + 0.25) * 0.0001)
    assert mean == pytest.approx(0.02)
    assert high - mean == pytest.approx(4.302653 * error)  # t of 2 degrees of freedom
    assert mean - low == pytest.approx(high - mean)
    assert p == pytest.approx(2 * stats.t.sf(0.02 / error, 2))
    gaps = np.random.default_rng(0).normal(0.01, 0.02, 12)
    assert corrected_interval(gaps, 0.0)[3] == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)


def test_one_run_and_equal_runs():
    mean, *rest = corrected_interval(np.array([0.1]), 0.25)
    assert mean == 0.1
    assert np.isnan(rest).all()
    assert corrected_interval(np.zeros(3), 0.25) == (0, 0, 0, 1)
    # Nor do two or three that agree show how much others would differ.
    for gaps in ([0.3, 0.3], [0.1, 0.4 - 0.3, 0.1]):
        assert np.isnan(corrected_interval(np.array(gaps), 0.25)[1:]).all()
    assert np.isfinite(corrected_interval(np.array([0.3, 0.3 + 1e-6]), 0.25)).all()


def test_differences_are_taken_within_runs_and_corrected_for_their_number():
    areas = areas_of({"a": 0.1, "b": 0.0, "c": -0.1}, spread=0.01)
    areas = areas[~((areas["dataset"] == "a") & (areas["run"] == 4) & (areas["method"] == "peer"))]
    table = difference_table(areas, ["ours", "peer"], "peer", dict.fromkeys("abc", 0.25))
    assert table["method"].tolist() == ["ours"] * 3
    assert table["n_runs"].tolist() == [4, 5, 5]
    assert table["mean"].to_numpy() == pytest.approx([0.1, 0.0, -0.1], abs=0.02)
    wide = areas.pivot_table("aup_test", ["dataset", "run"], "method").dropna()
    for row in table.itertuples():
        gap = (wide["ours"] - wide["peer"])[row.dataset].to_numpy()
        assert (row.mean, row.low, row.high, row.p) == pytest.approx(corrected_interval(gap, 0.25))
    # Holm: the smallest of three times 3, the next times 2, the largest as it is.
    first, second, third = table["p"].sort_values()
    expected = np.maximum.accumulate([3 * first, 2 * second, third])
    assert sorted(table["p_holm"]) == pytest.approx(expected)


def test_wins_ties_and_losses():
    areas = areas_of({"a": 0.1, "b": 0.003, "c": -0.1, "d": -0.01}, spread=0.01)
    each = difference_table(areas, ["ours", "peer"], "peer", dict.fromkeys("abcd", 0.25))
    assert (each["mean"] > 0).tolist() == [True, True, False, False]
    row = overall_table(each).iloc[0]
    assert (row["wins"], row["ties"], row["losses"]) == (1, 2, 1)
    assert np.isnan(row["low"])  # four data sets say nothing of others
    # Without an interval, as with one run, nothing is known: not even a tie.
    each.loc[each["dataset"] == "a", ["low", "high"]] = np.nan
    assert overall_table(each).loc[0, ["wins", "ties", "losses", "n_cases"]].tolist() == [
        0,
        2,
        1,
        4,
    ]


def test_the_interval_over_data_sets_is_that_of_a_t_test():
    gaps = np.random.default_rng(0).normal(0.03, 0.02, size=(3, 10))
    each = pd.DataFrame(gaps).rename_axis("method").reset_index().melt("method", var_name="dataset")
    each = each.rename(columns={"value": "mean"}).assign(costs="random", low=0.0, high=0.0)
    table = overall_table(each).set_index("method").sort_index()
    known = stats.ttest_1samp(gaps, 0, axis=1).confidence_interval()
    assert table[["low", "high"]].to_numpy() == pytest.approx(np.transpose(known))


def test_a_data_set_with_all_kinds_of_its_costs_is_one_observation():
    gaps = {f"d{i}": gap for i, gap in enumerate(np.random.default_rng(0).normal(0, 0.1, 10))}
    areas, ratios = areas_of(gaps, spread=0.001), dict.fromkeys(gaps, 0.25)
    ends = []
    for copies in (1, 4):
        many = pd.concat([areas.assign(costs=f"kind {k}") for k in range(copies)])
        each = difference_table(many, ["ours", "peer"], "peer", ratios)
        row = overall_table(each).iloc[0]
        assert row["n_cases"] == 10 * copies
        assert row["mean"] == pytest.approx(np.mean([*gaps.values()]), abs=1e-3)
        ends.append(row["high"] - row["low"])
    assert ends[1] == pytest.approx(ends[0])
    few = many[many["dataset"] < "d5"]  # 20 cases
    each = difference_table(few, ["ours", "peer"], "peer", ratios)
    assert np.isnan(overall_table(each)["low"][0])


def test_the_reference_is_the_best_peer_else_the_best():
    summary = pd.DataFrame(
        [("a", "u", m, s) for m, s in (("x", 0.9), ("y", 0.8), ("z", 0.7))],
        columns=["dataset", "costs", "method", "mean_test"],
    )

    def found(summary, peers, completed="xyz"):
        compared = SimpleNamespace(methods={n: SimpleNamespace(peer=n in peers) for n in "xyz"})
        ranking = ranking_of(summary, list("xyz"))
        known = {"ranking": ranking, "compared": compared, "completed": completed}
        return reference_of(SimpleNamespace(**known))

    assert found(summary, "yz") == "y"
    assert found(summary, "") == "x"
    assert found(summary.iloc[:0], "yz") is None
    assert found(summary, "yz", completed="") is None


def test_differences_of_bounded_scores_stay_within_their_bounds():
    gaps = np.array([-0.1, 0.9])
    mean, low, high, p = corrected_interval(gaps, 0.25)
    assert low < -1 < 1 < high
    assert corrected_interval(gaps, 0.25, bounded=True) == (mean, -1, 1, p)
    areas = areas_of({"a": 0.9, "b": 0.9}, n_runs=2).assign(status="ok")
    areas.loc[areas.query("method == 'ours' and run == 1").index, "aup_test"] -= 1.0
    known = ["ours", "peer"], dict.fromkeys("ab", 0.25), ["b"]
    for table in (difference_table(areas, known[0], "peer", *known[1:]), lead_table(areas, *known)):
        assert table["low"][0] < -1 < 1 < table["high"][0]
        assert table.loc[1, ["low", "high"]].tolist() == [-1, 1]
