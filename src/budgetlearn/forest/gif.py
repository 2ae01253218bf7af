"""Globally induced forests (Begon, Joly and Geurts, 2017): forests under a node budget."""

from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import ParameterError, check_choice, check_number
from ..base import AcquisitionMixin
from ..costs import FeatureCosts
from ._gif_grower import grow, refit
from ._gif_nodes import NodeTable
from ._gif_pool import AllCandidates, RandomWindow
from ._gif_split import GiniSplitter, VarianceSplitter
from .gif_losses import Exponential, Squared, TrimmedExponential
from .gif_model import GIFModel

_SEEDS = np.iinfo(np.int32).max


def _n_visits(max_features, n_features):
    """Return how many features a split visits."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        check_choice(max_features, "max_features", ("sqrt",))
        return max(1, int(np.sqrt(n_features)))
    check_number(max_features, "max_features", low=1, high=n_features, integer=True)
    return int(max_features)


class _GIF(AcquisitionMixin, BaseEstimator):
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
        check_number(self.learning_rate, "learning_rate", low=0, low_open=True)
        check_number(self.refit, "refit", low=0, integer=True)
        if self.candidate_window is not None:
            check_number(self.candidate_window, "candidate_window", low=1, integer=True)

    def _grow(self, X, targets, make_splitter):
        """Grow the forest; `make_splitter(X, n_visits, seed)` knows the impurity."""
        n_samples, n_features = X.shape
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, n_features)
        n_visits = _n_visits(self.max_features, n_features)
        split_seed, pool_seed = check_random_state(self.random_state).randint(_SEEDS, size=2)
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
        self._refitted = self.refit > 0
        self._model = GIFModel(
            table.records[: table.n_nodes],
            weights,
            nodes_after[:n_steps].copy(),
            self.n_estimators,
            n_features,
        )
        self.n_nodes_ = self._model.n_nodes
        self.feature_importances_ = self._model.importances()
        return self

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

    def _scores(self, X, model):
        walk = model.packed.walk(X, values=True, n_jobs=self.n_jobs)
        return self.intercept_ + walk.values

    def _stages(self, node_budgets):
        """Yield the model within each node budget."""
        if self._refitted:
            raise ParameterError(
                "stages exist for refit=0 only: refitting fits the weights to the whole model, "
                "not to smaller budgets. Fit one model for each node budget."
            )
        if node_budgets is None:
            node_budgets = np.unique(np.arange(1, 11) * self.n_nodes_ // 10)
        for node_budget in np.asarray(node_budgets).tolist():
            check_number(node_budget, "node_budgets (each of them)", low=0, integer=True)
            yield self._model.within(node_budget)

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
        X = self._checked(X)
        return self._decide(self._scores(X, self._model))

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
        for model in self._stages(node_budgets):
            yield self._decide(self._scores(X, model))

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
        X = self._checked(X)
        return self._model.packed.walk(X, acquired=True, n_jobs=self.n_jobs).acquired

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
        for model in self._stages(node_budgets):
            yield model.packed.walk(X, acquired=True, n_jobs=self.n_jobs).acquired


class GIFRegressor(MultiOutputMixin, RegressorMixin, _GIF):
    """Globally induced forest for regression, with squared loss and one or more outputs.

    Starting from `n_estimators` single splits, the forest accepts one node after another, each
    with the weight that lowers the loss of the whole forest most, until the node budget is spent
    (algorithm 1 of Begon, Joly and Geurts, 2017). The splits are those of extremely randomized
    trees.

    Parameters
    ----------
    node_budget : int, default=10000
        Most nodes in the model, internal and leaf. A root counts once a node of its tree is
        accepted.
    n_estimators : int, default=1000
        Trees to start with.
    learning_rate : float, default=10**-1.5
        Share of its optimal weight that an accepted node gets, > 0.
    candidate_window : int or None, default=1
        Candidates examined at each step. None: all of them, exactly.
    max_features : {"sqrt"}, int or None, default="sqrt"
        Features that a split visits; None: all.
    loss : {"squared"}, default="squared"
        The loss.
    refit : int, default=0
        Passes over the accepted nodes once the budget is spent; each adds to every node's weight
        what then improves the loss most, times the learning rate.
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Threads of prediction. Growing is sequential by nature.

    Attributes
    ----------
    trees_ : list of Tree
        Trees with at least one accepted node, or a single leaf. The value of a node is the sum
        of the weights on its path, so that leaves carry all that a prediction needs. The side of
        a split that was not accepted is a leaf with its parent's value; `n_nodes_` does not
        count it.
    n_nodes_ : int
        Nodes in the model, at most `node_budget`.
    intercept_ : ndarray of shape (n_outputs,)
        The loss-optimal constant, to which the trees are added.
    feature_importances_ : ndarray of shape (n_features,)
        Decrease of impurity by the model's splits on each feature, weighted by the share of
        training samples that reach the split, over all trees; sums to 1 (0 without splits). A
        split is the model's when at least one of its sides was accepted.
    node_distribution_ : ndarray of shape (n_estimators,)
        Nodes of each tree in the model.
    node_entropy_ : float
        Entropy of that distribution divided by log(n_estimators).
    feature_costs_ : FeatureCosts
        The costs in use.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    GIFClassifier : The same for classes.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from budgetlearn.forest.gif import GIFRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = GIFRegressor(node_budget=500, n_estimators=50, random_state=0).fit(X, X[:, 0] ** 2)
    >>> model.n_nodes_
    500
    """

    def __init__(
        self,
        node_budget=10_000,
        *,
        n_estimators=1000,
        learning_rate=10**-1.5,
        candidate_window=1,
        max_features="sqrt",
        loss="squared",
        refit=0,
        feature_costs=None,
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(
            node_budget,
            n_estimators,
            learning_rate,
            candidate_window,
            max_features,
            refit,
            feature_costs,
            random_state,
            n_jobs,
        )
        self.loss = loss

    def _loss(self):
        return Squared()

    def fit(self, X, y):
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, finite.

        Returns
        -------
        GIFRegressor
            self
        """
        self._check_parameters()
        check_choice(self.loss, "loss", ("squared",))
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="F", multi_output=True, y_numeric=True
        )
        y = np.asarray(y, dtype=np.float64)
        self._single_output = y.ndim == 1
        targets = y.reshape(len(y), -1)
        centred = np.ascontiguousarray(targets - targets.mean(axis=0))
        return self._grow(X, targets, lambda *rest: VarianceSplitter(*rest, centred))

    def _decide(self, scores):
        return scores[:, 0] if self._single_output else scores


