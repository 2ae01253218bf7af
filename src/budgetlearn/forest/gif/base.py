"""What the globally induced forests of regression and of classification share."""

import copy
import warnings
from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._validation import INT32_MAX, ParameterError, check_max_features, check_number
from ...base import AcquisitionMixin
from ...costs import FeatureCosts
from ...exceptions import BudgetlearnWarning
from .grower import grow, refit
from .model import GIFModel
from .nodes import NodeTable
from .pool import AllCandidates, RandomWindow


class BaseGIF(AcquisitionMixin, BaseEstimator):
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
                stacklevel=4,
            )

    def _grow(self, X, targets, make_splitter, exponent=0):
        """Grow the forest; `make_splitter(X, n_visits, seed)` knows the impurity.

        The model is that of 2**exponent times the targets.
        """
        n_samples, n_features = X.shape
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, n_features)
        n_visits = check_max_features(self.max_features, n_features)
        split_seed, pool_seed = check_random_state(self.random_state).randint(INT32_MAX, size=2)
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

    def _checked(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _scores(self, X):
        walk = self._model.packed.walk(X, values=True, n_jobs=self.n_jobs)
        return self.intercept_ + walk.values

    def _acquired(self, X):
        return self._model.packed.walk(X, acquired=True, n_jobs=self.n_jobs).acquired

    def _stages(self, node_budgets):
        """Yield the forest within each node budget."""
        if node_budgets is None:
            node_budgets = np.unique(np.arange(1, 11) * self.n_nodes_ // 10)
        yield from map(self.within, np.asarray(node_budgets).tolist())

    def predict(self, X):
        """Predict the targets of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Regression: the intercept plus the weights of the nodes reached. Classification: the
            class with the largest score.
        """
        return self._decide(self._scores(self._checked(X)))

    def staged_predict(self, X, node_budgets=None):
        """Predict as the model would have with smaller node budgets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        node_budgets : sequence of int, default=None
            One stage each. None: ten equal steps up to `n_nodes_`.

        Yields
        ------
        ndarray
            As `predict` returns it.
        """
        X = self._checked(X)
        for forest in self._stages(node_budgets):
            yield forest._decide(forest._scores(X))

    def staged_n_nodes(self, node_budgets=None):
        """Return the nodes of the model within smaller node budgets.

        Parameters
        ----------
        node_budgets : sequence of int, default=None
            As for `staged_predict`.

        Yields
        ------
        int
        """
        check_is_fitted(self)
        for forest in self._stages(node_budgets):
            yield forest.n_nodes_

    def acquired_features(self, X):
        """Return which features the prediction of each example looks at.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
            The union over all trees of the features tested on the example's paths.
        """
        return self._acquired(self._checked(X))

    def staged_acquired_features(self, X, node_budgets=None):
        """Return `acquired_features` as with smaller node budgets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        node_budgets : sequence of int, default=None
            As for `staged_predict`.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._checked(X)
        for forest in self._stages(node_budgets):
            yield forest._acquired(X)
