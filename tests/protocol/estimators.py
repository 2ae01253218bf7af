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


class Peeking(SignOfFirst):
    """Looks without paying."""

    def fixed_costs(self):
        return [0, 0, 0]

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            stage.acquired = np.zeros_like(stage.acquired)
            yield stage


class PeekingEarly(OneByOne):
    """Looks without paying, but not at the last stage."""

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            if stage.setting["most"] == 1:
                stage.output = (np.nan_to_num(X[:, 5]) > 0).astype(int)
            yield stage


class Undercharged(SignOfFirst):
    """Pays half."""

    def fixed_costs(self):
        return np.asarray(super().fixed_costs()) / 2


class Uncharged(SignOfFirst):
    """Forgets what features share."""

    def fixed_costs(self):
        return [self.feature_costs_.costs[:k].sum() for k in range(3)]


class Praised(SignOfFirst):
    """Promises more than its stages keep."""

    def _learn_from(self, train, valid):
        super()._learn_from(train, valid)
        self.operating_points_["score"] += 0.1


class Ranking(SignOfFirst):
    """Compares an example with the others of its table."""

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            if stage.setting["features"]:
                stage.output = self.classes_[(X[:, 0] > np.median(X[:, 0])).astype(int)]
            yield stage


class Hasty(OneByOne):
    """Acquires more from a source than from a table."""

    def _acquisitions(self, n_samples, stage, ledger):
        return (yield from super()._acquisitions(n_samples, max(stage, 2), ledger))


class Deaf(OneByOne):
    """Predicts under any budget as without one, and cannot acquire."""

    _acquisitions = BudgetedEstimator._acquisitions

    def predict(self, X, budget=None, max_cost=None, *, fallback=False):
        return super().predict(X, fallback=fallback)


# With words of the message that names what is wrong.
CHEATS = {
    Peeking: "stage 1 depends on cells not acquired",
    PeekingEarly: "stage 0 depends on cells not acquired",
    Undercharged: "fixed",
    Uncharged: "fixed",
    Praised: "operating points must be those",
    Ranking: "rows interact",
    Hasty: "Arrays are not equal",
    Deaf: "not by choose",
}
