"""The page about one model: its curve, what is bought at each budget, the held-out estimate."""

from pathlib import Path

from ..extras import extra
from ..files import whole_file
from .curve_svg import drawing
from .schedule_text import for_nothing, how_kept

MOST_COLUMNS, MOST_WORDS = 500, 50
FOLDERS = [Path(__file__).parent / "templates", Path(__file__).parents[1] / "displays"]


def write_page(saved, path):
    """Write the page of a model; it needs no network and no other file.

    Parameters
    ----------
    saved : SavedModel
        The model.
    path : path-like
        The file.
    """
    with extra("cli", "the page of a model"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDERS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    with whole_file(path, through_links=True) as partial:
        text = environment.get_template("model.html.j2").render(**_content(saved))
        partial.write_text(text, encoding="utf-8")


def _content(saved):
    steps, index = saved.steps(), None if saved.budget is None else saved.stage()
    if index is not None and index not in steps.index:
        steps = saved.curve.loc[[*steps.index, index]].sort_values("cost")
    columns = _columns(saved)
    return {
        "saved": saved,
        "rows": list(steps.itertuples()),
        "chosen": None if index is None else saved.curve.loc[index],
        "chosen_index": index,
        "for_nothing": for_nothing(saved),
        "kept": None if index is None else how_kept(saved),
        "varies": any(len(row.variables) > row.n_features + 0.05 for row in steps.itertuples()),
        "drawn": drawing(steps, index),
        "columns": columns[:MOST_COLUMNS],
        "n_hidden": max(0, len(columns) - MOST_COLUMNS),
        "most": MOST_COLUMNS,
    }


def _columns(saved):
    """Return name, price, shared charge and words of each column, those that are bought first."""
    costs, encoder = saved.costs, saved.preprocessor
    ever = {name for names in saved.curve["variables"] for name in names}
    rows = []
    for place, name in enumerate(encoder.feature_names_in_):
        members, charge = costs.group_of(place)
        others = [encoder.feature_names_in_[member] for member in members if member != place]
        words = encoder.categories_.get(name, ())
        more = f" … ({len(words)})" if len(words) > MOST_WORDS else ""
        rows.append(
            {
                "name": name,
                "price": costs.costs[place],
                "group": f"{charge:g} with {'; '.join(others)}" if others else "",
                "words": "; ".join(words[:MOST_WORDS]) + more,
                "bought": name in ever,
            }
        )
    return sorted(rows, key=lambda row: not row["bought"])
