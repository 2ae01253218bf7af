"""The examples of docstrings run, and print what they say."""

import doctest
import importlib
from pathlib import Path

from tests.auto.conftest import limit_methods
from tests.looping import for_each

SOURCE = Path(__file__).parents[2] / "src"
# Found by their text: importing all modules takes seconds.
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted((SOURCE / "budgetlearn").rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


def test_examples_are_found():
    assert len(MODULES) > 10


@for_each("name", MODULES)
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limit_methods(monkeypatch)
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed
