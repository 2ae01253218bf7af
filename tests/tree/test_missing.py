"""Missing values: each split sends them where it is better, and every walk sends them there."""

from dataclasses import replace

import numpy as np
import pytest

from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import GrowthRule
from budgetlearn.tree.impurity import Entropy, ThresholdPairs
from budgetlearn.tree.predictor import ForestPredictor
from tests.tree import reference
from tests.tree.growing import grow_tree
from tests.tree.test_growth import IMPURITIES, make_table

RULES = [
    ("pairs", "minimax", "risk"),
    ("entropy", "expected", "gain"),
    ("gini", "expected", "risk"),
]


def holed(n, kind, n_classes, seed):
    """Return a table that lacks every tenth cell, of one class three in ten; not in column 0."""
    X, labels, weights = make_table(n, kind, n_classes, seed)
    rng = np.random.default_rng(seed)
    holes = rng.random(X.shape) < 0.1 + 0.2 * (labels[:, None] == 0)
    holes[:, 0] = False
    X[holes] = np.nan
    return X, labels, weights


def coded(X, missing=None):
    return bin_features(X, missing=np.isnan(X).any(axis=0) if missing is None else missing)


def goes_left(tree, node, x):
    """Return which of the values of the node's feature go left."""
    if tree.missing_left is not None and tree.missing_left[node]:
        return (x <= tree.threshold[node]) | np.isnan(x)
    return x <= tree.threshold[node]


def scores(X, labels, weights, n_classes, function, rule, prices):
    """Return {(feature, the rows that go left): score} of all splits by both sides of missing."""
    found = {}
    for side in (np.inf, -np.inf):
        filled = np.where(np.isnan(X), side, X)
        best = reference.best_splits(
            filled, labels, weights, n_classes, function, rule.split, rule.score, prices
        )
        for (feature, low, _), score in best.items():
            found[feature, (filled[:, feature] <= low).tobytes()] = score
    return found


@pytest.mark.parametrize(("name", "split", "score"), RULES)
def test_every_split_is_a_best_one_of_both_sides(name, split, score):
    shapes = [(18, "mixed", 3), (60, "continuous", 7), (250, "binary", 2), (1200, "few", 2)]
    sides = []
    for seed, (n, kind, n_classes) in enumerate(shapes):
        X, labels, weights = holed(n, kind, n_classes, seed)
        X, labels, weights = X[weights > 0], labels[weights > 0], weights[weights > 0]
        rule = GrowthRule(IMPURITIES[name][0], split, score, max_depth=4)
        prices = np.arange(X.shape[1]) % 3.0 if score == "risk" else np.zeros(X.shape[1])
        tree = grow_tree(coded(X), labels, weights, n_classes, rule, prices, seed)
        reached = {0: np.ones(len(X), dtype=bool)}
        for node in range(tree.node_count):
            rows = reached[node]
            counts = np.bincount(labels[rows], weights[rows], minlength=n_classes)
            np.testing.assert_array_equal(tree.value[node], counts)
            if tree.children_left[node] < 0:
                continue
            x = X[rows]
            left = goes_left(tree, node, x[:, tree.feature[node]])
            side = rows.copy()
            side[rows] = left
            reached[int(tree.children_left[node])] = side
            reached[int(tree.children_right[node])] = rows & ~side
            possible = scores(
                x, labels[rows], weights[rows], n_classes, IMPURITIES[name][1], rule, prices
            )
            own = possible[tree.feature[node], left.tobytes()]
            assert own == pytest.approx(min(possible.values()), rel=1e-9)
            lacking = np.isnan(x[:, tree.feature[node]])
            sides.append(left[lacking].any() * 2 + lacking.any())
            if not lacking.any() and np.isnan(X[:, tree.feature[node]]).any():
                heavier = weights[rows][left].sum() > weights[rows][~left].sum()
                assert (tree.missing_left is not None and tree.missing_left[node]) == heavier
    assert {0, 1, 3} <= set(sides)


