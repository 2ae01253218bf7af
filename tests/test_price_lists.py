"""Price lists are read as written, or an error names the line and the fault."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetlearn.costs import FeatureCosts, read_prices
from budgetlearn.exceptions import BudgetlearnWarning, CostError
from tests.looping import for_each

NAMES = ["0", "007", "NA", "None", "null", "1e5", "a; b", "a, b", 'say "x"', "True", "nan"]


def lay(folder, content):
    path = folder / "prices.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_names_come_back_as_they_were_written(tmp_path):
    table = pd.DataFrame({"run": 3, "feature": NAMES, "cost": 0.1, "group": NAMES})
    table.assign(group_cost=1 / 3).to_csv(tmp_path / "a.csv", index=False)
    found = read_prices(tmp_path / "a.csv")
    assert found["feature"].tolist() == found["group"].tolist() == NAMES
    assert found["cost"].eq(0.1).all()
    assert found["group_cost"].eq(1 / 3).all()
    assert found["run"].eq(3).all()


def test_blanks_accents_a_byte_order_mark_and_no_group(tmp_path):
    text = "\ufefffeature, cost, group, group_cost\n a\u0308 , 1.5, ,\nb,2,lab, 3\n"
    found = read_prices(lay(tmp_path, text))
    assert found["feature"].tolist() == ["\u00e4", "b"]  # an accent is part of its letter
    for first in ("\u00e4", "a\u0308"):
        costs = FeatureCosts.of(FeatureCosts.read(tmp_path / "prices.csv"), 2, ["b", first])
        assert costs.names == ("b", first)
        assert costs.costs.tolist() == [2, 1.5]
    assert found["group"].isna().tolist() == [True, False]
    assert np.isnan(found["group_cost"][0])


@for_each(
    "content, message",
    [
        ("", "is empty. A price list starts with the line 'feature,cost'"),
        ("\n\n", "is empty"),
        ("feature,cost\n", "has a header, but no prices"),
        ("feature;cost\na;1,500\n", "line 2: '1,500' may be 1500 or 1.5. Write it without"),
        ("feature;cost\na;3\nb;1.200\n", "line 3: '1.200' may be 1200 or 1.2. Write it without"),
        ("feature;cost\na;1,5\nb;1.500\n", "line 3: '1.500' has a point and another price"),
        ("feature;cost\na;1,2,3\n", "line 2: cost must be a number, got '1,2,3'"),
        ("age,1\nsex,2\n", "the first line holds 'age', '1'. A price list starts with"),
        ("feature,csot\na,1\n", "Is 'csot' meant to be 'cost'?"),
        ("Feature,Cost\na,1\n", "Is 'Feature' meant to be 'feature'? Is 'Cost' meant to be"),
        ("feature,cost,groups,group_cost\na,1,x,2\n", "Is 'groups' meant to be 'group'?"),
        ("feature,cost,group\na,1,x\n", "the first line holds 'feature', 'cost', 'group'. A price"),
        ("feature,cost,cost\na,1,2\n", "the first line holds"),
        ("feature,cost\na,1\nb,1,5\n", "line 3: 3 fields, but 2 in the header"),
        ("feature,cost\na,1\nb\n", "line 3: 1 fields"),
        ("feature,cost\na,cheap\n", "line 2: cost must be a number, got 'cheap'"),
        ("feature,cost\na,€ 15\n", "got '€ 15'. Write it as 1234.5, without a unit, blanks or"),
        ("feature,cost\na,\n", "line 2: the cost of 'a' is missing"),
        ("feature,cost\n,1\n", "line 2: the name of the feature is missing"),
        ("run,feature,cost\nx,a,1\n", "line 2: run must be a number"),
        (b"feature,cost\n\x81,1\n", "neither UTF-8, UTF-16 nor Windows-1252"),
        (b"PK\x03\x04 no archive", "cannot be read as a price list: File is not a zip file"),
        (b"\xd0\xcf\x11\xe0", "the old form (.xls). Save it as .xlsx or csv"),
    ],
)
def test_lists_that_are_none(tmp_path, content, message):
    with pytest.raises(CostError) as caught:
        read_prices(lay(tmp_path, content))
    assert message in str(caught.value)
    assert "prices.csv" in str(caught.value)


TEXTS = [
    "feature;cost;group;group_cost\na;1,5;;\nb;1,500;lab;0,125\n",
    "feature\tcost\tgroup\tgroup_cost\na\t1,5\t\t\nb\t1,500\tlab\t0,125\n",
    'feature,cost,group,group_cost\na,"1,5",,\nb,"1,500",lab,"0,125"\n',
    "feature;cost;group;group_cost\na;1.5;;\nb;1.500;lab;0.125\n",
]


@for_each("text, encoding", product(TEXTS, ["utf-8", "utf-8-sig", "utf-16"]))
def test_separators_and_decimal_commas(tmp_path, text, encoding):
    found = read_prices(lay(tmp_path, text.encode(encoding)))
    assert found["cost"].tolist() == [1.5, 1.5]
    assert found["group_cost"].tolist()[1] == 0.125
    assert list(found) == ["feature", "cost", "group", "group_cost"]


@for_each("text", ["feature,cost\na,1.200\n", "feature;cost\na;1.200\nb;2.5\n"])
def test_points_that_stand_before_decimals(tmp_path, text):
    assert read_prices(lay(tmp_path, text))["cost"][0] == 1.2


def test_a_workbook_of_prices(tmp_path):
    table = pd.DataFrame({"feature": ["Größe", "b"], "cost": [1, 2.5]})
    table.to_excel(tmp_path / "prices.xlsx", index=False)
    assert read_prices(tmp_path / "prices.xlsx").equals(table.assign(cost=[1.0, 2.5]))


def test_windows_1252_is_told(tmp_path):
    with pytest.warns(BudgetlearnWarning, match="read as Windows-1252 .*'Größe'"):
        found = read_prices(lay(tmp_path, "feature;cost\nGröße;1\n".encode("cp1252")))
    assert found["feature"].tolist() == ["Größe"]


def test_a_list_that_is_not_there(tmp_path):
    with pytest.raises(CostError, match="cannot be read: No such file"):
        read_prices(tmp_path / "none.csv")


@pytest.mark.filterwarnings("ignore::budgetlearn.exceptions.BudgetlearnWarning")
@given(st.one_of(st.binary(max_size=60), st.binary(max_size=40).map(b"feature,cost\n".__add__)))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_prices_or_one_kind_of_error(tmp_path_factory, content):
    try:
        found = read_prices(lay(tmp_path_factory.getbasetemp(), content))
    except CostError:
        return
    assert found["cost"].notna().all()
    assert found["feature"].map(len).gt(0).all()


def test_names_that_repeat_in_groups_are_refused():
    twice = pd.Series(["g", "h", "g"], index=["a", "a", "b"])
    with pytest.raises(CostError, match="groups name features more than once: a"):
        FeatureCosts({"a": 1, "b": 2}, groups=twice, group_costs={"g": 5, "h": 7})
    charges = pd.Series([5, 6, 7], index=["g", "g", "h"])
    with pytest.raises(CostError, match="group_costs name groups more than once: g"):
        FeatureCosts({"a": 1, "b": 2}, groups={"a": "g", "b": "h"}, group_costs=charges)
