"""Grown trees against a slow twin: every split is a best one, every leaf deserves to be one."""

import numpy as np
import pytest

from budgetlearn.tree.binning import BinnedData, bin_features
from budgetlearn.tree.growth import GrowthRule, TreeGrower
from budgetlearn.tree.impurity import Entropy, Gini, Polynomial, Powers, ThresholdPairs
from budgetlearn.tree.predictor import ForestPredictor
from tests.tree import reference
from tests.tree.growing import grow_tree

IMPURITIES = {
    "pairs": (ThresholdPairs(), lambda n: reference.impurity("pairs", n)),
    "pairs_2.5": (ThresholdPairs(2.5), lambda n: reference.impurity("pairs", n, 2.5)),
    "powers": (Powers(3), lambda n: reference.impurity("powers", n, 3)),
    "polynomial": (Polynomial(), lambda n: reference.impurity("polynomial", n)),
    "gini": (Gini(), lambda n: reference.impurity("gini", n)),
    "entropy": (Entropy(), lambda n: reference.impurity("entropy", n)),
}


def make_table(n, kind, n_classes, seed):
    """Return X (a mixture of column kinds), labels, bootstrap weights and prices."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=n).astype(np.int32)
    shift = labels[:, None] * rng.random(6)
    continuous = rng.normal(size=(n, 6)) + shift
    columns = {
        "continuous": continuous,
        "few": continuous.round(),
        "binary": (continuous > 0.5).astype(float),
        "mixed": np.c_[
            continuous[:, :2],
            continuous[:, 2:4].round(1),
            continuous[:, 4] > 0,
            np.zeros(n),
            np.where(rng.random(n) < 0.7, 0.0, continuous[:, 5]),
        ],
    }
    weights = np.bincount(rng.integers(n, size=n), minlength=n).astype(float)
    return columns[kind].astype(float), labels, weights


def rows_of_nodes(tree, X):
    """Return, for each node, the mask of the rows that reach it."""
    reached = {0: np.ones(len(X), dtype=bool)}
    for node in range(tree.node_count):
        if tree.children_left[node] >= 0:
            left = X[:, tree.feature[node]] <= tree.threshold[node]
            reached[int(tree.children_left[node])] = reached[node] & left
            reached[int(tree.children_right[node])] = reached[node] & ~left
    return reached


def check_tree(tree, X, labels, weights, n_classes, name, rule, prices):
    """Compare each node of a tree with all its possible splits."""
    _, function = IMPURITIES[name]
    for node, rows in rows_of_nodes(tree, X).items():
        x, y, w = X[rows], labels[rows], weights[rows]
        counts = np.bincount(y, w, minlength=n_classes)
        np.testing.assert_array_equal(tree.value[node], counts)
        assert tree.n_node_samples[node] == np.count_nonzero(w)
        how = rule.split, rule.score, prices
        scores = reference.best_splits(
            x, y, w, n_classes, function, *how, least=rule.min_samples_leaf
        )
        if tree.children_left[node] < 0:
            pure = np.count_nonzero(counts) < 2 or function(counts) <= 0
            assert pure or not scores or node_depth(tree, node) == rule.max_depth
            continue
        feature, threshold = tree.feature[node], tree.threshold[node]
        present = X[rows & (weights > 0), feature]
        low, high = present[present <= threshold].max(), present[present > threshold].min()
        assert threshold == pytest.approx((low + high) / 2, rel=1e-12)
        assert scores[feature, low, high] == pytest.approx(min(scores.values()), rel=1e-9)


def node_depth(tree, node):
    depth = 0
    while node:
        parents = (tree.children_left == node) | (tree.children_right == node)
        node = int(np.flatnonzero(parents)[0])
        depth += 1
    return depth


def check_trees(shapes, name, split, limit):
    """Check trees of several tables, the last part of a shape being a limit; return the trees."""
    trees = []
    for seed, (n, kind, n_classes, value) in enumerate(shapes):
        X, labels, weights = make_table(n, kind, n_classes, seed)
        prices = np.random.default_rng(seed).integers(0, 4, X.shape[1]).astype(float)
        # With the other way of splitting each shape has the other score.
        score = ("risk", "gain")[(seed + (split == "expected")) % 2]
        rule = GrowthRule(IMPURITIES[name][0], split, score, **{limit: value})
        charged = prices if score == "risk" else np.zeros(X.shape[1])
        tree = grow_tree(bin_features(X), labels, weights, n_classes, rule, charged, seed)
        check_tree(tree, X, labels, weights, n_classes, name, rule, charged)
        trees.append(tree)
    return trees


SHAPES = [
    (5, "few", 2, None),
    (18, "mixed", 3, None),
    (60, "continuous", 7, None),
    (60, "binary", 2, None),
    (250, "mixed", 2, 5),
    (600, "mixed", 3, 2),  # features of few codes are counted straight from the table
    (800, "few", 2, 3),
]


@pytest.mark.parametrize("split", ["minimax", "expected"])
@pytest.mark.parametrize("name", IMPURITIES)
def test_every_split_is_a_best_one(name, split):
    check_trees(SHAPES, name, split, "max_depth")


@pytest.mark.parametrize(
    "rule",
    [GrowthRule(ThresholdPairs(), "minimax", "risk"), GrowthRule(Gini()), GrowthRule(Entropy())],
)
@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
def test_codes_of_any_width_give_the_same_tree(rule, kind):
    X, labels, weights = make_table(2000, "few", 3, 0)
    data = bin_features(X)
    assert data.codes.dtype == np.uint8
    wide = BinnedData(
        data.codes.astype(kind), data.columns, data.offsets, data.lowest, data.highest
    )
    first, second = (grow_tree(d, labels, weights, 3, rule, np.zeros(6), 1) for d in (data, wide))
    np.testing.assert_array_equal(first.threshold, second.threshold)
    np.testing.assert_array_equal(first.value, second.value)


def test_alternating_classes_on_more_values_than_two_bytes_hold():
    n = 140_000
    X = np.random.default_rng(0).permutation(np.arange(n, dtype=float))[:, None]
    labels = (X[:, 0] % 2).astype(np.int32)
    rule = GrowthRule(ThresholdPairs(), "minimax", "risk")
    tree = grow_tree(bin_features(X), labels, np.ones(n), 2, rule, np.ones(1), 0)
    votes = ForestPredictor([tree], 1).walk(X, votes=True).votes
    np.testing.assert_array_equal(votes.argmax(axis=1), labels)


@pytest.mark.parametrize("impurity", [ThresholdPairs(), Gini(), Entropy()])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_borders_among_more_values_than_two_bytes_hold(impurity, n_columns):
    rng = np.random.default_rng(0)
    X = rng.permutation(np.arange(140_000.0))[:, None]
    borders = np.sort(rng.choice(140_000, 20, replace=False)) + 0.5
    labels = (np.searchsorted(borders, X[:, 0]) % 2).astype(np.int32)
    X = np.c_[X, X % 7][:, :n_columns]
    rule = GrowthRule(impurity)
    tree = grow_tree(bin_features(X), labels, np.ones(len(X)), 2, rule, np.zeros(n_columns), 0)
    assert set(borders) <= set(tree.threshold[tree.feature == 0])


def test_a_view_of_columns_grows_the_tree_of_those_columns():
    X, labels, weights = make_table(500, "mixed", 3, 0)
    columns, prices, rule = [5, 0, 3], np.ones(3), GrowthRule(ThresholdPairs(), "minimax", "risk")
    view = grow_tree(bin_features(X).take(columns), labels, weights, 3, rule, prices, 1)
    direct = grow_tree(bin_features(X[:, columns]), labels, weights, 3, rule, prices, 1)
    for name in ("feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(view, name), getattr(direct, name))
    with pytest.raises(ValueError, match="at least one feature, got none"):
        grow_tree(bin_features(X).take([]), labels, weights, 3, rule, prices[:0], 1)


def tied_table():
    """Four copies of one feature: every split has four equals."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    labels = (x + rng.normal(size=300) > 0).astype(np.int32)
    return bin_features(np.repeat(x[:, None], 4, axis=1)), labels, np.ones(300)


