"""The Python code of GIF's pages runs as it stands."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["gif.md", "gif-format.md"])
def test_the_python_blocks_of_a_page_run(page):
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.S | re.M)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert blocks
    assert names["model"].n_nodes_ == names["model"].node_budget


@pytest.mark.parametrize("page", ["gif.md", "gif-format.md", "results/gif.md", "notes/gif.md"])
def test_a_page_has_no_line_over_120_characters(page):
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120] == []
