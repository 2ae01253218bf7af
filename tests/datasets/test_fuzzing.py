"""Damaged files of every kind: those that once broke a parser, and a few new ones."""

import random
from itertools import islice

import pytest

from tests.datasets import fuzzing
from tests.datasets.fuzzed_parsers import PARSERS


@pytest.mark.parametrize("name", PARSERS)
def test_seeds_are_read(name, tmp_path):
    for number, files in enumerate(PARSERS[name].seeds()):
        (tmp_path / str(number)).mkdir()
        assert fuzzing.parse(PARSERS[name], files, tmp_path / str(number)) is None


@pytest.mark.parametrize("name", PARSERS)
def test_what_once_broke_a_parser_is_one_kind_of_error(name, tmp_path):
    for files in fuzzing.kept(name):
        error = fuzzing.parse(PARSERS[name], files, tmp_path)
        assert error is None, f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", PARSERS)
def test_other_damage_is_too(name, tmp_path):
    rng = random.Random(name)
    for files in islice(fuzzing.cases(PARSERS[name], rng), 3 if name == "study" else 10):
        error = fuzzing.parse(PARSERS[name], files, tmp_path)
        assert error is None, f"{type(error).__name__}: {error}"


def test_findings_are_kept_and_told(tmp_path, monkeypatch, capsys):
    def read(paths):
        if b"nan" in paths[0].read_bytes():
            raise KeyError("raw")

    broken = type(PARSERS["prices"])(read, lambda: [[("p.csv", b"a,b\n1,2\n")]])
    monkeypatch.setitem(PARSERS, "broken", broken)
    monkeypatch.setattr(fuzzing, "CORPUS", tmp_path / "corpus")
    count, found = fuzzing.fuzz("broken", 1, 7, tmp_path)
    assert count > 10
    assert [type(error) for error in found.values()] == [KeyError]
    ((name, content),) = fuzzing.kept("broken")[0]
    assert name == "p.csv"
    assert b"nan" in content
