"""A larger budget is never worse on the validation data that chose within it."""

import numpy as np
import pytest
from sklearn.datasets import (
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, r2_score

from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.gif.pruning import SIZES

pytestmark = pytest.mark.usefixtures("quick_scores")

NOISY = make_classification(160, 8, n_informative=3, flip_y=0.3, random_state=0)
TABLES = {
    "numbers": (GIFRegressor, make_friedman1(160, noise=4.0, random_state=0)),
    "noise": (GIFRegressor, (NOISY[0], np.random.default_rng(0).normal(size=160))),
    "noisy classes": (GIFClassifier, NOISY),
    "three classes": (GIFClassifier, load_wine(return_X_y=True)),
    "ten classes": (GIFClassifier, tuple(part[:200] for part in load_digits(return_X_y=True))),
}
OPTIONS = {
    "grown": {"learning_rate": 0.5},
    "residuals": {"learning_rate": 0.5, "split_on": "residuals"},
    "pruned": {"joint_fit": "ridge", "ridge": 0.01, "prune_factor": 2},
    "pruned, auto": {"joint_fit": "ridge", "ridge": "auto"},
}


def fitted(name, **options):
    """Return a model of half of a table, chosen by the other half, and its score there."""
    kind, (X, y) = TABLES[name]
    scoring, score = ("r2", r2_score) if kind is GIFRegressor else ("accuracy", accuracy_score)
    model = kind(early_stopping=True, scoring=scoring, random_state=0, **options)
    model.fit(X[::2], y[::2], X[1::2], y[1::2])
    return model, score(y[1::2], model.predict(X[1::2]))


CASES = [(name, way) for name in TABLES for way in ("grown", "pruned")]
CASES += [("noisy classes", "residuals"), ("three classes", "pruned, auto")]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_more_bytes_are_never_worse_on_validation_data(name, way):
    options, scores = OPTIONS[way], []
    for n_bytes in (200, 450, 1000):
        limits = {"byte_budget": n_bytes, "byte_format": "int8"}
        model, score = fitted(name, node_budget=150, n_estimators=12, **limits, **options)
        assert model.nbytes("int8") <= n_bytes
        scores.append(score)
    assert np.diff(scores).min() >= -1e-9, scores


@pytest.mark.parametrize("name", TABLES)
def test_nor_are_more_nodes_nor_later_stages(name):
    options = OPTIONS["grown"] | {"n_estimators": 12}
    X = TABLES[name][1][0]
    largest, _ = fitted(name, node_budget=200, **options)
    scores = []
    for n_nodes in (40, 77, 150):
        model, score = fitted(name, node_budget=n_nodes, **options)
        scores.append(score)
        # A smaller budget of the same growth keeps the same.
        same = largest.within(n_nodes)
        assert same.n_nodes_ == model.n_nodes_
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert np.diff(scores).min() >= 0
    assert np.diff(largest.operating_points_["score"]).min(initial=0) >= 0


def test_what_is_kept_is_the_best_of_all_sizes_that_fit():
    kind, (X, y) = TABLES["noisy classes"]
    forest = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    pruned = {"joint_fit": "ridge", "forest": forest, "ridge": 0.1}
    model, score = fitted("noisy classes", node_budget=700, **pruned)
    assert model.n_nodes_ < 600, "fewer nodes predict better here"
    for size in SIZES[(SIZES > 1) & (SIZES <= 700)][::4]:
        other = kind(int(size), **pruned).fit(X[::2], y[::2])
        # Rounds of other sizes drop other nodes: as good but for a few rows.
        assert (other.predict(X[1::2]) == y[1::2]).mean() < score + 0.03
    X, y = TABLES["three classes"][1]
    held_out = GIFClassifier(100, joint_fit="ridge", early_stopping=True, n_estimators=10)
    assert 0 < held_out.fit(X, y).n_nodes_ <= 100
