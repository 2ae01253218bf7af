"""Options that several commands share, and words for the screen: notes, names as shown on it."""

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
        # NaN is beyond no bound.
        return number if number == number else self.fail("nan is no number.", parameter, context)


def from_pipe(context, parameter, value):
    """Return a path, or what comes through a pipe (-, or a shell's <(…)): read once and kept."""
    if value == "-":
        return InMemory("standard input", sys.stdin.buffer.read())
    is_pipe = value is not None and Path(value).is_fifo()
    return InMemory(value, Path(value).read_bytes()) if is_pipe else value


def check_written(written, read=()):
    """Refuse files to write before any work: without a place, or read or written as well."""
    if {"-", ""} & {*written}:  # an empty name: of a variable that a script has not set
        raise click.UsageError("- or no name: write it to a file, and name that one.")
    written = [Path(path).resolve() for path in written if path is not None]
    known = [*written, *(Path(path).resolve() for path in read if isinstance(path, str))]
    for path in written:
        place = next(each for each in path.parents if each.exists())
        if not (place.is_dir() and os.access(place, os.W_OK)):
            raise click.UsageError(f"{place} is no folder that can be written to.")
        if known.count(path) > 1:
            raise click.UsageError(f"{path} would be written over: name another file.")


PIPE = click.Path(exists=True, dir_okay=False, allow_dash=True)
OUT = click.Path(dir_okay=False, writable=True, allow_dash=True)
table = click.argument("table", type=PIPE, callback=from_pipe)
out = click.option("--out", type=OUT, help="Write the model to this file.")
report = click.option("--report", type=OUT, help="Write a page about the model (html).")


def _all(*decorators):
    """Return several decorators as one, the first of them outermost."""
    return partial(reduce, lambda made, decorator: decorator(made), decorators[::-1])


debug = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback.")
_ALWAYS_MISSING = f"an empty field, {', '.join(mark for mark in MISSING_MARKS if mark)}"
reading = _all(  # how a table is read
    click.option(
        "--separator",
        callback=lambda context, parameter, value: "\t" if value == "\\t" else value,
        help="What separates fields.  [default: the , ; | or tab that the header has most of]",
    ),
    click.option("--decimal", help="The decimal mark: . or ,  [default: .]"),
    click.option(
        "--na",
        multiple=True,
        callback=lambda context, parameter, value: value or None,
        help=f"What marks a missing value, besides {_ALWAYS_MISSING}; repeatable.",
    ),
)
row_id = click.option("--id", "row_id", help="The column that names the rows; never a feature.")
dates = click.option("--date", "dates", multiple=True, help="Dates, read as days; repeatable.")
columns = _all(  # what the columns of a table are
    click.option("--target", required=True, help="The column to predict."),
    click.option(
        "--costs",
        type=FILE,
        callback=from_pipe,
        help="Price list: feature,cost and optionally group,group_cost.  [default: 1 each]",
    ),
    row_id,
    click.option("--drop", multiple=True, help="A column to leave out; may be repeated."),
    click.option("--keep", multiple=True, help="Numbers that are no identifier; repeatable."),
    click.option("--categorical", multiple=True, help="Numbers that name categories; repeatable."),
    click.option(
        "--missing",
        type=click.Choice([INDICATOR, MEDIAN, REFUSE]),
        default=INDICATOR,
        help="Empty cells: a value of their own, the median of the training data, or an error.",
    ),
    click.option(
        "--task",
        type=click.Choice(["classification", "regression"]),
        help="[default: regression for numbers with more than 20 values, or decimals]",
    ),
)
trust = click.option("--trust", is_flag=True, help="Run code that it names: look at it first.")
seed = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Random seed.")
jobs = click.option(
    "--jobs", type=click.IntRange(max=cpu_count(), clamp=True), default=1, help="Threads; -1: all."
)
guaranteed = click.option(
    "--guaranteed", is_flag=True, help="Keep the --budget with 95 % confidence, by a fifth of rows."
)
budget = click.option("--budget", type=_Number(0), help="Highest mean cost of a prediction.")
max_cost = click.option("--max-cost", type=_Number(0), help="Most that a case may cost.")
minutes = click.option(
    "--minutes",
    type=_Number(0, min_open=True),
    default=10,
    help="auto leaves out what takes longer.",
)


def max_rows(default, drawn):
    """Return the option of the most rows to use; `drawn` says how others are chosen from more."""
    known = {"type": click.IntRange(min=13), "default": default}
    return click.option("--max-rows", **known, help=f"From a larger table, {drawn}.")


def note(text):
    """Say on the screen what was taken for granted, or could not be done."""
    click.echo(f"Note: {text}", err=True)


def shown(name):
    """Return a name on one line, as a terminal can show it; in quotes where it would be several."""
    text = str(name)
    return text if text.isprintable() and "," not in text else repr(text)


def closest(name, names):
    """Return the name that is most like another one, None where none is like it."""
    plain = {_plain(other): other for other in reversed(list(names))}
    near = difflib.get_close_matches(_plain(name), plain, n=1)
    return plain[near[0]] if near else None


def needed_and_found(needed, found):
    """Return names that are needed, each with the one that was found in its stead."""
    found = [name for name in found if name not in needed]

    def both(name):
        near = closest(name, found)
        return f"{name!r} (found: {repr(near) if near else 'none like it'})"

    return listed(needed, form=both)


def _plain(name):
    # Capitals, blanks and signs are what differs between two exports of one table.
    return re.sub(r"[\W_]+", "", str(name).casefold()) or str(name)
