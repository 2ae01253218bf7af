"""Sparse linear models: what is expensive is penalised more, and so enters later."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from budgetlearn.msb import LogitPathClassifier
from budgetlearn.msb.l1_path import fit_l1_path
from budgetlearn.peers import SparseLinearClassifier, baselines
from budgetlearn.peers.baselines import penalty_factors
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions

SMALL = {"n_lambda": 20, "random_state": 0}


@pytest.mark.parametrize(
    "estimator", [SparseLinearClassifier(cost_exponents=(0, 1), n_lambda=10)], ids=type
)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


def test_the_protocol_is_kept():
    check_budgeted_estimator(SparseLinearClassifier(**SMALL))


def test_power_0_is_logit_b():
    X, y = load_wine(return_X_y=True)
    prices = np.arange(1.0, 14.0)
    plain = LogitPathClassifier(feature_costs=prices, **SMALL).fit(X, y)
    ours = SparseLinearClassifier(feature_costs=prices, cost_exponents=[0], **SMALL).fit(X, y)
    np.testing.assert_array_equal(ours.path_.coef, plain.path_.coef)
    assert ours.schedule_.variables == plain.schedule_.variables


def test_of_equal_features_the_cheap_one_is_acquired():
    X, y = load_breast_cancer(return_X_y=True)
    best = X[:, [22]]
    twins = np.hstack([best, best + 1e-3 * np.random.default_rng(0).normal(size=best.shape)])
    model = SparseLinearClassifier(feature_costs=[100, 1], cost_exponents=[1], **SMALL).fit(
        twins, y
    )
    first = next(model.path_.variables(k) for k in range(20) if model.path_.variables(k))
    assert first == (1,)
    assert model.schedule_.variables[1] == (1,)


def test_paths_of_all_powers_compete_for_the_schedule():
    X, y = load_breast_cancer(return_X_y=True)
    prices = np.random.default_rng(3).integers(1, 101, 30).astype(float)
    each = [
        SparseLinearClassifier(feature_costs=prices, cost_exponents=[power], **SMALL).fit(X, y)
        for power in (0, 1)
    ]
    both = SparseLinearClassifier(feature_costs=prices, cost_exponents=[0, 1], **SMALL).fit(X, y)
    assert len(both.path_) == sum(len(model.path_) for model in each)
    for model in each:
        for cost, score, _ in map(model.schedule_.select, model.schedule_.costs):
            assert both.schedule_.select(cost)[1] >= score


def test_factors_are_powers_of_shares_of_the_mean_price():
    np.testing.assert_allclose(
        penalty_factors(np.array([0.0, 1, 3, 4]), 0.5) ** 2, [0.01, 0.5, 1.5, 2]
    )
    np.testing.assert_array_equal(penalty_factors(np.zeros(3), 1), np.ones(3))


@pytest.mark.parametrize("wrong", [[], [-1], ["a"]])
def test_powers_are_checked(wrong):
    X, y = load_wine(return_X_y=True)
    with pytest.raises((ParameterError, TypeError), match="cost_exponents"):
        SparseLinearClassifier(cost_exponents=wrong).fit(X, y)


def test_paths_are_complete_where_all_are(monkeypatch):
    X, y = load_wine(return_X_y=True)

    def cut_with_prices(*data, penalty_factors, **options):
        path = fit_l1_path(*data, penalty_factors=penalty_factors, **options)
        return replace(path, complete=len(set(penalty_factors)) == 1)

    monkeypatch.setattr(baselines, "fit_l1_path", cut_with_prices)
    settings = {"feature_costs": range(1, 14), **SMALL}
    assert SparseLinearClassifier(cost_exponents=[0], **settings).fit(X, y).path_.complete
    assert not SparseLinearClassifier(cost_exponents=[0, 1], **settings).fit(X, y).path_.complete
