"""Numbers and settings in text."""

import numpy as np
import pytest

from budgetbench.report import text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"train": 0.6, "test": 0.2}, "train 0.6, test 0.2"),
        ({"trees": [1, 3], "rate": 0.1}, "trees 1, 3; rate 0.1"),
        (["a", ["b", 0]], "a, b, 0"),
        (None, "–"),
        (True, "yes"),
    ],
)
def test_settings_in_words(value, words):
    assert text.as_text(value) == words


def test_numbers_alone_and_in_settings():
    assert text.plus_minus(0.12345, 0.01) == "0.123 ± 0.010"
    assert text.plus_minus(0.5, np.nan) == "0.500"
    assert text.plus_minus(np.nan, np.nan) == "–"
    assert text.plus_minus(-0.0004, 0.01) == "0.000 ± 0.010"
    assert text.interval(-0.0004, -0.0123, 0.0114) == "+0.000 [-0.012, 0.011]"
    assert text.seconds(1234.4, 120.2) == "1,234 ± 120"
    assert text.seconds(99.96, 9.87) == "100.0 ± 9.9"
    assert text.seconds(0.256, 0.00048) == "0.256 ± 0.000"
    assert text.seconds(np.nan) == text.seconds(None, None) == "–"
    setting = (
        "order=schedule, tradeoff=0.33308846674193776, trees=1000, c=1.5e-05, d=1234.5, [0, 8]"
    )
    short = "order=schedule, tradeoff=0.333, trees=1000, c=1.5e-05, d=1,230, [0, 8]"
    assert text.setting_shown(setting) == short
    assert text.setting_shown("order=constant, tradeoff=nan, exits=1") == "order=constant, exits=1"
    assert text.setting_shown(None) == ""
