"""Write the pages of measured tables in docs/results/ from the csv files beside them.

    python docs/write_results.py

The tables of a page `name.md` are the files `name-*.csv`, in order. Lines that begin with "#"
describe a table: the first one is its title, the others are the text above it. If a table is too
long for a page, the page shows its first rows and links the file.
"""

import csv
from pathlib import Path

MOST_ROWS, FIRST_ROWS = 60, 5
FOLDER = Path(__file__).parent / "results"
HEAD = """\
# {title}: measured tables

`python docs/write_results.py` writes this page from the csv files in `docs/results/`; edit those.
"""
TITLES = {
    "auto": "The automatic choice",
    "budgetrf": "BudgetRF",
    "cascade": "The cascade",
    "gif": "Globally induced forests",
}


def section(path):
    """Return the title, the paragraph and the table of a csv file in Markdown."""
    lines = path.read_text(encoding="utf-8").splitlines()
    title, *text = [line[2:] for line in lines if line.startswith("#")]
    head, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    if len(rows) > MOST_ROWS:
        link = f"[{path.name}]({path.name})"
        text += [
            "",
            f"These are the first {FIRST_ROWS} of {len(rows)} rows. {link} has all of them.",
        ]
        rows = rows[:FIRST_ROWS]
    table = [head, ["---"] * len(head), *rows]
    body = [
        "|" + "|".join(f" {cell} " if cell != "---" else cell for cell in r) + "|" for r in table
    ]
    return "\n".join(["", f"## {title}", "", *text, "", *body, ""])


def page(name):
    """Return the text of a page."""
    sections = [section(path) for path in sorted(FOLDER.glob(f"{name}-*.csv"))]
    return HEAD.format(title=TITLES[name]) + "".join(sections)


if __name__ == "__main__":
    for name in TITLES:
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
