"""Our boosting of stage models compared with LightGBM's and scikit-learn's: seconds and error.

    python benchmarks/speed_boosting.py

All run as many rounds with 15 leaves in one thread, with the same learning rate and bins, on data
made by scikit-learn. Prints processor seconds of coding, growing and packing (the least of five),
and log loss or squared error on 5,000 fresh examples.
"""

import time

import lightgbm
import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_squared_error
from threadpoolctl import threadpool_limits

from budgetlearn.cascade.models import BoostingKind, Table, boosting_rounds

SIZES = ((500, 10), (500, 30), (2_000, 20), (10_000, 30))
N_FRESH, N_REPETITIONS = 5_000, 5


def ours(X, y, n_classes, least):
    """Return a function that predicts, by our boosting."""
    return BoostingKind().fit_whole(Table(X, y, n_classes), np.arange(X.shape[1]), 0).predict


def by_lightgbm(X, y, n_classes, least):
    """Return the same by LightGBM, with the same leaves, rounds and bins."""
    made = lightgbm.LGBMRegressor if n_classes is None else lightgbm.LGBMClassifier
    n_rounds, rate = boosting_rounds(n_classes)
    model = made(
        n_estimators=n_rounds,
        learning_rate=rate,
        num_leaves=15,
        min_child_samples=least,
        max_bin=255 if n_classes is None else 63,
        n_jobs=1,
        force_row_wise=True,
        verbose=-1,
    ).fit(X, y)
    return model.booster_.predict if n_classes is None else model.predict_proba


def by_sklearn(X, y, n_classes, least):
    """Return the same by scikit-learn."""
    kinds = HistGradientBoostingClassifier, HistGradientBoostingRegressor
    made = kinds[n_classes is None]
    n_rounds, rate = boosting_rounds(n_classes)
    sizes = {"max_leaf_nodes": 15, "min_samples_leaf": least, "early_stopping": False}
    bins = 255 if n_classes is None else 63
    model = made(max_iter=n_rounds, learning_rate=rate, max_bins=bins, **sizes).fit(X, y)
    return model.predict if n_classes is None else model.predict_proba


def measured(fit, problem, n, n_classes):
    """Return seconds of a fit, and the error on fresh examples."""
    X, y = problem
    seconds = []
    for _ in range(N_REPETITIONS):
        start = time.process_time()
        predict = fit(X[:n], y[:n], n_classes, min(20, max(2, n // 30)))
        seconds.append(time.process_time() - start)
    found = predict(X[n:])
    error = mean_squared_error(y[n:], found) if n_classes is None else log_loss(y[n:], found)
    return min(seconds), error


def problem_of(n, n_features, n_classes):
    """Return a table and its targets."""
    if n_classes is None:
        return make_friedman1(n + N_FRESH, n_features, noise=1, random_state=0)
    return make_classification(
        n + N_FRESH, n_features, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=0
    )


def main():
    """Print all."""
    fits = {"ours": ours, "LightGBM": by_lightgbm, "scikit-learn": by_sklearn}
    with threadpool_limits(1):
        for n_classes in (2, 4, None):
            for n, n_features in SIZES:
                problem = problem_of(n, n_features, n_classes)
                rows = {name: measured(fit, problem, n, n_classes) for name, fit in fits.items()}
                print(f"{n_classes or 'no'} classes, {n:,} × {n_features}: ", end="")
                said = [f"{name} {s * 1e3:.0f} ms, error {e:.3f}" for name, (s, e) in rows.items()]
                ratios = [rows[name][0] / rows["ours"][0] for name in ("LightGBM", "scikit-learn")]
                print(f"{'; '.join(said)}; ratios {np.round(ratios, 1).tolist()}", flush=True)


if __name__ == "__main__":
    main()
