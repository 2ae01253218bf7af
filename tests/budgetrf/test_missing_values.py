"""BudgetRF that learns from missing values: what it predicts, charges, prunes and shows."""

import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth, Leaves
from budgetlearn.exceptions import MissingValueError
from budgetlearn.forests import RandomForestClassifier
from budgetlearn.forests.importance import permutation_importance
from tests.tree import reference

FAST = {"n_estimators": 6, "n_jobs": 1, "random_state": 0}


def table(n=240, seed=0):
    """Return X whose first three columns have holes that say something, and two targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = np.abs(X[:, 0]) + X[:, 1] + X[:, 4]
    X[(np.abs(X[:, 0]) > 1.2) & (rng.random(n) < 0.8), 0] = np.nan
    X[rng.random(n) < 0.2, 1] = np.nan
    X[rng.random(n) < 0.1, 2] = np.nan
    return X, (score > 0.8).astype(int), score


PLUS = {"leaves": Leaves(prune=0.1, joint_fit=10.0), "oob_score": True}
DISCOUNTED = Growth(reuse_discount=0.5)
MODELS = [
    BudgetRFClassifier(**FAST),
    BudgetRFClassifier(
        growth=Growth(reuse_discount=0.5, impurity="entropy", split="expected", max_bins=16),
        **PLUS,
        **FAST,
    ),
    BudgetRFClassifier(growth=Growth(thresholds="random", max_features=2), **FAST),
    BudgetRFRegressor(**FAST),
    BudgetRFRegressor(growth=DISCOUNTED, **PLUS, **FAST),
]


@pytest.mark.parametrize("model", MODELS)
def test_missing_values_are_values_in_whatever_is_asked(model):
    X, labels, numbers = table()
    y = labels if is_classifier(model) else numbers
    model = pickle.loads(pickle.dumps(model.fit(X, y)))
    X_new = table(300, 1)[0]
    _, _, leaves, acquired = reference.walk_forest(model.trees_, X_new)
    np.testing.assert_array_equal(model.apply(X_new), leaves)
    np.testing.assert_array_equal(model.acquired_features(X_new), acquired)
    decisions = model.predict_acquiring(lambda rows, feature: X_new[rows, feature], 300)
    np.testing.assert_array_equal(decisions.acquired, acquired)
    np.testing.assert_allclose(decisions.cost, model.acquisition_cost(X_new))
    if is_classifier(model):
        np.testing.assert_array_equal(decisions.prediction, model.predict(X_new))
    else:
        np.testing.assert_allclose(decisions.prediction, model.predict(X_new))
    session = model.session()
    while not session.done:
        name, _, _ = session.wanted[0]
        session.give({name: X_new[0, name]})
    assert session.cost == decisions.cost[0]
    assert model.score(X, y) > 0.6


def test_holes_tell_what_filled_cells_do_not():
    X, y, _ = table(600)
    X_new, y_new, _ = table(600, 1)
    model = BudgetRFClassifier(**FAST)
    filled = model.fit(np.nan_to_num(X), y).score(np.nan_to_num(X_new), y_new)
    assert model.fit(X, y).score(X_new, y_new) > filled + 0.03


def test_a_split_of_what_is_missing_from_all_that_is_there():
    X = np.array([[1.0], [5.0], [3.0], [np.nan], [np.nan]])
    model = BudgetRFClassifier(growth=Growth(bootstrap=False), n_estimators=1).fit(
        X, [0, 0, 0, 1, 1]
    )
    assert model.trees_[0].threshold[0] == np.inf
    np.testing.assert_array_equal(model.predict([[1e300], [np.nan]]), [0, 1])


def test_only_features_with_holes_in_training_may_lack_values():
    X, y, _ = table()
    model = BudgetRFClassifier(budget=4, **FAST).fit(X, y)
    row = X[:1].copy()
    row[0, 4] = np.nan
    with pytest.raises(MissingValueError, match="feature 4, which the prediction looks at"):
        model.predict(row)
    assert model.predict(row, fallback=True) in (0, 1)
    X_val = X[:20].copy()
    X_val[3, 4] = np.nan
    with pytest.raises(MissingValueError, match="feature 4 in row 4 "):
        model.fit(X, y, X_val, y[:20])


def test_a_warm_start_ends_where_a_cold_one_does():
    X, y, _ = table()
    cold = BudgetRFClassifier(**FAST).fit(X, y)
    warm = BudgetRFClassifier(**{**FAST, "n_estimators": 3}, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(warm.predict_proba(X), cold.predict_proba(X))


def test_what_does_not_take_missing_values_says_so():
    X, y, _ = table()
    model = BudgetRFClassifier(**FAST).fit(X, y)
    with pytest.raises(ValueError, match="permutation_importance of sklearn"):
        permutation_importance(model, X, y)
    with pytest.raises(ValueError, match="NaN"):
        RandomForestClassifier().fit(X, y)
    assert model.__sklearn_tags__().input_tags.allow_nan
