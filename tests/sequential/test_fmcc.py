"""FMCC equals a plain NumPy Algorithm 1, with prices, groups, caps, and several classes."""

import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from budgetbench.datasets import load_dataset
from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import BudgetError
from budgetlearn.sequential import FMCCClassifier, RandomOrderClassifier, boosted_stumps
from budgetlearn.validation import ParameterError
from tests.sequential.reference import algorithm_1, neighborhood, stump_margins


def assert_equals_algorithm_1(model, X, y, points, weight=None):
    """Compare the walks of `points` with the slow twin's."""
    scaler = StandardScaler().fit(X, sample_weight=weight)
    estimator = model.estimators_[0]
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    if hasattr(estimator, "coef_"):
        margins = sign[:, None] * X * estimator.coef_[0]
        offsets = sign * estimator.intercept_[0]
    else:
        margins, offsets = stump_margins(estimator, X, sign)
    walk = model._walk(points)
    for row, point in enumerate(scaler.transform(points)):
        acquired, values, estimates = algorithm_1(
            scaler.transform(X),
            margins,
            offsets,
            np.ones(len(X)) if weight is None else weight,
            point,
            model.feature_costs_,
            n_neighbors=model.n_neighbors,
            threshold=model.threshold,
            cost_weight=model.cost_weight,
            max_cost=np.inf if model.max_cost is None else model.max_cost,
        )
        n_acquired = (walk.order[row] >= 0).sum()
        assert walk.order[row, :n_acquired].tolist() == acquired
        np.testing.assert_allclose(walk.value[row, :n_acquired], values, rtol=1e-12)
        np.testing.assert_allclose(walk.estimate[row, : n_acquired + 1], estimates, rtol=1e-12)
        assert (walk.estimate[row, n_acquired:] == walk.estimate[row, n_acquired]).all()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_features=st.one_of(st.integers(1, 8), st.just(40)),  # from 32 on counts are kept
    n_neighbors=st.sampled_from([1, 7, 65, 500]),
    whole=st.booleans(),
    threshold=st.sampled_from([0.0, 0.7, 0.9, 1.0]),
    cost_weight=st.sampled_from([0.0, 0.02, 1.0]),
    max_cost=st.sampled_from([None, 6.0, 14.0]),
    grouped=st.booleans(),
    weighs=st.booleans(),
)
def test_equals_the_slow_twin(
    seed, n_features, n_neighbors, whole, threshold, cost_weight, max_cost, grouped, weighs
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, n_features))
    y = (X.sum(axis=1) + rng.normal(size=120) > 0).astype(int)
    if whole:  # many tied distances
        X = X.round()
    prices = rng.integers(0, 6, size=n_features).astype(float)
    groups = rng.integers(-1, 2, size=n_features) if grouped else None
    costs = FeatureCosts(prices, groups, [1.0, 4.0] if grouped else None)
    if y.min() == y.max() or (max_cost and costs.marginal(np.zeros(n_features)).min() > max_cost):
        return
    model = FMCCClassifier(
        LogisticRegression(),
        feature_costs=costs,
        n_neighbors=n_neighbors,
        threshold=threshold,
        cost_weight=cost_weight,
        max_cost=max_cost,
    )
    # Their sums are exact in any order, and their mean is 1: ties stay ties.
    weight = rng.permutation(np.repeat([0.5, 1.5], 60)) if weighs else None
    model.fit(X, y, sample_weight=weight)
    assert_equals_algorithm_1(model, X, y, X[:6] + 0.25 * (not whole), weight)


def test_equals_the_slow_twin_with_stumps_on_landsat(data_dir, tmp_path):
    data = load_dataset("satellite", folder=tmp_path, data_dir=data_dir, offline=True)
    train, test = data.part == 0, data.part == 2
    X, y = np.ascontiguousarray(data.X[train]), (data.y[train] >= 3).astype(int)
    model = FMCCClassifier(boosted_stumps(60), threshold=1.0, random_state=0).fit(X, y)
    assert_equals_algorithm_1(model, X, y, data.X[test][::100])


