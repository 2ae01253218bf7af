"""Forests at several sizes from one fit, so that a study can set error against memory."""

from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import ParameterError, check_number
from ..base import AcquisitionMixin
from ..costs import FeatureCosts
from ..tree.convert import from_sklearn
from ..tree.packed import PackedForest

_SEEDS = np.iinfo(np.int32).max


class _Sizes(AcquisitionMixin, MetaEstimatorMixin, BaseEstimator):
    """An estimator at several sizes; the last is what `predict` and `acquired_features` use.

    A subclass fits `estimator_`, sets `stage_settings_` and says what one stage does.
    """

    _dtype = np.float64

    @abstractmethod
    def _fit(self, X, y):
        """Fit on validated data."""

    @abstractmethod
    def _predict_stage(self, X, stage):
        """Return the predictions at one size."""

    @abstractmethod
    def _acquired_stage(self, X, stage):
        """Return the acquired features at one size."""

    def __sklearn_tags__(self):
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = own.target_tags.required
        return tags

    def fit(self, X, y):
        """Fit the largest size, which holds all others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite.
        y : array-like of shape (n_samples,)
            Class labels or numbers, as the estimator takes them.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=self._dtype, y_numeric=not is_classifier(self))
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        self._fit(X, y)
        if is_classifier(self):
            self.classes_ = self.estimator_.classes_
        return self

    def _checked(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=self._dtype, reset=False)

    def predict(self, X):
        """Predict at the largest size.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predict_stage(self._checked(X), -1)

    def score(self, X, y):
        """Return accuracy in classification, R² in regression, at the largest size.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            True labels or numbers.

        Returns
        -------
        float
        """
        return (accuracy_score if is_classifier(self) else r2_score)(y, self.predict(X))

    def staged_predict(self, X):
        """Predict at each size.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        for stage in range(len(self.stage_settings_)):
            yield self._predict_stage(X, stage)

    def acquired_features(self, X):
        """Return which features the prediction of each example looks at, at the largest size.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        return self._acquired_stage(self._checked(X), -1)

    def staged_acquired_features(self, X):
        """Return `acquired_features` at each size.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._checked(X)
        for stage in range(len(self.stage_settings_)):
            yield self._acquired_stage(X, stage)


class ForestStages(_Sizes):
    """A forest of scikit-learn, and what it would be with its first trees only.

    Parameters
    ----------
    estimator : ExtraTreesClassifier, ExtraTreesRegressor or random forest of scikit-learn
        Its `n_estimators` is replaced by the last of `n_trees`.
    n_trees : sequence of int, default=(10, 100, 1000)
        Trees at each size, increasing.
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    random_state : int, RandomState instance or None, default=None
        Given to the estimator.
    n_jobs : int, default=None
        Threads.

    Attributes
    ----------
    estimator_ : estimator
        The fitted forest.
    stage_settings_ : list of dict
        What tells each size apart: {"trees": n}.
    """

    _dtype = np.float32  # what scikit-learn's trees compare

    def __init__(
        self,
        estimator,
        n_trees=(10, 100, 1000),
        feature_costs=None,
        random_state=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_trees = n_trees
        self.feature_costs = feature_costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X, y):
        n_trees = _increasing(self.n_trees, "n_trees", integer=True)
        self.estimator_ = clone(self.estimator).set_params(
            n_estimators=n_trees[-1], random_state=self.random_state, n_jobs=self.n_jobs
        )
        self.estimator_.fit(X, y)
        self.stage_settings_ = [{"trees": n} for n in n_trees]
        trees = from_sklearn(self.estimator_)
        self._n_nodes = np.cumsum([tree.node_count for tree in trees])
        self._packed = PackedForest(trees, X.shape[1])

    def _first_trees(self, stage):
        return 0, self.stage_settings_[stage]["trees"]

    def _predict_stage(self, X, stage):
        trees = self._first_trees(stage)
        total = self._packed.walk(X, values=True, trees=trees, n_jobs=self.n_jobs).values
        return (
            self.classes_[total.argmax(axis=1)] if is_classifier(self) else total[:, 0] / trees[1]
        )

    def _acquired_stage(self, X, stage):
        trees = self._first_trees(stage)
        return self._packed.walk(X, acquired=True, trees=trees, n_jobs=self.n_jobs).acquired

    def staged_n_nodes(self):
        """Return the nodes at each size.

        Yields
        ------
        int
        """
        check_is_fitted(self)
        for setting in self.stage_settings_:
            yield int(self._n_nodes[setting["trees"] - 1])


class GIFNodeShares(_Sizes):
    """A globally induced forest whose node budgets are shares of fully grown extra trees.

    The paper's way to state budgets: 10 % is a tenth of the nodes of 1000 extremely randomized
    trees, grown to the end on the same training data. Their number is estimated from a few trees.

    Parameters
    ----------
    estimator : GIFRegressor or GIFClassifier
        Without `refit`. Its `node_budget` is replaced.
    percents : sequence of float, default=(1, 10)
        Node budgets in percent, increasing.
    n_trees : int, default=1000
        Fully grown trees whose nodes are 100 %.
    n_probes : int, default=20
        Fully grown trees that the number of nodes is estimated from.
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Threads of prediction.

    Attributes
    ----------
    estimator_ : GIFRegressor or GIFClassifier
        The fitted forest at the largest budget.
    n_full_ : float
        Estimated nodes of the fully grown extra trees.
    node_budgets_ : list of int
        The budgets.
    forests_ : list of GIFRegressor or GIFClassifier
        The forest within each budget.
    stage_settings_ : list of dict
        What tells each size apart: {"budget_percent": share}.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017, section 4.
    """

    def __init__(
        self,
        estimator,
        percents=(1, 10),
        n_trees=1000,
        n_probes=20,
        feature_costs=None,
        random_state=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.percents = percents
        self.n_trees = n_trees
        self.n_probes = n_probes
        self.feature_costs = feature_costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X, y):
        percents = _increasing(self.percents, "percents", high=100)
        check_number(self.n_trees, "n_trees", low=1, integer=True)
        check_number(self.n_probes, "n_probes", low=1, integer=True)
        seeds = check_random_state(self.random_state).randint(_SEEDS, size=2)
        forest = ExtraTreesClassifier if is_classifier(self) else ExtraTreesRegressor
        probes = forest(self.n_probes, random_state=seeds[0]).fit(X, y).estimators_
        per_tree = np.mean([probe.tree_.node_count for probe in probes])
        self.n_full_ = float(per_tree * self.n_trees)
        self.node_budgets_ = [max(1, int(self.n_full_ * share / 100)) for share in percents]
        self.estimator_ = clone(self.estimator).set_params(
            node_budget=self.node_budgets_[-1], random_state=seeds[1], n_jobs=self.n_jobs
        )
        self.estimator_.fit(X, y)
        self.forests_ = [self.estimator_.within(budget) for budget in self.node_budgets_]
        self.stage_settings_ = [{"budget_percent": share} for share in percents]

    def _predict_stage(self, X, stage):
        return self.forests_[stage].predict(X)

    def _acquired_stage(self, X, stage):
        return self.forests_[stage].acquired_features(X)

    def staged_n_nodes(self):
        """Return the nodes at each size.

        Yields
        ------
        int
        """
        check_is_fitted(self)
        for forest in self.forests_:
            yield forest.n_nodes_

    def staged_node_entropy(self):
        """Return the entropy of the nodes' distribution over the trees, by log of their number.

        Yields
        ------
        float
        """
        check_is_fitted(self)
        for forest in self.forests_:
            yield forest.node_entropy_


def _increasing(values, name, high=None, integer=False):
    """Return sizes as a list, checked: numbers above 0, each larger than the one before."""
    values = list(values)
    for value in values:
        check_number(value, f"{name} (each)", low=0, low_open=True, high=high, integer=integer)
    if not values or np.any(np.diff(values) <= 0):
        raise ParameterError(f"{name} must be one or more increasing numbers, got {values}.")
    return values
