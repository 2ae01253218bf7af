"""The content of a report, its self-contained page, and its files, which are written atomically."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pandas as pd

from budgetlearn.files import csv_text, write_whole

from ..analysis import Results
from ..analysis.schedules import RUN, check_points
from ..study.study import ACQUISITION, Study
from .labels import Display
from .section import KINDS, Part, case_name, template_environment
from .sections import sections_of
from .style import shape_path, svg_bytes

_DASHES = {"-": [], "--": [7, 4], ":": [2, 3]}  # of lines, in the page's charts


@dataclass(frozen=True, eq=False)
class Report:
    """The content of a report."""

    study: Study
    display: Display
    results: Results
    prices: pd.DataFrame  # from `budgetbench.report.sheets.price_table`; may be empty
    provenance: dict = field(default_factory=dict)  # code and machine behind the results, by name
    tables: dict = field(default_factory=dict)  # the tables of all sections, by name
    # The points of `results`, and those of fits made in the seconds left after the equal tries.
    all_points: pd.DataFrame | None = None

    @classmethod
    def of(cls, study, points, sheets, prices, provenance):
        """Build a report from the `points` of all methods and runs, including the control."""
        compared = Display(study.methods, sheets)
        # Methods are compared at equal tries. Fits in extra seconds have their own table.
        within = points[~study.beyond_tries(points)]
        expected = [(*cell, run) for cell in study.cells for run in range(study.config["runs"])]
        results = Results(check_points(within), compared, pd.DataFrame(expected, columns=RUN))
        # Colours depend on the ranks, so the final display comes after the results.
        display = Display(study.methods, sheets, ranked=results.ranking.mean.index)
        return cls(study, display, results, prices, provenance, all_points=points)

    @property
    def cases(self):
        """The (dataset, costs) pairs in which methods are compared by acquisition cost."""
        return self.display.cases(self.results.by_cost)


def write_report(report, folder):
    """Write a study's figures/, tables/, captions/ and report.html, and return the page's path."""
    folder, sections = Path(folder), sections_of(report.study)
    with ThreadPoolExecutor(1) as background:  # bundling takes seconds
        library = background.submit(drawing_library if report.cases else str)
        # Tables before figures: sections draw from each other's tables.
        report = build_tables(sections, report)
        figures = collected(sections, report, "figures").items()
        drawn = {name: svg_bytes(figure) for name, figure in figures}
        page = render_page(sections, report, drawn, library.result())
    files = {f"figures/{name}.svg": svg for name, svg in drawn.items()}
    files |= {f"tables/{name}.csv": csv_text(frame) for name, frame in report.tables.items()}
    others = collected(sections, report, "files").items()
    files |= {f"tables/{name}": content for name, content in others}
    files |= {part.caption_path: part.caption for each in sections for part in each.parts}
    # The page comes last, so that all files that it links to exist.
    for path, content in (files | {"report.html": page}).items():
        write_whole(folder / path, content)
    # Captions name the files of earlier reports, which this one may lack.
    for path in (folder / "captions").glob("*_*.rst"):
        kind, _, name = path.stem.partition("_")
        old = Part(name, kind, category="", caption="", labels={})
        if kind in KINDS and old.caption_path not in files:
            (folder / old.path).unlink(missing_ok=True)
            path.unlink()
    return folder / "report.html"


def build_tables(sections, report):
    """Return the report with the tables of all its sections."""
    return replace(report, tables=collected(sections, report, "tables"))


def collected(sections, report, kind):
    """Return {name: product} for the "tables", "figures" or "files" of all sections."""
    made = [getattr(section, kind)(report) for section in sections]
    return {name: product for products in made for name, product in products.items()}


def render_page(sections, report, drawings, library):
    """Return the report as one HTML document that works offline and loads nothing.

    `drawings` maps names to figures as SVG, and `library` is the script that draws the others.
    """
    environment, display = template_environment(), report.display
    # As data URIs, not inline, so that ids in one drawing cannot clash with those in another.
    images = {name: data_uri(svg) for name, svg in drawings.items()}
    titles = {case_name(*case): display.case_title(*case) for case in report.cases}
    known = {"report": report, "images": images, "case_titles": titles}
    bodies = [s.render(environment, section=s, **known, **s.context(report)) for s in sections]
    coverage = report.results.coverage
    scripted = [section for section in sections if section.script]
    cases = {
        case_name(*case): {
            "title": display.case_title(*case),
            "dataset": case[0],
            "score": display.score(case[0]),
            "bounded": case[0] in display.bounded,  # JSON has no infinity
            "best": display.datasets[case[0]].span[1],
            **{section.id: section.script_data(report, *case) for section in scripted},
        }
        for case in report.cases
    }
    return environment.get_template("page.html.j2").render(
        study=report.study,
        sections=list(zip(sections, bodies, strict=True)),
        bought=bool(report.study.cases_under(ACQUISITION)),
        summary=[sentence for section in sections for sentence in section.summary(report)],
        complete=not coverage[["n_partial", "n_failed", "n_missing"]].to_numpy().any(),
        scripts=[section.script for section in scripted] if cases else [],
        script_data=script_data(cases, display),
        library=library,
    )


def data_uri(svg):
    """Return an SVG as a data URI for an attribute, shorter than base64."""
    drawing = re.sub(r"\s+", " ", svg.decode())
    if "'" not in drawing:
        drawing = drawing.replace('"', "'")  # one byte where an encoded quote takes three
    # Colons of namespace addresses are encoded too, so that nothing on the page looks like a link.
    encoded = re.sub(r"[<>#%&\"]|:(?=//)", lambda found: f"%{ord(found[0]):02X}", drawing)
    return f"data:image/svg+xml;charset=utf-8,{encoded}"


def script_data(cases, display):
    """Return the JSON for the page's scripts, safe inside a script element."""
    # Dashes and shapes are included, as colours alone do not tell methods apart in print.
    methods = [
        {"id": m.id, "label": m.label, "colour": m.colour}
        | {"dash": _DASHES[m.line], "shape": shape_path(m.marker)}
        for m in display.methods.values()
    ]
    # JSON has no NaN, which becomes null. Infinities are refused.
    cases = json.loads(json.dumps(cases), parse_constant={"NaN": None}.__getitem__)
    study = {"methods": methods, "cases": cases}
    text = json.dumps(study, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")  # no text of the data can end the script element


@cache
def drawing_library():
    """Return Vega, Vega-Lite and Vega-Embed as one script (all three BSD-3-Clause)."""
    # Bundled, as the page must work without a network, and in another process, as vl_convert blocks
    # all threads.
    bundle = "vl_convert.javascript_bundle('globalThis.vegaEmbed = vegaEmbed;')"
    code = f"import sys, vl_convert; sys.stdout.write({bundle})"
    command = [sys.executable, "-X", "utf8", "-c", code]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
