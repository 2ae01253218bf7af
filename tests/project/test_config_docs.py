"""config/README.md says what the schemas say."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_page_is_up_to_date():
    render = runpy.run_path(str(ROOT / "workflow" / "schemas" / "to_markdown.py"))["render"]
    page = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    assert page == render(), "config/README.md has drifted from the schemas: run `make docs`."


def test_every_key_is_explained():
    page = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    assert not [row for row in rows if row.endswith("|  |")]
