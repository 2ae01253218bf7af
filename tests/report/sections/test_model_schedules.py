"""The example schedule: which is shown, and its variables by name."""

import json
import re

import pandas as pd
import pytest

from budgetbench.analysis.schedules import compressed_points
from budgetbench.report.sections import what_to_buy
from budgetbench.report.sheets import prices_of as prices_of_run
from tests.factories import fail, make_points, make_prices, make_report
from tests.report.writing import write_page

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


def test_nothing_to_show_is_said(tmp_path):
    points = make_points(n_runs=2)
    one = points[(points["stage"] == 0) | (points["dataset"] != "wine")]
    page = write_page(make_report(one), tmp_path, "schedules").read_text(encoding="utf-8")
    assert "1 model</small>" in page
    points = points.assign(variables=pd.NA)
    page = write_page(make_report(points), tmp_path, "schedules").read_text(encoding="utf-8")
    assert "buys the same variables in every case" in page


def test_prices_of_the_variables_add_up_to_the_cost(chosen):
    table = what_to_buy.schedule_table(chosen, prices_of_run(make_prices(), "wine", "random", 0))
    for row in table.itertuples():
        labels = json.loads(row.variables)
        listed = [float(label.rpartition("(")[2].rstrip(")")) for label in labels]
        assert sum(listed) == pytest.approx(row.cost)
        assert len(labels) == row.n_variables


def test_a_shared_charge_is_told_with_the_price(chosen):
    prices = pd.DataFrame({"feature": list("abcdefghijklm"), "cost": [1.5, *["2 + 10 for x"] * 12]})
    labels = json.loads(what_to_buy.schedule_table(chosen, prices)["variables"].iloc[-1])
    assert set(labels) <= {"a (1.5)", *(f"{name} (2 + 10 for x)" for name in "bcdefghijklm")}


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
