"""The report of the made-up study, written once, and a browser that shows it."""

import pytest

from budgetlearn.report import write_report

from ..made_up import fail, made_up_metadata, made_up_points
from .browsing import start_browser


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The report of the made-up study, one run of logitB failed."""
    folder = tmp_path_factory.mktemp("report")
    write_report(fail(made_up_points(), "logitb", 3), made_up_metadata(), folder)
    return folder


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium for all tests."""
    driver = start_browser()
    yield driver
    driver.quit()
