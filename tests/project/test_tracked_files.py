"""Tracked files hold nothing that belongs to one machine, and no data that are fetched."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import LONGEST
from tests.looping import for_each

ROOT = Path(__file__).parents[2]
# Homes and scratch folders of one machine, as absolute paths; not the tail of an address or a path.
MACHINE_PATH = re.compile(
    r"(?<![\w.:/~$}-])/(?:work|farm|root|tmp|opt|mnt|home/\w+|Users/\w+)/[\w.-]+"
)
CONFLICT = re.compile(r"^(?:<{7} |>{7} ).*", re.MULTILINE)


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("unwanted", [MACHINE_PATH, CONFLICT], ids=["machine path", "conflict"])
def test_no_file_holds_what_a_merge_or_a_machine_leaves(unwanted):
    found = []
    for path in tracked_files():
        data = path.read_bytes()
        if b"\0" not in data:
            text = data.decode(errors="replace")
            found += [f"{path.relative_to(ROOT)}: {hit}" for hit in unwanted.findall(text)]
    assert not found


def test_no_fetched_data():
    """Data have licences of their own: whoever uses them fetches them.

    But for those that `tests/datasets/test_shipped_tables.py` finds to be open and small, and what
    this project computed itself.
    """
    names = [path.relative_to(ROOT).as_posix() for path in tracked_files()]
    raw = re.compile(r"\.(gz|zip|Z|data|xls|parquet)$")
    ours = ("resources/tables/", "resources/reruns/", "tests/")
    assert not [name for name in names if "resources/data/" in name]
    assert not [name for name in names if raw.search(name) and not name.startswith(ours)]


@for_each("folder", ["work", "tmp", "root", "home/me", "Users/me"])
def test_machine_path_is_seen(folder):
    assert MACHINE_PATH.search(f'open("/{folder}/data.csv")')
    assert not MACHINE_PATH.search(f"https://example.org/{folder}/data.csv")
    assert not MACHINE_PATH.search(f"results/{folder}/data.csv")


def test_the_files_that_workers_begin_with_are_there():
    """A renamed file would be begun with last, and one worker would end alone."""
    assert [name for name in LONGEST if not (ROOT / "tests" / f"{name}.py").is_file()] == []
