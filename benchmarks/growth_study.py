"""Time and memory of collecting and reporting a study with very many operating points.

    python benchmarks/growth_study.py [--points N] [--runs N] [--profile]

The study has five data sets and eight methods. Its operating points are stored as jobs store them
and lie on rising curves with noise. The jobs `collect` and `report` run in separate processes, with
the workflow's own code. Memory is the peak of that process.
"""

import argparse
import cProfile
import os
import pstats
import resource
import shutil
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from budgetbench.datasets import load_dataset
from budgetbench.report import Report, price_table, read_sheets, write_report
from budgetbench.study import provenance, records, runs
from budgetbench.study.study import Study
from budgetlearn.files import read_yaml

ROOT = Path(__file__).resolve().parents[1]
DATASETS = ["wine", "breast_cancer", "diabetes", "gaussian_mixture", "twonorm"]
METHODS = [
    *("msb", "logitb", "budgetrf", "cost_sensitive_rf_ffs"),
    *("fmcc", "random_forest", "all_features", "constant"),
]


def study_of(n_runs):
    """Return the study, in the working directory."""
    asked = {"study": "load", "title": "Load", "datasets": DATASETS, "methods": METHODS}
    config = read_yaml("config/config.yaml") | asked | {"runs": n_runs, "runs_per_job": 5}
    return Study.from_config(config, ".")


def curve(head, data, costs, n_points, rng):
    """Return the operating points of one run of one method."""
    n_points = 1 if head["method"] in ("all_features", "constant") else n_points
    share = np.sort(rng.random(n_points)) if head["method"] != "constant" else np.zeros(1)
    numbers = np.ceil(share * data.n_features).astype(int)
    score = 0.5 + 0.4 * share**0.3 + rng.normal(0, 0.02, n_points)
    names = [records.variables_text(range(number)) for number in numbers]
    rates = [(np.arange(data.n_features) < number).astype(float) for number in numbers]
    return pd.DataFrame(
        head
        | {"stage": np.arange(n_points), "fit": 0, "setting": "alpha=1", "budget": share}
        | {"cost": share * costs.sum(), "cost_fraction": share, "n_features": numbers}
        | {"n_nodes": 100.0, "valid_cost": share * costs.sum(), "valid_score": score}
        | dict.fromkeys(("cost_p95", "cost_max", "valid_cost_max"), share * costs.sum())
        | {"test_score": score + rng.normal(0, 0.02, n_points), "fit_seconds": 1.0}
        | {"predict_seconds": 0.01, "variables": names, "acquisition_rates": rates}
    )


def write_study(study, n_points):
    """Write the inputs of `collect` and `report`, `n_points` operating points in all."""
    fitted = len(METHODS) - 2
    each = -(-n_points // (len(DATASETS) * fitted * study.config["runs"]))
    rng, origin = np.random.default_rng(0), provenance.origin()
    for name in DATASETS:
        data = load_dataset(name)
        data.save(f"{study.folder}/data/{name}.parquet")
        for chunk in study.chunks:
            table = runs.draw_costs(data, "random", study.runs_of(chunk), study.seed)
            path = Path(study.folder, "costs", name, "random", f"{chunk}.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            table.to_csv(path, index=False)
            for method in METHODS:
                head = {"dataset": name, "costs": "random", "method": method}
                curves = [
                    curve(head | {"run": run}, data, part["cost"].to_numpy(), each, rng)
                    for run, part in table.groupby("run")
                ]
                path = study.points_file(name, "random", method, chunk)
                records.write(pd.concat(curves), path, [origin])


def collect(study):
    """Do the same as workflow/scripts/collect.py."""
    files = study.points_files
    records.write(records.read(files), f"{study.folder}/points.parquet", records.origins_of(files))


def report(study):
    """Do the same as workflow/scripts/report.py."""
    points = f"{study.folder}/points.parquet"
    data = [f"{study.folder}/data/{name}.parquet" for name in DATASETS]
    sheets = read_sheets(study, data, records.sources_of(points))
    prices = price_table(sorted(Path(study.folder, "costs").rglob("*.csv")))
    made_with = provenance.made_with(study, records.origins_of(points))
    write_report(Report.of(study, records.read(points), sheets, prices, made_with), study.folder)


def measured(job, n_runs, with_profile):
    """Run a job in this process, and print its time and memory."""
    study, profile = study_of(n_runs), cProfile.Profile()
    start, cpu = time.perf_counter(), time.process_time()
    if with_profile:
        profile.runcall(job, study)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
    else:
        job(study)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds, busy = time.perf_counter() - start, time.process_time() - cpu
    print(f"{job.__name__}: {seconds:.0f} s ({busy:.0f} s of CPU), peak {peak:.2f} GB", flush=True)


def main():
    """Write a study, then collect and report it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for part in ("config", "workflow", "resources/published", "resources/costs"):
            shutil.copytree(ROOT / part, Path(folder, part))
        os.chdir(folder)
        study = study_of(options.runs)
        write_study(study, options.points)
        print(f"{options.points:,} points in {len(study.points_files):,} files", flush=True)
        for job in (collect, report):
            args = (job, options.runs, options.profile)
            process = get_context("spawn").Process(target=measured, args=args)
            process.start()
            process.join()
            assert not process.exitcode, f"{job.__name__} ended with {process.exitcode}"
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
