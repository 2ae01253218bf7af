"""The cost-accuracy curve of one model as a picture, drawn without a drawing library."""

from decimal import Decimal
from math import ceil, floor, log10

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48


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
    step = 10 ** floor(log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def labels(values):
    """Return round numbers as text, all with as many decimals as the finest of them needs."""
    digits = max(-Decimal(f"{value:.6g}").as_tuple().exponent for value in values)
    return [f"{value:.{max(digits, 0)}f}" for value in values]


def drawing(steps, chosen=None):
    """Return what a template draws: places of points, error bars, the staircase and the axes.

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
