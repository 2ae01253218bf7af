"""The example schedule: which is shown, its variables by name, and what each budget buys."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark.points import compressed_points
from budgetlearn.report import schedule
from budgetlearn.report.metadata import Metadata
from budgetlearn.report.style import figure_bytes

from ..made_up import fail, made_up_metadata, made_up_points, prices_of


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


@pytest.fixture(scope="module")
def chosen(metadata):
    return schedule.example_schedule(
        compressed_points(made_up_points()), metadata, "wine", "random"
    )


def test_the_lowest_completed_run_of_the_first_method_is_shown(metadata):
    kept = compressed_points(fail(made_up_points(), "msb", 0))
    shown = schedule.example_schedule(kept, metadata, "wine", "random")
    assert set(shown["method"]) == {"msb"}
    assert set(shown["run"]) == {1}


def test_the_study_may_ask_for_a_method():
    asked = Metadata.from_dict(made_up_metadata() | {"schedule_of": {"method": "logitb"}})
    kept = compressed_points(made_up_points())
    assert set(schedule.example_schedule(kept, asked, "wine", "random")["method"]) == {"logitb"}


def test_methods_that_name_no_variables_have_no_schedule(metadata):
    kept = compressed_points(made_up_points()).assign(variables=None)
    empty = schedule.example_schedule(kept, metadata, "wine", "random")
    assert empty.empty
    assert b"<svg" in figure_bytes(schedule.schedule_figure(empty, metadata, None), "svg")


def test_prices_of_the_variables_add_up_to_the_cost(chosen, metadata):
    table = schedule.schedule_table(chosen, metadata.prices("wine", "random", 0))
    for row in table.itertuples():
        labels = json.loads(row.variables)
        prices = [float(label.rpartition("(")[2].rstrip(")")) for label in labels]
        assert sum(prices) == pytest.approx(row.cost)
        assert len(labels) == row.n_variables


def test_variables_without_a_price_list_keep_their_index(chosen, metadata):
    table = schedule.schedule_table(chosen, metadata.prices("wine", "unit", 0))
    labels = {label for text in table["variables"] for label in json.loads(text)}
    assert all(re.fullmatch(r"x\d+", label) for label in labels)


def test_names_with_separators_stay_whole(chosen):
    names = [f'a; b, "{place}"' for place in range(13)]
    table = schedule.schedule_table(chosen, pd.DataFrame({"feature": names, "cost": 1.0}))
    for row in table.itertuples():
        labels = json.loads(row.variables)
        assert len(labels) == row.n_variables
        assert {label.removesuffix(" (1)") for label in labels} <= set(names)


def test_ownership_covers_what_the_affordable_model_buys(chosen):
    spans = schedule._ownership(chosen)
    sets = schedule.variable_sets(chosen)
    costs = chosen["cost"].to_numpy()
    for budget in np.linspace(costs[0], costs[-1], 97):
        model = np.searchsorted(costs, budget, side="right") - 1
        end = spans["start"] + spans["width"]
        bought = spans[(spans["start"] <= budget) & (budget < end)]["feature"]
        assert sorted(bought) == sets[model]
    assert sum(prices_of("wine", 0)[sets[0]]) == costs[0]


def test_long_names_are_cut_but_not_their_price():
    label = schedule.shortened("a very long name of some measurement in the laboratory (35)")
    assert label.endswith("laboratory (35)")
    assert "…" in label
    assert schedule.shortened("short (7)") == "short (7)"
