"""`min_samples_leaf`: no side of a split is lighter, and the best of all others is still found."""

import numpy as np
import pytest

from budgetlearn import (
    BudgetRFClassifier,
    BudgetRFRegressor,
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
)
from budgetlearn.budgetrf import Growth
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.bootstrap import bootstrap_weights
from budgetlearn.tree.growth import GrowthRule
from budgetlearn.tree.impurity import Entropy, Gini, ThresholdPairs, Variance
from budgetlearn.tree.predictor import ForestPredictor
from budgetlearn.validation import ParameterError
from tests.tree.growing import grow_tree
from tests.tree.test_growth import IMPURITIES, check_trees, make_table
from tests.tree.test_numbers import rows_of_nodes

FEW = {"n_estimators": 3, "random_state": 0}
SHAPES = [(40, "continuous", 3, 2), (250, "mixed", 2, 7), (300, "mixed", 3, 25)]


@pytest.mark.parametrize("split", ["minimax", "expected"])
@pytest.mark.parametrize("name", IMPURITIES)
def test_every_split_is_a_best_one_of_those_allowed(name, split):
    trees = check_trees(SHAPES, name, split, "min_samples_leaf")
    for tree, (*_, least) in zip(trees, SHAPES, strict=True):
        assert tree.value[tree.is_leaf].sum(axis=1).min() >= least


def best_drop(X, y, weights, least):
    """Return the largest drop of a root's squared error, and whether any split is allowed."""
    drops = []
    for x in X.T:
        for border in np.unique(x[~np.isnan(x)]):
            for left in (x <= border, (x <= border) | np.isnan(x)):
                a = weights[left].sum()
                if least <= a <= weights.sum() - least:
                    centred = y - np.average(y, weights=weights)
                    drops.append((weights * centred)[left].sum() ** 2 / (a * (weights.sum() - a)))
    return max(drops, default=None)


@pytest.mark.parametrize("n", [60, 900])
@pytest.mark.parametrize("least", [2, 9, 29, 500])
def test_a_split_of_numbers_is_the_best_one_allowed(n, least):
    rng = np.random.default_rng(least)
    X = rng.normal(size=(n, 4))
    X[:, 1:] = X[:, 1:].round(1)
    X[rng.random(n) < 0.2, 2] = np.nan
    # A few numbers far out, which a tree without a limit would part from the others.
    y = X[:, 0] + np.where(rng.random(n) < 0.03, 50.0, 0.0)
    weights = rng.integers(0, 3, n).astype(float)
    data = bin_features(X, missing=np.isnan(X).any(axis=0))
    rule = GrowthRule(Variance(), score="risk", min_samples_leaf=least)
    tree = grow_tree(data, y, weights, 1, rule, np.ones(4), 0)
    reached = {node: weights[rows].sum() for node, rows in rows_of_nodes(tree, X).items()}
    assert min(reached.values()) >= min(least, weights.sum())
    best = best_drop(X, y, weights, least)
    if best is None:
        assert tree.node_count == 1
        return
    left, right = tree.children_left[0], tree.children_right[0]
    a, b = reached[left], reached[right]
    drop = a * b / (a + b) ** 2 * (tree.value[left, 0] - tree.value[right, 0]) ** 2
    assert drop == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("thresholds", ["all", "random"])
@pytest.mark.parametrize("kind", ["binary", "mixed", "few"])
@pytest.mark.parametrize(
    ("impurity", "split"),
    [(ThresholdPairs(), "minimax"), (Gini(), "expected"), (Entropy(), "expected")],
)
def test_no_leaf_is_lighter_than_asked_with_gaps_and_samples(impurity, split, kind, thresholds):
    X, labels, weights = make_table(3000, kind, 3, 5)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    data = bin_features(X, missing=np.isnan(X).any(axis=0))
    weights = weights * 0.7  # sums of which are rounded
    rule = GrowthRule(impurity, split, "risk", thresholds=thresholds, min_samples_leaf=35)
    tree = grow_tree(data, labels, weights, 3, rule, np.ones(X.shape[1]), 0)
    sizes = tree.value[tree.is_leaf].sum(axis=1)
    assert sizes.min() >= 35 * (1 - 1e-6)
    assert 5 < sizes.size < weights.sum() / 35


