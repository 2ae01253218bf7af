"""Budgets of tests a row: what walking the trees takes, never more than asked for."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1
from sklearn.ensemble import RandomForestClassifier

from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.validation import ParameterError

DATA = {
    "regression": (GIFRegressor, make_friedman1(200, noise=1.0, random_state=0)),
    "two classes": (GIFClassifier, load_breast_cancer(return_X_y=True)),
    "ten classes": (GIFClassifier, tuple(part[:300] for part in load_digits(return_X_y=True))),
}
GROWN = {"n_estimators": 20, "learning_rate": 0.3}
OPTIONS = {
    "grown": GROWN,
    "all candidates": GROWN | {"candidate_window": None},
    "residuals": GROWN | {"split_on": "residuals"},
    "refitted": GROWN | {"joint_fit": 2},
    "ridge": GROWN | {"joint_fit": "ridge"},
    "pruned": {"n_estimators": "auto", "joint_fit": "ridge", "prune_factor": 3},
    "priced": GROWN | {"cost_weight": 0.05},
}


def n_passed(tree, x):
    """Return the number of splits that an example passes: the inner nodes of its path."""
    node, n = 0, 0
    while tree.children_left[node] >= 0:
        left = x[tree.feature[node]] <= tree.threshold[node]
        node = (tree.children_left if left else tree.children_right)[node]
        n += 1
    return n


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", DATA)
def test_rows_take_no_more_tests_than_the_budget(name, options):
    kind, (X, y) = DATA[name]
    for budget in (1, 7.5, 25):
        model = kind(400, step_budget=budget, random_state=0, **options).fit(X, y)
        walked = sum(n_passed(tree, x) for tree in model.trees_ for x in X) / len(X)
        assert model.n_steps_ == pytest.approx(walked, rel=1e-12)
        assert walked <= budget * (1 + 1e-12)
        assert walked > 0.85 * min(budget, 20), "the budget is used"


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_budget_that_is_not_reached_changes_nothing(options):
    kind, (X, y) = DATA["ten classes"]
    free = kind(300, random_state=0, **options).fit(X, y)
    held = kind(300, step_budget=1e6, random_state=0, **options).fit(X, y)
    np.testing.assert_array_equal(free.predict_proba(X), held.predict_proba(X))
    smaller = free if free.n_stages_ == 1 else free.within(100)
    walked = sum(n_passed(tree, x) for tree in smaller.trees_ for x in X) / len(X)
    assert smaller.n_steps_ == pytest.approx(walked)


def test_a_given_forest_is_pruned_to_the_tests_a_row():
    kind, (X, y) = DATA["ten classes"]
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    model = kind(10**6, step_budget=40, forest=forest, joint_fit="ridge").fit(X, y)
    walked = sum(n_passed(tree, x) for tree in model.trees_ for x in X) / len(X)
    assert 30 < walked <= 40
    assert model.n_steps_ == pytest.approx(walked)


def test_less_than_one_test_is_no_budget():
    kind, (X, y) = DATA["regression"]
    with pytest.raises(ParameterError, match="step_budget"):
        kind(400, step_budget=0.5, **GROWN).fit(X, y)
