"""Options shared by several commands, and notes and names as shown on the screen."""

import difflib
import os
import re
import sys
from functools import partial, reduce
from pathlib import Path

import click
from joblib import cpu_count

from ..files import InMemory
from ..preprocessing.categories import INDICATOR, MEDIAN, REFUSE
from ..preprocessing.reading import MISSING_MARKS
from ..validation import listed

FILE = click.Path(exists=True, dir_okay=False)


class _Number(click.FloatRange):
    name = "number"

    def convert(self, value, parameter, context):
        number = super().convert(value, parameter, context)
        # NaN passes the checks of both bounds.
        return number if number == number else self.fail("nan is not a number.", parameter, context)


def from_pipe(context, parameter, value):
    """Return a path, or the content of a pipe (- or a shell's <(…)), which is read only once."""
    if value == "-":
        return InMemory("standard input", sys.stdin.buffer.read())
    is_pipe = value is not None and Path(value).is_fifo()
    return InMemory(value, Path(value).read_bytes()) if is_pipe else value


def check_written(written, read=()):
    """Before any work, refuse output files that cannot be written or have another use."""
    if {"-", ""} & {*written}:  # empty: a variable that a script has not set
        raise click.UsageError("The output file needs a name, other than -.")
    written = [Path(path).resolve() for path in written if path is not None]
    known = [*written, *(Path(path).resolve() for path in read if isinstance(path, str))]
    for path in written:
        place = next(each for each in path.parents if each.exists())
        if not (place.is_dir() and os.access(place, os.W_OK)):
            raise click.UsageError(f"{place} is not a folder that can be written to.")
        if known.count(path) > 1:
            raise click.UsageError(f"{path} would be overwritten: name another file.")


PIPE = click.Path(exists=True, dir_okay=False, allow_dash=True)
OUT = click.Path(dir_okay=False, writable=True, allow_dash=True)
table = click.argument("table", type=PIPE, callback=from_pipe)
out = click.option("--out", type=OUT, help="Write the model to this file.")
report = click.option("--report", type=OUT, help="Write a page about the model (HTML).")


def _all(*decorators):
    """Combine decorators into one; the first is the outermost."""
    return partial(reduce, lambda made, decorator: decorator(made), decorators[::-1])


debug = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback.")
_ALWAYS_MISSING = f"an empty field, {', '.join(mark for mark in MISSING_MARKS if mark)}"
reading = _all(  # how to read a table
    click.option(
        "--separator",
        callback=lambda context, parameter, value: "\t" if value == "\\t" else value,
        help="Field separator.  [default: the most frequent of , ; | and tab in the header]",
    ),
    click.option("--decimal", help="Decimal mark: . or ,  [default: .]"),
    click.option(
        "--na",
        multiple=True,
        callback=lambda context, parameter, value: value or None,
        help=f"Mark of missing values, besides {_ALWAYS_MISSING}; repeatable.",
    ),
)
row_id = click.option("--id", "row_id", help="Column that names the rows; never a feature.")
of_table = _all(  # a table, and what its columns are
    table,
    click.option("--target", required=True, help="Column to predict."),
    click.option(
        "--costs",
        type=FILE,
        callback=from_pipe,
        help="Price list: feature,cost and optionally group,group_cost.  [default: 1 each]",
    ),
    row_id,
    click.option("--drop", multiple=True, help="Column to leave out; repeatable."),
    click.option("--keep", multiple=True, help="Feature that looks like an id; repeatable."),
    click.option("--categorical", multiple=True, help="Column to read as categories; repeatable."),
    click.option(
        "--missing",
        type=click.Choice([INDICATOR, MEDIAN, REFUSE]),
        default=INDICATOR,
        help="Empty cells: a value of their own (indicator), the training median, or an error.",
    ),
    click.option(
        "--task",
        type=click.Choice(["classification", "regression"]),
        help="[default: regression for numbers with more than 20 values, or decimals]",
    ),
    click.option("--date", "dates", multiple=True, help="Dates, to read as days; repeatable."),
)
trust = click.option("--trust", is_flag=True, help="Run code named in the input: check it first.")
seed = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Random seed.")
jobs = click.option(
    "--jobs", type=click.IntRange(max=cpu_count(), clamp=True), default=1, help="Threads; -1: all."
)
guaranteed = click.option(
    "--guaranteed", is_flag=True, help="Keep --budget with 95 % confidence; takes a fifth of rows."
)
budget = click.option("--budget", type=_Number(0), help="Limit on the mean cost of predictions.")
max_cost = click.option("--max-cost", type=_Number(0), help="Limit on the cost of one case.")
trusting = _all(trust, debug)
of_model = _all(click.argument("model", type=FILE), budget, max_cost)
minutes = click.option(
    "--minutes",
    type=_Number(0, min_open=True),
    default=10,
    help="auto leaves out methods that would take longer.",
)


def max_rows(default, drawn):
    """Return the option --max-rows; `drawn` completes its help text."""
    number, said = click.IntRange(min=13), f"From a larger table, {drawn}."
    return click.option("--max-rows", type=number, default=default, help=said)


def note(text):
    """Print a note on an assumption, or on something that could not be done."""
    click.echo(f"Note: {text}", err=True)


def shown(name):
    """Return a name as text, in quotes if it has a comma or unprintable characters."""
    text = str(name)
    return text if text.isprintable() and "," not in text else repr(text)


def closest(name, names):
    """Return the one of the names that is most similar, None if none is similar."""
    plain = {_plain(other): other for other in reversed(list(names))}
    near = difflib.get_close_matches(_plain(name), plain, n=1)
    return plain[near[0]] if near else None


def needed_and_found(needed, found):
    """Return the needed names, each with the most similar name that was found instead."""
    found = [name for name in found if name not in needed]

    def both(name):
        near = closest(name, found)
        return f"{name!r} (found: {near!r})" if near else repr(name)

    alone = "" if any(closest(name, found) for name in needed) else " (found: none like it)"
    return listed(needed, form=both) + alone


def _plain(name):
    # Two exports of a table often differ in capitals, blanks and signs.
    return re.sub(r"[\W_]+", "", str(name).casefold()) or str(name)
