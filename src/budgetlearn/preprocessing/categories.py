"""Tells words, numbers and dates apart, refuses columns of none of them; codes words and dates."""

import re
import shlex
from unicodedata import normalize

import numpy as np
import pandas as pd

from ..exceptions import DatasetError
from ..validation import in_row, listed

# Common ways to write numbers: 1,5  1,234.5  1'000  10%  $5  € 5  0x1F  1.2x. A number without a
# decimal point but with letters after it may be a word (3d, 1st), unless all cells share the unit.
_WRITTEN = (
    r"[-+]?[$€£]?\s?(?:0x[0-9a-f]+|\d[\d,.'_\s]*\s?(?:e[-+]?\d+)?\s?[%€$£]?|\d+[.,]\d+\s?\w+)"
)
_UNIT = r"[-+]?\d[\d.,]*\s?([a-zµ°/²³]+)"
# Treatments of missing cells.
INDICATOR, MEDIAN, REFUSE = "indicator", "median", "refuse"
# 2024-03-01  2024-03  1.3.2024  03/01/24  1 Mar 2024  12:30
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|(?:19|20)\d{2}-(?:0[1-9]|1[0-2])"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})"
    r"|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?)(?:[T ].*)?"
)
_SHORT_YEAR = re.compile(r"\d{1,2}([-/.])\d{1,2}\1\d{2}(?!\d)")
# A column with more distinct words than this, and than half of its rows, has names or free text.
MOST_WORDS = 50
# Above this, floats cannot represent all whole numbers.
MOST_WHOLE = 2.0**53
FEWEST_NAMES = 10  # at least this many words, each in one row only, also count as names
ISO = "ISO8601"
# The first format that fits all cells is used, unless days and months can be swapped.
DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y")
FORMS = (ISO, *(day + hour for hour in ("", " %H:%M", " %H:%M:%S") for day in DAYS))
EXAMPLE = pd.Timestamp("2024-03-31 10:30")


def to_numbers(features, categorical):
    """Return features as numbers (NaN: missing), and the words of each column in code order."""
    words = [name for name in features.columns if not is_number(features[name])]
    for name in words:
        refuse_numbers(features[name])
    if words and categorical == "refuse":
        sample = features[words[0]].iloc[0]
        raise DatasetError(
            f"Columns of text where numbers were expected: {listed(words)} (such as {sample!r})."
        )
    features, categories = features.copy(), {}
    for name in words:
        # Sorted, so that codes do not depend on the order of the rows.
        coded = pd.Categorical(features[name].map(str, na_action="ignore").astype(object))
        refuse_blank_twins(coded.categories, f"Column {name!r}")
        features[name] = np.where(coded.codes < 0, np.nan, coded.codes)
        categories[str(name)] = tuple(word.strip() for word in coded.categories)
    return features.to_numpy(np.float64), categories


def refuse_blank_twins(words, where):
    """Raise `DatasetError` if two words differ only in blanks, or look the same."""
    seen = {}
    for word in words:
        first = seen.setdefault(normalize("NFC", " ".join(word.split())), word)
        if first != word:
            alike = f"{first!r} and {word!r} differ only in blanks"
            if first.split() != word.split():
                why = "look the same: Unicode has two ways to write accents"
                alike = f"{first!a} and {word!a} {why}"
            raise DatasetError(f"{where}: {alike}. Write them the same way.")


def is_number(column):
    """Return whether a column holds real numbers; booleans count as words."""
    return pd.api.types.is_any_real_numeric_dtype(column.dtype)


def as_number(cell):
    """Return a cell as a number: NaN if it is missing, infinity if it is not a number."""
    try:
        return np.nan if pd.isna(cell) is True else float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.inf


