"""Columns of words: coded and listed, or refused where they are numbers in disguise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.categories import holds_words, how_to_read, to_numbers


def coded(*cells, categorical="codes"):
    return to_numbers(pd.DataFrame({"v": list(cells)}), categorical)


@pytest.mark.parametrize(
    "odd", ["?", "1,5", "1,234.5", "10%", "1.2x", "0x1F", "missing", "$5", "1 000", "-", "1e5e"]
)
@pytest.mark.parametrize("categorical", ["codes", "refuse"])
def test_a_column_of_numbers_with_an_odd_cell_names_it(odd, categorical):
    with pytest.raises(DatasetError) as caught:
        coded("1", "2.5", odd, "7", categorical=categorical)
    assert "Column 'v' holds numbers, but 1 of its 4 cells are not plain numbers" in str(
        caught.value
    )
    assert f"{odd!r} in row 3 " in str(caught.value)
    assert "name categories: categorical=['v'], on the command line --categorical" in str(
        caught.value
    )


@pytest.mark.parametrize(
    "cells",
    [
        ("1,5", "2.186,67", "3,25"),
        ("1,234", "12,345,678", "5,000"),
        ("10%", "20 %", "5%"),
        ("0x1F", "0xff", "0x0"),
        ("1.2x", "3.4x", "0.5x"),
        ("5kg", "10 kg", "70kg"),
        ("1 000", "2 500", "900"),
        ("€5", "$7", "9 €"),
        ("1.5", "unknown", "unknown", "unknown", "2.5", "3.5"),
        ("1", "2", "3", "?"),
        ("9", "10", "11", "12", "other"),
    ],
)
def test_a_column_of_numbers_in_another_writing_is_refused(cells):
    with pytest.raises(DatasetError, match="Column 'v' holds numbers") as caught:
        coded(*cells)
    assert ("take out the points between thousands" in str(caught.value)) == ("1,5" in cells)


@pytest.mark.parametrize(
    "cells",
    [
        ("baker", "cook", "baker"),
        ("18-25", "26-35", "36+"),
        ("1st", "2nd", "3rd", "4th"),
        ("2020-01-31", "2021-02-28", "2020-01-30"),
        ("3d", "2d"),
        ("a1", "b2", "c3"),
        ("yes", "no", "1"),
        ("K", "1", "2", "3", "1", "2"),
        ("01", "23", "46", "7p", "23"),
        ("1", "1", "1", "2-10", "over 100"),
    ],
)
def test_words_are_coded_by_their_rank_and_listed(cells):
    X, categories = coded(*cells)
    words = sorted(set(cells))
    assert categories == {"v": tuple(words)}
    assert [words[int(code)] for code in X[:, 0]] == list(cells)


def test_truth_values_are_coded_and_listed_and_lists_are_refused():
    assert not refused(True, None, False)
    assert "holds lists or records" in refused("a", ["b"], None)
    X, categories = coded(True, False, True)
    assert X[:, 0].tolist() == [1, 0, 1]
    assert categories == {"v": ("False", "True")}


def test_missing_words_stay_missing():
    X, categories = coded("a", None, "b")
    assert np.isnan(X[1, 0])
    assert categories == {"v": ("a", "b")}


def test_words_that_differ_by_blanks_only_are_refused():
    with pytest.raises(DatasetError, match=r"Column 'v': 'a  b' and 'a b ' differ only in blanks"):
        coded("a  b", "a b ", "c")


def test_the_option_that_would_read_the_cells_is_named():
    commas = "If commas mark decimals: "
    other = "On the command line --decimal , and --na '?' tell "
    points = commas + "take out the points between thousands; on the command line --decimal ,"
    missing = "If values are missing there: on the command line "
    said = {
        ("1,5", "-12,25", "7"): commas + "on the command line --decimal , reads them.",
        ("42,000", "9,500"): commas
        + "on the command line --decimal , reads them. If they separate",
        ("42,000", "1,234,567", "1,021.5"): "Take out the marks between thousands.",
        (
            "1 000",
            "12 500,5",
            "1\N{NO-BREAK SPACE}234 567",
        ): "Take out the marks between thousands.",
        ("1.234,5", "12"): points,
        ("1.23,5", "1,5"): other,
        ("?", " - ", "?"): missing + "--na '?' --na - reads them so.",
        ("#DIV/0!",): missing + "--na '#DIV/0!' reads",
        tuple("abcde"): missing + "--na a --na b --na c --na d --na e reads",
        tuple("abcdef"): other,
        ("5 kg", "-7.5kg"): "Take 'kg' out of its cells.",
        ("(5)", "(7.5)"): "Write a plain number in place of '(5)', with - for a minus.",
        ("−5", "−7.5"): "Write a plain number in place of '−5', with - for a minus.",
        ("<5", "<7.5"): "Write a plain number in place of '<5', with - for a minus.",
        ("5 kg", "7 lb"): other,
        ("5 kg", "kg"): other,
        ("1 00",): other,
    }
    for cells, start in said.items():
        assert how_to_read(pd.Series(cells)).startswith(start), cells


def refused(*cells):
    """Return why cells that are no categories by their setting are refused, or nothing."""
    try:
        assert holds_words(pd.Series(cells, name="c"), False)
    except DatasetError as error:
        return str(error)
    return ""


def test_numbers_are_half_of_the_different_cells_and_dates_are_more():
    assert not refused("1.5", "2.5", "low", "mid", "high")
    assert "are not plain numbers: 'low' in row 3" in refused("1.5", "2.5", "low", "high")
    words = ["spring", "autumn"]
    assert not refused("2024-03-01", "2024-03-02", *words)
    # Each date counts once, however often it is in the column.
    assert not refused(*["2024-03-01"] * 5, *words)
    for date in ("1.3.2024", "2024-03-01 12:30", "1 Mar 2024"):
        told = refused(None, date, "2024-03-02", "2024-03-03", *words)
        assert f"the first is {date!r}). Turn it into a number that means something, such " in told
        assert "such as days since a fixed date, or" in told
    assert "such as hours since midnight, or" in refused("9:30", "12:30", "13:30", *words)
    assert "Write its years with four digits. Turn" in refused("01.02.24", "3/4/24", "3/5/24")
    assert "the first is '2024-03')" in refused(*pd.period_range("2024-03", periods=3, freq="M"))


def test_words_of_their_own_and_many_words_are_free_text():
    def told(n_words, n_rows):
        words = [first + second for first in "abcdefgh" for second in "ijklmnop"][:n_words]
        return refused(*(words * 2)[:n_rows], None)

    assert "10 different words in 10 rows ('ai', 'aj', 'ak', …)" in told(10, 10)
    assert "51 different words in 101 rows" in told(51, 101)
    assert len(refused(*(f"{letter} {'no ' * 1000}" for letter in "abcdefghijkl"))) < 500
    assert len(refused("1", "2.5", "no " * 1000, "7")) < 900
    assert not any([told(9, 9), told(10, 11), told(51, 102), told(50, 60)])


@given(st.lists(st.text(max_size=6), min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_words_are_coded_in_order_or_refused(cells):
    try:
        X, categories = coded(*cells)
    except DatasetError:
        return
    words = categories["v"]
    assert len(words) == len({" ".join(cell.split()) for cell in cells})
    assert [words[int(code)] for code in X[:, 0]] == [cell.strip() for cell in cells]
