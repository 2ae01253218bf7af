"""Numbers and settings as the page words them."""

import pandas as pd

DASH = "–"


def first_upper(text):
    """Return a text with its first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def counted(number, noun):
    """Return "1 run", "2 runs"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def counts_of(names):
    """Count each name of a Series, the most frequent first."""
    # Stable: of equal counts the one that comes first in the order of data sets.
    return names.value_counts(sort=False).sort_values(ascending=False, kind="stable")


def number(value, form):
    """Return a number in a format; a dash for none."""
    return DASH if pd.isna(value) else format(value, form)


def plus_minus(mean, sd, digits=3):
    """Return "mean ± sd"; a dash for no mean, no ± where a single run has no spread."""
    return number(mean, f".{digits}f") + ("" if pd.isna(sd) else f" ± {sd:.{digits}f}")


def interval(mean, low, high):
    """Return "+0.012 [0.001, 0.023]"; a dash for no mean, no brackets for a single run."""
    bounds = "" if pd.isna(low) else f" [{low:.3f}, {high:.3f}]"
    return DASH if pd.isna(mean) else f"{mean:+.3f}{bounds}"


def mean_rank(mean):
    """Return a mean rank with two digits, halves rounded up as the page's scripts do."""
    return DASH if pd.isna(mean) else f"{mean + 1e-9:.2f}"


def seconds(mean, sd=None):
    """Return seconds with three digits that matter, their spread with two; large ones whole."""
    spread = "" if pd.isna(sd) else f" ± {_digits(sd, 2)}"
    return (DASH if pd.isna(mean) else _digits(mean, 3)) + spread


def _digits(value, digits):
    return f"{value:,.0f}" if value >= 10**digits - 0.5 else f"{value:.{digits}g}"


def listed(display, names):
    """Return the labels of methods in a row: "a, b and c"."""
    *others, last = map(display.label, names)
    return f"{', '.join(others)} and {last}" if others else last


def as_text(value):
    """Return a setting or a provenance entry in words."""
    # Settings nest as YAML does; a reader wants words, not brackets.
    if isinstance(value, dict):
        return ", ".join(f"{key} {as_text(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(inner) for inner in value)
    if value is None:
        return DASH
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
