"""Cost-aware filter in front of boosting: LightGBM on the features that tell most per price."""

from dataclasses import replace

from ..tree.convert import on_the_whole_table
from .filter_forest import FilterForestClassifier
from .lightgbm_costs import LightGBMCostClassifier
from .staged import TreeStages, TreeSum


class FilterBoostingClassifier(FilterForestClassifier):
    """LightGBM on the k features with the most mutual information per price.

    As `FilterForestClassifier`, with boosting in place of the forest.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. A feature of a group is rated with its own price and
        the group's; predictions are charged for the group once.
    n_selected : sequence of int, default=None
        Numbers k of features, increasing, one model each. None: 1, 2, 3, 5, 8, 13, … and all.
    cost_power : float, default=1.0
        Features are rated by information over price to this power; 0: whatever they cost.
    n_estimators : int, default=40
        Boosting iterations of each model.
    learning_rate : float, default=0.2
        Shrinkage of each tree.
    num_leaves : int, default=8
        Most leaves of a tree.
    min_child_samples : int, default=5
        Least training examples in a leaf.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Threads, as in joblib. The model does not depend on it.

    Attributes
    ----------
    mutual_information_ : ndarray of shape (n_features,)
        Estimate for each feature, in nats.
    order_ : ndarray of int of shape (n_features,)
        Features, the best for its price first.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    stage_settings_ : list of dict
        What tells stages apart: {"features": k}.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.
    """

    def __init__(
        self,
        feature_costs=None,
        *,
        n_selected=None,
        cost_power=1.0,
        n_estimators=40,
        learning_rate=0.2,
        num_leaves=8,
        min_child_samples=5,
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(
            feature_costs,
            n_selected=n_selected,
            cost_power=cost_power,
            n_estimators=n_estimators,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples

    _shares = TreeStages._shares

    def _forest(self, X, labels, data, selected, seed):
        """Return LightGBM's trees on some features as a sum of trees on the whole table."""
        boosting = LightGBMCostClassifier(
            tradeoffs=(0,),
            n_trees=(self.n_estimators,),
            learning_rate=self.learning_rate,
            num_leaves=self.num_leaves,
            min_child_samples=self.min_child_samples,
            random_state=seed,
            n_jobs=self.n_jobs,
        ).fit(X[:, selected], labels)
        trees = [on_the_whole_table(tree, selected) for tree in boosting.trees_]
        per_step = 1 if boosting.classes_.size == 2 else boosting.classes_.size
        return replace(TreeSum.of(trees, X.shape[1]), per_step=per_step)
