"""One run of one method: fit it, walk through its stages, charge them, and return the points.

A method with a `grid` is fitted at each of its settings, one after another; the operating points of
all of them stand side by side, and validation data choose among them as among all others.
"""

import inspect
import itertools
import logging
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
from sklearn.model_selection import ParameterGrid

from ..forest.base import ForestClassifier
from ..sequential.base import SequentialClassifier
from .methods import build
from .records import OK, setting_text
from .scores import SCORES, squared_error

log = logging.getLogger("budgetlearn")


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


def run_method(method, spec, run, n_jobs=1, limit=None, checkpoint=None, fitted=None):
    """Fit a method in one run and return its operating points.

    Parameters
    ----------
    method : str
        Id of the method.
    spec : dict
        `class` and `parameters`, see `budgetlearn.benchmark.methods.build`; and, if wanted, `grid`:
        {parameter: values to fit it with}, a nested parameter written as `estimator__depth`, and
        `seed_as`: the method whose seeds it shares.
    run : Run
        Data, costs and seed.
    n_jobs : int, default=1
        Threads for estimators that take `n_jobs`.
    limit : float, default=None
        Most seconds for fit and evaluation together, all settings of the grid included.
    checkpoint : path-like, default=None
        Where an estimator with a parameter of that name keeps its progress.
    fitted : list, default=None
        Gets every fitted model, for those who want to know more of it than its operating points.

    Returns
    -------
    list of dict
        Rows for `budgetlearn.benchmark.records`. When the method failed or ran out of time, the
        last row has a status that says why; settings after it were not tried.
    """
    head = {"dataset": run.dataset, "costs": run.costs_kind, "method": method, "run": run.number}
    extra = {
        "feature_costs": run.costs,
        "random_state": run.seed(spec.get("seed_as", method)),
        "n_jobs": n_jobs,
        "checkpoint": checkpoint,
    }
    start = time.perf_counter()
    rows, number, setting = [], 0, {}
    try:
        with time_limit(limit):
            for number, setting in enumerate(ParameterGrid(spec.get("grid", {}))):
                model = build(spec, **extra).set_params(**setting)
                seconds = fit(model, run)
                if fitted is not None:
                    fitted.append(model)
                for row in operating_points(model, run, setting):
                    rows.append({"fit": number, "fit_seconds": seconds, **row})
    except FitTimeout as error:
        rows.append({"fit": number, "status": f"timeout: {error}", **_setting(setting)})
    except Exception as error:  # any failure of a method is a result: a row, not a dead study
        log.exception("%s on %s, run %d", method, run.dataset, run.number)
        status = f"failed: {type(error).__name__}: {' '.join(str(error).split())}"
        rows.append({"fit": number, "status": status, **_setting(setting)})
    log.info(
        "%s on %s, %s costs, run %d: %d operating points, %s, %.1f s",
        *(method, run.dataset, run.costs_kind, run.number),
        *(sum(row["status"] == OK for row in rows), rows[-1]["status"]),
        time.perf_counter() - start,
    )
    return [{**head, "stage": i, **row} for i, row in enumerate(rows)]


def _setting(setting):
    """Return the column that tells operating points of one run apart, where there is need.

    A nested parameter goes by its own name.
    """
    own = {name.rpartition("__")[2]: value for name, value in setting.items()}
    return {"setting": setting_text(own)} if own else {}


def fit(model, run):
    """Fit on the training part, with the validation part where `fit` takes it; return seconds."""
    extra = {}
    if "X_val" in inspect.signature(model.fit).parameters:
        extra = {"X_val": run.valid[0], "y_val": run.valid[1]}
    start = time.perf_counter()
    model.fit(*run.train, **extra)
    # What came out of a checkpoint took its time before.
    return time.perf_counter() - start + getattr(model, "resumed_seconds_", 0.0)