@pytest.mark.parametrize("thresholds", ["all", "random"])
def test_better_splits_that_are_not_allowed_rule_no_other_out(thresholds):
    # The best threshold parts the last hundredth: what is allowed is far worse, and all there is.
    X = np.random.default_rng(0).permutation(np.arange(4000.0))[:, None]
    labels = (X[:, 0] >= 3960).astype(np.int32)
    rule = GrowthRule(
        ThresholdPairs(),
        "minimax",
        "risk",
        thresholds=thresholds,
        min_samples_leaf=400,
        max_depth=1,
    )
    sizes = [
        grow_tree(bin_features(X), labels, np.ones(4000), 2, rule, np.ones(1), seed).n_node_samples
        for seed in range(20)
    ]
    assert all(len(nodes) == 3 for nodes in sizes)


def test_exactly_half_on_each_side_is_enough():
    X, labels = np.arange(20.0)[:, None], (np.arange(20) >= 10).astype(np.int32)
    # Estimators divide weights by their mean, and round them to single precision.
    mixed = np.float32(np.tile([1, 1, 1, 1, 2], 4) / 1.2).astype(float)
    for least, n_nodes in ((10, 3), (11, 1)):
        rule = GrowthRule(ThresholdPairs(), "minimax", "risk", min_samples_leaf=least)
        for weights in (np.full(20, 1.0), mixed):
            tree = grow_tree(bin_features(X), labels, weights, 2, rule, np.ones(1), 0)
            assert tree.node_count == n_nodes


FORESTS = [
    lambda n: BudgetRFClassifier(growth=Growth(min_samples_leaf=n), **FEW),
    lambda n: BudgetRFRegressor(growth=Growth(min_samples_leaf=n), **FEW),
    lambda n: CostSensitiveRFClassifier(min_samples_leaf=n, **FEW),
    lambda n: CostSensitiveRFPathClassifier(min_samples_leaf=n, cost_weights=[0], **FEW),
]


@pytest.mark.parametrize("make", FORESTS)
def test_estimators_heed_it(make):
    X, labels, _ = make_table(300, "mixed", 2, 0)
    for least in (1, 30):
        fitted = make(least).fit(X, labels)
        trees = getattr(fitted, "forests_", [fitted])[0].trees_
        # Rows that a tree drew several times count as often, here for one.
        smallest = min(tree.n_node_samples[tree.is_leaf].min() for tree in trees)
        assert (smallest > 8) == (least == 30)
    with pytest.raises(ParameterError, match=r"min_samples_leaf must be an integer >= 1, got 0"):
        make(0).fit(X, labels)


@pytest.mark.parametrize("make", FORESTS[:2])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_leaf_may_be_as_light_as_asked(make, weighted):
    X, labels, _ = make_table(300, "continuous", 2, 0)
    weight = np.where(np.arange(300) < 150, 0.5, 1.5) if weighted else np.ones(300)
    forest = make(8).fit(X, labels, sample_weight=weight)
    lightest = []
    for tree, seed in zip(forest.trees_, forest.tree_seeds_, strict=True):
        leaves = ForestPredictor([tree], X.shape[1]).walk(X, leaves=True).leaves[:, 0]
        drawn = weight * bootstrap_weights(300, seed)
        lightest.append(np.bincount(leaves, drawn, tree.node_count)[tree.is_leaf].min())
    assert min(lightest) >= 8
    assert max(lightest) < 12


@pytest.mark.parametrize("make", FORESTS[:2])
def test_the_unit_of_weights_is_of_no_effect(make):
    X, labels, weights = make_table(300, "mixed", 2, 0)
    ours, same, other = (
        make(30).fit(X, labels, sample_weight=weights).predict(X)
        for weights in (weights + 0.5, 1e6 * (weights + 0.5), np.where(labels, 5.0, 1.0))
    )
    assert np.array_equal(ours, same)
    assert not np.array_equal(ours, other)
