"""msB in the workflow: sequences in jobs of their own, one schedule, and the solution space."""

import inspect
import time
from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.curves import ModelSchedule
from budgetlearn.exceptions import ConfigError
from budgetlearn.msb.sequences import SEQUENCES

from .experiment import failed_row, run_method
from .isolation import isolated
from .methods import build, preload, resolve, sequence_name
from .records import OK, is_failure, parse_variables, variables_text
from .runs import profiles_of

SECONDS = ["seconds", "processor_seconds"]
_ADDED = ["fit_seconds", "processor_seconds", "n_fitted"]


def importance_table(method, spec, runs, n_jobs=1, **limits):
    """Return the permutation importance of each variable in each run, for a `ModelScheduleSearch`.

    It does not depend on the costs, so one table serves all cost profiles. `limits` are
    `time_limit` and `memory_limit` of a run, as for `budgetbench.study.isolation.isolated`. The
    columns are run, variable (index), importance, seconds and processor_seconds (of the whole run),
    status. A run without a result is one row that says why.
    """
    preload(spec)
    frames = []
    for run in runs:
        # Isolated like every fit: a death here is a row, too.
        found, problem = isolated(_importance, method, spec, run, n_jobs, threads=n_jobs, **limits)
        frame = pd.DataFrame(columns=["variable", "importance", *SECONDS], index=[0])
        if problem is None:
            ((importance, taken),) = found
            variables = range(importance.size)
            frame = pd.DataFrame({"variable": variables, "importance": importance})
            frame = frame.assign(**taken)
        frames.append(frame.assign(run=run.number, status=problem or OK))
    columns = ["run", "variable", "importance", *SECONDS, "status"]
    return pd.concat(frames, ignore_index=True)[columns]


def _importance(method, spec, run, n_jobs):
    """Yield the importance of the variables in one run, and {of `SECONDS`: how many it took}."""
    # The same seed as in the sequences: all of them share one importance.
    search = build(spec, random_state=run.seed(spec.get("seed_as", method)), n_jobs=n_jobs)
    start, processor = time.perf_counter(), time.process_time()
    importance = search.variable_importance(*run.train, *run.valid)
    taken = time.perf_counter() - start, time.process_time() - processor
    yield importance, dict(zip(SECONDS, taken, strict=True))


def sequence_points(method, spec, sequence, run, importance, n_jobs=1, **limits):
    """Return the operating points of one sequence, its own schedule, and a frame of all it visited.

    Only these can be in msB's schedule: a model that a cheaper one of its own sequence beats is
    beaten in the union as well. `sequence` is a name as `sequence_name` gives it, `importance` as
    `importance_table` makes it; the time that the importance took is part of the time limit. The
    frame has every model of the sequence in its order: run, sequence, step, variables, cost, score
    (on the validation data); no rows where the fit failed.
    """
    entries = {sequence_name(entry): entry for entry in spec["parameters"]["sequences"]}
    part = importance[importance["run"] == run.number].sort_values("variable")
    status = part["status"].iloc[0]
    if status != OK:
        return [failed_row(method, run, status)], _visited([], run.number, sequence)
    entry = _with_importance(entries[sequence], part["importance"].tolist())
    alone = {**spec, "parameters": {**spec["parameters"], "sequences": [entry]}}
    preload(spec)
    # The importance was computed in a job of its own, but it is part of this run.
    if limits.get("time_limit") is not None:
        limits["time_limit"] -= part["seconds"].iloc[0]
    found, problem = isolated(_sequence, method, alone, run, n_jobs, threads=n_jobs, **limits)
    rows = [row for row in found if isinstance(row, dict)]
    models = [model for listed in found if isinstance(listed, list) for model in listed]
    if problem is not None:
        rows.append(failed_row(method, run, problem, rows))
    return rows, _visited(models, run.number, sequence)


def _sequence(method, spec, run, n_jobs):
    """Yield the operating points of a search with one sequence, then the list of its models."""
    fitted = []
    yield from run_method(method, spec, run, n_jobs, fitted=fitted)
    yield [model for search in fitted for model in next(iter(search.sequences_.values()))]


def _visited(models, run, sequence):
    columns = ["run", "sequence", "step", "variables", "cost", "score"]
    rows = [
        (run, sequence, step, variables_text(model.variables), model.cost, model.score)
        for step, model in enumerate(models)
    ]
    return pd.DataFrame(rows, columns=columns)


def _with_importance(entry, importance):
    """Return a sequence's entry as {class, parameters}, with the importance where it wants one."""
    if isinstance(entry, str):
        if entry not in SEQUENCES:
            raise ConfigError(f"unknown sequence {entry!r}; known: {', '.join(SEQUENCES)}.")
        entry = {"class": f"{SEQUENCES[entry].__module__}.{SEQUENCES[entry].__name__}"}
    wants = "importance" in inspect.signature(resolve(entry["class"])).parameters
    given = {"importance": importance} if wants else {}
    return {"class": entry["class"], "parameters": given | entry.get("parameters", {})}


def schedule_points(points, importance, time_limit=None):
    """Merge the sequences of each run into msB's schedule (algorithm 3.1 of Yan et al.).

    `points` are those of all sequences of one method, data set and cost profile. The importance's
    seconds are part of msB's time; `time_limit` is for the importance and all sequences of a run
    together, which are jobs of their own. A run in which a sequence failed, or all of them took too
    long, is a row that says so; one that ended early, a row beside the others.
    """
    frames = []
    for number, part in points.groupby("run", sort=True):
        failed = part[part["status"].map(is_failure)]
        if len(failed):
            frames.append(failed.head(1))
            continue
        seconds, processor = importance.loc[importance["run"] == number, SECONDS].iloc[0]
        # What a fit took stands in every row of a sequence; one row a sequence has stage 0.
        fits = part.loc[part["stage"] == 0, _ADDED].sum()
        seconds += fits["fit_seconds"]
        if time_limit is not None and seconds > time_limit:
            status = f"timeout: its sequences took {seconds:.1f} s together, limit {time_limit:g} s"
            names = part.head(1)[["dataset", "costs", "method", "run"]]
            frames.append(names.assign(status=status))
            continue
        fits["fit_seconds"] = seconds
        fits["processor_seconds"] += processor
        fits["n_fitted"] += 1  # the model that importance is of
        merged = _merge(part[part["status"] == OK])
        frames.append(merged.assign(**fits))
        partial = part[part["status"] != OK].head(1)
        if len(partial):
            frames.append(partial.assign(stage=len(merged)))
    return pd.concat(frames, ignore_index=True)


def _merge(part):
    """Return the rows of the schedule of the union of all sequences of one run."""
    keys = [parse_variables(text) for text in part["variables"]]
    # By the subset, not by the file: which of two equal rows stays is then always the same.
    order = sorted(range(len(keys)), key=keys.__getitem__)
    union = part.iloc[order].drop_duplicates("variables")
    variables = [parse_variables(text) for text in union["variables"]]
    schedule = ModelSchedule.from_points(union["budget"], union["valid_score"], variables)
    row_of = dict(zip(variables, range(len(variables)), strict=True))
    rows = union.iloc[[row_of[subset] for subset in schedule.variables]]
    return rows.assign(stage=range(len(rows)))


def solution_space(points, prices, folder):
    """Return cost and score of every subset in the lowest run that was searched to the end.

    `prices` is the cost table of the runs, from `budgetbench.study.runs.draw_costs`; in `folder`
    the search kept its scores, `<run>.csv` (see `budgetbench.study.experiment.resumable_run`). The
    columns are run, subset (bit j for variable j), cost, score, and the seconds of each fit; empty
    where no run was completed.
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
