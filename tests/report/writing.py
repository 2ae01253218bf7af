"""Reports without pictures, for tests that look at the page and the tables."""

import pytest

from budgetbench.report import page, write_report

BLANK = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def write_page(report, folder, *ids):
    """Write a report whose pictures are blank, as drawing takes most of its time.

    With `ids`: of these sections alone, for tests of what stands in one of them.
    """
    every = page.sections_of

    def chosen(study):
        return [section for section in every(study) if not ids or section.id in ids]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "svg_bytes", lambda figure: BLANK)
        patch.setattr(page, "sections_of", chosen)
        return write_report(report, folder)
