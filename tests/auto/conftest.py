"""Few and fast competitors: what is tried here is the choice, not the methods."""

from dataclasses import replace

import pytest

from budgetlearn.auto import estimator, evidence, methods

FILTER = "filter + boosting"
FAST = {"LightGBM", "linear model", "sparse linear", "LightGBM costs", FILTER}
FAST_REGRESSORS = {"LightGBM", "linear model", "BudgetRF"}
# Of these many trees say no more here than few.
SMALLER = {
    "LightGBM costs": {"cost_weights": (0.1, 0.01, 0.0), "n_trees": (20,)},
    FILTER: {"n_estimators": 20},
    "BudgetRF": {"n_estimators": 10},
}


@pytest.fixture
def fast(monkeypatch):
    """Let the fast methods compete alone."""
    limit_methods(monkeypatch)


def smaller(method):
    """Return a method with fewer trees, where it has many."""
    return replace(method, parameters=method.parameters | SMALLER.get(method.name, {}))


def limit_methods(monkeypatch):
    """Let the fast methods compete alone, out of three folds, until the patch is undone."""
    limit_folds(monkeypatch)
    every = methods.competitors

    def few(classifies, n_features):
        kept = FAST if classifies else FAST_REGRESSORS
        found = [smaller(each) for each in every(classifies, n_features) if each.name in kept]
        sizes = {"n_selected": sorted({1, n_features // 2 or 1, n_features})}
        return [
            replace(each, parameters=each.parameters | sizes) if each.name == FILTER else each
            for each in found
        ]

    monkeypatch.setattr(estimator, "competitors", few)


def limit_folds(monkeypatch):
    """Compare out of three folds, drawn once: fits are most of the time that a choice takes."""
    monkeypatch.setattr(evidence, "N_FOLDS", 3)
    monkeypatch.setattr(evidence, "REPEATS", ())
