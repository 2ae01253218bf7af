"""Names of columns in messages: as a terminal shows them, and what a wrong one may be meant for."""

import difflib
import re


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
