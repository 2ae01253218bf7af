"""The page about one model: its curve, the acquisitions at each budget, the held-out estimate."""

from decimal import Decimal
from math import ceil, floor, log10
from pathlib import Path

from ..extras import extra
from ..files import whole_file
from .schedule_text import for_nothing, how_kept

MOST_COLUMNS, MOST_WORDS = 500, 50
# The picture of the curve, in its own units; drawn without a drawing library.
WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
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
    # The chosen point may lie off the front; it is drawn all the same.
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
    """Return name, price, shared charge and words of each column, the acquired ones first."""
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


def ticks(low, high, most=6):
    """Return round numbers between two, a few of them.

    Parameters
    ----------
    low, high : float
        The range; may be of no length.
    most : int, default=6
        About how many.

    Returns
    -------
    list of float
    """
    span = (high - low) or abs(high) or 1.0
    # The largest of 1, 2, 5 times a power of ten that leaves few enough ticks.
    step = 10 ** floor(log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def labels(values):
    """Return round numbers as text, all with as many decimals as the finest of them needs."""
    digits = max(-Decimal(f"{value:.6g}").as_tuple().exponent for value in values)
    return [f"{value:.{max(digits, 0)}f}" for value in values]


def drawing(steps, chosen=None):
    """Return the parts of the picture: points, error bars, the staircase and the axes.

    Parameters
    ----------
    steps : DataFrame
        cost, score, score_se and test_score, ascending.
    chosen : int, default=None
        Index of the point to mark.

    Returns
    -------
    dict
        In units of the picture.
    """
    tests = steps["test_score"]
    low = min((steps["score"] - steps["score_se"]).min(), tests.min())
    high = max((steps["score"] + steps["score_se"]).max(), tests.max())
    # A flat curve still needs an axis of some height.
    pad = 0.05 * (high - low) or 0.05
    low, high, most = low - pad, high + pad, float(steps["cost"].max()) * 1.05 or 1.0

    def x(cost):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * cost / most, 1)

    def y(score):
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - score) / (high - low), 1)

    x_ticks, y_ticks = ticks(0, most), ticks(low, high)
    points = [
        {
            "x": x(row.cost),
            "y": y(row.score),
            "bar": (y(row.score - row.score_se), y(row.score + row.score_se)),
            "test": y(test),
            "chosen": row.Index == chosen,
            "says": f"{row.score:.3f} for {row.cost:g}",
        }
        for row, test in zip(steps.itertuples(), tests, strict=True)
    ]
    # First to the right at the old score, then up: a staircase, no interpolation.
    path = "".join(
        f"{'M' if k == 0 else 'H'}{p['x']}{' ' if k == 0 else 'V'}{p['y']}"
        for k, p in enumerate(points)
    )
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "box": (LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM),
        "points": points,
        "staircase": f"{path}H{WIDTH - RIGHT}",
        "x_ticks": list(zip(map(x, x_ticks), labels(x_ticks), strict=True)),
        "y_ticks": list(zip(map(y, y_ticks), labels(y_ticks), strict=True)),
    }
