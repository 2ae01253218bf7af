"""Growing a globally induced forest, and the resulting model."""

from functools import cached_property

import numpy as np
from scipy.special import softmax
from sklearn.base import is_classifier

from ..export.exporting import ImportedForest
from ..fit_counts import count_fit
from ..parallel import watched
from ..tree.predictor import LEAF, ForestPredictor, Tree
from ..validation import INT32_MAX, ParameterError, check_max_features
from . import grower
from .loss_kernels import RobustLoss, SquaredLoss
from .nodes import Charges, NodeTable, byte_codes, compact, path_sums
from .pruning import AcceptedNodes, ImportedNodes, Memory, prune_and_refit
from .splitters import GiniSplitter, VarianceSplitter
from .weights import NodeLogit, NodeRidge, logarithms

# Limit on the samples that a forest keeps for the nodes of all trees: 256 MB.
MOST_KEPT = 1 << 26
# Largest table, in values, whose rows are also kept in the order of each feature, in 4 bytes each.
MOST_ORDERED = 1 << 26
# With few nodes for each tree and many samples, splits of numbers are faster if the samples of a
# node are found when needed, instead of kept.
FEW_NODES, LEAST_FOUND = 10, 5000
# Coding a column takes as long as 64 visits of it; tables of fewer than 1000 rows fit in the cache.
VISITS, LEAST_CODED = 64, 1000
# Regressions that `joint_fit` may name.
REGRESSIONS = {"ridge": NodeRidge, "logistic": NodeLogit}


class GIFModel:
    """The accepted nodes of a globally induced forest, in order of acceptance.

    A split is kept when at least one of its sides was accepted. The other side is then a leaf
    without a weight, which the node budget does not count.
    """

    def __init__(self, records, weights, nodes_after, n_trees, n_features):
        self._records, self.nodes_per_tree = compact(records, n_trees)
        self._weights, self._nodes_after = weights, nodes_after
        self.n_trees, self.n_features = n_trees, n_features

    def __getstate__(self):
        # Pickles omit what can be computed again.
        derived = ("_values", "trees", "predictor")
        return {name: value for name, value in vars(self).items() if name not in derived}

    @property
    def n_nodes(self):
        """Nodes in the model: the accepted ones, and the roots of their trees."""
        return int(self.nodes_per_tree.sum())

    @property
    def n_steps(self):
        """Mean number of splits that a training example passes; every root has all examples."""
        size = self._records["size"]
        return float(size[self._records["child"] >= 0].sum() / max(size[0], 1))

    @property
    def entropy(self):
        """Entropy of the distribution of nodes over trees, divided by log n_trees; in [0, 1]."""
        share = self.nodes_per_tree[self.nodes_per_tree > 0] / max(self.n_nodes, 1)
        if share.size < 2:
            return 0.0
        return float(-(share * np.log(share)).sum() / np.log(self.n_trees))

    def within(self, node_budget):
        """Return the largest earlier model with at most `node_budget` nodes."""
        # The accepted nodes of a smaller model are a prefix.
        n_steps = np.searchsorted(self._nodes_after, node_budget, side="right")
        return self.take(np.arange(n_steps), self._weights[:n_steps], self._nodes_after[:n_steps])

    def take(self, ranks, weights, nodes_after):
        """Return a model of only the accepted nodes with these ranks, with new weights."""
        records = self._records.copy()
        rank_of = np.full(len(self._weights) + 1, -1, dtype=np.int32)
        rank_of[ranks] = np.arange(ranks.size)
        records["step"] = rank_of[records["step"]]  # -1 is the last entry
        return GIFModel(records, weights, nodes_after, self.n_trees, self.n_features)

    def importances(self):
        """Return each feature's impurity decrease, weighted by samples and normalised to 1."""
        feature, decrease = self._records["feature"], self._records["decrease"]
        split = self._records["child"] >= 0
        total = np.bincount(feature[split], decrease[split], minlength=self.n_features)
        return total / total.sum() if total.sum() > 0 else total

    @cached_property
    def _values(self):
        """Sum of the weights on the path to each node, shared by the trees and the predictor."""
        return path_sums(self._records, self._weights)

    @cached_property
    def trees(self):
        """List of `Tree`; a node's value is the sum of the weights on its path from the root."""
        records = self._records
        starts = np.flatnonzero(records["parent"] < 0)
        stops = np.append(starts[1:], len(records))
        inner = records["child"] >= 0
        feature = np.where(inner, records["feature"], LEAF)
        threshold = np.where(inner, records["threshold"], 0.0)
        # Records number nodes through the whole forest, a tree numbers them from its root.
        left = np.where(inner, records["child"] - np.repeat(starts, stops - starts), LEAF)
        right = np.where(inner, left + 1, LEAF)
        arrays = [feature, threshold, left, right, self._values, records["size"]]
        if records["missing_left"].any():
            arrays.append(records["missing_left"].astype(bool) & inner)
        return [
            Tree(*(array[start:stop] for array in arrays))
            for start, stop in zip(starts, stops, strict=True)
        ]

    @cached_property
    def predictor(self):
        """The trees as `ForestPredictor`."""
        return ForestPredictor(self.trees, self.n_features, values=self._values)


