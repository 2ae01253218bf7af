"""Processor seconds of the exits of a cascade: 40 tradeoffs, 12 stages, 50,000 examples.

python benchmarks/speed_cascade.py
"""

import time

import numpy as np

from budgetlearn.sequential.cascade_exits import TRADEOFFS, exit_stages, exit_thresholds

N_STAGES, N_SAMPLES = 12, 50_000


def problem(random):
    """Return confidence, losses and costs of stages of which the later ones know more."""
    hardness = random.random(N_SAMPLES)
    confidence = 1 - hardness * np.linspace(0.5, 0.2, N_STAGES)[:, None]
    confidence += 0.05 * random.standard_normal(confidence.shape)
    losses = np.clip(1 - confidence + 0.05 * random.standard_normal(confidence.shape), 0, 1)
    return np.clip(confidence, 0, 1), losses, np.geomspace(0.01, 1, N_STAGES)


def main():
    """Print the seconds of the thresholds, and of applying them."""
    confidence, losses, costs = problem(np.random.default_rng(0))
    start = time.process_time()
    thresholds = exit_thresholds(confidence, losses, costs)
    found = time.process_time()
    for each in thresholds:
        exit_stages(confidence, each)
    applied = time.process_time()
    print(f"{TRADEOFFS.size} tradeoffs, {N_STAGES} stages, {N_SAMPLES} examples")
    print(f"thresholds {found - start:.2f} s, applied {applied - found:.2f} s")


if __name__ == "__main__":
    main()
