"""The best model of so many bytes: which kind it is, and that the choice is by held-out rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from budgetlearn import recommend_for_bytes
from budgetlearn.auto import device
from budgetlearn.exceptions import BudgetError
from budgetlearn.export import CompactForest, CompactNetwork


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let forests grow little."""
    monkeypatch.setattr(device, "GROWN", 1)


def boxes(n=300):
    """Return rows whose class a few splits tell."""
    X = np.random.default_rng(0).uniform(size=(n, 30))
    return X, np.where((X[:, 0] > 0.6) & (X[:, 1] > 0.3), "in", "out")


def sums(n=300):
    """Return rows whose target is a sum, some of it missing."""
    X = np.random.default_rng(0).normal(size=(n, 6))
    y = X @ np.arange(1, 7)
    X[::5, 0] = np.nan
    return X, y


@pytest.mark.parametrize(
    ("table", "task", "kind", "expected"),
    [
        (boxes, "classification", "forest", CompactForest),
        (sums, "regression", "perceptron", CompactNetwork),
    ],
)
def test_it_names_the_kind_that_errs_less_and_writes_it(
    table, task, kind, expected, tmp_path, monkeypatch
):
    X, y = table()
    monkeypatch.setattr(device, "LEAST_BYTES", 150)
    found = recommend_for_bytes(X[:200], y[:200], 600, task, random_state=0)
    # Smaller models compete as if they were asked for, so more bytes never err more.
    quarter = recommend_for_bytes(X[:200], y[:200], 150, task, random_state=0)
    smaller = found.tried[found.tried["limit"] == 150]
    assert 1 <= len(smaller) == len(quarter.tried) < len(found.tried)
    assert smaller["error"].tolist() == quarter.tried["error"].tolist()
    assert found.name == kind
    assert isinstance(found.model, expected)
    assert (found.tried["bytes"] <= 600).all()
    assert set(found.tried["model"]) == {"forest", "perceptron"}
    best = found.tried.loc[found.tried["error"].idxmin()]
    assert best["model"] == kind
    assert found.model.nbytes <= 600
    predicted = found.model.predict(X[200:])
    if task == "regression":
        assert np.square(predicted - y[200:]).mean() < 0.15 * y.var()
    else:
        assert (predicted == y[200:]).mean() > 0.9
    found.model.export_c(tmp_path / "model.h")
    assert "model_predict" in (tmp_path / "model.h").read_text()


def remembering(size):
    """Return a stand-in for a kind: knows its training targets, and says 3 of other rows."""

    def made(byte_budget, task, seed, setting, X, y, *valid):
        known = dict(zip(X[:, 0], y, strict=True))

        def predict(rows):
            return np.array([known.get(value, 3.0) for value in rows[:, 0]])

        return SimpleNamespace(predict=predict, nbytes=size), setting

    return made


def test_errors_are_those_of_rows_put_aside_and_of_equals_the_smallest_is_taken(monkeypatch):
    monkeypatch.setattr(device, "KINDS", {"forest": remembering(50), "perceptron": remembering(40)})
    X, y = np.arange(40.0)[:, None], np.zeros(40)
    for task, error in (("regression", 9.0), ("classification", 1.0)):
        found = recommend_for_bytes(X, y, 60, task, random_state=0)
        assert set(found.tried["error"]) == {error}
        assert found.name == "perceptron"
        assert (found.model.predict(X) == y).all()


def test_where_nothing_can_be_split_the_constant_fits():
    found = recommend_for_bytes(np.ones((60, 3)), np.arange(60) % 4 == 0, 300, random_state=0)
    assert not found.model.predict(np.ones((2, 3))).any()


def test_what_no_model_fits_names_the_least():
    X, y = boxes(60)
    with pytest.raises(BudgetError, match="the smallest model takes") as refused:
        recommend_for_bytes(X, y, 20, random_state=0)
    assert 20 < refused.value.cheapest < 100
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        recommend_for_bytes(X, X[:, 0], 200, random_state=0)
