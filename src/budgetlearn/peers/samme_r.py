"""SAMME.R, the multi-class AdaBoost whose members vote with their class probabilities."""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import INT32_MAX, all_or_nothing, check_classes, check_number
from ..tree.convert import from_sklearn
from .staged import TreeSum

# What a share counts as at least before its logarithm is taken; the paper leaves it open.
_LEAST_SHARE = np.finfo(np.float64).eps


class SAMMERClassifier(ClassifierMixin, BaseEstimator):
    """AdaBoost of decision trees by SAMME.R (Zhu, Zou, Rosset and Hastie, 2009, algorithm 4).

    A tree votes for class k with h_k(x) = (K - 1) (log p_k(x) - mean_l log p_l(x)), where p are
    the class shares of its leaf; an example's weight is then multiplied by
    exp(-h_y(x) / (K - 1)). A learning rate below 1 shrinks that exponent, as scikit-learn did
    while it had this algorithm. An engine: `BoostingNodeShares` and `ForestStages` charge it.

    Parameters
    ----------
    estimator : DecisionTreeClassifier, default=None
        What is boosted; None: stumps.
    n_estimators : int, default=50
        Trees. Fewer when one makes no error on the training data: it would only be repeated.
    learning_rate : float, default=1.0
        Factor of the exponent, > 0.
    random_state : int, RandomState instance or None, default=None
        Source of the trees' seeds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the order of the votes.
    estimators_ : list of DecisionTreeClassifier
        The fitted trees.
    trees_ : list of Tree
        The same trees with their votes as values.
    n_features_in_ : int
        Number of features.

    References
    ----------
    J. Zhu, H. Zou, S. Rosset and T. Hastie. Multi-class AdaBoost. Statistics and Its Interface 2,
    349-360, 2009.
    """

    def __init__(self, estimator=None, *, n_estimators=50, learning_rate=1.0, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X, y):
        """Boost the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.

        Returns
        -------
        SAMMERClassifier
            self
        """
        check_number(self.n_estimators, "n_estimators", low=1, integer=True)
        check_number(self.learning_rate, "learning_rate", low=0, low_open=True)
        with all_or_nothing(self):
            self._boost(*validate_data(self, X, y, dtype=np.float32))
        return self

    def _boost(self, X, y):
        self.classes_, labels = check_classes(y)
        random = check_random_state(self.random_state)
        base = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        weights = np.full(len(X), 1 / len(X))
        self.estimators_, self.trees_ = [], []
        for _ in range(self.n_estimators):
            member = clone(base).set_params(random_state=random.randint(INT32_MAX))
            member.fit(X, labels, sample_weight=weights, check_input=False)
            (tree,) = from_sklearn(member)
            votes = _votes(tree.value)
            self.estimators_.append(member)
            self.trees_.append(replace(tree, value=votes))
            reached = votes[member.apply(X, check_input=False)]
            if (reached.argmax(axis=1) == labels).all():
                break
            own = reached[np.arange(len(X)), labels] / (self.classes_.size - 1)
            weights *= np.exp(-self.learning_rate * own)
            weights /= weights.sum()

    def decision_function(self, X):
        """Return the sums of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) of two classes
            Of two classes the votes for the second.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        votes = TreeSum.of(self.trees_, self.n_features_in_).scores(X, n_jobs=None)
        return votes[:, 1] if self.classes_.size == 2 else votes

    def predict(self, X):
        """Return the class with most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        votes = self.decision_function(X)
        return self.classes_[(votes > 0).astype(int) if votes.ndim == 1 else votes.argmax(axis=1)]


def _votes(shares):
    """Return what leaves with these class shares vote for each class."""
    logs = np.log(np.maximum(shares, _LEAST_SHARE))
    return (shares.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True))
