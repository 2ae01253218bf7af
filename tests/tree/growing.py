"""A single tree, as the tests of one want it."""

from budgetlearn.tree.growth import TreeGrower


def grow_tree(data, labels, weights, n_classes, rule, prices, seed, acquisitions=None):
    """Grow a tree without a second one."""
    grower = TreeGrower(data, labels, n_classes, rule)
    return grower.tree(weights, prices, seed, acquisitions)
