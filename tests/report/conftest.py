"""The report of the generated study, written once, and a browser that shows it."""

import pytest

from budgetbench.report import write_report
from tests.factories import fail, make_points, make_report
from tests.report.browsing import start_browser


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The report of the generated study, one run of logitB failed."""
    folder = tmp_path_factory.mktemp("report")
    write_report(make_report(fail(make_points(), "logitb", 3)), folder)
    return folder


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium for all tests."""
    driver = start_browser()
    yield driver
    driver.quit()
