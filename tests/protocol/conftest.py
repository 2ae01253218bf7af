"""Data and fitted estimators that the tests of the protocol share."""

import numpy as np
import pandas as pd
import pytest

from tests.protocol.estimators import OneByOne, SignOfFirst, SumOfFirst, WholeTable

NAMES = ["age", "mcv", "gammagt", "drinks"]
COSTS = [1.0, 2.0, 4.0, 8.0]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 4)), columns=NAMES)
    y = np.where(X["age"] + 0.9 * X["mcv"] > 0, "well", "ill")
    return X, y


@pytest.fixture
def numbers(table):
    X, _ = table
    return X, (X["age"] + 0.5 * X["mcv"]).to_numpy()


def fit(kind, table, **parameters):
    """Return an estimator fitted on 50 rows and measured on 40."""
    X, y = table
    return kind(COSTS, **parameters).fit(X[:50], y[:50], X[50:], y[50:])


@pytest.fixture
def first(table):
    """All examples of a stage cost the same."""
    return fit(SignOfFirst, table)


@pytest.fixture
def single(table):
    """Costs differ between examples."""
    return fit(OneByOne, table)


@pytest.fixture
def whole(table):
    """Needs the whole table, and has no probabilities."""
    return fit(WholeTable, table)


@pytest.fixture
def summed(numbers):
    """Predicts numbers."""
    return fit(SumOfFirst, numbers)
