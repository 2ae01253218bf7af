"""ASTC: a tree of linear classifiers whose nodes buy features greedily."""

import numpy as np
from sklearn.base import ClassifierMixin

from .._parallel import thread_map
from .._validation import ParameterError, check_number
from ..base import Request, Stage
from .linear_tree import LinearTreeGrower
from .staged import Staged

N_BUDGETS = 10


class ASTCClassifier(ClassifierMixin, Staged):
    """Approximately submodular tree of classifiers.

    From the root down, each node buys features for a ridge regression of the class, greedily by
    explained variance per price and within a budget; what was bought above is free. The node's
    prediction sends an example to one of two children, and a leaf's prediction is the answer.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. A group's charge counts until it is paid.
    node_budgets : sequence of float, default=None
        What each node of a tree may spend, increasing, in the unit of the prices; a tree for each.
        None: ten in equal ratios, from the cheapest feature to all.
    max_depth : int, default=2
        Levels of nodes below the root. An example may spend 1 + max_depth budgets.
    ridge : float, default=0.01
        Penalty of squared weights, features standardised, for each example.
    min_samples : int, default=10
        Least training examples of a node.
    n_jobs : int, default=None
        Threads, as in joblib: trees are grown in parallel. The model does not depend on it.

    Attributes
    ----------
    trees_ : list of LinearTree
        One for each node budget.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    stage_settings_ : list of dict
        What tells stages apart: {"node_budget": b}.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.

    References
    ----------
    M. J. Kusner, W. Chen, Q. Zhou, Z. Xu, K. Q. Weinberger and Y. Chen. Feature-cost sensitive
    learning with submodular trees of classifiers. AAAI 2014.
    """

    _groups = True

    def __init__(
        self,
        feature_costs=None,
        *,
        node_budgets=None,
        max_depth=2,
        ridge=0.01,
        min_samples=10,
        n_jobs=None,
    ):
        self.feature_costs = feature_costs
        self.node_budgets = node_budgets
        self.max_depth = max_depth
        self.ridge = ridge
        self.min_samples = min_samples
        self.n_jobs = n_jobs

    def _fit(self, train, valid, seeds):
        # Depth 10 is two thousand nodes, of half as many examples on each level.
        check_number(self.max_depth, "max_depth", low=0, high=10, integer=True)
        check_number(self.ridge, "ridge", low=0, low_open=True)
        check_number(self.min_samples, "min_samples", low=1, integer=True)
        budgets = self._budgets()
        members = train.y[:, None] == np.arange(self.classes_.size)
        settings = (self.max_depth, self.ridge, self.min_samples)
        grower = LinearTreeGrower(train.X, members.astype(float), self.feature_costs_, *settings)
        self.trees_ = thread_map(grower.grow, budgets, self.n_jobs, "models")
        self.stage_settings_ = [{"node_budget": budget} for budget in budgets]

    def _budgets(self):
        if self.node_budgets is None:
            paid = self.feature_costs_.alone[self.feature_costs_.alone > 0]
            if not paid.size:
                return [0.0]
            return np.geomspace(paid.min(), self.feature_costs_.full, N_BUDGETS).tolist()
        budgets = list(self.node_budgets)
        for budget in budgets:
            check_number(budget, "node_budgets (each)", low=0)
        if not budgets or np.any(np.diff(budgets) <= 0):
            raise ParameterError(
                f"node_budgets must be one or more increasing numbers, got {budgets}."
            )
        return budgets

    def _stages(self, X, which, want):
        for index in which:
            tree = self.trees_[index]
            scores, leaves = tree.walk(X)
            stage = Stage(dict(self.stage_settings_[index]))
            stage.output = self.classes_[scores.argmax(axis=1)]
            stage.probabilities = _shares(scores)
            stage.acquired = tree.paths[leaves]
            yield stage

    def _purchases(self, n_samples, stage, ledger):
        nodes = self.trees_[stage].nodes
        X = np.full((n_samples, self.n_features_in_), np.nan)
        scores = np.full((n_samples, self.classes_.size), np.nan)
        at = np.zeros(n_samples, dtype=np.intp)

        def belief():
            outcome = self._blank_outcome(n_samples)
            outcome.answered = ~np.isnan(scores[:, 0])
            known = scores[outcome.answered]
            outcome.output[outcome.answered] = self.classes_[known.argmax(axis=1)]
            outcome.probabilities[outcome.answered] = _shares(known)
            return outcome

        for place, node in enumerate(nodes):
            here = np.flatnonzero(at == place)
            for feature in node.bought:
                if here.size:
                    answer = yield Request(here, feature, belief)
                    X[here, feature] = answer.values
                    # Whoever cannot have it stays, with what the node above said.
                    here = here[~answer.refused]
            values = X[here].astype(self._working_dtype()).astype(float)
            scores[here] = node.scores(values)
            at[here] = node.child_of(scores[here]) if node.children else -1
        return belief()


def _shares(scores):
    """Return class probabilities: what regression towards 0 and 1 estimates, within [0, 1]."""
    shares = np.maximum(scores, 0.0)
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / scores.shape[1])
