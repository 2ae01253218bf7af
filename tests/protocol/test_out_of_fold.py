"""Operating points of a plain fit: measured on rows that refits left out, when they are needed."""

import pickle
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import cross_validate

from budgetlearn import BudgetedEstimator, BudgetRFClassifier, Stage
from budgetlearn.exceptions import BudgetError, BudgetlearnWarning
from tests.auto.conftest import limit_methods
from tests.looping import for_each
from tests.protocol.conftest import COSTS
from tests.protocol.estimators import NeverFree, OneByOne, SignOfFirst, SumOfFirst

PAGE = Path(__file__).parents[2] / "docs" / "write_api.py"
EXAMPLES = [each for some in runpy.run_path(str(PAGE))["examples"]().values() for each in some]


@pytest.fixture(autouse=True)
def few_methods(monkeypatch):
    """Let `auto` compare its fast methods only."""
    limit_methods(monkeypatch)


class Memory(ClassifierMixin, BudgetedEstimator):
    """Knows the rows it was fitted on by heart; says "ill" of all others; counts its fits."""

    fits = 0

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    n_stages_ = 2

    def _fit(self, train, valid, seeds):
        type(self).fits += 1
        self._known = {
            tuple(row): target for row, target in zip(train.X, train.targets, strict=True)
        }

    def _stages(self, X, which, want):
        for k in which:
            output = np.array([self._known.get(tuple(row), "ill") for row in X], dtype=object)
            acquired = np.tile(np.arange(X.shape[1]) <= k, (len(X), 1))
            acquired[:, 3] = output == "well"  # looked at where the class is known
            yield Stage({"k": k}, output, acquired=acquired)


@pytest.mark.filterwarnings("ignore::budgetlearn.exceptions.BudgetlearnWarning")
@for_each("estimator", EXAMPLES)
def test_every_class_keeps_a_budget_after_a_plain_fit(estimator):
    model = estimator.set_params(feature_costs=[1, 2, 4, 8, 16])
    X, y = (load_breast_cancer if is_classifier(model) else load_diabetes)(return_X_y=True)
    X, y = X[:120, :5], y[:120]
    model.fit(X, y)
    points, budget = model.operating_points_, 7.5
    assert len(points) == model.n_stages_
    if points["cost"].min() > budget:
        with pytest.raises(BudgetError, match="cheapest one costs"):
            model.predict(X, budget=budget)
        budget = points["cost"].min()
    chosen = model.choose(budget)
    assert points["cost"][chosen] <= budget * (1 + 1e-9)
    assert points["score"][chosen] == points["score"][points["cost"] <= budget].max()
    assert len(model.predict(X, budget=budget)) == len(y)


def test_scores_are_those_of_rows_that_the_model_has_not_seen(table):
    X, y = table
    model = Memory(COSTS).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.operating_points_["score"].tolist() == [np.mean(y == "ill")] * 2
    # On rows it had not seen it never looks at the fourth feature.
    assert model.operating_points_["cost"].tolist() == [1.0, 3.0]
    # The error scales with the cost, and half of the correction counts as an error, too.
    share, unseen = np.mean(y == "well"), np.array([1.0, 3.0])
    own = unseen + 8 * share
    spread = 8 * np.sqrt(share * (1 - share) / len(y)) * unseen / own
    np.testing.assert_allclose(
        model.operating_points_["cost_se"], np.hypot(spread, (own - unseen) / 2)
    )


def test_nothing_is_measured_before_a_budget_is_named(table):
    Memory.fits = 0
    X, y = table
    model = Memory(COSTS).fit(X, y)
    model.predict(X), model.acquisition_cost(X), model.score(X, y)
    assert Memory.fits == 1
    model.predict(X, budget=2)
    assert Memory.fits == 6
    model.predict(X, budget=4)
    assert Memory.fits == 6


class Thorough(SignOfFirst):
    """Also looks at the last feature of some examples, if it learned from all 90 rows."""

    def _fit(self, train, valid, seeds):
        super()._fit(train, valid, seeds)
        self._all = len(train.y) == 90

    def fixed_costs(self):
        return None

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            stage.acquired = stage.acquired.copy()
            stage.acquired[:, 3] = self._all & (X[:, 3] > 0)
            yield stage


