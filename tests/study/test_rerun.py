"""A rerun beside stored results."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.study import records
from budgetbench.study.stored_results import (
    RerunError,
    check_rerun,
    differences,
    stored_points,
    tolerance,
)
from tests.factories import make_study

RUNS_ON = {"processor": "one", "instructions": "AVX2", "BLAS": "openblas Haswell", "threads": "1"}
HERE = {"commit": "a", "machine": "Linux x86_64, 2 cores", **RUNS_ON, "numpy": "2.0", "jobs": 3}


def points(**changes):
    rows = [
        {
            "dataset": "wine",
            "costs": "unit",
            "method": "m",
            "run": run,
            "stage": stage,
            "setting": "a=1",
            "cost": 3.0 + stage,
            "test_score": 0.5,
            "fit_seconds": 1.0,
            "acquisition_rates": np.array([0.25, 1.0]),
        }
        for run in range(2)
        for stage in range(2)
    ]
    rows[-1] |= changes
    return records.table(rows)


def test_equal_points_have_no_differences_in_any_order():
    assert differences(points(), points()[::-1]).empty


def test_bytes_are_compared():
    fresh, earlier = points(n_bytes=9.0), points()
    assert differences(fresh, earlier)["column"].tolist() == ["n_bytes"]
    fresh.loc[0, "test_score"] = 0.75  # each of another point
    assert differences(fresh, earlier)["column"].tolist() == ["test_score", "n_bytes"]


def test_clocks_are_not_compared():
    assert differences(points(fit_seconds=9.0, predict_seconds=9.0), points()).empty


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("test_score", 0.5 + 1e-12),
        ("cost", np.nan),
        ("setting", "a=2"),
        ("setting", pd.NA),
        ("status", "timeout"),
        ("acquisition_rates", np.array([0.25, 1.0 - 1e-7])),
        ("acquisition_rates", np.array([0.25])),
        ("acquisition_rates", None),
    ],
)
def test_each_changed_number_is_found_with_its_place(column, value):
    found = differences(points(**{column: value}), points())
    assert found[["run", "stage", "column"]].to_numpy().tolist() == [[1, 1, column]]
    back = differences(points(), points(**{column: value}))
    pd.testing.assert_series_equal(back["fresh"], found["stored"], check_names=False)


def test_points_of_one_side_are_found():
    found = differences(points(), points()[:-1])
    assert found[["run", "stage"]].drop_duplicates().to_numpy().tolist() == [[1, 1]]
    assert {"cost", "test_score", "status"} <= set(found["column"])
    assert found["stored"].isna().all()
    assert differences(points()[:-1], points())["fresh"].isna().all()


def test_a_point_given_twice_is_refused():
    with pytest.raises(RerunError, match="fresh results have two operating points"):
        differences(pd.concat([points(), points()]), points())


def test_numbers_within_the_tolerance_are_equal():
    assert differences(points(cost=4.0 * (1 + 1e-12)), points(), within=1e-9).empty
    assert len(differences(points(cost=4.1), points(), within=1e-9)) == 1


def test_tolerance_is_zero_on_the_same_platform_only():
    assert tolerance([HERE], [HERE | {"commit": "b", "machine": "Linux x86_64, 64 cores"}]) == 0
    assert tolerance([HERE], [HERE | {"machine": "Darwin arm64, 2 cores"}]) == 1e-9
    for name in (*RUNS_ON, "numpy"):
        assert tolerance([HERE], [HERE | {name: "other"}]) == 1e-9
        assert tolerance([HERE], [{key: HERE[key] for key in HERE if key != name}]) == 1e-9


def test_results_of_several_platforms_have_a_tolerance():
    both = [HERE, HERE | {"processor": "other"}]
    assert tolerance(both, both) == 1e-9  # the jobs may have run the other way round
    assert tolerance([HERE, HERE | {"commit": "b"}], [HERE]) == 0
    assert tolerance([HERE], []) == 1e-9


def test_check_tells_what_differs(tmp_path):
    for name, frame in (("a", points()), ("b", points()), ("c", points(test_score=0.75))):
        records.write(frame, tmp_path / f"{name}.parquet", [HERE])
    study = make_study(datasets=["wine"], methods={"m": {"class": "a.M"}})
    told = check_rerun(study, tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert "All 4 operating points" in told
    assert "exactly" in told
    with pytest.raises(RerunError, match=r"(?s)^1 numbers .*exactly.*test_score +0\.75 +0\.5"):
        check_rerun(study, tmp_path / "c.parquet", tmp_path / "a.parquet")


def test_settings_tried_for_seconds_that_were_left_are_not_compared(tmp_path):
    methods = {"m": {"class": "a.M", "space": {"a": [1, 2, 3]}}, "other": {"class": "a.Other"}}
    study = make_study(datasets=["wine"], methods=methods, tries=1, seconds_of="other")
    longer = pd.concat([points(), points().assign(fit=1)], ignore_index=True)
    changed = pd.concat([points(test_score=0.75), points().assign(fit=1)], ignore_index=True)
    for name, frame in (("short", points()), ("long", longer), ("changed", changed)):
        records.write(frame, tmp_path / f"{name}.parquet", [HERE])
    for fresh, stored in (("short", "long"), ("long", "short")):
        told = check_rerun(study, tmp_path / f"{fresh}.parquet", tmp_path / f"{stored}.parquet")
        assert "All 4 operating points" in told
    with pytest.raises(RerunError, match=r"^1 numbers"):
        check_rerun(study, tmp_path / "changed.parquet", tmp_path / "long.parquet")


def test_the_stored_folder_must_be_named_whole_and_another_one(tmp_path):
    with pytest.raises(RerunError, match="--config stored="):
        stored_points(None, tmp_path)
    with pytest.raises(RerunError, match=r"has no file points\.parquet with stored"):
        stored_points(tmp_path, tmp_path / "fresh")
    (tmp_path / "points.parquet").touch()
    with pytest.raises(RerunError, match="move the stored results elsewhere"):
        stored_points(tmp_path, tmp_path)
    assert stored_points(tmp_path, tmp_path / "fresh") == str(tmp_path / "points.parquet")
