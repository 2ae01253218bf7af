"""What the page's scripts work from: one JSON of the study, and the library that draws."""

import json
from functools import cache

import vl_convert
from matplotlib.markers import MarkerStyle

from ..benchmark.points import compressed_points
from ..benchmark.study import ACQUISITION
from .mean_curves import case_curves
from .shop import shop_data

_DASHES = {"-": [], "--": [7, 4], ":": [2, 3]}


def build_cases(points, metadata):
    """Return what the page's scripts show of each case compared by acquisition cost.

    Parameters
    ----------
    points : DataFrame
        Operating points of all methods and runs.
    metadata : Metadata
        The methods, and the names and prices of variables.

    Returns
    -------
    dict of str to dict
        <dataset>_<costs> to title, score (its name), curves (see `case_curves`) and shop (see
        `shop_data`).
    """
    kept = compressed_points(metadata.under(ACQUISITION, points))
    return {
        f"{dataset}_{costs}": {
            "title": metadata.case_title(dataset, costs),
            "score": metadata.score(dataset),
            "curves": case_curves(kept, metadata, dataset, costs),
            "shop": shop_data(kept, metadata, dataset, costs),
        }
        for dataset, costs in metadata.cases(kept)
    }


def script_data(cases, metadata):
    """Return what the page embeds for its scripts.

    Parameters
    ----------
    cases : dict of str to dict
        From `build_cases`.
    metadata : Metadata
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
        for m in metadata.methods.values()
    ]
    study = {"methods": methods, "cases": cases}
    text = json.dumps(study, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")  # no text of the data can end the script element


def shape_path(marker):
    """Return a matplotlib marker as the data of an SVG path in the square from -1 to 1."""
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
    return vl_convert.javascript_bundle("globalThis.vegaEmbed = vegaEmbed;")
