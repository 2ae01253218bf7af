"""What to buy: the best validated method that every run affords, never chosen on test data."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.differences import corrected_interval, score_interval
from budgetbench.analysis.recommendations import all_recommendations
from budgetbench.analysis.recommendations import recommendations as recommendations_of
from budgetbench.analysis.schedules import compressed_points
from tests.factories import METHODS, fail, make_display, make_points

RATIO = 1 / 3


def recommendations(schedules, methods, dataset, costs):
    return recommendations_of(schedules, methods, dataset, costs, ratio=RATIO, span=(0, 1))


@pytest.fixture(scope="module")
def kept():
    return compressed_points(make_points())


def affordable(kept, budget):
    """Return each method's choice scores under a budget, as a slow twin would find them."""
    wine = kept[(kept["dataset"] == "wine") & (kept["valid_fraction"] <= budget + 1e-9)]
    last = wine.sort_values("valid_fraction").groupby(["method", "run"]).tail(1)
    return last.pivot_table("choice_score", "method", "run").dropna()


def error_of(gap):
    """Return the corrected standard error of differences over runs."""
    return np.sqrt(np.var(gap, ddof=1) * (1 / len(gap) + RATIO))


def test_recommendations_are_within_one_standard_error_of_the_best(kept):
    table = recommendations(kept, METHODS, "wine", "random")
    assert table["budget"].is_monotonic_increasing
    assert len(table) > 3
    for budget in np.linspace(0, 1, 41):
        offer = table[table["budget"] <= budget].iloc[-1]
        scores = affordable(kept, budget)
        best = scores.loc[scores.mean(axis=1).idxmax()].to_numpy()
        chosen = kept.loc[offer["models"], "choice_score"].to_numpy()
        assert (best - chosen).mean() <= error_of(best - chosen) + 1e-9


@pytest.mark.parametrize(("gap", "chosen"), [(0.0230, "cheap"), (0.0232, "expensive")])
def test_one_standard_error_is_not_worth_paying_for(gap, chosen):
    random = np.random.default_rng(0)
    cheap, expensive = (
        try_out(name, 0.8, 1, random, cost) for name, cost in (("cheap", 0.2), ("expensive", 0.9))
    )
    noise = 0.04 * np.array([-1, -0.5, 0, 0.5, 1])  # of a standard error of .0231
    cheap["choice_score"], expensive["choice_score"] = 0.8, 0.8 + gap + noise
    table = recommendations(pd.concat([cheap, expensive]), ["cheap", "expensive"], "d", "random")
    assert table.iloc[-1]["method"] == chosen


def test_nothing_is_free_but_the_constant(kept):
    first = recommendations(kept, METHODS, "wine", "random").iloc[0]
    assert first["method"] == "constant"
    assert first["budget"] == first["cost"] == 0


def test_models_are_those_of_the_means(kept):
    kept = kept.assign(cost_fraction=0.9 * kept["valid_fraction"])  # on test data
    table = recommendations(kept, METHODS, "wine", "random")
    for offer in table.itertuples():
        models = kept.loc[offer.models]
        assert list(models["run"]) == [0, 1, 2, 3, 4]
        assert set(models["method"]) == {offer.method}
        assert (models["valid_fraction"] <= offer.budget + 1e-9).all()
        assert models["held_out_score"].mean() == pytest.approx(offer.test)
        assert models["choice_score"].mean() == pytest.approx(offer.choice)
        assert models["valid_score"].std() == pytest.approx(offer.valid_sd)
        assert models["held_out_score"].std() == pytest.approx(offer.test_sd)
        assert models["cost_fraction"].mean() == pytest.approx(offer.cost)
        interval = score_interval(models["held_out_score"].to_numpy(), RATIO, (0, 1))
        assert (offer.test, offer.low, offer.high) == pytest.approx(interval, nan_ok=True)


