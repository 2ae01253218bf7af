"""ASTC: what its nodes acquire, whom they send where, and what an example pays."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import Ridge

from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import BudgetError
from budgetlearn.peers import ASTCClassifier
from budgetlearn.testing import check_budgeted_estimator
from tests.looping import check_conventions

PRICES = np.random.default_rng(1).integers(1, 101, 13).astype(float)


@pytest.mark.parametrize("estimator", [ASTCClassifier(node_budgets=[3])], ids=type)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


def test_protocol():
    check_budgeted_estimator(ASTCClassifier(min_samples=3))


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_without_children_it_is_ridge_on_the_best_features_for_their_price(wine):
    X, y = wine
    model = ASTCClassifier(feature_costs=PRICES, node_budgets=[60], max_depth=0, ridge=0.01).fit(
        X, y
    )
    (node,) = model.trees_[0]
    assert PRICES[list(node.acquired)].sum() <= 60
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = Ridge(alpha=0.01 * len(X)).fit(Z[:, node.features], np.eye(3)[y])
    np.testing.assert_allclose(node.scores(X), peer.predict(Z[:, node.features]), atol=1e-10)
    gains = ((np.eye(3)[y] - np.eye(3)[y].mean(axis=0)).T @ Z) ** 2 / len(X)
    affordable = np.where(PRICES <= 60, gains.sum(axis=0) / PRICES, 0)
    assert node.acquired[0] == affordable.argmax()


def test_an_example_pays_a_budget_at_most_at_each_of_its_nodes(wine):
    X, y = wine
    model = ASTCClassifier(feature_costs=PRICES, node_budgets=[60, 120], max_depth=2).fit(X, y)
    for budget, tree, acquired in zip(
        (60, 120), model.trees_, model.staged_acquired_features(X), strict=True
    ):
        assert len(tree) > 1
        for node in tree:
            assert PRICES[list(node.acquired)].sum() <= budget
        assert (model.feature_costs_.total(acquired) <= 3 * budget).all()
        assert len(np.unique(acquired, axis=0)) > 1  # leaves differ
        owned = [acquired[:, list(node.acquired)].all(axis=1).any() for node in tree]
        assert all(owned)


def test_children_take_half_of_the_examples_each(wine):
    X, y = wine
    (tree,) = ASTCClassifier(feature_costs=PRICES, node_budgets=[80], max_depth=1).fit(X, y).trees_
    leaves = tree[0].child_of(tree[0].scores(X))
    assert sorted(np.bincount(leaves, minlength=3)) == [0, len(X) // 2, len(X) // 2]
    # Each is ridge regression on its own half, with features in the units of the whole table.
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for leaf in (1, 2):
        own, features = leaves == leaf, list(tree[leaf].features)
        peer = Ridge(alpha=0.01 * own.sum()).fit(Z[own][:, features], np.eye(3)[y[own]])
        np.testing.assert_allclose(tree[leaf].scores(X), peer.predict(Z[:, features]), atol=1e-9)
    # The half that is more sure of the class that the root tells best has more of it.
    assert abs(np.diff([np.bincount(y[leaves == leaf], minlength=3) for leaf in (1, 2)])).max() > 20


def test_a_child_gets_what_its_parent_acquired_for_nothing():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    X[:, 3] = 7.0  # says nothing
    y = np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0).astype(int) + 2 * (X[:, 0] > 0)
    model = ASTCClassifier(feature_costs=[1, 5, 5, 0], node_budgets=[5.0], max_depth=1).fit(X, y)
    root, *children = model.trees_[0]
    assert root.acquired == (0,)
    assert {child.acquired for child in children} == {(1,), (2,)}
    assert all(set(child.features) - set(child.acquired) <= {0} for child in children)
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.acquisition_cost(X), 6)


def test_a_group_is_paid_for_once():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    costs = FeatureCosts([1, 1], groups=[0, 0], group_costs=[10])
    y = (X.sum(axis=1) > 0).astype(int)
    both = ASTCClassifier(feature_costs=costs, node_budgets=[12], max_depth=0).fit(X, y)
    assert set(both.trees_[0][0].acquired) == {0, 1}
    assert both.acquisition_cost(X).max() == 12


def test_whoever_cannot_pay_keeps_what_the_node_above_says(wine):
    X, y = wine
    model = ASTCClassifier(feature_costs=PRICES, node_budgets=[40], max_depth=2).fit(X, y)
    root = model.trees_[0][0]
    made = model.predict(X, max_cost=PRICES[list(root.acquired)].sum())
    expected = root.scores(X).argmax(axis=1)
    assert (made == expected).mean() > 0.9  # those whose next nodes acquire nothing differ
    assert (made != model.predict(X)).any()


@pytest.mark.parametrize("budgets", [[], [2, 1], [-1]])
def test_budgets_that_are_not_valid(wine, budgets):
    with pytest.raises((BudgetError, ValueError), match="node_budgets"):
        ASTCClassifier(feature_costs=PRICES, node_budgets=budgets).fit(*wine)


def test_without_budgets_trees_reach_from_the_cheapest_feature_to_all(wine):
    model = ASTCClassifier(feature_costs=PRICES).fit(*wine)
    first, *_, last = (setting["node_budget"] for setting in model.stage_settings_)
    assert (first, last) == (PRICES.min(), pytest.approx(PRICES.sum()))
    assert model.n_models_fitted_ == 10
    assert len(ASTCClassifier(feature_costs=np.zeros(13)).fit(*wine).trees_) == 1


def test_rounding_decides_no_route(monkeypatch):
    """Other kernels of linear algebra give other signs and last bits of a singular vector."""
    X, y = load_breast_cancer(return_X_y=True)
    svd, fits = np.linalg.svd, []
    for noise in (0.0, 1e-15, -1e-15):
        turned = np.array([1.0, 1.0 + noise]) * (-1 if noise < 0 else 1)
        monkeypatch.setattr(
            np.linalg, "svd", lambda *a, t=turned, **k: (None, None, svd(*a, **k)[2] * t)
        )
        fits.append(ASTCClassifier().fit(X[:299], y[:299]))
    first, *others = [list(fit.staged_acquired_features(X)) for fit in fits]
    for other in others:
        np.testing.assert_array_equal(other, first)
