"""The pool of candidates of cascades, calibration, and the walk from stage to stage."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

from budgetlearn import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.cascade.fixed_order import Answers, Cascade, walk
from budgetlearn.cascade.mixture import Mixture, with_temperature
from budgetlearn.cascade.models import StageModels, Table, as_kind, assign_folds
from budgetlearn.cascade.pool import (
    TRADEOFFS,
    Candidate,
    Evidence,
    Trace,
    _Cuts,
    _judged,
    _one_moved,
    above_constant,
    best_at_each_cost,
    between,
    calibrated_numbers,
    candidates,
    class_evidence,
    exit_stages,
    exit_thresholds,
    expected_accuracy,
    number_evidence,
    settled_in_cells,
    under_cap,
    with_corrections,
)
from budgetlearn.costs import FeatureCosts
from budgetlearn.protocol.calibration import fit_temperature

pytestmark = pytest.mark.usefixtures("small_cascade")


def table_of(y, n_classes=2, weight=None):
    return Table(None, np.asarray(y), n_classes, weight=weight)


STAGES = ((1,), (1, 0), (1, 0, 3, 2))
COSTS = np.array([1.0, 3.0, 10.0])


@pytest.fixture(scope="module")
def fitted():
    """A cascade of three stages on a table whose features count more and more."""
    random = np.random.RandomState(0)
    X = random.standard_normal((400, 4))
    y = (X @ [2.0, 1.5, 1.0, 0.5] > 0).astype(np.intp)
    table = Table(X, y, 2, assign_folds(y, 2, 5, random))
    kinds = {name: as_kind(name, 2) for name in ("forest", "boosting")}
    models = StageModels.fit(table, STAGES, kinds, seed=3)
    mixtures = tuple(models.mixture(features, table) for features in STAGES)
    cascade = Cascade("own", STAGES, COSTS, mixtures, None)
    bill = COSTS[:, None], cascade.sizes[:, None]
    trace = Trace(cascade, models.held_out_stages(STAGES, mixtures), *bill).calibrated(table)
    return trace.order, class_evidence(trace, table, trace.predictions[-1]), models, X


def test_rows_that_a_stage_cannot_tell_apart_are_one():
    random = np.random.default_rng(0)
    X = np.column_stack(
        [random.integers(0, 3, 300), random.integers(0, 2, 300), random.random(300)]
    )
    X[:4, 0] = 7.0  # four rows are too few for a cell
    stages, confidence = ((0,), (0, 1), (0, 1, 2)), random.random((3, 300))
    asked = []

    def final(stage, rows):
        asked.append((stage, len(rows)))
        return 10 * stage + X[rows, : stage + 1].sum(axis=1)

    settled = settled_in_cells(confidence, stages, X, final)
    for stage, features in enumerate(stages[:2]):
        for row in range(300):
            few = (X[:, features] == X[row, features]).all(axis=1).sum() < 6
            said = confidence[stage, row] if few else final(stage, np.array([row]))[0]
            assert settled[stage, row] == said
    np.testing.assert_array_equal(settled[2], confidence[2])
    assert asked[:2] == [(0, 3), (1, 6)]  # one row for each cell


@pytest.mark.parametrize("kind", [ScheduleCascadeClassifier, ScheduleCascadeRegressor])
def test_costs_are_kept_where_the_first_feature_has_two_values(kind):
    def table(n, seed):
        random = np.random.default_rng(seed)
        hidden = random.normal(size=n)
        cheap = hidden + random.normal(size=n) > 0
        X = np.column_stack([cheap, hidden + 0.5 * random.normal(size=n), random.normal(size=n)])
        y = hidden + 0.3 * random.normal(size=n)
        return X, y > 0 if kind is ScheduleCascadeClassifier else y

    model = kind(feature_costs=[1, 20, 5], estimators="linear", dynamic=False, random_state=0)
    model.fit(*table(400, 0))
    promised = model.operating_points_["cost"]
    paid = [stage.cost.mean() for stage in model.stages(table(4000, 1)[0], {"acquired"})]
    assert len(promised) > 3
    np.testing.assert_allclose(paid, promised, rtol=0.1)


def test_costs_of_numbers_are_kept_after_learning_from_two_folds():
    ratios = []
    for seed in range(3):
        X, y = make_friedman1(1200, noise=1, random_state=seed)
        model = ScheduleCascadeRegressor(
            feature_costs=range(1, 11), estimators="linear", orders="boosted_path", cv=2,
            random_state=0,
        ).fit(X[:200], y[:200])  # fmt: skip
        paid = [stage.cost.mean() for stage in model.stages(X[200:], {"acquired"})][1:]
        ratios.append(np.mean(np.abs(paid / model.operating_points_["cost"][1:] - 1)))
    assert np.mean(ratios) < 0.04


def test_candidates_are_all_tradeoffs_and_every_single_stage(fitted):
    _, evidence, *_ = fitted
    pool = candidates(evidence, 10.0)
    assert len(pool) == TRADEOFFS.size + 3
    for stage, candidate in enumerate(pool[-3:]):
        assert (candidate.cost, candidate.cost_se) == (COSTS[stage], 0)
        assert candidate.observed == evidence.scores[stage].mean()
        assert candidate.last_stage == stage
        assert np.isnan(candidate.tradeoff)
    both = replace(pool[-1], thresholds=np.array([0.5, -np.inf, -np.inf]))
    assert both.last_stage == 1  # nobody comes to the third


def test_tradeoffs_are_about_shares_of_the_full_cost(fitted):
    _, evidence, *_ = fitted
    expected = exit_thresholds(evidence.confidence, evidence.expected_losses, COSTS[:, None] / 10)
    pool = candidates(evidence, 10.0)[: TRADEOFFS.size]
    found = [exit_stages(evidence.confidence, each.thresholds) for each in pool]
    np.testing.assert_array_equal(found, [exit_stages(evidence.confidence, e) for e in expected])


def test_a_gap_between_two_points_is_filled_where_it_costs_least():
    # Only the last stage knows anything, so that λ sends on everybody or nobody.
    random = np.random.RandomState(1)
    confidence = np.vstack([random.uniform(0.5, 0.6, (2, 500)), random.uniform(0.9, 1, 500)])
    losses = np.vstack([np.full((2, 500), 0.3), np.zeros(500)])
    trace = Trace(None, None, COSTS[:, None], COSTS[:, None])
    evidence = Evidence(
        trace, table_of(range(500)), confidence, losses, 1 - losses, np.ones(500), 1.0
    )
    pool = candidates(evidence, 10.0)
    corners = best_at_each_cost(pool)
    front = best_at_each_cost(pool + between(pool, evidence, 10.0))
    assert [each.cost for each in corners] == [1, 10]
    assert all(b.cost <= 1.11 * a.cost for a, b in pairwise(front))
    for each in front:  # by the one threshold that loses least: at the first stage
        assert each.score == pytest.approx(0.7 + 0.3 * (each.cost - 1) / 9)
        assert each.tradeoff == pytest.approx(10 * 0.3 / 9) or each in corners


def test_no_new_example_goes_beyond_what_any_has_come_to():
    # The last stage gains nothing; the second one gains for the two that the first is unsure of.
    # There they are surer than the two who have stopped.
    confidence = np.array([[0.9, 0.9, 0.5, 0.5], [0.6, 0.6, 0.9, 0.8], np.ones(4)])
    losses = np.array([[0, 0, 0.5, 0.5], np.zeros(4), np.zeros(4)])
    trace = Trace(None, None, np.array([[1.0], [2.0], [100.0]]), np.array([[1], [2], [3]]))
    evidence = Evidence(trace, table_of(range(4)), confidence, losses, 1 - losses, np.ones(4), 1.0)
    found = candidates(evidence, 100.0)
    two = [each for each in found if not np.isnan(each.tradeoff) and each.n_features == 1.5]
    assert two
    for each in two:
        assert each.last_stage == 1
        assert exit_stages(np.array([[0.4], [0.1], [1.0]]), each.thresholds) == [1]


def test_moving_one_threshold_comes_to_what_the_examples_say(fitted):
    _, evidence, *_ = fitted
    confidence = evidence.confidence
    cuts = [_Cuts(row) for row in confidence[:-1]]
    prices = np.stack([evidence.expected_losses, evidence.trace.spent + 0 * confidence])
    for candidate in candidates(evidence, 10.0)[20::3]:
        stages, thresholds, sums = _one_moved(candidate, confidence, prices, cuts)
        assert set(stages) == set(range(candidate.last_stage))
        for stage, threshold, found in list(zip(stages, thresholds, sums.T, strict=True))[::50]:
            moved = candidate.thresholds.copy()
            moved[stage] = threshold
            stops = exit_stages(confidence, moved)
            np.testing.assert_allclose(found, prices[:, stops, np.arange(400)].sum(axis=1))


def test_what_is_reported_is_what_happens_out_of_fold(fitted):
    _, evidence, *_ = fitted
    pool = candidates(evidence, 10.0)
    for candidate in pool + between(pool, evidence, 10.0):
        stops = exit_stages(evidence.confidence, candidate.thresholds)
        scores = [evidence.scores[stage, row] for row, stage in enumerate(stops)]
        assert candidate.cost == pytest.approx(np.mean(COSTS[stops]))
        # Other models than those that were measured: half as much again.
        error = 1.5 * COSTS[stops].std() / np.sqrt(len(stops))
        assert candidate.cost_se == pytest.approx(error)
        assert candidate.observed == pytest.approx(np.mean(scores))
        lost = evidence.expected_losses[stops, np.arange(stops.size)].mean()
        assert candidate.score == pytest.approx(evidence.best_score - lost)
        added = np.array(scores) - evidence.best_scores
        added += evidence.expected_losses[stops, np.arange(stops.size)]
        doubt = lost / 2
        trust = doubt**2 / (doubt**2 + added.var() / 400) if added.any() else 1
        assert candidate.correction == pytest.approx(trust * added.mean())
        assert candidate.observed_se == pytest.approx(np.std(scores) / 20)
        assert candidate.n_features == pytest.approx(np.mean([len(STAGES[s]) for s in stops]))


def test_the_front_grows_in_cost_and_in_score(fitted):
    _, evidence, *_ = fitted
    pool = candidates(evidence, 10.0)
    front = best_at_each_cost(pool)
    assert (np.diff([each.cost for each in front]) > 0).all()
    assert (np.diff([each.score for each in front]) > 0).all()
    best = max(pool, key=lambda each: each.score)
    assert front[-1].score == best.score
    assert len(front) > 3  # exits, not only the three stages
    # Out of order after corrections: .7, .6, .8, and the last is more than 1.
    points = [replace(front[0], score=score) for score in (0.6, 0.7, 0.8, 0.99)]
    points = [replace(p, correction=c) for p, c in zip(points, (0.1, -0.1, 0, 0.1), strict=True)]
    promised = [each.score for each in with_corrections(points, 0.5)]
    assert promised == pytest.approx([0.645, 0.655, 0.8, 0.999])
    assert with_corrections([replace(points[0], correction=-1)], 0.5)[0].score == pytest.approx(
        0.51
    )


def test_expected_loss_is_what_the_reference_sees_lost_on_the_label():
    probabilities = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]])
    trace = Trace(None, probabilities, COSTS[:2, None], COSTS[:2, None])
    evidence = class_evidence(trace, table_of([0, 1]), probabilities[-1])
    np.testing.assert_allclose(evidence.expected_losses, [[0.4, 0.0], [0.0, 0.0]], atol=1e-12)
    np.testing.assert_array_equal(evidence.scores, [[1, 1], [0, 1]])
    np.testing.assert_array_equal(evidence.best_scores, [0, 1])
    np.testing.assert_array_equal(evidence.confidence, [[0.9, 0.8], [0.7, 0.6]])


def test_the_always_last_candidate_is_expected_to_score_what_was_observed(fitted):
    _, evidence, *_ = fitted
    last = candidates(evidence, 10.0)[-1]
    assert last.score == evidence.best_score
    # Of many labels that are not the most frequent one the claims hardly count.
    assert last.score == pytest.approx(last.observed, abs=0.002)


def test_what_two_rows_gain_is_mostly_what_is_claimed():
    # Labels 1, 1 claim .4 and .2 more than label 0; seen is -1 and 1, with an error of 1 / √2.
    claims = np.array([[0.3, 0.7], [0.4, 0.6]])
    trust = 0.15**2 / (0.15**2 + 0.5)
    expected = 0.5 + (1 - trust) * 0.3
    assert expected_accuracy(claims, table_of([0, 1])) == pytest.approx(expected)
    twice = expected_accuracy(claims, table_of([0, 1], weight=np.array([2.0, 2.0])))
    assert twice == pytest.approx(expected)


def test_labels_that_all_are_the_most_frequent_one_are_right_as_often_as_it():
    sure = np.tile([0.1, 0.9], (10, 1))
    labels = (np.arange(10) > 1).astype(int)
    assert expected_accuracy(sure, table_of(labels)) == pytest.approx(0.8)
    weight = np.where(labels, 1.0, 2.0)
    assert expected_accuracy(sure, table_of(labels, weight=weight)) == pytest.approx(8 / 12)


def test_rare_labels_are_judged_by_their_claims_as_far_as_luck_is_large():
    random = np.random.default_rng(0)
    # One row in twenty is labelled 1, with a claim of .6: each such row gains .2.
    chances = np.where(np.arange(4000) % 20, 0.05, 0.6)
    claims = np.column_stack([1 - chances, chances])
    off = []
    for _ in range(40):
        labels = (random.random(4000) < chances).astype(int)[:400]
        seen = np.mean(claims[:400].argmax(axis=1) == labels)
        expected = expected_accuracy(claims[:400], table_of(labels))
        truth = np.mean(labels == 0) + 0.2 / 20
        off.append((seen - truth, expected - truth))
    seen, expected = np.sqrt(np.mean(np.square(off), axis=0))
    assert expected < 0.6 * seen


def test_numbers_are_expected_to_lose_their_distance_to_the_reference():
    predictions = np.array([[0.0, 2.0], [1.0, 4.0]])
    trace = Trace(None, predictions[:, :, None], COSTS[:2, None], COSTS[:2, None])
    evidence = number_evidence(trace, predictions, table_of([1.0, 5.0], None), predictions[-1])
    np.testing.assert_allclose(evidence.expected_losses, [[0.25, 1], [0, 0]])
    np.testing.assert_allclose(evidence.scores, [[0.75, -1.25], [1, 0.75]])
    np.testing.assert_allclose(evidence.best_scores, [1, 0.75])
    np.testing.assert_array_equal(evidence.confidence, -predictions)  # sure where little changes
    assert evidence.best_score == pytest.approx(0.875)
    # A reference that is too close to the mean, and elsewhere, would promise the mean a gain.
    random = np.random.default_rng(0)
    y, weight = random.standard_normal((2, 200))
    table = replace(table_of(y, None), weight=np.exp(weight))
    said = 5 + 0.5 * (y + random.standard_normal(200))
    calibrated = calibrated_numbers(said[:, None], table)
    constant = np.full((2, 200, 1), table.constant)
    evidence = number_evidence(Trace(None, constant, None, None), y, table, calibrated[:, 0])
    assert evidence.best_score == pytest.approx(np.cov(said, y, aweights=table.weight)[0, 1] ** 2
                                                / np.cov(said, aweights=table.weight)
                                                / np.cov(y, aweights=table.weight))  # fmt: skip
    assert evidence.best_score == pytest.approx(table.mean(evidence.expected_losses[0]))
    assert (calibrated_numbers(-said[:, None], table) == table.constant).all()


def test_the_error_of_r2_counts_that_the_variance_is_of_the_same_rows():
    random, y = np.random.default_rng(0), np.random.default_rng(1).exponential(size=400)
    predictions = np.array([np.full(400, y.mean()), y + random.standard_normal(400)])
    trace = Trace(None, predictions[:, :, None], np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]))
    evidence = number_evidence(trace, predictions, table_of(y, None), predictions[-1])
    never, always = (
        _judged(evidence, np.array([first, -np.inf]), 0.0) for first in (-np.inf, np.inf)
    )
    assert (never.observed, never.observed_se) == pytest.approx((0, 0), abs=1e-12)
    drawn = random.integers(400, size=(400, 400))
    redrawn = [r2_score(y[rows], predictions[1, rows]) for rows in drawn]
    assert always.observed_se == pytest.approx(np.std(redrawn), rel=0.15)


def test_equal_sets_share_a_model_and_any_number_of_threads_gives_the_same(fitted):
    *_, models, X = fitted
    assert len(models.models) == 2 * len(STAGES)
    y = (X @ [2.0, 1.5, 1.0, 0.5] > 0).astype(np.intp)
    table = Table(X, y, 2, assign_folds(y, 2, 5, np.random.RandomState(0)))
    one, two = (
        StageModels.fit(table, [*STAGES, (0, 1)], {"forest": as_kind("forest", 2)}, 3, n_jobs=n)
        for n in (1, 2)
    )
    assert len(one.models) == len(STAGES)
    for key, held_out in one.held_out.items():
        np.testing.assert_array_equal(held_out, two.held_out[key])


def test_the_walk_is_what_all_stages_together_say(fitted):
    cascade, evidence, models, X = fitted
    reader = cascade.reader(models, X, Answers(len(X)))
    every_row = np.arange(len(X))
    stages = np.array([reader.predict(stage, every_row) for stage in range(3)])
    for candidate in best_at_each_cost(candidates(evidence, 10.0)):
        stops, predictions = walk(candidate, cascade.reader(models, X, Answers(len(X))), len(X))
        np.testing.assert_array_equal(stops, exit_stages(stages.max(axis=2), candidate.thresholds))
        np.testing.assert_array_equal(predictions, stages[stops, every_row])


def test_the_walk_looks_at_nothing_that_is_not_acquired(fitted):
    cascade, evidence, models, X = fitted
    for candidate in best_at_each_cost(candidates(evidence, 10.0)):
        stops, predictions = walk(candidate, cascade.reader(models, X, Answers(len(X))), len(X))
        hidden = np.full_like(X, np.nan)
        for stage, features in enumerate(STAGES):
            hidden[np.ix_(stops == stage, features)] = X[np.ix_(stops == stage, features)]
        again = walk(candidate, cascade.reader(models, hidden, Answers(len(X))), len(X))
        np.testing.assert_array_equal(again[0], stops)
        np.testing.assert_array_equal(again[1], predictions)


def test_models_that_no_cascade_asks_are_dropped(fitted):
    cascade, _, models, _ = fitted
    alone = (Mixture(("forest",), np.ones(1), np.ones(1)),)
    shorter = Cascade("short", STAGES[:1], COSTS[:1], alone, cascade.temperatures[:1])
    kept = models.only([shorter])
    assert set(kept.models) == {("forest", (1,))}
    assert not kept.held_out
    # Between two stages, the next one's kinds of enough weight predict, with its weights.
    kinds, weights = ("a", "b", "c"), [[0.5, 0.4, 0.1], [0.1, 0.1, 0.8], [0.1, 0.3, 0.6]]
    mixtures = tuple(Mixture(kinds, np.array(each), np.ones(3)) for each in weights)
    longer = Cascade("long", ((1,), (1, 0, 2), (1, 0, 2, 4, 3, 5)), COSTS, mixtures, None)
    found = longer.mixtures_between(4, 0.15)
    assert {key: each.kinds for key, each in found.items()} == {
        (0, 1): ("c",),
        (0, 1, 2, 4): ("b", "c"),
    }
    np.testing.assert_allclose(found[0, 1, 2, 4].weights, [1 / 3, 2 / 3])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_temperature_is_found_again(temperature):
    random = np.random.default_rng(0)
    scores = 2 * random.standard_normal((40_000, 3))
    true = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = (random.random(len(true))[:, None] > true.cumsum(axis=1)).sum(axis=1)
    found = fit_temperature(with_temperature(true, 1 / temperature), labels)
    assert found == pytest.approx(temperature, rel=0.06)


def test_the_temperature_is_that_of_least_log_loss():
    """Of examples some of which are as good as sure and some as good as unknown."""
    random = np.random.default_rng(1)
    scores = random.standard_normal((400, 3)) * random.choice([0.1, 6.0], (400, 1))
    given = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = random.integers(0, 3, 400)
    sure = random.random(400) < 0.8
    labels[sure] = given[sure].argmax(axis=1)

    def loss(temperature):
        chances = with_temperature(given, temperature)[np.arange(400), labels]
        return -np.log(chances).mean()

    grid = np.exp(np.linspace(np.log(0.2), np.log(5), 200))
    best = grid[np.argmin([loss(temperature) for temperature in grid])]
    assert fit_temperature(given, labels) == pytest.approx(best, rel=0.03)


def test_a_class_without_votes_is_not_impossible():
    cooled = with_temperature(np.array([[1.0, 0.0]]), 1.0)
    assert 0 < cooled[0, 1] < 1e-3
    assert fit_temperature(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1])) == pytest.approx(
        5, rel=0.05
    )


def routes(name, stages, prices, scores, dynamic=False):
    """One candidate for each stage of an order, at which all examples stop."""
    costs = np.array([prices.subset(list(features)) for features in stages])
    order = Cascade(name, stages, costs, (), None)
    if dynamic:
        object.__setattr__(order, "dynamic", True)
    stops = np.where(np.eye(len(stages), dtype=bool), -np.inf, np.inf)
    return [
        Candidate(order, stop, np.nan, cost, 0.0, score, score, 0.0, len(features))
        for stop, cost, score, features in zip(stops, costs, scores, stages, strict=True)
    ]


@pytest.mark.parametrize(
    ("cap", "dynamic", "name"),
    [
        (9, False, "cheap"),  # of the expensive feature, 8 of 9 coins buy nothing
        (9, True, "cheap"),
        (10, False, "expensive"),
        (8, False, "bundle"),  # one of its two features, which is more than half of the way
        (8, True, "cheap"),
    ],
)
def test_under_a_cap_a_stage_counts_as_far_as_its_features_are_paid_for(cap, dynamic, name):
    prices = FeatureCosts([1.0, 9, 4, 7, 6])
    offers = [
        *routes("expensive", ((0,), (0, 1)), prices, (0.6, 0.9), dynamic),
        *routes("cheap", ((0,), (0, 2), (0, 2, 4)), prices, (0.6, 0.7, 0.71), dynamic),
        # Of this one the feature that is paid for is a smaller part of the way to more.
        *routes("late", ((0,), (0, 4, 3)), prices, (0.6, 0.86 if cap == 8 else 0.7), dynamic),
    ]
    if cap == 8:
        offers += routes("bundle", ((0,), (0, 3, 4)), prices, (0.6, 0.85), dynamic)
    free = routes("all", ((0, 1, 2, 3, 4),), prices, (1.0,))[0]
    found = under_cap(free, offers, prices, cap)
    assert found.cascade.name == name
    assert found.last_stage == (2 if dynamic else 1)  # each example goes on as far as it can


def test_a_gain_over_the_constant_counts_as_far_as_it_is_confirmed():
    prices = FeatureCosts([1.0, 2.0])
    constant, worse, better = routes("any", ((), (0,), (0, 1)), prices, (0.5, 0.6, 0.9))
    # The constant's own score is what is observed; the second point only seems to be better.
    constant, worse = replace(constant, observed=0.7), replace(worse, observed=0.8)
    better = replace(better, correction=0.04)
    first, *others = above_constant([worse, better], constant, 0.25)
    assert [each.correction for each in (first, *others)] == [0.0, pytest.approx(0.01)]
    assert (first.score, first.observed) == (0.7, 0.7)
    assert [(each.cost, each.score, each.observed) for each in others] == [(3.0, 0.75, 0.75)]
    assert len(above_constant([worse, better], constant, 0.0)) == 1
