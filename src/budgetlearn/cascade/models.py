"""The models of a stage, calibrated, and their predictions for examples they were not fitted on."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.utils.validation import has_fit_parameter

from ..counting import count_fit, fit_counted
from ..forests import RandomForestClassifier
from ..tree.binning import bin_features
from ..tree.convert import from_sklearn
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX, ParameterError, derive_seed
from .gaps import below_all, filled
from .orders import MAX_BINS, boosting_parameters, has_lightgbm
from .smooth import FoldedKind, KernelKind, LinearKind

N_TREES = 100
N_LEAVES = 15
# Boosting makes a tree for each class in each round: with many classes, fewer and larger steps.
MOST_BOOSTED_TREES = 300


@dataclass(frozen=True, eq=False)
class Table:
    """Training data of the stage models."""

    X: np.ndarray  # (n_samples, n_features): examples
    y: np.ndarray  # (n_samples,): class indices, or numbers
    n_classes: int | None  # None in regression
    folds: np.ndarray  # int (n_samples,): the fold of each example
    # (n_samples,): how much each example counts, 1 on average; None: all alike. Classes weigh in
    # `weight`, not in `counted`, by which costs are averaged: they are paid whatever the class.
    weight: np.ndarray | None = None
    counted: np.ndarray | None = None
    given: dict[int, np.ndarray] = field(default_factory=dict)  # as `Examples` have it

    def weight_of(self, rows):
        """Return the weights of some examples."""
        return None if self.weight is None else self.weight[rows]

    def mean(self, values):
        """Return the mean of a number of each example."""
        return np.average(values, weights=self.weight)

    @cached_property
    def below(self):
        """Numbers below all values, which missing ones are to forests; None: nothing is missing."""
        return below_all(self.X) if np.isnan(self.X).any() else None

    @cached_property
    def without_gaps(self):
        """X as forests learn from it."""
        return self.X if self.below is None else filled(self.X, self.below)

    @cached_property
    def codes(self):
        """Codes of X, made once for all stages."""
        return bin_features(self.without_gaps, MAX_BINS)

    @property
    def n_outputs(self):
        """Columns of a prediction: one for each class, or one number."""
        return self.n_classes or 1


def assign_folds(y, n_classes, n_folds, random):
    """Return a fold for each example; classes are spread evenly over the folds."""
    shuffled = random.permutation(len(y))
    if n_classes is not None:
        # Sorted by class after the shuffle, dealing in turn spreads each class over all folds.
        shuffled = shuffled[np.argsort(y[shuffled], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[shuffled] = np.arange(len(y)) % n_folds
    return folds


class SklearnKind(FoldedKind):
    """Any scikit-learn classifier or regressor; out of fold."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y, n_classes, seed, weight=None):
        """Return a `SklearnModel` fitted on these examples, which count so much."""
        weights = {} if weight is None else {"sample_weight": weight}
        if weights and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ParameterError(
                "sample_weight and class_weight need estimators whose fit takes sample_weight, got "
                f"{self.estimator!r}. Give another one, or leave the weights out."
            )
        model = clone(self.estimator)
        names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        fit_counted(model.set_params(**dict.fromkeys(names, seed)), X, y, **weights)
        return SklearnModel(model, n_classes)


@dataclass(frozen=True, eq=False)
class SklearnModel:
    """A fitted estimator that answers in the columns of all classes."""

    model: object
    n_classes: int | None

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        if self.n_classes is None:
            return self.model.predict(X)[:, None]
        return _in_all_classes(self.model.predict_proba(X), self.model.classes_, self.n_classes)


@dataclass(frozen=True, eq=False)
class ForestModel:
    """A forest as packed trees: an estimator checks its input longer than one row takes to walk."""

    trees: ForestPredictor
    kind: type  # numbers are compared in the precision that the trees were grown in
    classifies: bool
    # (n_features,): what missing values are to it; None: none was missing in training.
    below: np.ndarray | None = None

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        if self.below is not None:
            X = filled(X, self.below)
        found = self.trees.walk(X.astype(self.kind, copy=False), values=True).values
        return found / (found.sum(axis=1, keepdims=True) if self.classifies else self.trees.n_trees)


@dataclass(frozen=True, eq=False)
class ConstantModel:
    """The prediction without any feature."""

    value: np.ndarray  # (n_outputs,): class shares, or the mean

    def predict(self, X):
        """Return the same row for each row of X."""
        return np.tile(self.value, (len(X), 1))


def _in_all_classes(found, classes, n_classes):
    """Return probabilities with a column of 0 for each class that the model has not seen."""
    if len(classes) == n_classes:
        return found
    every = np.zeros((len(found), n_classes))
    every[:, classes] = found
    return every


