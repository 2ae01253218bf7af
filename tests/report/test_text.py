"""Numbers and settings in text."""

import numpy as np
import pytest

from budgetbench.report import text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"train": 0.6, "test": 0.2}, "train 0.6, test 0.2"),
        (["a", ["b", 1]], "a, b, 1"),
        (None, "–"),
        (True, "yes"),
        (0, "0"),
    ],
)
def test_settings_in_words(value, words):
    assert text.as_text(value) == words


def test_numbers_in_words():
    assert text.plus_minus(0.12345, 0.01) == "0.123 ± 0.010"
    assert text.plus_minus(0.5, np.nan) == "0.500"
    assert text.plus_minus(np.nan, np.nan) == "–"
    assert text.seconds(1234.4, 120.2) == "1,234 ± 120"
    assert text.seconds(99.96, 9.87) == "100 ± 9.9"
    assert text.seconds(np.nan) == text.seconds(None, None) == "–"
