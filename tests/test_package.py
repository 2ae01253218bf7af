"""`import budgetlearn` gives every estimator, and loads nothing that nobody asked for."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator

import budgetlearn

HEAVY = ("lightgbm", "matplotlib", "snakemake", "sklearn", "pandas", "glmnet")


def test_nothing_heavy_is_imported_with_the_package():
    code = f"import sys, budgetlearn; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_methods_need_no_plotting_no_workflow_and_no_lightgbm():
    code = (
        "import sys; from budgetlearn import BudgetRFClassifier, FMCCClassifier, "
        "ModelScheduleSearch; "
        "print([m for m in ('lightgbm', 'matplotlib', 'snakemake', 'glmnet') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", budgetlearn.__all__)
def test_every_name_is_there(name):
    assert getattr(budgetlearn, name) is not None
    assert name in dir(budgetlearn)


@pytest.mark.parametrize("package", ["forest", "msb", "sequential", "peers"])
def test_every_estimator_is_exported(package):
    module = import_module(f"budgetlearn.{package}")
    estimators = [
        name
        for name in module.__all__
        if isinstance(getattr(module, name), type)
        and issubclass(getattr(module, name), BaseEstimator)
    ]
    assert estimators
    assert set(estimators) <= set(budgetlearn.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = budgetlearn.Nothing


def test_a_star_import_of_every_module_works():
    for info in pkgutil.iter_modules(budgetlearn.__path__):
        import_module(f"budgetlearn.{info.name}")
