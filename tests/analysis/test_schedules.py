"""The frame of operating points: what is refused, and what compression keeps."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.schedules import RUN, check_points, compressed_points
from budgetbench.study.records import RecordError, table
from tests.factories import fail, make_points


@pytest.fixture(scope="module")
def points():
    return make_points()


def test_records_are_a_good_frame(points):
    assert check_points(table(points)) is not None
    kept = compressed_points(table(points))
    pd.testing.assert_series_equal(
        kept["test_score"], compressed_points(points)["test_score"], check_dtype=False
    )


def test_a_repeated_point_is_refused(points):
    with pytest.raises(RecordError, match=r"1 repeat.*'wine'"):
        check_points(pd.concat([points, points.iloc[[0]]]))


def test_an_ok_point_without_its_number_is_refused(points):
    broken = points.copy()
    broken.loc[3, "test_score"] = np.nan
    with pytest.raises(RecordError, match=r"must have finite .* 1 do not"):
        check_points(broken)


def test_the_kept_points_beat_every_cheaper_one(points):
    kept = compressed_points(points)
    for key, run in kept.groupby(RUN):
        assert (np.diff(run["cost"]) > 0).all()
        assert (np.diff(run["valid_score"]) > 0).all()
        everything = points[(points[RUN] == list(key)).all(axis=1)]
        assert run["valid_score"].max() == everything["valid_score"].max()


def test_the_order_of_rows_does_not_matter(points):
    shuffled = points.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(compressed_points(points), compressed_points(shuffled))


def test_failed_runs_have_no_schedule(points):
    kept = compressed_points(fail(points, "msb", 2))
    lost = kept.query("dataset == 'wine' and method == 'msb'")
    assert sorted(lost["run"].unique()) == [0, 1, 3, 4]
    assert compressed_points(points.assign(status="failed: all of it")).empty


def test_validation_costs_decide_when_they_are_known():
    points = make_points(n_runs=1).query("dataset == 'wine'")
    as_test = compressed_points(points.drop(columns="valid_cost"))
    pd.testing.assert_series_equal(
        as_test["valid_fraction"], compressed_points(points)["valid_fraction"]
    )
    some = points[points["cost_fraction"] < 1]  # none of them costs as much as all features
    dear = some.assign(cost=some["cost"] * 7, valid_cost=some["valid_cost"] * 7)
    as_some = compressed_points(some.drop(columns="valid_cost"))["valid_fraction"]
    np.testing.assert_allclose(compressed_points(dear)["valid_fraction"], as_some)
    free = points[points["method"] == "constant"]  # whose full cost nobody knows
    assert compressed_points(free)["valid_fraction"].tolist() == [0]
    expensive = points.assign(valid_cost=points["valid_cost"] * 0.5)
    np.testing.assert_allclose(
        compressed_points(expensive)["valid_fraction"], as_test["valid_fraction"] / 2
    )
