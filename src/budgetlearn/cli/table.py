"""A user's table: features, dates as days, target, prices and task, checked together."""

import re
import shlex
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..costs import FeatureCosts
from ..exceptions import CostError, DatasetError
from ..files import as_file
from ..preprocessing.categories import (
    as_word,
    days,
    form_of,
    is_number,
    refuse_blank_twins,
    refuse_lists,
    refuse_numbers,
)
from ..preprocessing.preprocessor import BudgetPreprocessor
from ..preprocessing.reading import read_table
from ..validation import MOST_AMOUNT, in_row, listed
from .options import closest, needed_and_found, note, shown

DAY = r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"  # 20240331
# Names that end in the separate word id: patient_id, "Case ID", patientId; not paid or grid.
AN_ID = r"(^|[^A-Za-z])(id|ID|Id)$|[a-z](ID|Id)$"
CLASSIFICATION, REGRESSION = "classification", "regression"
FEWEST_ROWS = 13  # ten to train, three held out
# A target with more different numbers than the first, up to the second, may hold classes instead.
FEWEST_AMOUNTS, SURELY_AMOUNTS = 2, 100
RARE = 0.05  # a class with a smaller share is noted
MOST_CLASSES = 20  # whole numbers with more different values are taken as amounts


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table with a target and prices, as the options of a command describe it."""

    name: str  # the file
    X: pd.DataFrame  # the features, as the file has them
    y: np.ndarray  # class labels as text, or numbers
    target: str  # name of its column
    task: str  # "classification" or "regression"
    costs: FeatureCosts  # of the columns of X
    left_out: tuple = ()  # columns that look like row numbers and were not kept
    notes: object = ()  # yields assumptions that may be wrong
    # How the table is read: separator, decimal, na (as in the options), id (the column that names
    # rows), dates ({column: format}) and ranges ({column of numbers: (least, greatest)}).
    reading: dict = field(default_factory=dict)
    weight: np.ndarray | None = None  # weight of each row; None: all equal
    groups: np.ndarray | None = None  # id of each row, if some share one


def read_own_table(
    path, target, costs, drop, task, keep=(), codes=(), row_id=None, dates=(), weights=None, **how
):
    """Return the `OwnTable` that options of the command line describe.

    Columns that look like row numbers are left out, unless `keep` has them or is None. `codes` are
    the columns of --categorical. `how` may have separator, decimal and na.
    """
    name, how = as_file(path).name, dict.fromkeys(("separator", "decimal", "na")) | how
    frame = read_table(path, how["separator"], how["decimal"], how["na"], codes=codes)
    ids, weighs = (() if column is None else (column,) for column in (row_id, weights))
    _refuse_unknown(name, frame, (target, *ids, *weighs, *drop, *dates, *(keep or ())))
    for column in (target, *ids, *weighs, *dates):
        refuse_lists(frame[column])
    weight = _weight(frame, weights, (target, *ids, *drop, *dates, *(keep or ())))
    if target in (*ids, *drop, *dates):
        raise DatasetError(f"--target {target} is the target: no other option may name it.")
    forms = {column: form_of(frame[column]) for column in dates if column not in (*ids, *drop)}
    frame = frame.assign(**{name: days(frame[name], form) for name, form in forms.items()})
    y, X = frame[target], frame.drop(columns=list({target, *ids, *weighs, *drop}))
    if not X.shape[1]:
        raise DatasetError(
            f"{name} has no column besides the target {target!r}: nothing to buy.{_hint(frame)}"
        )
    y, task, notes = _target(y, task)
    if len(y) < FEWEST_ROWS:
        what = f"{name} has {len(y)} row{'s' * (len(y) != 1)}: too few to train, validate and test"
        raise DatasetError(f"{what}. Give at least {FEWEST_ROWS}, or better hundreds.")
    # An identifier predicts the training rows perfectly, but tells nothing about new ones.
    may_number = [] if keep is None else [name for name in X.columns if name not in (*keep, *forms)]
    left_out = tuple(name for name in may_number if _numbers_rows(X[name]))
    X = X.drop(columns=list(left_out))
    if not X.shape[1]:
        raise DatasetError(
            f"{name} has only columns with a different whole number in each row, like "
            f"identifiers: {listed(left_out, 20, repr)}. Keep measurements with --keep."
        )
    prices = _prices(costs, X, target, (*drop, *ids, *weighs, *left_out))
    names = frame[row_id] if ids else pd.Series()
    groups = None if names.dropna().is_unique else names.to_numpy()
    kinds = (  # generators, which run after the table is checked
        _assumed(X, codes, left_out, None if groups is None else row_id, weights, forms),
        notes,
        () if groups is not None else _repeats(X, y),
        _constants(X),
        (text for name in X for text in _twins(X[name])),
        _marks_of_gaps(X),
        _codes(path, how, frame[[target, *X]], (*codes, *dates), target),
        _thousands(frame[[target, *X]]),
    )
    notes = (text for kind in kinds for text in kind)
    reading = {**how, "id": row_id, "dates": forms, "ranges": _ranges(X)}
    left_out = (*ids, *left_out)
    return OwnTable(name, X, y, target, task, prices, left_out, notes, reading, weight, groups)


def _refuse_unknown(name, frame, wanted):
    # With a wrong separator, one column has all names.
    unknown = [column for column in wanted if column not in frame.columns]
    if unknown:
        near = closest(unknown[0], frame.columns)
        meant = f" Did you mean {near!r}?" if near else ""
        raise DatasetError(
            f"{name} has no column {unknown[0]!r}. It has: {listed(frame.columns, 20, repr)}."
            f"{meant}{_hint(frame)}"
        )


def _weight(frame, name, others):
    if name is None:
        return None
    if name in others:
        raise DatasetError(f"--weights {name} weights the rows: no other option may name it.")
    numbers = pd.to_numeric(frame[name].map(str), errors="coerce")
    rows = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))
    if rows.size:
        first = frame[name].iloc[rows[0]]
        found = "an empty cell" if pd.isna(first) else repr(str(first))
        what = f"weights must be numbers above 0, got {found} {in_row(rows)}"
        raise DatasetError(f"--weights {name}: {what}. Remove rows that should not count.")
    return numbers.to_numpy(np.float64)


def _ranges(X):
    return {
        name: (float(column.min()), float(column.max()))
        for name, column in X.items()
        if is_number(column) and column.notna().any()
    }


def _assumed(X, codes, left_out, groups, weights, dates):
    """Yield notes on identifiers, or what may be one, on dates, groups and weights of rows."""
    for name in X:
        words = name not in codes and not is_number(X[name])
        many = words and X[name].nunique() > max(MOST_CLASSES, len(X) / 3)  # few are categories
        if (many or re.search(AN_ID, str(name))) and not X[name].is_unique:
            what = f"{shown(name)} is used as a feature. If it names what rows belong to"
            yield f"{what}, such as a patient, use --id {shlex.quote(name)}"
    for name in left_out:
        what = f"{shown(name)} has a different whole number in each row, like an identifier,"
        yield f"{what} and is left out. If it is a measurement, use --keep {shlex.quote(name)}"
    if groups is not None:
        what = f"rows with the same {shown(groups)} are held out together, so that scores are for"
        yield f"{what} unseen ones. A guarantee is for one row of each, drawn at random."
    if dates:
        yield "rows are held out whatever their date: later rows may have other scores and costs."
    if weights is not None:
        yield f"models and scores weight rows by {shown(weights)}; mean costs are unweighted."


def _repeats(X, y):
    """Yield a note on repeated rows, if a column distinguishes most of the others."""
    twice = int(pd.concat([X, pd.Series(y, X.index)], axis=1).duplicated().sum())
    if twice < 0.01 * len(X):
        return
    values = X.nunique().astype(float)
    # With few columns, or few different values, rows repeat by chance.
    if values.max() > (len(X) - twice) / 2 and values.prod() > 100 * len(X):
        yield (
            f"{twice:,} rows repeat earlier ones in every cell. If they are the same cases, scores "
            "on held-out rows are too good: remove them, or name the cases with --id."
        )


def _constants(X):
    """Yield a note on columns that hold the same value in all rows."""
    names = [name for name in X if X[name].nunique(dropna=False) < 2]
    if names:
        drop = " ".join(f"--drop {shlex.quote(name)}" for name in names[:5])
        yield f"{listed(names, 5, shown)}: the same value in every row. To leave it out, use {drop}"


def _codes(path, how, X, known, target):
    """Yield notes on numbers that may be codes (007), dates (20240331) or thousands (42.000)."""
    names = [name for name in X if is_number(X[name]) and name not in known]
    separator, decimal, missing = how["separator"], how["decimal"], how["na"]
    written = read_table(path, separator, decimal, missing, names, text=True, max_rows=10_000)
    for name, cells in written.select_dtypes(exclude="number").items():
        codes, dates = (cells[cells.str.fullmatch(form, na=False)] for form in (r"0\d+", DAY))
        if len(codes):
            what = f"{shown(name)} holds {codes.iloc[0]}, and is read as a number"
            use = f"If it holds codes, use --categorical {shlex.quote(name)}"
            yield f"{what}: {int(codes.iloc[0])}." if name == target else f"{what}. {use}"
        if 0 < len(dates) == cells.count() and name != target:
            what = f"{shown(name)} holds {dates.iloc[0]}, and is read as a number"
            yield f"{what}. If it holds dates, use --date {shlex.quote(name)}"
        cells = cells.dropna()
        points = cells.str.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}").all()
        if points and cells.str[-2:].eq("00").mean() > 0.5:  # three decimals are rarely so round
            what = f"{shown(name)} holds {cells.iloc[0]} and the like"
            yield f"{what}. If the point separates thousands, remove it from all cells"


def _marks_of_gaps(X):
    """Yield notes on numbers that may mark missing values: -1, or -999 far from all others."""
    for name, ends in _ranges(X).items():
        others, n_rows = X[name][X[name] >= 0], (X[name] == -1).sum()
        only = others.size + n_rows == X[name].count()
        if only and n_rows > 1 and others.nunique() > 10:  # fewer may be grades
            what = f"{shown(name)} holds -1 in {n_rows} rows, and nothing else below 0"
            yield f"{what}. If it marks a missing value, use --na -1"
        for end in (end for end in ends if set(f"{abs(end):g}") == {"9"}):
            others = X[name][X[name] != end]
            n_rows, spread = (X[name] == end).sum(), others.max() - others.min()
            if n_rows > 1 and 0 < spread < (others - end).abs().min():
                what = f"{shown(name)} holds {end:g} in {n_rows} rows, far from all others"
                yield f"{what}. If it marks a missing value, use --na {end:g}"


def _thousands(frame):
    """Yield notes on points that may separate thousands, as in 1.021 beside 985."""
    for name in _ranges(frame):
        numbers = frame[name].dropna().abs().astype(float)
        whole, rest = numbers[numbers % 1 == 0], numbers[numbers % 1 > 0]
        large, times = whole[whole.between(100, 999)], (rest * 1000).round(3)
        # Then all have three decimals, or fewer if the last is 0, and are less than the others.
        alike = (rest.between(1, 100) & (times % 1 == 0)).all() and (times % 10 > 0).mean() > 0.5
        if alike and large.min() < large.max() and large.size > whole.size / 2:
            what = f"{shown(name)} holds {rest.iloc[0]:.3f} beside {large.iloc[0]:g}"
            yield f"{what}. If the point separates thousands, remove it from all cells."


def table_of(path, options):
    """Return the table that the options of a command describe; print notes on assumptions."""
    names = ("target", "costs", "drop", "task", "row_id", "dates", "weights")
    names += ("separator", "decimal", "na")
    given = {name: options[name] for name in names if name in options}
    codes = options["categorical"]
    own = read_own_table(path, keep=(*options["keep"], *codes), codes=codes, **given)
    BudgetPreprocessor(options["missing"], codes).fit(own.X)  # refuses a bad table before any note
    for text in own.notes:
        note(text)
    return own


def _hint(frame):
    untitled = "Unnamed: 1" in frame.columns  # as pandas calls an empty name
    if frame.shape[1] == 1:
        return " Is --separator right?"
    return " Take out lines above the column names." if untitled else ""


def _numbers_rows(column):
    # Whole numbers, all different, without gaps: typical of identifiers. Few measurements in a wide
    # range, such as populations, differ by chance, too: there, only their order or name tells.
    known = is_number(column) and column.notna().all() and column.is_unique
    if not known or (column % 1 != 0).any():
        return False
    dense = len(column) ** 2 > 6 * (1 + np.ptp(column.to_numpy(float)))  # by chance, 3 pairs equal
    return bool(dense or column.is_monotonic_increasing or re.search(AN_ID, str(column.name)))


def _target(column, task):
    """Return the target as labels or numbers, the task, and notes on how it was read."""
    rows = np.flatnonzero(column.isna())
    if rows.size:
        raise DatasetError(
            f"The target {column.name!r} is empty {in_row(rows)}. Remove these rows."
        )
    numbers, notes = is_number(column), ()
    if task != CLASSIFICATION and not numbers:  # maybe numbers mixed with text
        refuse_numbers(column)
    if task is None:
        task, notes = _suggested(column) if numbers else (CLASSIFICATION, ())
    if task == REGRESSION:
        amounts = pd.to_numeric(column.map(str), errors="coerce")
        odd = np.flatnonzero(~(amounts.abs() <= MOST_AMOUNT))
        if odd.size or amounts.max() - amounts.min() < 1 / MOST_AMOUNT:
            first = str(column.iloc[odd[0] if odd.size else 0])
            where = in_row(odd) if odd.size else "in the first row and nearly the same in others"
            raise DatasetError(
                f"The target {column.name!r} must be numbers of up to {MOST_AMOUNT:g} that differ "
                f"by {1 / MOST_AMOUNT:g} or more for regression, got {first!r} {where}. Use --task "
                "classification, correct the target, or use another unit."
            )
        amounts = amounts.to_numpy(np.float64)
        return amounts, task, (*notes, *_one_for_all(amounts, column.name))
    # Checked before blanks are stripped, as "yes" and "yes " may be meant as two.
    refuse_blank_twins(column.map(str).unique(), f"The target {column.name!r}")
    labels = column.astype(object).map(as_word).to_numpy(dtype=str)
    if len(set(labels)) < 2:
        raise DatasetError(f"The target {column.name!r} has only one class, {str(labels[0])!r}.")
    return labels, task, (*notes, *([*_twins(column)] or _rare(labels)))


def _one_for_all(amounts, name):
    """Yield a note if one row makes up most of the variance with which R² compares errors."""
    ratios = amounts / np.abs(amounts).max()  # squares of these do not overflow
    squares = (ratios - ratios.mean()) ** 2
    share, row = squares.max() / squares.sum(), squares.argmax(keepdims=True)
    if share >= 0.5:
        what = f"{amounts[row[0]]:g} {in_row(row)} makes up {100 * share:.0f} % of the variance"
        use = "If it is correct: --scoring neg_mean_absolute_error"
        yield f"{what} of {shown(name)}, which R² depends on. {use}"


def _rare(labels):
    """Yield a note if a class is so rare that scores say little about it."""
    classes, counts = np.unique(labels, return_counts=True)
    rare, often, n_rows = counts.argmin(), counts.argmax(), counts.sum()
    if counts[rare] < n_rows * min(RARE, 0.25 / classes.size):
        yield (
            f"the class {str(classes[rare])!r} has {counts[rare]} of {n_rows} rows: scores say "
            f"little about it, and always predicting {str(classes[often])!r} is right in "
            f"{100 * counts[often] / n_rows:.0f} % of the rows."
        )


def _twins(column):
    """Yield a note on the first two words of a column that differ only in capitals."""
    words = () if is_number(column) else sorted({*map(as_word, column.dropna().unique())})
    # Often a typing error, but both may be meant, so this is a note and not an error.
    seen = {}
    for word in words:
        first = seen.setdefault(word.casefold(), word)
        if first != word:
            what = f"{first!r} and {word!r} differ only in capitals and count as two"
            yield f"{shown(column.name)}: {what}."
            return


def _suggested(column):
    """Return the task that a target of numbers suggests, and notes if it may be the other."""
    n_values, whole = column.nunique(), bool((column % 1 == 0).all())
    what = f"the target {shown(column.name)} holds {n_values} different numbers"
    if n_values <= FEWEST_AMOUNTS:
        return CLASSIFICATION, ()
    if whole and n_values <= MOST_CLASSES:
        other = "If they are amounts to estimate, use --task regression"
        return CLASSIFICATION, (f"{what}, taken as classes. {other}",)
    if n_values == len(column) and whole:
        what = f"the target {shown(column.name)} holds a different whole number in each row, like"
        return REGRESSION, (f"{what} an identifier; it is taken as amounts (regression).",)
    if n_values > SURELY_AMOUNTS:
        return REGRESSION, ()
    other = "If they are classes, use --task classification"
    return REGRESSION, (f"{what}, taken as amounts to estimate (regression). {other}",)


def _prices(path, X, target, drop):
    """Return the prices in the order of the columns."""
    names = [str(name) for name in X.columns]
    if path is None:
        return FeatureCosts.of(None, len(names), names)
    costs = FeatureCosts.read(path)
    # Prices of left-out columns are ignored; any other name is a mistake.
    place, known = {name: k for k, name in enumerate(costs.names)}, {*names, target, *drop}
    unknown = [name for name in place if name not in known]
    missing = [name for name in names if name not in place]
    if unknown and missing:
        raise CostError(
            f"{path} has unknown features: {listed(unknown, form=repr)}, and no price for: "
            f"{needed_and_found(missing, unknown)}. Write the names as in the table."
        )
    if unknown:
        raise CostError(
            f"{path} has unknown features: {listed(unknown, form=repr)}. Remove them, or "
            f"write the names as in the table: {listed(names, 10, repr)}."
        )
    if missing:
        what = f"{path} has no price for: {listed(missing, form=repr)}"
        remedy = "Add them (0 if they are free), or leave these columns out with --drop."
        raise CostError(f"{what}. {remedy}")
    return costs.take([place[name] for name in names], names)
