"""The self-contained page: everything inline, nothing loaded from anywhere."""

import json
import re
from functools import cache

from ..study.study import ACQUISITION
from . import text


def render_page(sections, report, drawings, cases):
    """Return the report as one HTML document that works offline.

    `report` has its tables, `drawings` are the figures as SVG by name, and `cases` is what the
    page's scripts show, from `build_cases`. Style and scripts are inline, figures are data URIs.
    """
    environment = template_environment()
    # As images of their own: ids of one drawing cannot reach into another.
    images = {name: data_uri(svg) for name, svg in drawings.items()}
    bodies = [
        environment.get_template(section.template).render(
            report=report, section=section, images=images, **section.context(report)
        )
        for section in sections
    ]
    return environment.get_template("page.html.j2").render(
        study=report.study,
        sections=list(zip(sections, bodies, strict=True)),
        bought=bool(report.study.cases_under(ACQUISITION)),
        summary=[sentence for section in sections for sentence in section.summary(report)],
        scope=text.scope(report.results.coverage, report.display),
        complete=text.complete(report.results.coverage),
        scripts=[section.script for section in sections if section.script] if cases else [],
        script_data=script_data(cases, report.display),
        library=drawing_library() if cases else "",
    )


_FILTERS = (text.as_text, text.n_classes, text.counted, text.number, text.mean_rank, text.seconds)


def template_environment():
    """Return the template environment: escapes everything, refuses unknown names."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader(
            # Searched in this order: page, sections, then the command line's.
            [
                PackageLoader("budgetbench.report"),
                PackageLoader("budgetbench.report", "sections"),
                PackageLoader("budgetlearn.cli"),  # style.css, which the model page shares
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Numbers are worded in one place, whether a section or its template asks for it.
    environment.filters |= {
        **{each.__name__: each for each in _FILTERS},
        "first_upper": lambda string: string[:1].upper() + string[1:],
    }
    return environment


def data_uri(svg):
    """Return an SVG as a data URI: as an image of its own its ids cannot clash with others.

    It can stand in an attribute of HTML as it is, and takes less room than base64.
    """
    drawing = re.sub(r"\s+", " ", svg.decode())
    if "'" not in drawing:
        drawing = drawing.replace('"', "'")  # one byte where an encoded quote takes three
    # The colons are those of the namespaces' addresses: nothing on the page looks like a link.
    encoded = re.sub(r"[<>#%&\"]|:(?=//)", lambda found: f"%{ord(found[0]):02X}", drawing)
    return f"data:image/svg+xml;charset=utf-8,{encoded}"


_DASHES = {"-": [], "--": [7, 4], ":": [2, 3]}


def script_data(cases, display):
    """Return the JSON that the page embeds for its scripts: it may stand inside a script element.

    `cases` maps <dataset>_<costs> to title, score (its name), and what each section's script shows,
    by the section's id.
    """
    # Dashes and shapes go along: in print colours alone do not tell methods apart.
    methods = [
        {
            "id": m.id,
            "label": m.label,
            "colour": m.colour,
            "dash": _DASHES[m.line],
            "shape": shape_path(m.marker),
        }
        for m in display.methods.values()
    ]
    study = {"methods": methods, "cases": cases}
    text = json.dumps(study, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")  # no text of the data can end the script element


def shape_path(marker):
    """Return a matplotlib marker as the data of an SVG path in the square from -1 to 1."""
    from matplotlib.markers import MarkerStyle  # here, like all that draws: see Section

    # The legend is drawn by the browser: it shows the same marks as the pictures.
    style = MarkerStyle(marker)
    outline = style.get_path().transformed(style.get_transform())
    pieces = outline.to_polygons(closed_only=False)
    largest = max(abs(piece).max() for piece in pieces)
    return "".join(
        "M" + "L".join(f"{x / largest:.2f},{-y / largest:.2f}" for x, y in piece)
        for piece in pieces
    )


@cache
def drawing_library():
    """Return Vega, Vega-Lite and Vega-Embed as one script (all three BSD-3-Clause)."""
    # From the installed package: the page loads nothing, also where there is no network.
    import vl_convert

    return vl_convert.javascript_bundle("globalThis.vegaEmbed = vegaEmbed;")
