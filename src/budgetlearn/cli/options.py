"""Options that several commands share, and the file of what errors cost: true,predicted,cost."""

import sys

import click
import numpy as np
import pandas as pd

from ..exceptions import ConfigError
from ..files import InMemory
from ..preprocessing.categories import INDICATOR, MEDIAN, REFUSE
from ..preprocessing.reading import MISSING_MARKS

FILE = click.Path(exists=True, dir_okay=False)


def _from_pipe(context, parameter, value):
    """Return a path, or for - what comes through a pipe, which is read once and kept."""
    if value != "-":
        return value
    return InMemory("standard input", sys.stdin.buffer.read())


def _no_screen(context, parameter, value):
    """Return the path of a model or a page, which are no text for a screen or a pipe."""
    if value == "-":
        raise click.BadParameter("write it to a file, and name that one.")
    return value


PIPE = click.Path(exists=True, dir_okay=False, allow_dash=True)
OUT = click.Path(dir_okay=False, writable=True, allow_dash=True)
table = click.argument("table", type=PIPE, callback=_from_pipe)
out = click.option("--out", type=OUT, callback=_no_screen, help="Write the model to this file.")
report = click.option(
    "--report", type=OUT, callback=_no_screen, help="Write a page about the model (html)."
)


def _with(function, *decorators):
    """Return a function with several decorators, the first one outermost."""
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


debug = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)


_ALWAYS_MISSING = f"an empty field, {', '.join(mark for mark in MISSING_MARKS if mark)}"


def reading(command):
    """Give a command the options of how a table is read."""
    return _with(
        command,
        click.option(
            "--separator",
            help="Between fields.  [default: the , ; | or tab that the header has most of]",
        ),
        click.option("--decimal", help="Before decimals: . or ,  [default: .]"),
        click.option("--na", help=f"What stands for a missing value, beside {_ALWAYS_MISSING}."),
    )


row_id = click.option(
    "--id", "row_id", help="The column that names the rows: kept in the output, never a feature."
)
dates = click.option(
    "--date", "dates", multiple=True, help="A column of dates, taken as days; repeatable."
)


def columns(command):
    """Give a command the options that say what the columns of a table are."""
    return _with(
        command,
        click.option("--target", required=True, help="The column to predict."),
        click.option(
            "--costs",
            type=FILE,
            help="Price list: feature,cost and optionally group,group_cost.  [default: 1 each]",
        ),
        row_id,
        click.option("--drop", multiple=True, help="A column to leave out; may be repeated."),
        click.option(
            "--keep",
            multiple=True,
            help="A column of whole numbers, all different, that is no identifier; repeatable.",
        ),
        click.option(
            "--categorical",
            multiple=True,
            help="A column of numbers that name categories; repeatable.",
        ),
        click.option(
            "--missing",
            type=click.Choice([INDICATOR, MEDIAN, REFUSE]),
            default=INDICATOR,
            show_default=True,
            help="Empty cells: a value of their own, the median of the training data, or an error.",
        ),
        click.option(
            "--task",
            type=click.Choice(["classification", "regression"]),
            help="[default: regression where the target is numbers with more than 20 values, or "
            "with decimals]",
        ),
    )


trust = click.option(
    "--trust", is_flag=True, help="Run code that the file or folder names: look at it first."
)
seed = click.option("--seed", type=int, default=0, show_default=True, help="Of all that is random.")
jobs = click.option(
    "--jobs", type=int, default=1, show_default=True, help="Threads; -1: all cores."
)
guaranteed = click.option(
    "--guaranteed",
    is_flag=True,
    help="Keep the mean cost of new rows within --budget with 95 % confidence: a fifth of the rows "
    "is put aside for it.",
)
budget = click.option(
    "--budget", type=click.FloatRange(min=0), help="Most that a prediction may cost on average."
)


COLUMNS = ["true", "predicted", "cost"]


def read_error_costs(path, table):
    """Return the costs of errors by (true, predicted) class, as a csv lists them.

    Its columns are true,predicted,cost. Raises `ConfigError` when a column, a class of the table or
    a number is not as it should be.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.columns = [str(name).strip() for name in frame.columns]
    if frame.columns.tolist() != COLUMNS:
        raise ConfigError(
            f"{path} needs the columns {','.join(COLUMNS)}, and has {','.join(frame.columns)}."
        )
    labels = {str(label): label for label in np.unique(table.y)}
    costs = pd.to_numeric(frame["cost"], errors="coerce")
    found = {}
    for row, cost in zip(frame.itertuples(index=False), costs, strict=True):
        unknown = [name for name in (row.true, row.predicted) if name not in labels]
        if unknown:
            raise ConfigError(
                f"{path} names the class {unknown[0]!r}; {table.target!r} has "
                f"{', '.join(list(labels)[:8])}."
            )
        if not np.isfinite(cost) or cost < 0:
            raise ConfigError(f"{path}: the cost {row.cost!r} is no number of 0 or more.")
        found[labels[row.true], labels[row.predicted]] = float(cost)
    return found
