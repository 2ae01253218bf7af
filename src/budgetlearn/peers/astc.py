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
from ..protocol.prediction import from_table
from ..validation import check_number
from .staged import check_increasing

# A feature is added if it explains more than this share of the node's initial variance.
LEAST_GAIN = 1e-4
N_BUDGETS = 10


@dataclass(frozen=True, eq=False)
class LinearNode:
    """A linear model of the features known at a node, and the rule that selects a child."""

    acquired: tuple  # features acquired at this node, in the order of choice
    features: tuple  # features of the model, acquired here or above
    coef: np.ndarray  # (n_model_features, n_classes)
    intercept: np.ndarray  # (n_classes,)
    # (n_classes,): weights of the scores in a sum, compared with the threshold; None at a leaf.
    direction: np.ndarray | None = None
    threshold: float = 0.0  # examples above it go to the upper child, others to the lower one
    children: tuple = ()  # lower and upper child; none at a leaf

    def scores(self, X):
        """Return the score of each class, (n_samples, n_classes).

        Terms are added one by one, as a matrix product's rounding may depend on the batch.
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
    """Return the weighted sum of each example's scores, in an order that ignores the batch."""
    total = np.zeros(len(scores))
    for column, weight in enumerate(direction):
        total += weight * scores[:, column]
    return total


