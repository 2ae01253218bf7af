"""Success of a rerun: interval and margin, in standard errors that never vanish."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.reproduction import MOST, agreement_table


def judged(**changes):
    row = {
        "quantity": "mse", "value": 3.0, "value_sd": 0.3, "unit": 0.01, "printed_runs": 9.0,
        "ours": 3.1, "sd": 0.4, "n_runs": 4,
    } | changes  # fmt: skip
    row["difference"] = row["ours"] - row["value"]
    return agreement_table(pd.DataFrame([row])).iloc[0]


def test_both_sides_and_the_rounding_make_the_standard_error():
    row = judged()
    assert row["se"] == pytest.approx(np.sqrt(0.3**2 / 9 + 0.4**2 / 4 + 0.01**2 / 12))
    assert row["in_se"] == pytest.approx(0.1 / row["se"])
    assert (row["own_se"], row["printed_se"]) == pytest.approx((0.2, 0.1))
    assert not judged(ours=3.0)["better"]


def test_a_side_without_spread_is_taken_to_spread_as_the_other():
    assert judged(value_sd=np.nan)["se"] ** 2 == pytest.approx(0.16 / 9 + 0.16 / 4 + 1e-4 / 12)
    assert judged(sd=np.nan, n_runs=1)["se"] ** 2 == pytest.approx(0.09 / 9 + 0.09 + 1e-4 / 12)


def test_a_single_run_beside_a_bare_number_is_not_judged():
    row = judged(sd=np.nan, n_runs=1, value_sd=np.nan)
    assert row["verdict"] == "single run"
    assert row["in_margin"]
    assert row["share"] == pytest.approx(1 / 30)


def test_runs_that_agree_leave_a_finite_distance():
    row = judged(ours=3.84, sd=0.0, n_runs=2, value_sd=np.nan)
    assert row["se"] == pytest.approx(0.01 / np.sqrt(12))
    assert row["in_se"] == MOST == -judged(ours=2.16, sd=0.0, n_runs=2, value_sd=np.nan)["in_se"]
    assert row["verdict"] == "outside"
    assert row["share"] == pytest.approx(0.28)


def test_of_no_error_nothing_is_a_share():
    row = judged(quantity="entropy_percent", value=100.0, ours=99.9, sd=0.1)
    assert np.isnan(row["share"])
    assert not row["in_margin"]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        # √(0.1² + 0.5² + 0.01² / 12) × 1.96 = 0.9995
        ({"value": 30.0, "ours": 30.99, "sd": 1.0}, "within"),
        ({"ours": 3.3, "sd": 1.0}, "within"),  # just in the margin
        ({"ours": 3.31, "sd": 1.0}, "interval only"),
        ({"value": 30.0, "ours": 29.0, "sd": 1.0}, "margin only"),
        ({"ours": 3.6, "sd": 0.1}, "outside"),
        ({"ours": 3.6, "quantity": "seconds"}, "not judged (time)"),
        ({"ours": np.nan, "sd": np.nan, "n_runs": 0}, ""),
    ],
)
def test_success_needs_interval_and_margin(changes, verdict):
    assert judged(**changes)["verdict"] == verdict


def test_the_margin_is_a_tenth_of_the_error():
    errors = {"test_score": 0.1, "aup_paper": 0.1, "entropy_percent": 99.1}
    errors |= {"error_percent": 0.9, "cost_percent": 0.9}
    for quantity, error in errors.items():
        found = judged(quantity=quantity, value=0.9)["margin"]
        assert found == pytest.approx(error / 10), quantity
    near = judged(quantity="test_score", value=0.9, ours=0.911, unit=0.001)
    assert not near["in_margin"]
    assert judged(quantity="test_score", value=0.9, ours=0.909, unit=0.001)["in_margin"]


@pytest.mark.parametrize(
    ("quantity", "ours", "better"),
    [
        ("mse", 2.0, True),
        ("mse", 4.0, False),
        ("predict_seconds", 2.0, True),
        ("test_score", 4.0, True),
        ("aup_test", 2.0, False),
        ("entropy_percent", 4.0, None),
    ],
)
def test_which_way_is_better(quantity, ours, better):
    assert judged(quantity=quantity, ours=ours)["better"] is better or (
        better is not None and judged(quantity=quantity, ours=ours)["better"] == better
    )
