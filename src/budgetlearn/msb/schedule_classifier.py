"""Prediction from a model schedule: the base of msB, logitB and exhaustive search."""

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import check_scoring

from ..curves import ModelSchedule
from ..protocol import BudgetedEstimator, Stage, WeightedFit
from ..protocol.documenting import estimator_class
from ..protocol.feature_requests import in_all_classes
from ..protocol.operating_points import refuse_unscored
from ..protocol.scoring import Substitute, stage_scorer
from ..validation import INT32_MAX, check_number


@estimator_class
class ScheduleClassifier(WeightedFit, ClassifierMixin, BudgetedEstimator):
    """Base of classifiers whose stages are the models of a `ModelSchedule`.

    All examples of a stage cost the same.

    Attributes
    ----------
    schedule_ : ModelSchedule
        Costs, validation scores and variables, cheap to expensive; logitB's first may have none.

    References
    ----------
    D. Yan, Z. Qin, S. Gu, H. Xu, M. Shao: Cost-sensitive Selection of Variables by Ensemble of
    Model Sequences.
    """

    _groups = True
    _needs_validation = True

    budget: float | None = None
    scoring: Any = None
    class_weight: Any = None
    validation_fraction: float = 0.25
    random_state: Any = None

    @abstractmethod
    def _fit_schedule(self, train, valid, seed):
        """Fit models on `train` and compress them into `schedule_` on `valid` (both `Examples`)."""

    @abstractmethod
    def _entry(self, X, entry):
        """Return the model of an entry of the schedule, and its columns of X."""

    def _schedule_of(self, costs, scores, variables):
        return ModelSchedule.from_points(costs, scores, variables, self.feature_costs_.names)

    def _validation_score(self, valid):
        """Return the function score(model, X) for validation data, or None for accuracy."""
        if self.scoring is None:
            return None

        def score(model, X):
            ranked = self.scoring in ("roc_auc", "neg_log_loss")
            if ranked or self.scoring == "balanced_accuracy":  # scored like operating points
                made = self._labelled(model, "predict_proba" if ranked else "predict", X)
                stage = Stage({}, **{"probabilities" if ranked else "output": made})
                found = stage_scorer(self, self.scoring, stage, valid.targets)(np.arange(len(X)))
            else:
                labelled = Substitute(self, partial(self._labelled, model))
                found = check_scoring(labelled, self.scoring)(labelled, X, valid.targets)
            # Checked here, as the choice of variables cannot use it either.
            return float(refuse_unscored({"score": found}, len(X))["score"])

        return score

    def _labelled(self, model, method, X):
        """Return the labels, or a column for each, that a model of class indices predicts."""
        made = getattr(model, method)(X)
        if method == "predict":
            return self.classes_[made]
        if made.shape[1] == self.classes_.size:
            return made
        return in_all_classes(made, model.classes_, self.classes_.size)

    def _seeds(self, random):
        # One integer for models and held-out rows, so that exhaustive search agrees with msB.
        seed = int(random.randint(INT32_MAX))
        return seed, np.random.RandomState(seed)

    def _fit(self, train, valid, seeds):
        check_number(self.budget, "budget", low=0, none=True)
        self._fit_schedule(train, valid, seeds)

    @property
    def n_stages_(self):
        """Number of models in the schedule."""
        return len(self.schedule_)

    def _default_stage(self):
        return self.n_stages_ - 1 if self.budget is None else self.schedule_.index(self.budget)

    def fixed_costs(self):
        return self.schedule_.costs

    def _stages(self, X, which, want):
        for entry in which:
            variables = self.schedule_.variables[entry]
            facts = {"budget": float(self.schedule_.costs[entry]), "variables": variables}
            stage = Stage({}, facts=facts)
            if want & {"output", "probabilities"}:
                model, columns = self._entry(X, entry)
                if "output" in want:
                    stage.output = self._labelled(model, "predict", columns)
                if "probabilities" in want and self._can_predict_proba():
                    stage.probabilities = self._labelled(model, "predict_proba", columns)
            stage.acquired = np.zeros((len(X), self.n_features_in_), dtype=bool)
            stage.acquired[:, list(variables)] = True
            yield stage
