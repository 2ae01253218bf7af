"""The comparison report of a study: figures, tables and one self-contained page."""

from .page import Report as Report
from .page import write_report as write_report
from .sections import sections_of as sections_of
from .sheets import price_table as price_table
from .sheets import read_sheets as read_sheets
