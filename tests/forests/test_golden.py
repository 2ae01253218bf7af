"""Every forest grows the trees that it grew before, bit for bit."""

import json
import platform
import warnings

import pytest

from tests.forests.golden import CASES, STORED


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="other processors round sums of products otherwise"
)
@pytest.mark.parametrize("name", CASES)
def test_same_forest_as_before(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # results alone are compared here
        assert CASES[name]() == json.loads(STORED.read_text())[name]
