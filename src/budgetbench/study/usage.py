"""The jobs' time and memory, and the share of time that went into fitting and predicting."""

import csv
from math import isnan
from pathlib import Path

FIT = ["dataset", "costs", "method", "run", "fit"]
SPARE = 2.5  # times what earlier jobs of a method took that a cluster is asked for
_NONE = ("NA", "-", "")  # what Snakemake writes for a job that it did not get to look at


def working_seconds(points):
    """Return the seconds of all fits, and of predicting; NaN where results do not know."""
    fits = points.groupby(FIT)["fit_seconds"].first()
    predicted = points.loc[points["predict_seconds"].notna(), "added_seconds"]
    return float(fits.sum() + predicted.sum(skipna=False))


def job_usage(study):
    """Return time and memory of the jobs that fitted a study's methods, by Snakemake's measure."""
    parts = {(dataset, method) for dataset, _, method in study.cells}
    used = []
    for path in sorted(Path(study.folder, "usage").rglob("*.tsv")):
        if any({dataset, method} <= set(path.parts) for dataset, method in parts):
            used += _rows(study, path)
    return used


def _rows(study, path):
    """Return a row of `job_usage` for each job that a file of Snakemake's is of."""
    # Files of an earlier, larger study stay; runs it no longer has count for nothing.
    runs = len(study.runs_of(path.stem))
    header, *rows = (line.split("\t") for line in path.read_text().splitlines())
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    held = [float("nan" if cell["max_rss"] in _NONE else cell["max_rss"]) for cell in cells]
    return [(float(cell["s"]), mb, runs) for cell, mb in zip(cells, held, strict=True)]


def minutes_for(study, n_runs, folder):
    """Return the minutes to ask a cluster for, for a job of `n_runs` runs.

    `SPARE` times the slowest of the earlier jobs in `folder` that did the same with other runs, run
    by run; before there is any, and at most, what the settings of the study say.
    """
    used = [row for path in Path(folder).glob("*.tsv") for row in _rows(study, path)]
    took = [seconds / runs for seconds, _, runs in used if runs]
    said = study.config["cluster"]["minutes"]
    return n_runs * min([said, *([SPARE * max(took) / 60] if took else [])])


def usage_line(study):
    """Return a sentence on a study's jobs, "" where there is nothing to tell."""
    from . import records  # here: the Snakefile imports this at every start

    path = Path(study.folder, "points.parquet")
    used = [job for job in job_usage(study) if job[-1]]
    spent = sum(seconds for seconds, _, _ in used)
    if not spent or not path.is_file():
        return ""
    # A job that took over what it had finished before worked less than its points tell.
    share = min(working_seconds(records.read(path)) / spent, 1.0)
    of_which = "" if isnan(share) else f", of which {share:.0%} were fitting and predicting"
    # Snakemake looks at a job's processes now and then; the largest process knows its own peak.
    peaks = [origin["peak_mb"] for origin in records.origins_of(path) if "peak_mb" in origin]
    peaks += [memory for _, memory, _ in used if memory == memory]  # no NaN
    held = max(peaks, default=0)
    minutes = max(seconds / runs for seconds, _, runs in used) / 60
    asked = study.config["cluster"]
    return (
        f"The jobs that fit worked for {spent:,.0f} s{of_which}. They held up to {held:,.0f} MB "
        f"each (a cluster is asked for {asked['memory']:,}) and took up to {minutes:.1f} min a run "
        f"(asked for {asked['minutes']})."
    )


def doubt_line(study):
    """Return a sentence on methods that the written report doubts, "" where there are none."""
    path = Path(study.folder, "tables", "straw_men.csv")
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines))
    below = {"constant": "no better than the free constant", "default": "worse tuned than untuned"}
    where = [f"{row['method']} on {row['dataset']} ({below[row['below']]})" for row in found]
    if not where:
        return ""
    return f"Doubtful rivals, in all of their runs: {', '.join(where)}. See “What it took”."
