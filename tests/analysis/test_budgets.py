"""Hard budgets: who keeps them, and what methods are worth when the costliest row is charged."""

import numpy as np
import pytest

from budgetbench.analysis.areas import horizon_areas
from budgetbench.analysis.recommendations import at_most, budget_kinds
from budgetbench.analysis.schedules import RUN, compressed_points
from tests.factories import fail, make_points, make_results


def lazy_points():
    """Return points of which logitB's examples cost up to twice the mean."""
    points = make_points()
    lazy = points["method"] == "logitb"
    points.loc[lazy, ["cost_max", "valid_cost_max"]] *= 2
    return points


def test_a_method_is_hard_if_no_example_exceeds_the_mean():
    kinds = budget_kinds(lazy_points())
    assert kinds == {"msb": "hard", "logitb": "mean", "all_features": "hard", "constant": "hard"}


def test_one_model_whose_examples_differ_makes_the_budget_a_mean():
    points = make_points()
    points.loc[points.index[points["method"] == "msb"][-1], "cost_max"] *= 2
    assert budget_kinds(points)["msb"] == "mean"
    assert budget_kinds(points)["logitb"] == "hard"


def test_a_failed_run_tells_nothing_of_the_kind_of_budget():
    points = fail(make_points(), "msb", 1)
    points.loc[points["status"] != "ok", ["cost", "cost_max"]] = np.nan
    assert budget_kinds(points)["msb"] == "hard"


def test_the_maximum_is_charged():
    points = lazy_points()
    hard = at_most(points)
    lazy = hard["method"] == "logitb"
    assert (hard.loc[lazy, "cost"] == 2 * points.loc[lazy, "cost"]).all()
    assert hard.loc[lazy, "cost_fraction"].to_numpy() == pytest.approx(
        2 * points.loc[lazy, "cost_fraction"].to_numpy()
    )
    costlier = points.assign(valid_cost_max=3 * points["cost_max"])
    assert at_most(costlier)["valid_cost"].equals(costlier["valid_cost_max"].rename("valid_cost"))
    others = ["cost", "cost_fraction", "valid_cost"]
    assert hard.loc[~lazy, others].to_numpy() == pytest.approx(points.loc[~lazy, others].to_numpy())
    assert (hard.loc[hard["method"] == "constant", "cost_fraction"] == 0).all()


def test_failures_and_free_points_of_unknown_prices_are_kept():
    points = fail(make_points(), "msb", 1)
    points.loc[points["status"] != "ok", ["cost", "cost_max", "cost_fraction"]] = np.nan
    assert (at_most(points)["status"] != "ok").sum() == 1
    free = points[points["method"] == "constant"]
    assert at_most(free)["cost_fraction"].eq(0).sum() == len(free)


def test_only_methods_that_exceed_their_mean_lose_area():
    points = lazy_points()
    results = make_results(points)
    mean, hard = (
        table.set_index(["dataset", "method", "horizon"])["mean_test"]
        for table in results.horizons.values()
    )
    lost = (mean - hard).xs("50 %", level="horizon")
    assert (lost.xs("logitb", level="method") > 0.01).all()
    assert lost.xs("msb", level="method").to_numpy() == pytest.approx(0)
    found = horizon_areas(at_most(points), compressed_points(at_most(points)))
    assert not found.duplicated([*RUN, "horizon"]).any()
