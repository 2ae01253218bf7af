"""Fast margin-based cost-sensitive classification (Nan et al. 2014) and its control.

The margins need a score f(x) = b + sum_i f_i(x_i), where feature i, once acquired, pays for the
whole of f_i: w_i x_i in linear classifiers, and the sum of the stumps that test i in boosted ones.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from ..costs import spendable
from ..fit_counts import fit_weighed
from ..parallel import thread_map
from ..protocol.documenting import documented, estimator_class
from ..tree import convert
from ..validation import INT32_MAX, ParameterError, check_number
from ._margin_walk import MarginWalker
from .classifier import Record, SequentialClassifier, standardiser

# Each output column depends on one input column, so parts of the score belong to one feature.
FEATUREWISE = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def boosted_stumps(n_estimators=1000):
    """Return an unfitted AdaBoost of stumps, as Nan et al. use on two data sets of figure 2."""
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n_estimators)


@dataclass(frozen=True)
class AdditiveScore:
    """Score b + sum_i f_i(x_i) of a binary classifier, either linear or boosted stumps."""

    scalers: list  # applied to raw values one after another; each scales columns separately
    offset: float  # the part without features: the intercept b, and stumps without a split
    weights: np.ndarray | None = None  # of a linear classifier: f_i(x_i) = w_i x_i; None: stumps
    thresholds: list | None = None  # for each feature, the sorted thresholds of its stumps
    levels: list | None = None  # levels[i][j]: f_i if exactly j of the thresholds are below x_i

    def parts(self, X):
        """Return the parts f_i(x_i) of raw values, shape (n_samples, n_features)."""
        for scaler in self.scalers:
            X = scaler.transform(X)
        if self.weights is not None:
            return X * self.weights
        # scikit-learn's trees compare float32 values; x <= threshold goes left.
        single = np.asarray(X, dtype=np.float32).astype(np.float64)
        parts = np.empty(single.shape)
        for feature, (cut, level) in enumerate(zip(self.thresholds, self.levels, strict=True)):
            parts[:, feature] = level[np.searchsorted(cut, single[:, feature], side="left")]
        return parts


def fit_additive(estimator, X, positive, random_state, weight=None):
    """Fit a clone of `estimator` to two classes and return it with its `additive_score`.

    `positive` is the mask of the examples whose score should be positive, and `weight` the weight
    of each example. Parts of the estimator without a `random_state` are seeded from this one.
    """
    fitted = clone(estimator)
    rng = check_random_state(random_state)
    # Sorted, so that the seeds do not depend on the order of parameters.
    for name, value in sorted(fitted.get_params(deep=True).items()):
        if name.split("__")[-1] == "random_state" and value is None:
            fitted.set_params(**{name: int(rng.randint(INT32_MAX))})
    fit_weighed(fitted, X, positive.astype(np.int64), weight)
    return fitted, additive_score(fitted, X.shape[1])


def additive_score(estimator, n_features):
    """Split the score of a fitted binary classifier into an offset and one part per feature.

    The classifier is linear (`coef_`, `intercept_`), AdaBoost or gradient boosting of stumps, or a
    pipeline of feature-wise scalers that ends in one of these. Otherwise the score is not a sum
    over the raw features, and a `ParameterError` is raised. With `offset` and `parts(X)` of the
    result, offset + parts.sum(axis=1) > 0 means the second class.
    """
    scalers = []
    while isinstance(estimator, Pipeline):
        scalers += [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
        estimator = estimator.steps[-1][1]
    for scaler in scalers:
        if not isinstance(scaler, FEATUREWISE):
            names = ", ".join(kind.__name__ for kind in FEATUREWISE)
            raise ParameterError(
                f"a step before the classifier must scale each feature by itself ({names}), got "
                f"{type(scaler).__name__}, which may mix features, so that none has its own price."
            )
    if isinstance(estimator, (AdaBoostClassifier, GradientBoostingClassifier)):
        return _boosted_score(scalers, estimator, n_features)
    # Recognised by its attributes, so that any linear binary model is accepted.
    weights = getattr(estimator, "coef_", None)
    if weights is None or np.size(weights) != n_features:
        raise ParameterError(
            "estimator must be a linear binary classifier with coef_ and intercept_, AdaBoost or "
            "gradient boosting of stumps, or a pipeline of scalers that ends in one of these, got "
            f"{estimator!r}."
        )
    offset = float(np.asarray(estimator.intercept_).reshape(-1)[0])
    return AdditiveScore(scalers, offset, np.asarray(weights, dtype=np.float64).reshape(-1))


def _boosted_score(scalers, ensemble, n_features):
    """Return the `AdditiveScore` of boosted stumps on scaled features."""
    if not convert.holds_trees(ensemble):
        raise ParameterError(f"AdaBoost must boost decision stumps, got {ensemble.estimator!r}.")
    if not convert.starts_constant(ensemble):
        raise ParameterError(
            f"{convert.NOT_CONSTANT}, got {ensemble.init!r}, whose score has no share for each "
            "feature."
        )
    trees, total = convert.from_sklearn(ensemble), 1.0
    offset = float(convert.sklearn_intercept(ensemble))
    if isinstance(ensemble, AdaBoostClassifier):
        # Weights sum to 1, as in scikit-learn's decision function, so offsets are comparable.
        total = ensemble.estimator_weights_[: len(trees)].sum()
    stumps = []  # feature, threshold, and the values on the left and on the right
    for tree in trees:
        if tree.node_count > 3:
            raise ParameterError(
                f"boosted trees must be stumps (max_depth=1), got one with {tree.node_count} "
                "nodes: a deeper tree has no share that belongs to a single feature."
            )
        values = tree.value[:, -1] / total
        if tree.node_count == 3:
            stumps.append((tree.feature[0], tree.threshold[0], values[1], values[2]))
        else:  # a stump without a split is a constant
            offset += values[0]
    stumps = np.array(stumps, dtype=np.float64).reshape(-1, 4)
    stumps = stumps[np.argsort(stumps[:, 1], kind="stable")]
    thresholds, levels = [], []
    for feature in range(n_features):
        _, cut, left, right = stumps[stumps[:, 0] == feature].T
        thresholds.append(cut)
        # Below all cuts every stump has its left value; passing a cut adds right − left.
        levels.append(left.sum() + np.concatenate([[0.0], np.cumsum(right - left)]))
    return AdditiveScore(scalers, offset, thresholds=thresholds, levels=levels)


@estimator_class
class MarginClassifier(SequentialClassifier):
    """Base of classifiers that use the partial score w_O . phi_O(x) + b of the features O so far.

    With `_in_order`, features are acquired in the order of `_candidates`.

    Parameters
    ----------
    estimator : classifier, default=None
        Linear binary classifier with `coef_` and `intercept_`, AdaBoost or gradient boosting of
        stumps, or a pipeline of feature-wise scalers ending in one; None means a linear SVM on
        standardised features. With boosted stumps, acquiring a feature acquires all its stumps.
        More than two classes are fitted one against the rest.
    n_neighbors : int, default=65
        Number K of training examples in the neighbourhood that estimates the accuracy, regardless
        of their weights. All ties at the K-th distance are included.

    Attributes
    ----------
    estimators_ : list of classifiers
        One for two classes, otherwise one per class.
    """

    _in_order = False

    estimator: Any = field(default=None, kw_only=False)
    n_neighbors: int = 65

    def _fit_codes(self, X, codes, weight, rng):
        check_number(self.n_neighbors, "n_neighbors", low=1, integer=True)
        estimator = self.estimator
        if estimator is None:
            # Solved to rounding errors, so that every processor acquires the same features.
            estimator = make_pipeline(StandardScaler(), LinearSVC(dual=False, tol=1e-12))
        self._scaler = standardiser(X, weight)
        # Two classes have one score, more classes have one score each against the rest.
        positives = [1] if self.classes_.size == 2 else range(self.classes_.size)
        seeds = rng.randint(INT32_MAX, size=len(positives)).tolist()
        self._candidates = np.flatnonzero(self._varies)

        def fit(pair):
            positive, seed = pair
            return fit_additive(estimator, X, codes == positive, seed, weight)

        fitted = thread_map(fit, zip(positives, seeds, strict=True), self.n_jobs, "scores")
        self.estimators_, self._scores = map(list, zip(*fitted, strict=True))
        self._columns = np.ascontiguousarray(self._scaler.transform(X).T)
        parts = self._parts(X)
        # The part of a column with the same value in every row is known without acquiring it.
        known = parts[0, ~self._varies].sum(axis=0)
        self._offsets = np.array([score.offset for score in self._scores]) + known
        # Margins of all training examples by feature, computed once; walks sum them (eq. 2).
        self._leads = _leads(parts, codes)
        start = np.broadcast_to(self._offsets, (len(X), 1, len(positives)))
        self._start = _leads(start, codes)[:, 0]
        # Where counts are kept: the features of each example by their part of the leads. The work
        # of keeping them grows with the square of the rivals, that of counting anew does not.
        n_features, n_rivals = self._leads.shape[1:]
        kept = self._leads if n_features >= 32 * n_rivals**2 else self._leads[:0]
        ranked = [leads.argsort(axis=0).T.astype(np.int32) for leads in kept]
        self._ranked = np.array(ranked, dtype=np.int32).reshape(-1, n_rivals, n_features)
        # Rounded to a multiple of `unit`, so that all sums are exact in 53 bits. Weights have 24
        # bits, of which those below about n / 2**28, for n examples, lose some.
        unit = 2.0 ** (len(X).bit_length() - 52)
        weight = np.ones(len(X)) if weight is None else weight
        self._weight = np.maximum(np.rint(weight / unit), 1.0) * unit
        # The weight of the examples that are wrong with each single feature, and with none. N(∅) is
        # the whole training set, so the first step is the same for every point.
        ahead = [self._start + lead > 0 for lead in (*self._leads.transpose(1, 0, 2), 0.0)]
        self._first_wrong = np.array([self._weight @ ~each.all(axis=1) for each in ahead])

    def _parts(self, X):
        """Return the parts of the scores, shape (n_samples, n_features, n_scores)."""
        return np.stack([score.parts(X) for score in self._scores], axis=2)

    def _walker(self, threshold, max_cost):
        return MarginWalker(
            *(self._columns, self._leads, self._start, self._ranked, self._weight),
            *(self._first_wrong, self.feature_costs_, self._candidates),
            in_order=self._in_order,
            n_neighbors=self.n_neighbors,
            threshold=threshold,
            cost_weight=self.cost_weight,
            max_cost=spendable(max_cost),
        )

    def _walk_block(self, X, threshold, max_cost):
        walk = Record.empty(*X.shape)
        rows = np.ascontiguousarray(self._scaler.transform(X))
        self._walker(threshold, max_cost).walk(rows, walk.order, walk.value, walk.estimate)
        walk.winner[:] = self._winners(X, walk.order)
        return walk

    def _acquiring(self, n_rows, threshold, max_cost, most):
        walk = Record.empty(n_rows, self.n_features_in_)
        X = np.full((n_rows, self.n_features_in_), np.nan)
        walkers = [self._walker(threshold, max_cost) for _ in range(n_rows)]
        for row, walker in enumerate(walkers):
            walk.estimate[row] = walker.begin()
        walk.winner[:] = self._winners(X, walk.order)
        going, n_acquired = np.arange(n_rows), np.zeros(n_rows, dtype=np.intp)
        while True:
            going = going[n_acquired[going] < most]
            wanted = np.array([walkers[row].next_feature() for row in going], dtype=np.intp)
            going, wanted = going[wanted >= 0], wanted[wanted >= 0]
            if not going.size:
                return walk
            values, refused = yield going, wanted, walk
            X[going, wanted] = values
            # Unknown cells are NaN, but columns are scaled separately, and only one is read.
            scaled = self._scaler.transform(X[going])[np.arange(going.size), wanted]
            for row, feature, x, no in zip(going, wanted, scaled, refused, strict=True):
                if no:
                    walkers[row].leave(feature)
                    continue
                stage = n_acquired[row]
                walk.order[row, stage] = feature
                walk.value[row, stage], estimate = walkers[row].measure(feature, x)
                walk.estimate[row, stage + 1 :] = estimate
                n_acquired[row] += 1
            walk.winner[going] = self._winners(X[going], walk.order[going])

    def _winners(self, X, order):
        """Return the class predicted from each prefix of the acquisitions (eq. 1)."""
        parts = np.take_along_axis(self._parts(X), np.maximum(order, 0)[:, :, None], axis=1)
        # After the last acquisition the prediction stays the same.
        parts[order < 0] = 0.0
        start = np.broadcast_to(self._offsets, (len(X), 1, self._offsets.size))
        scores = np.cumsum(np.concatenate([start, parts], axis=1), axis=1)
        return scores[:, :, 0] > 0 if self._offsets.size == 1 else scores.argmax(axis=2)


def _leads(parts, codes):
    """Return each feature's part of the lead of an example's own class over its rivals.

    `parts` has the shape (n_samples, n_features, n_scores), with one score (of the second class)
    for two classes, otherwise one per class. The leads have one column for each rival. They are the
    margins y w_i phi_i(x) for two classes, otherwise the own score minus the rival's.
    """
    n_scores = parts.shape[2]
    if n_scores == 1:
        return np.ascontiguousarray(parts * np.where(codes == 1, 1.0, -1.0)[:, None, None])
    # A correct prediction is ahead of every rival, so there is a margin for each rival.
    rivals = np.array([[c for c in range(n_scores) if c != own] for own in range(n_scores)])[codes]
    own = np.take_along_axis(parts, codes[:, None, None], axis=2)
    return np.ascontiguousarray(own - np.take_along_axis(parts, rivals[:, None, :], axis=2))


@documented
class FMCCClassifier(MarginClassifier):
    """Fast margin-based cost-sensitive classification.

    The neighbours of a test point are the nearest training examples on the features acquired so
    far. The share of them with a positive partial margin estimates the probability that the
    classifier is right on the test point (eq. 4). The same share with one more feature estimates
    the value of that feature (eq. 5). The feature of the highest value minus weighted price is
    acquired, until the estimate exceeds the threshold.

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
    """Control of FMCC, with the same scores, estimates and stops, but features in random order.

    `fit` draws one order for all test points, as cells that are not acquired must not affect it.

    Parameters
    ----------
    cost_weight : float, default=0.0
        Weight of the price in the reported value of an acquisition; the order ignores it.
    """

    _groups = False
    _in_order = True

    def _fit_codes(self, X, codes, weight, rng):
        super()._fit_codes(X, codes, weight, rng)
        order = np.random.default_rng(rng.randint(INT32_MAX)).permutation(self.n_features_in_)
        self._candidates = order[self._varies[order]]
