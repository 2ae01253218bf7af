"""The best model within a number of bytes, a globally induced forest or a perceptron."""

import warnings
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets

from ..exceptions import BudgetError, BudgetlearnWarning
from ..export.compact_models import CompactModel, CompactNetwork
from ..gif import GIFClassifier, GIFRegressor
from ..validation import INT32_MAX, check_choice, check_number, holdout

VALIDATION = 0.25
TRIES = (
    ("forest", {}),
    ("forest", {"split_on": "residuals", "max_features": None, "learning_rate": 0.1}),
    *(("perceptron", {"alpha": alpha}) for alpha in (1e-4, 1e-2, 1.0)),
)
# A hundred held-out rows compare models of still fewer bytes badly (docs/notes/gif.md).
LEAST_BYTES = 1000
# Number of nodes grown before pruning: this multiple of the node budget, up to a maximum.
GROWN, MOST_GROWN = 4, 8000


class Recommended(NamedTuple):
    """The model recommended by `recommend_for_bytes`, fitted to all rows, and the comparison."""

    name: str  # "forest" or "perceptron"
    model: CompactModel  # with `predict`, `nbytes` and `export_c`
    tried: pd.DataFrame  # model, limit of bytes, setting, bytes, error on the held-out rows


def recommend_for_bytes(X, y, byte_budget, task="classification", random_state=None) -> Recommended:
    """Fit the model within a number of bytes that has the smallest error on held-out rows.

    Globally induced forests and perceptrons with one hidden layer, stored in "int8", learn from
    three quarters of the rows. The best on the others (of equals, the smallest) is fitted to all.
    Models within a quarter of the bytes, a sixteenth and so on, down to 1,000 bytes, compete too:
    so four times as many bytes never err more on the held-out rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Examples; NaN where a value is missing.
    y : array-like of shape (n_samples,)
        Class labels, or numbers in regression.
    byte_budget : int
        Largest size of the model, `nbytes`.
    task : {"classification", "regression"}, default="classification"
        Whether y holds class labels or numbers.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Returns
    -------
    Recommended
        Name, model, and all compared models.

    Raises
    ------
    BudgetError
        When no model is small enough.
    """
    check_number(byte_budget, "byte_budget", low=1, integer=True)
    classifies = check_choice(task, "task", ("classification", "regression")) == "classification"
    X, y = check_X_y(X, y, ensure_all_finite="allow-nan", dtype=float, y_numeric=not classifies)
    if classifies:  # before rows are held out by class
        check_classification_targets(y)
    random = check_random_state(random_state)
    about = task, random.randint(INT32_MAX)
    train, valid = holdout(y, VALIDATION, random, classifies)
    smaller = (byte_budget // 4**power for power in range(1, 9))
    limits = [byte_budget, *(limit for limit in smaller if limit >= LEAST_BYTES)]
    rows, least, parts = [], [], (X[train], y[train], X[valid], y[valid])
    for limit, (name, setting) in product(limits, TRIES):
        try:
            model, chosen = KINDS[name](limit, *about, setting, *parts)
            predicted, truth = model.predict(X[valid]), y[valid]
            error = np.mean(predicted != truth if classifies else (predicted - truth) ** 2)
            rows.append((name, limit, chosen, model.nbytes, error))
        except BudgetError as too_small:
            least.append(too_small.cheapest)
    if not rows:
        message = f"byte_budget={byte_budget}: the smallest model takes {min(least)} bytes."
        raise BudgetError(message, min(least))
    tried = pd.DataFrame(rows, columns=["model", "limit", "setting", "bytes", "error"])
    best = tried.sort_values(["error", "bytes"], kind="stable").iloc[0]
    model, _ = KINDS[best["model"]](best["limit"], *about, best["setting"], X, y)
    return Recommended(best["model"], model, tried)


def _forest(byte_budget, task, seed, setting, X, y, *valid):
    """Return a compact forest and its setting, with the penalty chosen on validation data."""
    kind, fit = (GIFRegressor, "ridge") if task == "regression" else (GIFClassifier, "logistic")
    n_classes = np.unique(y).size if task == "classification" else 0
    # A split adds two nodes, and takes 3 bytes or more and one for each value of its leaf.
    most = 2 + 2 * byte_budget // (3 + (n_classes if n_classes > 2 else 1))
    limits = {"node_budget": most, "byte_budget": byte_budget, "byte_format": "int8"}
    limits["prune_factor"] = max(1, min(GROWN, MOST_GROWN / most))
    options = {"n_estimators": "auto", "joint_fit": fit, "ridge": "auto", "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetlearnWarning)
        model = kind(**limits | options | setting).fit(X, y, *valid)
    return model.compact("int8"), setting | ({"ridge": model.ridge_} if model.ridge_ else {})


def _perceptron(byte_budget, task, seed, setting, X, y, *valid):
    return CompactNetwork.fitted(X, y, byte_budget, **setting, seed=seed, task=task), setting


KINDS = {"forest": _forest, "perceptron": _perceptron}
