"""A guaranteed budget: the mean cost of new examples exceeds it in few fits only."""

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

from budgetlearn import BudgetedEstimator, BudgetRFClassifier, Stage
from budgetlearn.budgetrf import Growth
from budgetlearn.exceptions import BudgetError, BudgetlearnWarning
from budgetlearn.protocol.documenting import Limits
from budgetlearn.validation import ParameterError


class Coins(ClassifierMixin, BudgetedEstimator):
    """Stage k looks at the first feature, and where it is below k / 10 at the second one, of 10."""

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    n_stages_ = 10

    def _fit(self, train, valid, seeds):
        pass

    def _stages(self, X, which, want):
        for k in which:
            acquired = np.column_stack([np.ones(len(X), dtype=bool), X[:, 0] < k / 10])
            # The more it acquires the more it is right.
            output = np.where(X[:, 1] < 0.5 + k / 30, X[:, 1] < 2, 0).astype(int)
            yield Stage({"k": k}, output, acquired=acquired)


def measured_on(random, n):
    """Return a model with the operating points of n examples."""
    X = random.random((n, 2))
    y = np.ones(n, dtype=int)
    y[0] = 0
    return Coins(feature_costs=[0, 10]).fit(X, y, X, y)


def chosen_cost(random, n, mode):
    """Return the true mean cost of the chosen stage, measured on n examples."""
    stage = measured_on(random, n).choose(budget=4.2, budget_mode=mode, fallback=True)
    return 0.0 if stage is None else float(stage)


@pytest.mark.filterwarnings("ignore:.*only points that acquire nothing")
def test_new_examples_seldom_cost_more_than_a_guaranteed_budget():
    random = np.random.default_rng(0)
    expected = np.array([chosen_cost(random, 60, "expected") for _ in range(150)])
    guaranteed = np.array([chosen_cost(random, 60, "guaranteed") for _ in range(150)])
    assert (expected > 4.2).mean() > 0.1
    assert (guaranteed > 4.2).mean() <= 0.05
    assert guaranteed.max() > 0


def test_a_warning_tells_that_only_nothing_is_sure():
    random = np.random.default_rng(0)
    with pytest.warns(
        BudgetlearnWarning, match="with 15 examples, only .* nothing are sure to cost at most 4.2 "
    ):
        assert chosen_cost(random, 15, "guaranteed") == 0
    # Where the budget buys nothing anyhow, or something surely, there is nothing to tell.
    model = measured_on(random, 4000)
    for budget in (0.5, 4.2):
        model.choose(budget=budget, budget_mode="guaranteed")


def test_more_examples_allow_more():
    random = np.random.default_rng(1)
    few, many = (chosen_cost(random, n, "guaranteed") for n in (40, 4000))
    assert few < many == 4
    # A mean cost of 2 of at most 10 keeps 4.2 with p = .0079 of 40 examples and .0044 of 45; with
    # ten points, p may be .005.
    for n, chosen in ((40, 1), (45, 2)):
        X = np.column_stack([(np.arange(n) + 0.5) / n, np.full(n, 0.4)])
        model = Coins(feature_costs=[0, 10]).fit(X, np.arange(n) % 2, X, np.arange(n) % 2)
        model.operating_points_ = model.operating_points_.assign(score=np.arange(10) / 10)
        assert model.operating_points_["cost"][2] == pytest.approx(2)
        assert model.choose(budget=4.2, budget_mode="guaranteed") == chosen


def test_costs_that_do_not_differ_need_no_doubt(first, table):
    for budget in (0, 1, 2.9, 3):
        assert first.choose(budget, budget_mode="guaranteed") == first.choose(budget)


def test_what_asks_for_nothing_costs_nothing_for_sure(whole, table):
    assert whole.choose(0.01, budget_mode="guaranteed") == 0
    X, y = table
    certificate = whole.certify(X[:20], y[:20], cost=0.01)
    assert (certificate.stage, certificate.budget) == (0, 0.0)


def test_the_cost_of_everything_is_never_exceeded(single):
    assert single.choose(15, budget_mode="guaranteed") == single.choose(15)


def test_the_message_says_what_may_help(single, table):
    cheapest = single.operating_points_["cost"].min()
    assert single.choose(cheapest) == 0
    with pytest.raises(BudgetError, match=r"is sure to cost at most 1 .* on 40 examples"):
        single.predict(table[0], budget=1, budget_mode="guaranteed")
    with pytest.raises(BudgetError, match="cheapest one costs 1"):
        single.predict(table[0], budget=0.5, budget_mode="guaranteed")


def test_all_methods_take_it(single, table):
    X, y = table
    X, y, given = X[:3], y[:3], {"budget": 12, "budget_mode": "guaranteed"}
    stage = list(single.stages(X))[single.choose(**given)]
    np.testing.assert_array_equal(single.predict(X, **given), stage.output)
    np.testing.assert_array_equal(single.predict_proba(X, **given), stage.probabilities)
    np.testing.assert_array_equal(single.acquired_features(X, **given), stage.acquired)
    np.testing.assert_array_equal(single.acquisition_cost(X, **given), stage.cost)
    np.testing.assert_array_equal(single.predict_with_cost(X, **given)[1], stage.cost)
    np.testing.assert_array_equal(single.decisions(X, **given).cost, stage.cost)
    assert single.score(X, y, **given) == np.mean(stage.output == y)
    assert len(single.explain(X[:1], **given)) == stage.acquired[0].sum()
    session = single.session(**given)
    while not session.done:
        name = session.wanted[0][0]
        session.give({name: X[name].iloc[0]})
    assert session.cost == stage.cost[0]
    with pytest.raises(ParameterError, match="budget_mode must be one of"):
        single.predict(X, budget=3, budget_mode="surely")


def test_only_a_truth_value_answers_yes_or_no():
    X, y = np.eye(9), np.arange(9) % 2
    for word in ("no", 1, 2, None):
        with pytest.raises(ParameterError, match="fallback must be True or False"):
            Limits(3, fallback=word)
        if word == 1:  # parameters may be numbers, as is usual with verbose=1
            continue
        with pytest.raises(ParameterError, match="refit must be True or False"):
            BudgetRFClassifier(refit=word).fit(X, y)
        with pytest.raises(ParameterError, match="bootstrap must be True or False"):
            BudgetRFClassifier(growth=Growth(bootstrap=word)).fit(X, y)
    BudgetRFClassifier(refit=0).fit(X, y)
    assert Limits(3, fallback=np.True_).fallback