def refuse_numbers(column):
    """Raise `DatasetError` if half of the cells, or of the distinct ones, look like numbers."""
    cells = column.dropna().map(as_word).str.lower()
    different = pd.Series(cells.unique(), dtype=object)
    looks = pd.to_numeric(different, errors="coerce").notna() | different.str.fullmatch(_WRITTEN)
    units = different.str.extract(f"^{_UNIT}$", expand=False)
    most = 2 if len(different) > MOST_WORDS else 1  # kg and lb, but not the letters of seats
    measured = len(different) > 2 and units.notna().all() and len(set(units)) <= most
    looks = looks.astype(bool) | measured
    numbers = set(different[looks])
    # Also by distinct cells, so that a single word in many rows does not hide the numbers.
    if not numbers or max(looks.mean(), cells.isin(numbers).mean()) < 0.5:
        return
    # Whole numbers are allowed among words that are a quarter of the distinct cells: K, 1, 2, 3.
    words, whole = different[~looks], different[looks].str.fullmatch(r"\d+").all()
    if whole and words.size >= different.size / 4 and words.str.contains(r"\w").all():
        return
    plain = pd.to_numeric(column.map(str).str.strip(), errors="coerce").notna()
    odd = np.flatnonzero(column.notna() & ~plain)
    if not odd.size:
        raise DatasetError(
            f"Column {column.name!r} holds numbers that are stored as text (the first is "
            f"{str(column.dropna().iloc[0])!r:.40}). Turn it into numbers (pandas.to_numeric), or, "
            "if they name categories, name it among the categorical columns. Is --decimal right? "
            "Marks between thousands must be taken out."
        )
    named = listed(odd, form=lambda row: f"{column.iloc[row]!r:.40} in row {row + 1}")
    raise DatasetError(
        f"Column {column.name!r} holds numbers, but {odd.size} of its {len(column)} cells are not "
        f"plain numbers: {named} (rows counted from 1, without the header). Write them as 1234.5 "
        "(a point, no unit, no sign but - and +), leave out rows in which the value is missing, or "
        f"drop the column. If its cells name categories: categorical=[{column.name!r}], on the "
        "command line --categorical, or --task classification of a target. "
        f"{how_to_read(column.iloc[odd])}"
    )


def how_to_read(cells):
    """Return a sentence with the command-line option that would read some cells as numbers."""
    different = cells.map(str).str.strip().unique()
    thousands = all(re.fullmatch(r"[-+]?\d{1,3}([,'\s]\d{3})+([.,]\d+)?", x) for x in different)
    if all(re.fullmatch(r"[-+]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?", cell) for cell in different):
        points = any("." in cell for cell in different)
        first = "take out the points between thousands; " if points else ""
        last = " If they separate thousands, take them out." if thousands else ""
        return f"If commas mark decimals: {first}on the command line --decimal , reads them.{last}"
    if thousands:
        return "Take out the marks between thousands."
    # A few marks for missing values; the only one with a digit is a spreadsheet's #DIV/0!.
    marks = [f"--na {shlex.quote(x)}" for x in different if not re.search(r"\d(?!!)|.{41}", x)]
    if len(marks) == different.size < 6:
        return f"If values are missing there: on the command line {' '.join(marks)} reads them so."
    units = {re.sub(r"[-+.,\s\d]", "", cell) for cell in different}
    if len(units) == 1 and units != {""} and all(re.search(r"\d", cell) for cell in different):
        unit = units.pop()
        if {*unit} & {*"−–—(<>≤≥~"}:  # without it, the cells would be other numbers
            return f"Write a plain number in place of {different[0]!r}, with - for a minus."
        return f"Take {unit!r} out of its cells."
    return "On the command line --decimal , and --na '?' tell how cells are written."