class ForestKind(SklearnKind):
    """A random forest: each example is predicted by the trees that left it out."""

    def fit_both(self, table, features, seed):
        """Return the out-of-bag predictions and the forest."""
        X = np.ascontiguousarray(table.without_gaps[:, features])
        below = None if table.below is None else table.below[features]
        if table.n_classes is None:
            forest = RandomForestRegressor(
                N_TREES, max_features=1 / 3, oob_score=True, random_state=seed
            )
            fit_counted(forest, X, table.y, sample_weight=table.weight)
            trees = ForestPredictor(from_sklearn(forest), len(features))
            return forest.oob_prediction_[:, None], ForestModel(trees, np.float32, False, below)
        forest = RandomForestClassifier(
            n_estimators=N_TREES, max_bins=MAX_BINS, oob_score=True, random_state=seed
        )
        codes = table.codes.take(features)
        forest.fit(X, table.y, sample_weight=table.weight, binned=codes)
        left_out = forest.oob_decision_function_
        # A row in every bootstrap sample has no out-of-bag vote: it gets the class shares.
        never = np.isnan(left_out[:, 0])
        counts = np.bincount(table.y, table.weight, table.n_classes)
        left_out[never] = counts / counts.sum()
        trees = ForestPredictor(forest.trees_, len(features), shares=True)
        return left_out, ForestModel(trees, np.float64, True, below)


