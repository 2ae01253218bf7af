"""The facts of source files, kept between processes: to read all syntax trees takes seconds.

They are kept beside Python's bytecode, and under the same rule. Each is found by the content of its
file, and by that of the code that reads it, so that none can be outdated.
"""

import hashlib
import json
import sys
from dataclasses import astuple
from functools import cache
from pathlib import Path

from .._files import whole_file
from .source_text import Facts, Import, digest_of, package_of, read_facts

HERE = Path(__file__).resolve()
KEPT = HERE.parents[1] / "__pycache__" / f"source_facts.{sys.implementation.cache_tag}.json"
MOST = 2000  # facts to keep: some states of each file of the package
SOURCES = (".py", ".pyx", ".pxd")


def facts_of(path):
    """Return what a file says, as it was last written.

    Parameters
    ----------
    path : Path
        Any file.

    Returns
    -------
    Facts
    """
    return _facts(path, path.stat().st_mtime_ns)


_new = []  # keys of what this process read and has not kept yet


@cache
def _facts(path, written):
    content = path.read_bytes()
    if path.suffix not in SOURCES:
        return read_facts(path, content)
    known, key = _known(), digest_of(path, _reader() + package_of(path).encode() + content)
    if key in known:
        return _unpacked(*known[key])
    facts = read_facts(path, content)
    known[key] = (*astuple(facts)[:2], sorted(facts.made), facts.digest)
    _new.append(key)
    return facts


def keep_facts():
    """Keep what was read anew for later processes, where bytecode may be written."""
    if not _new or sys.dont_write_bytecode:
        return
    _new.clear()
    latest = dict(list(_known().items())[-MOST:])
    try:
        with whole_file(KEPT) as partial:
            partial.write_text(json.dumps(latest))
    except OSError:
        return  # an installation that only others may write


@cache
def _known():
    """Return {key: facts} as they were kept, or nothing where they cannot be read."""
    try:
        known = json.loads(KEPT.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


@cache
def _reader():
    """Return a hash of the code that reads files."""
    return hashlib.sha256(HERE.with_name("source_text.py").read_bytes()).digest()


def _unpacked(imports, passed_on, made, digest):
    passed_on = {name: Import(*each) for name, each in passed_on.items()}
    return Facts(tuple(Import(*each) for each in imports), passed_on, frozenset(made), digest)
