"""The comparison report of a study: figures, tables and one self-contained page.

Its sections are in `budgetbench.report.sections`, one module each.
"""

from .data_page import price_table, read_sheets
from .page import Report, write_report
from .sections import sections_of

__all__ = ["Report", "price_table", "read_sheets", "sections_of", "write_report"]
