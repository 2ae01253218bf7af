"""Base classes of the forests on our tree kernels."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ..export.compact_models import CompactForest
from ..export.exporting import CompactMethods
from ..parallel import thread_map
from ..per_feature import PerFeature
from ..protocol import Answer, BudgetedEstimator, Outcome, Request, Stage, WeightedFit
from ..protocol.checked_data import complete_table, working_dtype
from ..protocol.documenting import estimator_class
from ..tree.binning import bin_features
from ..tree.bootstrap import bootstrap_weights
from ..tree.growth import GrowthRule
from ..tree.predictor import ForestPredictor
from ..validation import (
    INT32_MAX,
    ParameterError,
    check_choice,
    check_max_features,
    check_number,
    check_path,
)

_DIRECTIONS = PerFeature("monotonic_cst", "direction", ParameterError)


def directions_of(monotonic_cst, estimator):
    """Return scikit-learn's `monotonic_cst` as int8 of shape (n_features,), or None if all are 0.

    It has 1, -1 or 0 for each feature, in order or by name; a dict may omit zeros.
    """
    if monotonic_cst is None:
        return None
    n_features, names = estimator.n_features_in_, estimator.feature_costs_.names
    given = monotonic_cst
    if isinstance(given, Mapping):
        given = dict.fromkeys(range(n_features) if names is None else names, 0) | dict(given)
    given = np.asarray(_DIRECTIONS.in_order(given, names, n_features), dtype=object).ravel()
    if given.size != n_features or not all(each in (-1, 0, 1) for each in given):
        raise ParameterError(
            f"monotonic_cst must hold 1, -1 or 0 for each of {n_features} features, or be a dict "
            f"of such numbers by column name, got {monotonic_cst!r}."
        )
    n_classes = len(getattr(estimator, "classes_", (0, 1)))
    if n_classes != 2:
        raise ParameterError(
            "monotonic_cst needs regression or two classes, as it constrains the probability of "
            f"the second class, got {n_classes} classes."
        )
    return given.astype(np.int8) if given.any() else None


def gini_importance(trees, n_features):
    """Return the decrease in Gini impurity by each feature, as a mean over classification trees."""
    total = np.zeros(n_features)
    for tree in trees:
        size = tree.value.sum(axis=1)
        impurity = size - (tree.value**2).sum(axis=1) / size
        inner = ~tree.is_leaf
        left, right = tree.children_left[inner], tree.children_right[inner]
        drop = impurity[inner] - impurity[left] - impurity[right]
        total += np.bincount(tree.feature[inner], drop, minlength=n_features) / size[0]
    return total / len(trees)


def variance_importance(trees, n_features):
    """Return the decrease in variance by each feature, as a mean over regression trees."""
    total = np.zeros(n_features)
    for tree in trees:
        weight, mean = np.ones(tree.node_count), tree.value[:, 0]
        level = np.zeros(1, dtype=np.intp)  # the nodes of one depth
        while (level := level[~tree.is_leaf[level]]).size:
            left, right = tree.children_left[level], tree.children_right[level]
            # A node's mean is the weighted mean of its sides', which gives their weights.
            apart, above = mean[right] - mean[left], mean[right] - mean[level]
            share = np.divide(above, apart, out=np.full(level.size, 0.5), where=apart != 0)
            weight[left], weight[right] = share * weight[level], (1 - share) * weight[level]
            drop = weight[level] * share * (1 - share) * apart**2
            total += np.bincount(tree.feature[level], drop, minlength=n_features)
            level = np.concatenate([left, right])
    return total / len(trees)


def leaf_values(trees):
    """Return the values of the leaves of all trees, of shape (n_leaves, n_values)."""
    return np.concatenate([tree.value[tree.is_leaf] for tree in trees])


NOTHING = Answer(np.empty(0), np.empty(0, dtype=bool))


def tree_acquisitions(estimator, model, n_samples, ledger, answer, *, votes=False, per_step=0):
    """Yield the feature requests of trees for examples without known values; return the `Outcome`.

    `model` is a predictor and the number of its first trees to use. `answer(totals, n_counted)`
    returns output and probabilities for the sums over leaves (`ForestPredictor.leaf_totals`) of the
    examples that completed some tree; with `votes` leaves vote. With `per_step` 0 the trees are
    averaged, and trees without a needed feature do not count. Otherwise the model is the sum of its
    trees, in steps of `per_step` trees, and ends before the first step that lacks a feature.
    """
    predictor, n_trees = model
    # Without a cap all trees of all examples walk at once, and the feature that most of them wait
    # for is requested next, the cheapest among equals. Under a cap an example takes one tree after
    # another, so that it spends its budget on whole trees.
    summed = per_step > 0
    # A sum ends at the first refused feature, and features of its later trees would be acquired in
    # vain. So if joint requests save no time, trees are walked one by one.
    one_by_one = ledger.max_cost < np.inf or (summed and (ledger.at_hand or n_samples == 1))
    walking = predictor.waiting_trees(
        n_samples, n_trees, one_by_one=one_by_one, until_refused=summed
    )
    prices, dtype = ledger.costs.alone, working_dtype(estimator)

    def estimate():
        totals, n_counted = predictor.leaf_totals(
            walking, n_samples, votes=votes, per_step=per_step
        )
        # Examples that completed no tree keep the blank answer.
        outcome, had = Outcome.blank(estimator, n_samples), n_counted > 0
        outcome.fill(had, *answer(totals[had], n_counted[had, None]))
        return outcome

    while most := walking.waiting.max():
        wanted = np.flatnonzero(walking.waiting == most)
        feature = int(wanted[prices[wanted].argmin()])
        rows = walking.rows(feature)
        reply = (yield Request(rows, feature, estimate)) if rows.size else NOTHING
        values = np.ascontiguousarray(reply.values.astype(dtype, copy=False), dtype=np.float64)
        walking.supply(feature, rows, values, reply.refused.view(np.uint8))
    return estimate()


X_TYPES = (np.float64, np.float32)


class Forest(CompactMethods, WeightedFit, BudgetedEstimator):
    """A forest of `Tree` that pays for the features its predictions use.

    Stage k is the forest of the first k + 1 trees. A subclass calls `_set_trees` when its trees are
    grown, and turns the sums over its trees into predictions in `_answer`.
    """

    # Defaults for forests without these parameters.
    bootstrap, codes_folder, thresholds, min_samples_leaf, oob_score = True, None, "all", 1, False
    _vote_kind = "values"  # the part of a walk that predictions use
    _in_shares = False  # whether values are divided by their sum
    _incremental = True  # whether a stage continues the previous one
    _dtypes = X_TYPES
    _takes_sparse = True

    @property
    def _growth(self):
        """The object whose attributes are the parameters of growth."""
        return self

    def _rule(self, n_features, **how):
        """Return the rule of growth, after checking the common parameters."""
        given = self._growth
        prefix = "" if given is self else "growth."
        limits = {"low": 1, "high": INT32_MAX, "integer": True}
        check_number(given.max_depth, f"{prefix}max_depth", none=True, **limits)
        check_number(given.min_samples_leaf, f"{prefix}min_samples_leaf", low=1, integer=True)
        if self.oob_score and not given.bootstrap:
            raise ParameterError("oob_score=True needs bootstrap=True to leave examples out.")
        return GrowthRule(
            thresholds=check_choice(given.thresholds, f"{prefix}thresholds", ("all", "random")),
            max_features=check_max_features(given.max_features, n_features),
            max_depth=given.max_depth,
            min_samples_leaf=given.min_samples_leaf,
            directions=directions_of(given.monotonic_cst, self),
            **how,
        )

    def _codes(self, X, binned=None):
        """Return the codes of X, either `binned` after a check or new ones."""
        if binned is None:
            max_bins = self._growth.max_bins
            folder = check_path(self._growth.codes_folder, "growth.codes_folder")
            return bin_features(X, max_bins, self.n_jobs, self.missing_in_training_, folder)
        if (binned.n_samples, binned.n_features) != X.shape:
            raise ParameterError(
                f"binned must hold the codes of X, of shape {X.shape}, "
                f"got {(binned.n_samples, binned.n_features)}."
            )
        return binned

    def _tree_seeds(self, random):
        """Return one seed per tree, drawn before growing, so that threads cannot change them."""
        check_number(self.n_estimators, "n_estimators", low=1, high=INT32_MAX, integer=True)
        return random.randint(INT32_MAX, size=self.n_estimators).tolist()

    def _known_trees(self, train, several=False):
        """Return the trees that a warm start continues; none in the first fit.

        `several` states that this fit chooses among settings or also grows on other rows.
        """
        # Only a digest of the training data is kept, as models are stored without them.
        before, self._grown_on = getattr(self, "_grown_on", None), None
        if not self.warm_start:
            return []
        now = joblib.hash((train.X, train.y, train.weight, getattr(self, "classes_", None)))
        self._grown_on = now if before is None else before
        if before is None:
            return []
        if several:
            wrong = (
                "continues the trees of one setting on the same rows: give no budget, no lists, "
                "no True for prune or joint_fit of leaves, and no refit=True."
            )
        elif before != now:
            wrong = (
                "would continue trees that were grown on other rows, targets or weights: fit on "
                "the same data, or fit a new estimator (sklearn.base.clone)."
            )
        elif self.n_estimators < len(self.trees_):
            wrong = (
                f"adds trees to the {len(self.trees_)} existing ones: n_estimators must be at "
                f"least {len(self.trees_)}, got {self.n_estimators}."
            )
        else:
            return self.trees_
        raise ParameterError(f"warm_start {wrong}")

    def _drawn(self, examples, seed):
        """Return the weight of each example for a tree."""
        # The seed determines the sample, so it can be drawn again and need not be kept.
        if not self._growth.bootstrap:
            return examples.weights
        drawn = bootstrap_weights(len(examples.y), seed)
        return drawn if examples.weight is None else drawn * examples.weight

    def _set_oob(self, trees, seeds, examples):
        """Set `oob_score_` and out-of-bag class shares or predictions (NaN without a tree)."""
        predictor = ForestPredictor(trees, examples.X.shape[1], shares=self._in_shares)

        def out_of_bag(item):
            place, seed = item
            rows = np.flatnonzero(self._drawn(examples, seed) == 0)
            own = {"trees": (place, place + 1), self._vote_kind: True}
            return rows, getattr(predictor.walk(examples.X[rows], **own), self._vote_kind)

        totals = np.zeros((len(examples.y), trees[0].value.shape[1]))
        n_counted = np.zeros(len(examples.y), dtype=int)
        for rows, values in thread_map(out_of_bag, list(enumerate(seeds)), self.n_jobs):
            totals[rows] += values
            n_counted[rows] += 1
        seen = n_counted > 0
        if is_classifier(self):
            # Rows that no tree left out stay NaN, as 0 / 0 would warn.
            self.oob_decision_function_ = np.full_like(totals, np.nan)
            sums = totals[seen].sum(axis=1, keepdims=True)
            self.oob_decision_function_[seen] = totals[seen] / sums
            hits = totals[seen].argmax(axis=1) == examples.y[seen]
            self.oob_score_ = float(hits.mean()) if hits.size else float("nan")
            return
        self.oob_prediction_ = np.full(seen.size, np.nan)
        self.oob_prediction_[seen] = totals[seen, 0] / n_counted[seen]
        self.oob_score_ = float("nan")
        if seen.sum() > 1:  # R² of one example is not defined
            self.oob_score_ = float(r2_score(examples.y[seen], self.oob_prediction_[seen]))

    def _set_trees(self, trees):
        self.trees_ = trees
        self._predictor = ForestPredictor(trees, self.n_features_in_, shares=self._in_shares)

    @property
    def n_stages_(self):
        """Number of trees, as each prefix of the forest is an operating point."""
        return len(self.trees_)

    def _stages(self, X, which, want):
        which = list(which)
        # Only requested parts are computed, as votes take most of a walk's time.
        vote = bool(want & {"output", "probabilities"})
        parts = {self._vote_kind: vote, "acquired": "acquired" in want, "n_jobs": self.n_jobs}
        for index, walk in self._walks(X, which, parts):
            predictor, n_trees = self._model(index)
            stage = Stage({"trees": n_trees}, nodes=predictor.node_count(n_trees))
            stage.incremental = self._incremental
            if vote:
                sums = getattr(walk, self._vote_kind)
                stage.output, stage.probabilities = self._answer(sums, n_trees)
            if "acquired" in want:
                stage.acquired = walk.acquired.copy()  # the next walk continues in the array
            yield stage

    def _model(self, index):
        """Return the predictor of a stage, and the number of trees that the stage uses."""
        return self._predictor, index + 1

    def _walks(self, X, which, parts):
        """Yield the index and the walk of each stage."""
        # Several stages share one continued walk.
        if len(which) > 1 and self._incremental:
            walks = enumerate(self._predictor.staged_walk(X, **parts))
            yield from ((index, walk) for index, walk in walks if index in which)
            return
        for index in which:
            predictor, n_trees = self._model(index)
            yield index, predictor.walk(X, trees=(0, n_trees), **parts)

    def _acquisitions(self, n_samples, stage, ledger):
        if self.fixed_costs() is not None:
            return (yield from super()._acquisitions(n_samples, stage, ledger))
        # The same walk as in `predict`, cell by cell, so requests agree with its charges.
        model, votes = self._model(stage), self._vote_kind == "votes"
        requests = tree_acquisitions(self, model, n_samples, ledger, self._answer, votes=votes)
        return (yield from requests)

    @property
    def feature_importances_(self):
        """Decrease of Gini's impurity, or of variance in regression; sums to 1, or is all 0."""
        check_is_fitted(self)
        decrease = gini_importance if is_classifier(self) else variance_importance
        importance = decrease(self.trees_, self.n_features_in_)
        total = importance.sum()
        return importance / total if total > 0 else importance

    def apply(self, X):
        """Return the leaf of each tree that each example reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.

        Returns
        -------
        ndarray of int32 of shape (n_samples, n_trees)
            Node ids in the numbering of each of `trees_`.
        """
        X = complete_table(self, X)
        return self._predictor.walk(X, leaves=True, n_jobs=self.n_jobs).leaves


