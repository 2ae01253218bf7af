"""The look of all figures, and their conversion to SVG; drawing libraries are imported late."""

import io
import re
from contextlib import contextmanager
from functools import partial
from textwrap import fill, wrap

import numpy as np

_LONG_NUMBER = re.compile(rb"-?\d+\.\d{3,}")
MANY_POINTS = 500  # more points are drawn as pixels inside the SVG, which keeps files small
SPLIT = 0.2  # share of the full cost that gets half of the axis, as most curves rise there
_TICKS = (0, 0.05, 0.1, 0.15, 0.2, 0.4, 0.6, 0.8, 1)
_APART = 0.045  # distance of two labels, as a share of the axis' height
_LABEL_WIDTH = 28  # characters of a case's title on one line beside the axes
_RC = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.titlesize": 11,
    "figure.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    # Makes ids in an SVG reproducible, so that the same data give the same bytes.
    "svg.hashsalt": "budgetlearn",
    "svg.fonttype": "path",
    # Names from the data, such as "cost in $", are not mathematics.
    "text.parse_math": False,
}


@contextmanager
def house_style():
    """Draw and save inside this context."""
    import matplotlib
    import seaborn as sns

    with sns.axes_style("whitegrid"), matplotlib.rc_context(_RC):
        yield


@contextmanager
def drawing(width, height, n_panels=0):
    """Yield a figure (size in inches) and its axes, or the list of its panels' axes."""
    from matplotlib.figure import Figure

    with house_style():
        # Not pyplot, which keeps every figure until it is closed.
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, n_panels or 1, sharey=True, squeeze=False)[0]
        yield figure, axes if n_panels else axes[0]


def message_figure(message):
    """Return a figure that shows a message instead of a drawing."""
    with drawing(6.8, 1.0) as (figure, axes):
        axes.remove()
        figure.text(0.5, 0.5, message, ha="center", va="center")
    return figure


def split_axis(axes):
    """Give the shares below `SPLIT` half of the x axis, in %, and mark where the scale changes."""
    # Linear on both sides, also beyond 0 and 1.
    shares, places = (-SPLIT, SPLIT, 2 - SPLIT), (-0.5, 0.5, 1.5)
    there, back = partial(np.interp, xp=shares, fp=places), partial(np.interp, xp=places, fp=shares)
    axes.set_xscale("function", functions=(there, back))
    axes.set_xticks(_TICKS, [f"{100 * share:g}" for share in _TICKS])
    axes.axvline(SPLIT, color="#999999", linewidth=1.0, linestyle=(0, (1, 2)))


def bars(mean, sd, least=-np.inf, most=np.inf):
    """Return the lengths of error bars of ± sd, cut at the possible values `least` and `most`."""
    low, high = np.maximum(mean - sd, least), np.minimum(mean + sd, most)
    return np.maximum([mean - low, high - mean], 0)


def marked_line(method, n_points):
    """Return the style of a method's line as keywords of matplotlib."""
    # About eight markers on a line are enough to recognise it without colour.
    marks = {"marker": method.marker, "markersize": 6, "markevery": max(1, n_points // 8)}
    line = {"color": method.colour, "linestyle": method.line, "linewidth": 2.2}
    return {**line, **marks, "label": method.label}


def shape_path(marker):
    """Return a matplotlib marker as the data of an SVG path in the square from -1 to 1."""
    from matplotlib.markers import MarkerStyle

    # The page's charts and legend have the same marks as the pictures.
    style = MarkerStyle(marker)
    pieces = style.get_path().to_polygons(style.get_transform(), closed_only=False)
    largest = max(abs(piece).max() for piece in pieces)
    return "".join(
        "M" + "L".join(f"{x / largest:.2f},{-y / largest:.2f}" for x, y in piece)
        for piece in pieces
    )


def draw_spread(axes, mean, places, sd, span, method, label):
    """Draw mean ± sd as horizontal bars at the heights `places`, within the span of the scores."""
    axes.errorbar(
        mean, places, xerr=bars(mean, sd, *span), fmt=method.marker, color=method.colour,
        capsize=2, markersize=6, label=label,
    )  # fmt: skip


def name_rows(axes, titles):
    """Write titles beside the rows 0, 1, …, the first at the top."""
    axes.set_yticks(range(len(titles)), [fill(title, _LABEL_WIDTH) for title in titles])
    axes.set_ylim(len(titles) - 0.5, -0.5)


def label_ends(axes, ends):
    """Write names beside the ends of lines without overlap; `ends`: (name, height, colour)."""
    low, high = axes.get_ylim()
    places = spread(np.array([height for _, height, _ in ends]), _APART * (high - low))
    for (name, _, colour), place in zip(ends, places, strict=True):
        axes.text(
            1.02, place, name, color=colour, va="center", fontsize=9,
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip


def spread(heights, apart):
    """Return the heights, moved so that they keep their order and are at least `apart`."""
    order = np.argsort(heights, kind="stable")
    steps = apart * np.arange(len(heights))
    # The mean of pushing all up and pushing all down keeps order and distances.
    raised = np.maximum.accumulate(heights[order] - steps)
    lowered = np.minimum.accumulate((heights[order] - steps)[::-1])[::-1]
    return ((raised + lowered) / 2 + steps)[np.argsort(order)]


def plain_decades(axis, values):
    """Label a logarithmic axis with plain numbers, as many as fit."""
    from matplotlib.ticker import LogLocator, NullLocator

    # Multiples of 2 and 5 fit only on a short axis.
    ratio = values.max() / values.min()
    steps = (1.0,) if ratio > 30 else (1.0, 2.0, 5.0)
    base = 100.0 if ratio > 1e4 else 10.0  # every second decade, as the numbers are long
    axis.set_major_locator(LogLocator(base, subs=steps))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def legend_below(figure, handles, labels):
    """Put a legend below the axes, in as many columns as fit, and enlarge the figure by it."""
    widest = int((figure.get_figwidth() - 0.5) / 0.075)  # a character takes 0.075 inches
    lines = [line for label in labels for line in wrap(label, widest)]
    labels, column = [fill(label, widest) for label in labels], 0.5 + 0.075 * max(map(len, lines))
    n_columns = min(max(1, int(figure.get_figwidth() / column)), 4, len(labels))
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(lines) // n_columns))
    figure.legend(handles, labels, loc="outside lower center", ncols=n_columns, fontsize=9)


def svg_bytes(figure):
    """Return the figure as SVG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    with house_style():
        # Without the time and the version of matplotlib.
        figure.savefig(buffer, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    return _LONG_NUMBER.sub(_shorter, buffer.getvalue())


def _shorter(number):
    """Round a coordinate to hundredths of a point, and a scale factor to five digits."""
    value = float(number[0])
    digits = f"{value:.2f}" if abs(value) >= 1 else f"{value:.5f}"
    return digits.rstrip("0").rstrip(".").encode()
