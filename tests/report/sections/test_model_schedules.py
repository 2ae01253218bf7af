"""The example schedule: which is shown, its variables by name, and what each budget buys."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.schedules import compressed_points
from budgetbench.report import text
from budgetbench.report.sections import what_to_buy
from budgetbench.report.sheets import prices_of as prices_of_run
from budgetbench.report.style import svg_bytes
from tests.factories import fail, make_display, make_points, make_prices, prices_of

COMPETITORS = ["msb", "logitb"]


@pytest.fixture(scope="module")
def chosen():
    return what_to_buy.example_schedule(
        compressed_points(make_points()), COMPETITORS, "wine", "random"
    )


def test_the_lowest_completed_run_of_the_first_method_is_shown():
    kept = compressed_points(fail(make_points(), "msb", 0))
    shown = what_to_buy.example_schedule(kept, COMPETITORS, "wine", "random")
    assert set(shown["method"]) == {"msb"}
    assert set(shown["run"]) == {1}


def test_methods_that_name_no_variables_have_no_schedule():
    kept = compressed_points(make_points()).assign(variables=None)
    empty = what_to_buy.example_schedule(kept, COMPETITORS, "wine", "random")
    assert empty.empty
    assert b"<svg" in svg_bytes(what_to_buy.schedule_figure(empty, make_display(), None))


def test_prices_of_the_variables_add_up_to_the_cost(chosen):
    table = what_to_buy.schedule_table(chosen, prices_of_run(make_prices(), "wine", "random", 0))
    for row in table.itertuples():
        labels = json.loads(row.variables)
        listed = [float(label.rpartition("(")[2].rstrip(")")) for label in labels]
        assert sum(listed) == pytest.approx(row.cost)
        assert len(labels) == row.n_variables


def test_variables_without_a_price_list_keep_their_index(chosen):
    unpriced = prices_of_run(make_prices(), "wine", "unit", 0)
    table = what_to_buy.schedule_table(chosen, unpriced)
    labels = {label for text in table["variables"] for label in json.loads(text)}
    assert all(re.fullmatch(r"x\d+", label) for label in labels)


def test_names_with_separators_stay_whole(chosen):
    names = [f'a; b, "{place}"' for place in range(13)]
    prices = pd.DataFrame({"feature": names, "cost": 1.0})
    for row in what_to_buy.schedule_table(chosen, prices).itertuples():
        labels = json.loads(row.variables)
        assert len(labels) == row.n_variables
        assert {label.removesuffix(" (1)") for label in labels} <= set(names)


def test_ownership_covers_what_the_affordable_model_buys(chosen):
    spans = what_to_buy._ownership(chosen)
    sets = what_to_buy.variable_sets(chosen)
    costs = chosen["cost"].to_numpy()
    for budget in np.linspace(costs[0], costs[-1], 97):
        model = np.searchsorted(costs, budget, side="right") - 1
        end = spans["start"] + spans["width"]
        bought = spans[(spans["start"] <= budget) & (budget < end)]["feature"]
        assert sorted(bought) == sets[model]
    assert sum(prices_of("wine", 0)[sets[0]]) == costs[0]


def test_long_names_are_cut_but_not_their_price():
    label = text.shortened("a very long name of some measurement in the laboratory (35)")
    assert label.endswith("laboratory (35)")
    assert "…" in label
    assert text.shortened("short (7)") == "short (7)"
