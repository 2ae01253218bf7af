"""The command line: `budgetlearn fit`, `predict`, `ask`, `serve`, `compare`, `recommend`."""

import sys

from ..exceptions import MissingExtraError, extra


def main():
    """Run the command line and leave with its exit status."""
    try:
        with extra("cli", "the command line"):
            from .commands import run
    except MissingExtraError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:  # during the import; `run` handles later ones
        sys.exit(130)
    sys.exit(run())
