"""Bundled columns of zeros and ones: no row has two, and trees are those of single columns."""

import numpy as np
import pytest

from budgetlearn.tree.binning import Bundles, bin_features
from budgetlearn.tree.growth import GrowthRule, TreeGrower
from budgetlearn.tree.impurity import Entropy, Gini, Polynomial, Powers, ThresholdPairs
from tests.tree.growing import grow_tree
from tests.tree.test_growth import IMPURITIES, check_tree


def one_hot_table(seed, n=900, n_classes=4):
    """Return two categories coded one-hot (one with a rest), three numbers, and labels."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(9, size=n), rng.integers(5, size=n)
    X = np.c_[
        np.eye(9)[first],
        rng.normal(size=(n, 2)),
        3 - 5 * np.eye(5)[second][:, :3],  # any two values; the larger one stands for a one
        rng.random(n) < 0.5,
    ]
    labels = (first * 7 + (second == 1) + (X[:, 9] > 0) + rng.integers(2, size=n)) % n_classes
    return X[:, rng.permutation(X.shape[1])], labels.astype(np.int32)


@pytest.mark.parametrize("max_bins", [None, 2])
def test_codes_of_bundles_hold_their_columns(max_bins):
    data = bin_features(one_hot_table(0)[0], max_bins).take(np.arange(12)[::-1])
    codes, bundle, member = data.bundles
    assert codes.dtype == data.codes.dtype
    assert 1 <= len(codes) <= 3
    for feature in range(data.n_features):
        if bundle[feature] >= 0:
            ones = codes[bundle[feature]] == member[feature]
            np.testing.assert_array_equal(ones, data.codes[data.columns[feature]] == 1)
    sizes = np.bincount(bundle[bundle >= 0])
    assert (sizes > 1).all()


def test_columns_that_overlap_or_may_be_missing_or_have_more_values_stay_alone():
    ones = np.arange(600) >= 300
    X = np.c_[ones, np.arange(600) == 599, np.arange(600) % 3, np.where(ones, np.nan, 0)]
    data = bin_features(X, missing=np.array([False, False, False, True]))
    np.testing.assert_array_equal(data.bundles.bundle, [-1] * 4)
    assert data.bundles.codes.shape == (0, 600)


RULES = [
    GrowthRule(ThresholdPairs(), "minimax", "risk"),
    GrowthRule(ThresholdPairs(2), "minimax", "risk", max_features=5),
    GrowthRule(Powers(), "minimax", "risk", ties="first"),
    GrowthRule(Polynomial(), "minimax", "risk", thresholds="random"),
    GrowthRule(ThresholdPairs(), "expected", "gain", max_depth=5),
    GrowthRule(Gini(), max_features=4),
    GrowthRule(Gini(), ties="first", min_samples_leaf=5),
    GrowthRule(Entropy(), least_gain=1e-10),
    GrowthRule(Entropy(), score="risk"),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["bytes", "wide"])
def test_the_tree_is_the_same_as_from_single_columns(rule, kind):
    X, labels = one_hot_table(1)
    if kind == "wide":
        X[:, np.flatnonzero([np.unique(x).size > 2 for x in X.T])[0]] = np.arange(len(X))
    weights = np.bincount(np.random.default_rng(0).integers(900, size=900), minlength=900) * 1.0

    def grow(data):
        prices = np.arange(X.shape[1]) % 3.0 if rule.score == "risk" else np.zeros(X.shape[1])
        return grow_tree(data, labels, weights, 4, rule, prices, 5)

    data = bin_features(X)
    bundled = grow(data)
    none = Bundles(data.codes[:0], np.full_like(data.bundles.bundle, -1), data.bundles.member)
    data.__dict__["bundles"] = none
    alone = grow(data)
    for name in ("feature", "threshold", "children_left", "value", "n_node_samples"):
        np.testing.assert_array_equal(getattr(bundled, name), getattr(alone, name))


@pytest.mark.parametrize("name", ["pairs", "powers"])
def test_every_split_of_bundled_columns_is_a_best_one(name):
    X, labels = one_hot_table(2, n=120)
    rule = GrowthRule(IMPURITIES[name][0], "minimax", "risk")
    prices = np.ones(X.shape[1])
    data = bin_features(X)
    assert (data.bundles.bundle >= 0).sum() > 8
    tree = grow_tree(data, labels, np.ones(120), 4, rule, prices, 0)
    check_tree(tree, X, labels, np.ones(120), 4, name, rule, prices)


@pytest.mark.parametrize(
    ("impurity", "weights", "exact"),
    [
        (ThresholdPairs(), [2.0, 1.0], True),
        (ThresholdPairs(0.3), [2.0, 1.0], False),
        (ThresholdPairs(), [2.5, 1.0], False),
        (ThresholdPairs(), [1e8, 1.0], False),
        (Powers(8), [90.0, 7.0], True),
        (Powers(8), [90.0, 12.0], False),
        (Polynomial(), [3e5, 0.0], False),
        (Gini(), [1e8, 1.0], False),
    ],
)
def test_columns_are_bundled_only_where_sums_are_exact(impurity, weights, exact):
    grower = TreeGrower(bin_features(np.eye(2)), None, 2, GrowthRule(impurity, "minimax"))
    assert grower._precision(np.array(weights))[0] is exact


@pytest.mark.parametrize("impurity", [Gini(), Entropy()])
@pytest.mark.parametrize(
    ("how", "weights", "exact"),
    [
        ({}, [1e8, 1.0], True),
        ({}, [2.5, 1.0], False),
        ({"thresholds": "random"}, [2.0, 1.0], False),
    ],
)
def test_columns_are_bundled_for_means_where_counts_are_exact(impurity, how, weights, exact):
    grower = TreeGrower(bin_features(np.eye(2)), None, 2, GrowthRule(impurity, **how))
    assert grower._precision(np.array(weights))[0] is exact
