"""Small estimators whose stages, costs and answers are known in advance."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from budgetlearn.protocol import BudgetedEstimator, Outcome, Request, Stage


class SignOfFirst(ClassifierMixin, BudgetedEstimator):
    """Stage 0 looks at nothing, stage 1 at the first feature, stage 2 at the first two."""

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    n_stages_ = 3

    def _fit(self, train, valid, seeds):
        self.train_ = train

    def fixed_costs(self):
        return [self.feature_costs_.subset(range(k)) for k in range(3)]

    def _stages(self, X, which, want):
        for k in which:
            right = 0.5 + 0.4 * np.sign(X[:, :k].sum(axis=1))
            shares = np.column_stack([1 - right, right])
            acquired = np.tile(np.arange(X.shape[1]) < k, (len(X), 1))
            yield Stage({"features": k}, self.classes_[shares.argmax(axis=1)], shares, acquired)


class NeverFree(SignOfFirst):
    """Without the stage that looks at nothing."""

    n_stages_ = 2

    def fixed_costs(self):
        return super().fixed_costs()[1:]

    def _stages(self, X, which, want):
        return super()._stages(X, [k + 1 for k in which], want)


class OneByOne(ClassifierMixin, BudgetedEstimator):
    """Stage k goes from feature to feature, k + 1 at most, until one lies beyond 1 in size.

    The sign of the last one is the class: costs differ between examples.
    """

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    def _fit(self, train, valid, seeds):
        self.train_ = train

    @property
    def n_stages_(self):
        return self.n_features_in_

    def _acquired(self, X, k):
        sure = np.abs(np.nan_to_num(X)) > 1
        before = np.cumsum(sure, axis=1) - sure == 0
        return before & (np.arange(X.shape[1]) <= k)

    def _answer(self, X, acquired):
        last = X.shape[1] - 1 - acquired[:, ::-1].argmax(axis=1)
        right = np.where(X[np.arange(len(X)), last] > 0, 0.9, 0.1)
        shares = np.column_stack([1 - right, right])
        return self.classes_[shares.argmax(axis=1)], shares

    def _stages(self, X, which, want):
        for k in which:
            acquired = self._acquired(X, k)
            yield Stage({"most": k + 1}, *self._answer(np.nan_to_num(X), acquired), acquired)

    def _acquisitions(self, n_samples, stage, ledger):
        X = np.full((n_samples, self.n_features_in_), np.nan)
        known = np.zeros(X.shape, dtype=bool)

        def outcome():
            made = Outcome.blank(self, n_samples)
            made.answered = known.any(axis=1)
            rows = np.flatnonzero(made.answered)
            made.output[rows], made.probabilities[rows] = self._answer(X[rows], known[rows])
            return made

        going = np.arange(n_samples)
        for feature in range(stage + 1):
            if going.size:
                answer = yield Request(going, feature, outcome)
                had = ~answer.refused
                X[going[had], feature] = answer.values[had]
                known[going[had], feature] = True
                going = going[had & (np.abs(answer.values) <= 1)]
        return outcome()


class WholeTable(SignOfFirst):
    """A method whose costs differ between examples, and that cannot acquire while predicting."""

    fixed_costs = BudgetedEstimator.fixed_costs

    def _can_predict_proba(self):
        return False

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            stage.probabilities = None
            stage.acquired[::2] = False
            yield stage


class SumOfFirst(RegressorMixin, BudgetedEstimator):
    """Stage k adds up the first k features; with `scoring` it is scored by that."""

    def __init__(self, feature_costs=None, scoring=None):
        self.feature_costs = feature_costs
        self.scoring = scoring

    n_stages_ = 3

    def _fit(self, train, valid, seeds):
        self.train_ = train

    def fixed_costs(self):
        return [self.feature_costs_.subset(range(k)) for k in range(3)]

    def _stages(self, X, which, want):
        for k in which:
            acquired = np.tile(np.arange(X.shape[1]) < k, (len(X), 1))
            yield Stage({"features": k}, X[:, :k].sum(axis=1), acquired=acquired)
