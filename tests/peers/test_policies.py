"""Learned policies: what they acquire, what it costs, and that a seed settles them."""

import importlib.util
import pickle

import numpy as np
import pytest

from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import MissingExtraError
from budgetlearn.policies import AACOClassifier, DIMEClassifier, GDFSClassifier
from budgetlearn.policies.aaco import free_with
from budgetlearn.policies.classifier import Record
from budgetlearn.policies.networks import RankCode
from budgetlearn.protocol.documenting import Limits
from budgetlearn.protocol.prediction import acquired_from, from_table
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions

WITHOUT_TORCH = importlib.util.find_spec("torch") is None
trains = pytest.mark.skipif(WITHOUT_TORCH, reason="needs PyTorch: pip install '.[policies]'")
CLASSES = [AACOClassifier, DIMEClassifier, GDFSClassifier]
QUICK = {"n_steps": 60, "n_walks": 64, "n_hidden": 16, "random_state": 0}


@pytest.fixture(scope="module")
def indicated():
    """Feature 0 says which of features 1 to 4 is the class; three others are noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2400, 8)).astype(float)
    X[:, 0] = rng.integers(1, 5, 2400)
    return X, X[np.arange(2400), X[:, 0].astype(int)].astype(int)


@pytest.mark.skipif(not WITHOUT_TORCH, reason="PyTorch is there")
@pytest.mark.parametrize("policy", CLASSES)
def test_without_torch_the_error_names_the_extra(policy, classes):
    with pytest.raises(MissingExtraError, match=r"pip install 'budgetlearn\[policies\]'"):
        policy().fit(*classes)


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_scikit_learn_conventions(policy):
    check_conventions(policy(**QUICK | {"n_steps": 100}))


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_protocol(policy):
    check_budgeted_estimator(policy(**QUICK))


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_predictions_cost_what_their_operating_point_was_measured_to_cost(policy, classes):
    X, y = classes
    model = policy(**QUICK).fit(X, y, X[:80], y[:80])
    for budget in np.unique(model.operating_points_["cost"]):
        point = model.operating_points_.loc[model.choose(budget)]
        spent = model.acquisition_cost(X[:80], budget=budget)
        assert spent.mean() == pytest.approx(point["cost"])


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_the_indicator_is_acquired_and_then_what_it_points_to(policy, indicated):
    X, y = indicated
    model = policy(n_steps=2500, n_hidden=64, random_state=0)
    model.fit(X[:1600], y[:1600], X[1600:2000], y[1600:2000])
    rest, pointed = X[2000:], X[2000:, 0].astype(int)
    order = model.decisions(rest).order
    asked = (order == pointed[:, None]).argmax(axis=1)
    told = (order == 0).argmax(axis=1)
    # As soon as the indicator is known, what it points to is next.
    late = told < asked
    assert late.mean() > 0.5
    assert (asked[late] == told[late] + 1).mean() > 0.95
    assert model.score(rest, y[2000:]) > 0.95


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_no_example_exceeds_its_cap(policy, indicated):
    X, y = indicated
    costs = FeatureCosts(np.arange(8) % 4, groups=[0, 0, *[-1] * 4, 1, 1], group_costs=[2.0, 5.0])
    model = policy(feature_costs=costs, **QUICK).fit(X[:400], y[:400], X[400:600], y[400:600])
    for cap in (0, 2, 3.5, 9, 100):
        decisions = model.decisions(X[600:700], max_cost=cap)
        np.testing.assert_allclose(decisions.cost, costs.total(decisions.acquired))
        assert (decisions.cost <= cap).all()
        assert decisions.cost.max() >= min(cap, costs.full) / 3  # and it is made use of


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_a_seed_settles_the_model(policy, classes):
    X, y = classes
    one, same, other = (policy(**QUICK | {"random_state": s}).fit(X, y) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.predict_proba(X), same.predict_proba(X))
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.predict_proba(X), one.predict_proba(X))


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_training_leaves_threads_and_the_global_generator_alone(policy, classes):
    import torch

    state, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        policy(**QUICK).fit(*classes)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(state, torch.get_rng_state())


@trains
@pytest.mark.parametrize("policy", CLASSES)
def test_of_two_copies_the_cheaper_is_acquired(policy, indicated):
    X, _ = indicated
    twins = np.column_stack([X[:, 5], X[:, 5], X[:, 6:8]])
    model = policy(feature_costs=[9, 1, 1, 1], **QUICK | {"n_steps": 400})
    model.fit(twins[:800], X[:800, 5].astype(int))
    order = model.decisions(twins[800:900]).order
    assert (order[:, 0] == 1).all()


@pytest.mark.parametrize("policy", CLASSES)
@pytest.mark.parametrize("name", ["max_acquired", "n_steps", "n_walks", "n_hidden"])
def test_numbers_are_checked(policy, name, classes):
    with pytest.raises(ParameterError, match=name):
        policy(**{name: 0}).fit(*classes)


@trains
def test_a_stage_for_each_number_of_features(classes):
    X, y = classes
    model = GDFSClassifier(max_acquired=4, **QUICK).fit(X, y)
    assert [each["features"] for each in model.stage_settings_] == [1, 2, 3, 4]
    counts = [acquired.sum(axis=1) for acquired in model.staged_acquired_features(X)]
    np.testing.assert_array_equal(counts, np.tile([[1], [2], [3], [4]], len(X)))


@trains
def test_the_worth_of_a_feature_is_its_mutual_information():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4000, 6)).astype(float)
    y = np.where(rng.random(4000) < 0.1, 1 - X[:, 3], X[:, 3])
    model = DIMEClassifier(max_acquired=2, n_steps=1500, n_hidden=64, random_state=0).fit(X, y)
    worth = model._worth(np.zeros((1, 6)), np.zeros((1, 6), dtype=bool))[0]
    told = np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)
    np.testing.assert_allclose(worth, np.where(np.arange(6) == 3, told, 0), atol=0.04)


@trains
def test_lower_thresholds_acquire_more_where_more_is_to_gain(indicated):
    X, y = indicated
    model = DIMEClassifier(n_steps=1500, n_hidden=64, random_state=0)
    model.fit(X[:1600], y[:1600])
    stages = list(model.stages(X[:1600]))
    thresholds = [stage.setting["threshold"] for stage in stages]
    assert (np.diff(thresholds) < 0).all()
    assert thresholds[-1] == 0
    means = [stage.acquired.sum(axis=1).mean() for stage in stages]
    assert (np.diff(means) > 0).all()
    assert means[-1] == 8
    walk = model._walk(X[:1600], 8, 0.0)
    for stage in stages:
        ended = stage.acquired.sum(axis=1)
        for row in range(50):
            assert (walk.rating[row, : ended[row]] >= stage.setting["threshold"]).all()
            assert ended[row] == 8 or walk.rating[row, ended[row]] < stage.setting["threshold"]
    assert len(np.unique(stages[3].acquired.sum(axis=1))) > 1
    for index, stage in enumerate(stages):
        asked = acquired_from(model, from_table(X[:50]), 50, index, Limits())
        np.testing.assert_array_equal(asked.acquired, stage.acquired[:50])


def test_ranks_count_ties_half_and_are_linear_between_training_values():
    code = RankCode(np.array([[0.0], [0.0], [1.0], [3.0]]))
    expected = np.sqrt(3) * (2 * np.array([0.25, 0.625, 0.75, 0.875]) - 1)
    np.testing.assert_allclose(code.table(np.array([[0.0], [1.0], [2.0], [9.0]]))[:, 0], expected)
    np.testing.assert_array_equal(code.cells(np.zeros(1, int), np.array([2.0])), expected[2:3])


def test_a_walk_ends_at_the_first_rating_below_the_threshold():
    walk = Record.empty(1, 4)
    for feature, rating in ((2, 0.9), (0, 0.1), (3, 0.5)):
        walk.take(
            np.zeros(1, int), np.array([feature]), np.array([rating]), np.ones(1), np.zeros(1, bool)
        )
    acquired = [walk.until(4, least)[0].nonzero()[0].tolist() for least in (1, 0.4, 0.1, -np.inf)]
    assert acquired == [[], [2], [0, 2, 3], [0, 2, 3]]
    assert walk.until(2, 0.1)[0].nonzero()[0].tolist() == [0, 2]


@pytest.fixture
def oracle():
    """An AACO that remembers 30 rows and knows the logarithms of its classes by heart."""
    rng = np.random.default_rng(0)
    model = AACOClassifier()
    model.feature_costs_ = FeatureCosts([1.0, 2.0, 3.0, 4.0])
    model._memory, model._answers = (
        rng.normal(size=(30, 4)).astype(np.float32),
        rng.integers(3, size=30),
    )
    shapes = [(4, 6), (4, 6), (6,), (6, 6), (6,), (6, 3), (3,)]
    model._predictor = [rng.normal(size=shape) for shape in shapes]
    model._with = free_with(model.feature_costs_)
    return model


def test_the_gain_of_a_set_is_its_neighbours_fall_of_cross_entropy(oracle):
    rng = np.random.default_rng(1)
    acquired = rng.random((5, 4)) < 0.4
    known = np.where(acquired, rng.normal(size=(5, 4)), 0.0)
    sets = (rng.random((5, 7, 4)) < 0.5) & ~acquired[:, None]
    near = oracle._nearest(known, acquired, 3)
    gains = oracle._gains(known, acquired, sets, near)
    for row in range(5):
        apart = ((oracle._memory - known[row])[:, acquired[row]] ** 2).sum(axis=1)
        np.testing.assert_array_equal(near[row], np.argsort(apart, kind="stable")[:3])
        for place, more in enumerate(sets[row]):
            falls = [
                told(oracle, np.where(more, oracle._memory[i], known[row]), more | acquired[row], i)
                - told(oracle, known[row], acquired[row], i)
                for i in near[row]
            ]
            assert gains[row, place] == pytest.approx(np.mean(falls), abs=1e-10)


def test_other_examples_do_not_change_the_choice(oracle):
    rng = np.random.default_rng(1)
    known, acquired = np.zeros((40, 4)), np.zeros((40, 4), dtype=bool)
    chosen, near = rng.random((40, 4)) < 0.4, rng.integers(30, size=(40, 7))
    chosen[~chosen.any(axis=1), 0] = True
    rows = [slice(row, row + 1) for row in range(40)]
    together = oracle._indispensable(known, acquired, chosen, near)
    alone = [oracle._indispensable(known[i], acquired[i], chosen[i], near[i])[0] for i in rows]
    assert together.tolist() == alone


def told(oracle, known, mask, neighbour):
    """Return the logarithm of the probability of a neighbour's class."""
    scores = oracle._probabilities(known[None], mask[None])
    return np.log(scores[0, oracle._answers[neighbour]])


