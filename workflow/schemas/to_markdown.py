"""Write the pages on settings and results from the code: python workflow/schemas/to_markdown.py.

config/README.md is that of the schemas, docs/results.md has the columns of the operating points.
"""

import re
from pathlib import Path

from budgetbench.study.records import POINTS
from budgetlearn.files import read_yaml

SCHEMAS = Path(__file__).parent
README = SCHEMAS.parents[1] / "config" / "README.md"
RESULTS = SCHEMAS.parents[1] / "docs" / "results.md"
# Schema → what it describes, and where in it the keys are listed.
PAGES = {
    "config": ("`config/config.yaml` and `config/studies/*.yaml`", ()),
    "methods": ("`config/methods.yaml`", ("additionalProperties",)),
    "datasets": ("`config/datasets.yaml`", ("$defs", "dataset")),
}
HEAD = """# Configuration

<!-- Made from workflow/schemas by `make docs`; edit the schemas, not this page. -->

`snakemake --cores N` runs the default study, `studies/default.yaml`. Add `--configfile
config/studies/X.yaml` to run another one. A study's file overrides keys of `config.yaml`. A typo,
an unknown data set or an unknown method is reported before any job starts.
"""


def main():
    """Write the page."""
    README.write_text(render(), encoding="utf-8")
    RESULTS.write_text(with_columns(RESULTS.read_text(encoding="utf-8")), encoding="utf-8")


def with_columns(page):
    """Return the page of results with its table of columns as it is to be."""
    rows = (f"| `{name}` | {column.meaning} |" for name, column in POINTS.items())
    table = "\n".join(["| column | meaning |", "|---|---|", *rows])
    return re.sub(r"^\| column \| meaning \|\n(\|.*\n)*\|.*$", lambda _: table, page, flags=re.M)


def render():
    """Return the page as Markdown."""
    sections = [HEAD]
    for name, (files, place) in PAGES.items():
        schema = read_yaml(SCHEMAS / f"{name}.schema.yaml")
        sections.append(f"## {files}\n\n{_line(schema['description'])}\n")
        sections.append(_table(_at(schema, place), schema))
    return "\n".join(sections)


def _at(schema, place):
    """Return the part of a schema that a path of keys leads to."""
    for key in place:
        schema = schema[key]
    return schema


def _resolved(part, root):
    """Follow a local $ref."""
    while "$ref" in part:
        part = _at(root, part["$ref"].removeprefix("#/").split("/"))
    return part


def _table(entry, root):
    """Return one row for each key: name, kind of value, whether it must be there, meaning."""
    required = set(entry.get("required", ()))
    rows = ["| key | value | required | meaning |", "|---|---|---|---|"]
    for key, raw in entry["properties"].items():
        part = {**_resolved(raw, root), **raw}
        needed = "yes" if key in required else ""
        rows.append(
            f"| `{key}` | {_kind(part)} | {needed} | {_line(part.get('description', ''))} |"
        )
    return "\n".join(rows) + "\n"


def _kind(part):
    """Return in words what values a schema takes."""
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "oneOf" in part or "anyOf" in part:
        options = part.get("oneOf", part.get("anyOf"))
        return " or ".join(dict.fromkeys(_kind(option) for option in options))
    kinds = part.get("type", "object")
    words = " or ".join(kinds if isinstance(kinds, list) else [kinds])
    if part.get("type") == "array" and "items" in part:
        words = f"list of {_kind(part['items'])}"
    return words


def _line(text):
    """Return `text` on one line, safe inside a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
