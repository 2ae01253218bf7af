"""The kind of each column: numbers or words; all others are refused by name."""

import re

import numpy as np
import pandas as pd

from ..exceptions import DatasetError
from ..validation import in_row
from .categories import is_number, refuse_blank_twins, refuse_numbers

# 2024-03-01  1.3.2024  03/01/24  1 Mar 2024  12:30
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})"
    r"|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?)(?:[T ].*)?"
)
# More different words than this, and than half the rows, are names or free text, not categories.
MOST_WORDS = 50
# From here on not every whole number is a float.
MOST_WHOLE = 2.0**53
FEWEST_NAMES = 10  # so many words or more, each in one row only, are names as well


def as_words(column):
    """Return the cells of a column as text without blanks around, NaN where one is missing.

    2.0, as a whole number beside gaps is read, is "2". A `DatasetError` is raised for floats of
    2^53 and more: they may have been whole numbers that differed.
    """
    if pd.api.types.is_integer_dtype(column.dtype):
        return column.astype(object).map(str, na_action="ignore").astype(object)
    if is_number(column):
        numbers = column.astype(float)
        _refuse_rounded(numbers)
        # Whole numbers beside gaps are read as floats: 2.0 must be the same word as 2.
        whole = (numbers == np.floor(numbers)) & np.isfinite(numbers)
        words = numbers.map(repr, na_action="ignore").astype(object)
        words[whole] = [str(int(number)) for number in numbers[whole]]
        return words
    text = column.astype(object)
    return text.map(lambda cell: str(cell).strip(), na_action="ignore").astype(object)


def kind_of(column, categorical=False):
    """Return "numbers" or "words", or refuse a column that is neither.

    With `categorical` numbers in it are names of categories. A `DatasetError` that names column and
    cells is raised for dates, for numbers with some text between them, for names or free text, for
    words that differ only in blanks, and for infinite numbers.
    """
    if is_number(column) and not categorical:
        _refuse_infinite(column)
        return "numbers"
    _refuse_dates(column)
    words = as_words(column)
    if not (categorical or is_number(column)):
        refuse_numbers(column)
    different = words.dropna().unique()
    # Before blanks are stripped: "a" and "a " may have been meant as two.
    refuse_blank_twins(column.dropna().map(str).unique(), f"Column {column.name!r}")
    n_words = int(words.notna().sum())
    if not categorical and _are_names(different.size, n_words):
        raise DatasetError(
            f"Column {column.name!r} holds {different.size} different words in "
            f"{n_words} rows ({', '.join(map(repr, different[:3]))}, …): names or free "
            "text, from which nothing can be learned for other rows. Leave it out (drop), or name "
            "it among the categorical columns if it is one."
        )
    return "words"


def _refuse_rounded(column):
    rows = np.flatnonzero(np.isfinite(column) & (column.abs() >= MOST_WHOLE))
    if rows.size:
        raise DatasetError(
            f"Column {column.name!r} holds {column.iloc[rows[0]]:.17g} {in_row(rows)}, as a "
            "floating-point number, of which so large ones lose digits: different categories may "
            "have become the same. Read the column as text (dtype=str)."
        )


def _are_names(n_different, n_words):
    """Return whether so many different words are names of rows, or free text."""
    each_its_own = n_different == n_words >= FEWEST_NAMES
    return each_its_own or n_different > max(MOST_WORDS, n_words / 2)


def _refuse_infinite(column):
    rows = np.flatnonzero(np.isinf(column.to_numpy(np.float64, na_value=np.nan)))
    if rows.size:
        raise DatasetError(
            f"Column {column.name!r} holds infinity {in_row(rows)}. Correct or empty these cells."
        )


def _refuse_dates(column):
    kind = column.dtype
    typed = kind.kind in "Mm" or isinstance(kind, (pd.PeriodDtype, pd.DatetimeTZDtype))
    if not typed:
        cells = column.dropna().map(str).str.strip().unique()
        dates = [cell for cell in cells if _DATE.fullmatch(cell)]
        typed = len(dates) > len(cells) / 2
    if typed:
        first = column.dropna().iloc[0]
        raise DatasetError(
            f"Column {column.name!r} holds dates or times (the first is {str(first)!r}). Turn it "
            "into a number that means something, such as days since a fixed date, or leave it out "
            "(drop)."
        )
