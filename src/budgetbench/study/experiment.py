"""Fit a method in one run at each of its settings, and return rows for `records`.

Stages are charged and scored on validation and test data; validation scores choose among them.
"""

import hashlib
import inspect
import logging
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from budgetlearn.exceptions import ConfigError, IncompletePathWarning, heard
from budgetlearn.fit_counts import counting_fits, fit_counted
from budgetlearn.metrics import average_precision_at_5
from budgetlearn.protocol import BudgetedEstimator, Stage
from budgetlearn.protocol.scoring import SCORES, scores_of, stage_scorer
from budgetlearn.validation import derive_seed

from . import records
from .isolation import failure, isolated
from .methods import build, classes_of, resolve
from .records import OK, PARTIAL, setting_text, variables_text

log = logging.getLogger("budgetlearn")
OUT_OF_FOLD = "out_of_fold"  # a value of `refit`
# With `seconds_of`, a method whose fits take no time ends after this many times `tries` settings.
MOST_MORE = 20


def settings_of(method, spec, study_seed, dataset):
    """Return the settings to fit a method with, in the order in which to try them.

    A grid gives all its combinations. A space gives the method's own setting and `tries` − 1 draws
    less repetitions; with `seconds_of`, `MOST_MORE` times as many, tried while seconds are left.
    """
    if "space" not in spec:
        return list(ParameterGrid(spec.get("grid", {})))
    spaces = spec["space"] if isinstance(spec["space"], list) else [spec["space"]]
    # The seed does not depend on the run, so all runs of a data set try the same settings.
    random = np.random.default_rng(derive_seed(study_seed, dataset, method, "space"))
    settings = [{}]
    more = MOST_MORE if "seconds_of" in spec else 1
    for _ in range(spec["tries"] * more - 1):
        space = spaces[random.integers(len(spaces))]
        # By the last name, so that neither the file's order nor a parameter's group changes draws.
        names = sorted(space, key=lambda name: name.rpartition("__")[2])
        drawn = {name: _drawn(space[name], random) for name in names}
        if drawn not in settings:
            settings.append(drawn)
    return settings


def _drawn(values, random):
    if isinstance(values, list):
        return values[random.integers(len(values))]
    low, high = values["low"], values["high"]
    if values.get("log"):
        number = float(np.exp(random.uniform(np.log(low), np.log(high))))
    else:
        number = float(random.uniform(low, high))
    # Three digits, so that a setting survives being written to a file and read again.
    return round(number) if values.get("integer") else float(f"{number:.3g}")


def with_seconds(spec, run, files):
    """Return a specification with the processor seconds of another method, read from its points."""
    if not files:
        return spec
    points = records.read(files)
    fits = points[points["run"] == run].drop_duplicates("fit")
    return {**spec, "seconds": float(fits["processor_seconds"].sum())}


def run_method(method, spec, run, n_jobs=1, checkpoint=None, fitted=None):
    """Fit a method in one run and yield its operating points as rows for `records`.

    In addition to the keys that `build` takes, `spec` may have `grid`, or `space` and `tries` (see
    `settings_of`); `seconds`, the processor seconds for settings after the tries; `seed_as`, the
    method whose seeds it shares; and `refit` (see config/README.md). An estimator with a parameter
    `checkpoint` keeps its progress in that file. Every fitted model is appended to the list
    `fitted`.

    A setting that fails has a row whose status is the reason, and the next settings are tried. Of a
    fit that ends early (see `IncompletePathWarning`), a last row has the status "partial: …".
    """
    extra = {
        "feature_costs": run.costs,
        "random_state": run.seed(spec.get("seed_as", method)),
        "n_jobs": n_jobs,
        "checkpoint": checkpoint,
    }
    start = time.perf_counter()
    stage, spent, status = 0, 0.0, OK
    for number, setting in enumerate(settings_of(method, spec, run.study_seed, run.dataset)):
        # After its tries, a method may go on for the seconds that another method used.
        if number >= spec.get("tries", np.inf) and spent >= spec.get("seconds", 0.0):
            break
        known, processor = {}, time.process_time()
        try:
            # A new estimator for each setting, so that no state of an earlier fit remains.
            model = build(spec, **extra).set_params(**setting)
            known, rows = _points_of(model, spec, run, setting)
            if fitted is not None:
                fitted.append(model)
        except Exception as error:  # recorded as a row, as a failure must not stop the study
            log.exception("%s on %s, run %d", method, run.dataset, run.number)
            status = failure(error)
            rows = [{"status": status, **setting_column(setting)}]
        spent += known.get("processor_seconds", time.process_time() - processor)
        for row in rows:
            yield {**identity(method, run, stage, number), **known, **row}
            stage += 1
    what = method, run.dataset, run.costs_kind, run.number, stage, status
    text = "%s on %s, %s costs, run %d: %d operating points, %s, %.1f s"
    log.info(text, *what, time.perf_counter() - start)


