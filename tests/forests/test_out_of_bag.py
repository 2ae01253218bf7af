"""Scores on left-out examples, and forests that go on growing."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth, Leaves
from budgetlearn.tree.bootstrap import bootstrap_weights
from budgetlearn.validation import ParameterError
from tests.tree.reference import walk

X, Y = make_classification(120, 5, n_informative=4, n_redundant=0, random_state=0)
KINDS = [BudgetRFClassifier, BudgetRFRegressor]


@pytest.mark.parametrize("kind", KINDS)
def test_left_out_examples_are_predicted_by_the_trees_that_left_them_out(kind):
    forest = kind(n_estimators=5, oob_score=True, growth=Growth(max_depth=4), random_state=0)
    forest.fit(X, Y)
    says = [[] for _ in Y]
    for tree, seed in zip(forest.trees_, forest.tree_seeds_, strict=True):
        for row in np.flatnonzero(bootstrap_weights(len(Y), seed) == 0):
            value = tree.value[walk(tree, X[row])[0]]
            says[row].append(value.argmax() if value.size > 1 else value[0])
    means = np.array([np.mean(said) if said else np.nan for said in says])
    seen = ~np.isnan(means)
    if kind is BudgetRFClassifier:
        np.testing.assert_allclose(forest.oob_decision_function_[:, 1], means)
        assert forest.oob_score_ == ((means[seen] > 0.5) == Y[seen]).mean()
    else:
        np.testing.assert_allclose(forest.oob_prediction_, means)
        assert forest.oob_score_ == pytest.approx(
            1 - ((means - Y)[seen] ** 2).mean() / Y[seen].var()
        )
    with pytest.raises(ParameterError, match="needs bootstrap"):
        kind(oob_score=True, growth=Growth(bootstrap=False)).fit(X, Y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"growth__reuse_discount": 0.3},
        {"leaves__prune": 0.5, "leaves__joint_fit": 10.0},
        {"growth__ties": "first"},
    ],
)
def test_a_warm_start_ends_where_a_cold_one_does(kind, options):
    settings = {"growth__max_depth": 3, "random_state": 0, **options}
    warm = kind(n_estimators=3, warm_start=True).set_params(**settings).fit(X, Y)
    first = warm.trees_
    warm.set_params(n_estimators=7).fit(X, Y)
    cold = kind(n_estimators=7).set_params(**settings).fit(X, Y)
    np.testing.assert_array_equal(warm.predict(X), cold.predict(X))
    assert warm.tree_seeds_ == cold.tree_seeds_
    assert warm.trees_[0] is first[0]


def test_a_warm_start_needs_one_setting_and_more_trees():
    forest = BudgetRFClassifier(n_estimators=3, warm_start=True).fit(X, Y)
    with pytest.raises(ParameterError, match="at least 3, got 2"):
        forest.set_params(n_estimators=2).fit(X, Y)
    with pytest.raises(ParameterError, match="no budget"):
        forest.set_params(n_estimators=4, budget=3).fit(X, Y)


def test_left_out_examples_judge_leaves_as_they_grew():
    settings = {"n_estimators": 3, "oob_score": True, "random_state": 0}
    settings["growth"] = Growth(max_depth=2)
    scored = {"leaves": Leaves(prune=[0.0, 0.1], joint_fit=3.0), "scoring": "roc_auc"}
    forest = BudgetRFClassifier(**settings, **scored).fit(X, Y, X, Y)
    shares = forest.oob_decision_function_
    np.testing.assert_allclose(np.nansum(shares, axis=1)[~np.isnan(shares[:, 0])], 1.0)
    plain = BudgetRFClassifier(**settings, leaves=Leaves(prune=forest.prune_)).fit(X, Y)
    np.testing.assert_array_equal(shares, plain.oob_decision_function_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "other",
    [(X[:90], Y[:90]), (X[:, :3], Y), (X, Y[::-1]), (X, Y + 1)],
    ids=["rows", "columns", "order", "labels"],
)
def test_a_warm_start_needs_the_same_rows(kind, other):
    forest = kind(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(ParameterError, match="grown on other rows"):
        forest.set_params(n_estimators=4).fit(*other)
    assert len(forest.set_params(n_estimators=4).fit(X, Y).trees_) == 4


def test_a_fit_that_is_no_warm_start_is_forgotten():
    forest = BudgetRFClassifier(n_estimators=3, random_state=0).fit(X, Y)
    other = forest.set_params(n_estimators=4, warm_start=True).fit(X[:, :3], Y)
    cold = BudgetRFClassifier(n_estimators=4, random_state=0).fit(X[:, :3], Y)
    np.testing.assert_array_equal(other.predict(X[:, :3]), cold.predict(X[:, :3]))
