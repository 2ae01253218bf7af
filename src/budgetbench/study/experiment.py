"""One run of one method: fit it, walk through its stages, charge them, and return the points.

A method with a `grid` is fitted at each of its settings, one after another, one with a `space` at
settings drawn from it until its tries are spent; the operating points of all of them stand side by
side, and validation data choose among them as among all others.
"""

import hashlib
import inspect
import logging
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from budgetlearn.counting import counting_fits
from budgetlearn.exceptions import IncompletePathWarning

from .evaluation import operating_points, scores_out_of_fold, setting_column, trains_on_validation
from .isolation import isolated
from .methods import build, preload
from .records import OK, PARTIAL
from .tries import settings_of

log = logging.getLogger("budgetlearn")


def run_method(method, spec, run, n_jobs=1, checkpoint=None, fitted=None):
    """Fit a method in one run and yield its operating points, rows for `budgetbench.study.records`.

    `spec` has `class` and `parameters`, see `budgetbench.study.methods.build`; and, if wanted,
    `grid`: {parameter: values to fit it with}, a nested parameter written as `estimator__depth`, or
    `space` and `tries`, see `budgetbench.study.tries.settings_of`; `seconds`: of processors, which
    it may use up after its tries; `seed_as`: the method whose seeds it shares; `refit`: whether
    what is scored on test data is fitted again on training and validation data together, where fit
    never sees the latter.

    An estimator with a parameter `checkpoint` keeps its progress there. `fitted`, a list, gets
    every fitted model, for those who want to know more of it than its operating points.

    When the method failed, the last row has a status that says why; settings after it were not
    tried. After the points of a fit that ended early (see `IncompletePathWarning`), which count as
    all others, comes a row whose status is "partial: " and the reason.
    """
    extra = {
        "feature_costs": run.costs,
        "random_state": run.seed(spec.get("seed_as", method)),
        "n_jobs": n_jobs,
        "checkpoint": checkpoint,
    }
    start = time.perf_counter()
    stage, number, spent, setting, status = 0, 0, 0.0, {}, OK
    settings = settings_of(method, spec, run.study_seed, run.dataset)
    try:
        for number, setting in enumerate(settings):
            # After the tries, only seconds that another method used are left to spend.
            if number >= spec.get("tries", np.inf) and spent >= spec.get("seconds", 0.0):
                break
            # A new estimator for each setting: nothing is left over from the fit before.
            model = build(spec, **extra).set_params(**setting)
            known, rows = _points_of(model, spec, run, setting)
            spent += known["processor_seconds"]
            if fitted is not None:
                fitted.append(model)
            for row in rows:
                yield {**head(method, run, stage, number), **known, **row}
                stage += 1
    except Exception as error:  # any failure of a method is a result: a row, not a dead study
        log.exception("%s on %s, run %d", method, run.dataset, run.number)
        status = f"failed: {type(error).__name__}: {' '.join(str(error).split())}"
        yield {**head(method, run, stage, number), "status": status, **setting_column(setting)}
    log.info(
        "%s on %s, %s costs, run %d: %d operating points, %s, %.1f s",
        *(method, run.dataset, run.costs_kind, run.number, stage, status),
        time.perf_counter() - start,
    )


@contextmanager
def _ended_early():
    """Collect what fits tell of ending early; other warnings are shown as ever."""
    reasons, show = [], warnings.showwarning

    def note(message, category, *where):
        if issubclass(category, IncompletePathWarning):
            reasons.append(str(message))
        else:
            show(message, category, *where)

    with warnings.catch_warnings():
        warnings.simplefilter("always", IncompletePathWarning)
        warnings.showwarning = note
        yield reasons


