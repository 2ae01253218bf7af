"""Leaf values fitted together."""

import pickle

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_classification

from budgetlearn.budgetrf import BudgetRFClassifier, Growth, Leaves
from budgetlearn.budgetrf.leaf_refit import PRIOR, LogisticRefit, prefix_sizes
from budgetlearn.protocol.checked_data import Examples
from budgetlearn.testing import check_budgeted_estimator

X, Y = make_classification(
    240, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
)
TRAIN, VALID = slice(None, 160), slice(160, None)


def grown(**settings):
    return BudgetRFClassifier(
        n_estimators=5,
        growth=Growth(max_depth=3, impurity="entropy", split="expected"),
        random_state=0,
        **settings,
    )


@pytest.fixture(scope="module")
def forest():
    return grown(leaves=Leaves(joint_fit=True)).fit(X[TRAIN], Y[TRAIN], X[VALID], Y[VALID])


def test_prefixes_grow_geometrically():
    assert prefix_sizes(1) == [1]
    assert prefix_sizes(2) == [1, 2]
    assert prefix_sizes(40) == [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 40]


def test_values_are_a_minimum():
    trees = grown().fit(X, Y).trees_
    weight = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    weight /= weight.mean()
    refit = LogisticRefit(trees, Examples(X, Y, Y, weight), None)
    (penalty, values), *_ = refit._path(5, [2.0])
    Z = refit.table.indicator(5)
    miss = weight[:, None] * (softmax(Z @ values, axis=1) - np.eye(3)[Y])
    slope = Z.T @ miss + penalty * (values - refit.start / 5)
    assert np.abs(slope).max() < 0.05
    assert np.abs(Z.T @ miss).max() > 1  # where there was no penalty it would go on


def test_a_large_penalty_averages_probabilities_geometrically():
    plain = grown().fit(X, Y)
    forest = grown(leaves=Leaves(joint_fit=1e9)).fit(X, Y)
    leaves, logs = plain.apply(X), 0.0
    for tree, at in zip(plain.trees_, leaves.T, strict=True):
        logs = logs + np.log(tree.value[at] + PRIOR) / 5
    np.testing.assert_allclose(forest.predict_proba(X), softmax(logs, axis=1), atol=1e-4)


def test_stages_are_refitted_prefixes(forest):
    assert [point["trees"] for point in forest.operating_points_["setting"]] == [1, 2, 3, 4, 5]
    assert forest.n_stages_ == len(forest.penalties_) == 5
    staged = list(forest.staged_predict_proba(X))
    np.testing.assert_array_equal(staged[-1], forest.predict_proba(X))
    budget = forest.operating_points_["cost"][1]
    decided = forest.decisions(X, budget)
    np.testing.assert_array_equal(decided.prediction, forest.predict(X, budget))
    np.testing.assert_allclose(decided.probabilities, forest.predict_proba(X, budget))
    again = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(forest.compact().predict(X), forest.predict(X))


def test_leaves_fitted_together_predict_better_than_votes():
    table = np.random.default_rng(0).normal(size=(900, 5))
    y = (table.sum(axis=1) > 0).astype(int)
    errors = []
    for leaves in (False, 3.0):
        stumps = grown(leaves=Leaves(joint_fit=leaves))
        stumps.set_params(n_estimators=30, growth__max_depth=1)
        errors.append(1 - stumps.fit(table[:500], y[:500]).score(table[500:], y[500:]))
    assert errors[1] < 0.6 * errors[0]


def test_a_refit_keeps_what_was_chosen(forest):
    settings = {"leaves": Leaves(prune=[0.0, 1.0], joint_fit=True), "refit": True}
    again = grown(**settings).fit(X[TRAIN], Y[TRAIN], X[VALID], Y[VALID])
    assert again.trees_[0].value[0].sum() == len(Y)
    first = grown(**settings | {"refit": False}).fit(X[TRAIN], Y[TRAIN], X[VALID], Y[VALID])
    assert (again.penalties_, again.prune_) == (first.penalties_, first.prune_)
    assert again.n_stages_ == len(again.operating_points_)


def test_protocol():
    forest = grown(leaves=Leaves(prune=0.5, joint_fit=[30.0, 3.0]))
    check_budgeted_estimator(forest.set_params(growth__reuse_discount=0.5))
