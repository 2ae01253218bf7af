"""Which features are bought how often: means over runs at half of the full cost."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark.points import compressed_points
from budgetlearn.report import acquisition
from budgetlearn.report.metadata import Metadata
from budgetlearn.report.style import figure_bytes

from ..made_up import FEATURES, made_up_metadata, made_up_points, prices_of


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


@pytest.fixture(scope="module")
def kept():
    return compressed_points(made_up_points())


@pytest.fixture(scope="module")
def table(kept, metadata):
    return acquisition.acquisition_table(kept, metadata)


def test_rates_are_means_over_runs_at_half_of_the_cost(kept, table):
    own = kept[(kept["dataset"] == "wine") & (kept["method"] == "msb")]
    chosen = own[own["valid_fraction"] <= 0.5].groupby("run").tail(1)
    mean = np.mean(chosen["acquisition_rates"].tolist(), axis=0)
    rows = table[(table["dataset"] == "wine") & (table["method"] == "msb")]
    assert rows["rate"].to_numpy() == pytest.approx(mean)
    assert set(rows["n_runs"]) == {5}


def test_prices_are_means_over_runs(table):
    rows = table[(table["dataset"] == "wine") & (table["method"] == "logitb")]
    mean = np.mean([prices_of("wine", run) for run in range(5)], axis=0)
    assert rows["price"].to_numpy() == pytest.approx(mean)
    assert list(rows["name"]) == [f"wine measurement {f}" for f in range(FEATURES["wine"])]


def test_controls_are_left_out(table):
    assert set(table["method"]) == {"msb", "logitb"}


def test_named_variables_stand_in_for_rates(kept, metadata, table):
    named = acquisition.acquisition_table(kept.assign(acquisition_rates=None), metadata)
    pd.testing.assert_frame_equal(named, table)


def test_a_method_that_tells_nothing_is_left_out(kept, metadata):
    silent = kept["method"] == "msb"
    told = kept.assign(
        acquisition_rates=kept["acquisition_rates"].where(~silent, None),
        variables=kept["variables"].where(~silent, None),
    )
    assert set(acquisition.acquisition_table(told, metadata)["method"]) == {"logitb"}


def test_features_without_prices_keep_their_index(kept):
    unpriced = Metadata.from_dict(made_up_metadata() | {"profiles": None})
    table = acquisition.acquisition_table(kept, unpriced)
    assert table["price"].isna().all()
    assert set(table["name"]) == {f"x{feature}" for feature in range(30)}


def test_the_most_bought_come_first_and_the_rest_is_counted(table, monkeypatch):
    monkeypatch.setattr(acquisition, "MOST_FEATURES", 4)
    features, rates, hidden = acquisition.most_bought(table, "wine", "random")
    assert list(features.index) == list(rates.index)
    assert (len(rates), hidden) == (4, 9)
    assert rates.mean(axis=1).is_monotonic_decreasing
    assert list(rates) == ["msb", "logitb"]


def test_the_figure_says_how_many_features_it_hides(table, metadata, monkeypatch):
    monkeypatch.setattr(acquisition, "MOST_FEATURES", 4)
    figure = acquisition.acquisition_figure(table, metadata, "wine", "random")
    assert figure.axes[0].get_xlabel().startswith("9 features")
    assert b"<svg" in figure_bytes(figure, "svg")


def test_nothing_affordable_becomes_a_message(table, metadata):
    figure = acquisition.acquisition_figure(table.iloc[:0], metadata, "wine", "random")
    assert b"<svg" in figure_bytes(figure, "svg")
    assert acquisition.acquisition_sections(table.iloc[:0], metadata) == []


def test_sections_show_every_rate(table, metadata):
    sections = acquisition.acquisition_sections(table, metadata)
    assert [section["name"] for section in sections] == ["wine_random", "breast_cancer_random"]
    first = sections[0]
    assert first["methods"] == [("msB", 5), ("logitB", 5)]
    assert len(first["rows"]) == 13
    assert first["hidden"] == 0
    assert all(len(row["rates"]) == 2 for row in first["rows"])
