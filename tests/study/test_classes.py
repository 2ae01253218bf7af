"""Classes that methods name are looked up before any job starts."""

import pytest

from budgetbench.study.source_code import check_classes
from budgetlearn.exceptions import ConfigError


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("budgetlearn.budgetrf.BudgetRFClassfier", "Did you mean BudgetRFClassifier"),
        ("budgetlearn.budgetfr.BudgetRFClassifier", "Did you mean budgetrf?"),
        ("budgetlern.budgetrf.BudgetRFClassifier", "Did you mean budgetlearn?"),
        ("sklearn.ensemble.ExtraTreeClassifier", "Did you mean ExtraTreesClassifier"),
        ("my_own_module.Method", "or beside the Snakefile, or be installed"),
    ],
)
def test_a_typo_is_told_with_what_comes_close(name, hint):
    spec = {
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "parameters": {"estimator": {"class": name}},
    }
    with pytest.raises(
        ConfigError, match=rf"method msb: '{name}' is not an importable class.*{hint}"
    ):
        check_classes("msb", spec)


def told(name):
    with pytest.raises(ConfigError) as caught:
        check_classes("m", {"class": name})
    return str(caught.value)


def test_modules_are_compared_with_their_siblings():
    assert told("budgetlearn.tree.grwth.X").endswith("Did you mean growth?")
    assert "Did you mean" not in told("budgetlearn.tree.qqqqq.X")
    assert "Did you mean" not in told("budgetlearn.forests.Qqqqqqqqqq")


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
