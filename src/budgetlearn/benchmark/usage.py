"""How much of the jobs' time went into fitting and predicting; the rest is the workflow's own."""

from pathlib import Path

FIT = ["dataset", "costs", "method", "run", "fit"]


def working_seconds(points):
    """Return the seconds of all fits, and of predicting test data with every operating point.

    Parameters
    ----------
    points : DataFrame
        With the columns of `budgetlearn.benchmark.records.COLUMNS`.

    Returns
    -------
    float
    """
    fits = points.groupby(FIT)["fit_seconds"].first()
    return float(fits.sum() + points["predict_seconds"].sum())


def job_seconds(study):
    """Return the wall-clock seconds of the jobs that fitted a study's methods.

    Parameters
    ----------
    study : Study
        The study, run.

    Returns
    -------
    float
        As Snakemake measured them, the start of each job included.
    """
    parts = {(dataset, method) for dataset, _, method in study.cells}
    total = 0.0
    for path in sorted(Path(study.folder, "usage").rglob("*.tsv")):
        if any({dataset, method} <= set(path.parts) for dataset, method in parts):
            header, *rows = (line.split("\t") for line in path.read_text().splitlines())
            total += sum(float(row[header.index("s")]) for row in rows)
    return total


def usage_line(study):
    """Return a sentence on a study's jobs, "" where there is nothing to tell.

    Parameters
    ----------
    study : Study
        The study, run.

    Returns
    -------
    str
    """
    from . import records  # here: the Snakefile imports this at every start

    path = Path(study.folder, "points.parquet")
    spent = job_seconds(study)
    if not spent or not path.is_file():
        return ""
    share = working_seconds(records.read(path)) / spent
    return (
        f"The jobs that fit worked for {spent:,.0f} s, of which {share:.0%} were fitting and "
        "predicting."
    )
