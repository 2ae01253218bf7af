"""Deviations: in standard deviations, better or worse, with the reason that fits best."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.published import with_deviations


def printed(**changes):
    row = {
        "source": "gif-regression", "dataset": "friedman1", "method": "gif", "setting": "",
        "quantity": "mse", "value": 3.0, "value_sd": 0.3, "sd": 0.4, "difference": 1.5,
    }  # fmt: skip
    return pd.DataFrame([row | changes])


def test_spreads_of_both_sides_count_together():
    row = with_deviations(printed(), []).iloc[0]
    assert row["in_sd"] == pytest.approx(3.0)
    assert not row["better"]
    alone = with_deviations(printed(value_sd=np.nan), []).iloc[0]
    assert alone["in_sd"] == pytest.approx(3.75)


def test_a_single_run_has_no_distance():
    row = with_deviations(printed(sd=np.nan), [{"why": "never"}]).iloc[0]
    assert np.isnan(row["in_sd"])
    assert row["reason"] == ""


@pytest.mark.parametrize(
    ("quantity", "difference", "better"),
    [
        ("mse", -1.0, True),
        ("mse", 1.0, False),
        ("test_score", 1.0, True),
        ("aup_test", -1, False),
        ("entropy_percent", 1.0, None),
    ],
)
def test_which_way_is_better(quantity, difference, better):
    table = with_deviations(printed(quantity=quantity, difference=difference), [])
    assert table["better"].tolist() == [better]


def test_the_closest_reason_counts_and_only_for_what_is_far():
    reasons = [
        {"why": "anywhere"},
        {"table": "gif-regression", "dataset": "friedman1", "why": "here"},
        {"table": "gif-regression", "dataset": "abalone", "why": "elsewhere"},
    ]
    assert with_deviations(printed(), reasons)["reason"].tolist() == ["here"]
    assert with_deviations(printed(dataset="x"), reasons)["reason"].tolist() == ["anywhere"]
    assert with_deviations(printed(difference=0.5), reasons)["reason"].tolist() == [""]
    assert with_deviations(printed(), [])["reason"].tolist() == [""]
