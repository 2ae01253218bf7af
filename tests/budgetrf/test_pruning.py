"""Trees pruned by left-out examples and by what is paid already."""

from itertools import product

import numpy as np
import pytest

from budgetlearn import FeatureCosts
from budgetlearn.budgetrf import BudgetRFClassifier, Growth, Leaves
from budgetlearn.budgetrf.growing import _cut, class_losses, pruned
from budgetlearn.budgetrf.leaf_refit import PRIOR
from budgetlearn.protocol.checked_data import Examples
from budgetlearn.tree.growth import Acquisitions
from budgetlearn.validation import ParameterError
from tests.tree.reference import walk

COSTS = FeatureCosts([1, 2, 3, 4], [0, 0, -1, -1], group_costs=[5])


@pytest.fixture(scope="module")
def grown():
    """Return a tree of depth 3, examples, which of them it left out, and earlier acquisitions."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 150)
    X = y[:, None] + random.normal(scale=1.2, size=(150, 4))
    forest = BudgetRFClassifier(
        n_estimators=1,
        growth=Growth(max_depth=3, impurity="gini", split="expected", bootstrap=False),
    ).fit(X[:70], y[:70])
    acquisitions = Acquisitions(COSTS, len(y))
    acquisitions.add(random.random(X.shape) < 0.3)
    weight = random.integers(1, 4, len(y)).astype(float)
    return forest.trees_[0], Examples(X, y, y, weight), np.arange(len(y)) >= 70, acquisitions


def total(tree, examples, left_out, acquisitions, weight):
    """Return what pruning makes least, one example after another."""
    loss = cost = base = 0.0
    for row, (x, label, n) in enumerate(zip(examples.X, examples.y, examples.weight, strict=True)):
        leaf, seen = walk(tree, x)
        acquired = np.zeros((2, 4), dtype=bool)
        acquired[:, acquisitions.acquired[:4, row] == 1] = True
        acquired[1, list(seen)] = True
        paid = COSTS.total(acquired)
        cost += n * (paid[1] - paid[0])
        if left_out[row]:
            for node in (leaf, 0):
                counts = tree.value[node] + PRIOR
                error = n * ((counts / counts.sum() - np.eye(3)[label]) ** 2).sum()
                loss, base = (loss + error, base) if node == leaf else (loss, base)
                base += error if node == 0 else 0.0
    return loss / base + weight * cost / examples.weight.sum() / COSTS.full


def best_of(tree, examples, left_out, acquisitions, weight):
    losses = class_losses(tree, examples.y)
    return pruned(tree, examples, losses, left_out, acquisitions, weight)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 3.0])
def test_the_best_of_all_subtrees_is_taken(grown, weight):
    tree, *rest = grown
    inner = np.flatnonzero(~tree.is_leaf)
    least = np.inf
    for kept in product([False, True], repeat=inner.size):
        stays = np.zeros(tree.node_count, dtype=bool)
        stays[inner] = kept
        least = min(least, total(_cut(tree, stays), *rest, weight))
    assert total(best_of(tree, *rest, weight), *rest, weight) == pytest.approx(least)


def test_what_is_paid_stays(grown):
    tree, examples, left_out, _ = grown
    sizes = {}
    for share in (0, 1):
        acquisitions = Acquisitions(COSTS, len(examples.y))
        acquisitions.add(np.full(examples.X.shape, bool(share)))
        sizes[share] = best_of(tree, examples, left_out, acquisitions, 100.0).node_count
    assert sizes[0] == 1
    assert sizes[1] == best_of(tree, *grown[1:], 0.0).node_count > 1


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_a_forest_of_pruned_trees_is_cheaper(discount):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    X = y[:, None] + random.normal(scale=0.7, size=(300, 6))
    forests = [
        BudgetRFClassifier(
            n_estimators=8,
            leaves=Leaves(prune=prune),
            growth=Growth(reuse_discount=discount),
            n_jobs=n_jobs,
            random_state=0,
        ).fit(X, y, X, y)
        for prune, n_jobs in ((False, 1), ([0.0, 2.0], 1), (2.0, 2))
    ]
    sizes = [sum(tree.node_count for tree in forest.trees_) for forest in forests]
    assert sizes[0] > 1.5 * sizes[1]
    assert sizes[0] > 2 * sizes[2]
    assert forests[2].prune_ == 2.0
    assert forests[1].prune_ in (0.0, 2.0)
    cost = [forest.acquisition_cost(X).mean() for forest in forests]
    assert cost[0] > cost[2]


def test_pruning_needs_left_out_examples():
    with pytest.raises(ParameterError, match="set bootstrap=True"):
        BudgetRFClassifier(leaves=Leaves(prune=1.0), growth=Growth(bootstrap=False)).fit(
            [[0.0], [1.0]], [0, 1]
        )