def _points_of(model, spec, run, setting):
    """Fit a model; return the columns shared by all its rows, and the rows of its points."""
    start, processor, reasons = time.perf_counter(), time.process_time(), []
    by_folds = spec.get("refit") == OUT_OF_FOLD and _folds_measure(model, run)
    with heard(IncompletePathWarning, reasons.append), counting_fits() as count:
        if by_folds:
            fit_counted(model, *_both_parts(run))
            _ = model.operating_points_  # measured now, since its refits belong to the seconds
        else:
            fit(model, run)
        # Only for test data: validation data measure the first model, which has not seen them.
        final = refitted(model, run) if spec.get("refit") and not by_folds else None
    # Seconds of earlier, interrupted calls, from the checkpoint.
    resumed = getattr(model, "resumed_seconds_", 0.0)
    known = {
        "fit_seconds": time.perf_counter() - start + resumed,
        # The sum over all threads of this process.
        "processor_seconds": time.process_time() - processor + resumed,
        "n_fitted": sum(count),
    }
    rows = operating_points(model, run, setting, final, spec.get("scoring"), by_folds)
    # A run without rows would look like a run that was never done.
    if not rows:
        raise ValueError(f"{spec['class']} has no stages, so there is nothing to predict with")
    if reasons:
        rows.append({"status": f"{PARTIAL}: {reasons[0]}", **setting_column(setting)})
    return known, rows


def fit(model, run):
    """Fit on the training part, and pass the validation part to a `fit` that uses it."""
    extra = {"X_val": run.valid[0], "y_val": run.valid[1]} if _sees_validation(model, run) else {}
    fit_counted(model, *run.train, **extra)


def refitted(model, run):
    """Return the model fitted again on training and validation data; None if `fit` saw both."""
    if _sees_validation(model, run) or scores_out_of_fold(model):
        return None
    fit_counted(again := clone(model), *_both_parts(run))  # users forget to return self
    return again


def _both_parts(run):
    return [np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True)]


def _folds_measure(model, run):
    """Return True if folds of training and validation data can measure a model instead of `fit`."""
    if scores_out_of_fold(model) or _sees_validation(model, run):
        return False
    return isinstance(model, BudgetedEstimator) and run.task != "ranking"  # folds know no queries


def _sees_validation(model, run):
    if run.task == "ranking" and scores_out_of_fold(model):
        return False
    chooses = getattr(get_tags(model), "chooses_on_validation", True)
    return chooses and "X_val" in inspect.signature(model.fit).parameters


def identity(method, run, stage, number):
    """Return the columns that identify the row of a stage: run, method, stage and fit."""
    names = {"dataset": run.dataset, "costs": run.costs_kind, "method": method, "run": run.number}
    return {**names, "stage": stage, "fit": number}


def in_own_process(function, method, spec, run, n_jobs, *more, **limits):
    """Call a generator function in a separate process; return its items and why it ended early."""
    # Imported before the fork, so that runs do not repeat the imports.
    for name in classes_of(spec):
        with suppress(ConfigError):  # a class that cannot be imported fails in the run
            resolve(name)
    return isolated(function, method, spec, run, n_jobs, *more, threads=n_jobs, **limits)


def failed_row(method, run, status, rows=()):
    """Return the row with the reason why a run of a method has no results after `rows`."""
    return {**identity(method, run, len(rows), rows[-1]["fit"] if rows else 0), "status": status}


