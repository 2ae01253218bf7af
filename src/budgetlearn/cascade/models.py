"""The models of a stage, and their predictions for examples they were not fitted on."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from ..fit_counts import fit_counted, fit_weighed
from ..forests import RandomForestClassifier
from ..forests.random_forest import RandomForestRegressor
from ..parallel import one_thread, thread_map
from ..preprocessing.preprocessor import APART
from ..protocol.calibration import fit_temperature
from ..protocol.feature_requests import in_all_classes
from ..protocol.scoring import error_of_mean, mean_and_error
from ..tree.binning import bin_features
from ..tree.boosting import Boosting, CodedRows
from ..tree.convert import from_sklearn
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX, ParameterError, derive_seed, rows_of_groups
from .mixture import Mixture, variance, with_temperature
from .smooth_models import FoldedKind, KernelKind, Kind, LinearKind

N_TREES = 100
N_LEAVES = 15
# Bins of boosting in classification, with fewer than MANY_ROWS: 255 take half as long again without
# being better.
N_CLASS_BINS = 63
# Bins of forests in classification and of boosting otherwise, where fewer are worse.
MAX_BINS = 255
# Boosting grows a tree for each class in each round: with many classes, fewer and larger steps.
MOST_BOOSTED_TREES = 200
# Rounds are added ROUNDS_AT_ONCE at a time while the out-of-fold loss falls, up to MOST_TIMES the
# standard number: few features need few rounds. With one fold, the loss may rise PATIENCE - 1
# times. A pilot has a fixed number of rounds.
ROUNDS_AT_ONCE, PILOT_ROUNDS, MOST_TIMES, PATIENCE = 10, 30, 4, 3
# If a table of MANY_ROWS needs more than that number, more leaves at a rate divided by FINER may
# have less loss. With fewer rows they predict no better. Each number of leaves must lower the loss
# below FINER_LESS times that of the number before. LARGE trees are tried if a part is judged.
MANY_ROWS, FINER, FINER_LESS, MORE_LEAVES, LARGE = 5000, 2, 0.99, 30, (60, 120)
# Smallest size of a leaf. Small leaves find sharp boundaries but overfit sooner, so they must have
# a loss below CLEARLY_LESS times that of large ones.
LARGE_LEAF, SMALL_LEAF, CLEARLY_LESS = 20, 5, 0.97
# Boosting is not fitted again on all examples if the only fold has at most this share of them.
MOST_LEFT_OUT = 0.12
# How far the number that stands for missing values is below the lowest one, in ranges of the
# feature. Forests split halfway, so a whole range lets new values be below the lowest one. Extra
# trees draw thresholds from everywhere between, so a tenth wastes few of them, in any unit.
GAP, HIDDEN_GAP = 1.0, 0.1


@dataclass(frozen=True, eq=False)
class Table:
    """Training data of orders and of the stage models."""

    X: np.ndarray  # (n_samples, n_features): examples
    y: np.ndarray  # (n_samples,): class indices, or numbers
    n_classes: int | None  # None in regression
    # int (n_samples,): the fold of each example; -1: in none, so all models learn from it.
    folds: np.ndarray | None = None
    # (n_samples,): weights of the examples, 1 on average; None: equal. `weight` includes class
    # weights. `counted` does not: it averages costs, which are paid whatever the class.
    weight: np.ndarray | None = None
    counted: np.ndarray | None = None
    given: dict[int, np.ndarray] = field(default_factory=dict)  # as in `Examples`
    groups: np.ndarray | None = None  # as in `Examples`

    def take(self, rows):
        """Return the table of some rows, without `folds` and `given`."""
        counts = {"weight": self.weight, "counted": self.counted, "groups": self.groups}
        counts = {name: None if own is None else own[rows] for name, own in counts.items()}
        return Table(np.ascontiguousarray(self.X[rows]), self.y[rows], self.n_classes, **counts)

    @cached_property
    def left_out(self):
        """The mask of each fold's examples, which its models do not learn from."""
        return [self.folds == fold for fold in np.unique(self.folds[self.folds >= 0])]

    @cached_property
    def judged(self):
        """The table of the examples in a fold, on which all choices are made."""
        return self if self.folds.min() >= 0 else self.take(self.folds >= 0)

    @cached_property
    def last_is_final(self):
        """True if models of the only fold are final, as they learn from nearly all examples."""
        return len(self.judged.y) <= MOST_LEFT_OUT * len(self.y)

    def of(self, features):
        """Return the table of some features."""
        return replace(self, X=np.ascontiguousarray(self.X[:, features]))

    def mean(self, values):
        """Return the weighted mean of values, one for each example."""
        return np.average(values, weights=self.weight)

    def mean_and_error(self, values):
        """Return the weighted mean of values, one for each example, and its standard error."""
        return mean_and_error(values, self.weight, self.groups)

    def error_of_mean(self):
        """Return the standard error of the R² of the targets' mean."""
        return error_of_mean(self.y, self.weight, self.groups)

    def thinned(self, most_rows):
        """Return the table, reduced to every k-th row if it has more than `most_rows`."""
        step = -(-len(self.X) // most_rows)
        return self if step == 1 else self.take(slice(None, None, step))

    @cached_property
    def below(self):
        """The numbers that replace missing values in forests; None: nothing is missing."""
        return below_all(self.X, GAP) if np.isnan(self.X).any() else None

    @cached_property
    def without_gaps(self):
        """X with missing values replaced by `below`, as forests use it."""
        return filled(self.X, self.below)

    @cached_property
    def codes(self):
        """Codes of X, shared by all forests: of all values in regression, where bins are worse."""
        return bin_features(self.without_gaps, None if self.n_classes is None else MAX_BINS)

    @cached_property
    def coded(self):
        """Codes of X for boosting, with a separate code for missing values."""
        few = self.n_classes is not None and len(self.X) < MANY_ROWS
        most = N_CLASS_BINS if few else MAX_BINS
        return CodedRows.of(self.X, max(2, min(most, len(self.X) // 3)))  # 3 examples in each bin

    @cached_property
    def constant(self):
        """The prediction without any feature, (n_outputs,): class shares, or the mean."""
        if self.n_classes is None:
            return np.array([self.mean(self.y)])
        counts = np.bincount(self.y, self.weight, self.n_classes)
        return counts / counts.sum()

    @cached_property
    def variance(self):
        """Variance of the target, or 1 if all values are equal, so that it can be divided by."""
        return variance(self.y, self.weight) or 1.0

    @property
    def n_outputs(self):
        """Columns of a prediction: one for each class, or one in regression."""
        return self.n_classes or 1

    def losses(self, predictions):
        """Return the log loss of probabilities, or the squared error, of each example."""
        if self.n_classes is None:
            return (predictions[:, 0] - self.y) ** 2
        return -np.log(predictions[np.arange(self.y.size), self.y])

    def calibrated_losses(self, predictions):
        """Return the losses of predictions, after temperature scaling of probabilities."""
        if self.n_classes is not None:
            temperature = fit_temperature(predictions, self.y, self.weight)
            predictions = with_temperature(predictions, temperature)
        return self.losses(predictions)


def below_all(X, gap):
    """Return a number below all values of each feature, (n_features,), to code missing ones.

    `gap` is the distance from the lowest value, as a share of the range.
    """
    # A single split of a tree can then separate missing values from known ones.
    lowest, highest = np.nanmin(X, axis=0, initial=np.inf), np.nanmax(X, axis=0, initial=-np.inf)
    span = np.where(highest > lowest, highest - lowest, 1.0)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    # In float32, which extra trees use, a small difference does not change a large number.
    return lowest - np.maximum(gap * span, APART * np.abs(lowest))


def filled(X, fill):
    """Return X with missing values replaced by `fill`, one number for each feature, unless None."""
    return X if fill is None else np.where(np.isnan(X), fill, X)


def medians(X):
    """Return the median of each feature's known values, (n_features,), or 0 if there are none."""
    some = ~np.isnan(X).all(axis=0)
    found = np.zeros(X.shape[1])
    found[some] = np.nanmedian(X[:, some], axis=0)
    return found


# With more than MANY_CLASSED examples of classes or MANY_NUMBERED numbers, models are fitted once
# instead of once for each fold. Choices are then made on a tenth of the examples, but from
# LEAST_JUDGED to MOST_JUDGED. In regression, what decides when to stop learns from these alone and
# needs more. LEAST_JUDGED exceeds MOST_PILOT_ROWS, so that what depends on that limit is the same
# whether it is asked of all examples or of these.
MANY_CLASSED, MANY_NUMBERED, LEAST_JUDGED, MOST_JUDGED = 20_000, 100_000, 6_000, 20_000


def judged_folds(y, n_classes, n_folds, random, groups=None):
    """Return the fold of each example; -1: in none, as most examples of large tables."""
    if len(y) <= (MANY_NUMBERED if n_classes is None else MANY_CLASSED):
        return assign_folds(y, n_classes, n_folds, random, groups)
    n_parts = len(y) // int(np.clip(len(y) // 10, LEAST_JUDGED, MOST_JUDGED))
    parts = assign_folds(y, n_classes, n_parts, random, groups)
    return np.where(parts == 0, 0, -1)


def assign_folds(y, n_classes, n_folds, random, groups=None):
    """Return a fold for each example, or each group; classes are spread evenly over the folds."""
    if groups is not None:
        first, place = rows_of_groups(groups)
        return assign_folds(y[first], n_classes, n_folds, random)[place]
    shuffled = random.permutation(len(y))
    if n_classes is not None:
        # Dealing shuffled examples in the order of their classes spreads each class evenly.
        shuffled = shuffled[np.argsort(y[shuffled], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[shuffled] = np.arange(len(y)) % n_folds
    return folds


class SklearnKind(FoldedKind):
    """Any scikit-learn classifier or regressor, with out-of-fold predictions."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, table, seed):
        """Return a `SklearnModel` of all features and examples."""
        model = clone(self.estimator)
        names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        model.set_params(**dict.fromkeys(names, seed))
        return SklearnModel(fit_weighed(model, table.X, table.y, table.weight), table.n_classes)


@dataclass(frozen=True, eq=False)
class SklearnModel:
    """A fitted estimator whose predictions have a column for each class of the table."""

    model: object
    n_classes: int | None

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        if self.n_classes is None:
            return self.model.predict(X)[:, None]
        return in_all_classes(self.model.predict_proba(X), self.model.classes_, self.n_classes)


@dataclass(frozen=True, eq=False)
class ConstantModel:
    """A model that predicts a constant, without any feature."""

    value: np.ndarray  # (n_outputs,): class shares, or the mean

    def predict(self, X):
        """Return the same row for each row of X."""
        return np.tile(self.value, (len(X), 1))


@dataclass(frozen=True, eq=False)
class ForestModel:
    """A forest as packed trees, without the input checks that are slow for single rows."""

    trees: ForestPredictor
    kind: type  # dtype of X: the precision in which the trees were grown
    shares: bool  # whether each row is normalised to sum to 1
    # (n_features,): replaces missing values; None: none was missing in training.
    below: np.ndarray | None = None
    # The classes that the trees have seen, and the number of classes; None: they have seen all.
    seen: tuple | None = None

    def predict(self, X):
        """Return probabilities (n_samples, n_classes), or numbers (n_samples, n_outputs)."""
        X = filled(X, self.below).astype(self.kind, copy=False)
        found = self.trees.walk(X, values=True).values
        # Plain ufuncs: numpy's wrappers around them take longer than one row.
        total = np.add.reduce(found, axis=1, keepdims=True) if self.shares else self.trees.n_trees
        found /= total
        return found if self.seen is None else in_all_classes(found, *self.seen)


@dataclass(frozen=True)
class ForestKind(Kind):
    """A random forest, with out-of-bag predictions of its training examples."""

    n_trees: int = N_TREES

    def fit_both(self, table, features, seed):
        """Return the out-of-bag predictions and the forest."""
        X = np.ascontiguousarray(table.without_gaps[:, features])
        below = None if table.below is None else table.below[features]
        numbers = table.n_classes is None
        kind = RandomForestRegressor if numbers else RandomForestClassifier
        forest = kind(n_estimators=self.n_trees, oob_score=True, random_state=seed)
        forest.fit(X, table.y, sample_weight=table.weight, binned=table.codes.take(features))
        left_out = forest.oob_prediction_[:, None] if numbers else forest.oob_decision_function_
        # A row that is in every bootstrap sample has no out-of-bag prediction.
        left_out[np.isnan(left_out[:, 0])] = table.constant
        left_out = left_out[table.folds >= 0]
        trees = ForestPredictor(forest.trees_, len(features), shares=not numbers)
        return left_out, ForestModel(trees, np.float64, not numbers, below)


def boosting_rounds(n_classes):
    """Return rounds and learning rate: 60 and 1 / 6; fewer and larger steps with many classes."""
    n_rounds = int(np.clip(MOST_BOOSTED_TREES // (n_classes or 1), 20, 60))
    return n_rounds, min(0.3, 10 / n_rounds)


@dataclass(frozen=True)
class BoostingKind:
    """Gradient boosting, with out-of-fold predictions."""

    min_leaf: int = LARGE_LEAF
    n_leaves: int = N_LEAVES
    finer: int = 1  # divides the learning rate
    # A table, and what `held_out` returns for all of its features, which takes longest.
    whole: tuple = field(default=(None, None), compare=False, repr=False)

    @classmethod
    def chosen(cls, table):
        """Return the kind with the leaves and steps that predict best from all features."""

        def tried(kind):
            found = kind.held_out(table, np.arange(table.X.shape[1]))
            loss = table.judged.mean(table.judged.calibrated_losses(found[0]))
            return loss, found[1], replace(kind, whole=(table, found))

        loss, n_rounds, kind = tried(cls(LARGE_LEAF))
        small_loss, small_rounds, small = tried(cls(SMALL_LEAF))
        if small_loss < CLEARLY_LESS * loss:
            loss, n_rounds, kind = small_loss, small_rounds, small
        if len(table.y) >= MANY_ROWS and n_rounds > boosting_rounds(table.n_classes)[0]:
            for n_leaves in (MORE_LEAVES, *(LARGE if table.judged is not table else ())):
                other = replace(kind, n_leaves=n_leaves, finer=FINER, whole=(None, None))
                finer_loss, _, finer = tried(other)
                if finer_loss >= FINER_LESS * loss:
                    break
                loss, kind = finer_loss, finer
        return kind

    def fit(self, table, seed):
        """Return the model of a pilot, fitted on all features and examples."""
        return self.fit_whole(table, np.arange(table.X.shape[1]), seed, self.finer * PILOT_ROUNDS)

    def fit_both(self, table, features, seed):
        """Return out-of-fold predictions and the model, with the best number of rounds."""
        held_out, n_rounds, last = self.held_out(table, features)
        if table.last_is_final:
            return held_out, last.model(n_rounds)
        return held_out, self.fit_whole(table, features, seed, n_rounds)

    def held_out(self, table, features):
        """Return the best out-of-fold predictions, their number of rounds and a fold's boosting."""
        if table is self.whole[0] and len(features) == table.X.shape[1]:
            return self.whole[1]
        coded, judged = table.coded.take(features), table.judged
        parts = [
            (out, self._begun(table, coded, np.flatnonzero(~out), keep=table.last_is_final))
            for out in table.left_out
        ]
        found = np.empty((len(table.y), table.n_outputs))
        least, best, done, n_more = np.inf, 0, 0, ROUNDS_AT_ONCE * self.finer
        # The loss of a single model fluctuates more than the mean of several.
        patience = n_more if len(parts) > 1 else PATIENCE * n_more
        standard = boosting_rounds(table.n_classes)[0]
        # Larger trees get fewer rounds, so that a fit takes about as long.
        most = MOST_TIMES * self.finer**2 * standard * min(1, MORE_LEAVES / self.n_leaves)
        while done < most:
            for out, boosting in parts:
                boosting.grow(n_more)
                # Boosting also updates the scores of the rows that are left out.
                found[out] = boosting.predictions()[out]
            known = found[table.folds >= 0]
            done, loss = done + n_more, judged.mean(judged.calibrated_losses(known))
            if loss < least:
                # `known` is a copy, unlike `found`, which the next rounds overwrite.
                least, best, held_out = loss, done, known
            elif done - best >= patience:
                break
        return held_out, best, parts[-1][1]

    def fit_whole(self, table, features, seed, n_rounds=None):
        """Return the model of all examples after `n_rounds`; None: the standard number."""
        rows = np.arange(len(table.y))
        boosting = self._begun(table, table.coded.take(features), rows, keep=True)
        boosting.grow(n_rounds or self.finer * boosting_rounds(table.n_classes)[0])
        return boosting.model()

    def _begun(self, table, coded, rows, keep=False):
        data = coded, table.y, table.n_classes, rows, table.weight
        min_leaf = min(self.min_leaf, max(2, len(rows) // 30))
        rate = boosting_rounds(table.n_classes)[1] / self.finer
        return Boosting(*data, n_leaves=self.n_leaves, min_leaf=min_leaf, rate=rate, keep=keep)


def _extra_trees(n_classes, n_trees=N_TREES, **parameters):
    kind = ExtraTreesRegressor if n_classes is None else ExtraTreesClassifier
    return kind(n_trees, **parameters)


KINDS = {
    "forest": lambda n_classes: ForestKind(),
    "boosting": lambda n_classes: BoostingKind(),
    "linear": lambda n_classes: LinearKind(),
    "kernel": lambda n_classes: KernelKind(),
    "extra_trees": lambda n_classes: SklearnKind(_extra_trees(n_classes)),
}


def as_kind(estimator, n_classes):
    """Return the kind of model for a name in `KINDS` or a scikit-learn estimator."""
    if isinstance(estimator, str) and estimator in KINDS:
        return KINDS[estimator](n_classes)
    if isinstance(estimator, str) or not hasattr(estimator, "fit"):
        named = ", ".join(map(repr, KINDS))
        raise ParameterError(
            f"estimators must be one of {named}, or a scikit-learn estimator; got {estimator!r}."
        )
    if (n_classes is not None) != is_classifier(estimator):
        wanted = "a regressor" if n_classes is None else "a classifier"
        raise ParameterError(f"each estimator must be {wanted}, got {estimator!r}.")
    if n_classes is not None and not hasattr(estimator, "predict_proba"):
        what = f"each estimator must have predict_proba, but {estimator!r} has none"
        raise ParameterError(f"{what}. Wrap it in sklearn.calibration.CalibratedClassifierCV.")
    return SklearnKind(estimator)


def ascending(features):
    """Return a set of features as an ascending tuple, the form used in keys of models."""
    return tuple(sorted(features))


def _seed_of(seed, kind, features):
    """Return the seed of a model, which depends on its set of features but not on their order."""
    return derive_seed(seed, kind, *features) & INT32_MAX


@dataclass(eq=False)
class StageModels:
    """Models of each kind on each set of features, shared by all cascades."""

    models: dict  # by kind and ascending features, as are the next
    held_out: dict  # out-of-fold predictions, (n_samples, n_outputs)
    # `OnDemand` for a `MaskedModel`: predicts if a value that a stage needs is not available.
    fallback_model: object = None
    medians: np.ndarray | None = None  # (n_features,): medians of the training examples
    between: dict | None = None  # as from `models_between`

    @classmethod
    def fit(cls, table, feature_sets, kinds, seed, n_jobs=None):
        """Fit a model of each of the `kinds`, a dict by name, on each distinct set of features."""
        # Orders often share a set, whose models are fitted once.
        distinct = sorted({ascending(features) for features in feature_sets}, key=len)
        # Start with the largest tables, so that threads finish at about the same time.
        keys = [(name, features) for features in reversed(distinct) for name in kinds]

        def fit_one(key):
            name, features = key
            return kinds[name].fit_both(table, list(features), _seed_of(seed, name, features))

        fitted = dict(zip(keys, thread_map(fit_one, keys, n_jobs, "models"), strict=True))
        models = {key: model for key, (_, model) in fitted.items()}
        return cls(models, held_out={key: left_out for key, (left_out, _) in fitted.items()})

    def mixture(self, features, table):
        """Return the mixture of all kinds fitted on some features."""
        key = ascending(features)
        held_out = {kind: found for (kind, of), found in self.held_out.items() if of == key}
        return Mixture.fit(held_out, table.y, table.n_classes, table.weight)

    def held_out_stages(self, stages, mixtures):
        """Return the mixed out-of-fold predictions of stages, (n_stages, n_samples, n_outputs)."""
        held, pairs = self.held_out, zip(map(ascending, stages), mixtures, strict=True)
        return np.array([each.of([held[kind, key] for kind in each.kinds]) for key, each in pairs])

    def only(self, cascades):
        """Return the models that some cascades use, without the out-of-fold predictions."""
        keys = {key for cascade in cascades for key in cascade.model_keys()}
        kept = {key: model for key, model in self.models.items() if key in keys}
        return replace(self, models=kept, held_out={})


# A cap may end an order between two stages. Prefixes that end there have models of their own: up to
# MOST_BETWEEN features, beyond which one more changes little, of kinds with enough weight.
MOST_BETWEEN = 24
LEAST_BETWEEN = 0.15
N_TREES_BETWEEN = 30


class OnDemand:
    """A model that is fitted when it is first used or pickled, as most cascades never need it."""

    def __init__(self, fit):
        self._fit = fit  # refers to the training data, which are not pickled

    @cached_property
    def _model(self):
        with one_thread():
            model = self._fit()
        self._fit = None
        return model

    def predict(self, X):
        """Return the predictions of the model."""
        return self._model.predict(X)

    def __getstate__(self):
        return {"_model": self._model, "_fit": None}


def models_between(table, kinds, seed, cascades):
    """Return mixture and models of prefixes that end between two stages, by ascending features."""
    kinds = {**kinds, "forest": ForestKind(N_TREES_BETWEEN)}
    found = {}
    for cascade in cascades:
        found = cascade.mixtures_between(MOST_BETWEEN, LEAST_BETWEEN) | found

    def on_demand(kind, features):
        drawn = _seed_of(seed, kind, features)
        return OnDemand(partial(kinds[kind].fit_whole, table, list(features), drawn))

    return {
        key: (each, [on_demand(kind, key) for kind in each.kinds]) for key, each in found.items()
    }


# Limits on the training rows of masked models: copies of examples, each with other cells hidden.
MOST_COPIES, FEWEST_MASKED, MOST_MASKED = 24, 20_000, 60_000
N_EXTRA_TREES = 60


def masked_trees(forest, shown):
    """Fit extra trees, with a number below all others for hidden values; return a `ForestModel`."""
    below = below_all(shown.X, HIDDEN_GAP)  # of a `Table` with NaN where a value is hidden
    X = filled(shown.X, below).astype(np.float32)
    fit_counted(forest, X, shown.y, sample_weight=shown.weight)
    seen = None if shown.n_classes is None else (forest.classes_, shown.n_classes)
    # Packed, because scikit-learn takes a millisecond for each tree and call.
    trees = ForestPredictor(from_sklearn(forest), X.shape[1])
    return ForestModel(trees, np.float32, False, below, seen)


@dataclass(frozen=True, eq=False)
class MaskedModel:
    """The mean of boosting and extra trees, both fitted on partly hidden examples."""

    boosted: object
    trees: ForestModel
    centre: float  # subtracted from numbers, as scikit-learn's trees are imprecise far from zero

    @classmethod
    def fit(cls, table, units, seed):
        """Fit on several copies of the examples, each with other `units` hidden."""
        random, n = np.random.RandomState(seed), len(table.y)
        # Small tables are repeated up to 24 times, very large ones are sampled.
        n_rows = min(MOST_COPIES * n, max(FEWEST_MASKED, min(4 * n, MOST_MASKED)))
        shown = table.take(np.resize(random.permutation(n), n_rows))
        shown = replace(shown, X=units.hidden(shown.X, units.drawn(n_rows, random)))
        copies = max(n_rows // n, 1)
        boosted = cls._boosted(shown, n, copies, random)
        # Copies of one example must not fill a leaf, which would memorise that example.
        leaves = {"min_samples_leaf": max(2, copies // 2), "random_state": seed}
        forest = _extra_trees(table.n_classes, N_EXTRA_TREES, **leaves)
        centre = 0 if table.n_classes is not None else float(table.y.mean())
        return cls(boosted, masked_trees(forest, replace(shown, y=shown.y - centre)), centre)

    @staticmethod
    def _boosted(shown, n_examples, copies, random):
        """Return boosted trees that accept NaN, with leaves too large for copies of one example."""
        n_rounds, rate = boosting_rounds(shown.n_classes)
        n_leaves = 8 if n_examples < 1500 else 15
        min_leaf = max(5, min(20, n_examples // 30) * copies // 2)
        n_rows, n_features = shown.X.shape
        coded = CodedRows.of(shown.X, MAX_BINS if shown.n_classes is None else N_CLASS_BINS)
        learned = coded, shown.y, shown.n_classes, np.arange(n_rows), shown.weight
        boosting = Boosting(*learned, n_leaves=n_leaves, min_leaf=min_leaf, rate=rate)
        for _ in range(n_rounds):
            drawn = np.flatnonzero(random.random_sample(n_rows) < 0.7).astype(np.int32)
            tested = random.permutation(n_features)[: max(1, round(0.8 * n_features))]
            boosting.step(drawn, np.sort(tested).astype(np.int32))
        return boosting.model()

    def predict(self, X):
        """Return the predictions from the known cells."""
        return (self.boosted.predict(X) + (self.trees.predict(X) + self.centre)) / 2
