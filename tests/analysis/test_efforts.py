"""Default and tuned: the first fit alone, and all fits of a run together."""

import pandas as pd
import pytest

from budgetlearn.analysis.areas import area_table
from budgetlearn.analysis.efforts import effort_table
from budgetlearn.analysis.schedules import compressed_points

from ..factories import make_points


def test_default_and_tuned_rows():
    points = make_points()
    again = points[points["method"] == "msb"].assign(fit=1, n_fitted=5.0, fit_seconds=1.0)
    again = again.assign(stage=again["stage"] + 100)
    again[["valid_score", "test_score"]] += 0.02
    points = pd.concat([points, again], ignore_index=True)
    areas = area_table(points, compressed_points(points))
    table = effort_table(points, areas).set_index(["dataset", "method"]).loc["wine"]
    tuned, same = table.loc["msb"], table.loc["logitb"]
    assert (tuned["default_models"], tuned["models"]) == (20, 25)
    assert tuned["seconds"] == pytest.approx(tuned["default_seconds"] + 1)
    assert tuned["aup"] > tuned["default_aup"] + 0.01
    assert same["aup"] == same["default_aup"]
    assert same["models"] == same["default_models"]
