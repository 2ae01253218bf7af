"""The share of the gain over the constant that is no fit to chance."""

from types import SimpleNamespace

import numpy as np
import pytest

from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor, orders, pool
from budgetlearn.cascade.models import Table, as_kind, assign_folds
from budgetlearn.cascade.orders import confirmed_share, geometric_stages, ordered_acquisitions
from budgetlearn.cascade.pool import best_informed
from budgetlearn.costs import FeatureCosts


def share(table, known=None):
    costs = FeatureCosts(np.ones(table.X.shape[1]))
    stages = geometric_stages(ordered_acquisitions("boosted_path", table, costs, 0), costs, 5)
    forest = as_kind("forest", table.n_classes)
    held_out = np.array([forest.fit_both(table, sorted(each), 0)[0] for each in stages])
    held_out = held_out if known is None else np.array([known] * len(stages))
    order = SimpleNamespace(name="boosted_path", stages=stages)
    trace = SimpleNamespace(order=order, predictions=held_out)
    return confirmed_share(table, costs, [trace], held_out[-1], 0)


def table_of(y, n_classes, signal, seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(len(y), 30))
    X[:, 3] += signal * y
    return Table(X, y, n_classes, assign_folds(y, n_classes, 5, random))


@pytest.mark.parametrize("seed", range(2))
def test_of_coins_nothing_remains(seed):
    coins = np.random.RandomState(seed).permutation(np.arange(150) % 2)
    assert share(table_of(coins, 2, 0.0, seed)) < 0.2


def test_of_coins_nothing_remains_where_features_that_fit_them_were_chosen_among_many():
    random = np.random.RandomState(0)
    X, coins = random.normal(size=(100, 300)), random.permutation(np.arange(100) % 2)
    table = Table(X, coins, 2, assign_folds(coins, 2, 5, random))
    # Without the pilot more than half would: the forests do well with the features chosen.
    assert share(table) < 0.2


def test_of_a_signal_most_remains():
    assert share(table_of(np.arange(150) % 2, 2, 3.0, 0)) > 0.8


def test_a_single_stage_is_judged_where_parts_of_the_rows_start_with_what_is_free():
    y = np.arange(60) % 2
    X = np.column_stack([np.arange(60) % 3, y]).astype(float)
    table = Table(X, y, 2, np.arange(60) % 5, given={0: np.arange(3)})
    order = SimpleNamespace(name="boosted_path", stages=[(0, 1)])
    known = np.eye(2)[y] * 0.8 + 0.1
    trace = SimpleNamespace(order=order, predictions=known[None])
    assert 0 <= confirmed_share(table, FeatureCosts([1, 0]), [trace], known, 0) <= 1


def test_of_numbers_too():
    y = np.random.RandomState(0).normal(size=150)
    assert share(table_of(y, None, 0.0, 1)) < 0.2
    assert share(table_of(y, None, 3.0, 1)) > 0.8


def test_large_tables_are_not_looked_into(monkeypatch):
    monkeypatch.setattr(orders, "MOST_PILOT_ROWS", 149)
    assert share(table_of(np.arange(150) % 2, 2, 0.0, 0)) == 1.0


def told(y, sure):
    """Return probabilities of two classes that are right with a chance of `sure`, and as sure."""
    right = np.random.RandomState(1).random(len(y)) < sure
    return np.where(np.eye(2)[np.where(right, y, 1 - y)] == 1, sure, 1 - sure)


def test_a_stage_judges_if_what_is_confirmed_of_it_is_more_than_all_features_tell(monkeypatch):
    table = table_of(np.arange(300) % 2, 2, 0.0, 0)
    everything, more = told(table.y, 0.7), told(table.y, 0.9)
    assert best_informed(table, everything, [everything, more], 1.0) is more
    assert best_informed(table, everything, [everything, more], 0.9) is more
    # A gain that is not confirmed, or no larger than chance would have it, is none.
    assert best_informed(table, everything, [everything, more], 0.2) is everything
    assert best_informed(table, everything, [everything, more], 0.0) is everything
    little = told(table.y, 0.72)
    assert best_informed(table, everything, [everything, little], 1.0) is everything
    # Of tables that no pilot looks into nothing is confirmed.
    monkeypatch.setattr(pool, "MOST_PILOT_ROWS", 299)
    assert best_informed(table, everything, [everything, more], 1.0) is everything


