"""GreedyMiser: stage-wise regression whose trees pay for features that they are first to use."""

import numpy as np

from ..counting import count_fit
from ..parallel import thread_map
from ..protocol.documenting import documented, extending
from ..tree.binning import bin_features
from ..tree.structure import Tree
from ..validation import check_number
from ._miser_tree import MiserGrower
from .cost_boosting import CostBoosting

_MAX_BINS = 255


@documented
class GreedyMiserClassifier(CostBoosting):
    """Stage-wise regression with shallow trees and prices on new features.

    Each tree h is grown greedily for Σ (residual − h(x))² plus λ times the price of every feature
    that no earlier split of the ensemble uses; such a feature is free from then on. Of all leaves
    and features the split with the largest net gain is made next.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. A feature of a group is penalised with its own price
        and the group's; predictions are charged for the group once.
    cost_weights : sequence of float or None, default=(10, 3, 1, 0.3, 0.1, 0.03, 0)
        λ, decreasing, in squared error of each training example for the price of all features.
        None: ten that scale with the prices, from where nothing is acquired to 0.
    max_depth : int, default=4
        Depth of the trees, the paper's.
    n_jobs : int, default=None
        Threads, as in joblib: one path for each cost weight. The model does not depend on it.

    References
    ----------
    Z. Xu, K. Q. Weinberger and O. Chapelle. The greedy miser: learning under test-time budgets.
    ICML 2012.
    """

    @extending(CostBoosting)
    def __init__(self, *, max_depth=4, **shared):
        super().__init__(**shared)
        self.max_depth = max_depth

    def _boost(self, X, labels, shares, cost_weights, n_iterations):
        # Depth 16 is 65,536 leaves: deeper trees are not of limited depth any more.
        check_number(self.max_depth, "max_depth", low=1, high=16, integer=True)
        data = bin_features(X, _MAX_BINS, self.n_jobs)
        members = labels == np.arange(self.classes_.size)[:, None]
        # Two classes have one score, of the second class: its row is the last.
        targets = np.where(members[-self._n_outputs :], 1.0, -1.0)

        def path(tradeoff):
            count_fit()
            grower = MiserGrower(data, self.max_depth)
            # λ is per example, the squared error a sum over all of them.
            prices = tradeoff * len(X) * shares
            # Shared by all trees and classes of the ensemble: a feature is paid for once.
            acquired = np.zeros(X.shape[1], dtype=np.uint8)
            scores, fitted = np.zeros_like(targets), np.empty_like(targets)
            trees = []
            for _ in range(n_iterations):
                # Of the iteration's start for all classes: their trees do not see each other.
                residuals = targets - scores
                for output, residual in enumerate(residuals):
                    grown = grower.grow(residual, prices, acquired, fitted[output])
                    trees.append(self._tree(*grown, output))
                scores += self.learning_rate * fitted
            return trees

        return thread_map(path, cost_weights, self.n_jobs, "models")

    def _tree(self, nodes, values, output):
        """Return grown nodes as a `Tree` whose values add up to the scores."""
        value = np.zeros((nodes.size, self._n_outputs))
        value[:, output] = self.learning_rate * values
        return Tree.of_nodes(nodes, value)