class Frugal(Thorough):
    """Acquires nothing, if it learned from all 90 rows."""

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            if self._all:
                stage.acquired = np.zeros_like(stage.acquired)
                stage.output = np.full(len(X), "ill", dtype=object)
            yield stage


def test_a_cost_is_that_of_the_model_itself(table):
    X, y = table
    points = Thorough(COSTS).fit(X, y).operating_points_
    looks = 8 * (X["drinks"] > 0).mean()
    np.testing.assert_allclose(points["cost"], [looks, 1 + looks, 3 + looks])
    assert points["variables"][2] == ("age", "mcv", "drinks")
    model = SignOfFirst(COSTS).fit(X, y)
    assert model.operating_points_["cost"].tolist() == [0.0, 1.0, 3.0]
    expected = [np.mean(stage.output == y) for stage in model.stages(X)]
    np.testing.assert_allclose(model.operating_points_["score"], expected)
    # What the refits acquired is not promised for nothing.
    points = Frugal(COSTS).fit(X, y).operating_points_
    assert points["cost"].tolist() == [0.0] * 3
    assert points["score"].tolist() == [np.mean(y == "ill")] * 3


def test_numbers_are_measured_too(numbers):
    X, y = numbers
    model = SumOfFirst(COSTS).fit(X, y)
    assert model.operating_points_["score"].round(2).tolist() == [0.0, 0.84, 0.84]
    assert model.choose(0) == 0
    # The mean has a score of 0 on its own rows, and in other draws one as far from 0 as this.
    assert model.operating_points_["score_se"][0] == pytest.approx(2 * np.sqrt(3) / len(y))


def test_a_class_of_one_row_is_never_left_out(table):
    X, y = table
    y = np.where(np.arange(len(y)) == 3, "rare", y)
    points = BudgetRFClassifier(n_estimators=3, random_state=0).fit(X, y).operating_points_
    assert (points["score"] > 0.7).all()


def test_where_no_row_can_be_left_out_validation_data_are_asked_for(table):
    model = BudgetRFClassifier(n_estimators=3, random_state=0).fit(table[0][:2], ["ill", "well"])
    with pytest.raises(BudgetError, match=r"no class has more than one row: .* fit\(X, y, X_val"):
        model.predict(table[0], budget=5)


def test_a_second_fit_measures_anew(table):
    X, y = table
    model = Memory(COSTS).fit(X, y)
    before = model.operating_points_["score"][0]
    model.fit(X, np.where(np.arange(len(y)) % 3 == 0, "ill", "well"))
    assert model.operating_points_["score"][0] != before


def test_rows_are_not_stored_and_a_stored_model_says_so(table):
    X, y = table
    stored = pickle.dumps(OneByOne(COSTS).fit(X, y))
    loaded = pickle.loads(stored)
    with pytest.raises(BudgetError, match="no longer has its training rows"):
        loaded.predict(X, budget=3)
    fitted = OneByOne(COSTS).fit(X, y)
    fitted.choose(3)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X, budget=3), fitted.predict(X, budget=3))


def test_a_stored_model_of_fixed_costs_takes_the_later_stage_and_warns(table):
    X, y = table
    loaded = pickle.loads(pickle.dumps(NeverFree(COSTS).fit(X, y)))
    with pytest.warns(BudgetlearnWarning, match="stored before its operating points"):
        assert [loaded.choose(budget) for budget in (1, 2.9, 3)] == [0, 0, 1]


def test_a_plain_fit_certifies(table):
    X, y = table
    model = SignOfFirst(COSTS).fit(X[:50], y[:50])
    assert model.certify(X[50:], y[50:], cost=3).budget <= 3


def test_cross_validation_scores_at_a_budget():
    X, y = load_breast_cancer(return_X_y=True)

    def at_budget(model, X, y):
        return model.score(X, y, budget=20)

    model = BudgetRFClassifier(n_estimators=5, random_state=0)
    scores = cross_validate(model, X[:200], y[:200], scoring=at_budget, cv=3)["test_score"]
    assert (scores > 0.8).all()
