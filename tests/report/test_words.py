"""Sentences and cells: what they say about leads, spread and gaps."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark import aggregate
from budgetlearn.report import words
from budgetlearn.report.metadata import Metadata
from budgetlearn.report.verdict import verdict

from ..made_up import made_up_metadata, made_up_points


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


def leads(*rows):
    columns = ["dataset", "best", "runner_up", "lead", "lead_sd", "wins", "n_runs"]
    return pd.DataFrame(rows, columns=columns).assign(costs="random")


def test_verdict_counts_wins_and_holds_leads_against_their_spread(metadata):
    mixed = leads(
        ("wine", "msb", "logitb", 0.03, 0.01, 5, 5),
        ("breast_cancer", "logitb", "msb", 0.01, 0.02, 3, 5),
    )
    who, sure = verdict(mixed, metadata)
    assert who == "Best mean AUP, of 2 data sets: msB on 1, logitB on 1."
    assert sure.startswith("On 1 of 2 the lead")


def test_verdict_admits_what_it_cannot_say(metadata):
    assert "single run" in verdict(leads(), metadata)[0]
    alone = leads(("wine", "msb", None, np.nan, np.nan, np.nan, np.nan))
    assert verdict(alone, metadata)[0].startswith("Nowhere did two methods")
    once = verdict(leads(("wine", "msb", "logitb", 0.03, np.nan, 1, 1)), metadata)
    assert once == [
        "msB has the best mean AUP on the one data set compared.",
        "One run each: the spread between runs is unknown.",
    ]


def test_verdict_does_not_count_wins_without_a_rival(metadata):
    rows = leads(
        ("wine", "msb", "logitb", 0.03, 0.01, 5, 5),
        ("breast_cancer", "logitb", None, np.nan, np.nan, np.nan, np.nan),
    )
    assert verdict(rows, metadata) == [
        "msB has the best mean AUP on the one data set compared.",
        "Its lead over the runner-up, taken within runs, exceeds one standard deviation.",
        "On 1 more only one method completed runs: no comparison.",
    ]


def test_a_lead_on_one_data_set_is_held_against_its_spread(metadata):
    for sd, verb in ((0.01, "exceeds"), (0.04, "stays within")):
        sure = verdict(leads(("wine", "msb", "logitb", 0.03, sd, 4, 5)), metadata)[1]
        assert verb in sure


def test_scope_names_methods_data_sets_and_runs(metadata):
    coverage = aggregate.coverage_table(made_up_points(n_runs=3))
    assert words.scope(coverage, metadata) == (
        "msB and logitB; as controls all features and free constant; 2 data sets, 3 runs each."
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"train": 0.6, "test": 0.2}, "train 0.6, test 0.2"),
        (["a", ["b", 1]], "a, b, 1"),
        (None, "–"),
        (True, "yes"),
        (0, "0"),
    ],
)
def test_settings_in_words(value, text):
    assert words.as_text(value) == text


def test_numbers_in_words():
    assert words.plus_minus(0.12345, 0.01) == "0.123 ± 0.010"
    assert words.plus_minus(0.5, np.nan) == "0.500"
    assert words.plus_minus(np.nan, np.nan) == "–"
    assert words.seconds(1234.5) == "1.23e+03"
