"""Columns of words, of pandas' type category: coded in an order that is learned from the target.

A threshold parts ordered values, and words have no order. Of two classes, or one number, the best
part of a node's words is a beginning of their order by the mean target (Fisher 1958); of several,
the order along the first principal component of their mean targets comes close (Coppersmith et
al. 1999). It is learned once, not anew at each node, which keeps one code for each word; Wright and
König (2019) found that it predicts as well. All training examples teach it, those held out inside a
fit too: where words are many and rare, scores out of fold are too good (docs/own-table.md).
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


def in_target_order(X, kinds, targets, weight, n_classes):
    """Return X with its words coded in the order that is learned, and the words of each column.

    X and `kinds` are as `given_codes` returns them, X as an array. `targets` are class codes, or
    numbers where `n_classes` is None. The words, those that the examples have, are a dict by place;
    the order of an ordered category stays as it is.
    """
    if not kinds:
        return X, {}
    X, words = X.copy(), {}
    for at, kind in kinds.items():
        known = ~np.isnan(X[:, at])
        present, places = np.unique(X[known, at].astype(np.intp), return_inverse=True)
        order = np.arange(present.size)
        if present.size > 1 and not kind.ordered:
            shares = None if weight is None else weight[known]
            order = target_order(places, targets[known], shares, n_classes)
        words[at] = kind.categories[present[order]].to_numpy()
        X[known, at] = np.argsort(order)[places]
    return X, words


def target_order(places, targets, weight, n_classes):
    """Return the words 0, 1, … in the order of their targets; equal ones stay in theirs."""
    weight = np.ones(len(places)) if weight is None else weight
    if n_classes is not None:
        targets = np.eye(n_classes)[targets]
    targets = np.reshape(targets, (len(places), -1))
    centred = targets - weight @ targets / weight.sum()
    # Outputs count alike whatever their units; shares of classes have one unit.
    if n_classes is None:
        scale = np.sqrt(weight @ centred**2)
        centred = centred / np.where(scale > 0, scale, 1.0)
    mass = np.bincount(places, weight)
    sums = [np.bincount(places, weight * column) for column in centred.T]
    means = np.transpose(sums) / (mass + SMOOTHING)[:, None]
    axis = np.linalg.eigh(means.T @ (mass[:, None] * means))[1][:, -1]
    # Either way along the axis is right: the last of its longest parts points upwards.
    longest = np.abs(axis).round(9)
    axis = axis * np.sign(axis[np.flatnonzero(longest == longest.max())[-1]])
    # Rounding must not settle the order of words that are alike.
    score = means @ axis
    largest = np.abs(score).max()
    return np.argsort((score / (largest or 1.0)).round(12), kind="stable")


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
