"""Every estimator keeps its promises, and docs/api.md says what each of them can do."""

import runpy
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.utils import get_tags

from budgetlearn.testing import check_budgeted_estimator
from tests.auto.conftest import limit_methods
from tests.looping import for_each

pytestmark = pytest.mark.usefixtures("quick_cascade")

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "write_api.py"))
EXAMPLES = [each for estimators in SCRIPT["examples"]().values() for each in estimators]
TAGS = {
    "hard cap": "lazy",
    "acquires while predicting": "lazy",
    "weighs shared charges": "groups",
    "ranking": "ranking",
    "sample weights": "sample_weight",
}


@pytest.fixture(autouse=True)
def few_methods(monkeypatch):
    """Let `auto` compare its fast methods only: each fit takes seconds otherwise."""
    limit_methods(monkeypatch)


@pytest.fixture(scope="module")
def page():
    return SCRIPT["PAGE"].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tried():
    """What each example can do, tried once."""
    return {}


@pytest.mark.filterwarnings("ignore::budgetlearn.exceptions.BudgetlearnWarning")
@pytest.mark.usefixtures("quick_scores")
@for_each("estimator", EXAMPLES)
def test_every_estimator_keeps_the_promises_of_the_protocol(estimator):
    check_budgeted_estimator(estimator)


@pytest.mark.filterwarnings("ignore::budgetlearn.exceptions.BudgetlearnWarning")
@pytest.mark.usefixtures("quick_scores")
@for_each("place, estimator", enumerate(EXAMPLES))
def test_tags_say_what_an_estimator_can_do(place, estimator, tried):
    can = tried[place] = SCRIPT["abilities"](estimator)
    tags = get_tags(clone(estimator))
    assert {name: can[name] for name in TAGS} == {name: getattr(tags, TAGS[name]) for name in TAGS}
    assert can["missing values"] == tags.input_tags.allow_nan
    assert can["shared charges"]
    assert can["missing cells"]


def test_the_table_is_up_to_date(page, tried):
    if len(tried) < len(EXAMPLES):
        pytest.skip("needs the trials of all estimators, made by the test above")
    made = iter([tried[place] for place in range(len(EXAMPLES))])
    table = "\n".join(SCRIPT["table"](lambda estimator: next(made)))
    assert table in page, "docs/api.md has drifted from the estimators: run `make docs`."


def test_the_names_are_up_to_date(page):
    drifted = "docs/api.md has drifted from the package: run `make docs`."
    assert page == SCRIPT["with_names"](page), drifted


def test_every_exported_estimator_has_a_row(page):
    for name in SCRIPT["estimator_classes"]():
        assert f"| [`{name}`](" in page, f"{name} has no row: run `make docs`."
