"""The scripts in benchmarks/ say by their prefix what they measure, and its README lists them."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = {path.name for path in FOLDER.glob("*.py") if not path.name.startswith("_")}


def test_every_script_has_one_of_three_prefixes():
    assert len(SCRIPTS) > 10
    assert {name for name in SCRIPTS if not re.match("(speed|growth|accuracy)_", name)} == set()


def test_the_readme_lists_every_script():
    listed = re.findall(r"^\| `(\w+\.py)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(SCRIPTS)
