"""Missing values in the tables that the models of a cascade learn from and predict."""

import numpy as np

from ..preprocessing.preprocessor import APART


def below_all(X):
    """Return a number below all values of each feature, (n_features,): a code for missing ones.

    One split of a tree then tells missing values from known ones.
    """
    lowest = np.nanmin(X, axis=0, initial=np.inf)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    # Trees read float32, in which 1 less than a large number is the same number.
    return lowest - np.maximum(1.0, APART * np.abs(lowest))


def filled(X, fill):
    """Return X with the number of its feature in place of each missing value."""
    return np.where(np.isnan(X), fill, X)


def medians(X):
    """Return the median of each feature's known values, (n_features,); 0 where there is none."""
    some = ~np.isnan(X).all(axis=0)
    found = np.zeros(X.shape[1])
    found[some] = np.nanmedian(X[:, some], axis=0)
    return found
