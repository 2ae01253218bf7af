"""A small run that tests of the benchmark share."""

import pytest

from budgetbench.datasets import load_dataset
from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.synthetic import generate
from budgetbench.study.runs import draw_costs, draw_splits, iterate

SIZES = [0.6, 0.2, 0.2]


@pytest.fixture(scope="session")
def wine():
    return load_dataset("wine")


@pytest.fixture(scope="session")
def wine_runs(wine):
    splits = draw_splits(wine, [0, 1], 7, SIZES)
    costs = draw_costs(wine, "random", [0, 1], 7)
    return list(iterate(wine, splits, costs, "random", 7))


@pytest.fixture(scope="session")
def regression_run():
    """A run on Friedman's function at unit prices."""
    table = generate("friedman1", n_samples=400, seed=1)
    dataset = Dataset(
        id="friedman1",
        title="Friedman 1",
        task="regression",
        X=table.X,
        y=table.y,
        feature_names=table.feature_names,
    )
    splits = draw_splits(dataset, [0], 7, SIZES)
    (run,) = iterate(dataset, splits, draw_costs(dataset, "unit", [0], 7), "unit", 7)
    return run


@pytest.fixture(scope="session")
def ranking_run():
    """A run on Yahoo-shaped documents at random prices."""
    table = generate("yahoo_like", n_samples=600, seed=1)
    dataset = Dataset(
        id="documents",
        title="Documents",
        task="ranking",
        X=table.X[:, :40],
        y=table.y >= 3,
        feature_names=table.feature_names[:40],
        class_names=("0", "1"),
        groups=table.groups,
    )
    splits = draw_splits(dataset, [0], 7, SIZES)
    (run,) = iterate(dataset, splits, draw_costs(dataset, "random", [0], 7), "random", 7)
    return run
