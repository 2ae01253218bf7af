"""What a budgeted estimator defines, and `fit`, the same for all."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from ..counting import counting_fits
from ..validation import all_or_nothing
from .examples import checked_examples
from .operating_points import measured, refuse_alike, refuse_unscored
from .prediction import BudgetedPrediction
from .requests import fixed_acquisitions
from .stage import BudgetedTags, Stage


class BudgetedEstimator(BudgetedPrediction, BaseEstimator):
    """Base of estimators whose predictions acquire features and are charged for them.

    A subclass stores the parameter `feature_costs`, learns in `_fit`, and yields its operating
    points in `_stages`. Combine it with scikit-learn's `ClassifierMixin` or `RegressorMixin`, named
    first.
    """

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        # scikit-learn's mixins stand first and would hide the score that takes a budget.
        if cls.score in (ClassifierMixin.score, RegressorMixin.score):
            cls.score = BudgetedPrediction.score

    _dtype = np.float64  # or a tuple of those that are taken as they are
    _multi_output = False
    _groups = False  # whether shared charges change what the model acquires
    _chooses_on_validation = False

    @abstractmethod
    def _fit(self, train, valid, seeds):
        """Learn from `Examples`; `valid` is None where no validation data are needed or given."""

    @abstractmethod
    def _stages(self, X, which, want) -> Iterator[Stage]:
        """Yield the operating points of the given indices, applied to checked examples.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            NaN where values are missing; nothing may depend on cells that are not acquired.
        which : sequence of int
            Ascending indices of stages; `_default_stage()` may lie one beyond the last stage.
        want : set of str
            Which of "output", "probabilities", "acquired", "estimate" will be used; others may be
            left out.
        """

    @property
    def n_stages_(self):
        """Number of operating points."""
        return 1

    @property
    def n_models_fitted_(self):
        """Models that `fit` trained, those on folds and those that were left out among them."""
        return self._n_models_fitted

    def _default_stage(self):
        """Return the stage that `predict` uses without a budget."""
        return self.n_stages_ - 1

    def _fixed_costs(self):
        """Return the cost of each stage where it is the same for every example, else None."""
        return

    def _stored_bytes(self, stage):
        """Return what a stage's model takes in the compact format "float32"; NaN where unknown."""
        return np.nan

    def _acquisitions(self, n_samples, stage, ledger):
        """Yield the `Request`s of a prediction without a table, and return its `Outcome`.

        This one is right where a stage looks at the same features of every example.
        """
        if self._fixed_costs() is None:
            raise NotImplementedError(f"{type(self).__name__} cannot acquire while predicting.")
        return (yield from fixed_acquisitions(self, n_samples, stage))

    def _needs_validation(self):
        """Return whether `fit` must hold out validation data where none are given."""
        return False

    def _seeds(self, random):
        """Draw what `_fit` needs; return it and the source that draws a held-out part."""
        return random, random

    def _refit(self, examples, seeds):
        """Learn the chosen models again from training and validation data."""
        raise NotImplementedError

    def _can_predict_proba(self):
        """Return whether a classifier's stages have probabilities."""
        return True

    def _takes_missing(self):
        """Return whether `fit` takes missing values: then they are values like others."""
        return False

    def __sklearn_tags__(self):
        own = super().__sklearn_tags__()
        own_way = type(self)._acquisitions is not BudgetedEstimator._acquisitions
        lazy = own_way or self._has_fixed_costs
        tags = BudgetedTags(
            **{f.name: getattr(own, f.name) for f in fields(own)},
            hard_cap=lazy,
            lazy=lazy,
            groups=self._groups,
            ranking=isinstance(self, ClassifierMixin) and self._can_predict_proba(),
            chooses_on_validation=self._chooses_on_validation,
        )
        tags.input_tags.allow_nan = self._takes_missing()
        return tags

    @property
    def _has_fixed_costs(self):
        return type(self)._fixed_costs is not BudgetedEstimator._fixed_costs

    def fit(self, X, y, X_val=None, y_val=None):
        """Learn from examples whose features are all known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples, finite numbers.
        y : array-like of shape (n_samples,)
            Class labels, at least two classes; or numbers in regression.
        X_val : array-like of shape (n_valid, n_features), default=None
            Validation examples: they measure the operating points, and choose where the method
            chooses. None: `validation_fraction` of X where the method must choose.
        y_val : array-like of shape (n_valid,), default=None
            Their targets. A class that y lacks counts as an error whatever is predicted.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            When a parameter is out of its range, or y holds one class only.
        CostError
            When the feature costs do not fit X.
        BudgetError
            When the budget affords no model.
        """
        return self._learn(X, y, X_val, y_val)

    def _learn(self, X, y, X_val, y_val, weight=None):
        """Check the data, learn from them, and count the models that it takes.

        What fails leaves the estimator as it was.
        """
        with all_or_nothing(self):
            with counting_fits() as count:
                self._learn_from(*checked_examples(self, X, y, X_val, y_val, weight))
            self._n_models_fitted = count.total
        return self

    def _learn_from(self, train, valid):
        """Hold out a part where it is needed, fit, measure and refit."""
        seeds, source = self._seeds(check_random_state(getattr(self, "random_state", None)))
        if valid is None and self._needs_validation():
            train, valid = train.held_out(self.validation_fraction, source, self)
        if valid is not None:
            refuse_alike(self, train, valid)
        self.__dict__.pop("operating_points_", None)
        self._fit(train.weighed_for(self), valid, seeds)
        if valid is not None:
            self.operating_points_ = refuse_unscored(measured(self, valid), len(valid.y))
            if getattr(self, "refit", False) is True:  # in GIF a number of passes
                self._refit(train.joined(valid).weighed_for(self), seeds)


class WeightedFit:
    """Mixin, named before `BudgetedEstimator`, of estimators whose `fit` takes sample weights."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.sample_weight = True
        return tags

    def fit(self, X, y, X_val=None, y_val=None, sample_weight=None):
        """Learn from examples whose features are all known.

        Parameters
        ----------
        X, y, X_val, y_val : array-like
            Training data of shape (n_samples, n_features) and (n_samples,), and validation data,
            as for `BudgetedEstimator.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the training examples, finite and >= 0; None: 1 each. Only their ratios
            count: they are divided by their mean, so that n examples weigh as much as n rows.
            An example of weight 0 is left out. One of weight k is as good as k such rows, but for
            what is drawn by rows (bootstrap samples, held-out rows) or measured in rows (penalties,
            and thresholds of class counts): there copies are further rows. Scores on validation
            data count each row once.

        Returns
        -------
        self
        """
        return self._learn(X, y, X_val, y_val, sample_weight)
