"""The group of all commands, and errors as users see them: one line, no traceback."""

import ast
import re
import shlex
import sys
from functools import cache

import click

from .. import __version__
from ..exceptions import BudgetlearnError, BudgetlearnWarning, heard
from .compare import compare, recommend
from .fit import fit
from .options import note
from .predict import ask, predict
from .serve import serve

_COLUMN = re.compile(r"Column ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
# Phrases of library messages and their replacements; {} is the column that a message is about.
_OPTIONS = {
    "Turn it into a number that means something, such as days since a fixed date, or leave it out "
    "(drop).": "Read it as days with --date {}, or leave it out with --drop {}.",
    "or leave it out (drop).": "or leave it out with --drop {}.",
    "Leave it out (drop), or name it among the categorical columns if it is one.": "If it names "
    "the rows, use --id {}: predict then writes it beside each prediction. Otherwise use "
    "--drop {}, or --categorical {} if it is a category.",
    "name it among the categorical columns.": "--categorical {}.",
    "Leave them out (drop).": "Leave them out with --drop.",
    'take missing="indicator" or "median"': "use --missing indicator or --missing median",
    'take missing="median"': "use --missing median",
    "pass fallback=True": "use --fallback",
    "cv=5 folds need": "5 folds need",
    "Give more, or lower cv.": "Give more rows, or use another --method.",
    "lower the confidence, or give more calibration data": "or give more rows",
    "sample_weight and class_weight count": "--weights count",
    "scoring must be": "--scoring must be",
    "max_minutes must be": "--minutes must be",
    "n_jobs == 0 in Parallel has no meaning": "--jobs must be -1 (all cores), or 1 or more",
    "error_costs": "--error-costs",
    "max_cost": "--max-cost",
    "give them or scoring": "give them or --scoring",
    "categorical names columns": "--categorical names columns",
    "Address already in use": "Address already in use: choose another --port, or none",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, package_name="budgetlearn")
def cli():
    """Predict under a budget: train on a table with prices, and buy only what is needed."""


for command in (fit, predict, ask, serve, compare, recommend):
    cli.add_command(command)


def run(arguments=None):
    """Run a command line and return its exit status: 2 for bad input, 1 for a bug."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        # Each warning is shown once. In standalone mode click exits with 1 for some bad input.
        with heard(BudgetlearnWarning, cache(lambda message: note(in_options(message)))):
            return cli.main(arguments, prog_name="budgetlearn", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        click.echo("Stopped.", err=True)
        return 130
    except Exception as error:
        if "--debug" in arguments:
            raise
        # Bad input raises our own errors, scikit-learn's ValueError, or an OSError for files.
        known, text = isinstance(error, (BudgetlearnError, ValueError, OSError)), in_options(error)
        if not known:
            text = one_line(f"{type(error).__name__}: {error} (--debug shows where it happened)")
        click.echo(f"Error: {text}", err=True)
        return 2 if known else 1


def one_line(error):
    """Return an error's message on one line; blanks within a line stay."""
    return " ".join(line.strip() for line in str(error).splitlines())


def in_options(error):
    """Return an error's message on one line, naming options instead of parameters."""
    text = one_line(error)
    column = _COLUMN.match(text)
    quoted = shlex.quote(ast.literal_eval(column[1])) if column else "NAME"
    for parameter, option in _OPTIONS.items():
        text = text.replace(parameter, option.replace("{}", quoted))
    return text
