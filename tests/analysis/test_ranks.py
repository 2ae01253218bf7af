"""Mean ranks and the tests on them, against values computed by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare, studentized_range

from budgetbench.analysis.ranks import critical_difference, rank_table, ranking_of


def summary_of(means):
    """Return a summary from {method: mean area on each data set}."""
    rows = [
        {"dataset": f"d{i}", "costs": "random", "method": method, "mean_test": value}
        for method, values in means.items()
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


MEANS = {"a": [0.9, 0.8, 0.9, 0.7], "b": [0.8, 0.8, 0.7, 0.6], "c": [0.1, 0.2, 0.3, 0.4]}


def test_ranks_share_ties():
    # Also areas that differ by rounding: 0.1 + 0.7 is below 0.8.
    means = MEANS | {"b": [0.8, 0.1 + 0.7, 0.7, 0.6]}
    ranking = ranking_of(summary_of(means), list(means))
    assert ranking.mean.to_dict() == {"a": 1.125, "b": 1.875, "c": 3.0}
    # Of equal ranks, the larger mean area comes first.
    equal = ranking_of(summary_of({"a": [0.9, 0.3], "b": [0.8, 0.5]}), ["a", "b"])
    assert [*equal.mean.items()] == [("b", 1.5), ("a", 1.5)]


def test_nemenyi_follows_the_studentized_range():
    ranking = ranking_of(summary_of(MEANS), list(MEANS))
    k, n = 3, 4
    q = (3.0 - 1.125) / np.sqrt(k * (k + 1) / (6 * n)) * np.sqrt(2)
    assert ranking.pairs.loc["a", "c"] == pytest.approx(
        studentized_range.sf(q, k, np.inf), rel=1e-6
    )
    assert ranking.pairs.loc["a", "b"] > 0.05 > ranking.pairs.loc["a", "c"]
    assert ranking.friedman == pytest.approx(friedmanchisquare(*MEANS.values()).pvalue)
    assert 0 < ranking.friedman < 0.05
    # Table 5 of Demšar: 2.343 for three methods.
    assert critical_difference(ranking) == pytest.approx(2.343 * np.sqrt(0.5), rel=1e-3)


def test_a_data_set_under_several_kinds_of_costs_is_one_observation():
    summary = summary_of(MEANS)
    twice = pd.concat([summary, summary.assign(costs="unit")], ignore_index=True)
    one, both = (ranking_of(each, list(MEANS)) for each in (summary, twice))
    assert (len(both.means), len(both.ranks)) == (8, 4)
    assert both.friedman == pytest.approx(one.friedman)
    assert both.pairs.to_numpy() == pytest.approx(one.pairs.to_numpy())
    assert critical_difference(both) == critical_difference(one)
    twice.loc[len(summary) :, "method"] = (
        summary["method"].map({"a": "b", "b": "a", "c": "c"}).array
    )
    mixed = ranking_of(twice, list(MEANS))
    assert mixed.ranks.to_numpy().tolist() == [[1.5, 1.5, 3]] * 4
    assert mixed.friedman == pytest.approx(np.exp(-4))  # four that agree: χ² of 8, 2 degrees
    # Mean ranks weigh data sets equally, too: b is first with d0's second kind of costs.
    swapped = twice.iloc[len(summary) :].query("dataset == 'd0'")
    uneven = ranking_of(pd.concat([summary, swapped], ignore_index=True), list(MEANS))
    assert uneven.mean.to_dict() == {"a": 1.25, "b": 1.75, "c": 3.0}
    # Nemenyi's test is of these mean ranks, as its critical difference is.
    third = pd.concat([summary, swapped, swapped.assign(costs="given")], ignore_index=True)
    uneven = ranking_of(third, list(MEANS))
    gap = uneven.mean["b"] - uneven.mean["a"]
    assert gap == pytest.approx(5 / 12)
    expected = studentized_range.sf(gap * np.sqrt(12 * 4 / (3 * 4)), 3, np.inf)
    assert uneven.pairs.loc["a", "b"] == pytest.approx(expected)
    # So is Friedman's: Conover's form, where d0 has the ranks 5/3, 4/3, 3 and d1 a tie.
    means, spread = np.square(uneven.mean - 2).sum(), np.square(uneven.ranks - 2).to_numpy().sum()
    assert spread == pytest.approx(14 / 9 + 1.5 + 2 + 2)
    assert uneven.friedman == pytest.approx(np.exp(-16 * means / spread))


def test_the_table_holds_ranks_and_p_values_against_the_best():
    ranking = ranking_of(summary_of(MEANS), list(MEANS))
    table = rank_table(ranking)
    assert table["method"].tolist() == ["a", "b", "c"]
    assert table["n_cases"].tolist() == [4, 4, 4]
    assert np.isnan(table["p_best"][0])
    assert table["p_best"].tolist()[1:] == ranking.pairs.loc["a", ["b", "c"]].tolist()


def test_methods_with_a_gap_are_left_out():
    means = MEANS | {"d": [0.9, np.nan, 0.9, 0.9]}
    ranking = ranking_of(summary_of(means), list(means))
    assert ranking.left_out == ["d"]
    assert list(ranking.ranks) == ["a", "b", "c"]


def test_a_case_without_any_area_does_not_take_the_ranks_of_the_others():
    nobody = summary_of({"a": [np.nan], "b": [np.nan], "c": [np.nan], "d": [np.nan]})
    summary = pd.concat([summary_of(MEANS), nobody.assign(dataset="e")], ignore_index=True)
    ranking = ranking_of(summary, [*MEANS, "d"])
    assert ranking.mean.to_dict() == {"a": 1.125, "b": 1.875, "c": 3.0}
    assert ranking.left_out == ["d"]


def test_only_cases_with_the_most_rivals_are_ranked():
    summary = summary_of(MEANS)
    fewer = summary_of({"a": [0.1], "c": [0.9]}).assign(dataset="another")
    ranking = ranking_of(pd.concat([summary, fewer], ignore_index=True), list(MEANS))
    assert ranking.mean.equals(ranking_of(summary, list(MEANS)).mean)


def test_of_two_tasks_with_as_many_methods_the_one_with_more_cases_is_ranked():
    classes = summary_of({"a": [0.9, 0.8], "b": [0.8, 0.7]})
    numbers = summary_of({"c": [0.1], "d": [0.9]}).assign(dataset="numbers")
    ranking = ranking_of(pd.concat([numbers, classes], ignore_index=True), [*"abcd"])
    assert ranking.mean.to_dict() == {"a": 1.0, "b": 2.0}
    assert ranking.left_out == ["c", "d"]


@pytest.mark.parametrize(
    "means",
    [
        {"a": [0.9], "b": [0.8], "c": [0.7]},
        {"a": [0.9, 0.8], "b": [0.8, 0.9]},
        {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [0.5, 0.5]},
    ],
)
def test_too_little_to_test_is_no_test(means):
    ranking = ranking_of(summary_of(means), list(means))
    assert ranking.pairs is None
    assert np.isnan(ranking.friedman)
    assert rank_table(ranking)["p_best"].isna().all()