def resumable_run(method, spec, run, folder, code, n_jobs=1, **limits):
    """Run a method in a separate process, with the limits of `isolated`, and return its rows."""
    # `ExhaustiveSearch` keeps its progress there.
    unfinished = checkpoint_file(folder, spec, run, code)
    rows, problem = in_own_process(run_method, method, spec, run, n_jobs, unfinished, **limits)
    if problem is not None:
        rows.append(failed_row(method, run, problem, rows))
    # `solution_space` takes a file with the plain name for complete.
    if unfinished.exists() and all(row["status"] == OK for row in rows):
        unfinished.replace(unfinished.with_name(f"{run.number}.csv"))
    return rows


def checkpoint_file(folder, spec, run, code):
    """Return the file of a run's progress, whose name depends on the specification and code."""
    state = hashlib.sha256(f"{spec} {run.study_seed} {code}".encode()).hexdigest()[:16]
    return Path(folder) / f"{run.number}-{state}.part"


def setting_column(setting):
    """Return the column `setting`, or none if it is empty; parameters have their last names."""
    own = {name.rpartition("__")[2]: value for name, value in setting.items()}
    return {"setting": setting_text(own)} if own else {}


def operating_points(model, run, setting=None, final=None, scoring=None, by_folds=False):
    """Return a row for each stage of a fitted model, measured on validation and test data.

    An estimator with `acquired_features` instead of `stages` has one stage. `setting` has the
    model's parameters from the grid or space. `final`, if given, is the model fitted again, which
    predicts the test data. `scoring` names the score; None: the task's. With `by_folds`, the
    model's own points replace those of validation data, which it has seen.
    """
    rows, scored, scoring = [], final or model, scoring or scores_of(run.task)[0]
    before = []  # `before` of `_with_features`
    # Both are generators, so only one stage of each part is in memory.
    valid_stages = _charged(model, run, scoring, *run.valid, run.valid_queries)
    by_folds = by_folds or (run.task != "ranking" and scores_out_of_fold(model))
    if by_folds:  # its own means count
        points = model.operating_points_[["cost", "score"]].to_dict("records")
        own = zip(valid_stages, points, strict=True)
        valid_stages = ((stage, valid | point) for (stage, valid), point in own)
    test_stages = _charged(scored, run, scoring, *run.test, run.test_queries, run.choosing)
    both = zip(valid_stages, test_stages, strict=True)
    for index, ((_, valid), (stage, test)) in enumerate(both):
        row = {
            "cost_fraction": test["cost"] / run.costs.full if run.costs.full else 0.0,
            "n_nodes": stage.nodes,
            # Only sums of trees have a size in bytes.
            "n_bytes": scored.stored_bytes(index) if hasattr(scored, "stages") else np.nan,
            "valid_cost": valid["cost"],
            "valid_cost_max": valid["cost_max"],
            "valid_score": valid["score"],
            "test_score": test.pop("score"),
            "status": OK,
            **test,
        }
        facts = dict(stage.facts)
        if "variables" in facts:
            facts["variables"] = variables_text(facts["variables"])
        rows.append(row | facts | setting_column({**(setting or {}), **stage.setting}))
        before.append((valid["n_features"] > 0, stage.setting.get("trees")))
    return rows if final is None else _with_features(rows, before)


def _with_features(rows, before):
    """Return the rows, with another stage's results where a refit has lost all features."""
    # Where a first split barely pays, a model chosen for its features may have a refit without any.
    # Then another refitted stage takes its place: of those with as many trees, that of the nearest
    # cost on validation data. `before` has, for each row, whether the first model acquired
    # features, and its number of trees, if it names one.
    with_some = [
        (row, trees) for row, (_, trees) in zip(rows, before, strict=True) if row["n_features"] > 0
    ]

    def replaced(row, had_features, trees):
        if not had_features or row["n_features"] > 0:
            return row
        alike = (other for other, its_trees in with_some if its_trees == trees)
        nearest = min(alike, key=lambda other: abs(other["cost"] - row["valid_cost"]), default=row)
        kept = ("valid_cost", "valid_cost_max", "valid_score", "setting")
        return nearest | {name: row[name] for name in kept if name in row}

    return [replaced(row, *first) for row, first in zip(rows, before, strict=True)]


def scores_out_of_fold(model):
    """Return True if a model also learns from validation data, and measures itself out of fold."""
    return getattr(model, "trains_on_validation", False) or getattr(model, "refit", False) is True


