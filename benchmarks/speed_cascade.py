"""Processor seconds of a cascade: its exits, its fit beside LightGBM's cost path, its predictions.

    python benchmarks/speed_cascade.py

Exits: 40 tradeoffs, 12 stages, 50,000 examples. Fit: 80 % of spambase, beside 17 tradeoffs
of coupled and of lazy costs with 100 trees each, which are 102 settings at 20, 50 and 100 trees.
Predictions: 10,000 rows of spambase (with repetitions) at the middle and the last operating point.
"""

import time

import numpy as np

from budgetbench.datasets import load_dataset
from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.cascade.pool import TRADEOFFS, exit_stages, exit_thresholds
from budgetlearn.costs import random_costs
from budgetlearn.peers import LightGBMCostClassifier

N_STAGES, N_SAMPLES = 12, 50_000
PEER = {"n_trees": (20, 50, 100), "learning_rate": 0.1, "num_leaves": 15}


def problem(random):
    """Return confidence, losses and costs of stages of which the later ones know more."""
    hardness = random.random(N_SAMPLES)
    confidence = 1 - hardness * np.linspace(0.5, 0.2, N_STAGES)[:, None]
    confidence += 0.05 * random.standard_normal(confidence.shape)
    losses = np.clip(1 - confidence + 0.05 * random.standard_normal(confidence.shape), 0, 1)
    return np.clip(confidence, 0, 1), losses, np.geomspace(0.01, 1, N_STAGES)[:, None]


def exits():
    """Print the seconds of the thresholds, and of applying them."""
    confidence, losses, costs = problem(np.random.default_rng(0))
    start = time.process_time()
    thresholds = exit_thresholds(confidence, losses, costs)
    found = time.process_time()
    for each in thresholds:
        exit_stages(confidence, each)
    applied = time.process_time()
    print(f"{TRADEOFFS.size} tradeoffs, {N_STAGES} stages, {N_SAMPLES} examples: ", end="")
    print(f"thresholds {found - start:.2f} s, applied {applied - found:.2f} s", flush=True)


def fit_and_predict():
    """Print the seconds of a fit beside those of the peer, and of predictions."""
    data = load_dataset("spambase", offline=True)
    costs, random = random_costs(data.n_features, 0), np.random.default_rng(0)
    rows = random.permutation(data.n_samples)[: int(0.8 * data.n_samples)]
    X, y = data.X[rows], data.y[rows]
    start = time.process_time()
    model = ScheduleCascadeClassifier(feature_costs=costs, random_state=0).fit(X, y)
    fitted = time.process_time()
    tradeoffs = (*np.geomspace(10, 0.003, 16), 0.0)
    for penalty in ("coupled", "lazy"):
        LightGBMCostClassifier(
            feature_costs=costs, penalty=penalty, cost_weights=tradeoffs, **PEER
        ).fit(X, y)
    ours, theirs = fitted - start, time.process_time() - fitted
    print(
        f"fit {ours:.1f} s, LightGBM's paths {theirs:.1f} s, ratio {ours / theirs:.2f}", flush=True
    )
    many = data.X[random.integers(data.n_samples, size=10_000)]
    points = model.operating_points_["cost"]
    for budget in (points.iloc[len(points) // 2], points.iloc[-1]):
        start = time.process_time()
        model.predict(many, budget=budget)
        print(
            f"10,000 rows at {budget:.0f} of {costs.full:.0f}: {time.process_time() - start:.2f} s"
        )


def main():
    """Print all."""
    exits()
    fit_and_predict()


if __name__ == "__main__":
    main()