def _points_of(model, spec, run, setting):
    """Fit a model; return what its rows have in common, and the rows of its operating points."""
    # Of all threads of this process together, where the clock knows only the longest.
    processor = time.process_time()
    with _ended_early() as reasons, counting_fits() as count:
        seconds, final = fit(model, run), None
        if spec.get("refit"):
            start = time.perf_counter()
            # The choice among operating points was made before, on data the model had not seen.
            final = refitted(model, run)
            seconds += time.perf_counter() - start
    known = {
        "fit_seconds": seconds,
        "processor_seconds": time.process_time() - processor + _resumed_seconds(model),
        "n_fitted": count.total,
    }
    rows = operating_points(model, run, setting, final)
    # A schedule without a model would be a run without a row, which looks like one not done.
    if not rows:
        raise ValueError(f"{spec['class']} has no stages, so there is nothing to predict with")
    if reasons:
        rows.append({"status": f"{PARTIAL}: {reasons[0]}", **setting_column(setting)})
    return known, rows


def head(method, run, stage, number):
    """Return the columns that name the row of a stage, in the fit of that number, in a run."""
    names = {"dataset": run.dataset, "costs": run.costs_kind, "method": method, "run": run.number}
    return {**names, "stage": stage, "fit": number}


def refitted(model, run):
    """Return the model fitted again on training and validation data.

    None where fit sees both, and where a second fit has operating points of its own.
    """
    if _sees_validation(model, run) or scores_out_of_fold(model):
        return None
    both = (np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True))
    return clone(model).fit(*both)


def _sees_validation(model, run):
    """Tell whether the fit of a model uses validation data."""
    if scores_out_of_fold(model) and not trains_on_validation(model, run):
        return False
    chooses = getattr(get_tags(model), "chooses_on_validation", True)
    return chooses and "X_val" in inspect.signature(model.fit).parameters


def fit(model, run):
    """Fit on the training part, with the validation part where `fit` uses it; return seconds."""
    extra = {}
    if _sees_validation(model, run):
        extra = {"X_val": run.valid[0], "y_val": run.valid[1]}
    start = time.perf_counter()
    model.fit(*run.train, **extra)
    # What came out of a checkpoint took its time before.
    return time.perf_counter() - start + _resumed_seconds(model)


def _resumed_seconds(model):
    return getattr(model, "resumed_seconds_", 0.0)


def limited_run(method, spec, run, n_jobs=1, checkpoint=None, time_limit=None, memory_limit=None):
    """Run a method in a process of its own."""
    # Before the fork, so that every run does not import the same modules again.
    preload(spec)
    rows, problem = isolated(
        run_method,
        *(method, spec, run, n_jobs, checkpoint),
        time_limit=time_limit,
        memory_limit=memory_limit,
        threads=n_jobs,
    )
    return rows if problem is None else [*rows, failed_row(method, run, problem, rows)]


def failed_row(method, run, status, rows=()):
    """Return the row that says why a run of a method has no result, or none beyond `rows`."""
    number = rows[-1]["fit"] if rows else 0
    return {**head(method, run, len(rows), number), "status": status}


def checkpoint_file(folder, spec, run, code):
    """Return the file of a run's progress.

    The name changes with the specification and the code, so that nothing outdated is gone on from.
    """
    state = hashlib.sha256(f"{spec} {run.study_seed} {code}".encode()).hexdigest()[:16]
    return Path(folder) / f"{run.number}-{state}.part"


def resumable_run(method, spec, run, folder, code, n_jobs=1, **limits):
    """Return the points of a method that may keep its progress in a file (`ExhaustiveSearch` does).

    `folder` has its files: `<run>.csv` once the run is complete; until then `checkpoint_file`,
    which the fingerprint `code` names. `limits` are as for `limited_run`, all else as for
    `run_method`.
    """
    unfinished = checkpoint_file(folder, spec, run, code)
    rows = limited_run(method, spec, run, n_jobs, checkpoint=unfinished, **limits)
    # Renamed only now: `solution_space` takes what has the plain name for complete.
    if unfinished.exists() and all(row["status"] == OK for row in rows):
        unfinished.replace(unfinished.with_name(f"{run.number}.csv"))
    return rows