class GIFClassifier(ClassifierMixin, _GIF):
    """Globally induced forest for classification.

    See `GIFRegressor` for how the forest grows; splits lower Gini's index here.

    Parameters
    ----------
    node_budget : int, default=10000
        Most nodes in the model, internal and leaf. A root counts once a node of its tree is
        accepted.
    n_estimators : int, default=1000
        Trees to start with.
    learning_rate : float, default=10**-1.5
        Share of its optimal weight that an accepted node gets, > 0.
    candidate_window : int or None, default=1
        Candidates examined at each step. None: all of them, exactly.
    max_features : {"sqrt"}, int or None, default="sqrt"
        Features that a split visits; None: all.
    loss : {"squared", "trimmed_exponential", "exponential"}, default="squared"
        "squared": one output for each class, the choice for more than two classes.
        "trimmed_exponential": multiclass exponential loss with bounded weights, the paper's
        choice for two classes. "exponential": without that bound, for comparison.
    saturation : float, default=3.0
        Largest log-ratio of class errors that counts ("trimmed_exponential" only), > 0.
    refit : int, default=0
        Passes over the accepted nodes once the budget is spent; each adds to every node's weight
        what then improves the loss most, times the learning rate.
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Threads of prediction. Growing is sequential by nature.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the order of the scores and probabilities.
    trees_, n_nodes_, intercept_, feature_importances_, node_distribution_, node_entropy_
        As for `GIFRegressor`; one value for each class.
    feature_costs_ : FeatureCosts
        The costs in use.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    GIFRegressor : The same for numbers.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017.
    """

    def __init__(
        self,
        node_budget=10_000,
        *,
        n_estimators=1000,
        learning_rate=10**-1.5,
        candidate_window=1,
        max_features="sqrt",
        loss="squared",
        saturation=3.0,
        refit=0,
        feature_costs=None,
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(
            node_budget,
            n_estimators,
            learning_rate,
            candidate_window,
            max_features,
            refit,
            feature_costs,
            random_state,
            n_jobs,
        )
        self.loss = loss
        self.saturation = saturation

    def _loss(self):
        if self.loss == "squared":
            return Squared()
        if self.loss == "exponential":
            return Exponential()
        return TrimmedExponential(self.saturation)

    def fit(self, X, y):
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.

        Returns
        -------
        GIFClassifier
            self
        """
        self._check_parameters()
        check_choice(self.loss, "loss", ("squared", "trimmed_exponential", "exponential"))
        check_number(self.saturation, "saturation", low=0, low_open=True)
        X, y = validate_data(self, X, y, dtype=np.float64, order="F")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_classes = self.classes_.size
        if n_classes < 2:
            raise ParameterError(
                f"y must have at least two classes, got only one class: {self.classes_[0]}."
            )
        codes = codes.astype(np.int32)
        one_hot = np.eye(n_classes)[codes]
        return self._grow(X, one_hot, lambda *rest: GiniSplitter(*rest, codes, n_classes))

    def _decide(self, scores):
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X):
        """Return class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            With an exponential loss the softmax of Eq. (MEproba); with the squared loss the
            scores, which add up to 1, cut off below 0 and scaled.
        """
        X = self._checked(X)
        return self._loss().probabilities(self._scores(X, self._model))
