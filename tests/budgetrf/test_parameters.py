"""BudgetRF's groups of parameters: set one by one, cloned, shown, and never changed in place."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth, Leaves
from budgetlearn.validation import ParameterError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("kind", [BudgetRFClassifier, BudgetRFRegressor])
def test_a_constructor_has_at_most_fifteen_parameters(kind):
    assert len(kind().get_params(deep=False)) <= 15


def test_one_parameter_of_a_group_is_set_and_others_stay():
    growth = Growth(ties="first")
    one, other = BudgetRFClassifier(growth=growth), BudgetRFClassifier(growth=growth)
    one.set_params(growth__max_depth=3, leaves__prune=1)
    assert one.growth == Growth(ties="first", max_depth=3)
    assert one.leaves == Leaves(prune=1)
    assert other.growth is growth == Growth(ties="first")
    one.set_params(growth=Growth(), growth__max_bins=9)
    assert one.growth == Growth(max_bins=9)
    assert one.get_params()["growth__max_bins"] == 9
    assert "growth__max_bins" not in one.get_params(deep=False)


def test_groups_are_cloned_and_shown_short():
    forest = BudgetRFClassifier(growth=Growth(max_depth=3, max_bins=None))
    assert clone(forest).growth == forest.growth
    assert repr(forest) == "BudgetRFClassifier(growth=Growth(max_depth=3))"
    assert repr(BudgetRFClassifier(leaves=Leaves())) == "BudgetRFClassifier(leaves=Leaves())"


def test_a_grid_searches_the_parameters_of_a_group():
    grid = {"growth__max_depth": [1, 4], "leaves__voting": ["counts"]}
    forest = BudgetRFClassifier(n_estimators=2, random_state=0)
    search = GridSearchCV(forest, grid, cv=2).fit(X, Y)
    assert search.best_estimator_.leaves == Leaves(voting="counts")
    assert search.best_estimator_.growth.max_depth in (1, 4)
    assert forest.growth is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"growth__depth": 3}, "growth has no parameter depth; it has bootstrap, "),
        ({"leaves__max_depth": 3}, "leaves has no parameter max_depth"),
        ({"growth": {"max_depth": 3}}, "growth must be a Growth or None"),
        ({"leaves": Growth()}, r"leaves must be a Leaves or None, got Growth\(\)"),
    ],
)
def test_what_is_no_group_is_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        BudgetRFClassifier(n_estimators=2).set_params(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    "wrong",
    [{"growth__impurity": "gini"}, {"growth__split": "expected"}, {"leaves__voting": "counts"}],
)
def test_regression_refuses_what_is_of_classes(wrong):
    with pytest.raises(ParameterError, match="are for classification"):
        BudgetRFRegressor().set_params(**wrong).fit(X, X[:, 0])


@pytest.mark.parametrize("name", ["prune", "joint_fit"])
@pytest.mark.parametrize("choice", [np.True_, np.False_])
def test_true_and_false_may_be_those_of_numpy(name, choice):
    """As a search over np.array([True, False]) sets them."""
    forest = BudgetRFClassifier(n_estimators=3, random_state=0)
    ours, same = (
        clone(forest).set_params(**{f"leaves__{name}": each}).fit(X, Y)
        for each in (choice, bool(choice))
    )
    # True tries a list on held-out rows.
    assert (ours.validation_costs_ is not None) == bool(choice)
    np.testing.assert_array_equal(ours.predict_proba(X), same.predict_proba(X))
