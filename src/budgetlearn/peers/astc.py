"""ASTC: a tree of linear classifiers whose nodes acquire features greedily."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..costs import affords
from ..fit_counts import count_fit
from ..parallel import thread_map
from ..protocol import BudgetedEstimator, Outcome, Request, Stage, WeightedFit
from ..protocol.checked_data import working_dtype
from ..protocol.documenting import estimator_class
from ..protocol.feature_requests import Ledger, drive
from ..validation import check_number
from .staged import check_increasing

# A feature enters where it explains more than this share of what the node began with.
LEAST_GAIN = 1e-4


@dataclass(frozen=True, eq=False)
class LinearNode:
    """A linear model of the features known at a node, and its rule for the children."""

    acquired: tuple  # features that are acquired here, in the order in which they were chosen
    features: tuple  # of the model: those acquired on the way here, and here
    coef: np.ndarray  # of shape (number of features of the model, n_classes)
    intercept: np.ndarray  # of shape (n_classes,)
    # Weights of the scores in what is compared with the threshold; None at a leaf.
    direction: np.ndarray | None = None
    threshold: float = 0.0  # an example above it goes to the upper child, others to the lower one
    children: tuple = ()  # lower and upper child; none at a leaf

    def scores(self, X):
        """Return the score of each class, shape (n_samples, n_classes).

        Terms are added one by one: a matrix product may round otherwise for other batches, and
        an example must go the same way whomever it is predicted with.
        """
        total = np.tile(self.intercept, (len(X), 1))
        for feature, weights in zip(self.features, self.coef, strict=True):
            total += X[:, feature, None] * weights
        return total

    def child_of(self, scores):
        """Return the child of each example."""
        lower, upper = self.children
        return np.where(along(scores, self.direction) > self.threshold, upper, lower)


def along(scores, direction):
    """Return the weighted sum of each example's scores, added up alike in every batch."""
    total = np.zeros(len(scores))
    for column, weight in enumerate(direction):
        total += weight * scores[:, column]
    return total


