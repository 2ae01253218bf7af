"""A classifier's score as an offset and one part per raw feature.

The margins of Nan et al. (2014) need f(x) = b + sum_i f_i(x_i), where feature i, once acquired,
pays for the whole of f_i. Linear classifiers have f_i(x_i) = w_i x_i; boosted stumps have f_i =
the sum of the stumps that test feature i, a step function.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from ..counting import fit_counted
from ..validation import INT32_MAX, ParameterError

# Each output column depends on the input column of the same number alone, so that a part of the
# score still belongs to one raw feature.
FEATUREWISE = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def boosted_stumps(n_estimators=1000):
    """Return an unfitted AdaBoost of decision stumps, the classifier of Nan et al.'s figure 2.

    Parameters
    ----------
    n_estimators : int, default=1000
        Number of stumps.

    Returns
    -------
    sklearn.ensemble.AdaBoostClassifier
    """
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n_estimators)


@dataclass(frozen=True)
class LinearScore:
    """Score of a linear classifier: f_i(x_i) = w_i x_i."""

    offset: float  # the intercept b
    weights: np.ndarray  # the coefficients w

    def parts(self, X):
        """Return the parts f_i(x_i), shape (n_samples, n_features)."""
        return X * self.weights


@dataclass(frozen=True)
class StumpScore:
    """Score of boosted stumps: each f_i is a step function."""

    offset: float  # what depends on no feature (the initial score, stumps without a split)
    thresholds: list  # for each feature, the sorted thresholds of its stumps
    levels: list  # levels[i][j] is f_i where exactly j of the thresholds lie below x_i

    @classmethod
    def of(cls, offset, stumps, n_features):
        """Gather stumps (feature, threshold, left value, right value) by their features."""
        rows = np.array(stumps, dtype=np.float64).reshape(-1, 4)
        rows = rows[np.argsort(rows[:, 1], kind="stable")]
        thresholds, levels = [], []
        for feature in range(n_features):
            _, cut, left, right = rows[rows[:, 0] == feature].T
            thresholds.append(cut)
            # Below all cuts every stump says left; each cut passed adds right − left.
            levels.append(left.sum() + np.concatenate([[0.0], np.cumsum(right - left)]))
        return cls(offset, thresholds, levels)

    def parts(self, X):
        """Return the parts f_i(x_i), shape (n_samples, n_features)."""
        # scikit-learn's trees compare float32 values; x <= threshold goes left.
        single = np.asarray(X, dtype=np.float32).astype(np.float64)
        parts = np.empty(single.shape)
        for feature, (cut, level) in enumerate(zip(self.thresholds, self.levels, strict=True)):
            parts[:, feature] = level[np.searchsorted(cut, single[:, feature], side="left")]
        return parts


@dataclass(frozen=True)
class ScaledScore:
    """Score of a classifier behind feature-wise scalers."""

    scalers: list  # applied in turn; each works on one column at a time
    score: object  # the score of the scaled values

    @property
    def offset(self):
        """The offset of the classifier behind the scalers."""
        return self.score.offset

    def parts(self, X):
        """Return the parts f_i(x_i) of raw values, shape (n_samples, n_features)."""
        for scaler in self.scalers:
            X = scaler.transform(X)
        return self.score.parts(X)


def additive_score(estimator, n_features):
    """Split the score of a fitted binary classifier into an offset and one part per feature.

    The classifier is linear (`coef_`, `intercept_`), AdaBoost or gradient boosting of stumps, or a
    pipeline of feature-wise scalers that ends in one of these; else, where the score is not a sum
    over the raw features, a `ParameterError` says so. With `offset` and `parts(X)` of what is
    returned, offset + parts.sum(axis=1) > 0 means the second class.
    """
    if isinstance(estimator, Pipeline):
        return _pipeline_score(estimator, n_features)
    if isinstance(estimator, AdaBoostClassifier):
        return _adaboost_score(estimator, n_features)
    if isinstance(estimator, GradientBoostingClassifier):
        return _gradient_boosting_score(estimator, n_features)
    return _linear_score(estimator, n_features)


def fit_additive(estimator, X, positive, random_state):
    """Fit a clone of `estimator` to two classes and return it with its `additive_score`.

    `positive` says which examples the score should be positive for; `random_state` seeds the parts
    of the estimator whose own `random_state` is None.
    """
    fitted = clone(estimator)
    rng = check_random_state(random_state)
    # Sorted, so that each part draws the same seed whatever order its parameters come in.
    for name, value in sorted(fitted.get_params(deep=True).items()):
        if name.split("__")[-1] == "random_state" and value is None:
            fitted.set_params(**{name: int(rng.randint(INT32_MAX))})
    fit_counted(fitted, X, positive.astype(np.int64))
    return fitted, additive_score(fitted, X.shape[1])


def _pipeline_score(pipeline, n_features):
    scalers = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    for scaler in scalers:
        if not isinstance(scaler, FEATUREWISE):
            names = ", ".join(kind.__name__ for kind in FEATUREWISE)
            raise ParameterError(
                f"a step before the classifier must scale each feature by itself ({names}), got "
                f"{type(scaler).__name__}, which may mix features, so that none has its own price."
            )
    return ScaledScore(scalers, additive_score(pipeline.steps[-1][1], n_features))


def _linear_score(estimator, n_features):
    # Recognised by what it has, not by its class: any linear model of two classes will do.
    weights = getattr(estimator, "coef_", None)
    if weights is None or np.size(weights) != n_features:
        raise ParameterError(
            "estimator must be a linear binary classifier with coef_ and intercept_, AdaBoost or "
            "gradient boosting of stumps, or a pipeline of scalers that ends in one of these, got "
            f"{estimator!r}."
        )
    if hasattr(weights, "toarray"):
        weights = weights.toarray()
    offset = float(np.asarray(estimator.intercept_).reshape(-1)[0])
    return LinearScore(offset, np.asarray(weights, dtype=np.float64).reshape(-1))


def _stump(tree):
    """Return (feature, threshold) of a stump, or None where the tree has no split."""
    if tree.node_count > 3:
        raise ParameterError(
            f"boosted trees must be stumps (max_depth=1), got one with {tree.node_count} nodes: a "
            "deeper tree has no share that belongs to a single feature."
        )
    return (tree.feature[0], tree.threshold[0]) if tree.node_count == 3 else None


def _adaboost_score(ensemble, n_features):
    """AdaBoost: each stump votes +weight or -weight; the sum is normalised by the weights."""
    offset, stumps = 0.0, []
    # As scikit-learn's decision function: the weights' sum is 1, so that offsets are comparable.
    total = ensemble.estimator_weights_[: len(ensemble.estimators_)].sum()
    for weight, member in zip(ensemble.estimator_weights_, ensemble.estimators_, strict=False):
        if not hasattr(member, "tree_"):
            raise ParameterError(
                f"AdaBoost must boost decision stumps, got {type(member).__name__}."
            )
        votes = np.where(member.tree_.value[:, 0, :].argmax(axis=1) == 1, 1.0, -1.0)
        votes = votes * (weight / total)
        split = _stump(member.tree_)
        if split is None:
            offset += votes[0]
        else:
            stumps.append((*split, votes[1], votes[2]))
    return StumpScore.of(offset, stumps, n_features)


def _gradient_boosting_score(ensemble, n_features):
    """Gradient boosting: the initial score plus the shrunken leaf values."""
    if ensemble.init not in (None, "zero"):
        raise ParameterError(
            f"gradient boosting must start from a constant (init=None or 'zero'), got "
            f"{ensemble.init!r}, whose score has no share for each feature."
        )
    anywhere = np.zeros((1, n_features), dtype=np.float32)
    # The initial score depends on the loss and is public only as a part of a decision.
    offset, stumps = float(ensemble.decision_function(anywhere)[0]), []
    for member in ensemble.estimators_[:, 0]:
        values = ensemble.learning_rate * member.tree_.value[:, 0, 0]
        offset -= values[member.apply(anywhere)[0]]
        split = _stump(member.tree_)
        if split is None:
            offset += values[0]
        else:
            stumps.append((*split, values[1], values[2]))
    return StumpScore.of(offset, stumps, n_features)
