"""The self-contained page: everything inline, nothing loaded from anywhere."""

import base64
import json

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..benchmark.ranking import ranking_of
from ..benchmark.study import ACQUISITION
from . import words
from .acquisition import acquisition_sections
from .inside import inside_sections
from .interactive import drawing_library, script_data
from .memory import memory_sections, memory_verdict
from .own_cost import own_cost_rows
from .published import left_out, published_sections
from .ranking import control_rows, peers_ahead, rank_sentences, standings
from .times import time_rows
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
        What the page's scripts show, from `budgetlearn.report.interactive.build_cases`.
    metadata : Metadata
        What is known beside them.

    Returns
    -------
    str
        HTML with inline style and scripts, and with figures as data URIs.
    """
    coverage_columns, coverage_rows, gaps = words.coverage(tables["coverage"], metadata)
    published = tables.get("published")
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            metadata=metadata,
            **_standings(tables, metadata),
            **_memory(tables, metadata),
            scope=words.scope(tables["coverage"], metadata),
            cases=_cases(tables, metadata),
            offered=words.offered(tables["times"]),
            times=time_rows(tables["times"], metadata),
            published=[] if published is None else published_sections(published, metadata),
            not_rerun=[] if published is None else left_out(published),
            coverage_columns=coverage_columns,
            inside=inside_sections(drawings, metadata),
            own_cost=own_cost_rows(tables["own_cost"], metadata) if "own_cost" in tables else [],
            coverage_rows=coverage_rows,
            gaps=gaps,
            script_data=script_data(cases, metadata),
            library=drawing_library() if cases else "",
            images={name: _data_uri(svg) for name, svg in drawings.items()},
        )
    )


def _standings(tables, metadata):
    """Return what the page says about who wins where methods compete by acquisition cost."""
    if "summary" not in tables:
        return {"verdict": [], "standings": None}
    summary = tables["summary"]
    rivals = metadata.rivals(summary)
    ranking, validated = (ranking_of(summary, rivals, part) for part in ("test", "valid"))
    return {
        "verdict": [*peers_ahead(summary, metadata), *verdict(tables["leads"], metadata)],
        "standings": standings(summary, ranking, metadata),
        "ranked": ranking.pairs is not None,
        "valid_standings": standings(summary, validated, metadata, part="valid"),
        "rank_sentences": rank_sentences(ranking, metadata),
        "control_rows": control_rows(tables["controls"], metadata),
        "acquisition": acquisition_sections(tables["acquisition"], metadata),
        "lead_rows": words.leads(tables["leads"], metadata),
    }


def _memory(tables, metadata):
    """Return what the page says where methods compete by memory."""
    memory = tables.get("memory")
    return {
        "memory": [] if memory is None else memory_sections(memory, metadata),
        "memory_verdict": [] if memory is None else memory_verdict(memory, metadata),
    }


def _cases(tables, metadata):
    """Return what the page shows of each case in which methods compete by acquisition cost."""
    bought = metadata.under(ACQUISITION, tables["coverage"])
    return [_case(tables, *case, metadata) for case in metadata.cases(bought)]


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
        rows = schedule.assign(variables=schedule["variables"].map(json.loads)).to_dict("records")
        method = metadata.methods[rows[0]["method"]].label
        case["schedule"] = {"method": method, "run": rows[0]["run"], "rows": rows}
    return case
