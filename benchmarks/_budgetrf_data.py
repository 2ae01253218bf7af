"""The tables used by the BudgetRF scripts."""

from pathlib import Path

import numpy as np
import pandas as pd
from _measuring import DATA
from sklearn.datasets import load_svmlight_file, make_classification

# Prices of the 519 features of Yahoo! Learning to Rank, and the number of features at each price.
YAHOO_PRICES = {1: 123, 5: 31, 20: 191, 50: 125, 100: 16, 150: 32, 200: 1}


def covertype(seed):
    """Return train, validation and test parts (36,603 / 15,688 / rest) of the 16 % sample."""
    table = pd.read_csv(DATA / "covtype" / "covtype-ramp-test.csv.gz").to_numpy()
    table = table[np.random.default_rng(seed).permutation(len(table))]
    X, y = table[:, :-1], table[:, -1].astype(int)
    return [(X[part], y[part]) for part in np.split(np.arange(len(y)), [36_603, 52_291])]


def miniboone(_seed=None):
    """Return the authors' small train, validation and test parts of MiniBooNE."""
    parts = []
    for name in ("tr", "tv", "te"):
        path = DATA / "miniboone_tiny" / f"mbne_tiny_{name}"
        X, y = load_svmlight_file(path, n_features=50)
        parts.append((X.toarray(), y))
    return parts


def continuous(n_rows=45_523):
    """Return a continuous two-class table with 50 features."""
    return make_classification(n_rows, 50, n_informative=10, random_state=0)


def yahoo_shaped(n_rows=141_397, seed=0):
    """Return X, y and prices shaped like Yahoo!'s set 1: 519 features in seven price classes.

    Relevance depends on one hidden number for each document. The more expensive a feature is, the
    more clearly it reveals that number. Many features have few distinct values.
    """
    rng = np.random.default_rng(seed)
    prices = rng.permutation(np.repeat(list(YAHOO_PRICES), list(YAHOO_PRICES.values())))
    quality = rng.normal(size=n_rows).astype(np.float32)
    X = np.empty((n_rows, prices.size), dtype=np.float32)
    for column, price in enumerate(prices):
        noise = rng.normal(scale=4 / np.log2(2 + price), size=n_rows)
        X[:, column] = quality + noise
        if column % 3 == 0:
            X[:, column] = X[:, column].round(1)
    y = quality + rng.normal(scale=0.5, size=n_rows) > 0.6
    return X, y.astype(int), prices.astype(float)


def tall(folder, n_rows, n_columns=50, seed=0):
    """Return X, float32 in a mapped file, and two classes that depend on six columns."""
    rng = np.random.default_rng(seed)
    shape = (n_rows, n_columns)
    X = np.memmap(Path(folder) / "X", dtype=np.float32, mode="w+", shape=shape)
    y = np.empty(n_rows, dtype=np.int32)
    for start in range(0, n_rows, 50_000):
        rows = slice(start, min(start + 50_000, n_rows))
        X[rows] = part = rng.normal(size=(rows.stop - start, n_columns))
        score = part[:, 0] + part[:, 1] * part[:, 2] + np.abs(part[:, 3]) - part[:, 4] * part[:, 5]
        y[rows] = score + rng.normal(size=len(part)) > 0.8
    return X, y
