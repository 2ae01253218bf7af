"""Budgets in bytes."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1

from budgetlearn.exceptions import BudgetError, BudgetlearnWarning
from budgetlearn.export import FORMATS
from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.validation import ParameterError

DATA = {
    "regression": (GIFRegressor, make_friedman1(200, noise=1.0, random_state=0)),
    "two classes": (GIFClassifier, load_breast_cancer(return_X_y=True)),
    "ten classes": (GIFClassifier, tuple(part[:300] for part in load_digits(return_X_y=True))),
}
GROWN = {"n_estimators": 50, "learning_rate": 0.3}
PRUNED = {"n_estimators": "auto", "joint_fit": "ridge", "prune_factor": 3}
OPTIONS = {"grown": GROWN, "pruned": PRUNED, "refitted": GROWN | {"joint_fit": 2}}


@pytest.mark.parametrize("way", OPTIONS)
@pytest.mark.parametrize("name", DATA)
def test_bytes_are_kept_and_used(name, way):
    # Each format with every table and with every way of growth once.
    format = FORMATS[([*DATA].index(name) + [*OPTIONS].index(way)) % len(FORMATS)]
    (kind, data), options = DATA[name], OPTIONS[way]
    model = kind(900, byte_budget=1500, byte_format=format, random_state=0, **options).fit(*data)
    assert 1300 < model.nbytes(format) <= 1500
    assert len(model.compact(format).to_bytes()) == model.nbytes(format)
    assert model.stored_bytes(model.n_stages_ - 1) == model.nbytes("float32")
    if options is GROWN:
        whole = kind(900, random_state=0, **options).fit(*data)
        larger = [whole.within(model.n_nodes_ + more) for more in range(3)]
        fit = [each.n_nodes_ for each in larger if each.nbytes(format) <= 1500]
        assert max(fit) == model.n_nodes_
    nodes = kind(60, byte_budget=10**6, byte_format=format, random_state=0, **options)
    with pytest.warns(match="less than two nodes") if options is not PRUNED else nullcontext():
        assert 50 < nodes.fit(*data).n_nodes_ <= 60


def test_as_many_trees_are_refitted_within_the_bytes_as_were_grown():
    X, y = DATA["regression"][1]
    for seed in range(4):
        options = {"n_estimators": "auto", "joint_fit": 1, "random_state": seed}
        model = GIFRegressor(140, byte_budget=200, byte_format="float16", **options).fit(X, y)
        assert model.nbytes("float16") <= 200
        assert model.node_distribution_.size == 28  # a fifth of 140


def test_a_table_too_wide_for_the_format_is_refused_before_the_forest_grows(monkeypatch):
    monkeypatch.setattr("budgetlearn.gif.forest.grown_forest", None)  # it is not called
    X = np.zeros((4, 65_537))
    model = GIFRegressor(100, n_estimators=10, byte_budget=1500)
    with pytest.raises(ParameterError, match="at most 65,536 features, got 65,537"):
        model.fit(X, [0, 1, 2, 3])


def test_budgets_that_no_model_keeps():
    kind, data = DATA["regression"]
    for options in (GROWN, PRUNED):
        with pytest.raises(BudgetError, match=r"byte_budget=5 is less than the \d+ bytes") as told:
            kind(400, byte_budget=5, **options).fit(*data)
        least = kind(400, byte_budget=told.value.cheapest, random_state=0, **options)
        if options is GROWN:
            with pytest.warns(BudgetlearnWarning, match="leaves room for no node") as warned:
                least.fit(*data)
            assert warned[0].filename == __file__
        else:
            least.fit(*data)
        assert (least.n_nodes_ == 0) == (options is GROWN)
    with pytest.raises(ParameterError, match="byte_format must be one of"):
        kind(400, byte_format="int4", **GROWN).fit(*data)