def _charged(model, run, scoring, X, y, queries, choosing=None):
    """Yield each stage with a dictionary of its measurements: score, costs, seconds and more."""
    # Probabilities are computed only if the score needs them.
    part = "probabilities" if SCORES[scoring].probabilities else "output"
    seconds, start = 0.0, time.perf_counter()
    for stage in _stages(model, X, part):
        elapsed = time.perf_counter() - start
        # A stage that continues the one before includes its time.
        seconds = seconds + elapsed if stage.incremental else elapsed
        _check_stage(model, scoring, stage, part, X.shape)
        # The run charges all methods alike; no method reports its own cost.
        acquired = np.asarray(stage.acquired, dtype=bool)
        paid = run.costs.total(acquired)
        score = _scorer(model, scoring, stage, y, queries)
        of_all = score(np.arange(len(y)))
        if not np.isfinite(of_all):  # a NaN would stop the whole report
            raise ValueError(f"{scoring} of {len(y)} rows is {of_all}: enlarge that part")
        choice, held_out = np.nan, np.nan
        if choosing is not None:
            # NaN for a half with too few rows for a score.
            sides = np.flatnonzero(choosing), np.flatnonzero(~choosing)
            choice, held_out = (score(side) if len(side) > 1 else np.nan for side in sides)
        square = mean_squared_error(y, stage.output) if run.task == "regression" else np.nan
        estimate = np.nan if stage.estimate is None else stage.estimate.mean()
        measured = {
            "score": of_all,
            "choice_score": choice,
            "held_out_score": held_out,
            "test_mse": float(square),
            "cost": float(paid.mean()),
            "cost_p95": float(np.quantile(paid, 0.95)),
            "cost_max": float(paid.max()),
            "n_features": float(acquired.sum(axis=1).mean()),
            "acquisition_rates": acquired.mean(axis=0, dtype=np.float32),
            "estimated_score": float(estimate),
            "predict_seconds": seconds,
            "added_seconds": elapsed,
        }
        yield stage, measured
        # Restarted, because scoring and charging are not the method's work.
        start = time.perf_counter()


def _check_stage(model, scoring, stage, part, shape):
    """Refuse output that numpy would silently broadcast or score although it is wrong."""
    who, predicted = type(model).__name__, getattr(stage, part)
    if predicted is None:
        raise ConfigError(f"{who} gives no {part}, which {scoring} needs.")
    columns = (len(model.classes_),) if part == "probabilities" else ()
    for name, expected in ((part, (shape[0], *columns)), ("acquired", shape)):
        if np.shape(found := getattr(stage, name)) != expected:
            raise ConfigError(f"{who} gives {name} of shape {np.shape(found)}, not {expected}.")
    if columns and not np.allclose(np.sum(predicted, axis=1), 1, atol=1e-3):  # refuses NaN, too
        raise ConfigError(f"{who} gives probabilities that do not sum to 1.")
    if np.asarray(found).dtype != bool and not np.isin(found, (0, 1)).all():
        raise ConfigError(f"{who} gives acquired with values other than true and false.")
    alike = np.asarray(predicted)[~np.asarray(found, dtype=bool).any(axis=1)]
    if alike.dtype.kind in "biuf" and not np.allclose(alike, alike[:1]):
        raise ConfigError(f"{who} gives {part} that differs between rows that acquire nothing.")


def _scorer(model, scoring, stage, y, queries):
    """Return score(rows) of a stage's predictions."""
    if scoring == "accuracy" and np.asarray(stage.output).dtype.kind == "i":
        # With many stages, scikit-learn's checks would take longer than the fit.
        right = stage.output == y
        return lambda rows: float(right[rows].mean())
    if queries is None:
        return stage_scorer(model, scoring, stage, y)
    shares = stage.probabilities[:, 1]  # of the relevant documents
    return lambda rows: average_precision_at_5(y[rows], shares[rows], queries[rows])


def _stages(model, X, part):
    if hasattr(model, "stages"):
        return model.stages(X, {part, "acquired", "estimate"})
    predict = model.predict if part == "output" else model.predict_proba
    return [Stage({}, **{part: predict(X)}, acquired=model.acquired_features(X))]
