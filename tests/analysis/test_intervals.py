"""Intervals: within [0, 1] where scores are, and true of a lead that was chosen for being one."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from budgetbench.analysis.differences import corrected_interval, lead_table, score_interval


@pytest.mark.parametrize("n_runs", [2, 3, 5, 20])
def test_intervals_of_bounded_scores_stay_within_bounds(n_runs):
    random = np.random.default_rng(n_runs)
    for _ in range(200):
        scores = random.beta(*random.choice([0.2, 1, 8], 2), size=n_runs)
        mean, low, high = score_interval(scores, 1 / 3, (0, 1))
        assert 0 <= low <= mean <= high <= 1
        assert mean == pytest.approx(scores.mean())


def test_a_narrow_interval_is_the_plain_one():
    scores = 0.7 + 0.001 * np.random.default_rng(0).standard_normal(20)
    plain = corrected_interval(scores, 0.25)[:3]
    assert score_interval(scores, 0.25, (0, 1)) == pytest.approx(plain, abs=1e-6)


def test_other_scores_keep_the_plain_interval_up_to_that_of_perfect_predictions():
    scores = np.array([-3.0, 0.9, 0.2])
    mean, low, high, _ = corrected_interval(scores, 0.25)
    assert score_interval(scores, 0.25, (-np.inf, np.inf)) == (mean, low, high)
    assert score_interval(scores, 0.25, (-np.inf, 1.0)) == (mean, low, 1.0)


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [0.7, 0.7, 0.7], [0.4, 0.4]])
def test_equal_scores_have_no_interval(scores):
    mean, *bounds = score_interval(np.array(scores), 0.25, (0, 1))
    assert mean == pytest.approx(scores[0])
    assert np.isnan(bounds).all()


def test_one_run_has_no_interval():
    mean, *bounds = score_interval(np.array([0.8]), 0.25, (0, 1))
    assert mean == 0.8
    assert np.isnan(bounds).all()


def test_bounded_intervals_cover_a_mean_near_the_bound():
    """Where the plain interval leaves [0, 1] the other one still covers as often as it should."""
    random = np.random.default_rng(1)
    draws = random.binomial(60, 0.97, size=(2000, 8)) / 60
    found = np.array([score_interval(scores, 0.0, (0, 1)) for scores in draws])
    assert np.mean((found[:, 1] <= 0.97) & (found[:, 2] >= 0.97)) > 0.93


def equal_methods(random, n_methods, n_runs, kind):
    """Return scores of methods of the same true mean, runs × methods."""
    noise = random.standard_normal((n_runs, n_methods))
    if kind == "pairs alike":  # two by two they differ by a hundredth of what others do
        noise = np.repeat(noise[:, ::2], 2, axis=1)[:, :n_methods] + 0.01 * noise
    if kind == "one erratic":
        noise[:, 0] *= 10
    if kind == "runs shared":
        noise += 3 * random.standard_normal((n_runs, 1))
    return 0.7 + 0.01 * noise


def leads_of(studies, ratio=0.0):
    """Return the lead of the best of each study's scores, runs × methods."""
    wide = {name: pd.DataFrame(scores).add_prefix("m") for name, scores in enumerate(studies)}
    wide = pd.concat(wide, names=["dataset", "run"]).reset_index()
    long = wide.melt(["dataset", "run"], var_name="method", value_name="aup_test")
    long = long.assign(costs="random", status="ok")
    return lead_table(long, long["method"].unique(), dict.fromkeys(range(len(studies)), ratio))


N_STUDIES = 60


@pytest.mark.parametrize(
    ("n_methods", "kind"),
    [(2, "independent"), (6, "one erratic"), (16, "pairs alike")],
)
def test_equal_methods_seem_to_lead_in_one_study_of_twenty_at_most(n_methods, kind):
    random = np.random.default_rng(7)
    leads = leads_of([equal_methods(random, n_methods, 10, kind) for _ in range(N_STUDIES)])
    claimed = (leads["low"] > 0).sum()
    assert claimed <= stats.binom.ppf(0.99, N_STUDIES, 0.05)
    assert (leads["low"] <= leads["lead"]).all()
    assert (leads["lead"] <= leads["high"]).all()


def test_the_interval_of_a_lead_by_hand():
    scores = np.array([[0.9, 0.8, 0.5], [0.8, 0.8, 0.6], [0.95, 0.8, 0.4], [0.85, 0.8, 0.7]])
    # Equal but for rounding, which is nobody's lead.
    scores[1, 0] += 1e-16
    lead = leads_of([scores], 0.25).iloc[0]
    bounds = []
    for rival in (1, 2):
        gap = scores[:, 0] - scores[:, rival]
        error = np.sqrt((1 / 4 + 0.25) * gap.var(ddof=1))
        reach = stats.t.ppf(1 - 0.025 / 2, 3) * error
        bounds.append((gap.mean() - reach, gap.mean() + reach))
    assert (lead["low"], lead["high"]) == pytest.approx(np.min(bounds, axis=0))
    assert (lead["best"], lead["runner_up"], lead["wins"]) == ("m0", "m1", 3)
    assert lead["lead_sd"] == pytest.approx(np.std([0.1, 0.0, 0.15, 0.05], ddof=1))
    # Equal runs of one lead have no interval, so that over all others has none either.
    scores[:, 2] = scores[:, 0] - 0.3
    assert leads_of([scores], 0.25)[["low", "high"]].isna().all(axis=None)
    assert corrected_interval(np.array([0.0, 1e-16]), 0.25) == (0.0, 0.0, 0.0, 1.0)


def test_failures_of_a_method_behind_do_not_make_a_lead_uncertain():
    scores = 0.8 + 0.001 * np.random.default_rng(0).standard_normal((6, 3)) - [0, 0.05, 0.06]
    scores[:2, 2] = 0.3
    long = pd.DataFrame(scores).rename_axis("run").reset_index()
    long = long.melt("run", var_name="method", value_name="aup_test").assign(dataset="d", costs="u")
    lacking = (long["method"] == 2) & (long["run"] < 2)
    long["status"] = np.where(lacking, "timeout: made up", "ok")
    lead = lead_table(long, [0, 1, 2], {"d": 1 / 3}).iloc[0]
    assert (lead["best"], lead["runner_up"]) == (0, 1)
    assert 0 < lead["low"] <= lead["lead"] <= lead["high"]
    # It counts as one of two others all the same, and so do the failures of the runner-up.
    gap = scores[:, 0] - scores[:, 1]
    expected = corrected_interval(gap, 1 / 3, level=0.025)[1:3]
    assert (lead["low"], lead["high"]) == pytest.approx(expected)
    long["status"] = np.where((long["method"] == 1) & (long["run"] < 2), "timeout: made up", "ok")
    lead = lead_table(long, [0, 1], {"d": 1 / 3}).iloc[0]
    assert lead[["low", "high"]].tolist() == pytest.approx(corrected_interval(gap, 1 / 3)[1:3])
    begun = long[(long["method"] != 1) | (long["run"] > 0)]
    assert lead_table(begun, [0, 1], {"d": 1 / 3})["lead"][0] == pytest.approx(gap[1:].mean())


def test_a_clear_lead_is_still_seen():
    random = np.random.default_rng(3)
    scores = equal_methods(random, 16, 20, "runs shared")
    scores[:, 4] += 0.05
    lead = leads_of([scores], 1 / 3).iloc[0]
    assert lead["best"] == "m4"
    assert lead["low"] > 0
