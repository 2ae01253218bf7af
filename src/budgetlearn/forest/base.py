"""What the classification forests on our tree kernels share."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import INT32_MAX, ParameterError, check_classes
from ..base import AcquisitionMixin
from ..costs import FeatureCosts
from ..tree.binning import bin_features
from ..tree.predictor import ForestPredictor

X_TYPES = (np.float64, np.float32)


def bootstrap_weights(n_samples, seed):
    """Return how often each example is drawn when n_samples are drawn with replacement.

    Parameters
    ----------
    n_samples : int
        Examples to draw, and to draw from.
    seed : int
        The tree's seed.

    Returns
    -------
    ndarray of float64 of shape (n_samples,)
    """
    drawn = np.random.default_rng(seed).integers(n_samples, size=n_samples)
    return np.bincount(drawn, minlength=n_samples).astype(np.float64)


class ForestClassifier(AcquisitionMixin, ClassifierMixin, BaseEstimator):
    """A forest of `Tree` that predicts, counts votes and is charged for what it looks at.

    A subclass calls `_check_fit` and, when its trees are grown, `_set_trees`.
    """

    voting = "shares"

    def _check_fit(self, X, y):
        """Validate training data; return X and labels as int32, and set what follows from them."""
        X, y = validate_data(self, X, y, dtype=X_TYPES)
        self.classes_, labels = check_classes(y)
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        return X, labels.astype(np.int32)

    def _codes(self, X, binned):
        """Return the codes of X: `binned`, checked, or new ones."""
        if binned is None:
            return bin_features(X, self.max_bins, self.n_jobs)
        if (binned.n_samples, binned.n_features) != X.shape:
            raise ParameterError(
                f"binned must hold the codes of X, of shape {X.shape}, "
                f"got {(binned.n_samples, binned.n_features)}."
            )
        return binned

    def _tree_seeds(self, random, n_trees):
        """Return one seed per tree, so that no tree depends on when another is grown."""
        return random.randint(INT32_MAX, size=n_trees).tolist()

    def _set_trees(self, trees):
        """Make `trees` the fitted forest."""
        self.trees_ = trees
        self._predictor = ForestPredictor(
            trees, self.n_features_in_, shares=self.voting == "shares"
        )

    def _check_predict(self, X):
        check_is_fitted(self, "trees_")
        return validate_data(self, X, reset=False, dtype=X_TYPES)

    @property
    def _ballot(self):
        """What a walk has to gather for the vote."""
        return "votes" if self.voting == "majority" else "values"

    def _scores(self, X):
        X = self._check_predict(X)
        walk = self._predictor.walk(X, **{self._ballot: True}, n_jobs=self.n_jobs)
        return getattr(walk, self._ballot)

    def predict(self, X):
        """Return the class with the most votes for each example; equals go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        """Return the share of the votes of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        scores = self._scores(X).astype(np.float64)
        return scores / scores.sum(axis=1, keepdims=True)

    def staged_predict(self, X):
        """Predict with the first tree, the first two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        X = self._check_predict(X)
        for walk in self._predictor.staged_walk(X, **{self._ballot: True}, n_jobs=self.n_jobs):
            yield self.classes_[getattr(walk, self._ballot).argmax(axis=1)]

    def staged_predict_proba(self, X):
        """Return the share of the votes of each class after the first tree, two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        X = self._check_predict(X)
        for walk in self._predictor.staged_walk(X, **{self._ballot: True}, n_jobs=self.n_jobs):
            scores = getattr(walk, self._ballot)
            yield scores / scores.sum(axis=1, keepdims=True)

    def acquired_features(self, X):
        """Return which features the prediction of each example looks at, over all trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._check_predict(X)
        return self._predictor.walk(X, acquired=True, n_jobs=self.n_jobs).acquired

    def staged_acquired_features(self, X):
        """Return which features the first tree looks at, the first two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._check_predict(X)
        for walk in self._predictor.staged_walk(X, acquired=True, n_jobs=self.n_jobs):
            yield walk.acquired.copy()


class UsedFeaturesForest(ForestClassifier):
    """A forest whose predictions pay for every feature that some tree of it tests.

    Which features are to be measured is settled before an example comes: all examples cost the
    same.
    """

    def _used(self, trees):
        """Return the mask of the features that some node of the trees tests."""
        used = np.zeros(self.n_features_in_, dtype=bool)
        for tree in trees:
            used[tree.feature[~tree.is_leaf]] = True
        return used

    def _set_trees(self, trees):
        super()._set_trees(trees)
        self.features_ = np.flatnonzero(self._used(trees))
        self.cost_ = self.feature_costs_.subset(self.features_)

    def acquired_features(self, X):
        """Return which features a prediction pays for: those of the forest, for every example.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._check_predict(X)
        return np.tile(self._used(self.trees_), (X.shape[0], 1))

    def staged_acquired_features(self, X):
        """Return which features the first tree uses, the first two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        X = self._check_predict(X)
        used = np.zeros(self.n_features_in_, dtype=bool)
        for tree in self.trees_:
            used |= self._used([tree])
            yield np.tile(used, (X.shape[0], 1))
