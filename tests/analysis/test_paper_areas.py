"""The third reading of the area: sequences compressed on validation, their union on test data."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.reproduction import MEMBERS, paper_areas, right_end_area


def test_rectangles_have_the_height_of_their_right_end():
    costs, scores = np.array([0.2, 0.5, 0.6]), np.array([0.6, 0.9, 0.8])
    # The third point is beaten by a cheaper one; the last kept one reaches to the full cost.
    assert right_end_area(costs, scores) == pytest.approx(0.2 * 0.6 + 0.8 * 0.9)


def frame(*rows):
    columns = ["method", "cost_fraction", "test_score"]
    same = {"dataset": "d", "costs": "unit", "run": 0, "status": "ok"}
    return pd.DataFrame(rows, columns=columns).assign(**same)


def test_the_union_of_the_members_counts_not_msbs_own_points():
    members = [(name, 0.5, 0.7) for name in MEMBERS["msb"]]
    points = frame(("msb", 0.4, 0.1), ("other", 0.5, 0.6), *members, ("msb_cost", 0.9, 0.8))
    areas = paper_areas(points, "d", "unit", "msb")
    assert areas.to_dict() == pytest.approx({0: 0.5 * 0.7 + 0.5 * 0.8})
    assert paper_areas(points, "d", "unit", "other").to_dict() == pytest.approx({0: 0.6})
    lacking = points[points["method"] != "msb_l1"]
    assert paper_areas(lacking, "d", "unit", "msb").empty
