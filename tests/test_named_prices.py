"""Every estimator accepts prices by name for a DataFrame, in any order."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import budgetlearn
from budgetlearn.auto import estimator, methods
from budgetlearn.exceptions import CostError
from tests.auto.conftest import limit_folds, smaller

pytestmark = pytest.mark.usefixtures("quick_cascade")

X, Y = load_wine(return_X_y=True, as_frame=True)
X, Y = X.iloc[::2, :4], Y[::2]
PRICES = dict(zip(X.columns, [1, 2, 3, 4], strict=True))
QUICK = {"n_estimators": 5, "random_state": 0, "max_stages": 3}
QUICK |= {"estimators": "linear", "n_stages": 3, "cv": 2, "dynamic": False}  # for the cascade
CLASSES = [
    name
    for name in budgetlearn.__all__
    if name.endswith(("Classifier", "Regressor", "Search")) and not name.startswith("GIF")
]


def fitted(name, prices, table):
    estimator = getattr(budgetlearn, name)()
    known = estimator.get_params(deep=False)
    quick = {key: QUICK[key] for key in QUICK if key in known and known[key] != QUICK[key]}
    y = Y.astype(float) if name.endswith("Regressor") else Y
    return estimator.set_params(feature_costs=prices, **quick).fit(table, y)


@pytest.fixture(autouse=True)
def one_competitor(monkeypatch):
    """Let the choice compare one method with the constant; all methods get prices the same way."""

    def one(classifies, n_features):
        found = every(classifies, n_features)
        return [smaller(each) for each in found if each.name == "BudgetRF"]

    every = methods.competitors
    monkeypatch.setattr(estimator, "competitors", one)
    limit_folds(monkeypatch)


@pytest.mark.parametrize("name", CLASSES)
def test_prices_by_name_are_those_in_order(name):
    shuffled = pd.Series(PRICES)[::-1]
    by_name = fitted(name, shuffled, X)
    in_order = fitted(name, [1, 2, 3, 4], X.to_numpy())
    assert by_name.feature_costs_.costs.tolist() == [1, 2, 3, 4]
    cost = by_name.acquisition_cost(X)
    np.testing.assert_array_equal(cost, in_order.acquisition_cost(X.to_numpy()))


def test_a_frame_is_a_price_list():
    frame = pd.DataFrame({"feature": PRICES.keys(), "cost": PRICES.values()}).iloc[::-1]
    found = fitted("FilterForestClassifier", frame, X).feature_costs_
    assert found.costs.tolist() == list(PRICES.values())
    with pytest.raises(CostError, match="feature,cost"):
        fitted("FilterForestClassifier", pd.DataFrame({"price": [1, 2, 3, 4]}), X)
