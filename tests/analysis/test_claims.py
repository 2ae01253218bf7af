"""Claims as data: judged by paired differences, and untestable without runs."""

import pandas as pd
import pytest

from budgetbench.analysis.reproduction import check_claim

VALUES = {
    "low": pd.Series([1.0, 1.1, 0.9, 1.0, 1.0]),
    "high": pd.Series([2.0, 2.2, 1.9, 2.1, 2.0]),
    "noisy": pd.Series([5.0, -3.0, 4.0, 0.0, 1.5]),
    "few": pd.Series([5.0, -3.0, 4.0]),
    "alone": pd.Series([9.0]),
}


def judged(less, than, fewest=5, **more):
    side = {"dataset": "d", "method": less}
    claim = {"compare": [{"less": side, "than": than, **more}]}
    return check_claim(claim, lambda side: VALUES[side["method"]], fewest)


@pytest.mark.parametrize(
    ("less", "than", "verdict"),
    [
        ("low", {"method": "high"}, "supported"),
        ("high", {"method": "low"}, "not supported"),
        ("low", {"method": "noisy"}, "not supported"),  # ahead, but not by more than its spread
        ("low", {"method": "few"}, "untestable here"),  # the same with three runs
        ("low", {"method": "alone"}, "untestable here"),
        # t of 4 degrees of freedom, 2.7764, × 0.070711 / √5 = 0.0878
        ("low", 1.0879, "supported"),
        ("low", 1.0877, "not supported"),
    ],
)
def test_a_side_is_below_the_other_by_more_than_the_spread(less, than, verdict):
    assert judged(less, than)["verdict"] == verdict


def test_by_the_first_rule_two_runs_decided():
    assert judged("low", {"method": "few"}, fewest=2)["verdict"] == "not supported"


def test_few_runs_decide_where_the_difference_is_beyond_its_spread():
    three = {"high": VALUES["high"][:3], "low": VALUES["low"][:3]}
    for less, than, verdict in (("low", "high", "supported"), ("high", "low", "not supported")):
        side = {"dataset": "d", "method": less}
        claim = {"compare": [{"less": side, "than": {"method": than}}]}
        assert check_claim(claim, lambda side: three[side["method"]])["verdict"] == verdict
    assert judged("low", 0.9121, fewest=6)["verdict"] == "not supported"
    assert judged("low", 0.9123, fewest=6)["verdict"] == "untestable here"


def test_a_factor_asks_for_more():
    assert judged("low", {"method": "high"}, factor=0.6)["verdict"] == "supported"
    told = judged("low", {"method": "high"}, factor=0.4)
    assert told["verdict"] == "not supported"
    assert told["evidence"] == "d: 1 against 0.4 × 2.04 (5 runs)"


def test_the_worst_comparison_decides():
    sides, verdicts = [("low", "high"), ("low", "few"), ("high", "low")], []
    for n in (1, 2, 3):
        pairs = [({"dataset": "d", "method": a}, {"method": b}) for a, b in sides[:n]]
        claim = {"compare": [{"less": a, "than": b} for a, b in pairs]}
        verdicts.append(check_claim(claim, lambda side: VALUES[side["method"]])["verdict"])
    assert verdicts == ["supported", "untestable here", "not supported"]
    assert check_claim({"untestable": "why"}, None)["evidence"] == "why"


@pytest.mark.parametrize(("n_right", "verdict"), [(2, "not supported"), (3, "supported")])
def test_most_comparisons_are_enough_where_a_claim_says_so(n_right, verdict):
    pairs = [("low", "high")] * n_right + [("high", "low")] * (4 - n_right)
    compare = [{"less": {"dataset": "d", "method": a}, "than": {"method": b}} for a, b in pairs]
    claim = {"most": True, "compare": compare}
    assert check_claim(claim, lambda side: VALUES[side["method"]])["verdict"] == verdict


def test_the_other_side_may_be_held_to_the_cost_of_this_one():
    asked = []

    def values_of(side):
        asked.append(side)
        return VALUES["high" if side["quantity"] == "cost" else side["method"]]

    less = {"dataset": "d", "method": "low", "quantity": "test_score"}
    claim = {"compare": [{"less": less, "than": {"method": "high", "at_most": "own"}}]}
    assert check_claim(claim, values_of)["verdict"] == "supported"
    assert [side["quantity"] for side in asked] == ["test_score", "cost", "test_score"]
    pd.testing.assert_series_equal(asked[-1]["at_most"], VALUES["high"])
