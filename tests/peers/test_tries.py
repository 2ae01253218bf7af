"""The table of what is tried of every method says what the methods file says."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_tries_is_up_to_date():
    script = runpy.run_path(str(ROOT / "workflow" / "schemas" / "tries_to_markdown.py"))
    page = script["PAGE"].read_text(encoding="utf-8")
    assert page == script["render"](page), "docs/peers.md has drifted: run `make docs`."
    assert "| `lightgbm_lazy` | LightGBM (lazy costs) | tradeoffs 10, 3, 1," in page