def in_columns(X, large=False):
    """Return X in column-major order, as splits read one feature of many examples.

    Tables of whole numbers from 0 to 255 become bytes, which are fetched faster. Other large tables
    keep their order, as splits read their codes and few values.
    """
    if X.min() >= 0 and X.max() <= 255:  # False if a value is missing
        columns = np.asfortranarray(X, dtype=np.uint8)
        if (columns == X).all():
            return columns
    as_it_is = large and X.dtype == np.float64 and X.flags.c_contiguous
    return X if as_it_is else np.asfortranarray(X, dtype=np.float64)


def grown_forest(gif, train, valid, seeds, exponent):
    """Grow the forest of an estimator, or take the given one; return model, intercept, ridge.

    `y` of the examples holds one-hot classes or scaled numbers. The model predicts 2**exponent × y.
    """
    count_fit()  # once for each growth, including those for refits within bytes
    grown = _grown(gif, train, seeds, exponent) if gif.forest is None else _imported(gif, train)
    return _fitted(*grown, gif, train, valid, exponent)


def _imported(gif, train):
    """Return the model of a given forest without weights, its nodes and the intercept."""
    intercept, _ = gif._loss().start(train.y, train.weight)
    forest, n_features = ImportedForest(gif.forest), train.X.shape[1]
    if forest.n_features != n_features:
        sizes = f"was fitted to {forest.n_features} columns, but X has {n_features}"
        raise ParameterError(f"the given forest {sizes}: give both the same columns.")
    nodes = ImportedNodes(forest, train.X, train.y, train.weights)
    every = nodes.ids.size
    weights, nodes_after = np.zeros((every, train.y.shape[1])), np.full(every, every)
    model = GIFModel(nodes.records, weights, nodes_after, nodes.n_trees, nodes.n_features)
    # A budget of one node has no room for a root and a node.
    return model.within(1) if gif.node_budget == 1 else model, nodes, intercept


def _grown(gif, train, seeds, exponent):
    """Return the model of a grown forest, the nodes to refit and the scaled targets' intercept."""
    targets, weight, (n_samples, n_features) = train.y, train.weight, train.X.shape
    n_trees, n_visits = gif._n_trees(), check_max_features(gif.max_features, n_features)
    # The scores of two classes sum to 1, so the second class's scores are enough.
    one_of_two = gif._is_binary() and gif.loss_ == "squared"
    intercept, loss = gif._loss().start(targets[:, 1:] if one_of_two else targets, weight)
    # Never more nodes than in fully grown trees. A budget of one has no room for an accepted node.
    wanted = int(gif.node_budget * (gif.prune_factor if gif.node_budget > 1 else 1))
    most = min(wanted, n_trees * (2 * n_samples - 1))
    max_depth = INT32_MAX if gif.max_depth is None else gif.max_depth
    pays = n_trees * n_visits > VISITS * n_features and n_samples >= LEAST_CODED
    X = train.X
    few = n_samples >= LEAST_FOUND and most <= FEW_NODES * n_trees and X.size <= MOST_ORDERED
    plain = not is_classifier(gif) and not gif.joint_fit and not np.isnan(X).any()
    most_kept = 0 if pays and few and plain else MOST_KEPT
    # If several candidates are examined at a step, the samples of all nodes must be kept (as long
    # as int32 can number them).
    large = n_trees * n_samples > (most_kept if gif.candidate_window == 1 else INT32_MAX)
    X = in_columns(X, large)
    coded = (large or pays) and X.dtype != np.uint8
    ordered = large and coded and X.size <= MOST_ORDERED
    bins = byte_codes(X, gif.n_jobs, ordered) if large or coded else None
    n_nodes = 3 * n_trees + 2 * most  # roots with both sides, and those of accepted nodes
    table = NodeTable(n_trees, n_samples, n_nodes, max_depth, *([X, bins] if large else []))
    # Splits and the choice of candidates have separate random streams.
    splits = X, n_visits, gif.n_thresholds, gif.min_samples_leaf, seeds[0]
    splitter = _splitter(gif, splits, loss, targets, weight)
    splitter.fixed = gif.split_on == "targets"
    if gif.cost_weight > 0:
        splitter.charges = Charges(gif.feature_costs_, gif.cost_weight)
    if coded:
        ahead = ordered and weight is None and loss.n_outputs == 1
        splitter.look_at(bins, table if ahead else None)
    weights, nodes_after = _accept_nodes(gif, table, splitter, loss, most, seeds[1])
    if gif.joint_fit and not gif._regresses:
        grower.refit(table, loss, gif.joint_fit, gif.learning_rate, weights)
    # The first class mirrors the second, so the loss's single output becomes two columns.
    if one_of_two:
        intercept = np.append(1.0 - intercept, intercept)
        weights = np.column_stack([-weights, weights])
    if not gif._regresses:
        weights = np.ldexp(weights, exponent)
    model = GIFModel(table.records[: table.n_nodes], weights, nodes_after, n_trees, n_features)
    return model, AcceptedNodes(table) if gif._regresses else None, intercept


