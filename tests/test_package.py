"""`import budgetlearn` gives every estimator, and loads no package before it is needed."""

import json
import os
import pkgutil
import pydoc
import subprocess
import sys
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator

import budgetlearn

HEAVY = ("lightgbm", "matplotlib", "snakemake", "sklearn", "pandas", "glmnet")
# Packages that `pip install budgetlearn` does not install, but its extras do.
EXTRAS = (
    *("click", "glmnet", "jinja2", "jsonschema", "lightgbm", "matplotlib", "psutil", "pyarrow"),
    *("requests", "scikit_posthocs", "seaborn", "snakemake", "statsmodels", "torch"),
    *("vl_convert", "xlrd", "yaml"),
)
THEIRS = {"psutil", "pyarrow"}  # joblib and pandas load them if they are installed
# Start of the code for a fresh interpreter without the packages of all extras.
WITHOUT_EXTRAS = f"""
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0] in {EXTRAS}
        return None if absent else super().find_spec(name, path, target)
sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""


def fresh(code):
    """Run code in a fresh interpreter and return its output."""
    command, environment = [sys.executable, "-c", code], {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def test_nothing_heavy_is_imported_with_the_package():
    assert (
        fresh(f"import sys, budgetlearn; print([m for m in {HEAVY} if m in sys.modules])") == "[]"
    )


PUBLIC = [name for name in budgetlearn.__all__ if not name.startswith("_")]


# Prints the time of the import, each time in a fork, and then the modules that all classes load.
IMPORTS = f"""
import os, sys, time, sklearn
for _ in range(3):
    if not os.fork():
        start = time.process_time()
        import budgetlearn
        print(time.process_time() - start, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
import budgetlearn
assert all([getattr(budgetlearn, name) for name in {PUBLIC}])
print([name for name in set({EXTRAS}) - {THEIRS} if name in sys.modules])
"""


@pytest.fixture(scope="module")
def imported():
    return fresh(IMPORTS).splitlines()


def test_importing_the_package_takes_no_time(imported):
    assert min(map(float, imported[:3])) < 0.15


def test_no_class_loads_an_extra(imported):
    assert imported[3] == "[]"


CALLS = {
    "ModelScheduleSearch(sequences=('cost',), random_state=0)": "True",
    "ModelScheduleSearch()": "pip install 'budgetlearn[msb]'",
    "LogitPathClassifier()": "pip install 'budgetlearn[msb]'",
    "LightGBMCostClassifier()": "pip install 'budgetlearn[peers]'",
    "policies.AACOClassifier()": "pip install 'budgetlearn[policies]'",
    "policies.GDFSClassifier()": "pip install 'budgetlearn[policies]'",
    "policies.DIMEClassifier()": "pip install 'budgetlearn[policies]'",
    "ScheduleCascadeClassifier(n_stages=2, cv=2, random_state=0)": "True",
}
# Each call runs in a fork, so that modules loaded by one are not there for the others.
FIT = f"""
import json, os
import pandas, scipy.stats, sklearn.ensemble, sklearn.inspection, sklearn.model_selection
from sklearn.datasets import load_wine
import budgetlearn, budgetlearn.policies
X, y = load_wine(return_X_y=True)
X = X[:, [6, 9, 11, 12]]
for call in {list(CALLS)}:
    if not os.fork():
        try:
            said = str(eval("budgetlearn." + call).fit(X, y).score(X, y) > .8)
        except budgetlearn.exceptions.MissingExtraError as error:
            said = str(error)
        print(json.dumps([call, said]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, call
print(json.dumps(["classes", len([getattr(budgetlearn, name) for name in {PUBLIC}])]))
from budgetlearn.auto import methods
for kind, classifies in (("classifiers", True), ("regressors", False)):
    print(json.dumps([kind, [m.name for m in methods.competitors(classifies, 6)]]))
"""


@pytest.fixture(scope="module")
def said_without_extras():
    return dict(map(json.loads, fresh(WITHOUT_EXTRAS + FIT).splitlines()))


def test_every_class_is_there_without_any_extra(said_without_extras):
    assert said_without_extras["classes"] == len(PUBLIC)


@pytest.mark.parametrize("call", CALLS)
def test_without_extras_a_class_works_or_names_the_extra(call, said_without_extras):
    assert CALLS[call] in said_without_extras[call]


@pytest.mark.parametrize("kind", ["classifiers", "regressors"])
def test_what_stands_in_for_lightgbm_is_not_called_so(kind, said_without_extras):
    assert "boosted trees" in said_without_extras[kind]
    assert "LightGBM" not in said_without_extras[kind]


def test_data_sets_name_the_extra_that_they_need():
    code = (
        "try:\n    import budgetbench.datasets\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    said = fresh(WITHOUT_EXTRAS + code)
    assert said.startswith("MissingExtraError budgetbench.datasets needs the package")
    assert said.endswith("pip install 'budgetlearn[workflow]'")


def test_help_begins_with_an_example_and_lists_the_classes():
    pages = pydoc.plain(pydoc.render_doc(budgetlearn))
    assert ">>> search = ModelScheduleSearch(" in pages
    classes = [n for n in budgetlearn.__all__ if isinstance(getattr(budgetlearn, n), type)]
    listed = pages.partition("NAME")[2].partition("PACKAGE CONTENTS")[0]
    assert [name for name in classes if name not in listed] == []


def test_every_name_is_there():
    assert [name for name in budgetlearn.__all__ if getattr(budgetlearn, name, None) is None] == []
    assert set(budgetlearn.__all__) <= set(dir(budgetlearn))


@pytest.mark.parametrize(
    "package", ["forests", "budgetrf", "gif", "msb", "sequential", "cascade", "peers"]
)
def test_every_estimator_is_exported(package):
    module = import_module(f"budgetlearn.{package}")
    estimators = [
        name
        for name in vars(module)
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
