"""The page of one model: its picture has round numbers, and it says what was measured."""

import re

import pytest

from budgetlearn.cli.output import labels, ticks
from budgetlearn.cli.saved_model import SavedModel
from tests.cli.conftest import FIT


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0, 45.5, ["0", "10", "20", "30", "40"]),
        (0.66, 0.88, ["0.70", "0.75", "0.80", "0.85"]),
        (0, 2.6e6, ["0", "500000", "1000000", "1500000", "2000000", "2500000"]),
        (0, 6e-7, [f"0.000000{k}" for k in range(7)]),
        (-1.2, 0.9, ["-1.0", "-0.5", "0.0", "0.5"]),
        (5, 5, ["5"]),
    ],
)
def test_ticks_are_round_and_labelled_alike(low, high, shown):
    assert labels(ticks(low, high)) == shown


def test_the_page_has_each_step_its_prices_and_its_categories(folder, told):
    words = ("--method", "msb", "--budget", "20", "--out", "m.joblib", "--report", "m.html")
    assert told(*FIT, *words)[0] == 0
    page = (folder / "m.html").read_text()
    saved = SavedModel.load("m.joblib")
    steps = saved.steps()
    assert page.count("<circle") == 2 * len(steps)
    assert page.count('r="7"') == 1
    for row in steps.itertuples():
        for score, error in ((row.score, row.score_se), (row.test_score, row.test_score_se)):
            assert f"{score:.3f} ± {error:.3f}" in page
        assert f">{row.cost:.2f}</td>" in page
    chosen = saved.curve.loc[saved.stage()]
    assert f"for {chosen['cost']:.2f} a row" in page
    assert "2.1 with insulin" in page
    assert "former; no; yes" in page
    assert not re.findall(r"<script|https?://", page)
