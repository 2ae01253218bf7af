"""`GrowthRule`, the rule by which trees grow, and `TreeGrower`, which grows them."""

from dataclasses import dataclass, field, replace
from threading import local

import numpy as np

from ..protocol.checked_data import ROUNDED
from ..validation import INT32_MAX
from .bootstrap import whole_total
from .depth_first import Grower, NodePrices
from .impurity import Entropy, Gini, ImpurityFunction, Variance
from .predictor import LEAF, Tree

# A drop in impurity below this share of the node's impurity is rounding.
TOLERANCE = 1e-10
# Drops that differ by less than this share of the node's impurity are equal up to rounding. Minimax
# compares sums of whole numbers, which are exact, if weights and alpha are whole.
EQUAL = 1e-12
# A drop in variance is a square of sums of centred numbers, whose rounding error is a share of the
# drop itself, so even small drops are accurate.
VARIANCE_TOLERANCE = 1e-16
VARIANCE_EQUAL = 1e-10


# The most thresholds of a feature at a node: 0 is all of them. "random" is the paper's 80, 40 or 20
# (at nodes of > 2000, > 500 or fewer examples), "one" as in extremely randomised trees.
STUMPS = {"all": 0, "random": 80, "one": 1}


@dataclass(frozen=True)
class GrowthRule:
    """The rule of growth: scores of splits, the splits that are tried, and when to stop."""

    # F of a node's class counts, or of its numbers (only with `split="expected"`).
    impurity: ImpurityFunction | Variance = field(default_factory=Gini)
    split: str = "expected"  # judge by the mean of F over the sides, or by the worse: "minimax"
    # "gain": drop in F - price; the largest wins, and a price is paid once: it becomes 0 for the
    # rest of the tree, and in the given array of prices.
    # "risk": price / drop in F; the least wins, and without a drop there is no split (BudgetRF).
    score: str = "gain"
    least_gain: float = -np.inf  # "gain" only: a gain must exceed it
    # Distinct thresholds that are tried, a key of `STUMPS`.
    thresholds: str = "all"
    # Resolve ties at "random", or by the "first" feature and threshold, the lowest.
    ties: str = "random"
    max_features: int | None = None  # drawn at each node; None: all
    # Whether features that are constant at the node count as drawn, as in Breiman's and
    # scikit-learn's forests, where more are drawn only while all are constant. Otherwise only
    # features that vary are drawn.
    count_constants: bool = True
    # float64 (n_features,): probabilities in that draw (without replacement); None: equal.
    odds: np.ndarray | None = None
    max_depth: int | None = None  # maximum depth; the root has depth 0
    min_samples_leaf: int = 1  # minimum sum of the weights on each side of a split
    # int8 (n_features,): 1 if predictions (for two classes, the share of class 1) must not fall as
    # the feature rises, -1 if they must not rise, otherwise 0. None: all 0.
    directions: np.ndarray | None = None
    # "risk" only, with `acquisitions`: the share of a price that remains if all examples of a node
    # have acquired the feature (with some, the price is in between), and the power of that price. A
    # free feature stays free.
    reuse_discount: float = 1.0
    cost_exponent: float = 1.0


class Acquisitions:
    """The features that the training examples acquired from the trees of a forest so far."""

    def __init__(self, feature_costs, n_samples, counted=None):
        self.prices, self.full = feature_costs.costs, feature_costs.full
        # In the risk, a free feature costs its price in `counted`; None: nothing.
        self.in_risk = self.prices
        if counted is not None:
            self.in_risk = np.where(feature_costs.alone > 0, self.prices, counted)
        n_features = self.prices.size
        self.groups, self.charges = np.full(n_features, -1, dtype=np.int32), np.zeros(0)
        if feature_costs.groups is not None:
            self.groups = np.asarray(feature_costs.groups, dtype=np.int32)
            self.charges = np.asarray(feature_costs.group_costs, dtype=np.float64)
        self.acquired = np.zeros((n_features + self.charges.size, n_samples), dtype=np.uint8)

    def pay(self, owned, rows, features):
        """Return the prices that examples pay for one feature each, and mark it in `owned`."""
        # Acquired features cost 0; the first member of a group bears its charge.
        paid = np.where(owned[features, rows], 0.0, self.prices[features])
        owned[features, rows] = 1
        group = self.groups[features]
        rows, charged = rows[group >= 0], self.prices.size + group[group >= 0]
        paid[group >= 0] += np.where(owned[charged, rows], 0.0, self.charges[group[group >= 0]])
        owned[charged, rows] = 1
        return paid

    def add(self, acquired):
        """Add a tree's acquisitions, an array of bool of shape (n_samples, n_features)."""
        n_features = self.prices.size
        self.acquired[:n_features] |= acquired.T
        for group in range(self.charges.size):
            self.acquired[n_features + group] |= acquired[:, self.groups == group].any(axis=1)


