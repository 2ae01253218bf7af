"""Reports without pictures, for tests that look at the page and the tables."""

import pytest

from budgetbench.report import page, write_report

BLANK = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def write_page(report, folder):
    """Write a report whose pictures are blank, as drawing takes most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "svg_bytes", lambda figure: BLANK)
        return write_report(report, folder)
