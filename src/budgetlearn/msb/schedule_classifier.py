"""Prediction from a model schedule: the base of msB, logitB and exhaustive search."""

from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.utils.metaestimators import available_if

from ..curves import ModelSchedule
from ..protocol import BudgetedEstimator, Stage, WeightedFit
from ..validation import INT32_MAX, check_number


class LabelledModel(ClassifierMixin, BaseEstimator):
    """A fitted model of indices of some `classes` as scikit-learn's scorers want it: of labels."""

    def __init__(self, model, classes):
        self.model = model
        self.classes = classes

    def fit(self, X, y):
        """Do nothing: the model is fitted already."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        """Class labels."""
        return self.classes

    def predict(self, X):
        """Return class labels of X, shape (n_samples,)."""
        return self.classes[self.model.predict(X)]

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X):
        """Return class probabilities of X, shape (n_samples, n_classes)."""
        shares = self.model.predict_proba(X)
        if shares.shape[1] == len(self.classes):
            return shares
        spread = np.zeros((len(shares), len(self.classes)))
        spread[:, self.model.classes_] = shares
        return spread


class ScheduleClassifier(WeightedFit, ClassifierMixin, BudgetedEstimator):
    """Base of classifiers whose stages are the models of a `ModelSchedule`.

    All examples of a stage cost the same.

    Attributes
    ----------
    schedule_ : ModelSchedule
        Costs, validation scores and variables, cheap to expensive.
    """

    _groups = True
    _chooses_on_validation = True

    def __init__(
        self,
        *,
        feature_costs=None,
        budget=None,
        scoring=None,
        class_weight=None,
        validation_fraction=0.25,
        random_state=None,
    ):
        self.feature_costs = feature_costs
        self.budget = budget
        self.scoring = scoring
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @abstractmethod
    def _fit_schedule(self, train, valid, seed):
        """Fit models on `train` and compress them into `schedule_` on `valid` (both `Examples`)."""

    @abstractmethod
    def _entry(self, X, entry):
        """Return the model of an entry of the schedule, and the columns of X that it takes."""

    def _schedule_of(self, costs, scores, variables):
        return ModelSchedule.from_points(costs, scores, variables, self.feature_costs_.names)

    def _validation_score(self, valid):
        """Return score(model, X) of a model of class indices on validation data; None: accuracy."""
        if self.scoring is None:
            return None

        def score(model, X):
            # Scorers of scikit-learn see the labels as they were given.
            labelled = LabelledModel(model, self.classes_)
            return float(check_scoring(labelled, self.scoring)(labelled, X, valid.targets))

        return score

    def _needs_validation(self):
        return True

    def _seeds(self, random):
        # One integer for models and held-out rows: exhaustive search sees what msB sees.
        seed = int(random.randint(INT32_MAX))
        return seed, np.random.RandomState(seed)

    def _fit(self, train, valid, seeds):
        if self.budget is not None:
            check_number(self.budget, "budget", low=0)
        self._fit_schedule(train, valid, seeds)

    @property
    def n_stages_(self):
        """Number of models of the schedule."""
        return len(self.schedule_)

    def _default_stage(self):
        return self.n_stages_ - 1 if self.budget is None else self.schedule_.index(self.budget)

    def fixed_costs(self):
        return self.schedule_.costs

    def _stages(self, X, which, want):
        for entry in which:
            variables = self.schedule_.variables[entry]
            stage = Stage({})
            stage.facts = {"budget": float(self.schedule_.costs[entry]), "variables": variables}
            if want & {"output", "probabilities"}:
                model, columns = self._entry(X, entry)
                # Engines learn class indices, perhaps not of all classes; users see labels.
                model = LabelledModel(model, self.classes_)
                if "output" in want:
                    stage.output = model.predict(columns)
                if "probabilities" in want and self._can_predict_proba():
                    stage.probabilities = model.predict_proba(columns)
            stage.acquired = np.zeros((len(X), self.n_features_in_), dtype=bool)
            stage.acquired[:, list(variables)] = True
            yield stage
