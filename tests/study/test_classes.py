"""Classes that methods name are looked up before any job starts."""

import pytest

from budgetbench.study.source_code import check_classes, predicts_numbers
from budgetlearn.exceptions import ConfigError

KINDS = {"Ridge": "RegressorMixin", "MyRegressor": "object", "Tree": "ClassifierMixin"}


@pytest.mark.parametrize(
    "name",
    [
        "budgetlearn.budgetrf.BudgetRFClassfier",
        "budgetlearn.budgetfr.BudgetRFClassifier",
        "sklearn.ensemble.ExtraTreeClassifier",
        "my_own_module.Method",
    ],
)
def test_a_typo_is_told(name):
    spec = {
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "parameters": {"estimator": {"class": name}},
    }
    told = rf"method msb: '{name}' is not an importable class.*or beside the Snakefile"
    with pytest.raises(ConfigError, match=told):
        check_classes("msb", spec)


def test_classes_of_the_library_are_looked_up_and_not_imported(monkeypatch):
    monkeypatch.setattr("budgetbench.study.source_code.resolve", None)
    check_classes("m", {"class": "budgetlearn.budgetrf.BudgetRFClassifier"})
    check_classes("m", {"class": "sklearn.ensemble.ExtraTreesClassifier"})


def test_a_module_of_ones_own_is_imported(tmp_path, monkeypatch):
    (tmp_path / "own_broken.py").write_text(
        "import nowhere_to_be_found\n\n\nclass Own:\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="No module named 'nowhere_to_be_found'"):
        check_classes("own", {"class": "own_broken.Own"})


def test_a_regressor_of_ones_own_is_known_by_its_base(tmp_path, monkeypatch):
    lines = ["from sklearn.base import ClassifierMixin, RegressorMixin"]
    lines += [f"class {name}({base}): ..." for name, base in KINDS.items()]
    (tmp_path / "own_kinds.py").write_text("\n".join([*lines, "Made = 3"]))
    monkeypatch.syspath_prepend(tmp_path)
    told = [predicts_numbers(f"own_kinds.{name}") for name in [*KINDS, "Made"]]
    assert told == [True, True, False, False]
    assert predicts_numbers("budgetlearn.peers.FreeConstantRegressor")
    monkeypatch.setattr("budgetbench.study.source_code.resolve", None)  # not imported
    assert not predicts_numbers("budgetlearn.peers.FreeConstantClassifier")
