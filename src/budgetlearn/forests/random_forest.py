"""Breiman's random forest on our tree kernels."""

import numpy as np

from ..parallel import thread_map
from ..protocol.documenting import documented
from ..tree.growth import GrowthRule, grow_tree
from ..tree.impurity import Entropy, Gini
from ..validation import check_choice, check_max_features, check_number
from .base import CodedFit, ForestClassifier
from .out_of_bag import check_oob, set_oob

CRITERIA = {"gini": Gini, "entropy": Entropy}


@documented
class RandomForestClassifier(CodedFit, ForestClassifier):
    """Random forest (Breiman 2001): bootstrap samples, a few random features at each node.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        What `acquisition_cost` charges; it does not change the trees. None: 1 each.
    criterion : {"gini", "entropy"}, default="gini"
        Impurity whose mean over the two sides a split minimises.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Features drawn at each node; more only while all that came are constant. None: all.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree, else use every example.
    oob_score : bool, default=False
        Whether to estimate the accuracy on the examples that each tree left out.

    Attributes
    ----------
    tree_seeds_ : list of int
        Seed of each tree; its bootstrap sample follows from it.
    oob_score_ : float
        Accuracy on the examples that some tree left out; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Their mean class shares; NaN for an example that no tree left out.

    References
    ----------
    L. Breiman. Random forests. Machine Learning 45, 2001.
    """

    def __init__(
        self,
        *,
        feature_costs=None,
        n_estimators=100,
        criterion="gini",
        max_features="sqrt",
        max_depth=None,
        max_bins=None,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, train, valid, seeds):
        rule = self._rule(train.X.shape[1])
        check_oob(self)
        data, labels = self._codes(train.X, self._binned), train.y.astype(np.int32)
        # Drawn before the trees grow, so that threads do not change the forest.
        seeds = self._tree_seeds(seeds)

        def grow(seed):
            # All features are free: what wins is the drop in impurity alone.
            weights, prices = self._drawn(train, seed), np.zeros(train.X.shape[1])
            return grow_tree(data, labels, weights, self.classes_.size, rule, prices, seed)

        self.tree_seeds_ = seeds
        self._set_trees(thread_map(grow, seeds, self.n_jobs, "trees"))
        if self.oob_score:
            set_oob(self, self.trees_, seeds, train)

    def _rule(self, n_features):
        check_choice(self.criterion, "criterion", tuple(CRITERIA))
        if self.max_depth is not None:
            check_number(self.max_depth, "max_depth", low=1, integer=True)
        # Constant features count as drawn, as Breiman's and scikit-learn's forests have it.
        return GrowthRule(
            impurity=CRITERIA[self.criterion](),
            max_features=check_max_features(self.max_features, n_features),
            max_depth=self.max_depth,
        )
