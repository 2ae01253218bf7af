"""The comparison report of a study: figures, tables and one self-contained page."""

from .files import write_report
from .study_metadata import metadata_of

__all__ = ["metadata_of", "write_report"]
