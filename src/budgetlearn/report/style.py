"""The look of all figures, and how they become files and data URIs."""

import base64
import io
from contextlib import contextmanager

import matplotlib
import seaborn as sns
from matplotlib.figure import Figure

_RC = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    # Ids in an SVG come from this salt instead of from chance: the same data give the same bytes.
    "svg.hashsalt": "budgetlearn",
    "svg.fonttype": "path",
}


@contextmanager
def house_style():
    """Draw and save inside this context."""
    with sns.axes_style("whitegrid"), matplotlib.rc_context(_RC):
        yield


def new_figure(width, height):
    """Return an empty figure that no global state holds on to."""
    return Figure(figsize=(width, height), layout="constrained")


def figure_bytes(figure, kind):
    """Return the figure as "svg" or "png" bytes that depend on its content only."""
    stamp = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with house_style():
        figure.savefig(buffer, format=kind, dpi=150, metadata=stamp)
    return buffer.getvalue()


def data_uri(figure):
    """Return the figure as an SVG data URI: vector graphics whose ids cannot clash on a page."""
    return "data:image/svg+xml;base64," + base64.b64encode(figure_bytes(figure, "svg")).decode()