def grow_tied(ties, seed=0, **options):
    data, labels, weights = tied_table()
    rule = GrowthRule(ThresholdPairs(), "minimax", "risk", ties=ties)
    return grow_tree(data, labels, weights, 2, rule, np.ones(4), seed, **options)


def test_first_takes_the_lowest_feature():
    tree = grow_tied("first")
    assert set(tree.feature[~tree.is_leaf]) == {0}


def test_random_takes_all_equals_alike():
    features = [grow_tied("random", seed).feature[0] for seed in range(800)]
    shares = np.bincount(features, minlength=4) / 800
    assert (np.abs(shares - 0.25) < 0.07).all()  # 4.5 standard deviations


@pytest.mark.parametrize("score", ["risk", "gain"])
@pytest.mark.parametrize("name", IMPURITIES)
def test_a_feature_and_its_mirror_image_tie(name, score):
    """Their splits are the same, with left and right exchanged: rounding must not choose."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    labels = (x + rng.normal(size=300) > 0.3).astype(np.int32) + (x > 1)
    data, weights = bin_features(np.c_[x, -x]), rng.random(300)
    rule = GrowthRule(IMPURITIES[name][0], "expected", score, max_depth=1)
    roots = [
        grow_tree(data, labels, weights, 3, rule, np.ones(2), seed).feature[0]
        for seed in range(200)
    ]
    assert 60 < sum(roots) < 140  # 5.6 standard deviations


def test_a_free_feature_comes_first_and_by_its_drop():
    X, labels, weights = make_table(200, "continuous", 2, 3)
    prices = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    function = IMPURITIES["pairs"][1]
    drops = reference.best_splits(X, labels, weights, 2, function, "minimax", "risk", 0.0 * prices)
    best = min((key for key in drops if prices[key[0]] == 0), key=drops.get)
    rule = GrowthRule(ThresholdPairs(), "minimax", "risk")
    tree = grow_tree(bin_features(X), labels, weights, 2, rule, prices, 0)
    assert tree.feature[0] == best[0]


def test_gain_pays_a_penalty_once():
    X, labels, weights = make_table(300, "continuous", 2, 0)
    prices = np.array([0.02, 1.1, 0.02, 1.1, 0.02, 1.1])  # no gain exceeds one bit
    rule = GrowthRule(Entropy(), least_gain=0.0)
    tree = grow_tree(bin_features(X), labels, weights, 2, rule, prices, 0)
    acquired = np.isin(np.arange(6), tree.feature[~tree.is_leaf])
    np.testing.assert_array_equal(acquired, [True, False] * 3)
    np.testing.assert_array_equal(prices, [0.0, 1.1] * 3)
    expensive = grow_tree(bin_features(X), labels, weights, 2, rule, np.full(6, 1.1), 0)
    assert expensive.node_count == 1


def test_stumps_are_a_random_sample_of_the_thresholds():
    X, labels, weights = make_table(900, "continuous", 2, 0)
    rule = GrowthRule(ThresholdPairs(), "minimax", "risk", thresholds="random", max_depth=1)
    data = bin_features(X)
    roots = {
        grow_tree(data, labels, weights, 2, rule, np.ones(6), s).threshold[0] for s in range(9)
    }
    assert len(roots) > 1
    few, labels, weights = make_table(900, "few", 2, 0)  # fewer thresholds than stumps: all of them
    for seed in range(5):
        tree = grow_tree(bin_features(few), labels, weights, 2, rule, np.ones(6), seed)
        check_tree(tree, few, labels, weights, 2, "pairs", rule, np.ones(6))


def sampled_scores(X, labels, weights, n_classes, function, split):
    """Return F after each threshold of each column that a sample is drawn of.

    Where a column has missing values there are two: they go right, or left of all thresholds.
    """
    columns = []
    for x in X.T:
        missing = np.isnan(x)
        columns.append(np.where(missing, np.inf, x))
        if missing.any():
            columns.append(np.where(missing, -np.inf, x))
    after = [[] for _ in columns]
    for index, low, _, F, n in reference.splits(
        np.array(columns).T, labels, weights, n_classes, function
    ):
        if low > -np.inf:
            after[index].append(max(F) if split == "minimax" else np.dot(F, n) / sum(n))
    return [np.array(each) for each in after]


# Number of examples, of thresholds that are drawn, and of classes; impurity, split.
SAMPLED = {
    "all codes differ": (400, 20, 2, "powers", "minimax", {"unit": True}),
    "some are equal": (400, 20, 3, "powers", "minimax", {"decimals": 2}),
    "40": (900, 40, 2, "powers", "minimax", {"decimals": 2}),
    "80": (2100, 80, 2, "powers", "minimax", {"unit": True}),
    "few examples": (50, 20, 2, "pairs_2.5", "minimax", {}),
    "few examples of many classes": (50, 20, 12, "powers", "minimax", {"unit": True}),
    "codes one by one": (900, 40, 2, "powers", "minimax", {"max_bins": 100}),
    "sums not exact": (400, 20, 2, "powers", "minimax", {"inexact": True}),
    "missing values": (300, 20, 2, "powers", "minimax", {"missing": True}),
    "expected": (300, 20, 2, "gini", "expected", {}),
    "expected, one by one": (900, 40, 2, "entropy", "expected", {"max_bins": 100}),
    "one": (900, 1, 2, "entropy", "expected", {"thresholds": "one"}),
}


@pytest.mark.parametrize("case", SAMPLED)
def test_all_samples_of_thresholds_are_equally_likely(case, monkeypatch):
    """The root's F is that of the best of a sample as often as it must be."""
    n, n_wanted, n_classes, name, split, how = SAMPLED[case]
    rng = np.random.default_rng(3)
    labels = rng.integers(n_classes, size=n).astype(np.int32)
    X = (rng.normal(size=(n, 3)) + labels[:, None] * [0.5, 1, 0.7] / n_classes).round(
        how.get("decimals", 15)
    )
    weights = np.ones(n) if "unit" in how else 1.0 * rng.integers(4, size=n)
    if "missing" in how:
        X[rng.random(n) < 0.3, 0] = np.nan
        weights[:] = 1  # counts of examples decide how many thresholds are drawn
    if "inexact" in how:
        monkeypatch.setattr(TreeGrower, "_precision", lambda grower, weights: (False, 0.0))
    data = bin_features(X, how.get("max_bins"), missing=np.isnan(X).any(axis=0))
    if "max_bins" in how:
        X = data.codes.T.astype(float)
    thresholds = how.get("thresholds", "random")
    rule = GrowthRule(IMPURITIES[name][0], split, "risk", thresholds=thresholds, max_depth=1)
    function = IMPURITIES[name][1]
    found = []
    for seed in range(1000):
        tree = grow_tree(data, labels, weights, n_classes, rule, np.ones(3), seed)
        sides = tree.value[1:]
        F = [function(side) for side in sides] if len(sides) else [function(tree.value[0])] * 2
        share = sides.sum(axis=1) / sides.sum() if len(sides) else np.full(2, 0.5)
        found.append(max(F) if split == "minimax" else np.dot(F, share))
    scores = sampled_scores(X, labels, weights, n_classes, function, split)
    ordered, chances = reference.chances_of_samples(scores, n_wanted)
    observed = np.searchsorted(np.sort(found), ordered * (1 + 1e-9), side="right") / len(found)
    assert np.abs(observed - chances).max() < 0.06  # Kolmogorov: 1 in 700 is larger


