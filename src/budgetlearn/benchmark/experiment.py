"""One run of one method: fit it, walk through its stages, charge them, and return the points."""

import inspect
import logging
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from .methods import build
from .records import OK

log = logging.getLogger("budgetlearn")

SCORES = {"classification": accuracy_score, "regression": r2_score}


class FitTimeout(Exception):
    """The method used up its time."""


@contextmanager
def time_limit(seconds):
    """Raise `FitTimeout` in the block once `seconds` have passed (None: never).

    Interrupts between two Python instructions, and only in the main thread, where jobs run.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def expire(signum, frame):
        raise FitTimeout(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_method(method, spec, run, n_jobs=1, limit=None):
    """Fit a method in one run and return its operating points.

    Parameters
    ----------
    method : str
        Id of the method.
    spec : dict
        `class` and `parameters`, see `budgetlearn.benchmark.methods.build`.
    run : Run
        Data, costs and seed.
    n_jobs : int, default=1
        Threads for estimators that take `n_jobs`.
    limit : float, default=None
        Most seconds for fit and evaluation together.

    Returns
    -------
    list of dict
        Rows for `budgetlearn.benchmark.records`; one row with a status that says why, when the
        method failed or ran out of time.
    """
    head = {
        "dataset": run.dataset,
        "costs": run.costs_kind,
        "method": method,
        "run": run.number,
    }
    start = time.perf_counter()
    try:
        with time_limit(limit):
            model = build(
                spec, feature_costs=run.costs, random_state=run.seed(method), n_jobs=n_jobs
            )
            fit_seconds = fit(model, run)
            rows = operating_points(model, run)
    except FitTimeout as error:
        rows, fit_seconds = [{"status": f"timeout: {error}"}], np.nan
    except Exception as error:  # any failure of a method is a result: a row, not a dead study
        log.exception("%s on %s, run %d", method, run.dataset, run.number)
        message = " ".join(str(error).split())
        rows, fit_seconds = [{"status": f"failed: {type(error).__name__}: {message}"}], np.nan
    log.info(
        "%s on %s, %s costs, run %d: %s, %.1f s",
        method,
        run.dataset,
        run.costs_kind,
        run.number,
        rows[0].get("status", f"{len(rows)} operating points"),
        time.perf_counter() - start,
    )
    return [{**head, "stage": i, "fit_seconds": fit_seconds, **row} for i, row in enumerate(rows)]


def fit(model, run):
    """Fit on the training part, with the validation part where `fit` takes it; return seconds."""
    extra = {}
    if "X_val" in inspect.signature(model.fit).parameters:
        extra = {"X_val": run.valid[0], "y_val": run.valid[1]}
    start = time.perf_counter()
    model.fit(*run.train, **extra)
    return time.perf_counter() - start


def operating_points(model, run):
    """Return one row for each stage of a fitted model, charged on validation and test data.

    Parameters
    ----------
    model : estimator
        With `staged_predict` and `staged_acquired_features`, or with `predict` and
        `acquired_features`.
    run : Run
        Its data.

    Returns
    -------
    list of dict
    """
    schedule = getattr(model, "schedule_", None)
    rows = []
    stages = zip(_charge(model, *run.valid, run), _charge(model, *run.test, run), strict=True)
    for stage, (valid, test) in enumerate(stages):
        row = {
            "cost": test["cost"],
            "cost_fraction": test["cost"] / run.costs.full if run.costs.full else 0.0,
            "n_features": test["n_features"],
            "valid_cost": valid["cost"],
            "valid_score": valid["score"],
            "test_score": test["score"],
            "predict_seconds": test["seconds"],
            "status": OK,
        }
        if schedule is not None:
            row["budget"] = schedule.costs[stage]
            row["variables"] = ",".join(map(str, schedule.variables[stage]))
        rows.append(row)
    return rows


def _charge(model, X, y, run):
    """Yield score, mean cost, mean number of acquired features and seconds of each stage."""
    score = SCORES[run.task]
    start = time.perf_counter()
    for predicted, acquired in _stages(model, X):
        seconds = time.perf_counter() - start
        yield {
            "score": float(score(y, predicted)),
            "cost": float(run.costs.total(acquired).mean()),
            "n_features": float(acquired.sum(axis=1).mean()),
            "seconds": seconds,
        }
        start = time.perf_counter()


def _stages(model, X):
    """Yield (predictions, acquired features) of each stage."""
    if hasattr(model, "staged_predict"):
        yield from zip(model.staged_predict(X), model.staged_acquired_features(X), strict=True)
    else:
        yield model.predict(X), model.acquired_features(X)
