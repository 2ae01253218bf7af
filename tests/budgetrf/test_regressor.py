"""BudgetRF for numbers."""

import inspect

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from budgetlearn import BudgetRFClassifier, BudgetRFRegressor, FeatureCosts
from budgetlearn.budgetrf import Growth, Leaves
from budgetlearn.testing import check_budgeted_estimator
from tests.looping import check_conventions

X, Y = make_friedman1(300, 6, random_state=0)
X = X.astype(np.float32).astype(np.float64)  # what scikit-learn's trees read
TRAIN, TEST = slice(None, 200), slice(200, None)


@pytest.mark.parametrize(
    "estimator",
    [BudgetRFRegressor(n_estimators=2, leaves=Leaves(prune=[0.0, 1.0], joint_fit=[1.0, 10.0]))],
    ids=type,
)
def test_estimator_checks(estimator):
    check_conventions(estimator)


@pytest.mark.parametrize("options", [{}, {"leaves": Leaves(prune=0.5, joint_fit=3.0)}])
def test_protocol(options):
    check_budgeted_estimator(
        BudgetRFRegressor(n_estimators=4, growth=Growth(max_depth=3), **options)
    )


def test_splits_lower_the_variance_as_those_of_scikit_learn():
    growth = Growth(bootstrap=False, max_depth=4)
    ours = BudgetRFRegressor(n_estimators=1, growth=growth, random_state=0).fit(X, Y)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y)
    tree = ours.trees_[0]
    assert sorted(tree.n_node_samples) == sorted(theirs.tree_.n_node_samples)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    np.testing.assert_allclose(
        np.sort(tree.threshold), np.sort(np.maximum(theirs.tree_.threshold, 0))
    )


def test_weights_are_repeated_rows():
    weight = np.random.default_rng(0).integers(0, 3, len(Y))
    settings = {"n_estimators": 1, "growth": Growth(bootstrap=False, ties="first", max_depth=4)}
    weighed = BudgetRFRegressor(**settings).fit(X, Y, sample_weight=weight)
    repeated = BudgetRFRegressor(**settings).fit(np.repeat(X, weight, 0), np.repeat(Y, weight))
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X))


def test_a_budget_is_kept_and_prices_are_looked_at():
    costs = FeatureCosts([1, 1, 1, 30, 30, 1])
    settings = {"n_estimators": 12, "random_state": 0}
    expensive = BudgetRFRegressor(feature_costs=costs, cost_exponent=0.0, **settings).fit(
        X[TRAIN], Y[TRAIN]
    )
    cheap = BudgetRFRegressor(feature_costs=costs, budget=40, **settings).fit(X[TRAIN], Y[TRAIN])
    assert cheap.acquisition_cost(X).mean() < 42 < expensive.acquisition_cost(X).mean()
    assert cheap.validation_errors_.size == len(cheap.trees_) > 0


def test_leaves_fitted_together_predict_better():
    scores = [
        BudgetRFRegressor(
            n_estimators=20,
            growth=Growth(max_depth=2),
            leaves=Leaves(joint_fit=leaves),
            random_state=0,
        )
        .fit(X[TRAIN], Y[TRAIN])
        .score(X[TEST], Y[TEST])
        for leaves in (False, 1.0)
    ]
    assert scores[1] > scores[0] + 0.1


def test_the_compact_form_predicts_the_same():
    forest = BudgetRFRegressor(n_estimators=4, growth=Growth(max_depth=3), random_state=0).fit(X, Y)
    np.testing.assert_allclose(forest.compact().predict(X), forest.predict(X), rtol=1e-5)


def test_targets_with_a_heavy_tail_are_learned_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(900, 8))
    logs = 8.0 * (inputs[:, 0] + 0.5 * inputs[:, 1] + 0.3 * rng.normal(size=900))
    train, test = slice(None, 600), slice(600, None)
    errors = []
    for forest in (
        BudgetRFRegressor(n_estimators=20, random_state=0),
        RandomForestRegressor(20, random_state=0),
    ):
        forest.fit(inputs[train], np.exp(logs[train]))
        errors.append(np.median(np.abs(np.log(forest.predict(inputs[test])) - logs[test])))
    assert errors[0] < 1.1 * errors[1]


@pytest.mark.parametrize("unit", [2.0**-300, 1e-9, 1e9, 2.0**300])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"leaves": Leaves(prune=0.5, joint_fit=3.0), "growth": Growth(reuse_discount=0.5)},
        {"growth": Growth(max_bins=16)},
    ],
)
def test_the_unit_of_weights_and_targets_is_without_effect(options, unit):
    settings = {"n_estimators": 4, "random_state": 0} | options
    weight = np.random.default_rng(0).random(200)
    plain = BudgetRFRegressor(**settings).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    weighed = BudgetRFRegressor(**settings).fit(X[TRAIN], Y[TRAIN], sample_weight=unit * weight)
    np.testing.assert_allclose(weighed.predict(X[TEST]), plain.predict(X[TEST]), rtol=1e-6)
    scaled = BudgetRFRegressor(**settings).fit(X[TRAIN], unit * Y[TRAIN], sample_weight=weight)
    np.testing.assert_allclose(scaled.predict(X[TEST]) / unit, plain.predict(X[TEST]), rtol=1e-6)


def test_neither_threads_nor_a_file_of_codes_change_the_forest(tmp_path):
    settings = {"n_estimators": 6, "growth__reuse_discount": 0.7, "random_state": 0}
    plain = BudgetRFRegressor(n_jobs=1).set_params(**settings).fit(X, Y)
    for options in ({"n_jobs": 2}, {"growth__codes_folder": tmp_path}):
        same = BudgetRFRegressor().set_params(**settings, **options).fit(X, Y)
        np.testing.assert_array_equal(same.predict(X), plain.predict(X))


def test_the_shared_parameters_are_described_at_both_classes():
    described = {}
    for kind in (BudgetRFClassifier, BudgetRFRegressor):
        sections = NumpyDocString(inspect.cleandoc(kind.__doc__))
        described[kind] = {entry.name: entry.desc for entry in sections["Parameters"]}
        assert list(described[kind]) == list(inspect.signature(kind).parameters)
        assert sorted(described[kind]) == sorted(kind().get_params(deep=False))
        assert "penalties_" in {entry.name for entry in sections["Attributes"]}
    ours, theirs = described.values()
    assert all(ours[name] == text for name, text in theirs.items())
    with pytest.raises(TypeError, match="no_such"):
        BudgetRFClassifier(no_such=1)