def test_neither_held_out_nor_validation_scores_choose_between_methods(kept):
    noise = np.random.default_rng(0).random(len(kept))
    swapped = kept.assign(held_out_score=noise, valid_score=noise, test_score=noise)
    swapped["cost_fraction"] = noise
    columns = ["budget", "method", "choice", "models"]
    one, other = (
        recommendations(frame, METHODS, "wine", "random")[columns] for frame in (kept, swapped)
    )
    pd.testing.assert_frame_equal(one, other)


def test_a_method_that_failed_in_a_run_is_not_recommended():
    kept = compressed_points(make_points())
    unknown = kept["held_out_score"].mask((kept["run"] == 3) & (kept["method"] == "msb"))
    failed = compressed_points(fail(make_points(), "msb", 3))
    for one in (failed, kept.assign(held_out_score=unknown)):
        table = recommendations(one, METHODS, "wine", "random")
        assert set(table["method"]) == {"constant", "logitb", "all_features"}


def test_one_run_has_no_spread():
    kept = compressed_points(make_points(n_runs=1))
    table = recommendations(kept, METHODS, "wine", "random")
    assert table[["valid_sd", "low", "high"]].isna().all(axis=None)


def test_a_run_without_scores_of_a_half_tells_nothing(kept):
    cut = kept.copy()  # as the area under the ROC curve of rows of one class
    cut.loc[cut["run"] == 1, "choice_score"] = np.nan
    table = recommendations(cut, METHODS, "wine", "random")
    others = recommendations(kept[kept["run"] != 1], METHODS, "wine", "random")
    pd.testing.assert_frame_equal(table, others)
    assert (table["n_runs"] == kept["run"].nunique() - 1).all()
    cut["choice_score"] = np.nan
    assert recommendations(cut, METHODS, "wine", "random").empty
    assert recommendations(kept.iloc[:0], METHODS, "wine", "random").empty  # nothing completed


def test_all_cases_stand_in_one_table(kept):
    table = all_recommendations(kept, make_display())
    assert list(table["dataset"].unique()) == ["wine", "breast_cancer"]
    alone = recommendations(kept, METHODS, "wine", "random")
    assert table.query("dataset == 'wine'")["models"].tolist() == alone["models"].tolist()


def offered(scores, paid):
    """Return schedules from {(method, ...): choice scores by run}, and what the models cost."""
    rows = [
        {"dataset": "d", "costs": "random", "method": name[0], "run": run, "valid_score": 0.9}
        | dict.fromkeys(("cost", "cost_fraction", "valid_fraction"), cost)
        | dict.fromkeys(("choice_score", "held_out_score"), score)
        for name, own in scores.items()
        for run, (score, cost) in enumerate(np.broadcast(own, paid[name]))
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("gain", "chosen"), [(0.0245, 0), (0.0247, 1)])
def test_the_best_of_three_useless_methods_by_hand(gain, chosen):
    # z of .05 / 3 is 2.128; the median variance is 0.01² · 2.5, and 1/5 + 1/3 times it .011547².
    away = 0.01 * np.array([-2, -1, 0, 1, 2])
    scores = {("constant",): np.full(5, 0.4), ("a",): 0.4 + gain + away, ("b",): 0.41 - away}
    scores |= {("odd",): 0.4 + 10 * away, ("a", "later"): 0.39 + gain + away}
    paid = {("constant",): 0, ("a",): 0.2, ("b",): 0.05, ("odd",): 0.1, ("a", "later"): 0.5}
    table = recommendations(offered(scores, paid), ["constant", "a", "b", "odd"], "d", "random")
    # What "a" buys for more scores less on the rows that choose, so the cheaper model stays.
    assert table["method"].tolist() == ["constant", "a"][: 1 + chosen]
    assert table["budget"].tolist() == [0, 0.2][: 1 + chosen]


def test_a_method_is_not_as_good_as_the_best_because_its_two_runs_differ():
    scores = {"constant": [0.4, 0.4], "good": [0.9, 0.91], "fair": [0.88, 0.9], "odd": [0.9, 0.6]}
    paid = {"constant": [0.0, 0.0], "good": [0.3, 0.3], "fair": [0.4, 0.4], "odd": [0.1, 0.4]}
    scores, paid = ({(name,): own for name, own in each.items()} for each in (scores, paid))
    table = recommendations(offered(scores, paid), [name for (name,) in scores], "d", "random")
    assert table["method"].tolist() == ["constant", "good"]  # though "odd" costs less on average


