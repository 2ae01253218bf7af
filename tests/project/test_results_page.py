"""The page of results has a line for each column of the operating points."""

import re
from pathlib import Path

from budgetbench.study.records import COLUMNS

PAGE = Path(__file__).parents[2] / "docs" / "results.md"


def test_every_column_is_explained_once():
    cells = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(COLUMNS)
