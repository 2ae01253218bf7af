"""What the page's slider works from: recommendations with the models of single runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from budgetbench.analysis.recommendations import recommendations
from budgetbench.analysis.schedules import compressed_points
from budgetbench.report.sections import what_to_buy
from tests.factories import METHODS, make_points, make_prices, make_report, make_study, prices_of


@pytest.fixture(scope="module")
def kept():
    return compressed_points(make_points())


def offers(kept):
    table = recommendations(kept, METHODS, "wine", "random", ratio=1 / 3, span=(0, 1))
    table = table.assign(dataset="wine", costs="random")
    results = SimpleNamespace(recommendations=table, schedules=kept)
    report = SimpleNamespace(results=results, prices=make_prices())
    return what_to_buy.WhatToBuy(make_study()).script_data(report, "wine", "random")


def intervals_in(data):
    """Yield every (low, score, high) in what the page embeds."""
    if isinstance(data, dict):
        if data.get("low") is not None and "test" in data:
            yield data["low"], data["test"], data["high"]
        data = list(data.values())
    if isinstance(data, list):
        for inner in data:
            yield from intervals_in(inner)


def test_models_stand_beside_the_runs_that_were_compared():
    kept = compressed_points(make_points())
    kept.loc[kept["run"] == 1, "held_out_score"] = np.nan
    data = offers(kept)
    runs = [one["run"] for one in data["runs"]]
    assert runs == [run for run in sorted(kept["run"].unique()) if run != 1]
    wine = kept[(kept["dataset"] == "wine") & (kept["costs"] == "random")]
    for offer in data["offers"]:
        for run, place in zip(runs, offer["models"], strict=True):
            own = wine[(wine["run"] == run) & (wine["method"] == offer["method"])]
            assert data["models"][place]["cost"] in own["valid_cost"].tolist()


@pytest.mark.parametrize("n_runs", [2, 3, 5])
def test_every_interval_of_accuracy_is_within_its_bounds(n_runs):
    random = np.random.default_rng(n_runs)
    points = make_points(n_runs)
    noise = random.normal(0, 0.3, size=len(points))
    points["held_out_score"] = (points["held_out_score"] + noise).clip(0, 1)
    report = make_report(points)
    section = what_to_buy.WhatToBuy(report.study)
    shown = [section.script_data(report, *case) for case in report.cases]
    found = np.array(list(intervals_in(shown)))
    table = section.tables(report)["recommendations"][["low", "test", "high"]]
    found = np.r_[found, table.to_numpy(dtype=float)]
    found = found[~np.isnan(found).any(axis=1)]  # runs that are clipped to the same score have none
    assert len(found) > 10
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found, axis=1) >= 0).all()


def test_one_run_has_no_spread():
    kept = compressed_points(make_points(n_runs=1))
    assert np.isnan(offers(kept)["offers"][0]["valid_sd"])


def test_nothing_completed_offers_nothing(kept):
    assert offers(kept.iloc[:0])["offers"] == []


def test_prices_of_what_is_bought_add_up(kept):
    data = offers(kept)
    assert data["runs"][2]["prices"] == list(prices_of("wine", 2))
    for offer in data["offers"]:
        for model, run in zip(offer["models"], data["runs"], strict=True):
            bought = data["models"][model]["bought"]
            total = sum(run["prices"][feature] * rate for feature, rate in bought)
            assert total == pytest.approx(data["models"][model]["cost"])


def test_what_is_bought_most_comes_first(kept):
    rated = kept.head(1).assign(acquisition_rates=[np.float32([0, 0.25, 1])], setting="c=0.12345")
    (row,) = rated.itertuples()
    assert what_to_buy._model(row)["bought"] == [[2, 1.0], [1, 0.25]]
    assert what_to_buy._model(row)["setting"] == "c=0.123"
