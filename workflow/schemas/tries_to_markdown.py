"""Write what is tried of every method into docs/peers.md (`make docs`)."""

import inspect
from pathlib import Path

from budgetlearn._files import read_yaml
from budgetlearn.benchmark.methods import resolve

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "peers.md"
HEAD = "| method | label | settings tried |"


def main():
    """Renew the table."""
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def render(page):
    """Return the page with its table of tries as config/methods.yaml has them."""
    before, rest = page.split(HEAD)
    after = rest[rest.index("\n\n") :]
    methods = read_yaml(ROOT / "config" / "methods.yaml")
    rows = [
        f"| `{name}` | {spec['label']} | {_tried(spec)} |"
        for name, spec in methods.items()
        if not spec.get("control")
    ]
    return before + "\n".join([HEAD, "|---|---|---|", *rows]) + after


def _tried(spec):
    """Return the settings that a method is tried at: its grid, and parameters that are lists."""
    parameters = inspect.signature(resolve(spec["class"])).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    every = defaults | spec.get("parameters", {}) | spec.get("grid", {})
    lists = {name: value for name, value in every.items() if isinstance(value, (list, tuple))}
    shown = [f"{name} {', '.join(map(_word, values))}" for name, values in lists.items()]
    return "; ".join(shown) or "–"


def _word(value):
    return "all" if value is None else str(value)


if __name__ == "__main__":
    main()
