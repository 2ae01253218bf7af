"""msB in the workflow: its sequences fitted in jobs of their own, then one schedule."""

import inspect
import time

import pandas as pd

from ..curves import ModelSchedule
from ..exceptions import ConfigError
from ..msb.sequences import SEQUENCES
from .experiment import run_method
from .methods import build, resolve, sequence_name
from .records import OK


def importance_table(method, spec, runs, n_jobs=1):
    """Return the permutation importance of each variable in each run.

    It does not depend on the costs, so one table serves all cost profiles.

    Parameters
    ----------
    method : str
        Id of the method.
    spec : dict
        Specification of a `ModelScheduleSearch`.
    runs : iterable of Run
        The runs.
    n_jobs : int, default=1
        Threads.

    Returns
    -------
    DataFrame
        Columns run, variable (index), importance, seconds (of the whole run).
    """
    frames = []
    for run in runs:
        seed = run.seed(spec.get("seed_as", method))
        search = build(spec, random_state=seed, n_jobs=n_jobs)
        start = time.perf_counter()
        importance = search.variable_importance(*run.train, *run.valid)
        seconds = time.perf_counter() - start
        frame = pd.DataFrame({"variable": range(importance.size), "importance": importance})
        frames.append(frame.assign(run=run.number, seconds=seconds))
    return pd.concat(frames, ignore_index=True)[["run", "variable", "importance", "seconds"]]


def sequence_points(method, spec, sequence, run, importance, n_jobs=1, limit=None):
    """Return the operating points of one sequence: its own schedule.

    Only these can be in msB's schedule: a model that a cheaper one of its own sequence beats is
    beaten in the union as well.

    Parameters
    ----------
    method : str
        Id of the method.
    spec : dict
        Specification of a `ModelScheduleSearch`.
    sequence : str
        Name of the sequence, as `sequence_name` gives it for its entry in the specification.
    run : Run
        Data, costs and seed.
    importance : DataFrame
        As `importance_table` makes it.
    n_jobs, limit
        As for `budgetlearn.benchmark.experiment.run_method`.

    Returns
    -------
    rows : list of dict
    visited : DataFrame
        Every model of the sequence in its order: run, sequence, step, variables, cost, score (on
        the validation data). No rows where the fit failed.
    """
    entries = {sequence_name(entry): entry for entry in spec["parameters"]["sequences"]}
    part = importance[importance["run"] == run.number].sort_values("variable")
    entry = _with_importance(entries[sequence], part["importance"].tolist())
    alone = {**spec, "parameters": {**spec["parameters"], "sequences": [entry]}}
    fitted = []
    rows = run_method(method, alone, run, n_jobs, limit, fitted=fitted)
    models = [model for search in fitted for model in next(iter(search.sequences_.values()))]
    return rows, _visited(models, run.number, sequence)


def _visited(models, run, sequence):
    columns = ["run", "sequence", "step", "variables", "cost", "score"]
    rows = [
        (run, sequence, step, ",".join(map(str, model.variables)), model.cost, model.score)
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


def schedule_points(points, importance):
    """Merge the sequences of each run into msB's schedule (algorithm 3.1 of Yan et al.).

    Parameters
    ----------
    points : DataFrame
        Operating points of all sequences of one method, data set and cost profile.
    importance : DataFrame
        As `importance_table` makes it; its seconds are part of msB's time.

    Returns
    -------
    DataFrame
        Operating points of msB; a run in which a sequence failed is a row that says so.
    """
    frames = []
    for number, part in points.groupby("run", sort=True):
        failed = part[part["status"] != OK]
        if len(failed):
            frames.append(failed.head(1))
            continue
        seconds = importance.loc[importance["run"] == number, "seconds"].iloc[0]
        # fit_seconds stands in every row of a sequence; one row a sequence has stage 0.
        seconds += part.loc[part["stage"] == 0, "fit_seconds"].sum()
        frames.append(_merge(part).assign(fit_seconds=seconds))
    return pd.concat(frames, ignore_index=True)


def _merge(part):
    """Return the rows of the schedule of the union of all sequences of one run."""
    keys = [tuple(map(int, text.split(","))) for text in part["variables"]]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    union = part.iloc[order].drop_duplicates("variables")
    variables = [tuple(map(int, text.split(","))) for text in union["variables"]]
    schedule = ModelSchedule.from_points(union["budget"], union["valid_score"], variables)
    row_of = dict(zip(variables, range(len(variables)), strict=True))
    rows = union.iloc[[row_of[subset] for subset in schedule.variables]]
    return rows.assign(stage=range(len(rows)))
