"""Columns of words, of pandas' type category: coded in an order that is learned from the target.

A threshold parts ordered values, and words have no order. Of two classes, or one number, the best
part of a node's words is a beginning of their order by the mean target (Fisher 1958); of several,
the order along the first principal component of their mean targets comes close (Coppersmith et
al. 1999). It is learned once, not anew at each node, which keeps one code for each word; Wright and
König (2019) found that it predicts as well. Where rows are held out, only the others teach it: the
place of a rare word would give their targets away.
"""

import warnings

import numpy as np
import pandas as pd

from ..exceptions import BudgetlearnWarning
from ..validation import in_row

# Average examples that are added to those of each word: rare ones stay near the middle.
SMOOTHING = 10.0
MOST_WORDS = 10  # named in a message


def given_codes(X):
    """Return a frame whose words are numbers in their given order, and pandas' type of each.

    The types are a dict by place of the column. Where there are no words, X is as it was.
    """
    kinds = dict(enumerate(X.dtypes)) if hasattr(X, "isetitem") else {}
    kinds = {at: kind for at, kind in kinds.items() if isinstance(kind, pd.CategoricalDtype)}
    if not kinds:
        return X, {}
    coded = X.copy(deep=False)
    for at in kinds:
        coded.isetitem(at, _codes(X.iloc[:, at], kinds[at].categories))
    return coded, kinds


def _codes(column, words):
    """Return the place of each word, as a number; NaN where there is none."""
    places = words.get_indexer(pd.Index(column)).astype(np.float64)
    return np.where(places < 0, np.nan, places)


def without_absent(X, kinds):
    """Return X without gaps between the codes of its words, and the words, a dict by place.

    X and `kinds` are as `given_codes` returns them, X as an array.
    """
    codes, words = {}, {}
    for at, kind in kinds.items():
        present = np.unique(X[~np.isnan(X[:, at]), at]).astype(np.intp)
        codes[at] = np.zeros(len(kind.categories))
        codes[at][present] = np.arange(present.size)
        words[at] = kind.categories[present].to_numpy()
    return recoded(X, codes), words


def recoded(X, codes):
    """Return X with other codes of its words: by place of the column, the new one of each."""
    if not codes:
        return X
    X = X.copy()
    for at, new in codes.items():
        known = ~np.isnan(X[:, at])
        X[known, at] = new[X[known, at].astype(np.intp)]
    return X


def target_codes(X, given, targets, weight, n_classes):
    """Return the code of each word in the order that examples teach, by place of its column.

    `given` has, by place, where each word stands in the given order, which decides between equals;
    `targets` are class codes, or numbers where `n_classes` is None. A word that no example has
    comes where the average target is.
    """
    codes = {}
    for at, ranks in given.items():
        known = ~np.isnan(X[:, at])
        if ranks.size > 1 and known.any():
            shares = None if weight is None else weight[known]
            places = X[known, at].astype(np.intp)
            order = target_order(places, targets[known], shares, n_classes, ranks)
            codes[at] = np.argsort(order)
    return codes


def target_order(places, targets, weight, n_classes, ranks):
    """Return the words 0, 1, … in the order of their targets, equal ones by their ranks."""
    weight = np.ones(len(places)) if weight is None else weight
    if n_classes is not None:
        targets = np.eye(n_classes)[targets]
    targets = np.reshape(targets, (len(places), -1))
    centred = targets - weight @ targets / weight.sum()
    # Outputs count alike whatever their units; shares of classes have one unit.
    if n_classes is None:
        scale = np.sqrt(weight @ centred**2)
        centred = centred / np.where(scale > 0, scale, 1.0)
    mass = np.bincount(places, weight, ranks.size)
    sums = [np.bincount(places, weight * column, ranks.size) for column in centred.T]
    means = np.transpose(sums) / (mass + SMOOTHING)[:, None]
    axis = np.linalg.eigh(means.T @ (mass[:, None] * means))[1][:, -1]
    # Either way along the axis is right: the last of its longest parts points upwards.
    longest = np.abs(axis).round(9)
    axis = axis * np.sign(axis[np.flatnonzero(longest == longest.max())[-1]])
    # Rounding must not settle the order of words that are alike.
    score = means @ axis
    largest = np.abs(score).max()
    return np.lexsort((ranks, (score / (largest or 1.0)).round(12)))


def learned_codes(estimator, X):
    """Return a table whose words are coded as in training; X as it is where there were none.

    A word that no training example has counts as a missing value, and a warning names it.
    """
    categories = estimator.categories_
    if not categories or np.ndim(X) != 2:
        return X
    labels = estimator.feature_costs_.labels
    if not hasattr(X, "isetitem"):
        # In an array, words are known by their place.
        if np.shape(X)[1] != len(labels):
            return X
        X = pd.DataFrame(np.asarray(X, dtype=object), columns=list(labels))
    coded = X.copy(deep=False)
    for at, name in enumerate(X.columns):
        if name in categories:
            coded.isetitem(at, column_codes(X.iloc[:, at], name, categories[name]))
    return coded


def column_codes(column, name, words):
    """Return the codes of a column of words; a warning tells of the unknown ones."""
    codes = _codes(column, pd.Index(words))
    unknown = np.flatnonzero(np.isnan(codes) & ~pd.isna(np.asarray(column, dtype=object)))
    if unknown.size:
        first = np.asarray(column, dtype=object)[unknown[0]]
        warnings.warn(
            f"feature {name!r} is {str(first)!r} {in_row(unknown)}, which no training example has: "
            f"it counts as a missing value. Training knows {_named(words)}.",
            BudgetlearnWarning,
            stacklevel=2,
        )
    return codes


def word_code(value, name, words):
    """Return the code of one word, NaN for a missing one; another is a `ValueError`."""
    if pd.isna(value):
        return np.nan
    place = pd.Index(words).get_indexer([value])[0]
    if place < 0:
        raise ValueError(
            f"feature {name!r} must be one of {_named(words)} (NaN: it cannot be had), got "
            f"{str(value)!r}."
        )
    return float(place)


def _named(words):
    more = f" and {len(words) - MOST_WORDS} more" if len(words) > MOST_WORDS else ""
    return ", ".join(map(str, words[:MOST_WORDS])) + more
