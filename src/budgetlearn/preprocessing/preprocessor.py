"""`BudgetPreprocessor`: encodes a table with words and missing cells as numbers."""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..exceptions import BudgetlearnWarning, DatasetError
from ..validation import ParameterError, all_or_nothing, check_choice, in_row, listed
from . import categories
from .categories import INDICATOR, MEDIAN, REFUSE, as_words, holds_words, how_to_read

# Distance of the code for gaps from the smallest number, relative to it: a few steps of float32.
APART = 2.0**-20


class BudgetPreprocessor(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Encode text, categories, booleans and missing cells; each column stays one acquisition.

    Use it before an estimator in a `BudgetPipeline`, and give the feature costs of the original
    columns to the estimator. Column names are kept. Words become whole numbers, alphabetically.

    Parameters
    ----------
    missing : {"indicator", "median", "refuse"}, default="indicator"
        Treatment of missing cells. "indicator": a separate value in the same column, which trees
        can split off: below all others for numbers, -1 for words. "median": the median, or the most
        frequent word, of the training data. "refuse": an error that names row and column.
    categorical : sequence of str, default=()
        Columns of numbers that are categories, such as postal codes.

    Attributes
    ----------
    feature_names_in_ : ndarray of str of shape (n_columns,)
        Names of the columns, which encoding does not change.
    n_features_in_ : int
        Number of columns.
    categories_ : dict of str to tuple of str
        Words of each column of words, in the order of their codes.

    Raises
    ------
    DatasetError
        In `fit`, for columns of dates, of numbers mixed with text, of names or free text, and for
        columns without any value. The message names the column and its cells.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, None, 55], "colour": ["red", "blue", None]})
    >>> BudgetPreprocessor().fit_transform(table)
        age  colour
    0  31.0     1.0
    1   6.0     0.0
    2  55.0    -1.0
    """

    def __init__(self, missing=INDICATOR, categorical=()):
        self.missing = missing
        self.categorical = categorical

    def fit(self, X, y=None):
        """Learn the kinds of the columns, their words, and the values for missing cells.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table, without its target.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        check_choice(self.missing, "missing", (INDICATOR, MEDIAN, REFUSE))
        frame = _named(X)
        self._check(frame)
        codes = {str(name) for name in self.categorical}
        words = [name for name in frame if holds_words(frame[name], name in codes)]
        # A failing second fit must not change the first one.
        with all_or_nothing(self):
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
            self.n_features_in_ = frame.shape[1]
            self._fills = self._fills_of(frame.drop(columns=words))
            self.categories_ = {}
            for name in words:
                self.categories_[name], self._fills[name] = self._words_of(frame[name])
        return self

    def _fills_of(self, frame):
        """Return the values that replace missing cells in columns of numbers, by name."""
        numbers = _numbers_of(frame)
        fills, gaps = np.full(numbers.shape[1], np.nan), np.isnan(numbers).any(axis=0)
        if self.missing == MEDIAN and fills.size:
            fills = np.nanmedian(numbers, axis=0)
        elif self.missing == INDICATOR and gaps.any():
            # Only for columns with gaps, as models of other columns could not learn their meaning.
            fills[gaps] = _below(numbers[:, gaps], frame.columns[gaps])
        return dict(zip(frame.columns, fills.tolist(), strict=True))

    def _words_of(self, column):
        """Return the sorted words of a column, and the code of missing and unknown words."""
        cells = as_words(column)
        words = tuple(sorted(cells.dropna().unique()))
        if self.missing == MEDIAN:
            return words, float(words.index(cells.mode().iloc[0]))
        # A separate code, -1, only if training had gaps from which to learn it.
        return words, -1.0 if self.missing == INDICATOR and cells.isna().any() else np.nan

    def _check(self, frame):
        """Raise for tables without rows, columns or values, and for gaps if they are refused."""
        if not frame.shape[1]:
            raise DatasetError("A table needs columns with different names, but it has none.")
        if isinstance(self.categorical, str):
            raise ParameterError(f"categorical must be a list of names, got {self.categorical!r}.")
        unknown = [name for name in map(str, self.categorical) if name not in frame.columns]
        if unknown:
            raise DatasetError(
                f"categorical names columns that the table lacks: {listed(unknown, form=repr)}. It "
                f"has: {listed(frame.columns, 20, repr)}."
            )
        if not len(frame):
            raise DatasetError("The table has no rows.")
        gaps = frame.isna().to_numpy()
        if empty := frame.columns[gaps.all(axis=0)].tolist():
            what = f"Columns without a single value: {listed(empty, form=repr)}"
            raise DatasetError(f"{what}. Leave them out (drop).")
        if self.missing == REFUSE and gaps.any():
            rows, columns = np.nonzero(gaps)
            raise DatasetError(
                f"Column {frame.columns[columns[0]]!r} is empty {in_row(rows, 'cells')}. Fill "
                'them, or take missing="indicator" or "median".'
            )

    def _coded(self, column):
        """Return the codes of a column of words, with a warning about words unknown in training."""
        words, cells = pd.Index(self.categories_[column.name], dtype=object), as_words(column)
        codes = words.get_indexer(cells).astype(np.float64)
        unknown = sorted(cells[codes < 0].dropna().unique())
        if unknown:
            text = f"Column {column.name!r} has categories unknown in training, taken as missing: "
            warnings.warn(text + listed(unknown, form=repr), BudgetlearnWarning, stacklevel=4)
        return np.where(codes < 0, self._fills[column.name], codes)

    def transform(self, X):
        """Encode a table.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Columns unknown to `fit` are ignored. Columns that are absent here are absent from the
            result, which is allowed if predictions do not acquire them. Words unknown to `fit` are
            treated as missing, with a warning that names them.

        Returns
        -------
        DataFrame of float of shape (n_samples, n_columns)
            Encoded columns in the order of `feature_names_in_`.
        """
        check_is_fitted(self)
        frame = _named(X)
        # An array of another width than in `fit`, or after a fit with a frame.
        if not hasattr(X, "columns") and list(frame.columns) != list(self.feature_names_in_):
            raise DatasetError(
                f"X has {frame.shape[1]} columns without names, but fit learned from "
                f"{self.n_features_in_}: {listed(self.feature_names_in_, form=repr)}. Pass a "
                "DataFrame with these names, or an array in both."
            )
        # Absent columns are added as gaps, and removed again at the end.
        whole = frame.reindex(columns=self.feature_names_in_)
        made = {name: self._coded(whole[name]) for name in self.categories_}
        numbers = [name for name in self.feature_names_in_ if name not in made]
        for name, column in zip(numbers, _numbers_of(whole[numbers]).T, strict=True):
            categories.refuse_infinity(name, column)
            made[name] = np.where(np.isnan(column), self._fills[name], column)
        return pd.DataFrame(made, frame.index, [n for n in self.feature_names_in_ if n in frame])

    def unknown_words(self, X):
        """Return the words of a table that are unknown in training, and so treated as missing.

        Parameters
        ----------
        X : DataFrame or array-like
            As for `transform`.

        Returns
        -------
        dict of str to list of str
            Unknown words by column; columns without any are not included.
        """
        frame = _named(X)
        names = [name for name in self.categories_ if name in frame]
        found = {x: {*as_words(frame[x]).dropna()} - {*self.categories_[x]} for x in names}
        return {name: sorted(words) for name, words in found.items() if words}


