"""Facts of source files, kept between processes: the same as read anew, whatever was kept."""

import json
import sys

import pytest

from budgetbench.study import dependencies
from budgetbench.study.dependencies import facts_of, keep_facts, read_facts

FILES = {
    "own.py": "from math import pi as circle\nimport os.path\nsize = 3\n\n\ndef f():\n    pass\n",
    "kernel.pyx": "from libc.math cimport exp\n# a comment\ncdef int n = 1\n",
}


def forget():
    for function in (dependencies._facts, dependencies._known, dependencies._reader):
        function.cache_clear()
    dependencies._new.clear()


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Where facts are kept, as if by the first process."""
    monkeypatch.setattr(dependencies, "KEPT", tmp_path / "folder" / "kept.json")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget()
    yield dependencies.KEPT
    forget()


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in FILES]


def read_anew(files):
    return [read_facts(path, path.read_bytes()) for path in files]


def test_a_later_process_finds_the_same_without_reading(kept, files, monkeypatch):
    assert list(map(facts_of, files)) == read_anew(files)
    keep_facts()
    expected = read_anew(files)
    forget()
    monkeypatch.setattr(dependencies, "read_facts", None)
    assert list(map(facts_of, files)) == expected


def test_a_file_written_again_is_read_again(kept, files):
    facts_of(files[0])
    keep_facts()
    forget()
    files[0].write_text(FILES["own.py"].replace("size", "width"))
    assert facts_of(files[0]) == read_anew(files)[0]
    assert "width" in facts_of(files[0]).made


def test_another_package_of_the_same_text_has_facts_of_its_own(kept, tmp_path):
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "same.py").write_text("from .other import x\n")
        found += facts_of(tmp_path / name / "same.py").imports
    assert [each.module for each in found] == ["one.other", "two.other"]


@pytest.mark.parametrize("content", ["", "{", '{"a": ', "null"])
def test_what_cannot_be_read_is_done_without(kept, files, content):
    kept.parent.mkdir()
    kept.write_text(content)
    assert list(map(facts_of, files)) == read_anew(files)
    keep_facts()
    assert len(json.loads(kept.read_text())) == len(files)


def test_where_nothing_may_be_written_all_is_read(kept, files, monkeypatch):
    kept.parent.write_text("a file where the folder would be")
    assert list(map(facts_of, files)) == read_anew(files)
    keep_facts()
    kept.parent.unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()
    facts_of(files[0])
    keep_facts()
    assert not kept.exists()


def test_the_latest_are_kept(kept, files, monkeypatch):
    monkeypatch.setattr(dependencies, "MOST", 1)
    list(map(facts_of, files))
    keep_facts()
    (entry,) = json.loads(kept.read_text()).values()
    assert entry[-1] == read_anew(files)[-1].digest
