"""The comparison report of a study: figures, tables and one self-contained page.

Its sections are in `budgetbench.report.sections`, one module each.
"""

from .page import Report, write_report
from .sections import sections_of
from .sheets import price_table, read_sheets

__all__ = ["Report", "price_table", "read_sheets", "sections_of", "write_report"]
