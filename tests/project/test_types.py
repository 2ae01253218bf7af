"""The types of the public names: up to date, and enough for a checker to find slips."""

import ast
import runpy
import sys
from pathlib import Path

import budgetlearn

ROOT = Path(__file__).parents[2]
STUB = Path(budgetlearn.__file__).with_name("__init__.pyi")

SLIPS = """
from budgetlearn import BudgetRFClassifier, FMCCClassifier
model = BudgetRFClassifier(n_estimators=3).fit([[1.0]], [0])
model.predict([[1.0]], budget="forty")
model.no_such_method()
BudgetRFClassifier(budget="forty")
FMCCClassifier(treshold=3)
model.session().no_such()
"""


def test_the_stub_is_up_to_date():
    script = runpy.run_path(str(ROOT / "docs" / "write_types.py"))
    assert script["stub"]() == STUB.read_text("utf-8"), "run `make docs`."
    assert STUB.with_name("py.typed").is_file()


def test_every_public_name_has_types():
    named = set()
    for node in ast.parse(STUB.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            named |= {alias.asname for alias in node.names}
        else:
            named.add(getattr(node, "name", None))
    assert set(budgetlearn.__all__) - {"__version__"} <= named


def checked(text, tmp_path, name="calls.py"):
    """Return the lines in which mypy finds an error, and its report."""
    from mypy import api  # slow: not when collected

    file = tmp_path / name
    file.write_text(text)
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent"]
    report, *_ = api.run([*options, "--python-executable", sys.executable, str(file)])
    return [int(line.split(":")[1]) for line in report.splitlines() if ": error:" in line], report


def test_the_stub_contradicts_itself_nowhere(tmp_path):
    text = STUB.read_text("utf-8").replace("from .", "from budgetlearn.")
    lines, report = checked(text, tmp_path, "stub.pyi")
    assert lines == [], report


def test_slips_are_found(tmp_path):
    assert checked(SLIPS, tmp_path)[0] == [4, 5, 6, 7, 8]


def test_the_example_of_the_readme_has_none(tmp_path):
    page = (ROOT / "README.md").read_text("utf-8")
    block = page.split("```python\n", 1)[1].split("```")[0]
    lines, report = checked(block, tmp_path)
    assert lines == [], report
