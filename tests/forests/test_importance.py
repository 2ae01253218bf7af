"""Permutation importance: equal to plain re-prediction, whatever the threads, and sensible."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.inspection import permutation_importance as peer_importance

from budgetlearn.budgetrf import BudgetRFClassifier, Leaves
from budgetlearn.exceptions import MissingValueError
from budgetlearn.forests import (
    CostSensitiveRFClassifier,
    RandomForestClassifier,
    oob_permutation_importance,
    permutation_importance,
)
from budgetlearn.gif import GIFClassifier
from budgetlearn.tree.bootstrap import bootstrap_weights
from budgetlearn.validation import ParameterError
from tests.tree.reference import walk


def table(n_classes=3, n=240):
    X, y = make_classification(
        n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    X[:, 2] = X[:, 2].round()  # a feature of few values
    X[:, 7] = 1.0  # one that no tree tests
    return X, y


def slow_importance(forest, X, y, n_repeats, seed):
    """Predict the whole table anew for each feature and permutation."""
    random = np.random.RandomState(seed)
    partners = [random.permutation(len(X)) for _ in range(n_repeats)]
    falls = np.empty((X.shape[1], n_repeats))
    for feature in range(X.shape[1]):
        for repeat, rows in enumerate(partners):
            changed = X.copy()
            changed[:, feature] = X[rows, feature]
            falls[feature, repeat] = forest.score(X, y) - forest.score(changed, y)
    return falls


def slow_oob_importance(forest, X, y, seed):
    """Walk every left-out example down its tree, once as it is and once for each feature."""
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=len(forest.trees_))
    falls = np.zeros((len(forest.trees_), X.shape[1]))
    for index, tree in enumerate(forest.trees_):
        rows = np.flatnonzero(bootstrap_weights(len(X), forest.tree_seeds_[index]) == 0)
        partners = np.random.default_rng(int(seeds[index])).permutation(rows)

        def right(table, rows=rows, tree=tree):
            told = [tree.value[walk(tree, x)[0]].argmax() for x in table]
            return np.mean(forest.classes_[told] == y[rows])

        for feature in range(X.shape[1]):
            changed = X[rows]
            changed[:, feature] = X[partners, feature]
            falls[index, feature] = right(X[rows]) - right(changed)
    return falls.mean(axis=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(n_estimators=7),
        BudgetRFClassifier(n_estimators=5, alpha=2),
        BudgetRFClassifier(n_estimators=12, leaves=Leaves(joint_fit=1.0)),
    ],
)
def test_equals_predicting_anew(forest, n_classes):
    X, y = table(n_classes)
    forest = forest.set_params(random_state=1).fit(X[:140], y[:140])
    ours = permutation_importance(forest, X[140:], y[140:], n_repeats=3, random_state=4)
    twin = slow_importance(forest, X[140:], y[140:], 3, 4)
    np.testing.assert_allclose(ours.importances, twin, atol=1e-12)
    np.testing.assert_allclose(ours.importances_mean, twin.mean(axis=1), atol=1e-12)


def test_out_of_bag_equals_walking_anew():
    X, y = table()
    forest = RandomForestClassifier(n_estimators=6, max_bins=16, random_state=0).fit(X, y)
    ours = oob_permutation_importance(forest, X, y, random_state=3)
    np.testing.assert_allclose(ours, slow_oob_importance(forest, X, y, 3), atol=1e-12)


def test_tables_of_other_number_types_are_the_same():
    X, y = table(2)
    X = X.round(1).astype(np.float32)
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    found = [
        permutation_importance(forest, some, y, random_state=0).importances
        for some in (X, X.astype(np.float64), np.asfortranarray(X))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_n_jobs_does_not_matter():
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=8, random_state=0).fit(X[:900], y[:900])
    held_out = X[900:], y[900:]
    one, two = (
        permutation_importance(forest, *held_out, random_state=0, n_jobs=n).importances
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    one, two = (
        oob_permutation_importance(forest, X[:900], y[:900], random_state=0, n_jobs=n)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_agrees_with_the_peer_on_our_forest():
    X, y = table(2, 2000)
    forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X[:1000], y[:1000])
    held_out = X[1000:], y[1000:]
    ours = permutation_importance(forest, *held_out, n_repeats=10, random_state=0)
    peer = peer_importance(forest, *held_out, n_repeats=10, random_state=1)
    spread = np.maximum(ours.importances_std, peer.importances_std)
    assert (abs(ours.importances_mean - peer.importances_mean) <= 3 * spread).all()
    assert ours.importances_mean[7] == 0
    oob = oob_permutation_importance(forest, X[:1000], y[:1000], random_state=0)
    assert np.corrcoef(oob, ours.importances_mean)[0, 1] > 0.9


def test_unknown_labels_are_never_right():
    X, y = table(2)
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    found = permutation_importance(forest, X, np.full(len(y), "other"), random_state=0)
    assert not found.importances.any()


def test_out_of_bag_refuses_rows_that_the_trees_did_not_grow_on():
    X, y = table()
    weight = np.ones(len(y))
    weight[:40] = 0
    weighed = RandomForestClassifier(n_estimators=4, random_state=0)
    weighed.fit(X, y, sample_weight=weight)
    without = RandomForestClassifier(n_estimators=4, random_state=0).fit(X[40:], y[40:])
    np.testing.assert_array_equal(
        oob_permutation_importance(weighed, X[40:], y[40:], random_state=0),
        oob_permutation_importance(without, X[40:], y[40:], random_state=0),
    )
    held_out = BudgetRFClassifier(n_estimators=4, budget=8, random_state=0).fit(X, y)
    mixed = clone(held_out).set_params(refit=True).fit(X, y)
    for forest, rows in ((weighed, X), (without, X[40:][::-1]), (held_out, X), (mixed, X)):
        with pytest.raises(ParameterError, match="rows that the forest grew on, in their order"):
            oob_permutation_importance(forest, rows, y[: len(rows)], random_state=0)


@pytest.mark.parametrize(
    ("forest", "words"),
    [
        (CostSensitiveRFClassifier(n_estimators=2), "tree_seeds_, which a CostSensitiveRFC"),
        (GIFClassifier(node_budget=20, n_estimators=5), "votes? for classes, got a GIFClassifier"),
    ],
)
def test_out_of_bag_is_known_only_of_forests_that_keep_their_seeds(forest, words):
    X, y = table(2)
    with pytest.raises(ParameterError, match=words):
        oob_permutation_importance(forest.fit(X, y), X, y)


def test_missing_values_are_not_exchanged():
    X, y = table(2)
    forest = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    X[[5, 9], 1] = np.nan
    for importance in (permutation_importance, oob_permutation_importance):
        with pytest.raises(MissingValueError, match=r"NaN\) in row 6 .*2 such rows"):
            importance(forest, X, y)


def test_bad_input():
    X, y = table(2)
    whole = RandomForestClassifier(n_estimators=2, bootstrap=False).fit(X, y)
    with pytest.raises(ParameterError, match="bootstrap"):
        oob_permutation_importance(whole, X, y)
    with pytest.raises(ParameterError, match="n_repeats"):
        permutation_importance(whole, X, y, n_repeats=0)
    with pytest.raises(ValueError, match="inconsistent"):
        permutation_importance(whole, X, y[:-1])
    with pytest.raises(ValueError, match="8 features"):
        permutation_importance(whole, X[:, :5], y)
