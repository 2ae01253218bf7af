"""Processor seconds of a cascade: its exits, its fit compared with LightGBM's, its predictions.

    python benchmarks/speed_cascade.py

- Exits: 40 tradeoffs, 12 stages, 50,000 examples.
- Fit: 80 % of heart, vehicle and spambase, compared with ten tradeoffs of LightGBM's coupled costs
  without folds, in one thread.
- Predictions: one row, and 10,000 rows (with repetitions), at the middle and the last operating
  point.
"""

import time

import numpy as np
from _measuring import least
from threadpoolctl import threadpool_limits

from budgetbench.datasets import load_dataset
from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.cascade.pool import TRADEOFFS, exit_stages, exit_thresholds
from budgetlearn.costs import random_costs
from budgetlearn.peers import LightGBMCostClassifier

N_STAGES, N_SAMPLES = 12, 50_000


def problem(random):
    """Return confidence, losses and costs of stages that become more accurate."""
    hardness = random.random(N_SAMPLES)
    confidence = 1 - hardness * np.linspace(0.5, 0.2, N_STAGES)[:, None]
    confidence += 0.05 * random.standard_normal(confidence.shape)
    losses = np.clip(1 - confidence + 0.05 * random.standard_normal(confidence.shape), 0, 1)
    return np.clip(confidence, 0, 1), losses, np.geomspace(0.01, 1, N_STAGES)[:, None]


def exits():
    """Print the seconds of finding the thresholds, and of applying them."""
    confidence, losses, costs = problem(np.random.default_rng(0))
    start = time.process_time()
    thresholds = exit_thresholds(confidence, losses, costs)
    found = time.process_time()
    for each in thresholds:
        exit_stages(confidence, each)
    applied = time.process_time()
    print(f"{TRADEOFFS.size} tradeoffs, {N_STAGES} stages, {N_SAMPLES} examples: ", end="")
    print(f"thresholds {found - start:.2f} s, applied {applied - found:.2f} s", flush=True)


def fit_and_predict(name):
    """Print the seconds of our fit, of the peer's, and of predictions."""
    data = load_dataset(name, offline=True)
    costs, random = random_costs(data.n_features, 0), np.random.default_rng(0)
    rows = random.permutation(data.n_samples)[: int(0.8 * data.n_samples)]
    X, y = data.X[rows], data.y[rows]
    model = ScheduleCascadeClassifier(**settings(costs))
    peer = LightGBMCostClassifier(**settings(costs), cost_weights=None, n_jobs=1)
    ours, theirs = (least(lambda m=m: m.fit(X, y), 3)[0] for m in (model, peer))
    print(f"{name}: fit {ours:.2f} s, ten tradeoffs {theirs:.2f} s, ratio {ours / theirs:.1f}")
    many = data.X[random.integers(data.n_samples, size=10_000)]
    points = model.operating_points_["cost"]
    for budget in (points.iloc[len(points) // 2], points.iloc[-1]):
        one, _ = least(lambda at=budget: [model.predict(x[None], budget=at) for x in many[:200]])
        all_rows, _ = least(lambda at=budget: model.predict(many, budget=at))
        print(f"  at {budget:.0f} of {costs.full:.0f}: one row {one / 200 * 1e3:.2f} ms, ", end="")
        print(f"10,000 rows {all_rows:.2f} s", flush=True)


def settings(costs):
    """Return the settings that both have in common."""
    return {"feature_costs": costs, "random_state": 0}


def main():
    """Print all."""
    exits()
    with threadpool_limits(1):
        for name in ("heart", "vehicle", "spambase"):
            fit_and_predict(name)


if __name__ == "__main__":
    main()
