"""The table of what is tried of every method says what the methods file says."""

import inspect
from pathlib import Path

import yaml

from budgetlearn.benchmark.methods import resolve

ROOT = Path(__file__).resolve().parents[2]


def tried(spec):
    """Return the settings that a method is tried at: its grid, and parameters that are lists."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(resolve(spec["class"])).parameters.items()
    }
    every = defaults | spec.get("parameters", {}) | spec.get("grid", {})
    lists = {name: every[name] for name in every if isinstance(every[name], (list, tuple))}
    shown = [f"{name} {', '.join(map(str, values))}" for name, values in lists.items()]
    return "; ".join(shown).replace("None", "all") or "–"


def table():
    """Return the table of all methods that are no controls."""
    methods = yaml.safe_load((ROOT / "config" / "methods.yaml").read_text(encoding="utf-8"))
    rows = [
        f"| `{name}` | {spec['label']} | {tried(spec)} |"
        for name, spec in methods.items()
        if not spec.get("control")
    ]
    return "\n".join(["| method | label | settings tried |", "|---|---|---|", *rows])


def test_the_table_of_tries_is_up_to_date():
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    assert table() in page, f"put this table into docs/peers.md:\n\n{table()}\n"
