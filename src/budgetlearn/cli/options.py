"""Options that several commands share."""

import click

from ..preprocessing.column_encoders import INDICATOR, MEDIAN, REFUSE

FILE = click.Path(exists=True, dir_okay=False)
OUT = click.Path(dir_okay=False, writable=True)


def _with(function, *decorators):
    """Return a function with several decorators, the first one outermost."""
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


debug = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)


def reading(command):
    """Give a command the options of how a table is read."""
    return _with(
        command,
        click.option(
            "--separator", help="Between fields.  [default: the , ; or tab of the header]"
        ),
        click.option("--decimal", default=".", show_default=True, help="Before decimals: . or ,"),
        click.option("--na", help="What stands for a missing value, beside an empty field and NA."),
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
        click.option("--drop", multiple=True, help="A column to leave out; may be repeated."),
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
            help="[default: regression where the target is numbers with more than 20 values]",
        ),
    )


trust = click.option(
    "--trust", is_flag=True, help="Run code that the file or folder names: look at it first."
)
seed = click.option("--seed", type=int, default=0, show_default=True, help="Of all that is random.")
jobs = click.option(
    "--jobs", type=int, default=1, show_default=True, help="Threads; -1: all cores."
)
budget = click.option(
    "--budget", type=click.FloatRange(min=0), help="Most that a prediction may cost on average."
)