def operating_points(model, run, setting=None):
    """Return one row for each stage of a fitted model, charged on validation and test data.

    Parameters
    ----------
    model : estimator
        With `staged_predict` and `staged_acquired_features`, or with `predict` and
        `acquired_features`; ranking asks for `staged_predict_proba` or `predict_proba` instead.
    run : Run
        Its data.
    setting : dict, default=None
        The parameters of the grid that the model was fitted with.

    Returns
    -------
    list of dict
    """
    rows = []
    valid_stages = _told(model) or _charge(model, run, *run.valid, run.valid_queries)
    test_stages = _charge(model, run, *run.test, run.test_queries)
    facts = _stage_facts(model, setting or {})
    for valid, test in zip(valid_stages, test_stages, strict=True):
        row = {
            "cost": test["cost"],
            "cost_fraction": test["cost"] / run.costs.full if run.costs.full else 0.0,
            "n_features": test["n_features"],
            "valid_cost": valid["cost"],
            "valid_score": valid["score"],
            "test_score": test["score"],
            "test_mse": test["mse"],
            "estimated_score": test["estimate"],
            "acquisition_rates": test["rates"],
            "predict_seconds": test["seconds"],
            "status": OK,
        }
        rows.append(row | next(facts))
    return rows


def _stage_facts(model, setting):
    """Yield what is known of each stage beside its costs and scores."""
    if isinstance(model, ForestClassifier):
        n_nodes = 0
        for n_trees, tree in enumerate(model.trees_, start=1):
            n_nodes += tree.node_count
            yield {"n_nodes": n_nodes, **_setting({**setting, "trees": n_trees})}
    elif hasattr(model, "schedule_"):
        schedule = model.schedule_
        for budget, variables in zip(schedule.costs, schedule.variables, strict=True):
            listed = ",".join(map(str, variables))
            yield {"budget": budget, "variables": listed, **_setting(setting)}
    elif isinstance(model, SequentialClassifier):
        for features in range(1, model.n_features_in_ + 1):
            yield _setting({**setting, "features": features})
    elif hasattr(model, "staged_n_nodes"):
        settings = getattr(model, "stage_settings_", None)
        spread = hasattr(model, "staged_node_entropy")
        entropies = model.staged_node_entropy() if spread else itertools.repeat(np.nan)
        for stage, n_nodes in enumerate(model.staged_n_nodes()):
            own = {"nodes": n_nodes} if settings is None else settings[stage]
            facts = {"n_nodes": n_nodes, "node_entropy": next(entropies)}
            yield facts | _setting({**setting, **own})
    else:
        for own in getattr(model, "stage_settings_", itertools.repeat({})):
            yield _setting({**setting, **own})


def _told(model):
    """Return what a model that trains on the validation data measured without having seen it."""
    if not getattr(model, "trains_on_validation", False):
        return None
    return model.operating_points_[["cost", "score"]].to_dict("records")


def _charge(model, run, X, y, queries):
    """Yield scores, mean cost, acquired features on the mean and seconds of each stage.

    A stage of a forest walks through the trees of the stages before it too: its time is the sum.
    Where a model foretells its accuracy, `estimate` is the mean of that.
    """
    score = SCORES[run.task]
    seconds, start = 0.0, time.perf_counter()
    for outcome, acquired, estimate in _stages(model, X, score.output):
        elapsed = time.perf_counter() - start
        seconds = seconds + elapsed if isinstance(model, ForestClassifier) else elapsed
        yield {
            "score": score.function(y, outcome, queries),
            "mse": squared_error(run.task, y, outcome),
            "cost": float(run.costs.total(acquired).mean()),
            "n_features": float(acquired.sum(axis=1).mean()),
            "rates": acquired.mean(axis=0, dtype=np.float32),
            "estimate": float(np.mean(estimate)),
            "seconds": seconds,
        }
        start = time.perf_counter()


def _stages(model, X, output):
    """Yield (outcome of the method `output`, acquired features, estimate or NaN) of each stage."""
    if isinstance(model, SequentialClassifier) and output == "predict":
        for decision in model.staged_decisions(X):
            yield decision.predicted, decision.acquired, decision.estimate
    elif hasattr(model, f"staged_{output}"):
        outcomes = getattr(model, f"staged_{output}")(X)
        stages = zip(outcomes, model.staged_acquired_features(X), strict=True)
        yield from ((*stage, np.nan) for stage in stages)
    else:
        yield getattr(model, output)(X), model.acquired_features(X), np.nan
