"""What methods reach within the cost of one that has no choice of budget."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.budgets import own_cost_table
from budgetbench.analysis.schedules import compressed_points
from tests.factories import fail, make_display, make_points


def compared(points):
    return own_cost_table(points, compressed_points(points), ["logitb"], make_display())


def stopping_early(n_runs=3, last_stage=3):
    """Points on wine in which logitB stops early, for a cost of its own."""
    points = make_points(n_runs).query("dataset == 'wine'").reset_index(drop=True)
    return points[(points["method"] != "logitb") | (points["stage"] <= last_stage)]


def expected_rival_scores(points):
    """Return own score, msB's score at most at that cost, and whether msB affords a model."""
    kept, rows = compressed_points(points), []
    for run, row in points.query("method == 'logitb'").groupby("run").last().iterrows():
        own = kept[(kept["method"] == "msb") & (kept["run"] == run) & (kept["cost"] <= row["cost"])]
        free = points.query("method == 'constant' and run == @run")["test_score"].iloc[0]
        rows.append((row["test_score"], [free, *own["test_score"]][-1], bool(len(own))))
    return rows


def test_rivals_are_held_to_the_own_cost():
    points = stopping_early()
    table = compared(points).set_index("rival")
    assert set(table.index) == {"msb", "all_features"}  # not the constant: it buys nothing
    scores = expected_rival_scores(points)
    assert table.loc["msb", "n_runs"] == table.loc["msb", "n_affording"] == 3
    assert table.loc["msb", "rival_score"] == pytest.approx(np.mean([s for _, s, _ in scores]))
    assert table.loc["msb", "rival_sd"] == pytest.approx(np.std([s for _, s, _ in scores], ddof=1))
    assert table.loc["msb", "score_sd"] == pytest.approx(np.std([s for s, *_ in scores], ddof=1))
    assert table.loc["msb", "wins"] == sum(theirs > own for own, theirs, _ in scores)
    full = points[points["method"] == "all_features"]["test_score"].mean()
    assert table.loc["all_features", "rival_score"] == pytest.approx(full)
    assert table.loc["all_features", "cost_fraction"] == pytest.approx(
        points.query("method == 'logitb' and stage == 3")["cost_fraction"].mean()
    )


def test_only_what_validation_data_keep_of_a_rival_competes():
    points = stopping_early(last_stage=99)
    last = (points["method"] == "msb") & (points["stage"] == points["stage"].max())
    points.loc[last, ["valid_score", "test_score"]] = 0.0
    table = compared(points).set_index("rival")
    expected = np.mean([theirs for _, theirs, _ in expected_rival_scores(points)])
    assert table.loc["msb", "rival_score"] == pytest.approx(expected)


def test_a_tie_is_no_win():
    points = stopping_early().assign(test_score=0.8)
    table = compared(points).set_index("rival")
    assert (table["rival_score"] == table["score"]).all()
    assert (table["wins"] == 0).all()


def test_a_run_in_which_a_rival_affords_nothing_counts_as_the_free_constant():
    points = stopping_early(n_runs=5, last_stage=0)
    scores = expected_rival_scores(points)
    n_affording = sum(affords for *_, affords in scores)
    assert 0 < n_affording < 5
    table = compared(points)
    row = table.set_index("rival").loc["msb"]
    assert (row["n_affording"], row["n_runs"]) == (n_affording, 5)
    assert row["rival_score"] == pytest.approx(np.mean([theirs for _, theirs, _ in scores]))


def test_a_run_that_a_rival_did_not_complete_counts_as_the_free_constant():
    points = fail(stopping_early(), "msb", 1)
    row = compared(points).set_index("rival").loc["msb"]
    assert (row["n_affording"], row["n_runs"]) == (2, 3)
    scores = [theirs for _, theirs, _ in expected_rival_scores(points)]
    assert row["rival_score"] == pytest.approx(np.mean(scores))
    # Neither a control that failed nor the method itself has another model to count.
    assert compared(fail(stopping_early(), "all_features", 1))["n_runs"].tolist() == [3, 2]
    assert compared(fail(stopping_early(), "logitb", 1))["n_runs"].tolist() == [2, 2]


def test_a_model_that_costs_no_less_than_a_later_one_is_not_used():
    points = stopping_early(last_stage=99)
    # On test data msB's second model costs as much as the own model, and later ones cost less.
    msb = points["method"] == "msb"
    own = points["run"].map(points[points["method"] == "logitb"].groupby("run")["cost"].max())
    points.loc[msb & (points["stage"] == 1), "cost"] = own
    points.loc[msb, "cost"] = points["cost"].clip(upper=own * (1 - 1e-6 * (points["stage"] != 1)))
    kept = compressed_points(points).query("method == 'msb'")
    assert (kept["stage"] == 1).sum() == 3
    row = compared(points).set_index("rival").loc["msb"]
    assert row["rival_score"] == pytest.approx(kept.groupby("run")["test_score"].last().mean())


def test_a_rival_of_just_the_own_cost_is_afforded():
    points = stopping_early(last_stage=0)
    points = points[points["method"] != "msb"]
    same = points[points["method"] == "logitb"].assign(method="msb")
    row = compared(pd.concat([points, same])).set_index("rival").loc["msb"]
    assert row["n_affording"] == 3
    assert row["rival_score"] == row["score"]
