"""A small table with words and gaps, its prices, and a way to run the command line."""

import contextlib
import functools
import io
import sys

import numpy as np
import pandas as pd
import pytest

from budgetlearn.auto import estimator, methods
from budgetlearn.cli.commands import run
from budgetlearn.cli.compare import compare
from budgetlearn.peers import FilterForestClassifier
from tests.auto.conftest import limit_folds, smaller
from tests.workflow.conftest import Workflow

PRICES = """feature,cost,group,group_cost
age,1,,
smoker,2,,
glucose,15.5,blood,2.1
insulin,20.7,blood,2.1
"""


def patients(n=240):
    """Return the table: age and smoking tell a lot, glucose tells more."""
    return _patients(n).copy()


@functools.cache
def _patients(n):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": random.integers(20, 80, n).astype(float),
            "smoker": random.choice(["yes", "no", "former"], n),
            "glucose": random.normal(100, 20, n).round(1),
            "insulin": random.normal(10, 3, n).round(2),
        }
    )
    score = (table["age"] - 50) / 15 + (table["glucose"] - 100) / 15 + (table["smoker"] == "yes")
    table["ill"] = np.where(score > 0.3, "yes", "no")
    table.loc[::15, "age"] = np.nan
    table.loc[::19, "smoker"] = None
    return table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with table.csv and prices.csv."""
    monkeypatch.chdir(tmp_path)
    patients().to_csv("table.csv", index=False)
    (tmp_path / "prices.csv").write_text(PRICES)
    return tmp_path


@pytest.fixture
def told(capsys):
    """Run a command line; return its exit status, what it said, and what it complained of."""

    def said(*words):
        status = run([str(word) for word in words])
        return status, *capsys.readouterr()

    return said


FIT = ("fit", "table.csv", "--target", "ill", "--costs", "prices.csv")
QUICK = (*FIT, "--method", "filter_forest")


def called_in(folder, *words, text=""):
    """Run a command line in a folder, in this process; return its status, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setattr("sys.stdin", io.StringIO(text))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = run([str(word) for word in words])
    return status, out.getvalue(), err.getvalue()


def compared_in(folder, *words):
    """Run `compare` in a folder, its Snakemake in a fork of this process; return what it prints."""

    def run_in_fork(command, root, _):
        assert command[0] == "snakemake"
        Workflow(root).again(*command[1:])
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[compare.callback.__module__], "run_snakemake", run_in_fork)
        status, out, err = called_in(folder, "compare", *words)
    assert status == 0, out[-3000:] + err[-3000:]
    return out


@pytest.fixture(autouse=True)
def few_methods(monkeypatch):
    """Let `auto` compare its fast methods only."""
    limit_methods(monkeypatch)


def limit_methods(monkeypatch):
    """Let `auto` compare its fast methods only, and forests be small, until the patch is undone."""
    limit_folds(monkeypatch)
    monkeypatch.setitem(FilterForestClassifier.__init__.__kwdefaults__, "n_estimators", 20)
    every = methods.competitors

    def few(classifies, n_features):
        kept = every(classifies, n_features)
        return [smaller(each) for each in kept if each.name not in {"cascade", "msB"}]

    monkeypatch.setattr(estimator, "competitors", few)
