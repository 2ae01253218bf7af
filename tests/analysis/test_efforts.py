"""Default and tuned side by side, and methods that are rather set up wrongly than beaten."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.areas import area_table
from budgetbench.analysis.efforts import effort_table, equal_seconds_table, straw_men
from budgetbench.analysis.schedules import compressed_points
from tests.factories import fail, make_points


def test_default_and_tuned_rows():
    points = make_points()
    again = points[points["method"] == "msb"].assign(fit=1, n_fitted=5.0)
    again = again.assign(stage=again["stage"] + 100, fit_seconds=1.0, processor_seconds=3.0)
    again[["valid_score", "test_score"]] += 0.02
    points = pd.concat([points, again], ignore_index=True)
    areas = area_table(points, compressed_points(points))
    table = effort_table(points, areas).set_index(["dataset", "method"]).loc["wine"]
    tuned, same = table.loc["msb"], table.loc["logitb"]
    assert (tuned["default_models"], tuned["models"]) == (20, 25)
    assert (tuned["settings"], same["settings"]) == (2, 1)
    assert tuned["processor_seconds"] == pytest.approx(tuned["default_seconds"] + 3)
    assert tuned["seconds"] == pytest.approx(tuned["default_seconds"] + 1)
    assert tuned["aup"] > tuned["default_aup"] + 0.01
    assert same["aup"] == same["default_aup"]
    assert same["models"] == same["default_models"]
    unknown = effort_table(points.assign(n_fitted=np.nan, processor_seconds=np.nan), areas)
    assert unknown[["models", "default_models", "processor_seconds"]].isna().all(axis=None)


def found_in(points):
    areas = area_table(points, compressed_points(points))
    table = straw_men(points, areas, ["msb", "logitb"])
    return {(row.dataset, row.method): (row.below, row.n_runs) for row in table.itertuples()}


def at_the_constant(points, runs):
    """Return points in which logitB predicts wine no better than the constant in some runs."""
    constant = points[points["method"] == "constant"].set_index(["dataset", "run"])["test_score"]
    hit = (points[["dataset", "method"]] == ["wine", "logitb"]).all(axis=1)
    hit &= points["run"].isin(runs)
    scores = [constant["wine", run] for run in points.loc[hit, "run"]]
    points.loc[hit, "test_score"] = scores
    return points


def test_sound_rivals_are_not_doubted():
    assert found_in(make_points()) == {}


def test_who_equals_the_constant_in_every_run_is_told():
    assert found_in(at_the_constant(make_points(), range(5))) == {
        ("wine", "logitb"): ("constant", 5)
    }
    assert found_in(at_the_constant(make_points(), range(4))) == {}


def test_a_method_that_never_ended_is_no_straw_man():
    points = make_points()
    for run in range(5):
        points = fail(points, "logitb", run)
    assert found_in(points) == {}


def test_failed_runs_excuse_nobody():
    # A failed run counts as the constant.
    points = fail(at_the_constant(make_points(), range(4)), "logitb", 4)
    assert found_in(points) == {("wine", "logitb"): ("constant", 5)}


def tuned_down(points, runs):
    """Return points in which tuning led msB astray on wine in some runs."""
    hit = (points[["dataset", "method"]] == ["wine", "msb"]).all(axis=1) & points["run"].isin(runs)
    again = points[hit].assign(fit=1, stage=points.loc[hit, "stage"] + 100)
    again["valid_score"] += 0.2
    again["test_score"] -= 0.2
    return pd.concat([points, again], ignore_index=True)


def test_who_is_worse_tuned_than_by_default_in_every_run_is_told():
    assert found_in(tuned_down(make_points(), range(5))) == {("wine", "msb"): ("default", 5)}
    assert found_in(tuned_down(make_points(), range(4))) == {}


def test_of_few_runs_all_may_be_worse_tuned_by_chance():
    assert found_in(tuned_down(make_points(n_runs=4), range(4))) == {}


def test_at_equal_seconds_settings_count_that_began_in_time():
    points = make_points().assign(processor_seconds=2.0)
    hit = points["method"] == "logitb"
    later = [
        points[hit].assign(fit=fit, stage=points.loc[hit, "stage"] + 100 * fit) for fit in (1, 2, 3)
    ]
    points = pd.concat([points, *later], ignore_index=True)
    beyond = (points["fit"] >= 2).to_numpy()
    for seconds, settings in ((4.0, 2), (5.0, 3)):  # the third began at 4
        points.loc[points["method"] == "msb", "processor_seconds"] = seconds
        table = equal_seconds_table(points, beyond, "msb").set_index(["dataset", "method", "equal"])
        assert table.loc[("wine", "logitb", "seconds"), "settings"] == settings
    found = table.loc["wine", ["settings", "processor_seconds"]]
    assert found.loc["logitb", "tries"].tolist() == [2, 4]
    assert found.loc["logitb", "seconds"].tolist() == [3, 6]
    assert found.loc["msb", "tries"].tolist() == found.loc["msb", "seconds"].tolist() == [1, 5]
    usual = area_table(points[~beyond], compressed_points(points[~beyond]))
    usual = usual.groupby(["dataset", "method"])["aup_test"].mean()
    assert table["aup"].loc["wine", "logitb", "tries"] == pytest.approx(usual["wine", "logitb"])


def test_without_the_others_result_only_the_first_fit_is_in_time():
    points = make_points().assign(processor_seconds=2.0)
    hit = points["method"] == "logitb"
    again = points[hit].assign(fit=1, stage=points.loc[hit, "stage"] + 100)
    points = pd.concat([points[points["method"] != "msb"], again], ignore_index=True)
    table = equal_seconds_table(points, (points["fit"] > 9).to_numpy(), "msb")
    table = table.set_index(["dataset", "method", "equal"])["settings"].sort_index()
    assert table["wine", "logitb"].to_dict() == {"tries": 2, "seconds": 1}
