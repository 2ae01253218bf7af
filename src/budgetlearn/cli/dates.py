"""Columns of dates as days since 1970-01-01, by one form that a model remembers."""

import numpy as np
import pandas as pd

from ..exceptions import DatasetError
from ..validation import in_row

ISO = "ISO8601"
# In this order: the first one that fits all cells counts, unless days and months can be swapped.
FORMS = (ISO, "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
EXAMPLE = pd.Timestamp("2024-03-31 10:30")


def form_of(column):
    """Return the form in which all cells of a column are dates, or raise `DatasetError`."""
    fitting = [form for form in FORMS if _odd(column, _parsed(column, form)).size == 0]
    if not fitting:
        first = column.dropna().iloc[0] if column.notna().any() else None
        raise DatasetError(
            f"Column {column.name!r} (--date) is not dates of one form; the first is {first!r}. "
            f"Write them as {example(ISO)}."
        )
    two = [_parsed(column, form) for form in fitting[:2]]
    if len(two) == 2 and not two[0].equals(two[1]):
        row = np.flatnonzero(two[0] != two[1])[0]
        raise DatasetError(
            f"Column {column.name!r} (--date): {str(column.iloc[row])!r} may be "
            f"{two[0].iloc[row]:%d %B} or {two[1].iloc[row]:%d %B}. Write dates as {example(ISO)}."
        )
    return fitting[0]


def with_days(frame, forms):
    """Return a frame with its columns of dates as days, for those of ``{name: form}`` it has."""
    return frame.assign(**{n: days(frame[n], form) for n, form in forms.items() if n in frame})


def days(column, form):
    """Return dates of a form as days, NaN for gaps; refuse others."""
    dates = _parsed(column, form)
    odd = _odd(column, dates)
    if odd.size:
        raise DatasetError(
            f"Column {column.name!r} held dates such as {example(form)} in training, but now "
            f"{str(column.iloc[odd[0]])!r} {in_row(odd)}."
        )
    return (dates - pd.Timestamp(0)) / pd.Timedelta(days=1)


def example(form):
    """Return a date in a form."""
    return EXAMPLE.strftime("%Y-%m-%d" if form == ISO else form)


def _parsed(column, form):
    return pd.to_datetime(column, format=form, errors="coerce")


def _odd(column, dates):
    return np.flatnonzero(dates.isna() & column.notna())
