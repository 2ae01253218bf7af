"""Controls: one pays for nothing, one for everything."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine, make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.peers import (
    AllFeaturesClassifier,
    AllFeaturesRegressor,
    ForestStages,
    FreeConstantClassifier,
    FreeConstantRegressor,
)
from tests.looping import check_conventions


@pytest.mark.parametrize(
    "estimator",
    [AllFeaturesClassifier(DecisionTreeClassifier(max_depth=5)), AllFeaturesRegressor(Ridge())],
    ids=type,
)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


def test_constant_is_free_and_constant():
    X, y = load_wine(return_X_y=True)
    model = FreeConstantClassifier(feature_costs=np.arange(13)).fit(X, y)
    assert np.unique(model.predict(X)).tolist() == [np.bincount(y).argmax()]
    assert not model.acquisition_cost(X).any()
    # As likely as they are frequent: sure of one class, its log-loss would be a bound that any
    # model beats.
    np.testing.assert_allclose(model.predict_proba(X), np.tile(np.bincount(y) / len(y), (178, 1)))
    # Like other classifiers, it weighs classes, and its point has the score of choice.
    weighed = FreeConstantClassifier(class_weight={2: 9}, scoring="balanced_accuracy").fit(X, y)
    assert set(weighed.predict(X)) == {2}
    assert weighed.operating_points_["score"].tolist() == pytest.approx([1 / 3])


def test_constant_of_regression_is_the_mean():
    X, y = load_diabetes(return_X_y=True)
    model = FreeConstantRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert not model.acquisition_cost(X).any()
    with pytest.raises(ValueError, match="scoring must be the name of one score"):
        FreeConstantRegressor(scoring=np.ones(2)).fit(X, y, X, y)


def test_all_features_cost_everything():
    X, y = load_wine(return_X_y=True)
    model = AllFeaturesClassifier(
        DecisionTreeClassifier(), feature_costs=np.arange(13), random_state=0
    ).fit(X, y)
    assert (model.acquisition_cost(X) == 78).all()
    assert np.mean(model.predict(X) == y) == 1


def test_all_features_predict_numbers():
    X, y = load_diabetes(return_X_y=True)
    model = AllFeaturesRegressor(random_state=3, feature_costs=np.arange(10)).fit(X, y)
    forest = RandomForestRegressor(random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), forest.predict(X))
    assert (model.acquisition_cost(X) == 45).all()


def test_a_seed_of_the_estimator_s_own_is_kept():
    X, y = make_classification(200, flip_y=0.3, random_state=0)
    for kind, engine in (
        (AllFeaturesClassifier, ExtraTreesClassifier(5, random_state=0)),
        (ForestStages, ExtraTreesClassifier(random_state=0)),
    ):
        size = {"n_trees": [5]} if kind is ForestStages else {}
        one, two = (kind(engine, **size).fit(X[:100], y[:100]).predict_proba(X) for _ in range(2))
        np.testing.assert_array_equal(one, two)
