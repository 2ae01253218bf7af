"""The comparison report of a study: figures, tables and one self-contained page."""

from .page import render_page
from .study import Study
from .write import write_figure, write_report, write_table

__all__ = ["Study", "render_page", "write_figure", "write_report", "write_table"]
