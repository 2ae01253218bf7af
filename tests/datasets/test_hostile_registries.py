"""A registry of others, and what it brings, is data: no byte is written outside of the folder."""

import os

import pytest

from budgetbench.datasets.fetching import fetch, pin
from budgetbench.datasets.registry import load_registry
from budgetlearn.exceptions import BudgetlearnError
from tests.datasets.sources import GOOD, sha256, zipped


@pytest.fixture
def outside(tmp_path_factory):
    """A folder outside of the data folder, in which nothing may appear."""
    place = tmp_path_factory.mktemp("outside")
    yield place
    assert list(place.iterdir()) == []


REGISTRY = """
datasets:
  toy:
    title: Toy
    task: classification
    source:
      mirrors: ["{url}"]
      files: {{"{path}": {sha256}}}
    reader: {{name: table}}
    features: 1
    licence: "-"
    citation: "-"
"""


def registry(tmp_path, url, path, content=GOOD):
    text = REGISTRY.format(url=url, path=path, sha256=sha256(content))
    (tmp_path / "datasets.yaml").write_text(text)
    return load_registry(tmp_path / "datasets.yaml")["toy"]


@pytest.mark.parametrize(
    "path",
    ["x/../../{}/evil.csv", "../{}/evil.csv", "x/./../..//{}/e.csv", "{}/e.csv", "x/..\\\\{}.csv"],
)
def test_a_registry_names_files_below_the_data_folder_only(server, tmp_path, outside, path):
    server.answers["/toy.csv"] = [(200, GOOD)]
    place = str(outside) if path.startswith("{") else os.path.relpath(outside, tmp_path)
    with pytest.raises(BudgetlearnError, match=r"toy|below the data folder"):
        fetch(registry(tmp_path, f"{server.url}/toy.csv", path.format(place)), tmp_path / "raw")
    assert server.requests == []


def test_a_link_does_not_lead_a_download_out_of_the_data_folder(server, tmp_path, outside):
    server.answers["/toy.csv"] = [(200, GOOD)]
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "toy").symlink_to(outside)
    with pytest.raises(BudgetlearnError, match="nothing is written outside of"):
        fetch(registry(tmp_path, f"{server.url}/toy.csv", "toy/toy.csv"), tmp_path / "raw")


def test_the_data_folder_itself_may_be_a_link(server, tmp_path, tmp_path_factory):
    disk = tmp_path_factory.mktemp("disk")
    server.answers["/toy.csv"] = [(200, GOOD)]
    (tmp_path / "raw").symlink_to(disk)
    fetch(registry(tmp_path, f"{server.url}/toy.csv", "toy/toy.csv"), tmp_path / "raw")
    assert (disk / "toy" / "toy.csv").read_bytes() == GOOD


def test_a_link_in_place_of_a_file_is_replaced(server, tmp_path, outside):
    server.answers["/toy.csv"] = [(200, GOOD)]
    (tmp_path / "raw" / "toy").mkdir(parents=True)
    for name in ("toy.csv", "toy.csv.sha256"):
        (tmp_path / "raw" / "toy" / name).symlink_to(outside / name)
    spec = registry(tmp_path, f"{server.url}/toy.csv", "toy/toy.csv")
    fetch(spec, tmp_path / "raw")
    pin(spec, tmp_path / "raw")
    assert (tmp_path / "raw" / "toy" / "toy.csv").read_bytes() == GOOD


def test_a_member_of_an_archive_stays_in_its_place(server, tmp_path, outside):
    up = os.path.relpath(outside, tmp_path)
    server.answers["/toy.zip"] = [(200, zipped(**{f"{up}/evil_csv": GOOD}))]
    fetch(registry(tmp_path, f"{server.url}/toy.zip#evil.csv", "toy/toy.csv"), tmp_path / "raw")