def test_a_code_for_missing_values_alone_changes_no_tree():
    X, labels, weights = make_table(300, "mixed", 3, 0)
    for rule in (GrowthRule(ThresholdPairs(), "minimax", "risk"), GrowthRule(Entropy())):
        trees = [
            grow_tree(coded(X, np.full(7, missing)), labels, weights, 3, rule, np.ones(7), 0)
            for missing in (False, True)
        ]
        np.testing.assert_array_equal(trees[0].threshold, trees[1].threshold)
        np.testing.assert_array_equal(trees[0].value, trees[1].value)
        assert trees[0].missing_left is None
        assert trees[1].missing_left.any()


def test_codes_of_missing_values_are_the_largest():
    X = np.array([[np.nan, np.nan], [2.0, np.nan], [1.0, np.nan]])
    data = coded(X)
    np.testing.assert_array_equal(data.codes, [[2, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(data.n_codes, [3, 1])
    np.testing.assert_array_equal(data.lowest, [1.0, 2.0, np.nan, np.nan])


@pytest.fixture(scope="module")
def forest():
    X, labels, _ = holed(700, "mixed", 3, 5)
    rule = GrowthRule(Entropy(), max_features=2)
    trees = [
        grow_tree(coded(X), labels, np.ones(700), 3, rule, np.zeros(7), seed) for seed in range(5)
    ]
    assert all(tree.missing_left.any() for tree in trees)
    return X, trees


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [7, 700])
def test_walks_send_missing_values_where_the_splits_say(forest, n_rows, dtype):
    X, trees = forest[0][:n_rows].astype(dtype), forest[1]
    values, votes, leaves, acquired = reference.walk_forest(trees, X)
    predictor = ForestPredictor(trees, 7)
    walk = predictor.walk(X, values=True, votes=True, leaves=True, acquired=True, n_jobs=2)
    np.testing.assert_allclose(walk.values, values)
    np.testing.assert_array_equal(walk.votes, votes)
    np.testing.assert_array_equal(walk.leaves, leaves)
    np.testing.assert_array_equal(walk.acquired, acquired)
    *_, last = predictor.staged_walk(X, acquired=True)
    np.testing.assert_array_equal(last.acquired, acquired)


def test_small_trees_are_swept_alike(forest):
    X, _ = forest
    labels = np.random.default_rng(0).integers(2, size=700).astype(np.int32)
    rule = GrowthRule(Entropy(), max_depth=2)
    tree = grow_tree(coded(X), labels, np.ones(700), 2, rule, np.zeros(7), 0)
    if tree.missing_left is None:
        tree = replace(tree, missing_left=~tree.is_leaf)
    predictor = ForestPredictor([tree] * 200, 7)
    assert predictor._small_trees.pay(700, 0, 200)
    leaves = reference.walk_forest([tree], X)[2][:, 0]
    np.testing.assert_allclose(predictor.walk(X, values=True).values, 200 * tree.value[leaves])


@pytest.mark.parametrize("one_by_one", [False, True])
def test_walks_on_demand_ask_for_a_feature_once(forest, one_by_one):
    X, trees = forest
    predictor = ForestPredictor(trees, 7)
    walking = predictor.waiting_trees(len(X), 5, one_by_one=one_by_one)
    asked = np.zeros(X.shape, dtype=bool)
    while walking.waiting.any():
        feature = int(walking.waiting.argmax())
        rows = walking.rows(feature)
        assert not asked[rows, feature].any()
        asked[rows, feature] = True
        walking.supply(feature, rows, X[rows, feature], np.zeros(rows.size, dtype=np.uint8))
    whole = predictor.walk(X, votes=True, acquired=True)
    totals, n_counted = predictor.leaf_totals(walking, len(X), votes=True)
    np.testing.assert_array_equal(totals, whole.votes)
    np.testing.assert_array_equal(asked, whole.acquired)
    assert (n_counted == 5).all()