def test_a_set_spares_the_feature_that_adds_most_per_price_last(oracle, monkeypatch):
    worth = np.array([1.0, 6.0, 3.0, 4.0])  # 1, 3, 1 and 1 per price

    def gains(known, acquired, more, near):
        return more @ worth

    monkeypatch.setattr(oracle, "_gains", gains)
    chosen = np.array(
        [[True, True, False, True], [True, False, False, False], [False] * 2 + [True] * 2]
    )
    found = oracle._indispensable(None, np.zeros((3, 4), dtype=bool), chosen, None)
    assert found[0] == 1
    assert found[1] == 0
    assert found[2] in (2, 3)


def test_what_a_charge_pays_for_comes_along():
    costs = FeatureCosts([0, 0, 2, 1, 0], groups=[0, 0, 0, 1, -1], group_costs=[5, 1])
    expected = np.eye(5, dtype=bool)
    expected[:3, :2] = True  # features 0 and 1 are free once their group is paid for
    np.testing.assert_array_equal(free_with(costs), expected)


@trains
def test_aaco_acquires_what_is_worthless_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1200, 6)).astype(float)
    y = (X[:, 1] != X[:, 4]).astype(int)
    model = AACOClassifier(max_acquired=3, n_steps=1500, n_hidden=64, random_state=0)
    model.fit(X[:1000], y[:1000])
    decisions = model.decisions(X[1000:], max_cost=2)
    assert decisions.acquired[:, [1, 4]].mean() > 0.95
    assert (model.predict(X[1000:], max_cost=2) == y[1000:]).mean() > 0.95
