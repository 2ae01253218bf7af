"""`BudgetedEstimator`: the hooks that a method defines, and the public methods built on them.

The hooks come first; all but `_fit` and `_stages` have a default.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..fit_counts import counting_fits
from ..parallel import one_thread
from ..validation import ParameterError, all_or_nothing, check_choice, check_number, codes_of_groups
from . import checked_data, operating_points, prediction
from .documenting import EXPECTED, Limits, check_flags, described, estimator_class, limited
from .feature_requests import EVERYTHING, BudgetedTags, Decisions, Stage
from .operating_points import Certificate
from .prediction import Session
from .scoring import refuse_unknown_score, score_outcome

Array = NDArray[Any]


def _has_probabilities(estimator):
    return is_classifier(estimator) and estimator._can_predict_proba()


@estimator_class
class BudgetedEstimator(BaseEstimator):
    """Base class of estimators whose predictions acquire features and are charged for them.

    A subclass learns in `_fit` and yields its operating points in `_stages`. If it has several,
    `_fit` sets `stage_settings_`, a dict for each of them. With `fixed_costs` it can also acquire
    while predicting. Combine it with scikit-learn's `ClassifierMixin` or `RegressorMixin`, listed
    before it. Declare parameters other than `feature_costs` as fields of a class under
    `estimator_class`, or write a constructor that stores all of them.
    """

    feature_costs: Any = None

    def __init_subclass__(cls, **named):
        # scikit-learn's mixins come first and would hide the `score` that accepts a budget.
        if cls.score in (ClassifierMixin.score, RegressorMixin.score):
            cls.score = BudgetedEstimator.score
        super().__init_subclass__(**named)  # reads the parameters of `score`, to route metadata

    @classmethod
    @cache
    def _get_param_names(cls):
        # Cached: scikit-learn reads the signature at each `clone`, as slow as a few small trees.
        return super()._get_param_names()

    _dtypes = (np.float64,)  # accepted dtypes of X; others are converted to the first
    _takes_missing = False  # whether `fit` accepts missing values, and learns from them
    _takes_sparse = False  # whether tables may be sparse; they are then made dense
    _multi_output = False
    _groups = False  # whether cost groups affect which features the model acquires
    _needs_validation = False  # whether `fit` must hold out validation data if none are given
    trains_on_validation = False  # if True, scores on validation data would be in-sample
    _spends_budgets = False  # whether the costliest of points with equal scores is chosen
    # The words of each feature of words, by name, in the order of their codes.
    categories_: ClassVar[Mapping[Any, Any]] = MappingProxyType({})
    _spends_caps = False  # whether the default operating point is the best one under any cap
    _caps_mean = False  # whether a cap also limits the mean, as models cut short predict badly

    # The hooks of a subclass.
    @abstractmethod
    def _fit(self, train, valid, seeds):
        """Learn from `Examples`; `valid` is None unless validation data are needed or given."""

    @abstractmethod
    def _stages(self, X, which, want) -> Iterator[Stage]:
        """Yield the operating points of the given indices, applied to checked examples.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            NaN where values are missing. Predictions may not depend on cells that are not acquired.
        which : sequence of int
            Ascending indices of stages; `_default_stage()` may be one beyond the last stage.
        want : set of str
            The parts to compute, of "output", "probabilities", "acquired" and "estimate". If only
            "acquired" is wanted, cells that are acquired may still be missing.
        """

    @property
    def n_stages_(self) -> int:
        """Number of operating points, by default the length of `stage_settings_`, if it exists."""
        return len(getattr(self, "stage_settings_", ({},)))

    def _default_stage(self):
        """Return the stage that `predict` uses without a budget."""
        return self.n_stages_ - 1

    def fixed_costs(self) -> ArrayLike | None:
        """Return the cost of each stage if it is the same for every example.

        Returns
        -------
        array-like of shape (n_stages,) or None
            None if costs differ between examples.
        """
        return

    def _most_costs(self):
        """Return an upper bound of the cost of any example at each stage, (n_stages,)."""
        costs = self.fixed_costs()
        return np.full(self.n_stages_, self.feature_costs_.full if costs is None else costs)

    def stored_bytes(self, stage: int) -> float:
        """Return the size of a stage's model in the compact format "float32".

        Parameters
        ----------
        stage : int
            Index of the stage.

        Returns
        -------
        float
            Size in bytes; NaN if the method has no such format.
        """
        return np.nan

    def _acquisitions(self, n_samples, stage, ledger):
        """Yield the `Request`s of a prediction that acquires features, and return its `Outcome`."""
        # The default works if each stage uses the same features for every example.
        if self.fixed_costs() is None:
            raise NotImplementedError(f"{type(self).__name__} cannot acquire while predicting.")
        return (yield from prediction.fixed_acquisitions(self, n_samples, stage))

    def _seeds(self, random):
        """Return the seeds for `_fit`, and the random state that draws a held-out part."""
        return random, random

    def _refit(self, examples, seeds):
        """Fit the chosen models again, on training and validation data."""
        raise NotImplementedError

    def _can_predict_proba(self):
        """Return whether the stages of a classifier have probabilities."""
        return True

    def _score_parts(self):
        """Return the parts of a `Stage` that its score needs."""
        by_scoring = getattr(self, "scoring", None) is not None and _has_probabilities(self)
        return {"output", "probabilities"} if by_scoring else {"output"}

    def _targets(self, y, name):
        """Return targets as an array; raise for missing ones, naming the argument."""
        # Comparing a column with 1-d predictions would broadcast to a matrix.
        y = np.asarray(y) if self._multi_output else column_or_1d(y)
        # Missing targets must not count as an unknown class, and thus as errors.
        assert_all_finite(np.nan if pd.isna(y).any() else y, input_name=name)
        known = getattr(self, "classes_", y)
        # Text never equals a number, so every row would count as an error.
        if len(y) and isinstance(y[0], str) != isinstance(known[0], str):
            pair = f"{y[:1].tolist()}, but training {known[:1].tolist()}"
            raise ParameterError(f"{name} has labels as {pair}: write both in the same form.")
        return y

    def _score_stage(self, stage, y, weight):
        return score_outcome(self, getattr(self, "scoring", None), stage, y, weight)

    def _more_to_explain(self, x, max_cost):
        """Return additional columns of `explain` for a checked row: by name, values by feature."""
        return {}

    def __sklearn_tags__(self):
        own = super().__sklearn_tags__()
        # Tags are derived from the methods that a class defines, so that they cannot be wrong.
        own_way = type(self)._acquisitions is not BudgetedEstimator._acquisitions
        own_costs = type(self).fixed_costs is not BudgetedEstimator.fixed_costs
        tags = BudgetedTags(
            **{f.name: getattr(own, f.name) for f in fields(own)},
            lazy=own_way or own_costs,
            groups=self._groups,
            sample_weight=isinstance(self, WeightedFit),
            ranking=isinstance(self, ClassifierMixin) and self._can_predict_proba(),
            chooses_on_validation=self._needs_validation or self.trains_on_validation,
        )
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator to examples with all features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite numbers. Columns of a DataFrame with pandas' type category
            are categorical features.
        y : array-like of shape (n_samples,)
            Class labels of at least two classes, or numbers in regression.
        X_val : array-like of shape (n_valid, n_features), default=None
            Validation examples. They measure the operating points, and some methods choose models
            on them. None: such methods hold out `validation_fraction` of X.
        y_val : array-like of shape (n_valid,), default=None
            Targets of the validation examples; a class that is not in y counts as an error.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            When a parameter is out of its range, or y has only one class.
        CostError
            When the feature costs do not match X.
        BudgetError
            When the budget pays for no model.
        """
        return self._learn(X, y, X_val, y_val)

    def _learn(self, X, y, X_val, y_val, weight=None, groups=None):
        """Check the data, fit the estimator, and count the fitted models."""
        check_flags(self)
        check_number(getattr(self, "n_jobs", None), "n_jobs", integer=True, none=True)
        # A failure leaves the estimator unchanged. Checks already set names and classes.
        with all_or_nothing(self):
            with one_thread(), counting_fits() as count:
                given = X, y, X_val, y_val, weight, groups
                train, valid = checked_data.checked_examples(self, *given)
                # Kept by methods that measure their operating points out of fold themselves.
                self._n_measured = train.n_groups + (0 if valid is None else len(valid.y))
                self._learn_from(train, valid)
            self.n_models_fitted_ = sum(count)  # includes models of folds, and discarded ones
        return self

    def _learn_from(self, train, valid):
        """Hold out validation data if needed, fit, measure the operating points and refit."""
        # Drawn before rows are held out, so that seeds do not depend on validation data.
        seeds, source = self._seeds(check_random_state(getattr(self, "random_state", None)))
        if valid is None and self._needs_validation:
            train, valid = train.held_out(self.validation_fraction, source, self)
        train, valid = checked_data.words_by_target(self, train, valid)
        # Checked before the fit, which may take hours.
        refuse_unknown_score(self)
        if valid is not None:
            operating_points.refuse_alike(self, train, valid)
        # Remove the points of an earlier fit, in case this one measures none.
        self.__dict__.pop("operating_points_", None)
        self._unmeasured = train if valid is None else None
        # "balanced" class weights use the class shares of the training rows only.
        self._fit(train.weighed_for(self), valid, seeds)
        if valid is not None:
            wanted = operating_points.scored_parts(self)
            stages = self._stages(valid.X, range(self.n_stages_), wanted)
            points = operating_points.measured(self, stages, valid.targets)
            self.operating_points_ = operating_points.refuse_unscored(points, len(valid.y))
            self._n_measured = len(valid.y)
            # After measuring, so that the operating points are from rows that no model had seen.
            if getattr(self, "refit", False):
                self._refit(train.joined(valid).weighed_for(self), seeds)

    @cached_property
    def operating_points_(self) -> pd.DataFrame:
        """Cost and score of each operating point, a DataFrame with one row per stage.

        If there are validation data, `fit` measures the points on them. Otherwise they are measured
        out of fold, by five refits, when this attribute is first read or a budget is first used:
        scores are those of the refits, costs those of the estimator itself, corrected for rows that
        it has not seen. This takes about four times as long as `fit`. Until then the estimator
        refers to the training rows, which are not pickled with it.
        """
        check_is_fitted(self)
        examples = vars(self).get("_unmeasured")
        points = operating_points.measured_out_of_fold(self, examples)
        self._unmeasured, self._n_measured = None, len(examples.y)
        return points

    def __getstate__(self):
        # Training rows may be large, and may be confidential.
        state, left_out = super().__getstate__(), ("_unmeasured", "_points_as_arrays")
        return {name: state[name] for name in state if name not in left_out}

    @described
    def stages(self, X: ArrayLike, parts: Collection[str] = EVERYTHING) -> Iterator[Stage]:
        """Apply every operating point to examples, one after another.

        Parameters
        ----------
        parts : set of str, default=all
            Those needed of "output", "probabilities", "acquired", "estimate"; others may be None.

        Yields
        ------
        Stage
            With the parts that the estimator has, and with "acquired" the acquisition cost.
        """
        for part in parts:
            check_choice(part, "parts (each)", sorted(EVERYTHING))
        for stage in prediction.each_stage(self, X, parts):
            paid = stage.acquired is not None
            yield replace(stage, cost=self.feature_costs_.total(stage.acquired) if paid else None)

    @limited
    def choose(self, limits: Limits) -> int | None:
        """Return the operating point that predictions use.

        Returns
        -------
        int or None
            Its row in `operating_points_`. None: the constant prediction, which costs nothing.
        """
        check_is_fitted(self)
        return prediction.chosen_stage(self, limits)

    @limited
    def predict(self, X: ArrayLike, limits: Limits) -> Array:
        """Predict the targets of examples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or numbers.
        """
        return prediction.decided(self, X, {"output"}, limits).output

    @available_if(_has_probabilities)
    @limited
    def predict_proba(self, X: ArrayLike, limits: Limits) -> Array:
        """Return the probability of each class.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        return prediction.decided(self, X, {"probabilities"}, limits).probabilities

    @limited
    def acquired_features(self, X: ArrayLike, limits: Limits) -> Array:
        """Return the mask of the features that the prediction of each example acquires.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        return prediction.decided(self, X, {"acquired"}, limits).acquired

    @limited
    def acquisition_cost(self, X: ArrayLike, limits: Limits) -> Array:
        """Return the cost of acquiring the features of each prediction.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs in the unit of `feature_costs`; each feature is charged once per example.
        """
        acquired = prediction.decided(self, X, {"acquired"}, limits).acquired
        return self.feature_costs_.total(acquired)

    @limited
    def predict_with_cost(self, X: ArrayLike, limits: Limits) -> tuple[Array, Array]:
        """Return the predictions and their costs, in one pass over the examples.

        Returns
        -------
        output : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As from `predict`.
        cost : ndarray of shape (n_samples,)
            As from `acquisition_cost`.
        """
        made = prediction.decided(self, X, {"output", "acquired"}, limits)
        return made.output, self.feature_costs_.total(made.acquired)

    @limited
    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, limits: Limits
    ) -> float:
        """Return the score by `scoring`; without `scoring`, accuracy or R².

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, finite and >= 0.

        Returns
        -------
        float
        """
        stage = prediction.decided(self, X, self._score_parts(), limits)
        return self._score_stage(stage, self._targets(y, "y"), sample_weight)

    @described
    def staged_predict(self, X: ArrayLike) -> Iterator[Array]:
        """Yield the predictions of every operating point (see `stages`), cheap to expensive.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        yield from (stage.output for stage in prediction.each_stage(self, X, {"output"}))

    @available_if(_has_probabilities)
    @described
    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Array]:
        """Yield the class probabilities of every operating point (see `stages`).

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        stages = prediction.each_stage(self, X, {"probabilities"})
        yield from (stage.probabilities for stage in stages)

    @described
    def staged_acquired_features(self, X: ArrayLike) -> Iterator[Array]:
        """Yield the mask of the features that every operating point (see `stages`) acquires.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        yield from (stage.acquired for stage in prediction.each_stage(self, X, {"acquired"}))

    @described
    def measure(
        self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None
    ) -> pd.DataFrame:
        """Measure every operating point on new examples.

        Returns
        -------
        pandas.DataFrame
            One row per stage, as in `operating_points_`.
        """
        check_is_fitted(self)
        y = self._targets(y, "y")
        check_consistent_length(X, y)
        stages = prediction.each_stage(self, X, operating_points.scored_parts(self))
        return operating_points.measured(self, stages, y, codes_of_groups(groups, X))

    def certify(
        self,
        X_cal: ArrayLike,
        y_cal: ArrayLike,
        *,
        cost: float | None = None,
        error: float | None = None,
        confidence: float = 0.95,
    ) -> Certificate:
        """Choose an operating point whose mean cost and error keep limits, with a guarantee.

        Uses Learn then Test (Angelopoulos, Bates, Candès, Jordan, Lei 2021, arXiv:2110.01052).
        The calibration data must be different from those that measured the operating points.

        Parameters
        ----------
        X_cal : array-like of shape (n_calibration, n_features)
            Examples that were not used in `fit`, from the same distribution as future ones and
            independent of each other. Use only one of several related rows.
        y_cal : array-like of shape (n_calibration,)
            Class labels of the calibration examples.
        cost : float, default=None
            Limit of the mean acquisition cost.
        error : float, default=None
            Limit of the error rate, for classifiers.
        confidence : float, default=0.95
            Probability, over the draw of the calibration data, that the limits hold.

        Returns
        -------
        Certificate
            Pass its `budget` to `predict`.

        Raises
        ------
        GuaranteeError
            When no operating point keeps the limits with that confidence.
        """
        check_is_fitted(self)
        # A generator, so that only one stage at a time is in memory.
        outcomes = prediction.each_stage(self, X_cal, {"output", "acquired"})
        y = self._targets(y_cal, "y_cal")
        return operating_points.certified(self, outcomes, y, cost, error, confidence)

    @limited
    def decisions(self, X: ArrayLike, limits: Limits) -> Decisions:
        """Return predictions with the acquisitions in their order.

        Returns
        -------
        Decisions
        """
        X, _ = checked_data.checked_table(self, X)
        stage, source = prediction.chosen_stage(self, limits), prediction.from_table(X)
        return prediction.acquired_from(self, source, len(X), stage, limits, at_hand=True)

    @limited
    def predict_acquiring(
        self, source: Callable[..., ArrayLike], n_samples: int, limits: Limits
    ) -> Decisions:
        """Predict examples by requesting features from a source only when they are needed.

        A sum of boosted trees ends before the first tree with an unavailable feature. For several
        examples, the features of all trees are requested together, in few calls of the source. If
        values are unavailable, this can cost more than from a table, or one example at a time.

        Parameters
        ----------
        source : callable
            `source(rows, feature)` returns the values of one feature for the examples with the
            ascending indices `rows`, NaN if unavailable. `feature` is a name if the training data
            had names, otherwise an index.
        n_samples : int
            Number of examples.

        Returns
        -------
        Decisions
        """
        check_is_fitted(self)
        check_number(n_samples, "n_samples", low=1, integer=True)
        stage = prediction.chosen_stage(self, limits)
        source = prediction.from_user(self, source)
        return prediction.acquired_from(self, source, n_samples, stage, limits)

    @described
    def session(
        self,
        budget: float | None = None,
        max_cost: float | None = None,
        *,
        budget_mode: str = EXPECTED,
    ) -> Session:
        """Start the prediction of one case whose features are acquired step by step.

        Returns
        -------
        Session
            NaN means that a feature is unavailable, and is not charged. If the feature had missing
            values in training, NaN is a value like others, as in `predict`.

        Raises
        ------
        BudgetError
            When no operating point is within the budget; the message names the cheapest one.
        """
        return Session(self, self.choose(budget, max_cost, budget_mode=budget_mode), max_cost)

    @limited
    def explain(self, x: ArrayLike | Mapping[Any, Any], limits: Limits) -> pd.DataFrame:
        """Show how one example is predicted, acquisition by acquisition.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), dict, Series or frame of one row
            The example; a dict or Series has its values by feature name.

        Returns
        -------
        pandas.DataFrame
            One row per acquisition, with `feature` (name or index), `measured` (its value), `price`
            (including a group's charge when it is due), `spent` so far, and the `prediction` after
            the acquisition. Classifiers also have the `probability` of the prediction. FMCC, VoC
            and the random order also have `value`: the expected benefit of the feature minus its
            weighted price, NaN if it was unavailable.
        """
        x = checked_data.one_row(self, x)
        stage = prediction.chosen_stage(self, limits)
        # A session ignores missing values that `predict` refuses, so raise what `predict` raises.
        if not limits.fallback:
            prediction.acquired_from(self, prediction.from_table(x), 1, stage, limits)
        session, rows = Session(self, stage, limits.max_cost), []
        values = dict(zip(self.feature_costs_.labels, x[0], strict=True))
        while not session.done:
            name, price, _ = session.wanted[0]
            value, words = values[name], self.categories_.get(name)
            if words is not None and not np.isnan(value):
                value = words[int(value)]
            session.give({name: value})
            rows.append((name, value, price, session.cost, session.prediction, session.probability))
        columns = ["feature", "measured", "price", "spent", "prediction", "probability"]
        steps, more = pd.DataFrame(rows, columns=columns), self._more_to_explain(x, limits.max_cost)
        if not is_classifier(self):
            steps = steps.drop(columns="probability")
        return steps.assign(**{name: steps["feature"].map(each) for name, each in more.items()})


class WeightedFit:
    """Mixin for estimators whose `fit` takes sample weights, listed before `BudgetedEstimator`."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator to examples with all features.

        Parameters
        ----------
        X, y, X_val, y_val : array-like
            Training data of shape (n_samples, n_features) and (n_samples,), and validation data,
            as for `BudgetedEstimator.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the training examples, finite and >= 0; None: 1 each. Only their ratios
            matter: weights are divided by their mean. Examples with weight 0 are ignored. Weight k
            has the same effect as k copies of a row, except where rows are drawn (bootstrap
            samples, held-out rows) or counted (penalties, and thresholds of class counts). Scores
            on validation data count each row once.

        Returns
        -------
        self
        """
        return self._learn(X, y, X_val, y_val, sample_weight)


class GroupedFit(WeightedFit):
    """Mixin for estimators whose `fit` takes sample weights, and groups that folds keep together.

    These estimators also train on validation data, and measure their points out of fold.
    """

    trains_on_validation = True

    def _learn_from(self, train, valid):
        examples = checked_data.learned_together(self, train, valid)
        operating_points.refuse_extreme(self, examples)
        self._fit(examples, None, check_random_state(self.random_state))

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator to examples with all features, and measure it out of fold.

        Parameters
        ----------
        X, y, X_val, y_val, sample_weight : array-like
            As for `WeightedFit.fit`; validation data are also used for training.
        groups : array-like of shape (n_samples,), default=None
            Group of each training row, such as a patient with several visits. Rows of a group are
            held out together, so that scores hold for new groups.

        Returns
        -------
        self
        """
        return self._learn(X, y, X_val, y_val, sample_weight, groups)
