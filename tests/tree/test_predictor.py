"""Walks down the trees of a forest against a walk in plain Python."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier

from budgetlearn.tree.convert import from_sklearn
from budgetlearn.tree.predictor import ForestPredictor, Tree
from tests.tree.reference import walk_forest


@pytest.fixture(scope="module", params=[1, 7, 600])
def forest(request):
    X, y = make_classification(
        request.param + 300, 9, n_informative=5, n_classes=3, random_state=request.param
    )
    fitted = RandomForestClassifier(19, random_state=0).fit(X, y)
    return fitted, from_sklearn(fitted), X[: request.param].astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_walk_equals_plain_python(forest, dtype):
    _, trees, X = forest
    X = X.astype(dtype)
    predictor = ForestPredictor(trees, X.shape[1])
    walk = predictor.walk(X, values=True, votes=True, leaves=True, acquired=True)
    for ours, expected in zip(walk, walk_forest(trees, X), strict=True):
        np.testing.assert_array_equal(ours, expected)
    # Only some trees count for a row; without other parts, these rows alone are walked.
    counts, sums = np.random.default_rng(0).random((len(trees), len(X))) < 0.4, 0 * walk.values
    for tree, rows, leaves in zip(trees, counts, walk.leaves.T, strict=True):
        sums[rows] += tree.value[leaves[rows]]
    for others in ({}, {"acquired": True}):
        counted = predictor.walk(X, values=True, counts=counts, **others)
        np.testing.assert_array_equal(counted.values, sums)


def test_walk_does_not_depend_on_n_jobs(forest):
    _, trees, X = forest
    X = np.tile(X, (12, 1))
    predictor = ForestPredictor(trees, X.shape[1])
    one, two = (
        predictor.walk(X, values=True, votes=True, leaves=True, acquired=True, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_staged_walk_ends_at_the_walk_and_only_grows(forest):
    _, trees, X = forest
    predictor = ForestPredictor(trees, X.shape[1])
    before = np.zeros(X.shape, dtype=bool)
    for n_trees, walk in enumerate(predictor.staged_walk(X, values=True, acquired=True), start=1):
        prefix = predictor.walk(X, values=True, acquired=True, trees=(0, n_trees))
        np.testing.assert_array_equal(walk.values, prefix.values)
        np.testing.assert_array_equal(walk.acquired, prefix.acquired)
        assert (walk.acquired >= before).all()
        before = walk.acquired.copy()
    assert n_trees == len(trees)


def test_what_is_not_asked_for_is_none(forest):
    _, trees, X = forest
    walk = ForestPredictor(trees, X.shape[1]).walk(X, leaves=True)
    assert walk.values is walk.votes is walk.acquired is None
    assert walk.leaves.shape == (len(X), len(trees))


def test_a_lone_leaf_acquires_nothing():
    leaf = Tree([-1], [0.0], [-1], [-1], [[2.0, 3.0]], [5])
    walk = ForestPredictor([leaf, leaf], 4).walk(
        np.ones((3, 4)), values=True, votes=True, acquired=True
    )
    np.testing.assert_array_equal(walk.values, [[4.0, 6.0]] * 3)
    np.testing.assert_array_equal(walk.votes, [[0, 2]] * 3)
    assert not walk.acquired.any()


def test_no_rows():
    leaf = Tree([-1], [0.0], [-1], [-1], [[1.0]], [5])
    assert ForestPredictor([leaf], 4).walk(np.ones((0, 4)), values=True).values.shape == (0, 1)


def test_wrong_number_of_columns_is_refused(forest):
    _, trees, X = forest
    with pytest.raises(ValueError, match="must have 9 columns"):
        ForestPredictor(trees, 9).walk(X[:, :4], values=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows_walk_as_few(forest, dtype):
    _, trees, X = forest
    X = np.random.default_rng(0).permutation(np.tile(X, (5000 // len(X), 1))).astype(dtype)
    predictor = ForestPredictor(trees, X.shape[1])
    asked = {"values": True, "votes": True, "leaves": True, "acquired": True}
    parts = [predictor.walk(X[start : start + 300], **asked) for start in range(0, len(X), 300)]
    for whole, *pieces in zip(predictor.walk(X, **asked), *parts, strict=True):
        np.testing.assert_array_equal(whole, np.concatenate(pieces))


def test_a_pickle_holds_the_trees_once(forest):
    _, trees, X = forest
    alone = len(pickle.dumps(trees))
    content = pickle.dumps((trees, ForestPredictor(trees, X.shape[1], shares=True)))
    assert len(content) < alone + 200
    predictor = pickle.loads(content)[1]
    expected = ForestPredictor(trees, X.shape[1], shares=True).walk(X, values=True, votes=True)
    walk = predictor.walk(X, values=True, votes=True)
    np.testing.assert_array_equal(walk.values, expected.values)
    np.testing.assert_array_equal(walk.votes, expected.votes)


@pytest.mark.parametrize("n_values", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_trees_are_swept_to_the_bits_of_a_walk(n_values, dtype):
    random = np.random.default_rng(n_values)
    X = random.integers(0, 9, size=(700, 4)) / 8  # many numbers are thresholds
    forest = ExtraTreesRegressor(200, max_leaf_nodes=6, random_state=0)
    trees = from_sklearn(forest.fit(X, random.normal(size=(700, n_values)).squeeze()))
    trees = [replace(tree, threshold=np.rint(8 * tree.threshold) / 8) for tree in trees]
    predictor = ForestPredictor(trees, 4)
    X = X.astype(dtype)
    assert predictor._small_trees.pay(len(X), 0, 200)
    assert not predictor._small_trees.pay(len(X), 0, 1)
    walked = predictor.walk(X, values=True, leaves=True)  # leaves have to be walked to
    np.testing.assert_array_equal(predictor.walk(X, values=True).values, walked.values)
    some, all_of_them = (predictor.walk(X, values=True, trees=part) for part in ((50, 200), None))
    part = predictor.walk(X, values=True, leaves=True, trees=(50, 200))
    np.testing.assert_array_equal(some.values, part.values)
    assert (some.values != all_of_them.values).any()
