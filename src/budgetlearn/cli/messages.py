"""Words for the screen: names as they can be shown, and the library in words of options."""

import ast
import difflib
import re
import shlex
import sys
import warnings
from contextlib import contextmanager

from ..exceptions import BudgetlearnWarning

_COLUMN = re.compile(r"Column ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
# From parameters of the library to options; {} is the column that the message is about.
_OPTIONS = {
    "Turn it into a number that means something, such as days since a fixed date, or leave it out "
    "(drop).": "Take it as days with --date {} (of fit), or leave it out with --drop {}.",
    "Leave it out (drop), or name it among the categorical columns if it is one.": "If it names "
    "the rows: --id {} leaves it out and keeps it in what predict writes. Else --drop {}, or "
    "--categorical {} if it is a category.",
    "Leave them out (drop).": "Leave them out with --drop.",
    'take missing="indicator" or "median"': "take --missing indicator or --missing median",
    'take missing="median"': "take --missing median",
    "pass fallback=True": "take --fallback",
}


def shown(name):
    """Return a name on one line, as a terminal can show it."""
    text = str(name)
    return text if text.isprintable() else repr(text)


def listed(names, most=20):
    """Return quoted names, and how many more there are."""
    first = ", ".join(map(repr, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def closest(name, names):
    """Return the one of some names that is most like another one, None where none is."""
    plain = {_plain(other): other for other in reversed(list(names))}
    near = difflib.get_close_matches(_plain(name), plain, n=1)
    return plain[near[0]] if near else None


def needed_and_found(needed, found, most=5):
    """Return names that are needed, each with the one that was found in its stead."""
    found, parts = [name for name in found if name not in needed], []
    for name in needed[:most]:
        near = closest(name, found)
        parts.append(f"{name!r} (found: {near!r})" if near else f"{name!r} (found: none like it)")
    more = f" and {len(needed) - most} more" if len(needed) > most else ""
    return ", ".join(parts) + more


def _plain(name):
    # Capitals, blanks and signs are what differs between two exports of one table.
    return re.sub(r"[\W_]+", "", str(name).casefold()) or str(name)


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
    with warnings.catch_warnings():
        warnings.simplefilter("always", BudgetlearnWarning)
        as_always = warnings.showwarning

        def show(message, category, *rest, **named):
            if not issubclass(category, BudgetlearnWarning):
                as_always(message, category, *rest, **named)
            elif (text := in_options(message)) not in said:
                said.add(text)
                print(f"Note: {text}", file=sys.stderr)

        warnings.showwarning = show
        yield
