"""The default of BudgetRF where prices vary: never near the constant where a forest is not."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from budgetbench.datasets import load_dataset
from budgetlearn import BudgetRFClassifier, RandomForestClassifier

TABLES = [
    "heart", "satellite", "spambase", "steel", "thyroid", "vehicle", "vowel", "waveform", "wine",
    "breast_cancer",
]  # fmt: skip
MOST = 400  # rows of each part


@pytest.mark.parametrize("name", TABLES)
def test_prices_from_1_to_100_do_not_take_the_default_to_the_constant(name):
    data = load_dataset(name, offline=True)
    X, X_test, y, y_test = train_test_split(
        data.X, data.y, test_size=0.4, random_state=0, stratify=data.y
    )
    X, y, X_test, y_test = X[:MOST], y[:MOST], X_test[:MOST], y_test[:MOST]
    prices = np.exp(np.random.default_rng(0).uniform(0, np.log(100), X.shape[1]))
    constant = np.mean(y_test == np.bincount(y).argmax())
    beyond = constant + np.sqrt(constant * (1 - constant) / len(y_test))
    forest = RandomForestClassifier(n_estimators=40, random_state=0).fit(X, y)
    assert forest.score(X_test, y_test) > beyond  # else the table says nothing
    default = BudgetRFClassifier(feature_costs=prices, random_state=0).fit(X, y)
    assert default.score(X_test, y_test) > beyond
    # It looks at prices all the same.
    shares = np.mean(forest.acquired_features(X_test), axis=0)
    assert default.acquisition_cost(X_test).mean() <= shares @ prices
