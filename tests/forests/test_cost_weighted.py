"""rfB: chances inverse to costs, who pays for what, and the selected subset."""

import pickle

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, make_classification

from budgetlearn.costs import FeatureCosts
from budgetlearn.forests import CostWeightedRFClassifier, RandomForestClassifier
from budgetlearn.forests.base import gini_importance
from budgetlearn.forests.random_forest import LEAST_PRICE, drawing_odds
from tests.looping import check_conventions
from tests.tree.reference import walk_forest


@pytest.mark.parametrize(
    "estimator",
    [
        CostWeightedRFClassifier(n_estimators=5),
        CostWeightedRFClassifier(n_estimators=5, subset="above_mean"),
    ],
    ids=type,
)
def test_estimator_checks(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(600, 12, n_informative=6, flip_y=0.02, random_state=0)
    return X[:300], y[:300], X[300:], y[300:]


def test_chances_are_inverse_to_prices():
    # 1/1, 1/2 and 1/4 are 4, 2 and 1 of 7.
    np.testing.assert_allclose(drawing_odds(FeatureCosts([1, 2, 4])), np.array([4, 2, 1]) / 7)


def test_members_of_a_group_count_with_its_charge():
    costs = FeatureCosts([1, 1, 4], groups=[0, -1, -1], group_costs=[3])
    np.testing.assert_allclose(drawing_odds(costs), np.array([1, 4, 1]) / 6)


def test_free_features_have_large_but_finite_chances():
    odds = drawing_odds(FeatureCosts([0, 10, 5]))
    np.testing.assert_allclose(odds[0] / odds[1], 1 / LEAST_PRICE)
    np.testing.assert_allclose(odds[2] / odds[1], 2)
    np.testing.assert_array_equal(drawing_odds(FeatureCosts([0, 0])), [0.5, 0.5])


def test_roots_draw_in_proportion_to_the_odds():
    """With one feature a node and no difference between features, roots show the draw itself."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    forest = CostWeightedRFClassifier(
        feature_costs=[1, 2, 4], n_estimators=3000, max_features=1, max_depth=1
    )
    roots = [tree.feature[0] for tree in forest.set_params(random_state=0).fit(X, y).trees_]
    np.testing.assert_allclose(np.bincount(roots) / 3000, np.array([4, 2, 1]) / 7, atol=0.03)


def test_expensive_features_are_used_less(table):
    costs = np.geomspace(1, 1000, 12)
    forest = CostWeightedRFClassifier(feature_costs=costs, n_estimators=30, random_state=0).fit(
        *table[:2]
    )
    splits = np.concatenate([tree.feature[~tree.is_leaf] for tree in forest.trees_])
    assert spearmanr(costs, np.bincount(splits, minlength=12)).statistic < -0.6


def test_equal_prices_make_a_random_forest(table):
    X, y, X_test, y_test = table
    ours = CostWeightedRFClassifier(n_estimators=80, random_state=0).fit(X, y)
    plain = RandomForestClassifier(n_estimators=80, random_state=0).fit(X, y)
    assert ours.score(X_test, y_test) == pytest.approx(plain.score(X_test, y_test), abs=0.03)


@pytest.mark.parametrize("subset", ["all", "above_mean"])
def test_everybody_pays_for_what_the_forest_uses(table, subset):
    X, y, X_test, _ = table
    costs = FeatureCosts(np.arange(1.0, 13), [0, 0] + [-1] * 10, [7])
    forest = CostWeightedRFClassifier(
        feature_costs=costs, n_estimators=4, subset=subset, random_state=0
    )
    forest.fit(X, y)
    *_, walked = walk_forest(forest.trees_, X_test)
    assert not walked[:, np.setdiff1d(np.arange(12), forest.features_)].any()
    assert set(forest.features_) == {f for t in forest.trees_ for f in t.feature if f >= 0}
    assert forest.cost_ == costs.subset(forest.features_)
    np.testing.assert_array_equal(forest.acquisition_cost(X_test), forest.cost_)
    stages = [costs.total(a)[0] for a in forest.staged_acquired_features(X_test)]
    assert stages == sorted(stages)
    assert stages[-1] == forest.cost_


def test_the_subset_is_what_lies_above_the_mean_importance():
    X, y = load_breast_cancer(return_X_y=True)
    both = [
        CostWeightedRFClassifier(n_estimators=20, subset=subset, random_state=3).fit(X, y)
        for subset in ("all", "above_mean")
    ]
    importance = both[0].feature_importances_
    np.testing.assert_array_equal(importance, both[1].feature_importances_)
    np.testing.assert_array_equal(both[1].features_, np.flatnonzero(importance > importance.mean()))
    assert both[1].cost_ < both[0].cost_
    assert both[1].score(X, y) > 0.99


def test_a_single_feature_is_kept():
    X = np.arange(20.0)[:, None]
    forest = CostWeightedRFClassifier(n_estimators=3, subset="above_mean", random_state=0)
    assert forest.fit(X, X[:, 0] > 9).features_.tolist() == [0]


def test_importance_is_the_drop_in_impurity():
    X, y = np.array([[0.0, 5], [0, 6], [1, 5], [1, 6]]), [0, 0, 1, 1]
    forest = RandomForestClassifier(n_estimators=3, bootstrap=False, max_features=None)
    # One split on feature 0 takes the impurity from 1/2 to 0.
    np.testing.assert_allclose(gini_importance(forest.fit(X, y).trees_, 2), [0.5, 0])


@pytest.mark.parametrize("subset", ["all", "above_mean"])
def test_n_jobs_and_pickling_do_not_matter(table, subset):
    X, y, X_test, _ = table
    one, two = (
        CostWeightedRFClassifier(
            feature_costs=range(12), n_estimators=8, subset=subset, random_state=1, n_jobs=n
        ).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X_test), two.predict_proba(X_test))
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.predict(X_test), again.predict(X_test))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"subset": "best"}, "subset must be one of"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_features": "log2"}, "max_features"),
        ({"feature_costs": np.ones(5)}, "each of the 12 features"),
        ({"feature_costs": -np.ones(12)}, "finite and >= 0"),
    ],
)
def test_bad_parameters_are_refused(table, wrong, message):
    with pytest.raises(ValueError, match=message):
        CostWeightedRFClassifier(**wrong).fit(*table[:2])
