"""BudgetRF's parameters in groups: how trees grow, and what becomes of their leaves."""

from dataclasses import dataclass, fields
from pathlib import Path

from ..tree.impurity import ImpurityFunction


@dataclass(frozen=True, kw_only=True, repr=False)
class ParameterGroup:
    """Base of groups of parameters, which cannot be changed: estimators may share one."""

    def __repr__(self):
        # As scikit-learn prints estimators: what differs from the defaults.
        changed = (
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if repr(getattr(self, each.name)) != repr(each.default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Growth(ParameterGroup):
    """How the trees of BudgetRF grow: the parameter `growth` of its estimators.

    Parameters
    ----------
    impurity : {"threshold_pairs", "powers", "polynomial", "gini", "entropy"} or \
            ImpurityFunction, default="threshold_pairs"
        F, of classes; of numbers it is the variance. Gini and entropy are not admissible and need
        `split="expected"`.
    split : {"minimax", "expected"}, default="minimax"
        Judge a split of classes by its worse side, or by the mean of both; of numbers by the mean.
    reuse_discount : float, default=1.0
        Share f of a price that stays in the risk where all examples of a node have acquired the
        feature before, on the path or in earlier trees: price × (f + (1 − f) × share of the node
        that has not). The charge of a group falls alike with the share that acquired no member.
        1: the paper's risk. Name a cost_exponent with it: the default makes little of prices.
    thresholds : {"all", "random"}, default="all"
        Every midpoint of neighbouring values, or the paper's random 80, 40 or 20 (at nodes of more
        than 2000, more than 500, fewer examples).
    ties : {"random", "first", "reuse"}, default="random"
        Which of several splits of least risk to take: one at random; the first feature and
        threshold (the authors' code); or a feature that the path already acquired, else the one
        that the forest uses most.
    max_depth : int, default=None
        Greatest depth of a tree.
    min_samples_leaf : int, default=1
        Least examples on each side of a split: each as often as its tree drew it, and times its
        weight.
    max_features : {"sqrt"}, int, float or None, default=None
        Features drawn at each node among those that vary there; None: all. About half of them
        make the trees less alike, and often the forest better at equal cost.
    max_bins : int, default=None
        Quantile bins for each feature, 255 is fast; None: exact.
    codes_folder : str or Path, default=None
        Where a temporary file holds the codes of the table, mapped into memory, while the forest
        grows: for tables whose codes do not fit. None: in memory.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree.
    """

    impurity: str | ImpurityFunction = "threshold_pairs"
    split: str = "minimax"
    reuse_discount: float = 1.0
    thresholds: str = "all"
    ties: str = "random"
    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_features: str | float | None = None
    max_bins: int | None = None
    codes_folder: str | Path | None = None
    bootstrap: bool = True


@dataclass(frozen=True, kw_only=True, repr=False)
class Leaves(ParameterGroup):
    """What becomes of the leaves of BudgetRF's trees: the parameter `leaves` of its estimators.

    Parameters
    ----------
    prune : bool, float or list of float, default=False
        Whether each tree keeps only the splits that examples left out of its bootstrap sample find
        worth their cost. A number is the weight of what the tree adds to the mean cost, as a share
        of the cost of all features, against its squared error, as a share of that without a
        split; what an example acquired from earlier trees is free. 0 prunes by the error alone. Of
        a list, or of 0.1, 0.3, 1, 3, 10 with True, the best is chosen on validation data.
    joint_fit : bool, float or list of float, default=False
        Whether the values of all leaves are fitted together when the trees are grown: by logistic
        regression of the classes on the leaves, shrunk to the log-odds of the leaves' class counts;
        in regression by ridge regression of the target, shrunk to the leaves' means. A number is
        the penalty of the squared difference, in units of the loss of one example; of a list, or of
        100, 30, 10, 3, 1 with True, each stage uses the one with the least loss on validation data.
        Stages are then the first 1, 2, 3, 4, 6, 8, 11, 16, ... trees, each with values of its own.
    voting : {"majority", "counts"}, default="majority"
        Each tree votes for the majority class of its leaf, or with the class counts there; numbers
        are averaged.
    """

    prune: bool | float | list = False
    joint_fit: bool | float | list = False
    voting: str = "majority"


# The parameters of an estimator that are groups; None stands for the defaults.
KINDS = {"growth": Growth, "leaves": Leaves}
