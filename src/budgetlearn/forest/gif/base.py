"""What the globally induced forests of regression and of classification share."""

import copy
import warnings
from abc import abstractmethod

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._validation import INT32_MAX, ParameterError, check_max_features, check_number
from ...base import BudgetedEstimator, Stage
from ...exceptions import BudgetlearnWarning
from ..purchases import tree_purchases
from .grower import grow, refit
from .model import GIFModel
from .nodes import NodeTable
from .pool import AllCandidates, RandomWindow


class BaseGIF(BudgetedEstimator):
    """What the regressor and the classifier share: growing, stages, acquired features."""

    @abstractmethod
    def __init__(
        self,
        node_budget,
        n_estimators,
        learning_rate,
        candidate_window,
        max_features,
        refit,
        feature_costs,
        random_state,
        n_jobs,
    ):
        self.node_budget = node_budget
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.candidate_window = candidate_window
        self.max_features = max_features
        self.refit = refit
        self.feature_costs = feature_costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self):
        check_number(self.node_budget, "node_budget", low=1, integer=True)
        check_number(self.n_estimators, "n_estimators", low=1, integer=True)
        # Beyond 2, a step takes the squared loss further up than it was.
        check_number(self.learning_rate, "learning_rate", low=0, high=2, low_open=True)
        check_number(self.refit, "refit", low=0, integer=True)
        if self.candidate_window is not None:
            check_number(self.candidate_window, "candidate_window", low=1, integer=True)
        self._warn_of_few_nodes()

    def _warn_of_few_nodes(self):
        """Warn of a budget that leaves some trees without a node: a root takes one, too."""
        if self.node_budget < 2 * self.n_estimators:
            warnings.warn(
                f"node_budget={self.node_budget} is less than two nodes for each of "
                f"n_estimators={self.n_estimators} trees: the model will hold roots with a single "
                f"node, and few steps of learning_rate={self.learning_rate:.4g}. Fewer trees, a "
                "larger learning_rate, or both usually predict better at this budget.",
                BudgetlearnWarning,
                stacklevel=6,
            )

    @abstractmethod
    def _decided(self, scores):
        """Return the numbers or classes that scores stand for."""

    @abstractmethod
    def _shares(self, scores):
        """Return the class probabilities that scores stand for; None in regression."""

    def _grow(self, X, targets, random, make_splitter, exponent=0):
        """Grow the forest; `make_splitter(X, n_visits, seed)` knows the impurity.

        The model is that of 2**exponent times the targets.
        """
        X = np.asfortranarray(X)
        n_samples, n_features = X.shape
        n_visits = check_max_features(self.max_features, n_features)
        split_seed, pool_seed = random.randint(INT32_MAX, size=2)
        self.intercept_, loss = self._loss().start(targets)
        # Never more nodes than in fully grown trees; each accepted node brings two candidates.
        most = min(self.node_budget, self.n_estimators * (2 * n_samples - 1))
        table = NodeTable(self.n_estimators, n_samples, 3 * self.n_estimators + 2 * most)
        if self.candidate_window is None:
            pool = AllCandidates(table, loss)
        else:
            pool = RandomWindow(table, loss, self.candidate_window, pool_seed)
        weights = np.empty((most, targets.shape[1]))
        nodes_after = np.empty(most, dtype=np.int64)
        splitter = make_splitter(X, n_visits, split_seed)
        n_steps = grow(table, splitter, loss, pool, most, self.learning_rate, weights, nodes_after)
        weights = weights[:n_steps].copy()
        refit(table, loss, self.refit, self.learning_rate, weights)
        weights, self.intercept_ = np.ldexp(weights, exponent), np.ldexp(self.intercept_, exponent)
        self._refitted = self.refit > 0
        records, nodes_after = table.records[: table.n_nodes], nodes_after[:n_steps].copy()
        return self._set(GIFModel(records, weights, nodes_after, self.n_estimators, n_features))

    def _set(self, model):
        """Take a model as what was fitted."""
        self._model = model
        self.n_nodes_ = model.n_nodes
        self.feature_importances_ = model.importances()
        return self

    def within(self, node_budget):
        """Return the forest as it was when it had spent a smaller budget.

        Parameters
        ----------
        node_budget : int
            Most nodes, >= 0.

        Returns
        -------
        GIFRegressor or GIFClassifier
            Fitted: what this budget and the same seed give, short of at most the last node.

        Raises
        ------
        ParameterError
            After refitting: those weights are fitted to the whole model.
        """
        check_is_fitted(self)
        if self._refitted:
            raise ParameterError(
                "smaller budgets can be had with refit=0 only: refitting fits the weights to the "
                "whole model. Fit one model for each node budget."
            )
        check_number(node_budget, "node_budget", low=0, integer=True)
        smaller = copy.copy(self).set_params(node_budget=node_budget)
        return smaller._set(self._model.within(node_budget))

    @property
    def trees_(self):
        """Trees of the model (those with an accepted node), as a list of `Tree`."""
        check_is_fitted(self)
        return self._model.trees

    @property
    def node_distribution_(self):
        """Nodes of each tree in the model, an array of shape (n_estimators,)."""
        check_is_fitted(self)
        return self._model.nodes_per_tree

    @property
    def node_entropy_(self):
        """Entropy of the nodes' distribution over the trees, 1 if all have the same number."""
        check_is_fitted(self)
        return self._model.entropy

    @property
    def n_stages_(self):
        """Number of operating points: ten equal steps of nodes; one after refitting."""
        return len(self._node_budgets())

    def _node_budgets(self):
        """Return the nodes of each stage, the whole model last."""
        if self._refitted:
            return [self.n_nodes_]
        return np.unique(np.arange(1, 11) * self.n_nodes_ // 10).tolist()

    def _stage_model(self, index):
        budgets = self._node_budgets()
        return self if index == len(budgets) - 1 else self.within(budgets[index])

    def _stages(self, X, which, want):
        for index in which:
            forest = self._stage_model(index)
            vote = bool(want & {"output", "probabilities"})
            walk = forest._model.predictor.walk(
                X, values=vote, acquired="acquired" in want, n_jobs=self.n_jobs
            )
            stage = Stage({"nodes": forest.n_nodes_}, nodes=forest.n_nodes_, acquired=walk.acquired)
            stage.facts = {"node_entropy": forest.node_entropy_}
            if vote:
                scores = forest.intercept_ + walk.values
                stage.output, stage.probabilities = self._decided(scores), self._shares(scores)
            yield stage

    def _purchases(self, n_samples, stage, ledger):
        forest = self._stage_model(stage)
        predictor = forest._model.predictor

        def finish(totals, n_counted):
            outcome, had = self._blank_outcome(n_samples), n_counted > 0
            scores = forest.intercept_ + totals[had]
            outcome.output[had], outcome.answered = self._decided(scores), had
            if outcome.probabilities is not None:
                outcome.probabilities[had] = self._shares(scores)
            return outcome

        return (yield from tree_purchases(predictor, predictor.n_trees, n_samples, ledger, finish))
