"""Fixtures that several packages' tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes tells of the machine's load, not of the code.
settings.register_profile("project", deadline=None)
settings.load_profile("project")

ROOT = Path(__file__).resolve().parents[1]

# Snakemake's plug-in for SLURM asks for a controller whenever it is imported, and waits for ten
# seconds where one was installed and none runs. The tests of SLURM name their own.
os.environ.setdefault("SLURM_CONF", os.devnull)


def pytest_collection_modifyitems(items):
    """Begin with the files that run the workflow: whoever got one last would work on it alone."""
    long = {item.path for item in items if item.get_closest_marker("workflow")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(scope="session")
def data_dir():
    """Folder with the real data as ``<dataset>/<file>``; tests that need it are skipped without.

    ``BUDGETLEARN_DATA`` names it; otherwise ``shared/data`` beside the repository is taken.
    """
    named = os.environ.get("BUDGETLEARN_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    message = f"no folder of real data at {folder}; set BUDGETLEARN_DATA to one"
    if os.environ.get("CI"):
        pytest.fail(message)
    return pytest.skip(message)