class LinearTreeGrower:
    """Grows trees on a table whose examples count as much as `weight` says, 1 on average.

    `targets` are 1 for the class of an example, else 0; `max_depth` counts levels below the root;
    `ridge` is the penalty of the squared weights of standardised features, per example;
    `min_samples` the least examples of a child.
    """

    def __init__(self, X, targets, weight, costs, max_depth, ridge, min_samples):
        self.weight, every = weight, np.arange(len(X))
        self.centre = self._mean(X, every)
        spread = np.sqrt(self._mean((X - self.centre) ** 2, every))
        self.scale = np.where(spread > 0, spread, 1.0)
        self.Z, self.targets, self.costs = (X - self.centre) / self.scale, targets, costs
        self.X, self.max_depth, self.ridge, self.min_samples = X, max_depth, ridge, min_samples

    def _mean(self, values, rows):
        """Return the weighted means of the columns of values that some rows have."""
        return np.average(values, axis=0, weights=self.weight[rows])

    def _centred(self, values, rows):
        """Return values less their means, times the roots of the weights: products then weigh."""
        return (values - self._mean(values, rows)) * np.sqrt(self.weight[rows])[:, None]

    def grow(self, budget):
        """Grow a tree each of whose nodes may spend a budget on features that are new there.

        Its nodes are returned: the root first, and children after their parents.
        """
        count_fit()
        nodes = []
        waiting = [(np.arange(len(self.X)), np.zeros(self.X.shape[1], dtype=bool), 0)]
        for rows, known, depth in waiting:  # which grows meanwhile: level after level
            node = self._model(rows, known, budget)
            routed = self._routed(node, rows) if depth < self.max_depth else None
            if routed is not None:
                direction, threshold, upper = routed
                known = known.copy()
                known[list(node.acquired)] = True
                first = len(waiting)
                waiting += [(rows[~upper], known, depth + 1), (rows[upper], known, depth + 1)]
                split = {"direction": direction, "threshold": threshold}
                node = replace(node, children=(first, first + 1), **split)
            nodes.append(node)
        return tuple(nodes)

    def _model(self, rows, known, budget):
        """Return the node that examples reach with some features known."""
        Y = self.targets[rows]
        chosen, acquired = self._choose(rows, known, budget)
        Z = self.Z[np.ix_(rows, chosen)]
        middle, mean = self._mean(Z, rows), self._mean(Y, rows)
        # Centred, so that the intercept is not penalised.
        centred, penalty = self._centred(Z, rows), self.ridge * self.weight[rows].sum()
        inner = centred.T @ centred + penalty * np.eye(len(chosen))
        weights = np.linalg.solve(inner, centred.T @ self._centred(Y, rows)) if chosen else Y[:0]
        # Back to raw units: a prediction needs no scaler.
        coef = weights / self.scale[chosen, None]
        intercept = mean - (middle * self.scale[chosen] + self.centre[chosen]) @ coef
        return LinearNode(tuple(acquired), tuple(chosen), coef, intercept)

    def _choose(self, rows, known, budget):
        """Return the features of a node's model, and those of them that it acquires.

        Greedy: next comes the feature that explains most of the variance for its price, given
        those before it; what is free comes first.
        """
        Z, residual = self._centred(self.Z[rows], rows), self._centred(self.targets[rows], rows)
        penalty = self.ridge * self.weight[rows].sum()
        least, spent = LEAST_GAIN * (residual**2).sum(), 0.0
        known, open_ = known.copy(), np.ones(known.size, dtype=bool)
        chosen, acquired = [], []
        while True:
            # Explained variance of each feature alone, given those chosen before it.
            gain = ((residual.T @ Z) ** 2).sum(axis=0) / ((Z**2).sum(axis=0) + penalty)
            price = self.costs.marginal(known)
            possible = open_ & affords(budget, spent + price) & (gain > least)
            if not possible.any() or len(chosen) >= len(rows) - 1:
                return chosen, acquired
            free = possible & (price == 0)
            worth = np.where(free, gain, -1.0)
            if not free.any():
                np.divide(gain, price, out=worth, where=possible)
            feature = int(worth.argmax())
            spent += price[feature]
            open_[feature] = False
            chosen.append(feature)
            if not known[feature]:
                known[feature] = True
                acquired.append(feature)
            axis = Z[:, feature] / (np.linalg.norm(Z[:, feature]) or 1.0)
            # Gram-Schmidt: what the chosen feature explains is taken out of the rest.
            Z = Z - np.outer(axis, axis @ Z)
            residual = residual - np.outer(axis, axis @ residual)

    def _routed(self, node, rows):
        """Return direction, threshold and who is above it; None where the node is a leaf."""
        Y = self.targets[rows]
        if len(rows) < 2 * self.min_samples or (Y[0] == Y).all() or not node.features:
            return None
        scores = node.scores(self.X[rows])
        spread = self._centred(scores, rows)
        # The direction in which predictions vary most; with two classes the score itself.
        direction = np.linalg.svd(spread, full_matrices=False)[2][0]
        # A singular vector has no sign of its own: fixed by its largest entry. Of two classes both
        # are as large, but for rounding: the first of them.
        size = np.abs(direction)
        direction = direction * np.sign(direction[(size > (1 - 1e-6) * size.max()).argmax()])
        routed = along(scores, direction)
        # Between two examples: on one of them, rounding would say where it goes.
        middle = (len(rows) + 1) // 2
        threshold = np.sort(routed)[middle - 1 : middle + 1].mean()
        upper = routed > threshold
        if min(upper.sum(), (~upper).sum()) < self.min_samples:
            return None
        return direction, threshold, upper


N_BUDGETS = 10


