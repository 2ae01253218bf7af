"""Deviations: a number is explained when the variant that removes the cause is in the margin."""

import pandas as pd
import pytest

from budgetbench.analysis.reproduction import entry_of, with_reasons, with_variants

HERE = {"table": "t", "dataset": "d", "why": "here", "variant": "v"}


def numbers(**changes):
    row = {
        "source": "t", "dataset": "d", "method": "m", "setting": "", "quantity": "mse",
        "verdict": "outside", "ours": 9.0, "in_margin": False, "n_runs": 2,
    }  # fmt: skip
    return pd.DataFrame([row | changes])


def test_the_closest_entry_counts_and_only_for_what_is_not_reproduced():
    entries = [{"why": "anywhere", "variant": "w"}, HERE, HERE | {"dataset": "other"}]
    assert with_reasons(numbers(), entries)["reason"].tolist() == ["here"]
    assert with_reasons(numbers(dataset="x"), entries)["variant"].tolist() == ["w"]
    for verdict in ("within", "", "not judged (time)", "single run"):
        assert with_reasons(numbers(verdict=verdict), entries)["reason"].tolist() == [""]
    assert entry_of(numbers().iloc[0].to_dict(), []) is None


@pytest.mark.parametrize(
    ("variant", "explained"),
    [({"in_margin": True}, True), ({}, False), ({"in_margin": True, "n_runs": 0}, False)],
)
def test_only_a_variant_in_the_margin_explains(variant, explained):
    table = with_reasons(numbers(), [HERE])
    told = with_variants(table, [HERE], {"v": numbers(ours=3.0, **variant)})
    assert told["explained"].tolist() == [explained]


def test_a_variant_without_a_rerun_explains_nothing():
    table = with_reasons(numbers(), [HERE])
    told = with_variants(table, [HERE], {})
    assert told["explained"].tolist() == [False]


def test_another_reading_of_the_same_study_may_explain():
    entry = HERE | {"reading": "aup_paper"}
    variant = pd.concat([numbers(), numbers(quantity="aup_paper", in_margin=True, ours=0.5)])
    told = with_variants(with_reasons(numbers(), [entry]), [entry], {"v": variant})
    assert told["explained"].tolist() == [True]


@pytest.mark.parametrize(("sd", "explained"), [(0.245, True), (0.238, False)])
def test_of_one_sample_the_printed_number_must_be_a_likely_draw(sd, explained):
    # 4 runs: one draw lies within 1.96 · √(sd² (1 + 1/4) + 0.5² / 12) of our mean, .607 or .593.
    entry = HERE | {"one_sample": True}
    variant = numbers(ours=9.0, in_margin=True, n_runs=4, sd=sd, difference=0.6, unit=0.5)
    told = with_variants(with_reasons(numbers(), [entry]), [entry], {"v": variant})
    assert told["explained"].tolist() == [explained]
    outside = variant.assign(in_margin=False)
    told = with_variants(with_reasons(numbers(), [entry]), [entry], {"v": outside})
    assert told["explained"].tolist() == [False]