class ForestClassifier(ClassifierMixin, Forest):
    """A forest of voting trees whose node values are class counts.

    Attributes
    ----------
    trees_ : list of Tree
        Node values are class counts.
    """

    _voting = "shares"

    @property
    def _vote_kind(self):
        return "votes" if self._voting == "majority" else "values"

    @property
    def _in_shares(self):
        return self._voting == "shares"

    def _compact(self, format):
        trees = self._predictor.trees
        if self._in_shares:
            shares = (tree.value / tree.value.sum(axis=1, keepdims=True) for tree in trees)
            trees = [replace(t, value=value) for t, value in zip(trees, shares, strict=True)]
        kind = {"classes": self.classes_, "votes": self._vote_kind == "votes"}
        return CompactForest.of(trees, self.n_features_in_, format=format, **kind)

    def _answer(self, scores, n_trees):
        """Return the class with the most votes (the first one of ties) and the shares of votes."""
        return self.classes_[scores.argmax(axis=1)], self._shares(scores, n_trees)

    def _shares(self, scores, n_trees):
        """Return class probabilities for the sums over trees."""
        return scores / scores.sum(axis=1, keepdims=True)


class ForestRegressor(RegressorMixin, Forest):
    """A forest of trees whose values are predictions, which it averages."""

    def _compact(self, format):
        trees = self._predictor.trees
        # The common part of all leaves would use up the few digits of small formats.
        common = leaf_values(trees).mean(axis=0)
        trees = [replace(tree, value=(tree.value - common) / len(trees)) for tree in trees]
        return CompactForest.of(trees, self.n_features_in_, intercept=common, format=format)

    def _answer(self, scores, n_trees):
        """Return the mean of the trees' predictions, and no class shares."""
        return (scores / n_trees)[:, 0], None


