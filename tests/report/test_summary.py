"""Sentences on who wins: what they say about leads and their spread."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.report.labels import Display
from budgetbench.report.sections.standings import lead_sentences
from tests.factories import make_display


@pytest.fixture(scope="module")
def display():
    return make_display()


def leads(*rows):
    columns = ["dataset", "best", "runner_up", "lead", "reach", "wins", "n_runs"]
    table = pd.DataFrame(rows, columns=columns).assign(costs="random")
    return table.assign(low=table["lead"] - table["reach"], high=table["lead"] + table["reach"])


def test_the_summary_counts_wins_and_holds_leads_against_their_spread(display):
    mixed = leads(
        ("wine", "msb", "logitb", 0.03, 0.01, 5, 5),
        ("breast_cancer", "logitb", "msb", 0.01, 0.02, 3, 5),
    )
    who, sure = lead_sentences(mixed, display)
    assert who == "Best mean AUP, of 2 data sets: msB on 1, logitB on 1."
    assert sure == (
        "The lead over every other method is more than chance would give (95 %) on 1 of these 2."
    )


def test_equal_areas_are_nobodys_win(display):
    equal = ("breast_cancer", "logitb", "msb", 1e-16, 0.0, 0, 5)
    who, _ = lead_sentences(leads(("wine", "msb", "logitb", 0.03, 0.01, 5, 5), equal), display)
    assert who == "Best mean AUP, of 2 data sets: msB on 1, several tied on 1."
    assert lead_sentences(leads(equal), display)[0] == (
        "Best mean AUP, of 1 data set: several tied on 1."
    )


def test_the_summary_admits_what_it_cannot_say(display):
    assert "single run" in lead_sentences(leads(), display)[0]
    controls = Display({"constant": {"control": True}}, {})
    assert "only controls" in lead_sentences(leads(), controls)[0]
    alone = leads(("wine", "msb", None, np.nan, np.nan, np.nan, np.nan))
    assert lead_sentences(alone, display)[0].startswith("No data set has completed runs of two")
    once = lead_sentences(leads(("wine", "msb", "logitb", 0.03, np.nan, 1, 1)), display)
    assert once == [
        "msB has the best mean AUP on the one data set compared.",
        "Every method has a single run or equal runs, so the spread between runs is unknown.",
    ]


def test_the_summary_does_not_count_wins_without_a_rival(display):
    rows = leads(
        ("wine", "msb", "logitb", 0.03, 0.01, 5, 5),
        ("breast_cancer", "logitb", None, np.nan, np.nan, np.nan, np.nan),
    )
    assert lead_sentences(rows, display) == [
        "msB has the best mean AUP on the one data set compared.",
        "The lead over every other method is more than chance would give (95 %).",
        "On 1 more, only one method completed runs: no comparison.",
    ]


def sure(display, *reaches):
    """Return what is said of leads of .03 with such reaches of their intervals."""
    names = ["wine", "breast_cancer"]
    rows = [(names[i], "msb", "logitb", 0.03, reach, 4, 5) for i, reach in enumerate(reaches)]
    return lead_sentences(leads(*rows), display)[1]


def test_leads_are_held_against_their_spread(display):
    assert sure(display, 0.01).endswith("is more than chance would give (95 %).")
    assert "may be chance" in sure(display, 0.04)
    assert sure(display, 0.04, 0.05).startswith("The lead is certain on none of them")
    assert sure(display, 0.01, 0.02).endswith("(95 %) on all of these 2.")
