"""Prices in BudgetRF's risk: powers of them, and discounts for what is acquired already."""

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from budgetlearn import FeatureCosts
from budgetlearn.budgetrf import BudgetRFClassifier, Growth
from budgetlearn.validation import ParameterError


def alike(n_samples=300, seed=0):
    """Return a table whose first six features say the same but for noise, and its classes."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_samples)
    X = y[:, None] + random.normal(scale=0.7, size=(n_samples, 6))
    return X, y


def test_a_discount_keeps_to_what_is_acquired():
    X, y = alike()
    plain, discounted = (
        BudgetRFClassifier(n_estimators=12, growth=Growth(reuse_discount=f), random_state=0).fit(
            X, y
        )
        for f in (1.0, 0.2)
    )
    assert discounted.acquisition_cost(X).mean() < 0.9 * plain.acquisition_cost(X).mean()


def test_a_charge_counts_until_it_is_paid():
    # The members of the group are cheap once its charge of 30 is paid; the others cost 20 each.
    X, y = alike()
    costs = FeatureCosts([1, 1, 1, 20, 20, 20], [0, 0, 0, -1, -1, -1], group_costs=[30])
    shared = {"n_estimators": 12, "cost_exponent": 1.0, "random_state": 0}
    plain, discounted = (
        BudgetRFClassifier(feature_costs=costs, growth=Growth(reuse_discount=f), **shared).fit(X, y)
        for f in (1.0, 0.05)
    )
    assert discounted.acquisition_cost(X).mean() < 0.8 * plain.acquisition_cost(X).mean()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_a_discounted_forest_does_not_depend_on_threads(n_jobs):
    X, y = alike()
    settings = {"n_estimators": 10, "growth": Growth(reuse_discount=0.3), "random_state": 0}
    one = BudgetRFClassifier(**settings, n_jobs=1).fit(X, y)
    other = BudgetRFClassifier(**settings, n_jobs=n_jobs).fit(X, y)
    for a, b in zip(one.trees_, other.trees_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.threshold, b.threshold)


def test_cheap_noise_is_acquired_by_the_papers_risk_only():
    # A median split on noise lowers the pairs of two even classes by three quarters.
    random = np.random.default_rng(0)
    y = random.permutation(np.arange(400) % 2)
    X = np.column_stack([random.normal(size=400), y])
    prices = [1.0, 1.6]
    paper, informed = (
        BudgetRFClassifier(
            feature_costs=prices, n_estimators=1, cost_exponent=g, random_state=0
        ).fit(X, y)
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
        feature_costs=[1.0, 1.6],
        n_estimators=4,
        alpha=[0, 4],
        cost_exponent=[1.0, 0.0],
        growth=Growth(max_depth=1),
        refit=True,
        random_state=0,
    ).fit(X, y)
    assert forest.cost_exponent_ == 0.0
    assert {int(tree.feature[0]) for tree in forest.trees_} == {1}


def tables():
    """Yield tables of many kinds: name, X, y."""
    for load in (load_breast_cancer, load_wine, load_digits, load_iris):
        yield load.__name__, *load(return_X_y=True)
    kinds = {
        "few of many": {"n_features": 20, "n_informative": 3, "n_redundant": 0},
        "redundant": {"n_features": 30, "n_informative": 6, "n_redundant": 20, "n_classes": 3},
        "rare": {"n_features": 15, "n_informative": 3, "n_redundant": 0, "weights": [0.8]},
    }
    for name, kind in kinds.items():
        yield name, *make_classification(600, class_sep=1.5, random_state=0, **kind)
    random = np.random.default_rng(0)
    X = random.uniform(size=(500, 6))
    yield "interaction", X, ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    yield "circle", X, (np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) < 0.4).astype(int)
    yield "sum", X, np.digitize(X[:, :4].sum(axis=1), [1.5, 2.0, 2.5])


TABLES = {name: (X, y) for name, X, y in tables()}


def at_random_prices(X, y, seed, **parameters):
    """Return the accuracy of BudgetRF, of a random forest and of the largest class."""
    parts = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    prices = np.random.default_rng(seed).integers(1, 101, X.shape[1]).astype(float)
    few = {"n_estimators": 40, "random_state": seed}
    parameters = few | {"growth": Growth(max_bins=255)} | parameters
    ours = BudgetRFClassifier(feature_costs=prices, **parameters).fit(parts[0], parts[2])
    forest = RandomForestClassifier(**few).fit(parts[0], parts[2])
    largest = np.bincount(parts[2]).argmax()
    return ours.score(*parts[1::2]), forest.score(*parts[1::2]), np.mean(parts[3] == largest)


@pytest.mark.parametrize("name", TABLES)
def test_by_default_prices_do_not_keep_a_forest_from_learning(name):
    ours, forest, constant = np.array([at_random_prices(*TABLES[name], k) for k in range(3)]).T
    error = np.std(forest - ours, ddof=1) / np.sqrt(3)
    assert ours.mean() > forest.mean() - error - 0.05
    assert ours.mean() - constant.mean() > 0.8 * (forest.mean() - constant.mean())


def test_the_papers_risk_stays_near_the_constant_at_such_prices():
    ours, forest, constant = at_random_prices(*TABLES["load_digits"], 0, cost_exponent=1.0)
    assert ours - constant < 0.5 * (forest - constant)


def test_of_twins_the_cheap_one_is_taken_by_default():
    X, y = load_breast_cancer(return_X_y=True)
    prices = np.repeat([50.0, 1.0], 30)
    forest = BudgetRFClassifier(feature_costs=prices, n_estimators=10, random_state=0).fit(
        np.hstack([X, X]), y
    )
    assert not forest.acquired_features(np.hstack([X, X]))[:, :30].any()


def test_free_noise_does_not_drown_what_is_paid_for():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = np.hstack([X, np.random.default_rng(0).normal(size=X.shape)])
    for paid, discount in (
        (np.full(30, 5.0), 1.0),
        (np.arange(1.0, 31.0), 1.0),
        (np.ones(30), 0.5),
    ):
        shared = {"n_estimators": 20, "growth": Growth(reuse_discount=discount), "random_state": 0}
        forest = BudgetRFClassifier(feature_costs=np.append(paid, np.zeros(30)), **shared)
        assert forest.fit(noisy[::2], y[::2]).score(noisy[1::2], y[1::2]) > 0.87


def test_free_noise_does_not_drown_the_papers_risk_within_a_budget():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = np.column_stack([rng.integers(2, size=2000), y])
    shared = {"feature_costs": [0.0, 1], "budget": 5, "n_estimators": 3, "random_state": 0}
    shared["growth"] = Growth(impurity="gini", split="expected")
    forest = BudgetRFClassifier(**shared).fit(X, y)
    # Noise gains less than a hundredth of what the paid feature does, at any power of the prices.
    assert forest.cost_exponent_ == 1
    assert {int(tree.feature[0]) for tree in forest.trees_} == {1}
    # Where the exponent is named, what is free stays free.
    named = BudgetRFClassifier(**shared, cost_exponent=1.0).fit(X, y)
    assert {int(tree.feature[0]) for tree in named.trees_} == {0}


def test_the_default_exponents_are_scaled_to_the_prices():
    X, y = alike()
    expensive, alone = [1.0, 2, 4, 8, 64, 1024], {"n_estimators": 2, "random_state": 0}
    free = BudgetRFClassifier(feature_costs=expensive, **alone).fit(X, y)
    assert 1024**free.cost_exponent_ == pytest.approx(1.001)
    assert BudgetRFClassifier(**alone).fit(X, y).cost_exponent_ == 1
    costs = {}
    for budget in (3, 600):
        forest = BudgetRFClassifier(feature_costs=expensive, budget=budget, **alone).fit(X, y)
        costs[budget] = forest.validation_costs_[-1]
        assert costs[budget] <= budget
    assert costs[600] > 3
    powers = [rule[0]["cost_exponent"] for rule in forest._rules(6)]
    np.testing.assert_allclose(1024.0 ** np.array(powers), [1024, 3, 1.8, 4 / 3, 1.15, 1.001])


def test_the_papers_rule_is_the_default_at_equal_prices():
    X, y = alike()
    shared = {"n_estimators": 5, "random_state": 0}
    plain, paper = (
        BudgetRFClassifier(feature_costs=np.full(6, 7.0), cost_exponent=exponent, **shared).fit(
            X, y
        )
        for exponent in (None, 1.0)
    )
    for a, b in zip(plain.trees_, paper.trees_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.threshold, b.threshold)


def test_free_features_stay_free_whatever_the_exponent():
    X, y = alike()
    forest = BudgetRFClassifier(
        feature_costs=[0, 5, 5, 5, 5, 5],
        cost_exponent=0.0,
        growth=Growth(max_depth=1),
        n_estimators=4,
        random_state=0,
    ).fit(X, y)
    assert {int(tree.feature[0]) for tree in forest.trees_} == {0}


@pytest.mark.parametrize(
    "wrong", [{"cost_exponent": -0.5}, {"cost_exponent": []}, {"growth__reuse_discount": 1.5}]
)
def test_what_is_not_valid_is_told(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong)).split("__")[-1]):
        BudgetRFClassifier().set_params(**wrong).fit(*alike())
