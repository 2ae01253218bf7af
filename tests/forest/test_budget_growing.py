"""Prices in BudgetRF's risk: powers of them, and discounts for what is bought already."""

import numpy as np
import pytest

from budgetlearn import FeatureCosts
from budgetlearn._validation import ParameterError
from budgetlearn.forest import BudgetRFClassifier


def alike(n_samples=300, seed=0):
    """Return a table whose first six features say the same but for noise, and its classes."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_samples)
    X = y[:, None] + random.normal(scale=0.7, size=(n_samples, 6))
    return X, y


def test_a_discount_keeps_to_what_is_bought():
    X, y = alike()
    plain, discounted = (
        BudgetRFClassifier(n_estimators=12, reuse_discount=f, random_state=0).fit(X, y)
        for f in (1.0, 0.2)
    )
    assert discounted.acquisition_cost(X).mean() < 0.9 * plain.acquisition_cost(X).mean()


def test_a_charge_counts_until_it_is_paid():
    # The members of the group are cheap once its charge of 30 is paid; the others cost 20 each.
    X, y = alike()
    costs = FeatureCosts([1, 1, 1, 20, 20, 20], [0, 0, 0, -1, -1, -1], group_costs=[30])
    plain, discounted = (
        BudgetRFClassifier(costs, n_estimators=12, reuse_discount=f, random_state=0).fit(X, y)
        for f in (1.0, 0.05)
    )
    assert discounted.acquisition_cost(X).mean() < 0.8 * plain.acquisition_cost(X).mean()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_a_discounted_forest_does_not_depend_on_threads(n_jobs):
    X, y = alike()
    settings = {"n_estimators": 10, "reuse_discount": 0.3, "random_state": 0}
    one = BudgetRFClassifier(**settings, n_jobs=1).fit(X, y)
    other = BudgetRFClassifier(**settings, n_jobs=n_jobs).fit(X, y)
    for a, b in zip(one.trees_, other.trees_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.threshold, b.threshold)


def test_cheap_noise_is_bought_by_the_papers_risk_only():
    # A median split on noise lowers the pairs of two even classes by three quarters.
    random = np.random.default_rng(0)
    y = random.permutation(np.arange(400) % 2)
    X = np.column_stack([random.normal(size=400), y])
    prices = [1.0, 1.6]
    paper, informed = (
        BudgetRFClassifier(prices, n_estimators=1, cost_exponent=g, random_state=0).fit(X, y)
        for g in (1.0, 0.2)
    )
    assert paper.trees_[0].feature[0] == 0
    assert informed.trees_[0].feature.tolist() == [1, -1, -1]
    assert informed.cost_exponent_ == 0.2


def test_the_exponent_is_chosen_with_alpha_and_stays_in_the_refit():
    random = np.random.default_rng(0)
    y = random.permutation(np.arange(400) % 2)
    X = np.column_stack([random.normal(size=400), y + 0.3 * random.normal(size=400)])
    forest = BudgetRFClassifier(
        [1.0, 1.6],
        n_estimators=4,
        alpha=[0, 4],
        cost_exponent=[1.0, 0.0],
        max_depth=1,
        refit=True,
        random_state=0,
    ).fit(X, y)
    assert forest.cost_exponent_ == 0.0
    assert {int(tree.feature[0]) for tree in forest.trees_} == {1}


def test_free_features_stay_free_whatever_the_exponent():
    X, y = alike()
    forest = BudgetRFClassifier(
        [0, 5, 5, 5, 5, 5], cost_exponent=0.0, max_depth=1, n_estimators=4, random_state=0
    ).fit(X, y)
    assert {int(tree.feature[0]) for tree in forest.trees_} == {0}


@pytest.mark.parametrize(
    "wrong", [{"cost_exponent": -0.5}, {"cost_exponent": []}, {"reuse_discount": 1.5}]
)
def test_what_is_not_valid_is_told(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        BudgetRFClassifier(**wrong).fit(*alike())
