"""Deviations: in standard deviations, better or worse, with the reason that fits best."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark.deviations import read_reasons, tables_left_out, with_deviations
from budgetlearn.benchmark.published import read_published
from budgetlearn.exceptions import ConfigError


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


def test_an_entry_without_reason_is_refused(tmp_path):
    (tmp_path / "d.yaml").write_text("- {table: gif-regression}\n")
    with pytest.raises(ConfigError, match="needs `why`"):
        read_reasons(tmp_path / "d.yaml")
    (tmp_path / "d.yaml").write_text("- {tabel: gif-regression, why: so}\n")
    with pytest.raises(ConfigError, match="tabel"):
        read_reasons(tmp_path / "d.yaml")


def test_tables_that_a_study_leaves_out_are_named(tmp_path):
    for name in ("a.csv", "b.csv", "deviations.yaml"):
        (tmp_path / name).touch()
    assert tables_left_out(tmp_path, ["resources/published/b.csv"]) == ["a"]


def test_every_reason_is_about_numbers_that_are_printed():
    folder = Path(__file__).parents[2] / "resources" / "published"
    for entry in read_reasons(folder / "deviations.yaml"):
        numbers = read_published([folder / f"{entry['table']}.csv"])
        for key in entry.keys() & {"dataset", "method", "setting", "quantity"}:
            assert entry[key] in set(numbers[key]), entry
