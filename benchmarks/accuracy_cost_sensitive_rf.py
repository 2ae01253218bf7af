"""Cost and accuracy of the cost-sensitive random forest over λ (Thomas, Figure 1).

    python benchmarks/accuracy_cost_sensitive_rf.py [--runs N] [--jobs N] [--trees N] \
        [--csv FILE] [--figure FILE] [pima] [spambase] [mfeat_pix]
    python benchmarks/accuracy_cost_sensitive_rf.py --figure FILE --points CSV [CSV ...]

Pima has its published prices, the other two have unit costs. Each run trains on 80 % and tests on
20 %. For each data set and variant, the script prints

- the mean curve over the runs,
- the rank correlation of λ and cost,
- the largest increase of the cost from one λ to the next larger one, as a share of the cost at λ =
  0,
- how far the cost falls while the accuracy is at most 0.02 below that of λ = 0.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from _measuring import DATA
from scipy.stats import spearmanr

from budgetbench.datasets import load_dataset, split
from budgetlearn.costs import FeatureCosts
from budgetlearn.forests import CostSensitiveRFPathClassifier

PRICES = Path(__file__).parents[1] / "resources" / "costs" / "pima.csv"
VARIANTS = {
    "FFS": {},
    "RFS": {"max_features": "sqrt"},
    "FFS + CT": {"complementary": True},
    "FFS + CT literal": {"complementary": "literal"},
}
TOLERATED_LOSS = 0.02


def prices(dataset):
    """Return the data set's prices: published ones for Pima, otherwise 1 each."""
    if dataset.id != "pima":
        return FeatureCosts(np.ones(dataset.n_features))
    printed = pd.read_csv(PRICES).set_index("feature")["cost"]
    return FeatureCosts(printed[list(dataset.feature_names)].to_numpy())


def measure(dataset, variant, run, options, cost_weights=None):
    """Return λ, cost and test accuracy of each forest of one run."""
    test = split(dataset, run, (0.7, 0.1, 0.2)) == 2
    path = CostSensitiveRFPathClassifier(
        feature_costs=prices(dataset),
        cost_weights=cost_weights,
        n_estimators=options.trees,
        n_jobs=options.jobs,
        random_state=run,
        **VARIANTS[variant],
    ).fit(dataset.X[~test], dataset.y[~test])
    accuracies = [np.mean(p == dataset.y[test]) for p in path.staged_predict(dataset.X[test])]
    return pd.DataFrame(
        {
            "dataset": dataset.id,
            "variant": variant,
            "run": run,
            "cost_weight": path.cost_weights_,
            "cost": path.costs_,
            "accuracy": accuracies,
        }
    )


def runs(dataset, variant, options):
    """Return the points of all runs; the first one sets the λ, so that means are over equal λ."""
    frames = [measure(dataset, variant, 0, options)]
    for run in range(1, options.runs):
        frames.append(measure(dataset, variant, run, options, frames[0]["cost_weight"]))
    return pd.concat(frames)


def summary(points):
    """Return the mean curve over runs, and its figures: correlation, rise and fall of the cost."""
    curve = points.groupby("cost_weight")[["cost", "accuracy"]].mean().reset_index()
    free = curve.iloc[0]  # λ = 0
    tolerable = curve[curve["accuracy"] >= free["accuracy"] - TOLERATED_LOSS]
    best = tolerable.loc[tolerable["cost"].idxmin()]
    return curve, {
        "rank_correlation": spearmanr(curve["cost_weight"], curve["cost"]).statistic,
        "largest_rise": curve["cost"].diff().max() / free["cost"],
        "cost_at_0": free["cost"],
        "accuracy_at_0": free["accuracy"],
        "best_weight": best["cost_weight"],
        "saved": 1 - best["cost"] / free["cost"],
        "lost": free["accuracy"] - best["accuracy"],
    }


def draw(points, file):
    """Draw accuracy against cost, one panel for each data set."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "cost-sensitive-rf"
    import matplotlib.pyplot as plt

    names = points["dataset"].unique()
    figure, axes = plt.subplots(
        1, len(names), figsize=(4 * len(names), 3.4), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0], names, strict=True):
        for variant, own in points[points["dataset"] == name].groupby("variant", sort=False):
            curve = own.groupby("cost_weight")[["cost", "accuracy"]].mean()
            axis.plot(curve["cost"], curve["accuracy"], marker="o", markersize=3, label=variant)
        axis.set(title=name, xlabel="cost of the forest")
    axes[0, 0].set_ylabel("test accuracy")
    axes[0, 0].legend(frameon=False)
    figure.savefig(file, metadata={"Date": None} if str(file).endswith(".svg") else None)


def measure_all(options):
    """Measure every data set and variant, print their curves and figures, and return all points."""
    frames = []
    for name in options.datasets:
        dataset = load_dataset(name, data_dir=DATA)
        for variant in VARIANTS:
            points = runs(dataset, variant, options)
            frames.append(points)
            curve, figures = summary(points)
            print(f"\n{name}, {variant}, {options.runs} runs")
            print(curve.round(4).to_string(index=False))
            print({key: round(float(value), 4) for key, value in figures.items()}, flush=True)
    return pd.concat(frames)


def main():
    """Measure, or read earlier results, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--csv", help="file for all points")
    parser.add_argument("--figure", help="file for a drawing of the mean curves")
    parser.add_argument(
        "--points", nargs="+", default=[], help="csv files to draw instead of measuring"
    )
    parser.add_argument("datasets", nargs="*", default=["pima", "spambase", "mfeat_pix"])
    options = parser.parse_args()
    known = [pd.read_csv(file) for file in options.points]
    points = pd.concat(known) if known else measure_all(options)
    if options.csv:
        points.to_csv(options.csv, index=False)
    if options.figure:
        draw(points, options.figure)


if __name__ == "__main__":
    main()
