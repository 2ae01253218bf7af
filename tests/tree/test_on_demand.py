"""Walks of trees that wait for features against a walk in plain Python."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetlearn.tree.convert import from_sklearn
from budgetlearn.tree.predictor import ForestPredictor

N_TREES = 7


@pytest.fixture(scope="module")
def trees():
    X, y = make_classification(600, 9, n_informative=5, n_classes=3, random_state=0)
    return from_sklearn(RandomForestClassifier(N_TREES, random_state=0).fit(X, y))


def table(n_samples, seed=1):
    return np.random.default_rng(seed).normal(size=(n_samples, 9))


def finish(predictor, X, refused=None, **options):
    """Supply features until nothing waits; return the walk and what was asked for."""
    walking = predictor.waiting_trees(len(X), N_TREES, **options)
    asked = np.zeros(X.shape, dtype=bool)
    refused = np.zeros(X.shape, dtype=bool) if refused is None else refused
    while walking.waiting.any():
        feature = int(walking.waiting.argmax())
        rows = walking.rows(feature)
        assert (np.diff(rows) > 0).all()
        assert not asked[rows, feature].any()
        asked[rows, feature] = True
        walking.supply(feature, rows, X[rows, feature], refused[rows, feature].view(np.uint8))
    return walking, asked


def path(tree, x, refused):
    """Return the leaf (None: a feature is refused) and the features that a walk asks for."""
    node, needed = 0, []
    while tree.children_left[node] >= 0:
        needed.append(tree.feature[node])
        if refused[needed[-1]]:
            return None, needed
        left = x[tree.feature[node]] <= tree.threshold[node]
        node = (tree.children_left if left else tree.children_right)[node]
    return node, needed


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("n_samples", [1, 5, 600, 9000])
def test_what_is_reached_and_asked_for_is_that_of_a_walk_of_the_table(trees, n_samples, one_by_one):
    predictor, X = ForestPredictor(trees, 9), table(n_samples)
    walking, asked = finish(predictor, X, one_by_one=one_by_one)
    whole = predictor.walk(X, values=True, votes=True, acquired=True)
    np.testing.assert_array_equal(asked, whole.acquired)
    for votes, expected in ((False, whole.values), (True, whole.votes)):
        totals, n_counted = predictor.leaf_totals(walking, n_samples, votes=votes)
        np.testing.assert_array_equal(totals, expected)
        assert (n_counted == N_TREES).all()


@pytest.mark.parametrize("share", [0.03, 0.3])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_tree_that_cannot_have_a_feature_does_not_count(trees, one_by_one, share):
    predictor, X = ForestPredictor(trees, 9), table(300)
    refused = np.random.default_rng(2).random(X.shape) < share
    walking, asked = finish(predictor, X, refused, one_by_one=one_by_one)
    totals, n_counted = predictor.leaf_totals(walking, len(X))
    for row, x in enumerate(X):
        walks = [path(tree, x, refused[row]) for tree in trees]
        assert set(np.flatnonzero(asked[row])) == {f for _, needed in walks for f in needed}
        reached = [(tree, leaf) for tree, (leaf, _) in zip(trees, walks, strict=True) if leaf]
        assert n_counted[row] == len(reached)
        expected = np.zeros(3)
        for tree, leaf in reached:
            expected += tree.value[leaf]
        np.testing.assert_array_equal(totals[row], expected)


@pytest.mark.parametrize("per_step", [1, 3])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_sum_ends_before_the_step_that_lacks_a_feature(trees, one_by_one, per_step):
    predictor, X = ForestPredictor(trees, 9), table(300)
    refused = np.random.default_rng(3).random(X.shape) < 0.05
    options = {"one_by_one": one_by_one, "until_refused": True}
    walking, asked = finish(predictor, X, refused, **options)
    totals, n_counted = predictor.leaf_totals(walking, len(X), per_step=per_step)
    for row, x in enumerate(X):
        walks, needed = [], set()
        for tree in trees:
            leaf, features = path(tree, x, refused[row])
            needed |= set(features)
            if leaf is None:
                break
            walks.append(tree.value[leaf])
        n_whole = len(walks) // per_step * per_step if len(walks) < N_TREES else N_TREES
        assert n_counted[row] == n_whole
        np.testing.assert_array_equal(totals[row], sum(walks[:n_whole], np.zeros(3)))
        owned = set(np.flatnonzero(asked[row]))
        assert owned == needed if one_by_one else owned >= needed
    assert 0 < n_counted.mean() < N_TREES


def test_what_is_known_so_far_counts(trees):
    predictor, X = ForestPredictor(trees, 9), table(50)
    walking = predictor.waiting_trees(50, N_TREES)
    before = np.zeros(50, dtype=int)
    assert not predictor.leaf_totals(walking, 50)[1].any()
    while walking.waiting.any():
        feature = int(walking.waiting.argmax())
        rows = walking.rows(feature)
        n_waiting = walking.waiting.sum()
        walking.supply(feature, rows, X[rows, feature], np.zeros(rows.size, dtype=np.uint8))
        totals, n_counted = predictor.leaf_totals(walking, 50, votes=True)
        np.testing.assert_array_equal(totals.sum(axis=1), n_counted)
        assert n_counted.sum() + walking.waiting.sum() == 50 * N_TREES
        assert (n_counted >= before).all()
        assert n_waiting > 0
        before = n_counted


def test_lone_leaves_wait_for_nothing():
    X, y = np.ones((6, 2)), [0, 0, 0, 0, 0, 1]
    trees = from_sklearn(RandomForestClassifier(3, bootstrap=False).fit(X, y))
    predictor = ForestPredictor(trees, 2)
    walking = predictor.waiting_trees(4, 3, one_by_one=True)
    assert not walking.waiting.any()
    assert predictor.leaf_totals(walking, 4, votes=True)[0].tolist() == [[3, 0]] * 4
