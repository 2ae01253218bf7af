"""Pages of methods: their Python code runs as it stands, no line is long, and they explain."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "name"), [("gif.md", "model"), ("gif-format.md", "model"), ("budgetrf.md", "forest")]
)
def test_the_python_blocks_of_a_page_run(page, name):
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.S | re.M)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert blocks
    if name == "model":
        assert names[name].n_nodes_ == names[name].node_budget
    else:
        assert names[name].growth.max_bins == 255


@pytest.mark.parametrize("method", ["budgetrf", "gif"])
@pytest.mark.parametrize("page", ["{}.md", "results/{}.md", "notes/{}.md"])
def test_a_page_has_no_line_over_120_characters(page, method):
    text = (DOCS / page.format(method)).read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > 120] == []
    assert page != "{}.md" or len(re.sub(r"(?s)^```.*?^```", "", text, flags=re.M).split()) <= 2500


def test_the_format_s_page_has_no_line_over_120_characters():
    lines = (DOCS / "gif-format.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120] == []
