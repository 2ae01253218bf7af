"""Areas up to a horizon: by hand, and a method that is best at small budgets only."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.areas import HORIZONS, area_table, horizon_areas, horizon_table
from budgetbench.analysis.ranks import horizon_ranks, survives_leaving_one_out, winners
from budgetbench.analysis.schedules import RUN, compressed_points
from budgetbench.report.sections.compare import winner_sentences
from tests.analysis.test_areas import small_study
from tests.factories import fail, make_display, make_points


def stays_without_one(table, methods):
    first = winners(horizon_ranks(table, methods))
    return survives_leaving_one_out(table, methods, first)


def areas_of(points):
    return horizon_areas(points, compressed_points(points))


def test_areas_by_hand():
    found = areas_of(small_study([(2, 0.7, 0.6), (5, 0.9, 0.8)]))
    area = found[found["method"] == "m"].set_index("horizon")["aup"]
    assert area["10 %"] == pytest.approx(0.5)
    assert area["25 %"] == pytest.approx((0.2 * 0.5 + 0.05 * 0.6) / 0.25)
    assert area["50 %"] == pytest.approx((0.2 * 0.5 + 0.3 * 0.6) / 0.5)
    assert area["100 %"] == pytest.approx(0.2 * 0.5 + 0.3 * 0.6 + 0.5 * 0.8)
    at = 1 + np.log10([0.2, 0.5]) / 2
    expected = at[0] * 0.5 + (at[1] - at[0]) * 0.6 + (1 - at[1]) * 0.8
    assert area["log"] == pytest.approx(expected)


def test_free_and_tiny_costs_stand_at_the_left_of_the_log_axis():
    found = areas_of(small_study([(0, 0.6, 0.7), (0.001, 0.8, 0.9)]))
    area = found[found["method"] == "m"].set_index("horizon")["aup"]
    assert area["log"] == pytest.approx(0.9)


def slow_log_area(costs, scores, baseline):
    """Return the mean height over the logarithm of the budget from 1 to 100 %, piece by piece."""
    budgets = np.unique(np.r_[0.01, costs[(costs > 0.01) & (costs < 1)], 1.0])
    total = 0.0
    for start, end in pairwise(budgets):
        affordable = np.flatnonzero(costs <= start)  # in the order of the schedule
        height = scores[affordable[-1]] if affordable.size else baseline
        total += height * (np.log10(end) - np.log10(start)) / 2
    return total


def test_the_log_axis_agrees_with_a_slow_reference():
    # On test data the costs come in another order than on validation data, which chose.
    random = np.random.default_rng(0)
    for _ in range(60):
        costs = random.permutation(10 ** random.uniform(-4, 0, size=8))
        scores = random.random(8)
        points = small_study(list(zip(10 * costs, np.linspace(0.1, 0.9, 8), scores, strict=True)))
        schedules = points[points["method"] == "m"].assign(valid_fraction=np.arange(8) / 8)
        found = horizon_areas(points, schedules).query("method == 'm'").set_index("horizon")["aup"]
        assert found["log"] == pytest.approx(slow_log_area(costs, scores, 0.5), abs=1e-12)


def test_the_whole_horizon_is_the_area():
    points = make_points()
    schedules = compressed_points(points)
    whole = horizon_areas(points, schedules).query("horizon == '100 %'").set_index(RUN)["aup"]
    known = area_table(points, schedules).set_index(RUN)["aup_test"]
    pd.testing.assert_series_equal(whole.sort_index(), known.sort_index(), check_names=False)


def test_runs_in_which_the_constant_failed_are_left_out():
    points = fail(make_points(n_runs=3), "constant", 1)
    found = areas_of(points)
    assert set(found.query("dataset == 'wine'")["run"]) == {0, 2}
    assert set(found.query("dataset == 'breast_cancer'")["run"]) == {0, 1, 2}
    assert found["aup"].notna().all()


def test_mean_and_sample_deviation_over_runs():
    shares = [0.1, 0.2, 0.6]
    rows = [("d", "random", "m", run, "100 %", aup) for run, aup in enumerate(shares)]
    (row,) = horizon_table(pd.DataFrame(rows, columns=[*RUN, "horizon", "aup"])).itertuples()
    assert row.mean_test == pytest.approx(0.3)
    assert row.sd_test == pytest.approx(np.sqrt((0.2**2 + 0.1**2 + 0.3**2) / 2))
    assert row.n_runs == 3


def early_and_late(names):
    """Return points of "msb", best at small budgets only, and "logitb", best at the end."""
    frames = []
    for name in names:
        early = small_study([(0.5, 0.8, 0.8)]).assign(dataset=name)
        early["method"] = early["method"].replace("m", "msb")
        late = small_study([(3, 0.95, 0.95)]).assign(dataset=name)
        frames += [early, late[late["method"] == "m"].assign(method="logitb")]
    return pd.concat(frames, ignore_index=True)


def test_a_method_that_is_best_at_small_budgets_is_seen():
    names = ["wine", "breast_cancer"]
    table = horizon_table(areas_of(early_and_late(names)))
    first = winners(horizon_ranks(table, ["msb", "logitb"]))
    assert [*first] == [*HORIZONS]
    assert [*first.values()] == [["msb"], ["msb"], ["msb"], ["logitb"], ["msb"]]
    assert horizon_ranks(table, ["msb", "logitb"]).index.tolist() == ["logitb", "msb"]
    (sentence,) = winner_sentences(table, make_display())
    assert "depends on how much" in sentence
    assert "logitB up to 100 %" in sentence


def test_a_winner_that_one_data_set_decides_is_told():
    points = make_points()
    turned = (points["dataset"] == "wine") & (points["method"] == "msb")
    points.loc[turned, "test_score"] -= 0.5
    table = horizon_table(areas_of(points))
    assert not stays_without_one(table, ["msb", "logitb"])["100 %"]
    stays = stays_without_one(table, ["msb", "logitb"])
    *_, told = winner_sentences(table, make_display())
    assert told.startswith("Leaving one data set out changes who is first")
    for horizon in ("10 %", "25 %", "50 %", "100 %"):
        assert ("at every horizon" in told or f"up to {horizon}" in told) != stays[horizon]
    wine = table[table["dataset"] == "wine"]  # it decides also with prices of several kinds
    table = pd.concat([table, wine.assign(costs="unit"), wine.assign(costs="given")])
    assert not stays_without_one(table, ["msb", "logitb"])["100 %"]
    points = make_points()
    points.loc[points["method"] == "logitb", "test_score"] -= 0.6
    steady = horizon_table(areas_of(points))
    assert stays_without_one(steady, ["msb", "logitb"])["100 %"]
    (sentence,) = winner_sentences(steady, make_display())
    assert sentence == "msB has the best mean rank however much of the full cost may be spent."


def test_who_share_the_best_rank_are_all_named():
    points = make_points()
    twin = points[points["method"] == "msb"].assign(method="logitb")
    rest = points[points["method"] != "logitb"]
    table = horizon_table(areas_of(pd.concat([rest, twin], ignore_index=True)))
    told = list(winner_sentences(table, make_display()))
    assert told == [
        "msB and logitB share the best mean rank however much of the full cost may be spent."
    ]


def test_a_data_set_with_fewer_methods_is_not_counted():
    points = make_points()
    points.loc[points["method"] == "logitb", "test_score"] -= 0.6
    fewer = points[(points["dataset"] == "wine") | (points["method"] != "logitb")]
    (sentence,) = winner_sentences(horizon_table(areas_of(fewer)), make_display())
    assert sentence == (
        "msB has the best mean rank however much of the full cost may be spent (over 1 of 2 data "
        "sets, those with the most methods)."
    )


def test_all_others_stay_when_a_data_set_is_left_out():
    # The first is best on three of four data sets, and so on two of any three.
    areas = {"a": [0.9, 0.9, 0.9, 0.1], "b": [0.5] * 4}
    rows = [
        {"dataset": f"d{place}", "costs": "unit", "method": name, "horizon": horizon}
        | {"mean_test": area}
        for name, means in areas.items()
        for place, area in enumerate(means)
        for horizon in HORIZONS
    ]
    assert all(stays_without_one(pd.DataFrame(rows), ["a", "b"]).values())


def test_the_only_data_set_that_is_ranked_is_left_in():
    points = make_points()
    points.loc[points["method"] == "logitb", "test_score"] += 0.6
    fewer = points[(points["dataset"] == "wine") | (points["method"] != "logitb")]
    table = horizon_table(areas_of(fewer))
    assert all(stays_without_one(table, ["msb", "logitb"]).values())


def test_a_single_data_set_is_left_in():
    table = horizon_table(areas_of(make_points().query("dataset == 'wine'")))
    assert all(stays_without_one(table, ["msb", "logitb"]).values())
