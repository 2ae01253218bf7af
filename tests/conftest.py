"""Fixtures that all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the data sets, `<dataset>/<file>`; without it tests on real data are skipped."""
    default = Path(__file__).parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("BUDGETLEARN_DATA", default)).resolve()
    if not folder.is_dir():
        message = f"no data folder at {folder}: set BUDGETLEARN_DATA"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder
