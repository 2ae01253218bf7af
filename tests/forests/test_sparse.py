"""Sparse tables: what is learned and predicted is that of the same table with its zeros."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification

from budgetlearn import (
    BudgetRFClassifier,
    BudgetRFRegressor,
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    FMCCClassifier,
    GIFClassifier,
    GIFRegressor,
    ScheduleCascadeClassifier,
)
from budgetlearn.protocol import checked_data
from budgetlearn.validation import ParameterError

SMALL = {"n_estimators": 5, "random_state": 0}
FORESTS = [
    BudgetRFClassifier(**SMALL),
    BudgetRFRegressor(**SMALL),
    GIFClassifier(50, learning_rate=0.3, **SMALL),
    GIFRegressor(50, learning_rate=0.3, **SMALL),
    CostSensitiveRFClassifier(**SMALL),
    CostSensitiveRFPathClassifier(cost_weights=[0.0, 0.1], **SMALL),
]
X, Y = make_classification(120, 6, flip_y=0.2, random_state=0)
X = np.maximum(X, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array, csr_matrix])
@pytest.mark.parametrize("forest", FORESTS, ids=type)
def test_a_sparse_table_is_the_same_table(forest, kind, dtype):
    rows, valid = X[:80].astype(dtype), X[80:].astype(dtype)
    plain = clone(forest).fit(rows, Y[:80], valid, Y[80:])
    sparse = clone(forest).fit(kind(rows), Y[:80], kind(valid), Y[80:])
    ask = "predict_proba" if is_classifier(forest) else "predict"
    expected = getattr(plain, ask)(valid)
    np.testing.assert_array_equal(getattr(sparse, ask)(valid), expected)
    np.testing.assert_array_equal(getattr(plain, ask)(kind(valid)), expected)
    np.testing.assert_array_equal(
        plain.acquired_features(kind(valid)), plain.acquired_features(valid)
    )


def test_single_precision_stays_as_it_is():
    estimator = BudgetRFClassifier()
    assert checked_data.dense(estimator, csr_array(X.astype(np.float32))).dtype == np.float32
    assert checked_data.dense(estimator, csr_array((X > 1).astype(int))).dtype == np.float64


def test_a_sparse_table_too_large_is_refused(monkeypatch):
    forest = BudgetRFClassifier(**SMALL).fit(X, Y)
    monkeypatch.setattr(checked_data, "LARGEST_DENSE", X.size * 8 - 1)
    for method in (lambda: forest.predict(csr_array(X)), lambda: forest.fit(csr_array(X), Y)):
        with pytest.raises(ParameterError, match="bytes as a dense array, more than"):
            method()
    monkeypatch.setattr(checked_data, "LARGEST_DENSE", X.size * 8)
    forest.predict(csr_array(X))


def test_other_estimators_still_refuse_sparse_tables():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        FMCCClassifier().fit(csr_array(X), Y)


def test_the_cascade_takes_sparse_tables():
    cascade = ScheduleCascadeClassifier(
        estimators=("forest",), orders=("schedule",), n_stages=3, cv=2, random_state=0
    )
    plain, sparse = (clone(cascade).fit(rows, Y) for rows in (X, csr_array(X)))
    np.testing.assert_array_equal(sparse.predict_proba(csr_array(X)), plain.predict_proba(X))
    assert plain.operating_points_.equals(sparse.operating_points_)
