"""What the page's scripts work from: JSON that ends no script, markers as paths."""

import json

import pytest

from budgetbench.report import page
from budgetbench.report.labels import CONTROL_MARKERS, MARKERS
from tests.factories import make_display


def test_script_data_cannot_end_their_script():
    text = page.script_data({"wine": {"title": "</script><!--"}}, make_display())
    assert "<" not in text
    assert json.loads(text)["cases"]["wine"]["title"] == "</script><!--"


def test_what_is_not_known_is_null():
    text = page.script_data(
        {"wine": {"offers": [{"low": float("nan"), "n_runs": 1}]}}, make_display()
    )
    assert json.loads(text)["cases"]["wine"]["offers"] == [{"low": None, "n_runs": 1}]


@pytest.mark.parametrize("marker", [*MARKERS, *CONTROL_MARKERS])
def test_markers_become_paths_in_the_unit_square(marker):
    path = page.shape_path(marker)
    numbers = [float(n) for n in path.replace("M", " ").replace("L", " ").replace(",", " ").split()]
    assert path.startswith("M")
    assert max(map(abs, numbers)) == 1
