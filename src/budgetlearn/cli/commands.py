"""The commands put together, and what users see when something is wrong: one line, no traceback."""

import ast
import re
import shlex
import sys
from contextlib import contextmanager

import click

from .. import __version__
from ..exceptions import BudgetlearnError, BudgetlearnWarning, heard
from .compare import compare, recommend
from .fit import fit
from .options import note
from .predict import ask, predict
from .serve import serve

_COLUMN = re.compile(r"Column ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
# From parameters of the library to options; {} is the column that the message is about.
_OPTIONS = {
    "Turn it into a number that means something, such as days since a fixed date, or leave it out "
    "(drop).": "Take it as days with --date {} (of fit), or leave it out with --drop {}.",
    "or leave it out (drop).": "or leave it out with --drop {}.",
    "Leave it out (drop), or name it among the categorical columns if it is one.": "If it names "
    "the rows: --id {} leaves it out and keeps it in what predict writes. Else --drop {}, or "
    "--categorical {} if it is a category.",
    "name it among the categorical columns.": "--categorical {}.",
    "Leave them out (drop).": "Leave them out with --drop.",
    'take missing="indicator" or "median"': "take --missing indicator or --missing median",
    'take missing="median"': "take --missing median",
    "pass fallback=True": "take --fallback",
    "cv=5 folds need": "5 folds need",
    "Give more, or lower cv.": "Give more rows, or take another --method.",
    "lower the confidence, or give more calibration data": "or give more rows",
    "sample_weight and class_weight count": "--weights count",
    "scoring must be": "--scoring must be",
    "max_minutes must be": "--minutes must be",
    "n_jobs == 0 in Parallel has no meaning": "--jobs must be -1 (all cores), or 1 or more",
    "error_costs": "--error-costs",
    "give them or scoring": "give them or --scoring",
    "categorical names columns": "--categorical names columns",
    "Address already in use": "Address already in use: name another --port, or none",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, package_name="budgetlearn")
def cli():
    """Predict under a budget: train on a table with a price list, buy only what is needed."""


for command in (fit, predict, ask, serve, compare, recommend):
    cli.add_command(command)


def run(arguments=None):
    """Run a command line and return its exit status: 2 for bad input, 1 for a fault of ours."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        # Not standalone: click would exit by itself, and take 1 for bad input.
        with warnings_as_notes():
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
        # Of bad input: our own, scikit-learn's ValueError, files that cannot be opened.
        ours, said = isinstance(error, (BudgetlearnError, ValueError, OSError)), in_options(error)
        if not ours:
            said = one_line(f"{type(error).__name__}: {error} (--debug shows where it happened)")
        click.echo(f"Error: {said}", err=True)
        return 2 if ours else 1


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


@contextmanager
def warnings_as_notes():
    """Show what the library warns of as a note of one line, each once."""
    said = set()

    def say(message):
        if (text := in_options(message)) not in said:
            said.add(text)
            note(text)

    with heard(BudgetlearnWarning, say):
        yield
