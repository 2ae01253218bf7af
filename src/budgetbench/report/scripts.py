"""What the page's scripts work from: one JSON of the study, and the library that draws."""

import json
from functools import cache

_DASHES = {"-": [], "--": [7, 4], ":": [2, 3]}


def script_data(cases, display):
    """Return what the page embeds for its scripts.

    Parameters
    ----------
    cases : dict of str to dict
        <dataset>_<costs> to title, score (its name), and what each section's script shows, by the
        section's id.
    display : Display
        The methods.

    Returns
    -------
    str
        JSON that may stand inside a script element.
    """
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
    import vl_convert

    return vl_convert.javascript_bundle("globalThis.vegaEmbed = vegaEmbed;")