def _named(X):
    """Return a table as a frame with strings as column names."""
    if hasattr(type(X), "to_pandas"):  # of pyarrow or polars
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X.toarray() if hasattr(X, "toarray") else np.asarray(X))
        X.columns = [f"x{place}" for place in range(X.shape[1])]
    # Arrays that contain words have numbers as objects.
    frame = X.infer_objects().set_axis([str(name) for name in X.columns], axis=1)
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise DatasetError(f"Columns must differ in name: {listed(twice, form=repr)} appear twice.")
    return frame


def _below(numbers, names):
    """Return a number below those of each column, distinct even in float32."""
    low, high = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
    with np.errstate(over="ignore"):
        # One whole range below, so that a split between known and missing is easy to find.
        near = low - (high - low) - 1.0
        # For large numbers that hardly vary, this may be the same number in float32.
        below = np.where(near < low - APART * np.abs(low), near, low - np.abs(low))
    below = np.maximum(below, np.finfo(np.float64).min)
    lowest = np.flatnonzero(below >= low)
    if lowest.size:
        raise DatasetError(
            f"Column {names[lowest[0]]!r} holds {low[lowest[0]]:g}, and there is no smaller number "
            'to encode empty cells. Divide the column by ten, or take missing="median".'
        )
    return below


def _numbers_of(frame):
    try:
        return frame.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):
        return np.column_stack([_as_numbers(frame[name]) for name in frame.columns])


def _as_numbers(column):
    numbers = column.map(categories.as_number)
    odd = np.flatnonzero(np.isinf(numbers))
    if odd.size:
        raise DatasetError(
            f"Column {column.name!r} held numbers in training, but now {column.iloc[odd[0]]!r:.40} "
            f"{in_row(odd)}. Correct or empty these cells. {how_to_read(column.iloc[odd])}"
        )
    return numbers.astype(np.float64)
