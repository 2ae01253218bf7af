"""What a method's entry says: the settings among which validation data choose."""

import pytest

from budgetbench.study.methods import build, settings_tried
from budgetlearn.exceptions import ConfigError


def test_settings_tried_are_lists_of_the_class_the_parameters_and_the_grid():
    spec = {
        "class": "budgetlearn.peers.LightGBMCostClassifier",
        "parameters": {"n_trees": [10, 20], "learning_rate": 0.2},
        "grid": {"num_leaves": [7, 31]},
    }
    assert settings_tried(spec) == {
        "cost_weights": [10, 3, 1, 0.3, 0.1, 0.03, 0],
        "n_trees": [10, 20],
        "num_leaves": [7, 31],
    }


def test_a_space_stands_in_place_of_the_grid():
    spec = {"class": "a.Method", "space": {"depth": [1, 2], "rate": {"low": 0.01, "high": 1}}}
    assert settings_tried(spec) == {"drawn from": [{"depth": [1, 2], "rate": "0.01 to 1"}]}


def test_a_class_that_cannot_be_imported_has_what_is_written():
    assert settings_tried({"class": "a.Method", "grid": {"depth": [1, 2]}}) == {"depth": [1, 2]}
    with pytest.raises(ConfigError, match=r"pathlib\.PurePath is neither an estimator"):
        build({"class": "pathlib.PurePath"})
