"""What users call on every budgeted estimator, derived from its stages and its requests."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..costs import affords
from ..exceptions import BudgetError, MissingValueError
from ..features import check_same_columns
from ..validation import check_number
from .acquisition import AcquiringPrediction
from .guarantees import certified
from .operating_points import score_outcome
from .requests import missing_message
from .stage import EVERYTHING, Stage


def _has_probabilities(estimator):
    return is_classifier(estimator) and estimator._can_predict_proba()


class BudgetedPrediction(AcquiringPrediction):
    """Predictions, charges and guarantees of a `BudgetedEstimator`."""

    def stages(self, X, parts=EVERYTHING):
        """Apply every operating point to examples, one after another.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        parts : set of str, default=all
            Which of "output", "probabilities", "acquired" and "estimate" are needed; others may
            be None, which saves time.

        Yields
        ------
        Stage
            With the parts that the estimator has, and the acquisition cost with "acquired".
        """
        for stage in self._each(X, parts):
            paid = stage.acquired is not None
            yield replace(stage, cost=self.feature_costs_.total(stage.acquired) if paid else None)

    def predict(self, X, budget=None, max_cost=None, *, fallback=False):
        """Predict the targets of examples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples. Cells that are not looked at may be NaN; columns that no example looks at
            may be left out of a DataFrame.
        budget : float, default=None
            Most that a prediction may cost on average: the operating point with the best
            validation score among those whose mean cost on validation data is within it. None:
            the estimator's own choice.
        max_cost : float, default=None
            Most that any single example may cost.
        fallback : bool, default=False
            Where the budget, the cap or missing values rule the chosen model out: whether to use
            the next best model that does without, in the end the constant prediction that costs
            nothing, instead of raising.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or numbers.

        Raises
        ------
        BudgetError
            When no operating point is within the budget or the cap; the message names the
            cheapest one.
        MissingValueError
            When a cell that has to be looked at is missing.
        """
        return self._decide(X, budget, max_cost, fallback, {"output"}).output

    @available_if(_has_probabilities)
    def predict_proba(self, X, budget=None, max_cost=None, *, fallback=False):
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._decide(X, budget, max_cost, fallback, {"probabilities"}).probabilities

    def acquired_features(self, X, budget=None, max_cost=None, *, fallback=False):
        """Return which features the prediction of each example looks at.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        return self._decide(X, budget, max_cost, fallback, {"acquired"}).acquired

    def acquisition_cost(self, X, budget=None, max_cost=None, *, fallback=False):
        """Return what acquiring the features of each prediction costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of `feature_costs`; each feature is charged once per example.
        """
        acquired = self.acquired_features(X, budget, max_cost, fallback=fallback)
        return self.feature_costs_.total(acquired)

    def predict_with_cost(self, X, budget=None, max_cost=None, *, fallback=False):
        """Predict, and tell what each prediction costs, in one pass over the examples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        output : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As from `predict`.
        cost : ndarray of shape (n_samples,)
            As from `acquisition_cost`.
        """
        made = self._decide(X, budget, max_cost, fallback, {"output", "acquired"})
        return made.output, self.feature_costs_.total(made.acquired)

    def score(self, X, y, sample_weight=None, budget=None, max_cost=None, *, fallback=False):
        """Return the accuracy of the predictions, in regression R²; or what `scoring` names.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.
        y : array-like of shape (n_samples,)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples.
        budget, max_cost : float, default=None
            As for `predict`.
        fallback : bool, default=False
            As for `predict`.

        Returns
        -------
        float
        """
        scoring = getattr(self, "scoring", None)
        if scoring is None:
            predicted = self.predict(X, budget, max_cost, fallback=fallback)
            score = r2_score if is_regressor(self) else accuracy_score
            return float(score(y, predicted, sample_weight=sample_weight))
        want = {"output"} | ({"probabilities"} if _has_probabilities(self) else set())
        stage = self._decide(X, budget, max_cost, fallback, want)
        return score_outcome(self, scoring, stage, np.asarray(y), sample_weight)

    def staged_predict(self, X):
        """Yield the predictions of every operating point (see `stages`), cheap to expensive."""
        yield from (stage.output for stage in self._each(X, {"output"}))

    @available_if(_has_probabilities)
    def staged_predict_proba(self, X):
        """Yield the class probabilities of every operating point (see `stages`)."""
        yield from (stage.probabilities for stage in self._each(X, {"probabilities"}))

    def staged_acquired_features(self, X):
        """Yield which features every operating point (see `stages`) looks at."""
        yield from (stage.acquired for stage in self._each(X, {"acquired"}))

    def certify(self, X_cal, y_cal, *, cost=None, error=None, confidence=0.95):
        """Choose the operating point that keeps limits of mean cost and error, with a guarantee.

        Learn then Test (Angelopoulos, Bates, Candès, Jordan, Lei 2021): see
        `budgetlearn.guarantees`. `fit` must have had validation data; the calibration data must
        be others.

        Parameters
        ----------
        X_cal : array-like of shape (n_calibration, n_features)
            Examples that played no part in `fit`, drawn as the future ones are.
        y_cal : array-like of shape (n_calibration,)
            Their class labels.
        cost : float, default=None
            Limit of the mean acquisition cost.
        error : float, default=None
            Limit of the error rate, of classifiers.
        confidence : float, default=0.95
            Probability, over the draw of the calibration data, that the limits hold.

        Returns
        -------
        Certificate
            With `budget`, to be passed to `predict`.

        Raises
        ------
        GuaranteeError
            When no operating point keeps the limits with that confidence.
        """
        X, absent = self._checked(X_cal)
        y = np.asarray(y_cal)
        outcomes = self._each(X, {"output", "acquired"}, absent)
        return certified(self, outcomes, y, cost, error, confidence)

    # How it is derived.

    def _names(self):
        """Return the name of each feature, its index where X had no names."""
        names = self._column_names()
        return list(range(self.n_features_in_) if names is None else names)

    def _column_names(self):
        """Return what the columns of the training table were called; None: they had no names."""
        names = getattr(self, "feature_names_in_", None)
        return getattr(self, "_column_labels", None) if names is None else tuple(names)

    def _working_dtype(self):
        return self._dtype[0] if isinstance(self._dtype, tuple) else self._dtype

    def _checked(self, X):
        """Return X as an array that may hold NaN, and the names of columns that it lacks."""
        check_is_fitted(self)
        absent, names = [], self._column_names()
        if hasattr(X, "reindex") and hasattr(X, "columns") and names is not None:
            known = set(X.columns)
            absent = [name for name in names if name not in known]
            if absent and known < set(names):
                X = X.reindex(columns=list(names))
        check_same_columns(X, names)
        X = validate_data(self, X, dtype=self._dtype, reset=False, ensure_all_finite="allow-nan")
        return X, absent

    def _missing_cells(self, X, index):
        """Return which missing cells a stage looks at, (n_samples, n_features); None for none."""
        missing = np.isnan(X)
        if not missing.any():
            return None
        stage = next(iter(self._stages(X, [index], frozenset({"acquired"}))))
        missing &= stage.acquired & ~self._learned_missing
        return missing if missing.any() else None

    def _complete(self, X):
        """Return X, checked, once it is sure that the default stage looks at no missing cell."""
        X, absent = self._checked(X)
        self._refuse_missing(self._missing_cells(X, self._default_stage()), absent)
        return X

    def _refuse_missing(self, missing, absent):
        """Raise for cells that are looked at and missing."""
        if missing is not None:
            rows, features = np.nonzero(missing)
            raise self._missing_error(rows, self._names()[features[0]], absent)

    def _missing_error(self, rows, name, absent):
        if name in absent:
            return MissingValueError(
                "The feature names should match those that were passed during fit.\n"
                f"Feature names seen at fit time, yet now missing:\n- {min(absent, key=str)}\n"
                f"The prediction has to look at {name!r}: add the column, or pass fallback=True "
                "to predict with the next best model that does without."
            )
        return MissingValueError(missing_message(rows, name))

    def _each(self, X, want, absent=None):
        """Yield every stage, once it is sure that none looks at a missing cell."""
        if absent is None:
            X, absent = self._checked(X)
        if np.isnan(X).any():
            for index in range(self.n_stages_):
                self._refuse_missing(self._missing_cells(X, index), absent)
        yield from self._stages(X, range(self.n_stages_), frozenset(want))

    def _decide(self, X, budget, max_cost, fallback, want):
        """Return what was wanted of the chosen stage's predictions."""
        X, absent = self._checked(X)
        index = self._chosen(budget, max_cost, fallback)
        capped = max_cost is not None and not self._has_fixed_costs
        if index is not None and not capped:
            missing = self._missing_cells(X, index)
            if missing is None or not fallback:
                self._refuse_missing(missing, absent)
                return next(iter(self._stages(X, [index], frozenset(want))))
        made = self._acquire(self._from_table(X), len(X), index, max_cost, fallback)
        return Stage({}, made.prediction, made.probabilities, made.acquired)

    def _chosen(self, budget, max_cost, fallback):
        """Return the index of the stage to use; None: the constant that costs nothing."""
        for value, name in ((budget, "budget"), (max_cost, "max_cost")):
            if value is not None:
                check_number(value, name, low=0)
        costs = self._fixed_costs()
        if max_cost is not None and costs is None:
            self._require("hard_cap", "max_cost")
        elif max_cost is not None:  # each example costs the mean
            budget = max_cost if budget is None else min(budget, max_cost)
        if budget is None:
            return self._default_stage()
        points = self._points(costs)
        affordable = points[affords(budget, points["cost"])]
        if len(affordable):
            best = affordable.sort_values(["score", "cost"], ascending=[False, True], kind="stable")
            return int(best.index[0])
        if fallback:
            return None
        cheapest = float(points["cost"].min())
        raise BudgetError(
            f"No operating point costs at most {budget:g}: the cheapest one costs {cheapest:g}. "
            f"Raise the budget to {cheapest:g} or more.",
            cheapest,
        )

    def _require(self, ability, parameter):
        if not getattr(self.__sklearn_tags__(), ability):
            raise BudgetError(
                f"{type(self).__name__} cannot keep {parameter}: its features are not acquired one "
                "after another. Use budget, or another method (docs/api.md lists which can)."
            )

    def _points(self, costs):
        """Return cost and score of each stage; where nothing was measured the last is the best."""
        if hasattr(self, "operating_points_"):
            return self.operating_points_
        if costs is None:
            raise BudgetError(
                f"this {type(self).__name__} does not know what its operating points cost on "
                "average: pass validation data, fit(X, y, X_val, y_val), to keep a budget."
            )
        return pd.DataFrame({"cost": costs, "score": np.arange(len(costs))})
