"""Trees that a grower grows one after another: those that it would grow alone."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from budgetlearn.parallel import thread_map
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.bootstrap import bootstrap_weights, whole_total
from budgetlearn.tree.growth import GrowthRule, TreeGrower
from budgetlearn.tree.impurity import Entropy, Gini, ThresholdPairs, Variance
from tests.looping import for_each
from tests.tree.growing import grow_tree

N = 700
FIELDS = ("feature", "threshold", "children_left", "children_right", "value", "n_node_samples")
ODDS, RISING = np.arange(1.0, 9), np.array([1, 0, -1, 0, 0, 0, 0, 0], dtype=np.int8)
RULES = {
    "breiman": GrowthRule(Gini(), max_features=3),
    "all": GrowthRule(Entropy(), min_samples_leaf=4),
    "odds": GrowthRule(Gini(), max_features=2, odds=ODDS),
    "monotonic": GrowthRule(Gini(), directions=RISING),
    "minimax": GrowthRule(ThresholdPairs(), "minimax", "risk", ties="first"),
    "random": GrowthRule(ThresholdPairs(), "minimax", "risk", thresholds="random"),
    "root": GrowthRule(ThresholdPairs(), "minimax", "risk", max_depth=1),
    "paid once": GrowthRule(Entropy(), least_gain=1e-10),
    "numbers": GrowthRule(Variance(), max_features=4),
    "sorted numbers": GrowthRule(Variance()),
}


def table(classes):
    """Return codes of numbers, gaps, two equal and one-hot columns, and labels or numbers."""
    rng = np.random.default_rng(0)
    equal, word = rng.integers(9, size=(N, 1)).repeat(2, axis=1), rng.integers(3, size=N)
    X = np.c_[rng.normal(size=(N, 3)), equal, np.eye(3)[word]]
    score = X[:, 0] - X[:, 2] + equal[:, 0] / 4 + rng.normal(size=N)
    score[: N - 100] += 5 * X[: N - 100, 5]  # what a word says depends on the sample
    X[rng.random(N) < 0.2, 1] = np.nan
    missing = np.arange(8) == 1
    return bin_features(X, missing=missing), (score > 2).astype(np.int32) if classes else score


def samples():
    """Return weights of few and of many examples, whole and not, and the first ones again."""
    rng = np.random.default_rng(1)
    drawn, place = bootstrap_weights(N, 5), np.arange(N)
    few = [drawn * (place < 60), drawn * (place >= N - 50)]
    return [
        *few,
        drawn,
        drawn * rng.random(N),
        3 * drawn,
        2 * drawn,
        bootstrap_weights(N, 6),
        drawn,
    ]


def same(tree, other):
    """Say whether two trees agree in every bit."""
    flags = [each.missing_left for each in (tree, other)]
    assert (flags[0] is None) == (flags[1] is None)
    fields = FIELDS if flags[0] is None else (*FIELDS, "missing_left")
    return all(np.array_equal(getattr(tree, name), getattr(other, name)) for name in fields)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_tree_does_not_depend_on_those_before(rule):
    numbers = isinstance(rule.impurity, Variance)
    data, y = table(not numbers)
    how = 1 if numbers else 2, rule
    grower = TreeGrower(data, y, *how)
    for seed, weights in enumerate(samples()):
        prices = [np.full(8, 0.003) for _ in range(2)]
        tree = grower.tree(weights, prices[0], seed)
        alone = grow_tree(data, y, weights, *how, prices[1], seed)
        assert alone.node_count >= 3
        assert same(tree, alone)
        np.testing.assert_array_equal(prices[0], prices[1])


def test_threads_grow_the_same_trees():
    data, y = table(classes=True)
    grower = TreeGrower(data, y, 2, RULES["breiman"])

    def grow(seed):
        return grower.tree(bootstrap_weights(N, seed), np.zeros(8), seed)

    seeds = list(range(40))
    for tree, other in zip(thread_map(grow, seeds, 3), map(grow, seeds), strict=True):
        assert same(tree, other)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_trees_on_some_features_call_them_what_the_table_does(rule):
    numbers = isinstance(rule.impurity, Variance)
    data, y = table(not numbers)
    how, features = 1 if numbers else 2, np.array([0, 2, 5, 7])
    odds = None if rule.odds is None else ODDS[:4]
    rule = replace(rule, max_features=None, odds=odds)
    tree = TreeGrower(data, y, how, rule, features).tree(np.ones(N), np.ones(4), 3)
    if rule.directions is not None:
        rule = replace(rule, directions=rule.directions[features])
    part = grow_tree(data.take(features), y, np.ones(N), how, rule, np.ones(4), 3)
    inner = ~part.is_leaf
    np.testing.assert_array_equal(tree.feature[inner], features[part.feature[inner]])
    assert (tree.feature[~inner] == -1).all()
    np.testing.assert_array_equal(tree.threshold, part.threshold)


@for_each("n, seed", product([1, 2, 3, 250, 4097], [0, 7, 2**31 - 2, 2**32 + 3, 2**64 - 1]))
def test_samples_are_those_of_numpys_generator(n, seed):
    drawn = np.random.default_rng(seed).integers(n, size=n)
    np.testing.assert_array_equal(bootstrap_weights(n, seed), np.bincount(drawn, minlength=n))


def test_weights_have_a_total_where_they_are_whole():
    assert whole_total(np.array([2.0, 0.0, 3.0])) == 5
    assert whole_total(np.array([2.0, 0.5, 3.5])) == np.inf


def test_samples_that_a_bound_would_favour_are_drawn_again():
    # Of 2**32 halves 1,967,296 are too many: about one draw in 2,200 is repeated.
    n = 3_000_000
    drawn = np.random.default_rng(11).integers(n, size=n)
    np.testing.assert_array_equal(bootstrap_weights(n, 11), np.bincount(drawn, minlength=n))
