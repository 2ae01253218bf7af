"""Learn then Test: p-values, refusals, and the promised confidence over many draws."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_wine

from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.exceptions import BudgetlearnWarning, GuaranteeError
from budgetlearn.peers import FilterForestClassifier
from budgetlearn.protocol import BudgetedEstimator, Stage
from budgetlearn.protocol.operating_points import betting_p, certified, hoeffding_bentkus_p
from budgetlearn.validation import ParameterError

N_STAGES, PRICE = 6, 10.0


class Coins(ClassifierMixin, BudgetedEstimator):
    """Stage k errs where column 0 lies below its error rate, and acquires column 1 at random.

    Column 0 is uniform, so the error rate of stage k is (N_STAGES - k) / 20; column 1 tells by its
    size whether the expensive feature 1 is acquired: more often in later stages.
    """

    def __init__(self, feature_costs=None):
        self.feature_costs = feature_costs

    n_stages_ = N_STAGES

    def _fit(self, train, valid, seeds):
        self.fitted_ = True

    def _stages(self, X, which, want):
        for k in which:
            wrong = X[:, 0] < error_rate(k)
            acquired = np.column_stack([np.ones(len(X), bool), X[:, 2] < cost_share(k)])
            acquired = np.column_stack([acquired, np.zeros(len(X), bool)])
            yield Stage({"stage": k}, np.where(wrong, 1, 0), acquired=acquired)

    def _can_predict_proba(self):
        return False


def error_rate(k):
    return (N_STAGES - k) / 20


def cost_share(k):
    return k / N_STAGES


def draw(rng, n):
    """Return examples whose right class is 0 always."""
    return rng.random((n, 3)), np.zeros(n, dtype=int)


def fitted(rng, n_valid=300):
    X, y = draw(rng, 40)
    y[::2] = 1
    return Coins(feature_costs=[0.0, PRICE, 0.0]).fit(X, y, *draw(rng, n_valid))


@pytest.mark.parametrize("limit", [0.05, 0.3, 0.7])
def test_hoeffding_bentkus_is_a_p_value(limit):
    """At the limit itself it lies below δ in at most a share δ of the draws."""
    rng, n = np.random.default_rng(0), 80
    means, drawn = np.unique(rng.binomial(n, limit, size=4000) / n, return_inverse=True)
    p_values = np.array([hoeffding_bentkus_p(mean, n, limit) for mean in means])[drawn]
    for delta in (0.01, 0.05, 0.1, 0.3):
        assert (p_values <= delta).mean() <= delta + 3 * np.sqrt(delta / 4000)
    assert hoeffding_bentkus_p(0.0, n, limit) < 0.05
    assert hoeffding_bentkus_p(limit, n, limit) == 1.0
    # Also in a sorted table, from few losses to many.
    draws = np.sort(rng.random((1000, n)) < limit, axis=1).astype(float)
    tables, counts = np.unique(draws, axis=0, return_counts=True)
    for level in (0.01, 0.05, 0.1, 0.3):
        passed = [betting_p(losses, limit, level) <= level for losses in tables]
        assert np.average(passed, weights=counts) <= level + 3 * np.sqrt(level / 1000)
    # Bets √(0.2107 / 2 / 0.25) and √(0.2107 / 2 / 0.13625), as 0.2 - 0.35 is the first deviation.
    won = (1 + 0.3 * 0.64919) * (1 + 0.3 * 0.87937)
    assert betting_p(np.array([0.2, 0.2]), 0.5, 0.9) == pytest.approx(1 / won, rel=1e-4)
    # Losses that vary little are sure of a limit that is near.
    near = limit * rng.uniform(0.85, 0.95, 400)
    assert betting_p(near, limit, 0.05) < hoeffding_bentkus_p(near.mean(), 400, limit) / 1.3


def test_the_bound_of_bentkus_counts_a_part_of_a_loss_as_a_whole_one():
    """Rounded down it would be 2.4 times too small; Hoeffding's bound is larger here."""
    assert hoeffding_bentkus_p(0.0495, 100, 0.1) == pytest.approx(np.e * binom.cdf(5, 100, 0.1))


def test_what_comes_after_the_first_failure_counts_no_more():
    """In the order of validation margins 2, 1, 0 the second fails: that 0 would pass is chance.

    With a limit of .35, 58 errors of 200 have p = .042, and 59 p = .058.
    """
    model, y = fitted(np.random.default_rng(5)), np.zeros(200)
    model.operating_points_ = pd.DataFrame({"cost": [1, 2, 3], "score": [0.7, 0.8, 0.9]})
    for n_wrong, cost, order in (
        ((40, 59, 40), None, [2]),
        ((40, 58, 40), None, [2, 1, 0]),
        # Margins as shares of the full cost of 10 are .3, .2 and .1, those of the errors less.
        ((40, 40, 40), 4.0, [1, 2, 0]),
    ):
        wrong = [np.arange(200) < n for n in n_wrong]
        stages = [Stage({}, np.where(w, 1, 0), acquired=np.zeros((200, 3), bool)) for w in wrong]
        certificate = certified(model, stages, y, cost, 0.35, 0.95)
        assert certificate.tested["stage"].tolist() == order
        assert certificate.stage == (0 if order[-1] == 0 and cost is None else 2)
        expected = binom.cdf([n_wrong[k] for k in order], 200, 0.35)
        np.testing.assert_allclose(certificate.tested["p_value"], expected)


