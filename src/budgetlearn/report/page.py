"""The self-contained page: everything inline, nothing loaded from anywhere."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..benchmark import aggregate
from . import figures, schedule, tables
from .style import data_uri
from .verdict import verdict


def render_page(points, study):
    """Return the report as one HTML document that works offline.

    Parameters
    ----------
    points : DataFrame
        Operating points of all methods and runs, the control "constant" among them.
    study : Study
        What is known beside them.

    Returns
    -------
    str
        HTML with inline style and with figures as data URIs.

    Raises
    ------
    ConfigError
        When a method or data set is not described, or the constant control is missing.
    """
    study.check_covers(points)
    areas = aggregate.area_table(points)
    kept = aggregate.schedule_points(points)
    environment = Environment(
        loader=PackageLoader("budgetlearn.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["as_text"] = tables.as_text
    return environment.get_template("page.html.j2").render(
        study=study,
        competitors=[study.methods[name] for name in study.competitors],
        verdict=verdict(areas, study),
        cases=[_case(kept, study, *case) for case in study.cases(points)],
        **_areas(points, areas, study),
        **_times(points, study),
        **_coverage(points, study),
    )


def _areas(points, areas, study):
    """Return what the section on AUP shows."""
    summary = aggregate.summary_table(areas)
    return {
        "area_rows": tables.area_cells(summary, study),
        "valid_rows": tables.area_cells(summary, study, part="valid"),
        "control_rows": list(tables.control_cells(points, study).values()),
        "controls": [m for m in study.methods.values() if m.control],
        "lead_rows": tables.lead_rows(aggregate.lead_table(areas, study.competitors), study),
        "area_figure": data_uri(figures.area_figure(areas, study)),
    }


def _times(points, study):
    """Return what the section on fit times shows."""
    methods, rows = tables.time_cells(aggregate.time_table(points), study)
    drawn = figures.time_figure(aggregate.run_times(points), study)
    return {"time_methods": methods, "time_rows": rows, "time_figure": data_uri(drawn)}


def _coverage(points, study):
    """Return what the section on coverage shows."""
    rows, gaps = tables.coverage_cells(aggregate.coverage_table(points, study.expected), study)
    return {"coverage_rows": rows, "gaps": gaps}


def _case(kept, study, dataset, costs):
    """Return what the page shows of one data set under one kind of cost profile."""
    case = {
        "id": f"{dataset}-{costs}",
        "title": study.title(dataset, costs),
        "curve_figure": data_uri(figures.curve_figure(kept, study, dataset, costs)),
        "schedule": None,
    }
    chosen = schedule.example_schedule(kept, study, dataset, costs)
    if chosen is not None:
        run = int(chosen["run"].iloc[0])
        prices = study.prices(dataset, costs, run)
        case["schedule"] = {
            "method": study.methods[chosen["method"].iloc[0]].label,
            "run": run,
            "rows": schedule.schedule_table(chosen, prices).to_dict("records"),
            "figure": data_uri(schedule.schedule_figure(chosen, study, prices)),
        }
    return case
