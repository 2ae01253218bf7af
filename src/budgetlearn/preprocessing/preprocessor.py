"""`BudgetPreprocessor`: a table of numbers and words, with gaps, to numbers alone."""

from collections import Counter

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

from ..costs import FeatureCosts
from ..exceptions import CostError, DatasetError
from ..features import PerFeature
from ..validation import all_or_nothing, check_choice, in_row
from .categories import as_words, kind_of
from .column_encoders import INDICATOR, MEDIAN, REFUSE, Codes, Numbers, Spread

_ACQUIRED = PerFeature("acquired", "mark", CostError, table="the encoded table")


class BudgetPreprocessor(TransformerMixin, BaseEstimator):
    """Encode text, categories, truth values and gaps; each original column stays one acquisition.

    Put it before an estimator in a Pipeline and give that one the prices of the original columns:
    they are carried through the encoding. Columns of the same name keep their price and their
    group; the columns that a spread one makes are charged once for all.

    Parameters
    ----------
    missing : {"indicator", "median", "refuse"}, default="indicator"
        Missing cells. "indicator": a value of their own, in the same column: below all others for
        numbers, -1 for words; trees can tell it apart. "median": the median, or the most frequent
        word, of the training data. "refuse": an error that names row and column.
    categorical : sequence of str, default=()
        Columns of numbers that are names of categories, as postal codes.
    one_hot : sequence of str, default=()
        Columns of words to be spread out, a column of 0 and 1 for each word, as linear methods
        want it. The other ones become whole numbers in the order of the sorted words.

    Attributes
    ----------
    feature_names_in_ : ndarray of str of shape (n_columns,)
        The original columns.
    n_features_in_ : int
        How many there are.
    origins_ : ndarray of int of shape (n_encoded,)
        Which original column each encoded one comes from.
    categories_ : dict of str to tuple of str
        Of each column of words: the words, in the order of their codes.
    encoder_ : ColumnTransformer
        What encodes.

    Raises
    ------
    DatasetError
        In `fit`: for dates, for numbers with text between them, for names and free text, for
        columns without any value; the message names the column and its cells.

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

    def __init__(self, missing=INDICATOR, categorical=(), one_hot=()):
        self.missing = missing
        self.categorical = categorical
        self.one_hot = one_hot

    def fit(self, X, y=None):
        """Learn the kinds of the columns, their words, and the values of gaps.

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
        self._check_names(frame)
        _refuse_empty(frame)
        if self.missing == REFUSE:
            _refuse_gaps(frame)
        # Columns to be spread are words, whatever they look like.
        words = set(self.categorical) | set(self.one_hot)
        kinds = {name: kind_of(frame[name], name in words) for name in frame.columns}
        coded = [name for name in kinds if kinds[name] == "words" and name not in self.one_hot]
        parts = {
            "numbers": (Numbers, [name for name in kinds if kinds[name] == "numbers"]),
            "codes": (Codes, coded),
            "one_hot": (Spread, list(self.one_hot)),
        }
        encoder = ColumnTransformer(
            [(key, kind(self.missing), names) for key, (kind, names) in parts.items() if names],
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        # A second fit that fails must leave the first one whole.
        with all_or_nothing(self):
            self.encoder_ = encoder.fit(frame)
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
            self.n_features_in_ = frame.shape[1]
            self._remember_columns()
        return self

    def _check_names(self, frame):
        twice = frame.columns[frame.columns.duplicated()].unique().tolist()
        if twice or not frame.shape[1]:
            what = f"but {', '.join(map(repr, twice))} appear twice" if twice else "but it has none"
            raise DatasetError(f"A table needs columns with different names, {what}.")
        for parameter in ("categorical", "one_hot"):
            unknown = [name for name in getattr(self, parameter) if name not in frame.columns]
            if unknown:
                raise DatasetError(
                    f"{parameter} names columns that the table lacks: "
                    f"{', '.join(map(repr, unknown))}. It has: "
                    f"{', '.join(map(repr, frame.columns[:20]))}."
                )

    def _remember_columns(self):
        """Set the original column of each encoded one, in the original order."""
        made, self.categories_ = {}, {}
        for _, encoder, _ in self.encoder_.transformers_:
            if not isinstance(encoder, str):  # "drop", of an empty remainder
                made |= encoder.columns_of()
            if isinstance(encoder, Codes):
                words = encoder.learned_.items()
                self.categories_ |= {name: tuple(known) for name, (known, _) in words}
        # ColumnTransformer groups by kind; prices and names want the table's order.
        pairs = [(k, name) for k, old in enumerate(self.feature_names_in_) for name in made[old]]
        self.origins_ = np.array([origin for origin, _ in pairs], dtype=np.intp)
        self._encoded_names = [name for _, name in pairs]
        twice = [name for name, count in Counter(self._encoded_names).items() if count > 1]
        if twice:
            raise DatasetError(
                f"one_hot makes columns that are there already: {', '.join(sorted(twice))}. "
                "Rename the original ones."
            )

    def transform(self, X):
        """Encode a table.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Columns that `fit` did not see are left out. Missing ones are missing in the result
            too: a prediction that does not look at them does without.

        Returns
        -------
        DataFrame of float of shape (n_samples, n_encoded)
            In the order of the original columns.
        """
        check_is_fitted(self)
        frame = _named(X)
        self._check_same_kind(X, frame)
        # Columns that are not there come back as gaps, and are left out again below.
        known = set(frame.columns)
        present = np.array([name in known for name in self.feature_names_in_])
        made = self.encoder_.transform(frame.reindex(columns=self.feature_names_in_))
        names = [
            name
            for name, origin in zip(self._encoded_names, self.origins_, strict=True)
            if present[origin]
        ]
        return made[names].set_axis(frame.index, axis=0)

    def _check_same_kind(self, X, frame):
        """Refuse an array that is not as wide as the one of `fit`, or where that was a frame."""
        if not isinstance(X, pd.DataFrame) and list(frame.columns) != list(self.feature_names_in_):
            raise DatasetError(
                f"X has {frame.shape[1]} columns without names, but fit learned from "
                f"{self.n_features_in_}: {_listed(self.feature_names_in_)}. Pass a DataFrame with "
                "these names, or an array in both."
            )

    def get_feature_names_out(self, input_features=None):
        """Return the names of the encoded columns.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(self._encoded_names, dtype=object)

    def encoded_costs(self, feature_costs):
        """Return the prices of the encoded columns.

        Parameters
        ----------
        feature_costs : None, array-like, dict, Series or FeatureCosts
            Prices of the original columns; see `budgetlearn.FeatureCosts`.

        Returns
        -------
        FeatureCosts
        """
        names = self.feature_names_in_.tolist()
        costs = FeatureCosts.of(feature_costs, len(names), names)
        return costs.spread(self.origins_, self._encoded_names)

    def original_features(self, acquired):
        """Return the mask of the original columns that were acquired.

        Parameters
        ----------
        acquired : DataFrame or array-like of bool of shape (n_samples, n_encoded)
            As `acquired_features` of an estimator behind this one gives it.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_columns)
        """
        names = tuple(self._encoded_names)
        acquired = _ACQUIRED.columns_in_order(acquired, names, len(names)).astype(bool)
        original = np.zeros((len(acquired), self.n_features_in_), dtype=bool)
        # One encoded column is enough: the original has been looked at.
        for encoded, origin in enumerate(self.origins_):
            original[:, origin] |= acquired[:, encoded]
        return original

    def original_names(self, encoded):
        """Return the original columns that some encoded ones come from.

        Parameters
        ----------
        encoded : iterable of str
            Names of encoded columns.

        Returns
        -------
        tuple of str
            Each once, in the order of the table.
        """
        wanted = set(encoded)
        origins = {
            origin
            for name, origin in zip(self._encoded_names, self.origins_, strict=True)
            if name in wanted
        }
        return tuple(self.feature_names_in_[sorted(origins)])

    def unknown_words(self, X):
        """Return the words of a table that training did not have: they are treated as gaps.

        Parameters
        ----------
        X : DataFrame or array-like
            As for `transform`.

        Returns
        -------
        dict of str to list of str
            By column, where there are any.
        """
        frame, found = _named(X), {}
        for name, known in self.categories_.items():
            if name in frame.columns:
                words = as_words(frame[name]).dropna().unique()
                found[name] = sorted(set(words) - set(known))
        return {name: words for name, words in found.items() if words}


def _named(X):
    """Return a table as a frame whose columns have text for names."""
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(np.asarray(X))
        X.columns = [f"x{place}" for place in range(X.shape[1])]
    return X.set_axis([str(name) for name in X.columns], axis=1)


def _listed(names, most=5):
    return ", ".join(map(repr, names[:most])) + (" …" if len(names) > most else "")


def _refuse_empty(frame):
    if not len(frame):
        raise DatasetError("The table has no rows.")
    empty = frame.columns[frame.isna().all(axis=0)].tolist()
    if empty:
        raise DatasetError(
            f"Columns without a single value: {_listed(empty)}. Leave them out (drop)."
        )


def _refuse_gaps(frame):
    rows, columns = np.nonzero(frame.isna().to_numpy())
    if rows.size:
        raise DatasetError(
            f"Column {frame.columns[columns[0]]!r} is empty {in_row(rows, 'cells')}. Fill "
            'them, or take missing="indicator" or "median".'
        )
