"""Dynamic orders: who acquires what next, and what is told of it."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.cascade.dynamic import DynamicOrder, DynamicWalk, Units
from budgetlearn.costs import FeatureCosts
from budgetlearn.protocol.feature_requests import Ledger, drive
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError

pytestmark = pytest.mark.usefixtures("small_cascade")

QUICK = {"orders": "gain_per_cost", "n_stages": 5, "cv": 2, "dynamic": True, "random_state": 0}
PRICES = [1.0, 10, 10, 10, 2]


@pytest.fixture(scope="module")
def table():
    """The first feature tells which of the next three knows the class, and a little itself."""
    random = np.random.RandomState(0)
    X = random.standard_normal((1200, 5))
    X[:, 0] = random.randint(3, size=1200)
    knows = X[np.arange(1200), 1 + X[:, 0].astype(int)]
    return X, (knows > 0.5 * (X[:, 0] - 1)).astype(int)


@pytest.fixture(scope="module")
def fitted(table):
    X, y = table
    model = ScheduleCascadeClassifier(feature_costs=PRICES, estimators="forest", **QUICK)
    return model.fit(X[:600], y[:600])


def test_the_protocol_is_kept():
    check_budgeted_estimator(ScheduleCascadeClassifier(estimators=GaussianNB(), **QUICK))


@pytest.mark.parametrize("n_features", [3, 201])
def test_what_cannot_be_foreseen_is_refused(n_features):
    """Numbers; and classes of more features than a naive Bayes tree takes."""
    X = np.random.RandomState(0).standard_normal((60, n_features))
    if n_features == 3:
        model, y = ScheduleCascadeRegressor(estimators=LinearRegression(), **QUICK), X[:, 0]
    else:
        model, y = ScheduleCascadeClassifier(estimators="linear", **QUICK), X[:, 0] > 0
    with pytest.raises(ParameterError, match="dynamic=True needs classes"):
        model.fit(X, y)


def test_examples_acquire_what_they_need(fitted, table):
    X, y = table[0][600:], table[1][600:]
    made = fitted.decisions(X, max_cost=11)
    assert made.acquired[:, 0].all()
    for kind in range(3):
        owned = made.acquired[X[:, 0] == kind, 1:4].mean(axis=0)
        assert owned[kind] > 0.9
    assert (made.prediction == y).mean() > 0.9


def test_it_beats_every_fixed_order_where_needs_differ(table):
    X, y = table
    fixed, both = (
        ScheduleCascadeClassifier(
            feature_costs=PRICES, estimators="forest", **(QUICK | {"dynamic": dynamic})
        )
        .fit(X[:600], y[:600])
        for dynamic in (False, "auto")
    )  # fmt: skip
    assert "foreseen" in [each["order"] for each in both.operating_points_["setting"]]
    scores = [each.score(X[600:], y[600:], budget=12) for each in (both, fixed)]
    assert scores[0] > scores[1] + 0.08


def test_what_is_told_holds_on_new_examples(fitted, table):
    X, y = table[0][600:], table[1][600:]
    for stage, (_, told) in zip(fitted.stages(X), fitted.operating_points_.iterrows(), strict=True):
        assert stage.cost.mean() == pytest.approx(told["cost"], rel=0.25)
        assert stage.acquired.sum(axis=1).mean() == pytest.approx(told["n_features"], rel=0.25)
        assert (stage.output == y).mean() == pytest.approx(told["observed"], abs=0.1)


def test_foreseen_gains_are_told_at_the_cost_of_the_trees_that_predict(fitted, table):
    """Trees of a part of the examples foresee less, and acquire more."""
    points = fitted.operating_points_
    foreseen = [
        place for place, each in enumerate(points["setting"]) if each["order"] == "foreseen"
    ]
    assert foreseen
    stages = list(fitted.stages(table[0][:600]))
    for place in foreseen:
        assert stages[place].cost.mean() == pytest.approx(points["cost"][place])
        own = stages[place].acquired.sum(axis=1).mean()
        assert own == pytest.approx(points["n_features"][place])


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_what_costs_nothing_and_tells_nothing_promises_nothing(seed):
    """Trees of some folds begin with the first feature, where the final ones take the free one."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=(200, 3)), random.integers(2, size=200)])
    y = X[:, 0] + 0.5 * X[:, 1] + 0.7 * random.normal(size=200) > 0
    model = ScheduleCascadeClassifier(feature_costs=[1, 2, 3, 0], dynamic=True, random_state=seed)
    points = model.set_params(estimators=GaussianNB()).fit(X, y).operating_points_
    free = points.loc[points["cost"] == 0, ["score", "observed"]]
    agree = y == X[:, 3]
    best = max(*np.bincount(y), *np.bincount(agree))
    assert len(free)
    assert free.to_numpy().max() <= best / len(y) + 0.03


def test_a_cap_is_kept_to_the_cent_and_used(fitted, table):
    X = table[0][600:]
    for cap in (1.0, 3.0, 11.0, 13.0):
        spent = fitted.acquisition_cost(X, max_cost=cap)
        assert spent.max() <= cap
        assert spent.max() > cap - 3
    assert fitted.acquisition_cost(X, max_cost=0.5).max() == 0


