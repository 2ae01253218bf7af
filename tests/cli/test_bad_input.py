"""What cannot be right is refused in one line that says what to do, with exit status 2."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.exceptions import CostError
from tests.cli.conftest import FIT, PRICES, QUICK, patients


def refused(told, *words):
    """Run a command that must be refused; return its one line."""
    status, out, err = told(*words)
    assert status == 2, err
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.assign(ill="yes"), "has only one class, 'yes'"),
        (lambda t: t.head(1).assign(ill="yes"), "has only one class"),
        (lambda t: t.iloc[[0, 1, 2, 3, 4]].assign(ill=list("ababa")), "has 5 rows: too few"),
        (lambda t: t.assign(ill=t["ill"].where(t.index != 3)), "is empty in row 4"),
        (lambda t: t[["ill"]], "has no column besides the target"),
        (lambda t: t.assign(age="2024-03-01"), "'age' holds dates"),
        (lambda t: t.assign(age=[*["80"] * 239, "?"]), "'?' in row 240"),
        (lambda t: t.assign(smoker=[f"p{k}" for k in range(240)]), "names or free text"),
        (lambda t: t.assign(age=np.nan), "without a single value: 'age'"),
        (lambda t: t.rename(columns={"ill": "sick"}), "has no column 'ill'. It has: 'age', "),
    ],
)
def test_tables(folder, told, change, said):
    change(patients()).to_csv("table.csv", index=False)
    assert said in refused(told, *QUICK)


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        (PRICES + "amount,3,,\n", "prices.csv has unknown features: 'amount'. Remove them"),
        (PRICES.replace("age,1,,\n", ""), "no price for: 'age'. Add them"),
        (PRICES.replace("age,1", "age,-1"), "must be finite and >= 0"),
        (PRICES.replace("age,1", "age,cheap"), "line 2: cost must be a number, got 'cheap'"),
        ("feature;cost\nage;1,500\n", "'1,500' may be 1500 or 1.5"),
    ],
)
def test_price_lists(folder, told, prices, said):
    (folder / "prices.csv").write_text(prices)
    assert said in refused(told, *QUICK)


def test_prices_of_columns_left_out_are_not_needed(folder, told):
    assert told(*QUICK, "--drop", "age")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*FIT, "--budget", "0.5", "--method", "msb"), "Raise the budget to"),
        ((*QUICK, "--drop", "agee"), "has no column 'agee'"),
        ((*QUICK, "--categorical", "agee"), "has no column 'agee'"),
        ((*QUICK, "--missing", "refuse"), "'age' is empty in row 1"),
        ((*QUICK, "--separator", ";;"), "separator must be one character"),
        (("predict", "table.csv", "table.csv"), "is not a model that `budgetlearn fit` wrote"),
    ],
)
def test_options(folder, told, words, said):
    line = refused(told, *words)
    assert said in line


def test_wrong_use_is_told_with_status_2(folder, told):
    status, _, err = told("fit", "nothing.csv", "--target", "ill")
    assert status == 2
    assert "'nothing.csv' does not exist" in err
    status, _, err = told("fit", "table.csv")
    assert status == 2
    assert "Missing option '--target'" in err


def test_a_damaged_file(folder, told):
    (folder / "table.csv").write_bytes(b"a\0b,c\n1,2\n")
    assert "is not text" in refused(told, *QUICK)
    (folder / "table.csv").write_text("")
    assert "is empty" in refused(told, *QUICK)


def test_debug_shows_where(folder, told):
    (folder / "prices.csv").write_text("feature,cost\n")
    with pytest.raises(CostError):
        told(*QUICK, "--debug")


HOSTILE = ["<script>alert(1)</script>", 'a,"b"', "two\nlines", "=cmd()", " spaced ", "ümlaut"]


def test_strange_names_go_through_everything(folder, told):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(200, len(HOSTILE))), columns=HOSTILE)
    table["</style>"] = np.where(table[HOSTILE[0]] + table[HOSTILE[1]] > 0, "<b>", "&amp;")
    table.to_csv("table.csv", index=False)
    prices = pd.DataFrame({"feature": HOSTILE, "cost": range(1, 7)})
    prices.to_csv("prices.csv", index=False)
    words = ("fit", "table.csv", "--target", "</style>", "--costs", "prices.csv")
    method = ("--method", "filter_forest", "--budget", "9")
    status, out, err = told(*words, *method, "--out", "m.joblib", "--report", "m.html")
    assert (status, err) == (0, "")
    assert "'two\\nlines'" in out or "two" not in out
    page = (folder / "m.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("</style>") == 1
    assert told("predict", "m.joblib", "table.csv", "--out", "out.csv")[0] == 0
    made = pd.read_csv("out.csv")
    assert (made["</style>"] == table["</style>"]).mean() > 0.7


def test_one_column_is_a_table(folder, told):
    patients()[["glucose", "ill"]].to_csv("table.csv", index=False)
    table = ("fit", "table.csv", "--target", "ill", "--out", "m.joblib", "--method")
    for method in ("msb", "cascade", "budgetrf"):
        status, out, err = told(*table, method)
        assert (status, err) == (0, "")
        assert "1 column with a total cost of 1" in out
