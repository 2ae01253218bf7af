"""A small run that tests of the benchmark share."""

import pytest

from budgetlearn.benchmark.runs import draw_costs, draw_splits, iterate
from budgetlearn.datasets import load_dataset

SIZES = {"train": 0.6, "valid": 0.2, "test": 0.2}


@pytest.fixture(scope="session")
def wine():
    return load_dataset("wine")


@pytest.fixture(scope="session")
def wine_runs(wine):
    splits = draw_splits(wine, [0, 1], 7, SIZES)
    costs = draw_costs(wine, "random", [0, 1], 7)
    return list(iterate(wine, splits, costs, "random", 7))