@pytest.mark.parametrize(
    ("cost", "error"), [(4.0, None), (None, 0.12), (6.0, 0.17)], ids=["cost", "error", "both"]
)
def test_over_many_draws_it_fails_at_most_as_often_as_promised(cost, error):
    rng, confidence, n_draws = np.random.default_rng(1), 0.9, 250
    model, failures, chosen = fitted(rng), 0, 0
    for _ in range(n_draws):
        try:
            certificate = model.certify(
                *draw(rng, 150), cost=cost, error=error, confidence=confidence
            )
        except GuaranteeError:
            continue
        chosen += 1
        true_cost = PRICE * cost_share(certificate.stage)
        failures += (cost is not None and true_cost > cost) or (
            error is not None and error_rate(certificate.stage) > error
        )
    allowed = (1 - confidence) * n_draws
    assert failures <= allowed + 3 * np.sqrt(allowed)
    assert chosen > n_draws / 20  # it does not keep its promise by refusing everything


def test_where_only_buying_nothing_is_sure_a_warning_says_so():
    rng = np.random.default_rng(3)
    model = fitted(rng)
    expected = "with 30 examples, only points that acquire nothing are sure to cost at most 2.5"
    with pytest.warns(BudgetlearnWarning, match=expected):
        assert model.certify(*draw(rng, 30), cost=2.5).stage == 0


def test_what_cannot_be_promised_is_refused():
    rng = np.random.default_rng(2)
    model = fitted(rng)
    with pytest.raises(GuaranteeError, match=r"cost <= 0.5 and error <= 0.01 with confidence"):
        model.certify(*draw(rng, 200), cost=0.5, error=0.01)
    model.operating_points_ = model.operating_points_.iloc[1:]  # none is free
    calibration = draw(rng, 200)
    with pytest.raises(GuaranteeError, match=r"Raise the limit to") as refused:
        model.certify(*calibration, cost=2.0)
    limit = float(re.search(r"limit to ([\d.]+),", str(refused.value))[1])
    assert model.certify(*calibration, cost=limit).stage == 1
    with pytest.raises(GuaranteeError):
        model.certify(*calibration, cost=0.98 * limit)


def test_the_certified_budget_chooses_the_certified_stage():
    rng = np.random.default_rng(3)
    model, X = fitted(rng), draw(rng, 50)[0]
    certificate = model.certify(*draw(rng, 400), cost=6.0)
    assert model.choose(certificate.budget) == certificate.stage
    assert certificate.budget == model.operating_points_["cost"][certificate.stage]
    assert model.acquisition_cost(X, budget=certificate.budget).mean() < 8.0
    assert certificate.stage == certificate.tested["stage"].max() > 0  # later stages err less


def test_limits_are_checked():
    rng = np.random.default_rng(4)
    model = fitted(rng)
    with pytest.raises(ParameterError, match="needs a limit"):
        model.certify(*draw(rng, 50))
    with pytest.raises(ParameterError, match="error must be"):
        model.certify(*draw(rng, 50), error=2)


@pytest.mark.parametrize(
    ("prices", "limit", "n_acquired", "fixed"),
    [
        ([5.0, PRICE, 0.0], 5.0, 1, [5.0]),
        ([5.0, PRICE, 0.0], 15.0, 2, None),
        ([0.1, 0.2, 5.0], 0.3, 2, [0.3]),  # as a sum of floats above 0.3
    ],
)
def test_a_cost_of_just_the_limit_keeps_it(prices, limit, n_acquired, fixed):
    model, y = Coins(feature_costs=prices), np.zeros(50)
    X = np.random.default_rng(6).random((40, 3))
    model.fit(X, np.arange(40) % 2, X, np.arange(40) % 2)
    model.operating_points_ = pd.DataFrame({"cost": [limit], "score": [0.9]})
    model.fixed_costs = lambda: fixed
    acquired = np.tile(np.arange(3) < n_acquired, (50, 1))
    certificate = certified(model, [Stage({}, y, acquired=acquired)], y, limit, None, 0.9)
    assert certificate.tested["p_value"].tolist() == [0]


def test_what_the_features_of_a_forest_cost_is_never_exceeded():
    X, y = load_wine(return_X_y=True)
    model = FilterForestClassifier(n_selected=[1, 2, 13], n_estimators=3)
    model.set_params(feature_costs=range(1, 14), random_state=0)
    model.fit(X[::2], y[::2], X[1::2], y[1::2])
    costs = [model.feature_costs_.subset(model.order_[:size]) for size in (1, 2)]
    for stage, cost in enumerate(costs):
        found = model.certify(X[::5], y[::5], cost=cost)
        assert (found.stage, found.tested["p_value"].max()) == (stage, 0)
    with pytest.raises(GuaranteeError):
        model.certify(X[::5], y[::5], cost=0.9 * costs[0])


def test_what_the_stages_of_a_cascade_cost_is_never_exceeded():
    X, y = load_wine(return_X_y=True)
    model = ScheduleCascadeClassifier(orders=[[[0], [0, 9], range(13)]], estimators="linear")
    model.set_params(feature_costs=[1, *[5] * 12], random_state=0).fit(X[::2], y[::2])
    paid = [model.feature_costs_.total(stage.acquired).max() for stage in model.stages(X)]
    assert (paid <= model._most_costs()).all()
    found = model.certify(X[1:9:2], y[1:9:2], cost=6.0)  # by four rows
    assert model._most_costs()[found.stage] == 6.0 < model._most_costs()[found.stage + 1]