class TestChoice:
    """Which feature is acquired, and when the acquisitions end."""

    def test_equal_gains_take_the_cheaper_then_the_lower_index(self):
        x = np.random.default_rng(0).normal(size=(60, 1))
        X, y = np.repeat(x, 3, axis=1), x[:, 0] > 0
        stumps = boosted_stumps(1)
        same = FMCCClassifier(LogisticRegression(), threshold=1.0).fit(X, y)
        assert (same.decisions(X).order[:, 0] == 0).all()
        expensive = FMCCClassifier(
            LogisticRegression(), feature_costs=[2, 1, 1], threshold=1.0
        ).fit(X, y)
        assert (expensive.decisions(X).order[:, 0] == 1).all()
        assert FMCCClassifier(stumps, threshold=0.9).fit(X, y).score(X, y) > 0.95
        # In floats, 0.8 - 5 * 0.1 is larger than 0.7 - 4 * 0.1, and 0.2 + 0.5 less than 0.3 + 0.4.
        y = np.arange(10) % 2
        X = np.where(np.column_stack([np.arange(10) < 2, np.arange(10) > 6]), -1, 1)
        X = X * (2 * y[:, None] - 1)
        linear = LogisticRegression(fit_intercept=False)
        rounded = FMCCClassifier(linear, feature_costs=[5, 4], cost_weight=0.1).fit(X, y)
        assert (rounded.decisions(X).order[:, 0] == 1).all()

    def test_a_high_weight_acquires_the_cheapest_first(self):
        X, y = make_classification(200, 5, random_state=0)
        prices = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
        model = FMCCClassifier(feature_costs=prices, cost_weight=100.0, threshold=1.0).fit(X, y)
        assert (model.decisions(X).order == np.argsort(prices)).all()

    def test_a_paid_group_charge_makes_its_members_cheap(self):
        X, y = make_classification(200, 4, n_informative=4, n_redundant=0, random_state=0)
        costs = FeatureCosts([1, 1, 4, 5], groups=[-1, 0, 0, -1], group_costs=[3])
        model = FMCCClassifier(feature_costs=costs, cost_weight=100.0, threshold=1.0).fit(X, y)
        story = model.explain(X[0])
        assert story["feature"].tolist() == [0, 1, 2, 3]
        assert story["price"].tolist() == [1, 4, 4, 5]
        assert story["spent"].iloc[-1] == costs.full

    @pytest.mark.parametrize("max_cost", [1, 4.5, 9, 100])
    def test_budget_is_never_exceeded_nor_left_unused(self, max_cost):
        X, y = make_classification(200, 6, random_state=1)
        prices = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        model = FMCCClassifier(feature_costs=prices, max_cost=max_cost, threshold=1.0).fit(X, y)
        cost = model.acquisition_cost(X)
        assert (cost <= max_cost).all()
        left = np.where(model.acquired_features(X), np.inf, prices).min(axis=1)
        assert (cost + left > max_cost).all()

    def test_budget_below_every_price_is_an_error(self):
        X, y = make_classification(50, 4, random_state=1)
        with pytest.raises(BudgetError, match="cheapest one costs 2") as error:
            FMCCClassifier(feature_costs=[3, 2, 4, 5], max_cost=1).fit(X, y)
        assert error.value.cheapest == 2.0

    def test_a_lower_threshold_acquires_less(self):
        X, y = make_classification(400, 8, random_state=2)
        costs = [
            FMCCClassifier(threshold=t).fit(X, y).acquisition_cost(X).mean()
            for t in (0.0, 0.8, 0.95, 1.0)
        ]
        assert costs == sorted(costs)
        assert costs[0] == 1.0
        assert costs[-1] == 8.0

    def test_far_points_are_walked_like_any_other(self):
        X, y = make_classification(100, 4, random_state=2)
        model = FMCCClassifier(threshold=1.0).fit(X, y)
        far = np.array([[1e200, -1e200, 0.0, 1e300]])
        assert sorted(model.decisions(far).order[0]) == [0, 1, 2, 3]
        assert np.isfinite(model.predict_proba(far)).all()


@pytest.fixture(scope="module")
def problem():
    X, y = make_classification(
        600, 8, n_informative=6, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=0
    )
    return X, np.array(list("abcd"))[y]


def test_the_unit_of_weights_settles_no_tie():
    X, y = make_classification(240, 6, n_informative=4, random_state=2)
    weight = np.random.RandomState(3).randint(1, 4, len(X))
    model = FMCCClassifier(n_neighbors=20, random_state=0)
    walks = [model.fit(X, y, sample_weight=unit * weight)._walk(X) for unit in (1, 0.3)]
    np.testing.assert_array_equal(walks[0].order, walks[1].order)


