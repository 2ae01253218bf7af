"""The tables that come along: openly licensed, small, the archive's own bytes, and enough."""

import gzip
import hashlib
from pathlib import Path

import pytest

from budgetbench.datasets import fetching, load_dataset
from budgetbench.datasets.registry import load_registry

TABLES = Path(__file__).resolve().parents[2] / "resources/tables"
FILES = sorted(TABLES.rglob("*.gz"))
OPEN = ("CC BY 4.0", "public domain", "ODC-BY")


def owners():
    """Return {file: specs of the registry that read it}."""
    found = {path.relative_to(TABLES).as_posix().removesuffix(".gz"): [] for path in FILES}
    for spec in load_registry().values():
        for file in spec.files:
            if file.path in found:
                found[file.path].append((spec, file))
    return found


def test_each_file_is_of_the_registry_with_its_hash_and_an_open_licence():
    wrong = []
    for name, specs in owners().items():
        digest = hashlib.sha256(gzip.decompress((TABLES / f"{name}.gz").read_bytes())).hexdigest()
        if not specs:
            wrong.append(f"{name}: of no data set")
        wrong += [f"{name}: hash" for _, file in specs if digest not in file.sha256]
        wrong += [f"{name}: {spec.licence}" for spec, _ in specs if spec.licence not in OPEN]
    assert not wrong


def test_they_are_small():
    assert sum(path.stat().st_size for path in FILES) <= 3_000_000


def test_the_list_gives_licence_and_citation_of_each():
    text = " ".join((TABLES / "README.md").read_text().split())
    specs = {spec.id: spec for pairs in owners().values() for spec, _ in pairs}
    folders = {path.parent.name for path in FILES}
    assert folders <= set(specs)
    for name in folders:
        assert f"`{name}`" in text
        assert specs[name].licence in text
        assert " ".join(specs[name].citation.split()) in text, name


@pytest.mark.parametrize("name", sorted({path.parent.name for path in FILES}))
def test_read_without_a_network_or_a_folder_of_data(name, tmp_path, monkeypatch):
    monkeypatch.delenv("BUDGETLEARN_DATA", raising=False)
    dataset = load_dataset(name, folder=tmp_path, offline=True)
    assert len(dataset.X) == load_registry()[name].rows


def test_a_damaged_one_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.delenv("BUDGETLEARN_DATA", raising=False)
    (tmp_path / "tables/vowel").mkdir(parents=True)
    packed = tmp_path / "tables/vowel/vowel-context.data.gz"
    packed.write_bytes(gzip.compress(b"1 2 3\n"))
    monkeypatch.setattr(fetching, "SHIPPED", tmp_path / "tables")
    with pytest.raises(fetching.DatasetError, match=r"vowel-context\.data\.gz: expected sha256"):
        load_dataset("vowel", folder=tmp_path / "data", offline=True)
    assert not (tmp_path / "data/vowel/vowel-context.data").exists()
