"""The commands put together, and what users see when something is wrong: one line, no traceback."""

import sys

import click

from .. import __version__
from ..exceptions import BudgetlearnError
from .compare import compare, recommend
from .fit import fit
from .messages import in_options, one_line, warnings_as_notes
from .predict import ask, predict
from .serve import serve

# What bad input raises: our own errors, scikit-learn's ValueError, files that cannot be opened.
BAD_INPUT = (BudgetlearnError, ValueError, OSError)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="budgetlearn")
def cli():
    """Predict under a budget: train on a table with a price list, buy only what is needed."""


for command in (fit, predict, ask, serve, compare, recommend):
    cli.add_command(command)


def run(arguments=None):
    """Run a command line and return its exit status: 2 for bad input, 1 for a fault of ours."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in arguments
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
    except BAD_INPUT as error:
        if debug:
            raise
        click.echo(f"Error: {in_options(error)}", err=True)
        return 2
    except Exception as error:
        if debug:
            raise
        said = one_line(f"{type(error).__name__}: {error}")
        click.echo(f"Error: {said} (--debug shows where it happened)", err=True)
        return 1
