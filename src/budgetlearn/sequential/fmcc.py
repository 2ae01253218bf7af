"""Fast margin-based cost-sensitive classification (Nan et al. 2014) and its control."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ..costs import spendable
from ..parallel import thread_map
from ..protocol.documenting import documented, extending
from ..validation import INT32_MAX, check_number
from ._margin_walk import MarginWalker
from .additive import fit_additive
from .classifier import SequentialClassifier, Walk


@documented
class MarginClassifier(SequentialClassifier):
    """Base of classifiers by the partial score w_O . phi_O(x) + b of the acquired features O.

    A subclass says in `_order` which order of acquisition it follows, if any.

    Parameters
    ----------
    estimator : classifier, default=None
        Linear binary classifier with `coef_` and `intercept_`, AdaBoost or gradient boosting of
        stumps, or a pipeline of feature-wise scalers ending in one; None means a linear SVM on
        standardised features. With boosted stumps, acquiring a feature acquires all its stumps.
        More than two classes are fitted one against the rest.
    n_neighbors : int, default=65
        Size K of the neighbourhood that estimates the accuracy; ties at the K-th distance are all
        included.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimator.
    n_jobs : int, default=None
        Threads for blocks of test points (and for the estimators of several classes).

    Attributes
    ----------
    estimators_ : list of classifiers
        One for two classes, else one per class.
    """

    @extending(SequentialClassifier)
    def __init__(self, estimator=None, *, n_neighbors=65, **shared):
        super().__init__(**shared)
        self.estimator = estimator
        self.n_neighbors = n_neighbors

    def _fit_codes(self, X, codes, rng):
        check_number(self.n_neighbors, "n_neighbors", low=1, integer=True)
        estimator = self.estimator
        if estimator is None:
            estimator = make_pipeline(StandardScaler(), LinearSVC())
        # Two classes have one score, more have one per class: one against the rest.
        positives = [1] if self.classes_.size == 2 else range(self.classes_.size)
        seeds = rng.randint(INT32_MAX, size=len(positives)).tolist()
        self._seed = int(rng.randint(INT32_MAX))
        fitted = thread_map(
            lambda one: fit_additive(estimator, X, codes == one[0], one[1]),
            list(zip(positives, seeds, strict=True)),
            self.n_jobs,
            "scores",
        )
        self.estimators_ = [member for member, _ in fitted]
        self._scores = [score for _, score in fitted]
        self._scaler = StandardScaler().fit(X)
        self._columns = np.ascontiguousarray(self._scaler.transform(X).T)
        self._offsets = np.array([score.offset for score in self._scores])
        # Margins of all training examples by feature, once: a walk only adds them up (eq. 2).
        self._leads = _leads(self._parts(X), codes)
        self._start = _leads(np.broadcast_to(self._offsets, (len(X), 1, len(positives))), codes)[
            :, 0
        ]
        # N(∅) is the whole training set: the first step is the same for every point.
        self._first_right = self._count_first(codes.size)

    def _parts(self, X):
        """Parts of the scores, shape (n_samples, n_features, n_scores)."""
        return np.stack([score.parts(X) for score in self._scores], axis=2)

    def _count_first(self, n_train):
        """Count the training examples that are right with each one feature, and with none.

        The neighbourhood of a point about which nothing is known is the whole training set, so the
        first step is the same for every test point.
        """
        right = np.empty(self.n_features_in_ + 1, dtype=np.intp)
        for feature in range(self.n_features_in_):
            ahead = self._start + self._leads[:, feature] > 0
            right[feature] = ahead.all(axis=1).sum()
        right[-1] = (self._start > 0).all(axis=1).sum()
        return right

    def _order(self):
        """Return the order to acquire in, shape (n_features,), or (0,) to choose."""
        return np.empty(0, dtype=np.intp)

    def _walker(self, threshold, max_cost):
        return MarginWalker(
            self._columns,
            self._leads,
            self._start,
            self._first_right,
            self.feature_costs_,
            self._order(),
            n_neighbors=self.n_neighbors,
            threshold=threshold,
            cost_weight=self.cost_weight,
            max_cost=spendable(max_cost),
        )

    def _walk_block(self, X, threshold, max_cost):
        walk = Walk.empty(*X.shape)
        rows = np.ascontiguousarray(self._scaler.transform(X))
        self._walker(threshold, max_cost).walk(rows, walk.order, walk.value, walk.estimate)
        walk.winner[:] = self._winners(X, walk.order)
        return walk

    def _acquiring(self, n_rows, threshold, max_cost, most):
        walk, X = Walk.empty(n_rows, self.n_features_in_), self._unknown(n_rows)
        walkers = [self._walker(threshold, max_cost) for _ in range(n_rows)]
        for row, walker in enumerate(walkers):
            walk.estimate[row] = walker.begin()
        walk.winner[:] = self._winners(X, walk.order)
        going, n_acquired = np.arange(n_rows), np.zeros(n_rows, dtype=np.intp)
        while True:
            going = going[n_acquired[going] < most]
            wanted = np.array([walkers[row].wanted() for row in going], dtype=np.intp)
            going, wanted = going[wanted >= 0], wanted[wanted >= 0]
            if not going.size:
                return walk
            values, refused = yield going, wanted, walk
            X[going, wanted] = values
            # Unknown cells are NaN here, and each column is scaled by itself: only one is read.
            scaled = self._scaler.transform(X[going])[np.arange(going.size), wanted]
            for row, feature, x, no in zip(going, wanted, scaled, refused, strict=True):
                if no:
                    walkers[row].exclude(feature)
                    continue
                stage = n_acquired[row]
                walk.order[row, stage] = feature
                walk.value[row, stage], estimate = walkers[row].measure(feature, x)
                walk.estimate[row, stage + 1 :] = estimate
                n_acquired[row] += 1
            walk.winner[going] = self._winners(X[going], walk.order[going])

    def _unknown(self, n_rows):
        return np.full((n_rows, self.n_features_in_), np.nan)

    def _winners(self, X, order):
        """Classify from each prefix of the acquisitions (eq. 1)."""
        parts = np.take_along_axis(self._parts(X), np.maximum(order, 0)[:, :, None], axis=1)
        # After the last acquisition nothing is added: the prediction stays.
        parts[order < 0] = 0.0
        start = np.broadcast_to(self._offsets, (len(X), 1, self._offsets.size))
        scores = np.cumsum(np.concatenate([start, parts], axis=1), axis=1)
        return scores[:, :, 0] > 0 if self._offsets.size == 1 else scores.argmax(axis=2)


def _leads(parts, codes):
    """Return each feature's part of the lead of an example's own class over its rivals.

    `parts` has the shape (n_samples, n_features, n_scores): one score (of the second class) for two
    classes, else one per class; the leads have one column for each rival. They are the margins y
    w_i phi_i(x) for two classes, else own score less each rival's.
    """
    n_scores = parts.shape[2]
    if n_scores == 1:
        sign = np.where(codes == 1, 1.0, -1.0)
        return np.ascontiguousarray(parts * sign[:, None, None])
    # Right means ahead of every rival: one margin for each of them.
    rivals = np.array([[c for c in range(n_scores) if c != own] for own in range(n_scores)])[codes]
    own = np.take_along_axis(parts, codes[:, None, None], axis=2)
    return np.ascontiguousarray(own - np.take_along_axis(parts, rivals[:, None, :], axis=2))


@documented
class FMCCClassifier(MarginClassifier):
    """Fast margin-based cost-sensitive classification.

    For each test point, the training examples nearest to it on the features acquired so far stand
    in for it: the share of them whose partial margin is positive estimates the probability that the
    classifier is right on the test point (eq. 4), and the same share with one feature more says
    what that feature would bring (eq. 5). The best one less its weighted price is acquired, until
    the estimate exceeds the threshold.

    References
    ----------
    F. Nan, J. Wang, K. Trapeznikov, V. Saligrama, "Fast margin-based cost-sensitive
    classification", ICASSP 2014, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_samples=300, n_features=6, random_state=0)
    >>> model = FMCCClassifier(feature_costs=[1, 5, 1, 2, 3, 1], threshold=0.9).fit(X, y)
    >>> bool((model.acquisition_cost(X) <= 13).all())
    True
    """


@documented
class RandomOrderClassifier(MarginClassifier):
    """Control of FMCC: the same scores, estimates and stops, but features in random order.

    One order is drawn in `fit`, for all test points: an order that differed from point to point
    could only be drawn from cells that were not acquired.

    Parameters
    ----------
    cost_weight : float, default=0.0
        Weight of the price in the reported value of an acquisition; the order ignores it.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimator and of the order.
    """

    _groups = False

    def _order(self):
        return np.random.default_rng(self._seed).permutation(self.n_features_in_)
