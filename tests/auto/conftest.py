"""Few and fast competitors: what is tried here is the choice, not the methods."""

import pytest

from budgetlearn.auto import estimator, methods

FAST = {"LightGBM", "linear model", "sparse linear", "LightGBM costs", "filter + boosting"}


@pytest.fixture
def fast(monkeypatch):
    """Let the fast methods compete alone; in regression all but the cascade."""
    every = methods.competitors

    def few(classifies, n_features):
        slow = {"cascade"} if not classifies else {each.name for each in every(True, 2)} - FAST
        return [each for each in every(classifies, n_features) if each.name not in slow]

    monkeypatch.setattr(estimator, "competitors", few)