@estimator_class
class GrownTrees:
    """Mixin, named first among the bases, with the parameters of forests that grow freely."""

    n_estimators: int = 100
    max_features: Any = "sqrt"
    max_depth: int | None = None
    max_bins: int | None = None
    monotonic_cst: Any = None
    scoring: Any = None
    class_weight: Any = None
    n_jobs: int | None = None
    random_state: Any = None


class CodedFit(GrownTrees):
    """Mixin, named first among the bases, of forests whose `fit` accepts a coded table."""

    _binned = None  # set during `fit` only, as refits on some of the rows need other codes

    def fit(self, X, y, X_val=None, y_val=None, sample_weight=None, binned=None):
        """Grow the forest.

        Parameters
        ----------
        X, y, X_val, y_val, sample_weight : array-like
            As for `WeightedFit.fit`.
        binned : BinnedData, default=None
            Existing codes of X, which many forests on one table can share; `take` gives those of
            some columns. `max_bins` is then ignored.

        Returns
        -------
        self
        """
        self._binned = binned
        try:
            return super().fit(X, y, X_val, y_val, sample_weight)
        finally:
            del self._binned


class UsedFeaturesForest(ForestClassifier):
    """A forest whose predictions all pay for every feature that some tree tests.

    Attributes
    ----------
    features_ : ndarray of int of shape (n_used,)
        The features that the forest uses, ascending.
    cost_ : float
        The cost of these features.
    """

    _groups = True

    def _used(self, trees):
        """Return the mask of the features that the trees test."""
        # Leaves have feature -1, which would mark the last one.
        used = np.zeros(self.n_features_in_, dtype=bool)
        for tree in trees:
            used[tree.feature[~tree.is_leaf]] = True
        return used

    def _set_trees(self, trees):
        super()._set_trees(trees)
        # Each prefix tests all features of the previous ones, so costs never fall.
        self._prefixes = np.logical_or.accumulate([self._used([tree]) for tree in trees])
        self.features_ = np.flatnonzero(self._prefixes[-1])
        self.cost_ = self.feature_costs_.subset(self.features_)

    def fixed_costs(self):
        return self.feature_costs_.total(self._prefixes)

    def _stages(self, X, which, want):
        which = list(which)
        # All examples acquire the same features, so walks need not record them.
        for index, stage in zip(which, super()._stages(X, which, want - {"acquired"}), strict=True):
            if "acquired" in want:
                stage.acquired = np.tile(self._prefixes[index], (len(X), 1))
            yield stage
