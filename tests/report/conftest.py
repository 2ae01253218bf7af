"""The report of the generated study, written once, and a browser that shows it."""

import pytest

from budgetbench.report import write_report
from tests.factories import fail, make_points, make_report
from tests.sharing import made_once


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The report of the generated study, one run of logitB failed."""

    def write(folder):
        write_report(make_report(fail(make_points(), "logitb", 3)), folder)

    return made_once(tmp_path_factory, "report", write)