class LinearTreeGrower:
    """Grows trees on a table of examples with some weights, 1 on average.

    `targets`, (n_samples, n_classes), is 1 for the class of an example and 0 otherwise. `max_depth`
    is the number of levels below the root. `ridge` is the penalty of the squared weights of
    standardised features, per example. `min_samples` is the smallest size of a child.
    """

    def __init__(self, X, targets, weight, costs, max_depth, ridge, min_samples):
        self.weight, every = weight, np.arange(len(X))
        self.centre = self._mean(X, every)
        spread = np.sqrt(self._mean((X - self.centre) ** 2, every))
        self.scale = np.where(spread > 0, spread, 1.0)
        self.Z, self.targets, self.costs = (X - self.centre) / self.scale, targets, costs
        self.X, self.max_depth, self.ridge, self.min_samples = X, max_depth, ridge, min_samples

    def _mean(self, values, rows):
        """Return the weighted means of the columns of values, which belong to some rows."""
        return np.average(values, axis=0, weights=self.weight[rows])

    def _centred(self, values, rows):
        """Return centred values times the roots of the weights, so that products are weighted."""
        return (values - self._mean(values, rows)) * np.sqrt(self.weight[rows])[:, None]

    def grow(self, budget):
        """Return the nodes of a tree, each of which may spend a budget on new features.

        The root is first, and children come after their parents.
        """
        count_fit()
        nodes = []
        waiting = [(np.arange(len(self.X)), np.zeros(self.X.shape[1], dtype=bool), 0)]
        for rows, known, depth in waiting:  # grows during the loop, level by level
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
        """Return the node for some rows, whose known features were acquired above."""
        Y = self.targets[rows]
        chosen, acquired = self._choose(rows, known, budget)
        Z = self.Z[np.ix_(rows, chosen)]
        middle, mean = self._mean(Z, rows), self._mean(Y, rows)
        # Centred, so that the intercept is not penalised.
        centred, penalty = self._centred(Z, rows), self.ridge * self.weight[rows].sum()
        inner = centred.T @ centred + penalty * np.eye(len(chosen))
        weights = np.linalg.solve(inner, centred.T @ self._centred(Y, rows)) if chosen else Y[:0]
        # Converted to raw units, so that predictions need no scaling.
        coef = weights / self.scale[chosen, None]
        intercept = mean - (middle * self.scale[chosen] + self.centre[chosen]) @ coef
        return LinearNode(tuple(acquired), tuple(chosen), coef, intercept)

    def _choose(self, rows, known, budget):
        """Return the features of a node's model, and the acquired ones among them.

        The choice is greedy by explained variance per price, given the features chosen before. Free
        features come first.
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
            # Gram-Schmidt: remove the chosen feature from all others and from the residual.
            Z = Z - np.outer(axis, axis @ Z)
            residual = residual - np.outer(axis, axis @ residual)

    def _routed(self, node, rows):
        """Return direction, threshold and the mask of rows above it, or None for a leaf."""
        Y = self.targets[rows]
        if len(rows) < 2 * self.min_samples or (Y[0] == Y).all() or not node.features:
            return None
        scores = node.scores(self.X[rows])
        spread = self._centred(scores, rows)
        # The direction of largest variance of the scores; with two classes, the score itself.
        direction = np.linalg.svd(spread, full_matrices=False)[2][0]
        # The sign is arbitrary, so the first of the largest entries (up to rounding) is positive.
        size = np.abs(direction)
        direction = direction * np.sign(direction[(size > (1 - 1e-6) * size.max()).argmax()])
        routed = along(scores, direction)
        # Between two examples, because rounding would decide the path of an example on the border.
        middle = (len(rows) + 1) // 2
        threshold = np.sort(routed)[middle - 1 : middle + 1].mean()
        upper = routed > threshold
        if min(upper.sum(), (~upper).sum()) < self.min_samples:
            return None
        return direction, threshold, upper


@estimator_class
class ASTCClassifier(ClassifierMixin, WeightedFit, BudgetedEstimator):
    """Approximately submodular tree of classifiers.

    Each node acquires features for a ridge regression of the class, greedily by explained variance
    per price and within a budget. Features acquired above are free. The node's prediction sends an
    example to one of two children, and the prediction of a leaf is final.

    Parameters
    ----------
    node_budgets : sequence of float, default=None
        Budgets of a single node, increasing, in the unit of the feature costs; one tree is grown
        for each. None: ten in equal ratios, from the cheapest feature to all.
    max_depth : int, default=2
        Levels of nodes below the root. An example may spend up to 1 + max_depth budgets.
    ridge : float, default=0.01
        Penalty per example of the squared weights of standardised features.
    min_samples : int, default=10
        Smallest number of training examples in a node. A split halves their number, whatever their
        weights.

    Attributes
    ----------
    trees_ : list of tuple of LinearNode
        The nodes of the tree for each node budget, the root first, children after their parents.
    stage_settings_ : list of dict
        Setting that identifies each stage: {"node_budget": b}.

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
        # Depth 10 means two thousand nodes, and half as many examples at each level.
        check_number(self.max_depth, "max_depth", low=0, high=10, integer=True)
        check_number(self.ridge, "ridge", low=0, low_open=True)
        check_number(self.min_samples, "min_samples", low=1, integer=True)
        budgets, costs = self._budgets(), self.feature_costs_
        members = (train.y[:, None] == np.arange(self.classes_.size)).astype(float)
        grower = LinearTreeGrower(
            train.X, members, train.weights, costs, self.max_depth, self.ridge, self.min_samples
        )
        self.trees_ = thread_map(grower.grow, budgets, self.n_jobs, "models")
        self.stage_settings_ = [{"node_budget": budget} for budget in budgets]

    def _budgets(self):
        if self.node_budgets is not None:
            return check_increasing(self.node_budgets, "node_budgets", low_open=False)
        # Equal ratios need prices above 0; free features fit into any budget.
        paid = self.feature_costs_.alone[self.feature_costs_.alone > 0]
        if not paid.size:
            return [0.0]
        return np.geomspace(paid.min(), self.feature_costs_.full, N_BUDGETS).tolist()

    def _stages(self, X, which, want):
        for index in which:
            ledger = Ledger(self.feature_costs_, len(X))
            acquisitions = self._acquisitions(len(X), index, ledger)
            # Missing cells are allowed here, because the caller refuses the ones that are needed.
            allowed = np.ones(X.shape[1], dtype=bool)
            made = drive(acquisitions, from_table(X), ledger, missing_ok=allowed)
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
                    # Rows with a refused feature stop here with the scores of the parent.
                    here = here[~answer.refused]
            # Rounded like a checked table, so that an example takes the same path.
            scores[here] = node.scores(X[here].astype(working_dtype(self)).astype(float))
            at[here] = node.child_of(scores[here]) if node.children else -1
        return estimate()


def _shares(scores):
    """Return class probabilities: regression scores clipped at 0 and normalised."""
    shares = np.maximum(scores, 0.0)
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / scores.shape[1])