def _splitter(gif, splits, loss, targets, weight):
    """Return the splitter of nodes by residuals, classes or numbers."""
    if gif.split_on == "residuals":
        return VarianceSplitter(*splits, np.asarray(loss.residuals), weight)
    if is_classifier(gif) and weight is None:  # Gini's index follows from counts
        return GiniSplitter(*splits, targets.argmax(axis=1).astype(np.int32), targets.shape[1])
    by = gif._loss().split_targets(targets, weight)  # Gini's index: variance of one-hot classes
    mean = by.mean(axis=0) if weight is None else weight @ by / weight.sum()
    centred = by - mean if weight is None else weight[:, None] * (by - mean)
    return VarianceSplitter(*splits, np.ascontiguousarray(centred), weight)


def _accept_nodes(gif, table, splitter, loss, most, seed):
    """Accept nodes; return their weights, and the number of nodes after each."""
    rate, most_tests = gif.learning_rate, np.inf
    if gif.step_budget is not None:
        most_tests = gif.step_budget * gif.prune_factor * table.n_samples
    weights = np.empty((most, loss.n_outputs))
    nodes_after = np.zeros(most, dtype=np.int64)
    out = weights, nodes_after, most_tests
    with watched(lambda: nodes_after.max(initial=0), "nodes", most):
        if gif.split_on == "residuals":
            n_steps = grower.grow_on_residuals(table, splitter, loss, most, rate, seed, *out)
        else:
            pool = candidates(table, loss, gif.candidate_window, rate, seed, splitter)
            n_steps = grower.grow(table, splitter, loss, pool, most, rate, *out)
    return weights[:n_steps], nodes_after[:n_steps]


def candidates(table, loss, window, learning_rate, seed, splitter=None):
    """Return the pool of candidates, which examines a window of them (None: all) at each step."""
    # Gaps of robust losses and charges cannot be updated, so all are computed anew.
    anew = isinstance(loss, RobustLoss) or (splitter is not None and splitter.charges is not None)
    if window is None and not anew:
        if isinstance(loss, SquaredLoss):
            return grower.SquaredCandidates(table, loss, learning_rate)
        return grower.ExponentialCandidates(table, loss)
    window = INT32_MAX if window is None else window
    return grower.RandomWindow(table, loss, window, seed, splitter)


def _fitted(grown, nodes, intercept, gif, train, valid, exponent):
    """Return model, intercept and ridge, the weights fitted by regression if requested."""
    if not gif._regresses or not grown.n_nodes:
        # Without nodes there is no regression, but the intercept must be that of its loss.
        intercept = logarithms(intercept) if gif.joint_fit == "logistic" else intercept
        return grown, np.ldexp(intercept, exponent), None

    def taken(ranks, weights):
        return grown.take(ranks, weights, np.full(ranks.size, ranks.size))

    def validate(ranks, *solutions):
        # All solutions are columns of one model, so that the trees are walked once.
        weights = np.concatenate([weights for weights, _ in solutions], axis=-1)
        intercepts = np.concatenate([intercept for _, intercept in solutions], axis=-1)
        scores = intercepts + taken(ranks, weights).predictor.walk(valid.X, values=True).values
        scores = scores.reshape(len(scores), len(solutions), -1)
        if gif.scoring is not None:
            each = np.moveaxis(np.ldexp(scores, exponent), 1, 0)
            return [-gif._score_of(one, valid) for one in each]
        found = scores if gif.joint_fit == "ridge" else softmax(scores, axis=2)
        return np.square(found - valid.y[:, None]).sum(axis=(0, 2))

    memory = Memory(
        n_nodes=gif.node_budget,
        n_bytes=gif.byte_budget,
        format=gif.byte_format,
        n_columns=1 if gif._is_binary() else train.y.shape[1],
        n_features=grown.n_features,
        n_steps=gif.step_budget,
    )

    def regress(kept, rows):
        own = None if train.weight is None else train.weight[rows]
        regression, share = REGRESSIONS[gif.joint_fit], rows.size / len(train.y)
        return regression(nodes.indicators(kept, rows), train.y[rows], own, share)

    judge = None if valid is None else validate
    ranks, weights, intercept, ridge = prune_and_refit(
        nodes, regress, len(train.y), memory, gif.ridge, judge, gif.early_stopping
    )
    return taken(ranks, np.ldexp(weights, exponent)), np.ldexp(intercept, exponent), ridge
