"""The comparison report of a study: figures, tables and one self-contained page."""

from .files import write_report

__all__ = ["write_report"]
