"""The tracked price lists fit the data sets that they are for."""

from pathlib import Path

import pytest

from budgetbench.datasets import load_dataset
from budgetbench.datasets.registry import load_registry
from budgetbench.datasets.synthetic import yahoo_costs
from budgetbench.study.runs import profiles_of
from budgetlearn.costs import read_prices

LISTS = Path(__file__).resolve().parents[2] / "resources/costs"


def read(name):
    frame = read_prices(LISTS / f"{name}.csv").assign(run=0)
    features = frame["feature"].tolist()
    frame = frame.reindex(columns=["run", "feature", "cost", "group", "group_cost"])
    return features, profiles_of(frame, features)[0]


@pytest.mark.parametrize(
    "name", ["heart", "thyroid", "pima", "pima_turney", "hepatitis", "naval_printed"]
)
def test_features_are_those_of_the_registry(name):
    features, _ = read(name)
    assert features == load_registry()[name].parameters["names"]
    assert load_registry()[name].costs == f"resources/costs/{name}.csv"


def test_yahoo_like():
    features, costs = read("yahoo_like")
    assert tuple(features) == load_dataset("yahoo_like").feature_names
    assert costs == yahoo_costs()


@pytest.mark.parametrize(
    ("name", "single"),
    [
        ("heart", {"chol": 7.27, "fbs": 5.20, "thalach": 102.90, "slope": 87.30, "ca": 100.90}),
        ("thyroid", {"TSH": 22.78, "T3": 11.41, "TT4": 14.51, "T4U": 11.41, "age": 1.0}),
        ("hepatitis", {"bilirubin": 7.27, "protime": 8.30, "histology": 1.0}),
        ("pima_turney", {"insulin": 22.78, "glucose": 17.61, "age": 1}),
        ("pima", {"insulin": 22.78, "glucose": 17.61, "age": 1}),
    ],
)
def test_a_test_on_its_own_costs_what_turney_lists(name, single):
    features, costs = read(name)
    for feature, price in single.items():
        assert costs.subset([features.index(feature)]) == pytest.approx(price)


def test_the_second_blood_test_is_cheaper():
    features, costs = read("heart")
    both = costs.subset([features.index("chol"), features.index("fbs")])
    assert both == pytest.approx(7.27 + 3.10)


def test_the_context_of_a_cube_is_bought_as_one():
    features, costs = read("cube_nm")
    assert tuple(features) == load_dataset("cube_nm").feature_names
    assert costs.full == 51.0
    assert [costs.subset(bought) for bought in (range(5), [3], [20])] == [1.0, 1.0, 1.0]


# The schedule of Yan et al., section 3.1.1: variables, counted from 1, and their cost.
@pytest.mark.parametrize(
    ("variables", "cost"),
    [
        ((4, 5, 8, 11, 13, 14, 15), 417),
        ((4, 5, 11, 13, 14, 15), 385),
        ((4, 11, 13, 14, 15), 340),
        ((11, 13, 14, 15), 248),
        ((11, 14, 15), 171),
        ((11, 14), 119),
    ],
)
def test_the_printed_schedule_of_naval_costs_what_is_printed(variables, cost):
    _, costs = read("naval_printed")
    assert costs.subset([variable - 1 for variable in variables]) == cost
