"""Exit thresholds of a cascade: what they minimise, and where they may lie."""

from itertools import product

import numpy as np
import pytest

from budgetlearn.cascade.pool import TRADEOFFS, _Cuts, exit_stages, exit_thresholds

COSTS = np.array([0.1, 0.3, 1.0])[:, None]


def problem(n_samples=200, n_stages=3, seed=0, n_levels=None):
    """Return confidence that grows with the stages, and losses that it tells something about."""
    random = np.random.default_rng(seed)
    hardness = random.random(n_samples)
    confidence = 1 - hardness * np.linspace(1, 0.3, n_stages)[:, None]
    confidence = np.clip(confidence + 0.1 * random.standard_normal(confidence.shape), 0, 1)
    if n_levels:
        confidence = np.round(confidence * n_levels) / n_levels
    return confidence, (random.random(confidence.shape) > confidence).astype(float)


def mean_price(thresholds, confidence, losses, costs, tradeoff):
    """Return mean loss + λ · cost of the policy, example by example."""
    total, costs = 0.0, np.broadcast_to(costs, confidence.shape)
    for example in range(confidence.shape[1]):
        for stage, threshold in enumerate(thresholds):
            if confidence[stage, example] >= threshold:
                total += losses[stage, example] + tradeoff * costs[stage, example]
                break
    return total / confidence.shape[1]


def slow_cut(confidence, gains):
    """Try every threshold of one stage."""
    best = (0.0, np.inf)
    for threshold in np.unique(confidence):
        best = max(best, (gains[confidence >= threshold].sum(), threshold))
    return best


@pytest.mark.parametrize("tradeoff", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("n_levels", [None, 8])
@pytest.mark.parametrize("own_costs", [False, True])
def test_two_stages_are_solved_exactly(tradeoff, n_levels, own_costs):
    confidence, losses = problem(n_stages=2, n_levels=n_levels)
    costs = np.array([[0.2], [1.0]])
    if own_costs:
        costs = costs * np.random.RandomState(1).rand(confidence.shape[1])
    found = exit_thresholds(confidence, losses, costs, [tradeoff])[0]
    price = losses + tradeoff * costs
    gain, _ = slow_cut(confidence[0], price[1] - price[0])
    expected = (price[1].sum() - gain) / price.shape[1]
    assert mean_price(found, confidence, losses, costs, tradeoff) == pytest.approx(expected)


@pytest.mark.parametrize("tradeoff", [0.02, 0.2])
def test_three_stages_come_near_the_best_of_all_pairs_of_thresholds(tradeoff):
    confidence, losses = problem(60, n_levels=12)
    levels = [*np.unique(confidence), np.inf]
    best = min(
        mean_price((*pair, -np.inf), confidence, losses, COSTS, tradeoff)
        for pair in product(levels, levels)
    )
    found = exit_thresholds(confidence, losses, COSTS, [tradeoff])[0]
    assert mean_price(found, confidence, losses, COSTS, tradeoff) <= best + 0.01


def test_passes_of_descent_make_it_better_or_leave_it():
    gains = 0.0
    for seed in range(20):
        confidence, losses = problem(seed=seed, n_stages=5)
        costs = np.array([0.05, 0.1, 0.3, 0.6, 1.0])[:, None]
        prices = [
            mean_price(
                exit_thresholds(confidence, losses, costs, [0.1], n_passes)[0],
                confidence, losses, costs, 0.1,
            )
            for n_passes in (0, 1, 2)
        ]  # fmt: skip
        assert prices[0] >= prices[1] - 1e-12
        assert prices[1] >= prices[2] - 1e-12
        gains += prices[0] - prices[2]
    assert gains > 0.01


def test_examples_of_equal_confidence_stop_together():
    confidence, losses = problem(300, n_levels=5)
    for thresholds in exit_thresholds(confidence, losses, COSTS, TRADEOFFS):
        stages = exit_stages(confidence, thresholds)
        for level in np.unique(confidence[0]):
            assert np.unique((stages == 0)[confidence[0] == level]).size == 1


def test_prices_decide_at_both_ends():
    confidence, losses = problem()
    first, last = exit_thresholds(confidence, losses, COSTS, [100.0, 0.0])
    assert (exit_stages(confidence, first) == 0).all()
    assert first[0] == -np.inf
    assert exit_stages(confidence, last).mean() > 1


def test_neighbouring_floats_can_be_told_apart():
    low = 0.5
    confidence = np.array([[low, np.nextafter(low, 1)], [1.0, 1.0]])
    losses = np.array([[1.0, 0.0], [0.0, 0.0]])
    thresholds = exit_thresholds(confidence, losses, np.array([[0.0], [0.5]]), [1.0])[0]
    np.testing.assert_array_equal(exit_stages(confidence, thresholds), [1, 0])
    # Elsewhere a threshold is in the middle between two examples.
    assert _Cuts(np.array([0.25, 1.0, 0.5, 0.5])).thresholds.tolist() == [0.75, 0.375, -np.inf]
