"""What to buy: the best validated method that every run affords, never chosen on test data."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.analysis.recommendations import all_recommendations, recommendations
from budgetlearn.analysis.schedules import compressed_points

from ..factories import METHODS, fail, make_points


@pytest.fixture(scope="module")
def kept():
    return compressed_points(make_points())


def affordable(kept, budget):
    """Return each method's mean validation score under a budget, as a slow twin would find it."""
    wine = kept[(kept["dataset"] == "wine") & (kept["valid_fraction"] <= budget + 1e-9)]
    best = wine.groupby(["method", "run"])["valid_score"].max().reset_index()
    return best.pivot_table("valid_score", "method", "run").dropna().mean(axis=1)


def test_recommendations_are_the_best_mean_under_each_budget(kept):
    table = recommendations(kept, METHODS, "wine", "random")
    assert table["budget"].is_monotonic_increasing
    assert table["valid"].is_monotonic_increasing
    for budget in np.linspace(0, 1, 41):
        offer = table[table["budget"] <= budget].iloc[-1]
        means = affordable(kept, budget)
        assert offer["valid"] == pytest.approx(means.max())
        assert means[offer["method"]] == pytest.approx(means.max())


def test_nothing_is_free_but_the_constant(kept):
    first = recommendations(kept, METHODS, "wine", "random").iloc[0]
    assert first["method"] == "constant"
    assert first["budget"] == first["cost"] == 0


def test_models_are_those_of_the_means(kept):
    table = recommendations(kept, METHODS, "wine", "random")
    for offer in table.itertuples():
        models = kept.loc[offer.models]
        assert list(models["run"]) == [0, 1, 2, 3, 4]
        assert set(models["method"]) == {offer.method}
        assert (models["valid_fraction"] <= offer.budget + 1e-9).all()
        assert models["test_score"].mean() == pytest.approx(offer.test)
        assert models["valid_score"].std() == pytest.approx(offer.valid_sd)


def test_test_scores_choose_nothing(kept):
    swapped = kept.assign(test_score=1 - kept["test_score"])
    columns = ["budget", "method", "valid", "models"]
    one, other = (
        recommendations(frame, METHODS, "wine", "random")[columns] for frame in (kept, swapped)
    )
    pd.testing.assert_frame_equal(one, other)


def test_a_method_that_failed_in_a_run_is_not_recommended():
    kept = compressed_points(fail(make_points(), "msb", 3))
    table = recommendations(kept, METHODS, "wine", "random")
    assert set(table["method"]) == {"constant", "logitb", "all_features"}


def test_of_equals_the_cheaper_is_recommended():
    points = make_points()
    twin = points[points["method"] == "msb"].assign(method="logitb")
    twin = twin.assign(valid_cost=twin["valid_cost"] * 0.999)
    others = points[points["method"] != "logitb"]
    kept = compressed_points(pd.concat([twin, others], ignore_index=True))
    table = recommendations(kept, METHODS, "wine", "random")
    assert "msb" not in set(table["method"])


def test_one_run_has_no_spread():
    kept = compressed_points(make_points(n_runs=1))
    table = recommendations(kept, METHODS, "wine", "random")
    assert table["valid_sd"].isna().all()


def test_nothing_completed_recommends_nothing(kept):
    empty = kept.iloc[:0]
    assert recommendations(empty, METHODS, "wine", "random").empty


def test_all_cases_stand_in_one_table(kept):
    cases = [("wine", "random"), ("breast_cancer", "random")]
    table = all_recommendations(kept, METHODS, cases)
    assert list(table["dataset"].unique()) == ["wine", "breast_cancer"]
    alone = recommendations(kept, METHODS, "wine", "random")
    assert table.query("dataset == 'wine'")["models"].tolist() == alone["models"].tolist()
