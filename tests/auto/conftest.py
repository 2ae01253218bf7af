"""Few and fast competitors: what is tried here is the choice, not the methods."""

import pytest

from budgetlearn.auto import estimator, methods

FAST = {"LightGBM", "linear model", "sparse linear", "LightGBM costs", "filter + boosting"}
FAST_REGRESSORS = {"LightGBM", "linear model", "BudgetRF+"}


@pytest.fixture
def fast(monkeypatch):
    """Let the fast methods compete alone."""
    limit_methods(monkeypatch)


def limit_methods(monkeypatch):
    """Let the fast methods compete alone, until the patch is undone."""
    every = methods.competitors

    def few(classifies, n_features):
        kept = FAST if classifies else FAST_REGRESSORS
        return [each for each in every(classifies, n_features) if each.name in kept]

    monkeypatch.setattr(estimator, "competitors", few)
