"""Packages that only some classes need: extras of pyproject.toml."""

from contextlib import contextmanager

from .exceptions import MissingExtraError


@contextmanager
def extra(name, user):
    """Turn a failing import into a `MissingExtraError` that names the extra to install.

    `name` is the extra that holds what is imported in the block, `user` who needs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == __package__:  # a fault of our own
            raise
        raise MissingExtraError(
            f"{user} needs the package {error.name!r}, which is not installed. Install it with: "
            f"pip install 'budgetlearn[{name}]'"
        ) from error
