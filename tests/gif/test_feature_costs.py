"""Globally induced forests that heed what features cost: `cost_weight`."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from budgetlearn import FeatureCosts, GIFClassifier, GIFRegressor
from budgetlearn.gif.estimators import Exponential, Huber, Quantile, Squared
from budgetlearn.gif.nodes import Charges
from tests.gif.reference import Grown, SlowSquared, SlowTrimmed
from tests.gif.test_kernels import classes, regression

COSTS = FeatureCosts([3.0, 1, 2, 5], groups=[0, 0, -1, -1], group_costs=[4])
OPTIONS = {"n_estimators": 100, "learning_rate": 0.1, "random_state": 0}
RESIDUALS = {"split_on": "residuals", "loss": "squared"}


def grown(kind, weight, window, budget=120):
    """Return a forest grown under charges, its slow loss, and the loss of the constant."""
    options = {"n_trees": 12, "budget": budget, "rate": 0.3, "window": window}
    options["charges"] = Charges(COSTS, weight)
    if kind == "squared":
        X, targets = regression(0)
        forest = Grown(X, targets, Squared(), **options)
        slow = SlowSquared(targets, forest.intercept)
    else:
        X, targets, codes = classes(0)
        forest = Grown(X, targets, Exponential(3.0), codes=codes, **options)
        slow = SlowTrimmed(targets, forest.intercept, 3.0)
    return forest, slow, slow.losses(slow.F, slice(None)).sum()


def net_gaps(forest, slow, candidates, acquired, unit):
    """Return what each candidate lowers the loss by, less its charge."""
    features = forest.records["feature"][forest.records["parent"][candidates]]
    gaps = np.array([slow.gap(forest.rows(candidate)) for candidate in candidates])
    return gaps - unit * COSTS.marginal(acquired)[features] / COSTS.full


@pytest.mark.parametrize("kind", ["squared", "trimmed"])
@pytest.mark.parametrize("window", [1, 5])
@pytest.mark.parametrize("weight", [0.05, 0.3])
def test_an_accepted_node_is_worth_its_charge(kind, window, weight):
    forest, slow, total = grown(kind, weight, window)
    acquired = np.zeros(4, dtype=bool)
    for node, _ in forest.replay(slow):
        assert net_gaps(forest, slow, [node], acquired, weight * total)[0] > -1e-9
        acquired[forest.records["feature"][forest.records["parent"][node]]] = True
    assert 0 < acquired.sum() < 4 or weight < 0.3
    assert forest.nodes_after[len(forest.weights) - 1] == 120  # no lack of acquired features


@pytest.mark.parametrize("kind", ["squared", "trimmed"])
def test_all_candidates_accepts_the_largest_gap_less_its_charge(kind):
    # As long as some candidate is worth its charge, no split is drawn anew, and the last forest's
    # splits are those that there were at each step.
    forest, slow, total = grown(kind, 0.1, None, budget=40)
    acquired = np.zeros(4, dtype=bool)
    for node, candidates in forest.replay(slow):
        worth = net_gaps(forest, slow, candidates, acquired, 0.1 * total)
        best = worth[candidates.index(node)]
        assert best > 0
        assert best >= worth.max() - 1e-9
        acquired[forest.records["feature"][forest.records["parent"][node]]] = True


def test_a_charge_falls_as_features_are_acquired_and_groups_are_paid():
    charges = Charges(COSTS, 0.5)
    np.testing.assert_allclose(charges.share, 0.5 * np.array([7, 5, 2, 5]) / 15)
    assert not np.any(Charges(FeatureCosts([0.0, 0.0]), 0.5).share)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [Squared(), Huber(), Quantile(0.3)])
def test_the_loss_of_the_constant_is_in_the_unit_of_gaps(loss, weighted):
    # Targets of two values: all are within Huber's bend, where the farthest tenth begins.
    y = np.repeat([0.0, 3.0], [60, 40])[:, None]
    weight = np.repeat([1.0, 2.0], [60, 40]) * 100 / 140 if weighted else None
    constant, kernel = loss.start(y, weight)
    rest = (y - constant)[:, 0]
    pinball = np.maximum(0.3 * rest, -0.7 * rest)
    each = pinball if isinstance(loss, Quantile) else np.square(rest)
    np.testing.assert_allclose(kernel.total, np.average(each, weights=weight) * len(y))


TABLES = {
    "breast cancer": (GIFClassifier, load_breast_cancer),
    "digits": (GIFClassifier, load_digits),
    "diabetes": (GIFRegressor, load_diabetes),
}


def real(name):
    kind, load = TABLES[name]
    X, y = load(return_X_y=True)
    prices = np.exp(np.random.default_rng(1).uniform(0, np.log(100), X.shape[1]))
    return kind, X[::2], y[::2], X[1::2], prices


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("options", [{}, RESIDUALS, {"candidate_window": 10}])
def test_the_mean_acquisition_cost_falls_with_the_weight(name, options):
    kind, X, y, unseen, prices = real(name)
    costs = []
    for weight in (0.0, 0.1, 1.0, 10.0, 1e4):
        model = kind(2000, feature_costs=prices, cost_weight=weight, **OPTIONS | options)
        costs.append(model.fit(X, y).acquisition_cost(unseen).mean())
    assert np.all(np.diff(costs) <= 0)
    assert costs[2] < 0.5 * costs[0]
    assert costs[-1] == 0  # the constant: nothing is worth a charge of 10,000 times its loss


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("options", [{}, RESIDUALS, {"candidate_window": None}])
def test_a_large_weight_leaves_free_features_only(name, options):
    kind, X, y, unseen, prices = real(name)
    X, y = X[:100], y[:100]
    prices[1::3] = 0.0
    model = kind(300, feature_costs=prices, cost_weight=1e6, **OPTIONS | options).fit(X, y)
    acquired = model.acquired_features(unseen).any(axis=0)
    assert model.n_nodes_ >= 299
    assert acquired.any()
    assert not acquired[prices > 0].any()


@pytest.mark.parametrize("options", [{}, RESIDUALS, {"candidate_window": None}])
@pytest.mark.parametrize("kind", [GIFClassifier, GIFRegressor])
def test_without_prices_to_heed_forests_are_the_same_bit_for_bit(kind, options):
    X, y = load_breast_cancer(return_X_y=True)
    options = OPTIONS | options
    plain = kind(400, **options).fit(X, y)
    for more in ({"cost_weight": 0.0}, {"cost_weight": 0.5, "feature_costs": np.zeros(30)}):
        if more["cost_weight"] and options.get("candidate_window", 1) is None:
            continue  # gaps kept and summed up anew round otherwise
        other = kind(400, **options, **more).fit(X, y)
        for ours, theirs in zip(plain.trees_, other.trees_, strict=True):
            np.testing.assert_array_equal(ours.threshold, theirs.threshold)
            np.testing.assert_array_equal(ours.value, theirs.value)


def test_a_weight_means_the_same_in_any_unit():
    _, X, y, unseen, prices = real("diabetes")
    fitted = [
        GIFRegressor(500, feature_costs=unit * prices, cost_weight=0.5, **OPTIONS).fit(X, scale * y)
        for unit, scale in ((1, 1), (1024, 1), (1, 4096))
    ]
    for other in fitted[1:]:
        np.testing.assert_array_equal(
            fitted[0].acquired_features(unseen), other.acquired_features(unseen)
        )


@pytest.mark.parametrize("options", [{}, {"loss": "huber"}, {"loss": "quantile"}])
def test_weights_of_rows_and_all_losses_go_with_it(options):
    _, X, y, unseen, prices = real("diabetes")
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    costs = [
        GIFRegressor(500, feature_costs=prices, cost_weight=each, **OPTIONS | options)
        .fit(X, y, sample_weight=weight)
        .acquisition_cost(unseen)
        .mean()
        for each in (0.0, 3.0)
    ]
    assert 0 < costs[1] < 0.5 * costs[0]


def test_decreases_are_right_where_roots_are_split_anew():
    random = np.random.default_rng(0)
    X = random.random((300, 6))
    y = X @ [0.3, 0.2, 0.1, 0.05, 0.05, 0.0]  # below 1, above 1/2: not divided
    model = GIFRegressor(
        300, n_estimators=50, cost_weight=0.02, feature_costs=np.arange(1.0, 7.0), random_state=0
    )
    records = model.fit(X, y)._model._records
    rows = {}
    for j, node in enumerate(records):
        parent = node["parent"]
        rows[j] = np.arange(len(X))
        if parent >= 0:
            of_parent, split = rows[parent], records[parent]
            left = X[of_parent, split["feature"]] <= split["threshold"]
            rows[j] = of_parent[left == (split["child"] == j)]
        assert rows[j].size == node["size"]
    for j in np.flatnonzero(records["child"] >= 0):
        sides = rows[records["child"][j]], rows[records["child"][j] + 1]
        drop = y[rows[j]].var() * rows[j].size - sum(y[side].var() * side.size for side in sides)
        assert records["decrease"][j] == pytest.approx(drop, rel=1e-6, abs=1e-9)