def test_drawn_features_follow_their_odds():
    data, labels, weights = tied_table()
    odds = np.array([0.5, 0.25, 0.25, 0.0])
    rule = GrowthRule(max_features=1, odds=odds, max_depth=1)
    features = [
        grow_tree(data, labels, weights, 2, rule, np.zeros(4), seed).feature[0]
        for seed in range(800)
    ]
    assert (np.abs(np.bincount(features, minlength=4) / 800 - odds) < 0.08).all()


def test_a_node_that_draws_constant_features_goes_on():
    X = np.zeros((40, 30))
    X[:, 7] = np.arange(40)
    labels = (X[:, 7] > 20).astype(np.int32)
    for count_constants in (True, False):
        rule = GrowthRule(max_features=1, count_constants=count_constants)
        tree = grow_tree(bin_features(X), labels, np.ones(40), 2, rule, np.zeros(30), 0)
        np.testing.assert_array_equal(tree.feature, [7, -1, -1])


def test_constant_features_count_as_drawn_or_not():
    """The better of two features is found for sure only where 18 constant ones do not count."""
    rng = np.random.default_rng(0)
    X = np.zeros((200, 20))
    labels = rng.integers(2, size=200).astype(np.int32)
    X[:, 4] = labels
    X[:, 9] = labels + rng.normal(size=200)
    shares = {}
    for count_constants in (True, False):
        rule = GrowthRule(max_features=2, count_constants=count_constants, max_depth=1)
        roots = [
            grow_tree(bin_features(X), labels, np.ones(200), 2, rule, np.zeros(20), seed).feature[0]
            for seed in range(200)
        ]
        shares[count_constants] = np.mean(np.array(roots) == 4)
    assert shares[False] == 1
    assert 0.35 < shares[True] < 0.7


def test_duplicated_rows_with_different_labels_end_in_a_leaf():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    labels = np.array([0, 1] * 5, dtype=np.int32)
    rule = GrowthRule(ThresholdPairs(), "minimax", "risk")
    tree = grow_tree(bin_features(X), labels, np.ones(10), 2, rule, np.ones(2), 0)
    assert tree.node_count == 3


def test_one_example_per_class_and_many_classes():
    for n_classes in (2, 300):
        X = np.random.default_rng(0).normal(size=(n_classes, 3))
        labels = np.arange(n_classes, dtype=np.int32)
        for impurity in (ThresholdPairs(), Powers(), Entropy()):
            split = "minimax" if impurity.admissible else "expected"
            rule = GrowthRule(impurity, split, "risk")
            tree = grow_tree(
                bin_features(X), labels, np.ones(n_classes), n_classes, rule, np.ones(3), 0
            )
            assert tree.is_leaf.sum() == n_classes


def test_same_seed_same_tree():
    first, second, other = (grow_tied("random", seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.feature, second.feature)
    assert not np.array_equal(first.feature, other.feature)
