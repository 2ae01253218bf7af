"""Forests of features looked up in codes of one byte are those of the values, bit for bit."""

import numpy as np
import pytest

from budgetlearn.gif import GIFClassifier, GIFRegressor, fitting
from budgetlearn.gif.nodes import byte_codes
from tests.gif.test_samples_on_demand import table

N_TREES = 300  # with three visits of six features enough for codes to pay


def tied_table(kind):
    X, y = table(kind)
    X[:, 3] = np.round(X[:, 3], 1)  # several values share a code, many rows a value
    X[:, 4] = np.where(X[:, 4] > 1, X[:, 4], 0.0)
    return X, y


@pytest.mark.parametrize("kind", ["numbers", "gaps"])
@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (None, {}),
        (None, {"split_on": "residuals"}),
        (None, {"cost_weight": 0.05}),
        (2, {}),
        (4, {"loss": "trimmed_exponential"}),
        (4, {"min_samples_leaf": 300}),
        (4, {"n_thresholds": 3}),
    ],
    ids=str,
)
def test_forests_are_the_same(monkeypatch, n_classes, settings, kind):
    X, y = tied_table(kind)
    forest = GIFRegressor if n_classes is None else GIFClassifier
    if n_classes is not None:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = forest(2000, n_estimators=N_TREES, max_features=3, random_state=0, **settings)
    monkeypatch.setattr(fitting, "FEW_NODES", 0)
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "VISITS", np.inf)
        expected = model.fit(X, y)._model
    for most_kept, apart in ((fitting.MOST_KEPT, set()), (0, {"start"})):
        monkeypatch.setattr(fitting, "MOST_KEPT", most_kept)
        found = model.fit(X, y)._model
        for name in set(found._records.dtype.names) - apart:
            np.testing.assert_array_equal(found._records[name], expected._records[name])
        np.testing.assert_array_equal(found._weights, expected._weights)


def test_features_are_looked_up_in_codes(monkeypatch):
    """With few nodes for each tree, large ones find their rows in the order of the values."""
    how = []
    monkeypatch.setattr(fitting, "byte_codes", lambda X, *more: how.append(more) or byte_codes(X))
    for n_nodes in (10 * N_TREES, 10 * N_TREES + 1):
        model = GIFRegressor(n_nodes, n_estimators=N_TREES, max_features=3, n_jobs=2)
        model.fit(*tied_table("numbers"))
    assert how == [(2, True), (2, False)]  # threads, and whether the order is kept
