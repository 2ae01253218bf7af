"""The page of results has a line for each column of the operating points."""

import runpy
from pathlib import Path

from budgetbench.study.records import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_page_has_the_columns_as_the_records_explain_them():
    script = runpy.run_path(str(ROOT / "workflow" / "schemas" / "to_markdown.py"))
    assert script["with_columns"](PAGE) == PAGE, "docs/results.md has drifted: run `make docs`."
    assert PAGE.count("| `dataset` |") == 1
    assert all(f"\n| `{name}` | " in PAGE for name in COLUMNS)
