"""Fit a method to a user's table, and measure what it costs and scores."""

from contextlib import contextmanager
from threading import Event, Thread

import numpy as np
from sklearn.base import is_classifier
from tqdm import tqdm

from .._validation import holdout
from ..base.examples import Examples
from ..base.operating_points import measured
from ..preprocessing.column_encoders import MEDIAN
from ..preprocessing.preprocessor import BudgetPreprocessor
from .own_table import CLASSIFICATION
from .saved_model import SavedModel

TEST, VALIDATION = 0.2, 0.25  # of all rows, and of those that are left


@contextmanager
def working(text):
    """Show on a terminal that something is being done, and for how long."""
    bar = tqdm(bar_format=f"{text} … {{elapsed}}", leave=False, disable=None)
    done = Event()

    def tick():
        while not done.wait(0.5):
            bar.refresh()

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        bar.close()


def sampled(table, most, random):
    """Return the rows to fit on: all, or `most` of them drawn at random, classes in proportion."""
    n_rows = len(table.y)
    if n_rows <= most:
        return np.arange(n_rows)
    if table.task == CLASSIFICATION:
        return holdout(table.y, most / n_rows, random)[1]
    return np.sort(random.permutation(n_rows)[:most])


def parts_of(table, rows, test_share, random):
    """Return the rows to train on, to validate with and to hold out."""
    rest, test = _split(table, rows, test_share, random) if test_share else (rows, rows[:0])
    train, valid = _split(table, rest, VALIDATION, random)
    return train, valid, test


def _split(table, rows, share, random):
    if table.task == CLASSIFICATION:
        first, second = holdout(table.y[rows], share, random)
        return rows[first], rows[second]
    order = random.permutation(rows)
    n_second = round(share * rows.size)
    return np.sort(order[n_second:]), np.sort(order[:n_second])


def fit_table(table, estimator, preprocessor, rows, test_share, random, about):
    """Fit an estimator to some rows of a table and measure its operating points.

    Parameters
    ----------
    table : OwnTable
        The data.
    estimator : BudgetedEstimator
        Unfitted, with the prices of the table's columns.
    preprocessor : dict
        Parameters of `BudgetPreprocessor`.
    rows : ndarray of int
        The rows to use.
    test_share : float
        Share of them that is held out for an estimate; 0: none.
    random : RandomState
        What splits the rows.
    about : dict
        What else `SavedModel` keeps: method, budget.

    Returns
    -------
    SavedModel
    """
    train, valid, test = parts_of(table, rows, test_share, random)
    encoder = BudgetPreprocessor(**preprocessor)
    # Words and kinds are those of the whole table, so that none is unknown; medians are learned.
    encoder.fit(table.X.iloc[train if encoder.missing == MEDIAN else rows])
    X_train, X_valid, X_test = (
        encoder.transform(table.X.iloc[part]) for part in (train, valid, test)
    )
    with working(f"Fitting {about['method']} on {train.size:,} rows, {table.X.shape[1]:,} columns"):
        estimator.fit(X_train, table.y[train], X_valid, table.y[valid])
    points = estimator.operating_points_
    curve = points[["cost", "score", "score_se", "n_features"]].copy()
    curve["variables"] = [encoder.original_names(names) for names in points["variables"]]
    if test.size:
        held_out = measured(estimator, _examples(estimator, X_test, table.y[test]))
        curve["test_cost"] = held_out["cost"].to_numpy()
        curve["test_score"] = held_out["score"].to_numpy()
        curve["test_score_se"] = held_out["score_se"].to_numpy()
    return SavedModel(
        preprocessor=encoder,
        model=estimator,
        curve=curve,
        target=table.target,
        task=table.task,
        table=table.name,
        costs=table.costs,
        n_rows=(train.size, valid.size, test.size),
        n_drawn_from=len(table.y) if rows.size < len(table.y) else None,
        **about,
    )


def _examples(estimator, X, y):
    X, _ = estimator._checked(X)
    if not is_classifier(estimator):
        return Examples(X, y, y)
    codes = np.searchsorted(estimator.classes_, y)
    return Examples(X, codes, y)
