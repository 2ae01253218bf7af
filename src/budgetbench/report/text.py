"""Format numbers and settings for the page."""

import re
from math import floor, log10

import pandas as pd

DASH = "–"


def first_upper(text):
    """Capitalise the first letter of a text and leave the others unchanged."""
    return text[:1].upper() + text[1:]


def counted(number, noun):
    """Return a number with its noun, such as "1 run" or "2 runs"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def counts_of(names):
    """Count each name of a Series, the most frequent first, ties in the order of appearance."""
    return names.value_counts(sort=False).sort_values(ascending=False, kind="stable")


def number(value, form):
    """Return a formatted number, or a dash if it is missing."""
    return DASH if pd.isna(value) else format(value, form)


def plus_minus(mean, sd, digits=3):
    """Return "mean ± sd", without ± if there is no spread, or a dash if there is no mean."""
    # "z" writes a negative number that rounds to 0 without its sign.
    return number(mean, f"z,.{digits}f") + ("" if pd.isna(sd) else f" ± {sd:,.{digits}f}")


def interval(mean, low, high):
    """Return "+0.012 [0.001, 0.023]", without brackets for one run, or a dash without a mean."""
    bounds = "" if pd.isna(low) else f" [{low:z.3f}, {high:z.3f}]"
    return DASH if pd.isna(mean) else f"{mean:+z.3f}{bounds}"


def mean_rank(mean):
    """Return a mean rank with two decimals, rounding halves up as the page's scripts do."""
    return DASH if pd.isna(mean) else f"{mean + 1e-9:.2f}"


def seconds(mean, sd=None):
    """Return seconds with three significant digits, and their spread with as many decimals."""
    return plus_minus(mean, sd, max(0, 2 - floor(log10(mean))) if mean and mean > 0 else 0)


def setting_shown(text):
    """Return the text of a setting with three digits of its decimals, or "" if it is missing."""
    known = "" if pd.isna(text) else text.replace("tradeoff=nan, ", "")
    return re.sub(r"\d+\.\d+(e[-+]\d+)?", lambda one: f"{float(f'{float(one[0]):.3g}'):,g}", known)


def listed(display, names):
    """Return the labels of methods as a list in words, such as "a, b and c"."""
    *others, last = map(display.label, names)
    return f"{', '.join(others)} and {last}" if others else last


def as_text(value):
    """Return a setting or a provenance entry, possibly nested, in words without brackets."""
    if isinstance(value, dict):
        texts = [f"{key} {as_text(inner)}" for key, inner in value.items()]
        return ("; " if any(", " in text for text in texts) else ", ").join(texts)
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(inner) for inner in value)
    if value is None:
        return DASH
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
