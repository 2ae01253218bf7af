"""The self-contained page: everything inline, nothing loaded from anywhere."""

import base64

from jinja2 import Environment, PackageLoader, StrictUndefined

from . import words
from .interactive import drawing_library, script_data
from .memory import memory_sections, memory_verdict
from .published import left_out, published_sections
from .verdict import verdict


def render_page(tables, drawings, cases, metadata):
    """Return the report as one HTML document that works offline.

    Parameters
    ----------
    tables : dict of str to DataFrame
        From `budgetlearn.report.build.build_tables`.
    drawings : dict of str to bytes
        The figures of `budgetlearn.report.build.build_figures` as SVG.
    cases : dict of str to dict
        What the page's scripts show, from `budgetlearn.report.build.build_cases`.
    metadata : Metadata
        What is known beside them.

    Returns
    -------
    str
        HTML with inline style and scripts, and with figures as data URIs.
    """
    coverage_rows, gaps = words.coverage(tables["coverage"], metadata)
    published, memory = tables.get("published"), tables.get("memory")
    time_methods, time_rows = words.times(tables["times"], metadata)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            metadata=metadata,
            competitors=[metadata.methods[name] for name in metadata.competitors],
            controls=[metadata.methods[name] for name in metadata.controls],
            verdict=verdict(tables["leads"], metadata),
            scope=words.scope(tables["coverage"], metadata),
            area_rows=words.areas(tables["summary"], metadata),
            valid_rows=words.areas(tables["summary"], metadata, part="valid"),
            control_rows=words.controls(tables["controls"], metadata),
            lead_rows=words.leads(tables["leads"], metadata),
            cases=[_case(tables, *case, metadata) for case in metadata.cases(tables["coverage"])],
            time_methods=time_methods,
            time_rows=time_rows,
            published=[] if published is None else published_sections(published, metadata),
            not_rerun=[] if published is None else left_out(published),
            memory=[] if memory is None else memory_sections(memory, metadata),
            memory_verdict=[] if memory is None else memory_verdict(memory, metadata),
            coverage_rows=coverage_rows,
            gaps=gaps,
            script_data=script_data(cases, metadata),
            library=drawing_library(),
            images={name: _data_uri(svg) for name, svg in drawings.items()},
        )
    )


def _environment():
    """Return the template environment: escapes everything, refuses unknown names."""
    environment = Environment(
        loader=PackageLoader("budgetlearn.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "as_text": words.as_text,
        "n_classes": words.n_classes,
        "first_upper": lambda text: text[:1].upper() + text[1:],
    }
    return environment


def _data_uri(svg):
    """Return an SVG as a data URI: as an image of its own its ids cannot clash with others."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


def _case(tables, dataset, costs, metadata):
    """Return what the page shows of one data set under one kind of cost profile."""
    name = f"{dataset}_{costs}"
    schedule = tables.get(f"schedule_{name}")
    case = {"name": name, "title": metadata.case_title(dataset, costs), "schedule": None}
    case["score"] = metadata.score(dataset)
    case["first"] = metadata.schedule_of.get("dataset", dataset) == dataset
    if schedule is not None and len(schedule):
        rows = schedule.assign(variables=schedule["variables"].str.split("; ")).to_dict("records")
        method = metadata.methods[rows[0]["method"]].label
        case["schedule"] = {"method": method, "run": rows[0]["run"], "rows": rows}
    return case
