"""Encoders of the columns of one kind, for a ColumnTransformer: frame in, frame of floats out."""

from itertools import chain

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from ..exceptions import DatasetError
from ..validation import in_row
from .categories import as_words, how_to_read

INDICATOR, MEDIAN, REFUSE = "indicator", "median", "refuse"
MISSING = "(missing)"
# Least distance of what stands for a gap, as a share of the least number: a few steps of float32.
APART = 2.0**-20


class _ColumnEncoder(TransformerMixin, BaseEstimator):
    """Base: `fit` learns each column by `_learn`, `transform` applies `_encoded` to each.

    `missing` ("indicator", "median" or "refuse") says what becomes of missing cells. A gap in a
    column that had none in training stays one under "indicator": no model has learned what it
    means.
    """

    def __init__(self, missing=INDICATOR):
        self.missing = missing

    def fit(self, X, y=None):
        """Learn from a frame."""
        self.learned_ = {name: self._learn(X[name]) for name in X.columns}
        return self

    def transform(self, X):
        """Return a frame of floats."""
        parts = {}
        for name, learned in self.learned_.items():
            parts |= self._encoded(X[name], learned)
        return pd.DataFrame(parts, index=X.index, columns=list(parts))

    def get_feature_names_out(self, input_features=None):
        """Return the names of the encoded columns."""
        return np.array(list(chain(*self.columns_of().values())), dtype=object)

    def columns_of(self):
        """Return {column: names of its encoded columns}."""
        return {name: [name] for name in self.learned_}


class Numbers(_ColumnEncoder):
    """Numbers as they are; a gap is a value below all others, or the median.

    All columns at once: a table may have thousands.
    """

    def fit(self, X, y=None):
        """Learn from a frame."""
        numbers = _numbers_of(X)
        gaps = np.isnan(numbers).any(axis=0)
        if self.missing == MEDIAN:
            fills = np.nanmedian(numbers, axis=0)
        elif self.missing == REFUSE or not gaps.any():
            fills = np.full(gaps.size, np.nan)
        else:
            # Only columns with gaps get a value for them: elsewhere a gap is unknown to the model.
            fills = np.where(gaps, _below(numbers, X.columns), np.nan)
        self.learned_ = dict(zip(X.columns, fills.tolist(), strict=True))
        return self

    def transform(self, X):
        """Return a frame of floats."""
        X = X[list(self.learned_)]
        numbers, fills = _numbers_of(X), np.array(list(self.learned_.values()))
        return pd.DataFrame(
            np.where(np.isnan(numbers), fills, numbers), index=X.index, columns=X.columns
        )


class Codes(_ColumnEncoder):
    """Words as whole numbers in the order of the sorted words; a gap is -1, or the commonest.

    A word that training did not have is treated as a gap is.
    """

    def _learn(self, column):
        words = as_words(column)
        categories = sorted(words.dropna().unique())
        if self.missing == MEDIAN:
            return categories, float(categories.index(words.mode().iloc[0]))
        # A code of its own, -1, only where training had gaps to learn it from.
        gaps = self.missing == INDICATOR and words.isna().any()
        return categories, -1.0 if gaps else np.nan

    def _encoded(self, column, learned):
        categories, fill = learned
        codes = _codes(column, categories)
        return {column.name: np.where(codes < 0, fill, codes)}


class Spread(Codes):
    """Words as one column of 0 and 1 for each word, and one for gaps where training had some."""

    def columns_of(self):
        """Return {column: names of its encoded columns}."""
        return {name: self._names(name, *learned) for name, learned in self.learned_.items()}

    def _names(self, name, categories, fill):
        return [f"{name}={word}" for word in (*categories, *([MISSING] if fill == -1 else []))]

    def _encoded(self, column, learned):
        categories, fill = learned
        codes = _codes(column, categories).astype(np.float64)
        codes[codes < 0] = len(categories) if fill == -1 else fill
        names = self._names(column.name, categories, fill)
        # A word unknown in training, without gaps there, stays missing in all its columns.
        unknown = np.isnan(codes)
        return {name: np.where(unknown, np.nan, codes == code) for code, name in enumerate(names)}


def _codes(column, categories):
    """Return the place of each cell among the categories, -1 for gaps and unknown words."""
    return pd.Index(categories, dtype=object).get_indexer(as_words(column))


def _below(numbers, names):
    """Return a number below those of each column, apart from them even in float32."""
    low, high = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
    with np.errstate(over="ignore"):
        # A whole range below: a split between known and missing is easy to find.
        near = low - (high - low) - 1.0
        # Beside a large number that hardly varies 1 less is the same number.
        below = np.where(near < low - APART * np.abs(low), near, low - np.abs(low))
    below = np.maximum(below, np.finfo(np.float64).min)
    if (below >= low).any():
        name = names[np.argmax(below >= low)]
        raise DatasetError(
            f"Column {name!r} holds {low.min():g}, and no number is left below it that could stand "
            'for empty cells. Divide the column by ten, or take missing="median".'
        )
    return below


def _numbers_of(frame):
    """Return a frame as an array of floats; refuse other values."""
    try:
        return frame.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return np.column_stack([_as_numbers(frame[name]) for name in frame.columns])


def _as_numbers(column):
    """Return a column as floats; refuse other values."""
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        numbers = pd.to_numeric(column, errors="coerce")
        odd = np.flatnonzero(numbers.isna() & column.notna())
        if not odd.size:
            return numbers.astype(np.float64)
        raise DatasetError(
            f"Column {column.name!r} held numbers in training, but now {column.iloc[odd[0]]!r} "
            f"{in_row(odd)}. Correct or empty these cells. {how_to_read(column.iloc[odd])}"
        ) from None
