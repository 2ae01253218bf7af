"""The report's files; each appears whole or not at all."""

from pathlib import Path

from .._files import csv_text, whole_file
from .build import build_cases, build_figures, build_files, build_tables
from .page import render_page
from .sections import sections_of
from .style import figure_bytes


def write_report(report, folder):
    """Write the whole report of a study.

    Parameters
    ----------
    report : Report
        The content, from `Report.of`.
    folder : path-like
        Gets figures/ (svg, png), tables/ (csv), captions/ (rst) and, last, report.html. The names
        of the files are those of the sections' parts.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    ConfigError
        When the constant control is missing.
    """
    folder, sections = Path(folder), sections_of(report.study)
    report = build_tables(sections, report)
    figures = build_figures(sections, report)
    drawn = {name: figure_bytes(figure, "svg") for name, figure in figures.items()}
    page = render_page(sections, report, drawn, build_cases(sections, report))
    for name, frame in report.tables.items():
        write_table(frame, folder / "tables" / f"{name}.csv")
    for name, content in build_files(sections, report).items():
        _write(content, folder / "tables" / name)
    for name, figure in figures.items():
        _write(drawn[name], folder / "figures" / f"{name}.svg")
        _write(figure_bytes(figure, "png"), folder / "figures" / f"{name}.png")
    for part in (part for section in sections for part in section.parts):
        _write(part.caption.encode(), folder / part.caption_path)
    _write(page.encode(), folder / "report.html")
    return folder / "report.html"


def write_table(frame, path):
    """Write a frame as csv."""
    _write(csv_text(frame).encode(), path)


def _write(content, path):
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content)
