"""Reading of YAML and writing of files, as every part of the project does it."""

import os
import re
import secrets
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .exceptions import ConfigError
from .extras import extra


@cache
def _strict_loader():
    """Return a variant of YAML's safe loader that refuses a key standing twice, and yaml.

    Plain YAML silently takes the last one. What `<<` brings in may be replaced, as always.
    """
    with extra("workflow", "reading a configuration"):
        import yaml

    class Strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        def get_single_node(self):
            """Return the document as it is written, before `<<` is resolved."""
            document = super().get_single_node()
            # A list instead of recursion: aliases may make a document refer to itself.
            waiting, seen = [document], set()
            while waiting:
                node = waiting.pop()
                if node is None or id(node) in seen or isinstance(node, yaml.ScalarNode):
                    continue
                seen.add(id(node))
                if isinstance(node, yaml.MappingNode):
                    _refuse_second(node, yaml)
                    waiting += [value for _, value in node.value]
                else:
                    waiting += node.value
            return document

    return Strict, yaml


def _refuse_second(mapping, yaml):
    seen = {}
    for key, _ in mapping.value:
        first = seen.setdefault((key.tag, str(key.value)), key)
        if first is not key:
            raise yaml.composer.ComposerError(
                f"the key {key.value!r} appears twice in one mapping: first",
                first.start_mark,
                "and again; keep one of them",
                key.start_mark,
            )


def read_yaml(path, what=None):
    """Return the content of a YAML file; messages put `what` before its path.

    A `ConfigError` says when it cannot be read, is not YAML, or has a key twice in one mapping.
    """
    named = f"{what} {path}" if what else str(path)
    loader, yaml = _strict_loader()
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), loader)
    except OSError as error:
        raise ConfigError(f"{named} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{named} is not valid YAML: {error}") from error


# What a spreadsheet takes a cell for a formula by, where more follows.
_FORMULA = re.compile(r"[=+\-@\t\r](?=.)", re.DOTALL)


def csv_text(frame):
    """Return a frame as csv without formulas: a quote is put before a name like one.

    Spreadsheets run what begins with =, +, - or @. Numbers stay as they are, also in columns of
    text.
    """
    plain = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        plain[name] = frame[name].map(_plain)
    return plain.rename(columns=_plain).to_csv(index=False, lineterminator="\n")


def _plain(cell):
    """Return a cell, a formula as text."""
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@contextmanager
def whole_file(path, through_links=False):
    """Yield a path to write to beside a file; it gets the file's name only when it is complete.

    Its folder is made where missing. With `through_links`, of a symbolic link the file that it
    leads to is written, and the link stays; else the link is replaced. An `OSError` says when
    something else than a file has this name: a device, a pipe, a folder.
    """
    named, path = path, Path(os.path.realpath(path) if through_links else path)
    if path.exists() and not path.is_file():
        raise OSError(f"{named} is not a file, and is left alone: name another one to write.")
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that nobody can foresee, so that nothing waits there.
    partial = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}")
    try:
        yield partial
        # Atomic on one file system, which is why the partial file lies beside its place.
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
