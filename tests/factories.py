"""Generated operating points, and the study and results around them."""

import numpy as np
import pandas as pd

from budgetbench.analysis import Results
from budgetbench.report import Report
from budgetbench.report.labels import DataSheet, Display
from budgetbench.study.records import FORMAT_VERSION, variables_text
from budgetbench.study.study import Study

FEATURES = {"wine": 13, "breast_cancer": 30}


def schedule_rows(dataset, run, method, rng, *, n_stages, ceiling):
    """Return the rows of a method that acquires more and more variables of a data set."""
    prices = prices_of(dataset, run)
    order = rng.permutation(len(prices))
    sizes = np.unique(np.linspace(2, len(prices), n_stages).astype(int))
    halves = np.random.default_rng([len(dataset), run, len(method)])  # `rng` stays unchanged
    rows, seconds = [], 0.05 * n_stages * rng.uniform(0.8, 1.2)
    for stage, size in enumerate(sizes):
        chosen = np.sort(order[:size])
        share = prices[chosen].sum() / prices.sum()
        score = 0.4 + (ceiling - 0.4) * (1 - np.exp(-6 * share))
        rows.append(
            {
                "dataset": dataset,
                "costs": "random",
                "method": method,
                "run": run,
                "stage": stage,
                "fit": 0,
                "setting": pd.NA,
                "budget": np.nan,
                "cost": float(prices[chosen].sum()),
                "cost_fraction": float(share),
                "n_features": float(size),
                "n_nodes": np.nan,
                "n_bytes": np.nan,
                "valid_cost": float(prices[chosen].sum()),
                "valid_score": score + rng.normal(0, 0.01),
                "test_score": score + rng.normal(0, 0.02),
                "choice_score": score + halves.normal(0, 0.02),
                "held_out_score": score + halves.normal(0, 0.02),
                "test_mse": np.nan,
                "cost_p95": float(prices[chosen].sum()),
                "cost_max": float(prices[chosen].sum()),
                "valid_cost_max": float(prices[chosen].sum()),
                "n_fitted": 20.0,
                "fit_seconds": seconds,
                "processor_seconds": seconds,
                "predict_seconds": 0.002,
                "added_seconds": 0.002,
                "status": "ok",
                "variables": variables_text(chosen),
                "acquisition_rates": np.isin(np.arange(len(prices)), chosen).astype(np.float32),
                "format_version": FORMAT_VERSION,
            }
        )
    return rows


def prices_of(dataset, run):
    """Return the cost profile of a run."""
    rng = np.random.default_rng([len(dataset), run])
    return rng.integers(1, 101, FEATURES[dataset]).astype(float)


def make_points(n_runs=5, seed=0):
    """Return operating points of msB, logitB and the two controls on two data sets."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset in FEATURES:
        for run in range(n_runs):
            rows += schedule_rows(dataset, run, "msb", rng, n_stages=12, ceiling=0.95)
            rows += schedule_rows(dataset, run, "logitb", rng, n_stages=9, ceiling=0.9)
            everything = schedule_rows(dataset, run, "all_features", rng, n_stages=12, ceiling=0.96)
            rows.append(everything[-1] | {"stage": 0})
            nothing = {
                "acquisition_rates": np.zeros(FEATURES[dataset], dtype=np.float32),
                "cost": 0.0,
                "valid_cost": 0.0,
                "cost_fraction": 0.0,
                "cost_p95": 0.0,
                "cost_max": 0.0,
                "valid_cost_max": 0.0,
                "n_fitted": 1.0,
                "n_features": 0.0,
                "variables": "",
            }
            scores = {"valid_score": 0.41, "test_score": 0.4 + rng.normal(0, 0.003)}
            scores |= {"choice_score": 0.4, "held_out_score": 0.4}
            times = {
                "fit_seconds": 1e-4,
                "processor_seconds": 1e-4,
                "predict_seconds": 1e-5,
                "added_seconds": 1e-5,
            }
            rows.append(everything[0] | {"method": "constant"} | nothing | scores | times)
    return pd.DataFrame(rows)


def fail(points, method, run, dataset="wine", status="failed: ValueError: made up"):
    """Return `points` with one run of one method replaced by a failed row."""
    hit = (points[["dataset", "method", "run"]] == [dataset, method, run]).all(axis=1)
    row = points[hit].iloc[:1].assign(status=status, variables=None, acquisition_rates=None)
    row[["cost", "cost_fraction", "valid_score", "test_score", "fit_seconds"]] = np.nan
    return pd.concat([points[~hit], row], ignore_index=True)


METHODS = {
    "msb": {
        "label": "msB",
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "kind": "schedule",
        "parameters": {"sequences": ["importance", "cost"], "min_variables": 2},
    },
    "logitb": {"label": "logitB", "class": "budgetlearn.msb.LogitPathClassifier"},
    "all_features": {"label": "all features", "class": "a.All", "control": True},
    "constant": {"label": "free constant", "class": "a.Constant", "control": True},
}


def make_study(n_runs=5, datasets=tuple(FEATURES), methods=METHODS, **config):
    """Return the study to which the points of `make_points` belong."""
    settings = {
        "study": "generated",
        "title": "Two generated methods",
        "seed": 1,
        "runs": n_runs,
        "runs_per_job": n_runs,
        "costs": ["random"],
        "split": {"train": 0.6, "valid": 0.2, "test": 0.2},
        "datasets": list(datasets),
        "methods": list(methods),
    }
    return Study(settings | config, dict.fromkeys(datasets), methods)


def make_sheets(study, **changes):
    """Return the data sheets of a study's data sets."""
    sheets = {
        "wine": {"title": "Wine", "features": 13, "sha256": "ab" * 32},
        "breast_cancer": {
            "title": "Breast cancer Wisconsin (diagnostic)",
            "features": 30,
            "classes": 2,
            "sha256": "cd" * 32,
        },
    }
    shared = {"rows": 178, "classes": 3, "licence": "CC BY 4.0", "citation": "Made up (2024)"}
    return {
        name: DataSheet(**shared | {"budget": study.budget(name)} | sheets[name] | changes)
        for name in study.datasets
    }


def make_display(study=None):
    """Return the display of a study's methods and data sets."""
    study = study or make_study()
    return Display(study.methods, make_sheets(study))


def make_prices():
    """Return the prices of all runs."""
    rows = [
        {
            "dataset": dataset,
            "costs": "random",
            "run": run,
            "feature": f"{dataset.replace('_', ' ')} measurement {feature}",
            "cost": cost,
            "group": None,
            "group_cost": np.nan,
        }
        for dataset in FEATURES
        for run in range(5)
        for feature, cost in enumerate(prices_of(dataset, run))
    ]
    return pd.DataFrame(rows)


def make_results(points=None):
    """Return the results of a study."""
    return Results(make_points() if points is None else points, make_display())


def make_report(points, study=None, sheets=None):
    """Return the content of the report of points, by default for a study of their runs."""
    study = study or make_study(points["run"].nunique(), list(dict.fromkeys(points["dataset"])))
    provenance = {"commit": "0123456789abcdef", "numpy": "2.3.1", "study seed": 1}
    prices = make_prices()
    prices = prices[prices["dataset"].isin(study.datasets)]
    return Report.of(study, points, sheets or make_sheets(study), prices, provenance)
