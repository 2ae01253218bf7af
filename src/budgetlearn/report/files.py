"""The report's files; each appears whole or not at all."""

import os
from pathlib import Path

from .build import build_figures, build_tables
from .interactive import build_cases
from .metadata import Metadata
from .page import render_page
from .style import figure_bytes


def write_report(points, metadata, folder):
    """Write the whole report of a study.

    Parameters
    ----------
    points : DataFrame
        Operating points of all methods and runs, the control "constant" among them.
    metadata : dict
        See `Metadata.from_dict`.
    folder : path-like
        Gets figures/ (svg, png), tables/ (csv) and, last, report.html. The names are those of
        `budgetlearn.report.build`.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    ConfigError
        When the metadata do not describe a method or data set, or when the constant control is
        missing.
    """
    folder, metadata = Path(folder), Metadata.from_dict(metadata)
    tables = build_tables(points, metadata)
    figures = build_figures(points, tables, metadata)
    drawn = {name: figure_bytes(figure, "svg") for name, figure in figures.items()}
    page = render_page(tables, drawn, build_cases(points, metadata), metadata)
    for name, frame in tables.items():
        write_table(frame, folder / "tables" / f"{name}.csv")
    for name, figure in figures.items():
        _write(drawn[name], folder / "figures" / f"{name}.svg")
        _write(figure_bytes(figure, "png"), folder / "figures" / f"{name}.png")
    _write(page.encode(), folder / "report.html")
    return folder / "report.html"


def write_table(frame, path):
    """Write a frame as csv."""
    _write(frame.to_csv(index=False, lineterminator="\n").encode(), path)


def _write(content, path):
    """Write `content` beside `path` and rename it there, so that no half-written file is seen."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