def test_what_the_cascade_s_models_gain_counts_and_not_how_good_the_pilot_s_are(monkeypatch):
    # The pilot finds nothing in these features, chosen with or without the rows it predicts.
    table = table_of(np.arange(300) % 2, 2, 0.0, 0)
    assert share(table) < 0.2
    assert share(table, told(table.y, 0.8)) > 0.8
    known = told(table.y, 0.62)
    assert 0.1 < share(table, known) < 0.8
    # Without any fit to chance, what is lost is (1.5 errors / gain)², as by James and Stein.
    monkeypatch.setattr(orders, "_pilots", lambda *_: ([known, known], [known, known]))
    gains = table.calibrated_losses(np.full((300, 2), 0.5)) - table.calibrated_losses(known)
    mean, error = gains.mean(), gains.std() / np.sqrt(300)
    assert share(table, known) == pytest.approx(1 - (1.5 * error / mean) ** 2)
    # A few large numbers have most of the variance, but all of them are predicted equally well.
    large = np.random.RandomState(0).standard_exponential(300) ** 3
    table = table_of(large, None, 0.0, 0)
    assert share(table, 0.95 * large[:, None]) > 0.98


@pytest.mark.parametrize("kind", [ScheduleCascadeClassifier, ScheduleCascadeRegressor])
def test_features_that_only_disturb_are_not_paid_for(kind):
    random = np.random.RandomState(0)
    X = random.normal(size=(700, 40))
    y = X[:, :3].sum(axis=1) + random.normal(size=700) / 2
    if kind is ScheduleCascadeClassifier:
        y = (y > 0).astype(int)
    forest = {"estimators": "forest", "orders": "boosted_path", "n_stages": 4}
    model = kind(feature_costs=np.ones(40), random_state=0, **forest).fit(X[:200], y[:200])
    points = model.operating_points_
    most = list(model.staged_acquired_features(X[200:]))[-1]
    assert most.sum(axis=1).mean() < 20
    last = kind(feature_costs=np.ones(40), random_state=0, **forest | {"orders": [[range(40)]]})
    assert model.score(X[200:], y[200:]) > last.fit(X[:200], y[:200]).score(X[200:], y[200:])
    assert (np.diff(points["score"]) > 0).all()


@pytest.mark.parametrize("seed", [6, 7])
def test_what_few_rows_of_a_rare_class_happen_to_show_does_not_leave_the_constant_alone(seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(5000, 6))
    rare = (random.rand(5000) < 1 / (1 + np.exp(2.5 - 1.2 * X[:, :3].sum(axis=1)))).astype(int)
    fixed = {"estimators": "linear", "orders": "boosted_path", "n_stages": 3, "dynamic": False}
    model = ScheduleCascadeClassifier(feature_costs=np.ones(6), random_state=0, **fixed)
    model.fit(X[:150], rare[:150])
    # By the labels of these 150 no stage is better than "never"; by 4,850 others all features are.
    assert model.score(X[150:], rare[150:]) > np.mean(rare[150:] == 0) + 0.02
    promised = model.operating_points_["score"].iloc[-1] - np.mean(rare[:150] == 0)
    assert 0 < promised < 0.05


def test_a_few_rows_with_nearly_all_of_the_variance_do_not_hide_what_the_others_gain():
    random = np.random.RandomState(0)
    X = random.normal(size=(1000, 6))
    y = X[:, :2].sum(axis=1) + random.normal(size=1000) / 2
    far = [10, 20, 600, 700, 800]  # gaps that are no gaps, twice among the rows to learn from
    X[far], y[far] = -999.0, -999.0
    fixed = {"estimators": "linear", "orders": "boosted_path", "n_stages": 3}
    model = ScheduleCascadeRegressor(feature_costs=np.ones(6), random_state=0, **fixed)
    model.fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.9
    assert model.operating_points_["score"].iloc[-1] > 0.5
