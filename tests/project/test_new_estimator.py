"""A new estimator is named in three files: its module, `budgetlearn/__init__` and methods.yaml."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

MODULE = '''
"""A made-up method."""

import numpy as np
from sklearn.base import ClassifierMixin

from .protocol import BudgetedEstimator, Stage


class MadeUpClassifier(ClassifierMixin, BudgetedEstimator):
    """Predict the most frequent class after a look at the cheapest features.

    Parameters
    ----------
    feature_costs : array-like, default=None
        Prices.
    n_features : int, default=2
        How many are looked at.
    """

    def __init__(self, feature_costs=None, *, n_features=2):
        self.feature_costs = feature_costs
        self.n_features = n_features

    def _fit(self, train, valid, seeds):
        cheap = np.argsort(self.feature_costs_.alone, kind="stable")
        self.bought_ = np.isin(np.arange(cheap.size), cheap[: self.n_features])

    def fixed_costs(self):
        return [self.feature_costs_.total(self.bought_[None])[0]]

    def _stages(self, X, which, want):
        for _ in which:
            shares = np.tile(self.constant_, (len(X), 1))
            bought = np.tile(self.bought_, (len(X), 1))
            yield Stage({}, self.classes_[shares.argmax(axis=1)], shares, bought)
'''

USES = """
import runpy
from pathlib import Path

import yaml

import budgetlearn
from budgetbench.study.methods import build
from budgetlearn.testing import check_budgeted_estimator

assert Path(budgetlearn.__file__).is_relative_to(Path.cwd()), budgetlearn.__file__
assert "MadeUpClassifier" in budgetlearn.__all__
assert "MadeUpClassifier" in budgetlearn.__doc__
check_budgeted_estimator(budgetlearn.MadeUpClassifier())
script = runpy.run_path("docs/write_api.py")
(example,) = script["examples"]()["own-method.md"]
assert type(example) is budgetlearn.MadeUpClassifier
script["REFERENCE"].write_text(script["reference"]())
assert "\\n   MadeUpClassifier\\n" in script["REFERENCE"].read_text()
row = [line for line in script["table"](lambda _: {"x": True}) if "MadeUp" in line]
assert row == ["| [`MadeUpClassifier`](own-method.md) |✓|"]
spec = yaml.safe_load(Path("config/methods.yaml").read_text())["made_up"]
made = build({"class": spec["class"], "parameters": spec["parameters"]}, n_features=1)
assert made.get_params() == {"feature_costs": None, "n_features": 1}
"""


@pytest.fixture
def project(tmp_path):
    """A copy of what a new estimator may touch."""
    # With what is compiled of it: other bytecode than of files that are changed stays valid.
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    (tmp_path / "docs").mkdir()
    for path in (ROOT / "docs").iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path / "docs")
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


def test_three_files_are_enough(project):
    (project / "src/budgetlearn/made_up.py").write_text(MODULE.lstrip(), encoding="utf-8")
    names = project / "src/budgetlearn/__init__.py"
    text = names.read_text(encoding="utf-8")
    assert text.count("OFFERED = {\n") == 1
    entry = 'OFFERED = {\n    "Made-up methods": {"made_up": ("MadeUpClassifier",)},\n'
    names.write_text(text.replace("OFFERED = {\n", entry), encoding="utf-8")
    methods = project / "config/methods.yaml"
    entry = "made_up:\n  label: made up\n  class: budgetlearn.MadeUpClassifier\n  parameters: {}\n"
    methods.write_text(f"{methods.read_text(encoding='utf-8')}\n{entry}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", USES],
        cwd=project,
        env={"PYTHONPATH": str(project / "src"), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
