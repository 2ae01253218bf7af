"""No method of the showcase stands at the constant for want of care: as it runs there."""

from pathlib import Path

import pytest

from budgetbench.analysis.areas import area_table
from budgetbench.analysis.schedules import compressed_points
from budgetbench.datasets import load_dataset
from budgetbench.study import records
from budgetbench.study.experiment import run_method
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetbench.study.study import Study
from budgetlearn.files import read_yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def digits():
    """Operating points of three methods on digits, of the first run of the showcase."""
    config, showcase = ("config/config.yaml", "config/studies/showcase.yaml")
    study = Study.from_config(read_yaml(ROOT / config) | read_yaml(ROOT / showcase), ROOT)
    dataset, seed = load_dataset("digits"), study.seed
    splits = draw_splits(dataset, [0], seed, study.sizes("digits"))
    costs = draw_costs(dataset, "random", [0], seed)
    (run,) = iterate(dataset, splits, costs, "random", seed)
    assert len(run.train[1]) == 600
    methods = ("logitb", "sparse_linear", "budgetrf", "random_forest", "constant")
    less = {"tries": 2, "refit": False}  # few of the tries of the study, and no second fit
    rows = [run_method(method, study.spec(method, "digits") | less, run) for method in methods]
    return records.table(row for each in rows for row in each)


@pytest.fixture(scope="module")
def areas(digits):
    table = area_table(digits, compressed_points(digits))
    return table.set_index("method")["aup_test"]


def test_every_fit_is_whole(digits):
    assert set(digits["status"]) == {"ok"}


def test_a_hundred_penalties_are_solved_for(digits):
    seconds = digits.groupby("method")["fit_seconds"].first()
    assert seconds["logitb"] < 10  # 2 penalties alone took as long, and did not converge


def test_linear_models_are_as_good_as_they_can_be(digits, areas):
    assert areas["sparse_linear"] >= 0.85
    kept = compressed_points(digits)
    accuracy = kept[kept["method"] == "logitb"]["test_score"].iloc[-1]
    assert accuracy >= 0.9


def test_budgetrf_reaches_what_a_random_forest_does(digits, areas):
    best = compressed_points(digits).groupby("method")["test_score"].last()
    assert best["budgetrf"] > best["random_forest"] - 0.03
    assert areas["budgetrf"] > areas["random_forest"]
    spent = digits.groupby("method")["cost_fraction"].max()
    assert spent["budgetrf"] > 0.4