def as_word(value):
    """Return a value as text, 2.0 as "2": whole numbers in columns with gaps are read as floats."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def as_words(column):
    """Return the cells of a column as stripped text, NaN where missing."""
    if is_number(column) and not pd.api.types.is_integer_dtype(column.dtype):
        numbers = column.astype(float)
        rows = np.flatnonzero(np.isfinite(numbers) & (numbers.abs() >= MOST_WHOLE))
        if rows.size:
            raise DatasetError(
                f"Column {column.name!r} holds {numbers.iloc[rows[0]]:.17g} {in_row(rows)}, a "
                "floating-point number too large to keep all digits: different categories may have "
                "become equal. Read the column as text (dtype=str)."
            )
    return column.astype(object).map(as_word, na_action="ignore").astype(object)


def refuse_lists(column):
    """Raise if cells of a column are lists or records, as in a Parquet file."""
    if column.dtype == object and not column.map(pd.api.types.is_hashable).all():
        what = "holds lists or records: make columns of their parts, or leave it out (drop)."
        raise DatasetError(f"Column {column.name!r} {what}")


def holds_words(column, categorical):
    """Return whether a column holds words rather than numbers; raise if it holds neither.

    With `categorical`, its cells are categories. Otherwise dates, numbers mixed with text, names,
    free text and infinite numbers are errors. Words that differ only in blanks always are.
    """
    if is_number(column) and not categorical:
        refuse_infinity(column.name, column.to_numpy(np.float64, na_value=np.nan))
        return False
    refuse_lists(column)
    if not categorical:
        _refuse_dates(column)
    words = as_words(column)
    # Numbers in a column of pandas' type category are categories, too.
    if not (categorical or is_number(getattr(column.dtype, "categories", column))):
        refuse_numbers(column)
    different = words.dropna().unique()
    # Checked on unstripped cells, as "a" and "a " may be meant to differ.
    refuse_blank_twins(map(str, column.dropna().unique()), f"Column {column.name!r}")
    n_words = int(words.notna().sum())
    each_its_own = different.size == n_words >= FEWEST_NAMES
    if not categorical and (each_its_own or different.size > max(MOST_WORDS, n_words / 2)):
        first = ", ".join(f"{word!r:.40}" for word in different[:3])
        raise DatasetError(
            f"Column {column.name!r} holds {different.size} different words in {n_words} rows "
            f"({first}, …): names or free text, from which nothing can be learned for other rows. "
            "Leave it out (drop), or name it among the categorical columns if it is one."
        )
    return True


def refuse_infinity(name, numbers):
    """Raise `DatasetError` if a column holds an infinite number."""
    rows = np.flatnonzero(np.isinf(numbers))
    if rows.size:
        raise DatasetError(f"Column {name!r} holds infinity {in_row(rows)}. Correct or empty them.")


def _refuse_dates(column):
    kind = column.dtype
    typed = kind.kind in "Mm" or isinstance(kind, pd.PeriodDtype)
    cells = pd.Series(column.dropna().unique()).map(str).str.strip().unique()
    if typed or sum(_DATE.fullmatch(cell) is not None for cell in cells) > len(cells) / 2:
        first = str(column.dropna().iloc[0])
        unit = "hours since midnight" if ":" in first[:3] else "days since a fixed date"
        century = "Write its years with four digits. " if _SHORT_YEAR.match(first) else ""
        raise DatasetError(
            f"Column {column.name!r} holds dates or times (the first is {first!r}). {century}Turn "
            f"it into a number that means something, such as {unit}, or leave it out (drop). If "
            "its cells name categories, as titers do (1:10): name it among the categorical columns."
        )


def form_of(column):
    """Return the date format of all cells of a column, or raise `DatasetError`."""
    fitting = [form for form in FORMS if (_parsed(column, form).notna() | column.isna()).all()]
    if not fitting:
        first = str(column.dropna().iloc[0]) if column.notna().any() else None
        raise DatasetError(
            f"Column {column.name!r} (--date) does not hold dates in one format; the first is "
            f"{first!r}. Write dates as {example(ISO)}, and times of day as hours without --date."
        )
    two = [_parsed(column, form) for form in fitting[:2]]
    if len(two) == 2 and not two[0].equals(two[1]):
        row = np.flatnonzero(two[0] != two[1])[0]
        raise DatasetError(
            f"Column {column.name!r} (--date): {str(column.iloc[row])!r} may be "
            f"{two[0].iloc[row]:%d %B} or {two[1].iloc[row]:%d %B}. Write dates as {example(ISO)}."
        )
    return fitting[0]


def days(column, form):
    """Return dates in a format as days, NaN for empty cells; refuse other cells."""
    dates = _parsed(column, form)
    odd = np.flatnonzero(dates.isna() & column.notna())
    if odd.size:
        where = f" {in_row(odd)}" if len(column) > 1 else ""
        raise DatasetError(
            f"Column {column.name!r} held dates such as {example(form)} in training, but now "
            f"{str(column.iloc[odd[0]])!r}{where}."
        )
    return (dates - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)


def example(form):
    """Return an example of a date in a format."""
    return EXAMPLE.strftime("%Y-%m-%d" if form == ISO else form)


def _parsed(column, form):
    if is_number(column):  # a csv's 2024.10, in the column 2024.1, is no month
        column = column.where(column % 1 == 0).map(as_word, na_action="ignore")
    return pd.to_datetime(column, format=form, errors="coerce", utc=True)
