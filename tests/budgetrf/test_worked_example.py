"""The worked example of Nan et al. (2015, section 2.4): costs smoothened by stopping early."""

import numpy as np
import pytest

from budgetlearn.budgetrf import BudgetRFClassifier, Growth


@pytest.fixture(scope="module")
def example():
    """All 1024 values of ten bits: quarters are classes, and the first of each is of the next."""
    numbers = np.arange(1024)
    X = (numbers[:, None] >> np.arange(9, -1, -1) & 1).astype(float)
    y = numbers // 256 + 1
    y[numbers % 256 == 0] = [2, 3, 4, 1]
    return X, y


@pytest.mark.parametrize(("depth", "error", "cost"), [(2, 4 / 1024, 2), (10, 0.0, 10)])
def test_depth_2_errs_on_four_examples_and_depth_10_on_none(example, depth, error, cost):
    X, y = example
    tree = BudgetRFClassifier(
        n_estimators=1,
        alpha=0,
        growth=Growth(bootstrap=False, ties="first", max_depth=depth),
        random_state=0,
    ).fit(X, y, X, y)
    assert 1 - tree.score(X, y) == pytest.approx(error)
    assert tree.acquisition_cost(X).max() == cost
    if depth == 2:
        assert np.flatnonzero(tree.acquired_features(X).any(axis=0)).tolist() == [0, 1]
