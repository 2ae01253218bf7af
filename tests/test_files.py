"""Reading YAML strictly, and writing whole files."""

import errno
from pathlib import Path

import pytest

from budgetbench.datasets.registry import load_registry
from budgetbench.report.sections.printed import read_reasons
from budgetbench.study.study import check_schema
from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml, whole_file

ROOT = Path(__file__).resolve().parents[1]
TWICE = "wine:\n  title: A\n  task: b\n  title: C\n"


def lay(folder, text):
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_key_twice_is_refused_with_both_places(tmp_path):
    with pytest.raises(ConfigError) as caught:
        read_yaml(lay(tmp_path, TWICE), "The list")
    text = str(caught.value)
    assert text.startswith(f"The list {tmp_path / 'a.yaml'} is not valid YAML")
    assert "the key 'title' appears twice" in text
    assert "line 2" in text
    assert "line 4" in text


@pytest.mark.parametrize("text", ["{a: 1, a: 1}", "- b: {1: x, 1: y}", "a: &x {b: 1}\na: *x"])
def test_keys_twice_in_other_forms(tmp_path, text):
    with pytest.raises(ConfigError, match="appears twice"):
        read_yaml(lay(tmp_path, text))


def test_what_is_merged_may_be_replaced(tmp_path):
    text = "a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\nd: {1: one, '1': text}\n"
    # The first of several mappings counts, but their keys come last first.
    content = read_yaml(lay(tmp_path, text + "e: {<<: [*a, {why: 5, x: 6}], z: 7}\n"))
    assert list(content["e"].items()) == [("why", 5), ("x", 1), ("y", 2), ("z", 7)]
    assert content["c"] == {"x": 3, "y": 4}
    assert content["d"] == {1: "one", "1": "text"}


@pytest.mark.parametrize("read", [load_registry, read_reasons, lambda p: check_schema({}, p, "")])
def test_every_reader_of_the_project_refuses_a_key_twice(tmp_path, read):
    with pytest.raises(ConfigError, match="appears twice"):
        read(lay(tmp_path, TWICE))


def test_no_file_of_the_project_has_a_key_twice():
    found = [ROOT / "environment.yml"]
    for folder in ("config", "workflow", "resources", "profiles"):
        found += sorted((ROOT / folder).rglob("*.y*ml"))
    assert len(found) > 20
    for path in found:
        read_yaml(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(ConfigError, match="not valid YAML"):
        read_yaml(tmp_path / "binary.yaml")


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep/a.txt"

    def fail(error):
        with whole_file(path) as partial:
            partial.write_text("half")
            raise error

    full = OSError(errno.ENOSPC, "No space left on device")
    for error, said in (
        (RuntimeError("no"), "^no$"),
        (OSError("odd"), "^odd$"),
        (full, r"device: .*a\.txt"),
    ):
        with pytest.raises(type(error), match=said):
            fail(error)
        assert list(path.parent.iterdir()) == []
    with whole_file(path) as partial:
        partial.write_text("all")
    assert [file.name for file in path.parent.iterdir()] == ["a.txt"]
    # The temporary name fits, too: a name has at most 255 bytes, not letters.
    with whole_file(path.with_name("é" * 125)) as partial:
        partial.write_text("all")
    assert path.with_name("é" * 125).read_text() == "all"
