"""Computations on results, with many small tables."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def texts(quick_texts):
    """Use what is faster for small tables."""