class LightGBMKind(SklearnKind):
    """Gradient boosting by LightGBM; out of fold."""

    def __init__(self):
        super().__init__(None)

    def fit(self, X, y, n_classes, seed, weight=None):
        """Return a `BoostedModel` fitted on these examples, which count so much."""
        in_leaf = min(20, max(2, len(X) // 30))
        return BoostedModel.trained(
            X, y, n_classes, seed, weight, num_leaves=N_LEAVES, min_data_in_leaf=in_leaf
        )

    def fit_both(self, table, features, seed):
        """Return the out-of-fold predictions and the model of all examples."""
        held_out, model = super().fit_both(table, features, seed)
        return held_out, model.compacted()


@dataclass(frozen=True, eq=False)
class BoostedModel:
    """A LightGBM booster that answers in one column for each class."""

    booster: object

    @classmethod
    def trained(cls, X, y, n_classes, seed, weight=None, **more):
        """Return the model after `boosting_rounds`, with more of LightGBM's parameters."""
        import lightgbm

        n_rounds, rate = boosting_rounds(n_classes)
        # One thread each: models are fitted side by side, and sums in one order repeat.
        one = {"learning_rate": rate, "num_threads": 1, "force_col_wise": True}
        parameters = boosting_parameters(n_classes, seed, **one, **more)
        data = lightgbm.Dataset(X, y, weight=weight, params=dict(parameters))
        count_fit()
        # Only what is kept has to be made small: most models predict one fold and go.
        booster = lightgbm.train(parameters, data, n_rounds, keep_training_booster=True)
        return cls(booster.free_dataset())

    def compacted(self):
        """Return this model without the buffers that only training needs."""
        self.booster.model_from_string(self.booster.model_to_string())
        return self

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        found = self.booster.predict(X, num_threads=1)
        if found.ndim == 2:
            return found
        if self.booster.params["objective"] == "regression":
            return found[:, None]
        return np.column_stack([1 - found, found])


def boosting_rounds(n_classes):
    """Return (rounds, learning rate): 100 and .1, fewer and larger with many classes."""
    # Rounds × rate stays near 10: fewer rounds take larger steps.
    n_rounds = int(np.clip(MOST_BOOSTED_TREES // (n_classes or 1), 30, 100))
    return n_rounds, min(0.3, 10 / n_rounds)


def _histogram_boosting(n_classes, n_leaves, **parameters):
    """Return scikit-learn's boosting, the stand-in for LightGBM."""
    kind = HistGradientBoostingRegressor if n_classes is None else HistGradientBoostingClassifier
    n_rounds, rate = boosting_rounds(n_classes)
    common = {"max_leaf_nodes": n_leaves, "early_stopping": False}
    return kind(max_iter=n_rounds, learning_rate=rate, **common, **parameters)


def _boosting(n_classes):
    if has_lightgbm():
        return LightGBMKind()
    return SklearnKind(_histogram_boosting(n_classes, N_LEAVES))


def _extra_trees(n_classes, n_trees=N_TREES, **parameters):
    kind = ExtraTreesRegressor if n_classes is None else ExtraTreesClassifier
    return kind(n_trees, **parameters)


KINDS = {
    "forest": lambda n_classes: ForestKind(None),
    "boosting": _boosting,
    "linear": lambda n_classes: LinearKind(),
    "kernel": lambda n_classes: KernelKind(),
    "extra_trees": lambda n_classes: SklearnKind(_extra_trees(n_classes)),
}


def as_kind(estimator, n_classes):
    """Return the kind of model that a name in `KINDS` or a scikit-learn estimator stands for.

    `n_classes` is None in regression. Raises `ParameterError` for anything else.
    """
    if isinstance(estimator, str) and estimator in KINDS:
        return KINDS[estimator](n_classes)
    named = ", ".join(map(repr, KINDS))
    if isinstance(estimator, str) or not hasattr(estimator, "fit"):
        raise ParameterError(
            f"an estimator must be one of {named}, or a scikit-learn estimator; got {estimator!r}."
        )
    if (n_classes is not None) != is_classifier(estimator):
        wanted = "a regressor" if n_classes is None else "a classifier"
        raise ParameterError(f"each estimator must be {wanted} here, got {estimator!r}.")
    if n_classes is not None and not hasattr(estimator, "predict_proba"):
        raise ParameterError(
            f"each estimator must have predict_proba, which {estimator!r} lacks. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    return SklearnKind(estimator)


def ascending(features):
    """Return a set of features in the form that models are known by."""
    return tuple(sorted(features))


def stage_seed(seed, name, features):
    """Return the seed of a stage's model: equal sets of features give equal models."""
    return derive_seed(seed, name, *sorted(features)) & INT32_MAX


# Masked models: one model that predicts from whatever features of an example are known.

# Rows that one learns from: each example several times, each time less of it hidden.
MOST_COPIES, FEWEST_MASKED, MOST_MASKED = 24, 20_000, 60_000
N_EXTRA_TREES = 60


class MaskedTrees:
    """The mean of extra trees that learned a hidden value as one below all others.

    `forest` is not yet fitted; X has NaN where a value is hidden; y is of shape (n_samples,), or
    with several numbers (n_samples, n_outputs); `weight` is how much each row counts.
    """

    def __init__(self, forest, X, y, n_classes, weight=None):
        self._below = below_all(X)
        self._n_classes = n_classes
        fit_counted(forest, self._coded(X), y, sample_weight=weight)
        self._classes = getattr(forest, "classes_", None)
        # Packed for our predictor: scikit-learn takes a millisecond for each tree and call.
        self._trees = ForestPredictor(from_sklearn(forest), X.shape[1])

    def _coded(self, X):
        return filled(X, self._below).astype(np.float32)

    def predict(self, X):
        """Return the mean of the trees, (n_samples, n_outputs)."""
        found = self._trees.walk(self._coded(X), values=True).values / self._trees.n_trees
        if self._classes is None:
            return found
        return _in_all_classes(found, self._classes, self._n_classes)


class MaskedModel:
    """Boosting and extra trees fitted on partly hidden examples."""

    def __init__(self, boosted, trees):
        self.boosted, self.trees = boosted, trees

    @classmethod
    def fit(cls, X, y, n_classes, units, seed, n_trees=N_EXTRA_TREES, weight=None):
        """Fit on examples that come several times, each time with other `units` hidden."""
        random = np.random.RandomState(seed)
        # Small tables are shown up to 24 times, very large ones in part.
        n_rows = min(MOST_COPIES * len(X), max(FEWEST_MASKED, min(4 * len(X), MOST_MASKED)))
        rows = np.resize(random.permutation(len(X)), n_rows)
        hidden = units.hidden(X[rows], units.drawn(n_rows, random))
        copies = max(n_rows // len(X), 1)
        weight = None if weight is None else weight[rows]
        boosted = cls._boosted(hidden, y[rows], n_classes, len(X), copies, seed, weight)
        # Copies of one example must not fill a leaf: it would learn that example by heart.
        in_leaf = max(2, copies // 2)
        forest = _extra_trees(n_classes, n_trees, min_samples_leaf=in_leaf, random_state=seed)
        return cls(boosted, MaskedTrees(forest, hidden, y[rows], n_classes, weight))

    def predict(self, X):
        """Return the predictions from the known cells."""
        return (self.boosted.predict(X) + self.trees.predict(X)) / 2

    @staticmethod
    def _boosted(X, y, n_classes, n_examples, copies, seed, weight):
        """Return boosted trees that take NaN; a leaf holds several examples, not copies of one."""
        in_leaf = max(5, min(20, n_examples // 30) * copies // 2)
        n_leaves = 8 if n_examples < 1500 else 15
        if not has_lightgbm():
            leaves = {"min_samples_leaf": in_leaf, "random_state": seed}
            model = _histogram_boosting(n_classes, n_leaves, **leaves)
            return SklearnModel(fit_counted(model, X, y, sample_weight=weight), n_classes)
        model = BoostedModel.trained(
            *(X, y, n_classes, seed, weight),
            num_leaves=n_leaves,
            min_data_in_leaf=in_leaf,
            feature_fraction=0.8,
            bagging_fraction=0.7,
            bagging_freq=1,
        )
        return model.compacted()


class MaskedOnDemand:
    """A masked model that is fitted when it is first asked, or stored: most cascades never need it.

    Until then it refers to the training data, which are not stored with it.
    """

    def __init__(self, table, units, seed):
        self._waiting = table, units, seed

    @cached_property
    def _model(self):
        table, units, seed = self._waiting
        model = MaskedModel.fit(table.X, table.y, table.n_classes, units, seed, weight=table.weight)
        self._waiting = None
        return model

    def predict(self, X):
        """Return the predictions from the known cells."""
        return self._model.predict(X)

    def __getstate__(self):
        return {"_model": self._model, "_waiting": None}
