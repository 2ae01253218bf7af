"""Displays show the numbers of the estimator."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

from budgetlearn import (
    AutoBudgetClassifier,
    BudgetPipeline,
    BudgetPreprocessor,
    CostAccuracyDisplay,
    GIFRegressor,
    ModelScheduleSearch,
)


@pytest.fixture(autouse=True)
def plt():
    """Return pyplot with a backend that opens no window."""
    from matplotlib import pyplot

    with pyplot.ioff():
        yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.rename(columns={"alcohol": "alcohol, in $"})
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    prices = dict(zip(X.columns, range(1, 14), strict=True))
    search = ModelScheduleSearch(feature_costs=prices, random_state=0).fit(X, y)
    return search, X_test, y_test


def test_cost_accuracy_draws_cost_and_score_of_each_point(wine):
    search, X, y = wine
    display = CostAccuracyDisplay.from_estimator(search, X, y, name="msB")
    stages = list(search.stages(X))
    assert display.costs.tolist() == pytest.approx([stage.cost.mean() for stage in stages])
    assert display.scores.tolist() == [accuracy_score(y, stage.output) for stage in stages]
    for budget in (5, 20, 91):
        spent = search.acquisition_cost(X, budget=budget).mean()
        assert np.isclose(display.line_.get_xdata(), spent).any()
    assert display.ax_.get_legend_handles_labels()[1] == ["msB"]
    assert display.ax_.get_ylabel() == "accuracy"


def test_a_pipeline_is_drawn_as_its_last_step(wine):
    search, X, y = wine
    encoder = BudgetPreprocessor().fit(X)
    pipeline = BudgetPipeline([("encode", encoder), ("search", search)])
    plain, drawn = (CostAccuracyDisplay.from_estimator(each, X, y) for each in (search, pipeline))
    assert drawn.costs.tolist() == plain.costs.tolist()
    assert drawn.scores.tolist() == plain.scores.tolist()
    assert (drawn.chosen.tolist(), drawn.estimator_name) == (
        plain.chosen.tolist(),
        "ModelScheduleSearch",
    )


def test_points_that_no_budget_chooses_are_apart():
    display = CostAccuracyDisplay(
        np.array([1.0, 2, 3]), np.array([0.5, 0.4, 0.9]), np.array([0, 2])
    )
    display.plot()
    assert display.line_.get_xdata().tolist() == [1, 3]
    assert display.points_.get_xdata().tolist() == [2]
    # Of points with equal scores, `auto` buys the most expensive one that the budget pays for.
    X, y = load_wine(return_X_y=True)
    auto = AutoBudgetClassifier(max_minutes=1e-5, random_state=0).fit(X, y)
    auto.operating_points_["score"] = 0.5
    assert CostAccuracyDisplay.from_estimator(auto, X, y).chosen.tolist() == [0, 1]


def test_regression_is_scored_by_r2():
    X, y = load_diabetes(return_X_y=True)
    model = GIFRegressor(node_budget=200, n_estimators=20, random_state=0).fit(X[:300], y[:300])
    display = CostAccuracyDisplay.from_estimator(model, X[300:], y[300:])
    last = list(model.stages(X[300:]))[-1]
    assert display.scores[-1] == pytest.approx(r2_score(y[300:], last.output))
    assert display.ax_.get_ylabel() == "R²"


def test_axes_of_ones_own_are_used(wine, plt):
    search, X, y = wine
    _, axes = plt.subplots(1, 2)
    assert CostAccuracyDisplay.from_estimator(search, X, y, ax=axes[0]).ax_ is axes[0]
