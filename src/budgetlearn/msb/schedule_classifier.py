"""Prediction from a model schedule: what msB, logitB and exhaustive search share."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from .._validation import ParameterError, check_number, holdout
from ..base import AcquisitionMixin
from ..costs import FeatureCosts


class ScheduleClassifier(AcquisitionMixin, ClassifierMixin, BaseEstimator):
    """Base of classifiers whose stages are the models of a `ModelSchedule`.

    A subclass sets `schedule_` in `_fit_schedule(train, valid, seed)` and defines
    `_predict_entry(X, entry)`, the class indices that one model of the schedule predicts.
    """

    def fit(self, X, y, X_val=None, y_val=None):
        """Fit models and compress them into `schedule_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite numbers.
        y : array-like of shape (n_samples,)
            Class labels.
        X_val : array-like of shape (n_valid, n_features), default=None
            Validation examples, which choose among the models; None: `validation_fraction` of
            each class of X.
        y_val : array-like of shape (n_valid,), default=None
            Their labels, all of them known from y.

        Returns
        -------
        self
        """
        self._fit_schedule(*self._checked(X, y, X_val, y_val))
        return self

    def _checked(self, X, y, X_val, y_val):
        """Return (X, class indices) to train on, the same to validate on, and a seed."""
        if self.budget is not None:
            check_number(self.budget, "budget", low=0)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes in y, got 1 class: "
                f"{self.classes_[0]!r}."
            )
        self.feature_costs_ = FeatureCosts.of(self.feature_costs, X.shape[1])
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return *self._with_validation(X, codes, X_val, y_val, seed), seed

    def _with_validation(self, X, codes, X_val, y_val, seed):
        if X_val is None and y_val is None:
            train, valid = holdout(codes, self.validation_fraction, np.random.RandomState(seed))
            return (X[train], codes[train]), (X[valid], codes[valid])
        if X_val is None or y_val is None:
            raise ParameterError("X_val and y_val belong together: give both or none.")
        X_val, y_val = check_X_y(X_val, y_val, dtype=np.float64)
        if X_val.shape[1] != X.shape[1]:
            raise ValueError(
                f"X_val must have the {X.shape[1]} features of X, got {X_val.shape[1]}."
            )
        unknown = np.setdiff1d(y_val, self.classes_)
        if unknown.size:
            raise ValueError(f"y_val has classes that y has not: {unknown.tolist()}.")
        return (X, codes), (X_val, np.searchsorted(self.classes_, y_val))

    def _entry(self, budget):
        """Return the position in the schedule that `budget` (None: `self.budget`) selects."""
        budget = self.budget if budget is None else budget
        return len(self.schedule_) - 1 if budget is None else self.schedule_.index(budget)

    def predict(self, X, budget=None):
        """Predict with the best model that the budget affords.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples; only the columns of the chosen model are looked at.
        budget : float, default=None
            Most that the features of one example may cost; None: the constructor's budget, and
            without one the last model of the schedule.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        BudgetError
            When even the cheapest model costs more; the message names its cost.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.classes_[self._predict_entry(X, self._entry(budget))]

    def acquired_features(self, X, budget=None):
        """Return which features `predict` looks at: the chosen model's, for every example.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.
        budget : float, default=None
            As for `predict`.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._acquired(X.shape[0], self._entry(budget))

    def _acquired(self, n_samples, entry):
        acquired = np.zeros((n_samples, self.n_features_in_), dtype=bool)
        acquired[:, list(self.schedule_.variables[entry])] = True
        return acquired

    def staged_predict(self, X):
        """Yield the predictions of each model of the schedule, cheap to dear.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        for entry in range(len(self.schedule_)):
            yield self.classes_[self._predict_entry(X, entry)]

    def staged_acquired_features(self, X):
        """Yield which features each model of the schedule looks at, cheap to dear.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of bool of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        for entry in range(len(self.schedule_)):
            yield self._acquired(X.shape[0], entry)