@estimator_class
class ASTCClassifier(ClassifierMixin, WeightedFit, BudgetedEstimator):
    """Approximately submodular tree of classifiers.

    From the root down, each node acquires features for a ridge regression of the class, greedily by
    explained variance per price and within a budget; what was acquired above is free. The node's
    prediction sends an example to one of two children, and a leaf's prediction is the answer.

    Parameters
    ----------
    node_budgets : sequence of float, default=None
        What each node of a tree may spend, increasing, in the unit of the prices; a tree for each.
        None: ten in equal ratios, from the cheapest feature to all.
    max_depth : int, default=2
        Levels of nodes below the root. An example may spend 1 + max_depth budgets.
    ridge : float, default=0.01
        Penalty of squared weights, features standardised, for each example.
    min_samples : int, default=10
        Least training examples of a node; half of them go to each side, whatever they weigh.

    Attributes
    ----------
    trees_ : list of tuple of LinearNode
        The nodes of a tree for each node budget, the root first, children after their parents.
    stage_settings_ : list of dict
        What tells stages apart: {"node_budget": b}.

    References
    ----------
    M. J. Kusner, W. Chen, Q. Zhou, Z. Xu, K. Q. Weinberger and Y. Chen. Feature-cost sensitive
    learning with submodular trees of classifiers. AAAI 2014.
    """

    _groups = True
    _caps_mean = True

    node_budgets: Any = None
    max_depth: int = 2
    ridge: float = 0.01
    min_samples: int = 10
    scoring: Any = None
    class_weight: Any = None
    n_jobs: int | None = None

    def _fit(self, train, valid, seeds):
        # Depth 10 is two thousand nodes, of half as many examples on each level.
        check_number(self.max_depth, "max_depth", low=0, high=10, integer=True)
        check_number(self.ridge, "ridge", low=0, low_open=True)
        check_number(self.min_samples, "min_samples", low=1, integer=True)
        budgets = self._budgets()
        members = train.y[:, None] == np.arange(self.classes_.size)
        settings = (self.max_depth, self.ridge, self.min_samples)
        table = train.X, members.astype(float), train.weights
        grower = LinearTreeGrower(*table, self.feature_costs_, *settings)
        self.trees_ = thread_map(grower.grow, budgets, self.n_jobs, "models")
        self.stage_settings_ = [{"node_budget": budget} for budget in budgets]

    def _budgets(self):
        if self.node_budgets is not None:
            return check_increasing(self.node_budgets, "node_budgets", low_open=False)
        # Free features fit into any budget; equal ratios need prices above 0.
        paid = self.feature_costs_.alone[self.feature_costs_.alone > 0]
        if not paid.size:
            return [0.0]
        return np.geomspace(paid.min(), self.feature_costs_.full, N_BUDGETS).tolist()

    def _stages(self, X, which, want):
        for index in which:
            ledger = Ledger(self.feature_costs_, len(X))
            acquisitions = self._acquisitions(len(X), index, ledger)
            # Gaps are taken as they come: whoever looks at one is refused before.
            known = {"describe": int, "missing_ok": np.ones(X.shape[1], dtype=bool)}
            made = drive(acquisitions, lambda rows, feature: X[rows, feature], ledger, **known)
            setting = dict(self.stage_settings_[index])
            yield Stage(setting, made.output, made.probabilities, ledger.acquired)

    def _acquisitions(self, n_samples, stage, ledger):
        nodes = self.trees_[stage]
        X = np.full((n_samples, self.n_features_in_), np.nan)
        scores = np.full((n_samples, self.classes_.size), np.nan)
        at = np.zeros(n_samples, dtype=np.intp)

        def estimate():
            outcome = Outcome.blank(self, n_samples)
            answered = ~np.isnan(scores[:, 0])
            known = scores[answered]
            outcome.fill(answered, self.classes_[known.argmax(axis=1)], _shares(known))
            return outcome

        for place, node in enumerate(nodes):
            here = np.flatnonzero(at == place)
            for feature in node.acquired:
                if here.size:
                    answer = yield Request(here, feature, estimate)
                    X[here, feature] = answer.values
                    # Whoever cannot have it stays, with what the node above said.
                    here = here[~answer.refused]
            # As a table would be read: the same rounding sends an example the same way.
            scores[here] = node.scores(X[here].astype(working_dtype(self)).astype(float))
            at[here] = node.child_of(scores[here]) if node.children else -1
        return estimate()


def _shares(scores):
    """Return class probabilities: the estimates of regression towards 0 and 1, within [0, 1]."""
    shares = np.maximum(scores, 0.0)
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / scores.shape[1])
