"""Forests without room for the samples of all nodes are those that keep them, bit for bit."""

import numpy as np
import pytest

from budgetlearn.gif import GIFClassifier, GIFRegressor, fitting
from budgetlearn.gif.estimators import Squared
from budgetlearn.gif.nodes import NodeTable, byte_codes
from tests.gif.reference import Grown

ROWS = 8197  # no multiple of eight, and more than there are codes


def table(kind):
    random = np.random.default_rng(3)
    X = random.normal(size=(ROWS, 8))
    X[:, 1] = np.exp(4 * X[:, 1])  # most values within a small part of the range
    X[:, 2] = random.integers(3, size=ROWS)
    y = X[:, 0] + X[:, 2] + random.normal(size=ROWS)
    X[:, 6] = X[:, 0] + 0.1 * random.normal(size=ROWS)  # a split of one cuts off ends of the other
    X[:, 7] = 1.0
    if kind == "gaps":
        X[random.random(X.shape) < 0.2] = np.nan
        X[:, 5] = np.nan
    if kind == "bytes":
        X = random.integers(256, size=X.shape).astype(float)
    return X, y


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("numbers", {"max_features": 7}),
        ("gaps", {}),
        ("bytes", {}),
        ("gaps", {"n_thresholds": 3, "min_samples_leaf": 20}),
        ("gaps", {"split_on": "residuals"}),
        ("bytes", {"split_on": "residuals"}),
        ("bytes", {"cost_weight": 0.05}),
        ("gaps", {"joint_fit": 1}),
        ("numbers", {"joint_fit": "ridge", "prune_factor": 2}),
    ],
    ids=str,
)
def test_forests_are_the_same(monkeypatch, kind, settings):
    X, y = table(kind)
    still = np.where(X[:, 0] > 1, y, 0.25)  # the same number in nearly all rows
    cases = [(y, None), (y, np.random.default_rng(0).random(ROWS)), (still, None)]
    forest = GIFRegressor
    if "joint_fit" in settings:
        forest, cases = GIFClassifier, [(y > 0, None)]
    model = forest(800, n_estimators=40, random_state=0, **settings)
    for targets, weight in cases:
        kept = model.fit(X, targets, sample_weight=weight)._model
        for most_ordered in (fitting.MOST_ORDERED, 0):
            with monkeypatch.context() as patch:
                patch.setattr(fitting, "MOST_KEPT", 0)
                patch.setattr(fitting, "MOST_ORDERED", most_ordered)
                found = model.fit(X, targets, sample_weight=weight)._model
            for name in set(kept._records.dtype.names) - {"start"}:
                np.testing.assert_array_equal(found._records[name], kept._records[name])
            # Refitting adds up what a split has reordered: only then does rounding differ.
            rounding = 1e-9 if settings.get("joint_fit") == 1 else 0
            np.testing.assert_allclose(found._weights, kept._weights, rtol=rounding)


def test_samples_are_those_that_the_splits_above_send_to_a_node(monkeypatch):
    X, y = table("numbers")
    X = np.asfortranarray(X)
    known = {"X": X, "bins": byte_codes(X)}
    monkeypatch.setattr("tests.gif.reference.NodeTable", lambda *a: NodeTable(*a, **known))
    grown = Grown(X, y[:, None], Squared(), n_trees=10, budget=2000, rate=0.1, window=1, n_visits=3)
    starts = grown.records["start"]
    assert (starts < 0).any()
    assert (starts >= 0).any()
    for node in range(len(grown.records)):
        # A split has reordered what a small node keeps.
        np.testing.assert_array_equal(np.sort(grown.rows(node)), path_rows(X, grown.records, node))


def path_rows(X, records, node):
    goes = np.ones(len(X), dtype=bool)
    while (parent := records["parent"][node]) >= 0:
        left = X[:, records["feature"][parent]] <= records["threshold"][parent]
        goes &= left if records["child"][parent] == node else ~left
        node = parent
    return np.flatnonzero(goes)
