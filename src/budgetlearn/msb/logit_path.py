"""logitB: the L1 logistic regression path, each of its models at the cost of its variables."""

import numpy as np

from ..protocol.documenting import documented, extending
from ..validation import check_number
from .l1_path import L1Step, fit_l1_path
from .schedule_classifier import ScheduleClassifier


@documented
class LogitPathClassifier(ScheduleClassifier):
    """Cost-sensitive selection along the L1 path of logistic regression (logitB).

    The models of the path, each priced by its variables with a non-zero coefficient, are
    compressed on validation data into a schedule; the budget selects one. Unlike msB's L1
    sequence, prediction uses the logistic model itself.

    Parameters
    ----------
    n_lambda : int, default=100
        Number of penalties on the path.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which the schedule compares models; None: accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the fit, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out part.

    Attributes
    ----------
    schedule_ : ModelSchedule
        Costs, validation scores and variables, cheap to expensive; the first entry may have no
        variables and cost nothing.
    path_ : L1Path
        Every model of the path.

    References
    ----------
    D. Yan, Z. Qin, S. Gu, H. Xu, M. Shao: Cost-sensitive Selection of Variables by Ensemble of
    Model Sequences. Section 2.3, equations (4)-(5), there cited as [24].
    """

    _groups = False  # the path ignores prices

    @extending(ScheduleClassifier)
    def __init__(self, *, n_lambda=100, **shared):
        super().__init__(**shared)
        self.n_lambda = n_lambda

    def _fit_schedule(self, train, valid, seed):
        check_number(self.n_lambda, "n_lambda", low=1, integer=True)
        self.path_ = self._path(train)
        steps = range(len(self.path_))
        score = self._validation_score(valid) or (
            lambda model, X: float(np.mean(model.predict(X) == valid.y))
        )
        variables = [self.path_.variables(step) for step in steps]
        # Equations (4)-(5): the budget is on the variables with a non-zero coefficient.
        costs = [self.feature_costs_.subset(subset) for subset in variables]
        scores = [score(L1Step(self.path_, step), valid.X) for step in steps]
        self.schedule_ = self._schedule_of(costs, scores, variables)
        # Equal (cost, score) pairs may stand at several steps: the first is the sparsest path's.
        where = {}
        for step in steps:
            where.setdefault((variables[step], scores[step]), step)
        chosen = zip(self.schedule_.variables, self.schedule_.scores, strict=True)
        self._steps = [where[subset, float(score)] for subset, score in chosen]

    def _path(self, train):
        """Return the models to choose from."""
        return fit_l1_path(train.X, train.y, self.n_lambda, weight=train.weight)

    def _entry(self, X, entry):
        return L1Step(self.path_, self._steps[entry]), X