class TestManyClasses:
    """One score against the rest per class; right means the largest score."""

    def test_with_all_features_equals_one_against_the_rest(self, problem):
        X, y = problem
        X = np.insert(X, 2, 3.0, axis=1)  # like an intercept, it is never bought
        linear = LogisticRegression(fit_intercept=False)
        model = FMCCClassifier(linear, threshold=1.0).fit(X, y)
        scores = np.column_stack([e.decision_function(X) for e in model.estimators_])
        assert (model.predict(X) == model.classes_[scores.argmax(axis=1)]).all()
        assert model.acquired_features(X).sum(axis=1).tolist() == [8] * len(X)

    def test_walk_equals_a_direct_count(self, problem):
        # With three rivals, counts are kept from 288 features on.
        wide = make_classification(300, 300, n_informative=6, n_classes=4, random_state=0)
        for (X, y), C, n_rows, n_stages in ((problem, 1.0, 8, 8), (wide, 0.1, 2, 9)):
            model = FMCCClassifier(LogisticRegression(C=C), n_neighbors=20, threshold=1.0)
            model.fit(X, y)
            Z, codes = StandardScaler().fit_transform(X), np.searchsorted(model.classes_, y)
            weights = np.stack([e.coef_[0] for e in model.estimators_], axis=1)
            offsets = np.array([e.intercept_[0] for e in model.estimators_])
            walk = model._walk(X[:n_rows])

            def share_right(near, features, X=X, codes=codes, weights=weights, offsets=offsets):
                scores = offsets + X[near][:, features] @ weights[features]
                return np.mean(scores.argmax(axis=1) == codes[near])

            for row in range(n_rows):
                order, near = walk.order[row].tolist(), np.arange(len(X))
                for stage, feature in enumerate(order[:n_stages]):
                    rest = [i for i in range(X.shape[1]) if i not in order[:stage]]
                    ahead = [share_right(near, [*order[:stage], i]) for i in rest]
                    assert feature == rest[int(np.argmax(ahead))]
                    near = neighborhood(Z, Z[row], order[: stage + 1], 20)
                    right = share_right(near, order[: stage + 1])
                    assert walk.estimate[row, stage + 1] == pytest.approx(right)

    def test_probabilities_share_the_rest(self, problem):
        X, y = problem
        model = FMCCClassifier(threshold=0.8).fit(X, y)
        probability = model.predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1.0)
        assert model.score(X, y) > 0.6


class TestRandomOrder:
    """The control acquires in an order that depends on the seed only."""

    def test_order_is_a_permutation(self):
        X, y = make_classification(300, 6, random_state=0)
        order = RandomOrderClassifier(threshold=1.0, random_state=0).fit(X, y).decisions(X).order
        assert (np.sort(order, axis=1) == np.arange(6)).all()
        assert (order == order[0]).all()

    def test_seed_changes_the_order(self):
        X, y = make_classification(60, 8, random_state=0)
        orders = [
            RandomOrderClassifier(threshold=1.0, random_state=s).fit(X, y).decisions(X).order
            for s in (0, 0, 1)
        ]
        assert (orders[0] == orders[1]).all()
        assert (orders[0] != orders[2]).any()

    def test_skips_what_the_budget_does_not_allow(self):
        X, y = make_classification(100, 4, random_state=0)
        model = RandomOrderClassifier(
            feature_costs=[1, 9, 1, 9], max_cost=2, threshold=1.0, random_state=0
        ).fit(X, y)
        assert (model.acquired_features(X) == [True, False, True, False]).all()

    def test_all_features_give_the_scores_of_fmcc(self):
        X, y = make_classification(200, 5, random_state=0)
        control = RandomOrderClassifier(threshold=1.0, random_state=0).fit(X, y)
        fmcc = FMCCClassifier(threshold=1.0, random_state=0).fit(X, y)
        assert (control.predict(X) == fmcc.predict(X)).all()
        np.testing.assert_allclose(control.predict_proba(X), fmcc.predict_proba(X))


@pytest.mark.parametrize(
    "parameters",
    [{"n_neighbors": 0}, {"threshold": 1.5}, {"cost_weight": -1.0}, {"max_cost": -2.0}],
    ids=str,
)
def test_parameters_out_of_range_are_errors(parameters):
    X, y = make_classification(50, 4, random_state=0)
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        FMCCClassifier(**parameters).fit(X, y)


def test_memory_beyond_the_answer_does_not_grow_with_the_test_set():
    """Blocks bound it: the walker itself keeps a few vectors as long as the training set."""
    X, y = make_classification(300, 5, random_state=0)
    model = FMCCClassifier(threshold=1.0).fit(X, y)
    peaks = []
    for repeats in (20, 80):
        many = np.repeat(X, repeats, axis=0)
        tracemalloc.start()
        walk = model._walk(many)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        answer = sum(sys.getsizeof(getattr(walk, name)) for name in vars(walk))
        peaks.append(peak / answer)
    assert peaks[1] < 1.1 * peaks[0]
