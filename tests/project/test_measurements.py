"""The scripts in benchmarks/ say by their prefix what they measure, and its README lists them."""

import ast
import inspect
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from tests.looping import for_each

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = {path.name for path in FOLDER.glob("*.py") if not path.name.startswith("_")}
UNLOCKED = {"emlearn", "m2cgen"}  # peers that scripts import at once and the lock lacks
HELPERS = {path.stem for path in FOLDER.glob("_*.py")}
OWN = {"budgetlearn", "budgetbench", "tests", "<run_path>", *HELPERS}


def test_every_script_has_one_of_three_prefixes():
    assert len(SCRIPTS) > 10
    assert {name for name in SCRIPTS if not re.match("(speed|growth|accuracy)_", name)} == set()


def test_the_readme_lists_every_script():
    listed = re.findall(r"^\| `(\w+\.py)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(SCRIPTS)


def called(names, function):
    """Return what a call calls, if it is the project's and the names of the script tell."""
    if isinstance(function, ast.Name):
        return names.get(function.id)
    if isinstance(function, ast.Attribute):
        owner = called(names, function.value)
        # Of instances, nothing is known before the script runs.
        if inspect.ismodule(owner) or inspect.isclass(owner):
            return getattr(owner, function.attr)
    return None


@for_each("script", sorted(SCRIPTS))
def test_a_script_calls_the_project_with_arguments_that_it_takes(script, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    try:
        names = runpy.run_path(str(FOLDER / script))  # imported, but not run
    except ModuleNotFoundError as error:
        if error.name not in UNLOCKED:
            raise
        return
    n_checked, tree = 0, ast.parse((FOLDER / script).read_text())
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = called(names, call.func)
        if (getattr(function, "__module__", None) or "").partition(".")[0] not in OWN:
            continue
        keywords = {each.arg: None for each in call.keywords}
        if None not in keywords and not any(isinstance(each, ast.Starred) for each in call.args):
            inspect.signature(function).bind(*call.args, **keywords)
            n_checked += 1
    assert n_checked


@pytest.mark.parametrize("name", ["heart_rate", "bank_age_8000", "pima_glucose_value"])
def test_a_column_of_a_table_is_found_as_a_target(data_dir, monkeypatch, name):
    monkeypatch.setenv("BUDGETLEARN_DATA", str(data_dir))
    monkeypatch.syspath_prepend(FOLDER)
    lead = runpy.run_path(str(FOLDER / "accuracy_lead.py"))
    (X, y), _ = lead["parts_of"](name, 0)
    source, column = (lead["COLUMNS"] | lead["COLUMNS_OF_NUMBERS"])[name.removesuffix("_8000")]
    whole = lead["load_dataset"](source, offline=True).X
    assert X.shape[1] == whole.shape[1] - 1
    if y.dtype.kind == "f":
        assert set(y) <= set(whole[:, column])
    else:
        assert np.unique(y).size == 3  # thirds of many numbers
