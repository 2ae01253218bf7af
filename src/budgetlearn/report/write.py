"""The report's files; each appears whole or not at all."""

import os
from pathlib import Path

from ..benchmark import aggregate
from . import figures, schedule
from .page import render_page
from .study import Study
from .style import figure_bytes


def write_bytes(content, path):
    """Write `content` beside `path` and rename it there, so that no half-written file is seen."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_table(frame, path):
    """Write a frame as csv; lists become words separated by semicolons."""
    flat = frame.map(lambda v: "; ".join(map(str, v)) if isinstance(v, list) else v)
    write_bytes(flat.to_csv(index=False, lineterminator="\n").encode(), path)


def write_figure(figure, stem):
    """Write a figure as `stem`.svg and `stem`.png."""
    for kind in ("svg", "png"):
        write_bytes(figure_bytes(figure, kind), f"{stem}.{kind}")


def write_report(points, metadata, folder):
    """Write the whole report of a study.

    Parameters
    ----------
    points : DataFrame
        Operating points of all methods and runs.
    metadata : dict
        See `Study.from_metadata`.
    folder : path-like
        Gets figures/ (svg, png), tables/ (csv) and, last, report.html.

    Returns
    -------
    Path
        Of the page.
    """
    folder, study = Path(folder), Study.from_metadata(metadata)
    page = render_page(points, study)
    write_tables(points, study, folder / "tables")
    write_figures(points, study, folder / "figures")
    write_bytes(page.encode(), folder / "report.html")
    return folder / "report.html"


def write_tables(points, study, folder):
    """Write the tables over all cases, and the example schedule of each case, as csv."""
    areas = aggregate.area_table(points)
    kept = aggregate.schedule_points(points)
    frames = {
        "areas": areas,
        "summary": aggregate.summary_table(areas),
        "leads": aggregate.lead_table(areas, study.competitors),
        "times": aggregate.time_table(points),
        "coverage": aggregate.coverage_table(points, study.expected),
    }
    for dataset, costs in study.cases(points):
        chosen = schedule.example_schedule(kept, study, dataset, costs)
        if chosen is not None:
            prices = study.prices(dataset, costs, chosen["run"].iloc[0])
            frames[f"schedule_{dataset}_{costs}"] = schedule.schedule_table(chosen, prices)
    for name, frame in frames.items():
        write_table(frame, Path(folder) / f"{name}.csv")


def write_figures(points, study, folder):
    """Write the figures over all cases, and curves and schedule of each case."""
    folder, kept = Path(folder), aggregate.schedule_points(points)
    write_figure(figures.area_figure(aggregate.area_table(points), study), folder / "areas")
    write_figure(figures.time_figure(aggregate.run_times(points), study), folder / "times")
    for dataset, costs in study.cases(points):
        write_case_figures(kept, study, dataset, costs, folder)


def write_case_figures(schedules, study, dataset, costs, folder):
    """Write curves_<dataset>_<costs> and, where models name variables, schedule_... ."""
    folder = Path(folder)
    curves = figures.curve_figure(schedules, study, dataset, costs)
    write_figure(curves, folder / f"curves_{dataset}_{costs}")
    chosen = schedule.example_schedule(schedules, study, dataset, costs)
    if chosen is not None:
        prices = study.prices(dataset, costs, chosen["run"].iloc[0])
        drawn = schedule.schedule_figure(chosen, study, prices)
        write_figure(drawn, folder / f"schedule_{dataset}_{costs}")
