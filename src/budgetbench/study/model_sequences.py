"""msB split into jobs: importance, each model sequence, their schedule; and the solution space."""

import inspect
import time
from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.curves import pareto_indices
from budgetlearn.exceptions import ConfigError
from budgetlearn.msb.search import NoModelError
from budgetlearn.msb.sequences import SEQUENCES

from .experiment import failed_row, in_own_process, run_method
from .methods import build, resolve, sequence_name
from .records import OK, PARTIAL, is_failure, parse_variables, variables_text
from .runs import profiles_of

SECONDS = ["seconds", "processor_seconds"]
_ADDED = ["fit_seconds", "processor_seconds", "n_fitted"]
_FAILED, _EMPTY = (f"{word}: {NoModelError.__name__}" for word in ("failed", PARTIAL))


def importance_table(method, spec, runs, n_jobs=1, **limits):
    """Return the permutation importance of each variable in each run, used by all cost profiles."""
    frames, columns = [], ["variable", "importance", *SECONDS]
    for run in runs:
        # Isolated like every fit, so that a failure becomes a row.
        found, problem = in_own_process(_importance, method, spec, run, n_jobs, **limits)
        frame = pd.DataFrame(columns=columns, index=[0]) if problem else found[0]
        frames.append(frame.assign(run=run.number, status=problem or OK))
    return pd.concat(frames, ignore_index=True)[["run", *columns, "status"]]


def _importance(method, spec, run, n_jobs):
    """Yield a frame of the variables' importance in one run, with the `SECONDS` it took."""
    # The seed of the sequences, which all use this importance.
    search = build(spec, random_state=run.seed(spec.get("seed_as", method)), n_jobs=n_jobs)
    start, processor = time.perf_counter(), time.process_time()
    importance = search.variable_importance(*run.train, *run.valid)
    taken = time.perf_counter() - start, time.process_time() - processor
    frame = pd.DataFrame({"importance": importance}).rename_axis("variable").reset_index()
    yield frame.assign(**dict(zip(SECONDS, taken, strict=True)))


def sequence_points(method, spec, sequence, run, importance, n_jobs=1, **limits):
    """Return the operating points of one sequence's schedule, and a frame of all visited models."""
    # Only models in a sequence's own schedule can be in msB's: a model that is beaten by a cheaper
    # one of its own sequence is beaten in the union as well.
    entries = {sequence_name(entry): entry for entry in spec["parameters"]["sequences"]}
    part = importance[importance["run"] == run.number].sort_values("variable")
    status = part["status"].iloc[0]
    if status != OK:
        return [failed_row(method, run, status)], _visited([], run.number, sequence)
    entry = entries[sequence]
    if isinstance(entry, str):
        if entry not in SEQUENCES:
            raise ConfigError(f"unknown sequence {entry!r}; known: {', '.join(SEQUENCES)}.")
        entry = {"class": f"{SEQUENCES[entry].__module__}.{SEQUENCES[entry].__name__}"}
    wants = "importance" in inspect.signature(resolve(entry["class"])).parameters
    given = {"importance": part["importance"].tolist()} if wants else {}
    entry = {"class": entry["class"], "parameters": given | entry.get("parameters", {})}
    alone = {**spec, "parameters": {**spec["parameters"], "sequences": [entry]}}
    # The importance was computed in another job, but its time counts for this run.
    if limits.get("time_limit") is not None:
        limits["time_limit"] -= part["seconds"].iloc[0]
    found, problem = in_own_process(_sequence, method, alone, run, n_jobs, **limits)
    # The list of visited models comes last, unless the search ended early.
    models = found.pop() if found and isinstance(found[-1], list) else []
    if problem is not None:
        found.append(failed_row(method, run, problem, found))
    # A sequence without models is no failure, as others may have some: see `schedule_points`.
    found = [row | {"status": row["status"].replace(_FAILED, _EMPTY, 1)} for row in found]
    return found, _visited(models, run.number, sequence)


def _sequence(method, spec, run, n_jobs):
    """Yield the operating points of a search with one sequence, then the list of visited models."""
    fitted = []
    yield from run_method(method, spec, run, n_jobs, fitted=fitted)
    models = (model for search in fitted for model in next(iter(search.sequences_.values())))
    yield [(variables_text(model.variables), model.cost, model.score) for model in models]


def _visited(models, run, sequence):
    rows = [(run, sequence, step, *model) for step, model in enumerate(models)]
    return pd.DataFrame(rows, columns=["run", "sequence", "step", "variables", "cost", "score"])


def schedule_points(points, importance, time_limit=None):
    """Merge the sequences of each run into msB's schedule (algorithm 3.1 of Yan et al.)."""
    # `time_limit` applies to the importance and all sequences of a run together, although these are
    # separate jobs. If a sequence failed or all together took too long, the run has only a row with
    # that status. If a sequence ended early, such a row follows the points. A sequence without
    # models, such as the L1 path if one variable determines the class, is only a failure if all
    # are.
    frames = []
    for number, part in points.groupby("run", sort=True):
        if (empty := part["status"].str.startswith(_EMPTY)).all():
            part = part.assign(status=part["status"].str.replace(_EMPTY, _FAILED, n=1))
        else:
            part = part[~empty]
        failed = part[part["status"].map(is_failure)]
        if len(failed):
            frames.append(failed.head(1))
            continue
        # Each row of a sequence has its whole time and number of fits, so stage 0 of each counts.
        # Importance adds its time and one model.
        taken = importance.loc[importance["run"] == number, SECONDS].iloc[0]
        fits = part.loc[part["stage"] == 0, _ADDED].sum().add([*taken, 1])
        seconds = fits["fit_seconds"]
        if time_limit is not None and seconds > time_limit:
            status = f"timeout: its sequences took {seconds:.1f} s together, limit {time_limit:g} s"
            frames.append(part.head(1)[["dataset", "costs", "method", "run"]].assign(status=status))
            continue
        good = part[part["status"] == OK]
        keys = [parse_variables(text) for text in good["variables"]]
        # Sorted by subset, so that the choice among equal rows does not depend on the files' order.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        union = good.iloc[order].drop_duplicates("variables")
        merged = union.iloc[pareto_indices(union["budget"], union["valid_score"])]
        frames.append(merged.assign(stage=range(len(merged)), **fits))
        partial = part[part["status"] != OK].head(1)
        if len(partial):
            frames.append(partial.assign(stage=len(merged)))
    return pd.concat(frames, ignore_index=True)


def solution_space(points, prices, folder):
    """Return cost and score of every subset in the first run that was searched completely, if any.

    `folder` has the scores that `resumable_run` kept.
    """
    names = list(prices.loc[prices["run"] == prices["run"].iloc[0], "feature"])
    completed = (points["status"] == OK).groupby(points["run"]).all()
    for run, costs in profiles_of(prices, names).items():
        path = Path(folder) / f"{run}.csv"
        if completed.get(run, False) and path.exists():
            scores = pd.read_csv(path, comment="#")
            # Bit j of the subset is variable j.
            chosen = scores["subset"].to_numpy()[:, None] >> np.arange(len(names)) & 1
            return scores.assign(cost=costs.total(chosen), run=run)
    return pd.DataFrame(columns=["subset", "score", "seconds", "cost", "run"])
