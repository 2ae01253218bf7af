"""Filter selection in front of boosting: LightGBM on the first features of the filter's order."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from budgetlearn.peers import FilterBoostingClassifier, FilterForestClassifier
from budgetlearn.peers.cost_boosting import LightGBMCostClassifier, scaled_tradeoffs
from budgetlearn.testing import check_budgeted_estimator
from tests.looping import check_conventions

pytest.importorskip("lightgbm")
PRICES = np.random.default_rng(1).integers(1, 101, 13).astype(float)


@pytest.mark.parametrize("estimator", [FilterBoostingClassifier(n_estimators=3)], ids=type)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


def test_protocol():
    check_budgeted_estimator(FilterBoostingClassifier(n_estimators=5))


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_each_stage_is_lightgbm_on_the_first_features(wine):
    X, y = wine
    model = FilterBoostingClassifier(feature_costs=PRICES, n_estimators=10, random_state=0).fit(
        X, y
    )
    order = (
        FilterForestClassifier(feature_costs=PRICES, n_estimators=1, random_state=0)
        .fit(X, y)
        .order_
    )
    np.testing.assert_array_equal(model.order_, order)
    stages = list(model.staged_acquired_features(X))
    assert model.n_models_fitted_ == len(stages)
    for setting, acquired in zip(model.stage_settings_, stages, strict=True):
        assert set(np.flatnonzero(acquired.any(axis=0))) <= set(order[: setting["features"]])
    alone = LightGBMCostClassifier(cost_weights=(0,), n_trees=(10,)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X))


def test_the_power_says_how_much_prices_count(wine):
    X, y = wine
    free = FilterForestClassifier(
        feature_costs=PRICES, n_estimators=1, cost_exponent=0, random_state=0
    ).fit(X, y)
    assert (np.diff(free.mutual_information_[free.order_]) <= 0).all()
    priced = FilterForestClassifier(
        feature_costs=PRICES, n_estimators=1, cost_exponent=9, random_state=0
    ).fit(X, y)
    assert PRICES[priced.order_[:2]].sum() == np.sort(PRICES)[:2].sum()


@pytest.mark.parametrize("penalty", ["coupled", "lazy"])
def test_scaled_tradeoffs_reach_from_nothing_to_everything(wine, penalty):
    X, y = wine
    parameters = {"penalty": penalty, "cost_weights": None, "n_trees": (1, 40)}
    model = LightGBMCostClassifier(feature_costs=PRICES, **parameters).fit(X, y)
    acquired = [acquired.any() for acquired in model.staged_acquired_features(X)]
    assert not acquired[0]
    assert not acquired[1]
    free = LightGBMCostClassifier(feature_costs=PRICES, cost_weights=(0,), n_trees=(40,)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), free.predict(X))
    cost_weights = scaled_tradeoffs(model.feature_costs_)
    assert (np.diff(cost_weights) < 0).all()
    assert len(cost_weights) == 10
    assert cost_weights[0] == pytest.approx(PRICES.sum() / PRICES.min())
    assert model.n_models_fitted_ == len(cost_weights)
