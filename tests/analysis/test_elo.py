"""Elo ratings: orders by wins, 400 points for ten to one, intervals from ten data sets on."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.ranks import elo_table


def summary_of(scores):
    """Return mean areas from {method: scores on data sets}."""
    rows = [
        {"dataset": f"d{place}", "costs": "random", "method": name, "mean_test": score}
        for name, own in scores.items()
        for place, score in enumerate(own)
    ]
    return pd.DataFrame(rows)


def test_ten_to_one_is_about_four_hundred_points():
    ahead = np.r_[np.ones(1000), np.zeros(100)]
    table = elo_table(summary_of({"a": ahead, "b": 1 - ahead}), ["a", "b"]).set_index("method")
    assert table.loc["a", "elo"] - table.loc["b", "elo"] == pytest.approx(400, abs=2)
    assert table["elo"].mean() == pytest.approx(1000)
    assert (table.loc["a", "wins"], table.loc["a", "losses"]) == (1000, 100)


def test_ties_and_absences():
    scores = {"a": [0.5] * 12, "b": [0.5] * 12, "c": [np.nan] * 11 + [0.9]}
    table = elo_table(summary_of(scores), list(scores)).set_index("method")
    assert table.loc["a", "elo"] == pytest.approx(table.loc["b", "elo"])
    assert (table.loc["a", ["wins", "ties", "losses"]] == [0, 12, 1]).all()
    assert table.loc["c", "wins"] == 2


def test_intervals_need_ten_data_sets_and_cover():
    random = np.random.default_rng(0)
    scores = {name: random.random(30) + shift for name, shift in (("a", 0), ("b", 0), ("c", 0.5))}
    table = elo_table(summary_of(scores), list(scores)).set_index("method")
    assert (table["low"] <= table["elo"]).all()
    assert (table["elo"] <= table["high"]).all()
    assert table.loc["c", "low"] > table.loc[["a", "b"], "elo"].max()
    few = elo_table(summary_of({name: own[:9] for name, own in scores.items()}), list(scores))
    assert few[["low", "high"]].isna().all(axis=None)
