"""BudgetRF for numbers."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.tree import DecisionTreeRegressor, export_text
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetlearn import BudgetRFRegressor, FeatureCosts
from budgetlearn.testing import check_budgeted_estimator, expected_failed_checks

X, Y = make_friedman1(300, 6, random_state=0)
X = X.astype(np.float32).astype(np.float64)  # what scikit-learn's trees read
TRAIN, TEST = slice(None, 200), slice(200, None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [BudgetRFRegressor(n_estimators=4, prune=[0.0, 1.0], refit_leaves=True)],
    expected_failed_checks=expected_failed_checks,
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("options", [{}, {"refit_leaves": 3.0, "prune": 0.5}])
def test_protocol(options):
    check_budgeted_estimator(BudgetRFRegressor(n_estimators=4, max_depth=3, **options))


def test_splits_lower_the_variance_as_those_of_scikit_learn():
    settings = {"max_depth": 4, "random_state": 0}
    ours = BudgetRFRegressor(n_estimators=1, bootstrap=False, **settings).fit(X, Y)
    theirs = DecisionTreeRegressor(**settings).fit(X, Y)
    tree = ours.trees_[0]
    assert sorted(tree.n_node_samples) == sorted(theirs.tree_.n_node_samples)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert export_text(ours.decision_tree(0)) == export_text(theirs)


def test_weights_are_repeated_rows():
    weight = np.random.default_rng(0).integers(0, 3, len(Y))
    settings = {"n_estimators": 1, "bootstrap": False, "ties": "first", "max_depth": 4}
    weighed = BudgetRFRegressor(**settings).fit(X, Y, sample_weight=weight)
    repeated = BudgetRFRegressor(**settings).fit(np.repeat(X, weight, 0), np.repeat(Y, weight))
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X))


def test_a_budget_is_kept_and_prices_are_looked_at():
    costs = FeatureCosts([1, 1, 1, 30, 30, 1])
    settings = {"n_estimators": 12, "random_state": 0}
    dear = BudgetRFRegressor(costs, cost_exponent=0.0, **settings).fit(X[TRAIN], Y[TRAIN])
    cheap = BudgetRFRegressor(costs, budget=40, **settings).fit(X[TRAIN], Y[TRAIN])
    assert cheap.acquisition_cost(X).mean() < 42 < dear.acquisition_cost(X).mean()
    assert cheap.validation_errors_.size == len(cheap.trees_) > 0


def test_leaves_fitted_together_predict_better():
    scores = [
        BudgetRFRegressor(n_estimators=20, max_depth=2, refit_leaves=leaves, random_state=0)
        .fit(X[TRAIN], Y[TRAIN])
        .score(X[TEST], Y[TEST])
        for leaves in (False, 1.0)
    ]
    assert scores[1] > scores[0] + 0.1


def test_the_compact_form_predicts_the_same():
    forest = BudgetRFRegressor(n_estimators=4, max_depth=3, random_state=0).fit(X, Y)
    np.testing.assert_allclose(forest.compact().predict(X), forest.predict(X), rtol=1e-5)
