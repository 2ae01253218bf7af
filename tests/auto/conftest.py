"""Few and fast competitors: what is tried here is the choice, not the methods."""

from dataclasses import replace

import pytest

from budgetlearn.auto import estimator, methods

FAST = {"LightGBM", "linear model", "sparse linear", "LightGBM costs", "filter + boosting"}
FAST_REGRESSORS = {"LightGBM", "linear model", "BudgetRF+"}
# Of these many trees say no more here than few.
SMALLER = {
    "LightGBM costs": {"cost_weights": (0.1, 0.01, 0.0), "n_trees": (20,)},
    "filter + boosting": {"n_estimators": 20},
    "BudgetRF+": {"n_estimators": 10},
}


@pytest.fixture
def fast(monkeypatch):
    """Let the fast methods compete alone."""
    limit_methods(monkeypatch)


def smaller(method):
    """Return a method with fewer trees, where it has many."""
    return replace(method, parameters=method.parameters | SMALLER.get(method.name, {}))


def limit_methods(monkeypatch):
    """Let the fast methods compete alone, until the patch is undone."""
    every = methods.competitors

    def few(classifies, n_features):
        kept = FAST if classifies else FAST_REGRESSORS
        return [smaller(each) for each in every(classifies, n_features) if each.name in kept]

    monkeypatch.setattr(estimator, "competitors", few)
