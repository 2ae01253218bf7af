"""The pages in docs/results/ are what their csv files give."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def written():
    """Return docs/write_results.py as a module."""
    spec = importlib.util.spec_from_file_location("write_results", DOCS / "write_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_step_with_its_tables():
    write = written()
    for name in write.TITLES:
        text = (DOCS / "results" / f"{name}.md").read_text(encoding="utf-8")
        assert text == write.page(name), "run python docs/write_results.py"
        assert text.count("\n## ") == len(list(write.FOLDER.glob(f"{name}-*.csv"))) > 0


def test_every_table_is_on_a_page_and_its_rows_are_whole():
    write = written()
    for path in write.FOLDER.glob("*.csv"):
        assert path.name.split("-")[0] in write.TITLES
        rows = [line for line in write.section(path).splitlines() if line.startswith("|")]
        assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
        assert len(rows) > 2
