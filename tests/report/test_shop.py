"""What to buy: the best validated method that every run affords, never chosen on test data."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark.points import compressed_points
from budgetlearn.report import shop
from budgetlearn.report.metadata import Metadata

from ..made_up import fail, made_up_metadata, made_up_points, prices_of


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


@pytest.fixture(scope="module")
def kept():
    return compressed_points(made_up_points())


def affordable(kept, budget):
    """Return each method's mean validation score under a budget, as a slow twin would find it."""
    wine = kept[(kept["dataset"] == "wine") & (kept["valid_fraction"] <= budget + 1e-9)]
    best = wine.groupby(["method", "run"])["valid_score"].max().reset_index()
    return best.pivot_table("valid_score", "method", "run").dropna().mean(axis=1)


def test_recommendations_are_the_best_mean_under_each_budget(kept, metadata):
    table = shop.recommendations(kept, metadata, "wine", "random")
    assert table["budget"].is_monotonic_increasing
    assert table["valid"].is_monotonic_increasing
    for budget in np.linspace(0, 1, 41):
        offer = table[table["budget"] <= budget].iloc[-1]
        means = affordable(kept, budget)
        assert offer["valid"] == pytest.approx(means.max())
        assert means[offer["method"]] == pytest.approx(means.max())


def test_nothing_is_free_but_the_constant(kept, metadata):
    first = shop.recommendations(kept, metadata, "wine", "random").iloc[0]
    assert first["method"] == "constant"
    assert first["budget"] == first["cost"] == 0


def test_models_are_those_of_the_means(kept, metadata):
    table = shop.recommendations(kept, metadata, "wine", "random")
    for offer in table.itertuples():
        models = kept.loc[offer.models]
        assert list(models["run"]) == [0, 1, 2, 3, 4]
        assert set(models["method"]) == {offer.method}
        assert (models["valid_fraction"] <= offer.budget + 1e-9).all()
        assert models["test_score"].mean() == pytest.approx(offer.test)
        assert models["valid_score"].std() == pytest.approx(offer.valid_sd)


def test_test_scores_choose_nothing(kept, metadata):
    swapped = kept.assign(test_score=1 - kept["test_score"])
    columns = ["budget", "method", "valid", "models"]
    one, other = (
        shop.recommendations(frame, metadata, "wine", "random")[columns]
        for frame in (kept, swapped)
    )
    pd.testing.assert_frame_equal(one, other)


def test_a_method_that_failed_in_a_run_is_not_recommended(metadata):
    kept = compressed_points(fail(made_up_points(), "msb", 3))
    table = shop.recommendations(kept, metadata, "wine", "random")
    assert set(table["method"]) == {"constant", "logitb", "all_features"}


def test_of_equals_the_cheaper_is_recommended(metadata):
    points = made_up_points()
    twin = points[points["method"] == "msb"].assign(method="logitb")
    twin = twin.assign(valid_cost=twin["valid_cost"] * 0.999)
    others = points[points["method"] != "logitb"]
    kept = compressed_points(pd.concat([twin, others], ignore_index=True))
    table = shop.recommendations(kept, metadata, "wine", "random")
    assert "msb" not in set(table["method"])


def test_one_run_has_no_spread(metadata):
    kept = compressed_points(made_up_points(n_runs=1))
    table = shop.recommendations(kept, metadata, "wine", "random")
    assert table["valid_sd"].isna().all()
    assert shop.shop_data(kept, metadata, "wine", "random")["offers"][0]["valid_sd"] is None


def test_nothing_completed_recommends_nothing(kept, metadata):
    empty = kept.iloc[:0]
    assert shop.recommendations(empty, metadata, "wine", "random").empty
    assert shop.shop_data(empty, metadata, "wine", "random")["offers"] == []


def test_prices_of_what_is_bought_add_up(kept, metadata):
    data = shop.shop_data(kept, metadata, "wine", "random")
    assert data["runs"][2]["prices"] == list(prices_of("wine", 2))
    for offer in data["offers"]:
        for model, run in zip(offer["models"], data["runs"], strict=True):
            bought = data["models"][model]["bought"]
            total = sum(run["prices"][feature] * rate for feature, rate in bought)
            assert total == pytest.approx(data["models"][model]["cost"])


def test_rates_come_first_then_named_variables_then_nothing():
    rated = {"acquisition_rates": np.float32([0, 0.25, 1]), "variables": "0,1,2"}
    assert shop._features_bought(rated) == [[2, 1.0], [1, 0.25]]
    assert shop._features_bought({"acquisition_rates": None, "variables": "0,2"}) == [
        [0, 1],
        [2, 1],
    ]
    assert shop._features_bought({"acquisition_rates": None, "variables": pd.NA}) is None


def test_all_cases_stand_in_one_table(kept, metadata):
    table = shop.all_recommendations(kept, metadata)
    assert set(table["dataset"]) == {"wine", "breast_cancer"}
    assert "models" not in table
