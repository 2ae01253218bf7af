"""Fit a method to a user's table, and measure what it costs and scores."""

from contextlib import contextmanager
from threading import Event, Thread

import numpy as np
from tqdm import tqdm

import budgetlearn

from ..exceptions import DatasetError
from ..preprocessing.column_encoders import MEDIAN
from ..preprocessing.preprocessor import BudgetPreprocessor
from ..validation import holdout
from .saved_model import SavedModel
from .table import CLASSIFICATION

TEST, VALIDATION = 0.2, 0.25  # of all rows, and of those that are left
CALIBRATION = 0.25  # of those that are not held out, before any is for validation
CONFIDENCE = 0.95
FEWEST_OF_CLASS = 4  # two train, one validates, one is held out


@contextmanager
def working(text):
    """Show on a terminal that something is being done, and for how long."""
    bar = tqdm(bar_format=f"{text} … {{elapsed}}", leave=False, disable=None)
    done = Event()

    def tick():
        while not done.wait(0.5):
            bar.refresh()

    # A daemon: an error in the block must not wait for the clock.
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


def parts_of(table, rows, random, guaranteed=False):
    """Return the rows to train on, to validate with, to hold out, and to calibrate with."""
    _refuse_rare_classes(table, rows)
    # The held-out rows are drawn first: they are the same with and without --guaranteed.
    rest, test = _split(table, rows, TEST, random)
    rest, calibration = _split(table, rest, CALIBRATION, random) if guaranteed else (rest, rest[:0])
    train, valid = _split(table, rest, VALIDATION, random)
    return train, valid, test, calibration


def _refuse_rare_classes(table, rows):
    """Refuse classes that would be in no part but the training data."""
    if table.task != CLASSIFICATION:
        return
    labels, codes = np.unique(table.y, return_inverse=True)
    counts = np.bincount(codes[rows], minlength=labels.size)
    rare = np.flatnonzero(counts < FEWEST_OF_CLASS)
    if rare.size:
        first, count = str(labels[rare[0]]), counts[rare[0]]
        more = f" ({rare.size} classes have so few)" if rare.size > 1 else ""
        raise DatasetError(
            f"The target {table.target!r} has the class {first!r} in {count} of {rows.size} rows"
            f"{more}: too few to train, to validate and to hold out. Leave these rows out, or "
            f"write a class that has {FEWEST_OF_CLASS} rows or more, such as 'other'."
        )


def _split(table, rows, share, random):
    # Classes in proportion, so that a rare one is in every part.
    if table.task == CLASSIFICATION:
        first, second = holdout(table.y[rows], share, random)
        return rows[first], rows[second]
    order = random.permutation(rows)
    n_second = round(share * rows.size)
    return np.sort(order[n_second:]), np.sort(order[:n_second])


def fit_table(table, estimator, preprocessor, rows, random, about, guaranteed=False):
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
    random : RandomState
        What splits the rows.
    about : dict
        What else `SavedModel` keeps: method, budget.
    guaranteed : bool, default=False
        Whether the budget is to be kept with 95 % confidence.

    Returns
    -------
    SavedModel
    """
    parts = parts_of(table, rows, random, guaranteed)
    train = parts[0]
    encoder = BudgetPreprocessor(**preprocessor)
    # Words and kinds are those of the whole table, so that none is unknown; medians are learned.
    encoder.fit(table.X.iloc[train if encoder.missing == MEDIAN else rows])
    train_data, valid_data, test_data, calibration_data = (
        (encoder.transform(table.X.iloc[part]), table.y[part]) for part in parts
    )
    # The bar says what takes long; preparing the table does not.
    with working(f"Fitting {about['method']} on {train.size:,} rows, {table.X.shape[1]:,} columns"):
        estimator.fit(*train_data, *valid_data)
    certificate = None
    if guaranteed:
        limits = {"cost": about["budget"], "confidence": CONFIDENCE}
        certificate = estimator.certify(*calibration_data, **limits)
    return SavedModel(
        preprocessor=encoder,
        model=estimator,
        curve=_curve(estimator, encoder, *test_data),
        free=_free(table, encoder, train_data, valid_data, test_data),
        target=table.target,
        task=table.task,
        table=table.name,
        costs=table.costs,
        n_rows=tuple(part.size for part in parts),
        n_drawn_from=len(table.y) if rows.size < len(table.y) else None,
        certificate=certificate,
        reading=table.reading,
        **about,
    )


def _curve(estimator, encoder, X_test, y_test):
    """Return the costs and scores of a fitted estimator, as `SavedModel` keeps them."""
    points = estimator.operating_points_
    curve = points[["cost", "score", "score_se", "n_features"]].copy()
    curve["variables"] = [encoder.original_names(names) for names in points["variables"]]
    held_out = estimator.measure(X_test, y_test)
    for name in ("cost", "score", "score_se"):
        curve[f"test_{name}"] = held_out[name].to_numpy()
    curve["test_cost_sd"] = 0.0
    if estimator.fixed_costs() is None:
        stages = estimator.stages(X_test, {"acquired"})
        # Equal costs have a spread of 0, not of what summing them leaves.
        curve["test_cost_sd"] = [stage.cost.std() * bool(np.ptp(stage.cost)) for stage in stages]
    return curve


def _free(table, encoder, train, valid, test):
    """Return the prediction and the scores of the free constant."""
    kind = "Classifier" if table.task == CLASSIFICATION else "Regressor"
    made = getattr(budgetlearn, f"FreeConstant{kind}")().fit(*train, *valid)
    row = _curve(made, encoder, *test).iloc[0]
    scores = ("score", "score_se", "test_score", "test_score_se")
    return {"says": made.predict(test[0])[0], **{name: float(row[name]) for name in scores}}