N_RUNS, N_NOISE, N_TRIES = 5, 50, 1000


def try_out(name, truth, tries, random, cost):
    """Return the schedules of a method whose models all score `truth` but for noise.

    Validation data choose the best of its tries; the scores on other rows know nothing of that.
    """
    rows = []
    for run in range(N_RUNS):
        valid = truth + 0.03 * random.standard_normal(tries)
        rows.append(
            {"dataset": "d", "costs": "random", "method": name, "run": run}
            | {"cost": cost, "cost_fraction": cost, "valid_fraction": cost, "valid_cost": cost}
            | {"valid_score": valid.max(), "choice_score": truth + random.normal(0, 0.03)}
            | {"held_out_score": truth + random.normal(0, 0.03)}
        )
    return pd.DataFrame(rows)


def noise_study(seed, honest):
    """Return schedules of a constant, an honest method tried once, and noise tried 1,000 times."""
    random = np.random.default_rng(seed)
    frames = [try_out("constant", 0.7, 1, random, 0.0), try_out("honest", honest, 1, random, 0.5)]
    frames += [
        try_out(f"noise{number}", 0.7, N_TRIES, random, random.uniform(0.1, 0.9))
        for number in range(N_NOISE)
    ]
    return pd.concat(frames, ignore_index=True)


def last_choice(kept):
    return recommendations(kept, list(kept["method"].unique()), "d", "random").iloc[-1]


def test_methods_without_any_merit_are_not_recommended_for_trying_much():
    studies = [noise_study(seed, honest=0.7) for seed in range(10)]
    chosen = pd.Series([last_choice(kept)["method"] for kept in studies])
    # By their validation scores noise would be taken every time.
    taken = [kept.loc[kept["valid_score"].idxmax(), "method"] for kept in studies]
    assert all(name.startswith("noise") for name in taken)
    assert (chosen == "constant").mean() >= 0.9
    rivals = chosen[chosen.str.startswith("noise")].value_counts()
    assert rivals.max() <= 1 if len(rivals) else True


def test_an_honest_method_wins_over_noise_that_tries_more():
    studies = [noise_study(seed, honest=0.85) for seed in range(10)]
    offers = [last_choice(kept) for kept in studies]
    assert sum(offer["method"] == "honest" for offer in offers) >= 9
    covered = [offer["low"] <= 0.85 <= offer["high"] for offer in offers]
    assert np.mean(covered) >= 0.9
    assert not any(offer["as_good"] for offer in offers)


def test_runners_up_and_the_gain_over_the_constant_are_told(kept):
    table = recommendations(kept, METHODS, "wine", "random")
    last = table.iloc[-1]
    names = [one["method"] for one in last["runners_up"]]
    assert 0 < len(names) <= 3
    assert last["method"] not in names
    assert last["gain"] == pytest.approx(last["test"] - 0.4)
    gains = kept.loc[last["models"], "held_out_score"].to_numpy() - 0.4
    expected = corrected_interval(gains, RATIO, bounded=True)[:3]
    assert last[["gain", "gain_low", "gain_high"]].tolist() == pytest.approx(expected)
    assert table.iloc[0]["gain"] == 0
    # What the rows that chose liked by luck, the others may not: then the page says so.
    # Runs 0 to 4 gain -.15 to .25: more than nothing, but within chance.
    luck = (0.1 * kept["run"] - 0.15).where(kept["method"] != "constant", 0.0)
    unlucky = recommendations(kept.assign(held_out_score=0.4 + luck), METHODS, "wine", "random")
    assert (unlucky.iloc[1:]["gain"] > 0).all()
    assert unlucky.iloc[1:]["as_good"].all()
    assert not unlucky.iloc[0]["as_good"]