class TreeGrower:
    """Grows trees on one coded table by one rule, one at a time in each thread.

    `labels` are int32 classes below `n_classes`, or float64 numbers and `n_classes` 1 with the
    impurity `Variance`. `features` are those that the trees may test; None: all.
    """

    def __init__(self, data, labels, n_classes, rule, features=None):
        self._names = self._odds = None
        if features is not None:
            data, self._names = data.take(features), np.append(features, LEAF).astype(np.int32)
            if rule.directions is not None:
                rule = replace(rule, directions=rule.directions[features])
        if not data.n_features:
            raise ValueError("Trees need at least one feature, got none.")
        self._data, self._rule, self._targets = data, rule, None
        if isinstance(rule.impurity, Variance):
            labels, self._targets = np.arange(data.n_samples, dtype=np.int32), labels
        self._labels, self._n_classes = labels, n_classes
        max_features = data.n_features if rule.max_features is None else rule.max_features
        # Without replacement, only features of positive probability can be drawn.
        if rule.odds is not None:
            self._odds = np.cumsum(rule.odds, dtype=np.float64)
            max_features = min(max_features, np.count_nonzero(rule.odds))
        max_depth = INT32_MAX if rule.max_depth is None else rule.max_depth
        self._how = max_features, rule.count_constants, max_depth, rule.directions
        # Kept by each thread, as allocation takes longer than growing a small tree.
        self._memory = local()

    def tree(self, weights, prices, seed, acquisitions=None):
        """Grow a tree; its values are weighted class counts, or means of numbers.

        `weights` (n_samples,) are the counts of the examples: 0 leaves an example out, and at least
        one is positive. `prices` (n_features,) are changed in place by the "gain" score (see
        `GrowthRule`). The same `seed`, in [0, 2**64), gives the same tree.

        `acquisitions` are those of the examples before this tree, and stay unchanged. If given,
        their prices replace `prices`.
        """
        rule, before = self._rule, acquisitions
        charged = NodePrices(prices, rule.score == "gain")
        if before is not None:  # its own acquisitions are recorded in a copy
            own, acquired = before.in_risk.copy(), before.acquired.copy()
            discount, exponent = rule.reuse_discount, rule.cost_exponent
            charged = NodePrices(
                own, False, acquired, before.groups, before.charges, discount, exponent
            )
        grower = self._grower(self._precision(weights))
        columns, values = grower.grow(weights, charged, self._odds, *self._how, seed)
        return Tree.of_nodes(columns, values, self._names)

    def _precision(self, weights):
        """Return whether all sums of a tree are exact, and the tolerance for equal drops."""
        minimax, impurity = self._rule.split == "minimax", self._rule.impurity
        total = whole_total(weights)
        whole = total < 2**53
        # The impurity's powers of counts must be exact in a float. Gini and entropy divide, but in
        # the same steps for any order of counting.
        by_cells = not minimax and self._rule.thresholds == "all"
        degree = 1 if by_cells and isinstance(impurity, (Gini, Entropy)) else impurity.degree
        exact = bool(whole and total**degree < 2**53)
        if isinstance(impurity, Variance):
            return exact, 0.0 if minimax else VARIANCE_EQUAL
        # Sums of whole numbers do not depend on the order; others may differ in the last bits.
        return exact, 0.0 if minimax and whole and np.isfinite(impurity.degree) else EQUAL

    def _grower(self, precision):
        """Return this thread's grower for this precision."""
        made_for, grower = getattr(self._memory, "made", (None, None))
        if made_for == precision:
            return grower
        rule, (exact, equal), impurity = self._rule, precision, self._rule.impurity
        risk, minimax = rule.score == "risk", rule.split == "minimax"
        # "whole" is set at each node.
        parameters = {"kind": impurity.kind, "parameter": impurity.parameter, "whole": False}
        # For 1, an example of any weight is enough.
        least = rule.min_samples_leaf * ROUNDED if rule.min_samples_leaf > 1 else -np.inf
        judged = {  # the fields of `Rule` in search.pxd
            "impurity": parameters | {"n_classes": self._n_classes},
            "minimax": minimax,
            "gain": not risk,
            "bounded": risk and minimax and impurity.admissible,
            "exact": exact,
            "stumps": STUMPS[rule.thresholds],
            "first": rule.ties == "first",
            "least_gain": rule.least_gain,
            "least_weight": least,
            "tolerance": VARIANCE_TOLERANCE if isinstance(impurity, Variance) else TOLERANCE,
            "equal": equal,
        }
        grower = Grower(self._data, self._labels, self._n_classes, self._targets, judged)
        self._memory.made = precision, grower
        return grower
