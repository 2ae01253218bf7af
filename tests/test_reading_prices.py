"""`FeatureCosts.read` gives the same prices by name from a file and from a frame."""

import pandas as pd
import pytest

from budgetlearn import FeatureCosts
from budgetlearn.exceptions import CostError

LIST = "feature,cost,group,group_cost\nage,1,,\nglucose,15.5,blood,2.1\ninsulin,20.7,blood,2.1\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(LIST)
    return path


def test_a_file_and_a_frame_give_the_same_prices(path):
    costs = FeatureCosts.read(path)
    assert costs == FeatureCosts.read(pd.read_csv(path))
    assert costs.names == ("age", "glucose", "insulin")
    assert costs.full == pytest.approx(39.3)  # 1 + 15.5 + 20.7, and 2.1 once


def test_they_are_aligned_by_name_with_their_groups(path):
    aligned = FeatureCosts.of(FeatureCosts.read(path), 3, ["insulin", "age", "glucose"])
    assert aligned.costs.tolist() == [20.7, 1, 15.5]
    assert aligned.groups.tolist() == [0, -1, 0]
    assert aligned.subset([0, 2]) == pytest.approx(38.3)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_empty_lines_above_the_names_are_none(path, separator):
    costs = FeatureCosts.read(path)
    path.write_text("\n\n" + LIST.replace(",", separator))
    assert FeatureCosts.read(path) == costs
    path.write_text("\n\n" + LIST.replace("15.5", "x").replace(",", separator))
    with pytest.raises(CostError, match=r"line 5: cost must be a number, got 'x'"):
        FeatureCosts.read(path)


@pytest.mark.parametrize("names", [(30, 10, 20), None])
def test_a_list_may_name_columns_that_are_numbers(names):
    features = [10, 20, 30] if names else [1, 2, 0]
    frame = pd.DataFrame({"feature": features, "cost": [1, 2, 3]})
    for prices in (frame, FeatureCosts.read(frame)):
        aligned = FeatureCosts.of(prices, 3, names)
        assert aligned.costs.tolist() == [3, 1, 2]
        assert aligned.names == names


def test_a_list_without_groups(tmp_path):
    costs = FeatureCosts.read(pd.DataFrame({"feature": ["a", 7], "cost": [1, "2.5"]}))
    assert costs.names == ("a", "7")
    assert costs.groups is None
    assert costs.full == 3.5


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"feature": ["a", "a"], "cost": [1, 2]}, "more than once: a"),
        ({"feature": ["a"], "cost": ["x"]}, "the price list, line 1: cost must be a number"),
        ({"feature": ["a"], "cost": [-1.0]}, "must be finite and >= 0"),
        ({"name": ["a"], "cost": [1.0]}, "starts with the line 'feature,cost'"),
        ({"feature": ["a"], "cost": [1], "group": ["g"], "group_cost": [None]}, "group 'g'"),
    ],
)
def test_what_is_wrong_is_named(rows, said):
    with pytest.raises(CostError, match=said):
        FeatureCosts.read(pd.DataFrame(rows))
