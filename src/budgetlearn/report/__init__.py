"""The comparison report of a study: figures, tables and one self-contained page."""

from .files import write_figure, write_report, write_table
from .metadata import Metadata
from .page import render_page

__all__ = ["Metadata", "render_page", "write_figure", "write_report", "write_table"]
