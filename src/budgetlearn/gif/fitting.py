"""Growing a globally induced forest, and fitting the weights of its nodes."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ..counting import count_fit
from ..parallel import watched
from .exact_pool import ExponentialCandidates, SquaredCandidates
from .grower import RandomWindow, grow, grow_on_residuals, refit
from .loss_kernels import SquaredLoss
from .model import GIFModel
from .nodes import NodeTable
from .pruning import AcceptedNodes, Memory, prune_and_refit
from .splitter import VarianceSplitter, WeightedVarianceSplitter
from .weights import NodeLogit, NodeRidge, logarithms

# How `refit` fits all weights at once.
REGRESSIONS = {"ridge": NodeRidge, "logistic": NodeLogit}


@dataclass
class GrownForest:
    """The outcome of growing and refitting."""

    records: np.ndarray  # all nodes, candidates included
    weights: np.ndarray  # of the accepted ones, by rank of acceptance
    nodes_after: np.ndarray  # nodes in the model after each acceptance
    intercept: np.ndarray  # where the scores start
    n_trees: int
    n_features: int
    alpha: float | None = None

    def model(self, exponent):
        """Return the model of 2**exponent times the targets."""
        return GIFModel(
            self.records,
            np.ldexp(self.weights, exponent) if exponent else self.weights,
            self.nodes_after,
            self.n_trees,
            self.n_features,
        )

    def take(self, ranks, weights, intercept):
        """Return the forest of these accepted nodes only, with other weights."""
        records = self.records.copy()
        rank_of = np.full(len(self.weights) + 1, -1, dtype=np.int32)
        rank_of[ranks] = np.arange(ranks.size)
        records["step"] = rank_of[records["step"]]  # -1 is the last entry
        n_nodes = np.full(ranks.size, ranks.size)
        weights = np.ascontiguousarray(weights)  # kernels take no other
        return GrownForest(records, weights, n_nodes, intercept, self.n_trees, self.n_features)


def grown_forest(params, X, targets, weight, seeds, n_visits, make_splitter, valid):
    """Grow the forest that the parameters of an estimator ask for."""
    count_fit()  # one for each growth: refits within bytes count again
    n_samples, n_features = X.shape
    n_trees = params._n_trees()
    # The scores of two classes add up to 1: the second class's tell both.
    one_of_two = params._is_binary() and params.loss_ == "squared"
    intercept, loss = params._loss().start(targets[:, 1:] if one_of_two else targets, weight)
    # Never more nodes than in fully grown trees; each accepted node brings two candidates.
    # A model of one node has room for none that is accepted, whatever is grown.
    wanted = params.node_budget
    wanted = int(wanted * params.prune_factor) if wanted > 1 else wanted
    most = min(wanted, n_trees * (2 * n_samples - 1))
    table = NodeTable(n_trees, n_samples, 3 * n_trees + 2 * most)
    # Splits and the choice of candidates each have their own stream of random numbers.
    splits = X, n_visits, params.n_thresholds, seeds[0]
    if params.split_on == "residuals":
        splitter = _residual_splitter(splits, loss, weight)
    else:
        splitter = make_splitter(*splits)
    weights, nodes_after = _grow(params, table, splitter, loss, most, seeds[1])
    if not isinstance(params.refit, str):
        refit(table, loss, params.refit, params.learning_rate, weights)
    # The first class mirrors the second: the one output of the loss becomes two columns again.
    if one_of_two:
        intercept = np.append(1.0 - intercept, intercept)
        weights = np.column_stack([-weights, weights])
    records = table.records[: table.n_nodes]
    grown = GrownForest(records, weights, nodes_after, intercept, n_trees, n_features)
    # Without a node there is nothing to regress on; the intercept is that of the loss in question.
    if not len(weights) and params.refit == "logistic":
        grown.intercept = logarithms(intercept)
    if not len(weights) or not isinstance(params.refit, str):
        return grown
    return _pruned(grown, table, targets, weight, params, valid)


def _residual_splitter(splits, loss, weight):
    """Return the splitter of what a forest still misses, which changes as it grows."""
    residuals = np.asarray(loss.residuals)
    if weight is None:
        return VarianceSplitter(*splits, residuals)
    return WeightedVarianceSplitter(*splits, residuals, weight)


def _grow(params, table, splitter, loss, most, seed):
    """Accept nodes; return their weights, and how many nodes there were after each."""
    rate = params.learning_rate
    weights = np.empty((most, loss.n_outputs))
    nodes_after = np.zeros(most, dtype=np.int64)
    with watched(lambda: nodes_after.max(initial=0), "nodes", most):
        if params.split_on == "residuals":
            out = weights, nodes_after
            n_steps = grow_on_residuals(table, splitter, loss, most, rate, seed, *out)
        else:
            pool = _pool(params, table, loss, seed)
            n_steps = grow(table, splitter, loss, pool, most, rate, weights, nodes_after)
    return weights[:n_steps], nodes_after[:n_steps]


def _pool(params, table, loss, seed):
    if params.candidate_window is None:
        return all_candidates(table, loss, params.learning_rate)
    return RandomWindow(table, loss, params.candidate_window, seed)


def all_candidates(table, loss, learning_rate):
    """Return the candidates of a forest whose every step examines all of them."""
    if isinstance(loss, SquaredLoss):
        return SquaredCandidates(table, loss, learning_rate)
    return ExponentialCandidates(table, loss)


def _pruned(grown, table, targets, weight, params, valid):
    """Return the forest within the budget, its weights fitted by ridge regression."""

    def validate(ranks, solutions):
        weights, intercepts = (
            np.concatenate(part, axis=-1) for part in zip(*solutions, strict=True)
        )
        # All solutions side by side as columns of one model: the trees are walked once.
        predictor = grown.take(ranks, weights, intercepts).model(0).predictor
        scores = intercepts + predictor.walk(valid[0], values=True).values
        scores = scores.reshape(len(scores), len(solutions), -1)
        misses = (scores if params.refit == "ridge" else softmax(scores, axis=2)) - valid[1][
            :, None
        ]
        return np.square(misses).sum(axis=(0, 2))

    n_columns = 1 if params._is_binary() else targets.shape[1]
    memory = Memory(
        params.node_budget, params.byte_budget, params.byte_format, n_columns, grown.n_features
    )
    nodes = AcceptedNodes(table, len(grown.weights))
    regression = REGRESSIONS[params.refit](nodes.indicators(), targets, weight)
    ranks, weights, intercept, alpha = prune_and_refit(
        nodes, regression, memory, params.alpha, None if valid is None else validate
    )
    pruned = grown.take(ranks, weights, intercept)
    pruned.alpha = alpha
    return pruned