class StrictLedger(Ledger):
    """A ledger that nobody asks for what the cap does not pay."""

    def affordable(self, rows, feature):
        found = super().affordable(rows, feature)
        assert found.all()
        return found


def test_nothing_is_asked_for_that_the_cap_does_not_pay(fitted, table):
    X, ledger = table[0][600:], StrictLedger(fitted.feature_costs_, 600, 5.0)
    acquisitions = fitted._acquisitions(600, fitted.n_stages_ - 1, ledger)
    outcome = drive(acquisitions, lambda rows, feature: X[rows, feature], ledger)
    assert outcome.answered.all()
    assert ledger.cost.max() == 3  # the first and the last feature


def test_values_that_cannot_be_had_are_done_without(fitted, table):
    X, y = table[0][600:].copy(), table[1][600:]
    kind = X[:, 0].copy()
    X[::2, 1] = np.nan
    made = fitted.decisions(X, budget=12, fallback=True)
    assert not made.acquired[::2, 1].any()
    right = made.prediction == y
    assert right[::2][kind[::2] > 0].mean() > 0.9  # others know their class
    assert right[1::2].mean() > 0.9
    # Who gets the first feature alone is predicted from it.
    X[:, 1:] = np.nan
    made = fitted.decisions(X, budget=12, fallback=True)
    assert made.acquired.sum(axis=1).tolist() == [1] * 600
    shares = [made.probabilities[kind == each] for each in range(3)]
    assert [np.ptp(each, axis=0).max() for each in shares] == pytest.approx([0, 0, 0])
    assert shares[0][0, 1] > shares[1][0, 1] + 0.1 > shares[2][0, 1] + 0.2


def test_groups_are_charged_once_and_acquired_together(table):
    X, y = table
    costs = FeatureCosts([1, 1, 1, 1, 1], [0, 1, 1, 2, 2], [2, 20, 0.5])
    model = ScheduleCascadeClassifier(feature_costs=costs, estimators=GaussianNB(), **QUICK).fit(
        X, y
    )
    owned = model.acquired_features(X)
    np.testing.assert_array_equal(owned[:, 1], owned[:, 2])
    capped = model.acquisition_cost(X, max_cost=5.5)
    assert capped.max() == 5.5  # all without the second group
    order = next(each.cascade for each in model.points_ if each.cascade.dynamic)
    reader = order.reader(None, X, None)
    reader.advance(np.arange(len(X)), order.n_stages - 1)
    assert reader.spent[-1].tolist() == [costs.full] * len(X)
    for owned, spent in zip(reader.owned, reader.spent, strict=True):
        np.testing.assert_array_equal(costs.total(order.units.columns(owned)), spent)


def test_threads_and_a_pickle_change_nothing(fitted, table):
    X, y = table
    again = ScheduleCascadeClassifier(feature_costs=PRICES, estimators="forest", n_jobs=2, **QUICK)
    again.fit(X[:600], y[:600])
    probabilities = fitted.predict_proba(X[600:], budget=12)
    np.testing.assert_array_equal(again.predict_proba(X[600:], budget=12), probabilities)
    kept = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(kept.predict_proba(X[600:], budget=12), probabilities)
    # Nor does asking for one value at a time: each stage has a temperature of its own.
    asked = fitted.predict_acquiring(lambda rows, one: X[600 + rows, one], 600, budget=12)
    np.testing.assert_allclose(asked.probabilities, probabilities, atol=1e-12)


def test_the_largest_gain_for_its_price_is_next_among_what_the_cap_pays_for():
    def choose(costs, cap, owned, spent):
        seen = []
        units = Units(((0,), (1, 2), (3,)), FeatureCosts(costs))
        gains = np.array([2.0, 20.0, 1e-3])
        rates = SimpleNamespace(rates=lambda *given: seen.extend(given[2:]) or gains / given[2])
        walk = DynamicWalk(DynamicOrder("any", units, (), None, None, rates), len(spent))
        walk.owned[:], walk.spent[:] = owned, spent
        found = walk.choose(np.arange(len(spent)), cap)
        return [each.tolist() for each in (*found, seen[1], seen[0][0])]

    owned = [[False, False, False], [False, False, True], [False, False, True], [True, False, True]]
    # What is free, then 20 for 5, or 2 for 1 if 5 are too much; the last row can have nothing.
    expected = [[0, 1, 2], [2, 1, 0], [6, 6, 4], pytest.approx([1, 5, 6e-9])]
    assert choose([1, 2, 3, 0], 6, owned, [0, 0, 2, 2]) == expected
    free = [[0, 1], [1, 1], [0, 0], pytest.approx([1e-9] * 3)]
    assert choose([0, 0, 0, 0], 0, owned[:2], [0, 0]) == free


@pytest.mark.parametrize("choice", [np.True_, np.False_])
def test_true_and_false_may_be_those_of_numpy(table, choice):
    """As a search over np.array([True, False]) sets them."""
    X, y = table[0][:200], table[1][:200]
    ours, same = (
        ScheduleCascadeClassifier(estimators="linear", **QUICK | {"dynamic": each}).fit(X, y)
        for each in (choice, bool(choice))
    )
    assert any(point.cascade.dynamic for point in ours.points_) == bool(choice)
    np.testing.assert_array_equal(ours.predict_proba(X), same.predict_proba(X))
