"""The third reading of the area: sequences compressed on validation, their union on test data."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.reproduction import MEMBERS, right_end_area, with_paper_areas


def test_rectangles_have_the_height_of_their_right_end():
    costs, scores = np.array([0.2, 0.5, 0.6]), np.array([0.6, 0.9, 0.8])
    # The third point is beaten by a cheaper one; the last kept one reaches to the full cost.
    assert right_end_area(costs, scores) == pytest.approx(0.2 * 0.6 + 0.8 * 0.9)


def frame(*rows):
    columns = ["method", "cost_fraction", "test_score"]
    same = {"dataset": "d", "costs": "unit", "run": 0, "status": "ok"}
    return pd.DataFrame(rows, columns=columns).assign(**same)


def test_the_union_of_the_members_counts_not_msbs_own_points():
    areas = frame(("msb", 0, 0), ("other", 0, 0))[["dataset", "costs", "method", "run"]]
    members = [(name, 0.5, 0.7) for name in MEMBERS["msb"]]
    points = frame(("msb", 0.4, 0.1), ("other", 0.5, 0.6), *members, ("msb_cost", 0.9, 0.8))
    assert with_paper_areas(areas, points)["aup_paper"].tolist() == pytest.approx(
        [0.5 * 0.7 + 0.5 * 0.8, 0.6]
    )
    lacking = points[points["method"] != "msb_l1"]
    assert with_paper_areas(areas, lacking)["aup_paper"].isna().tolist() == [True, False]
