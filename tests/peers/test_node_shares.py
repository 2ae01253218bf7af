"""Node budgets in shares of extra trees: kept by GIF and by boosting, and counted alike."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.gif import fitting as gif_fitting
from budgetlearn.peers import BoostingNodeShares, GIFNodeShares
from budgetlearn.tree.predictor import ForestPredictor
from tests.looping import check_conventions

STUMPS = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1))


@pytest.mark.parametrize(
    "estimator",
    [
        GIFNodeShares(GIFClassifier(n_estimators=10, learning_rate=0.3), (5, 50), 5),
        GIFNodeShares(GIFRegressor(n_estimators=10, learning_rate=0.3), (5, 50), 5),
        BoostingNodeShares(STUMPS, (25, 30), 4),
        BoostingNodeShares(GradientBoostingRegressor(max_depth=1), (25, 30), 4),
    ],
    ids=type,
)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


@pytest.mark.parametrize("n_estimators", [50, 100, 200])
def test_gif_budgets_are_shares_of_fully_grown_trees(numbers, n_estimators):
    forest = GIFRegressor(n_estimators=n_estimators)
    model = GIFNodeShares(forest, percents=(1, 10), n_full_trees=100, random_state=0)
    model.fit(*numbers)
    # A tree on 200 distinct targets has 399 nodes.
    assert model.n_full_ == 39_900
    assert model.node_budgets_ == [399, 3990]
    sizes = [stage.nodes for stage in model.stages(numbers[0])]
    for n_nodes, node_budget in zip(sizes, model.node_budgets_, strict=True):
        assert node_budget - 1 <= n_nodes <= node_budget
    assert model.estimator_.n_nodes_ == sizes[-1]


@pytest.mark.parametrize(("times", "plus"), [(1e-9, 0.0), (1.0, 1e9), (1e-9, 1.0)])
def test_budgets_are_the_same_in_tiny_units_and_far_from_zero(numbers, times, plus):
    X, y = numbers
    model = GIFNodeShares(GIFRegressor(n_estimators=10), (1, 10), 100, random_state=0)
    assert model.fit(X, times * y + plus).node_budgets_ == [399, 3990]
    assert model.fit(times * X + plus, y).node_budgets_ == [399, 3990]


@pytest.mark.parametrize(
    ("growth", "n_grown"), [({}, 1), ({"joint_fit": "ridge", "prune_factor": 2}, 2)]
)
def test_the_small_budget_is_the_forest_that_this_budget_grows(classes, growth, n_grown):
    X, y = classes
    model = GIFNodeShares(GIFClassifier(n_estimators=5, **growth), (2, 20), 50, random_state=1)
    model.fit(X, y)
    assert model.n_models_fitted_ == n_grown + 1  # and the extra trees that are counted
    assert model.n_full_ == clone(model).fit(X, y).n_full_
    own = {"n_estimators": 5, "random_state": model.estimator_.random_state}
    small = GIFClassifier(model.node_budgets_[0], **own, **growth).fit(X, y)
    np.testing.assert_array_equal(next(model.staged_predict(X)), small.predict(X))
    assert [stage.nodes for stage in model.stages(X)] == [f.n_nodes_ for f in model.forests_]
    assert next(model.stages(X)).facts["node_entropy"] == small.node_entropy_
    assert model.stored_bytes(0) == small.nbytes("float32") < model.estimator_.nbytes("float32")
    acquired = model.predict_acquiring(lambda rows, feature: X[rows, feature], len(X))
    np.testing.assert_array_equal(acquired.prediction, model.predict(X))


def test_each_budget_is_packed_for_prediction_once(numbers, monkeypatch):
    packed = []

    def pack(*arguments, **named):
        packed.append(arguments)
        return ForestPredictor(*arguments, **named)

    monkeypatch.setattr(gif_fitting, "ForestPredictor", pack)
    X, y = numbers
    model = GIFNodeShares(GIFRegressor(n_estimators=30), (1, 5, 20), 30, random_state=0).fit(X, y)
    for _ in range(2):
        list(model.staged_predict(X))
        list(model.staged_acquired_features(X))
    assert len(packed) == 3


def test_smaller_budgets_look_at_no_more_features(numbers):
    X, y = numbers
    for model in (
        GIFNodeShares(GIFRegressor(n_estimators=30), (1, 20), 30, random_state=0),
        BoostingNodeShares(GradientBoostingRegressor(max_depth=1), (0.001, 0.02), random_state=0),
    ):
        few, many = model.fit(X, y).staged_acquired_features(X)
        assert (few <= many).all()
        assert few.sum() < many.sum()
        np.testing.assert_array_equal(model.acquired_features(X), many)


@pytest.mark.parametrize("max_depth", [1, 2])
def test_boosting_of_numbers_holds_the_budget(numbers, max_depth):
    X, y = numbers
    base = GradientBoostingRegressor(max_depth=max_depth, learning_rate=0.3)
    model = BoostingNodeShares(base, (1, 5), n_full_trees=50, random_state=0).fit(X, y)
    assert model.node_budgets_ == [199, 997]
    counts = [tree.tree_.node_count for tree in model.estimator_.estimators_[:, 0]]
    total = np.cumsum(counts).tolist()
    assert len(total) == 997 // {1: 3, 2: 7}[max_depth]
    expected = list(model.estimator_.staged_predict(X.astype(np.float32)))
    stages = zip(
        model.node_budgets_,
        (stage.nodes for stage in model.stages(X)),
        model.staged_predict(X),
        strict=True,
    )
    for budget, n_nodes, predicted in stages:
        n_trees = total.index(n_nodes) + 1
        assert n_nodes <= budget
        assert n_trees == len(total) or total[n_trees] > budget
        np.testing.assert_allclose(predicted, expected[n_trees - 1], rtol=1e-12)


def test_boosted_classes_hold_the_budget(classes):
    X, y = classes
    model = BoostingNodeShares(STUMPS, (1, 10), n_full_trees=100, random_state=0).fit(X, y)
    expected = list(model.estimator_.staged_predict(X.astype(np.float32)))
    stages = zip(
        model.node_budgets_,
        (stage.nodes for stage in model.stages(X)),
        model.staged_predict(X),
        strict=True,
    )
    for budget, n_nodes, predicted in stages:
        assert n_nodes == budget // 3 * 3
        np.testing.assert_array_equal(predicted, expected[n_nodes // 3 - 1])


def test_an_iteration_over_many_classes_counts_all_its_trees():
    X, y = make_classification(150, 6, n_informative=4, n_classes=3, random_state=0)
    base = GradientBoostingClassifier(max_depth=1)
    model = BoostingNodeShares(base, (10, 50), n_full_trees=10, random_state=0).fit(X, y)
    assert model.estimator_.estimators_.shape[1] == 3
    for n_nodes, budget in zip(
        (stage.nodes for stage in model.stages(X)), model.node_budgets_, strict=True
    ):
        assert n_nodes == budget // 9 * 9
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))
    # Two classes share the trees.
    model.fit(X, y > 0)
    assert len(model.estimator_.estimators_) == model.node_budgets_[-1] // 3


@pytest.mark.parametrize("sizes", [(), (10, 10), (0, 5), (5, 101)])
def test_wrong_shares_are_refused(numbers, sizes):
    for model in (GIFNodeShares(GIFRegressor()), BoostingNodeShares(GradientBoostingRegressor())):
        with pytest.raises(BudgetlearnError, match="percents"):
            model.set_params(percents=sizes).fit(*numbers)


def test_a_budget_below_one_tree_is_refused(numbers):
    model = BoostingNodeShares(GradientBoostingRegressor(), percents=(1,), n_full_trees=2)
    with pytest.raises(
        BudgetlearnError, match=r"up to 15 nodes, but .* only 7, 1 %.*\. Raise percents"
    ):
        model.fit(*numbers)


def test_trees_of_any_depth_are_refused(numbers):
    base = GradientBoostingRegressor(max_depth=None)
    with pytest.raises(BudgetlearnError, match="max_depth of the boosted trees"):
        BoostingNodeShares(base).fit(*numbers)
