"""Pages: the Python code of some methods runs as it stands, no line is long, nor is a page."""

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


# What is in the repository: other pages are made of the examples.
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text("utf-8")
    for path in (*DOCS.glob("*.md"), *DOCS.glob("notes/*.md"), *DOCS.glob("results/*.md"))
}


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def test_no_page_has_a_line_over_120_characters_outside_of_tables():
    long = [
        (page, line)
        for page, text in PAGES.items()
        for line in without_code(text).splitlines()
        if len(line) > 120 and not line.startswith("|")
    ]
    assert long == []


def test_no_page_has_more_than_2500_words():
    words = {
        page: len(re.findall(r"\S*\w\S*", without_code(text)))
        for page, text in PAGES.items()
        if "/" not in page and page != "reproduction.md"  # a list of all that was rerun
    }
    assert {page: n for page, n in words.items() if n > 2500} == {}


def test_the_readme_has_120_lines_at_most():
    assert len((DOCS.parent / "README.md").read_text("utf-8").splitlines()) <= 120
