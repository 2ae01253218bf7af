"""The L1 path solves its penalised problem, and logitB charges its models right."""

import numpy as np
import pytest
from glmnet import LogitNet
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from budgetlearn.costs import random_costs
from budgetlearn.exceptions import IncompletePathWarning
from budgetlearn.msb import LogitPathClassifier, l1_path
from budgetlearn.msb.l1_path import fit_l1_path
from budgetlearn.validation import ParameterError


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
def test_path_meets_the_optimality_conditions(load, share):
    X, y = load(return_X_y=True)
    path = fit_l1_path(X, y)
    np.testing.assert_allclose(path.mean, X.mean(axis=0))
    np.testing.assert_allclose(path.scale, X.std(axis=0))
    step = int(share * len(path))
    scores = path.decision_function(X, step)
    if scores.shape[1] == 1:
        residual = (expit(scores[:, 0]) - y)[:, None]
    else:
        residual = softmax(scores, axis=1) - np.eye(scores.shape[1])[y]
    gradient = residual.T @ ((X - path.mean) / path.scale) / len(y)
    penalty, used = path.penalties[step], path.coef[step] != 0
    assert 0 < used.sum() < used.size
    assert (np.abs(gradient) <= penalty * 1.05 + 1e-6).all()
    balance = gradient[used] + penalty * np.sign(path.coef[step][used])
    assert np.abs(balance).max() < 0.05 * penalty + 1e-6


def test_path_starts_empty_and_fills():
    X, y = load_wine(return_X_y=True)
    path = fit_l1_path(X, y)
    assert path.variables(0) == ()
    assert len(path.variables(len(path) - 1)) >= 10
    assert (np.diff(path.penalties) < 0).all()


def test_a_last_step_that_diverges_is_left_out():
    # glmnet separates these classes, then returns coefficients of 10,000 without a flag.
    random = np.random.RandomState(76)
    X = random.randn(100, 10)
    y = (X @ random.randn(10, 3)).argmax(axis=1)
    path = fit_l1_path(X, y)
    assert len(path) > 80
    assert np.abs(path.coef).max() < 1000


def test_constant_columns_are_never_used():
    X, y = load_wine(return_X_y=True)
    X[:, 3] = 0.1 + 0.2
    path = fit_l1_path(X, y)
    assert not path.coef[:, :, 3].any()
    X[:] = 1.0
    priors = fit_l1_path(X, y)
    assert len(priors) == 1
    assert (priors.predict(X, 0) == np.bincount(y).argmax()).all()


@pytest.mark.parametrize("power", range(-15, 16, 5))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_unit_of_a_column_does_not_matter(power, weighted):
    X, y = load_wine(return_X_y=True)
    weight = np.linspace(1, 2, len(y)) if weighted else None
    scaled = X * np.where(np.arange(13) == 6, 10.0**power, 1.0)
    plain, path = (fit_l1_path(table, y, 20, weight=weight) for table in (X, scaled))
    np.testing.assert_allclose(path.coef, plain.coef, atol=1e-5)
    np.testing.assert_allclose(path.scale[6] / plain.scale[6], 10.0**power)
    np.testing.assert_allclose(path.predict_proba(scaled, 9), plain.predict_proba(X, 9), 1e-5)


def test_few_rows_of_another_value_and_rounding_are_told_apart():
    X, y = load_wine(return_X_y=True)
    rounding = 0.3 + np.spacing(0.3) * (np.arange(178) % 2)
    path = fit_l1_path(np.column_stack([rounding, 1e9 + 1e-4 * X[:, 6], X[:, 6]]), y)
    assert not path.coef[:, :, 0].any()
    assert path.coef[:, :, 1].any()


def test_few_penalties_are_reached_by_way_of_many():
    X, y = load_digits(return_X_y=True)
    X, y = X[:420], y[:420]
    whole = fit_l1_path(X, y)
    for n_lambda in (1, 2, 6, 12):
        path = fit_l1_path(X, y, n_lambda)
        assert path.complete
        assert n_lambda - 1 <= len(path) <= n_lambda
        assert path.penalties[0] == pytest.approx(whole.penalties[0])
        assert n_lambda == 1 or path.penalties[-1] < 1e-3 * path.penalties[0]
    assert np.mean(path.predict(X, len(path) - 1) == y) > 0.99


def twins():
    """Two classes by the small difference of two columns: a long way for coordinate descent."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 1)) + 1e-3 * random.normal(size=(300, 4))
    return X, (X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3]).astype(int)


def test_a_path_that_runs_out_of_passes_is_given_more(monkeypatch):
    X, y = twins()
    whole = fit_l1_path(X, y)
    monkeypatch.setattr(l1_path, "PASSES", (100, 10**6))
    again = fit_l1_path(X, y)
    assert again.complete
    np.testing.assert_array_equal(again.coef, whole.coef)


def test_a_path_that_ends_early_says_so_and_keeps_what_it_has(monkeypatch):
    X, y = twins()
    whole = fit_l1_path(X, y)
    monkeypatch.setattr(l1_path, "PASSES", (10, 100))
    with pytest.warns(IncompletePathWarning, match=r"ends at penalty \d+ of 100: .* 100 passes"):
        cut = fit_l1_path(X, y)
    assert whole.complete
    assert not cut.complete
    assert 1 < len(cut) < len(whole)
    np.testing.assert_array_equal(cut.coef, whole.coef[: len(cut)])
    with pytest.warns(IncompletePathWarning):
        LogitPathClassifier(random_state=0).fit(X, y)


def test_schedule_scores_and_charges():
    X, y = load_wine(return_X_y=True)
    train, valid = np.arange(0, 178, 2), np.arange(1, 178, 2)
    costs = random_costs(13, 0)
    model = LogitPathClassifier(feature_costs=costs).fit(X[train], y[train], X[valid], y[valid])
    scores = [np.mean(predicted == y[valid]) for predicted in model.staged_predict(X[valid])]
    assert scores == model.schedule_.scores.tolist()
    assert scores[-1] > 0.9
    assert model.schedule_.costs[0] == 0
    assert model.acquisition_cost(X) == pytest.approx(model.schedule_.costs[-1])
    hidden = np.where(model.acquired_features(X, 200), X, -1e6)
    assert np.array_equal(model.predict(hidden, 200), model.predict(X, 200))


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_probabilities_are_those_of_the_scores(load):
    X, y = load(return_X_y=True)
    model = LogitPathClassifier(n_lambda=30, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    scores = model.path_.decision_function(X, model._steps[-1])
    if scores.shape[1] == 1:
        np.testing.assert_allclose(probabilities[:, 1], expit(scores[:, 0]))
    else:
        np.testing.assert_allclose(probabilities, softmax(scores, axis=1))


@pytest.mark.parametrize("wrong", [0, 1.5])
def test_number_of_penalties_is_checked(wrong):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ParameterError, match="n_lambda must be an integer >= 1"):
        LogitPathClassifier(n_lambda=wrong).fit(X, y)
    assert len(LogitPathClassifier(n_lambda=1, random_state=0).fit(X, y).path_) == 1


def test_the_tolerance_reaches_the_descent():
    X, y = load_wine(return_X_y=True)
    rough, fine = (fit_l1_path(X, y, 20, tolerance) for tolerance in (1e-2, 1e-7))
    standard = fit_l1_path(X, y, 20)
    assert np.array_equal(fine.coef, standard.coef)
    n_steps = min(len(rough), len(fine))
    assert not np.allclose(rough.coef[:n_steps], fine.coef[:n_steps])


def test_a_larger_penalty_factor_lets_a_variable_in_later():
    X, y = load_wine(return_X_y=True)
    factors = np.where(np.arange(13) == 6, 100.0, 1.0)
    plain, weighted = fit_l1_path(X, y, 20), fit_l1_path(X, y, 20, penalty_factors=factors)
    steps = range(len(plain))
    assert any(6 in plain.variables(step) for step in steps[:5])
    assert not any(6 in weighted.variables(step) for step in steps[:5])


def test_a_failure_of_glmnet_is_an_error(monkeypatch):
    X, y = load_wine(return_X_y=True)

    def fail(self, X, y, **options):
        raise ValueError("no such luck")

    monkeypatch.setattr(LogitNet, "fit", fail)
    with pytest.raises(RuntimeError, match="could not fit the L1 path: no such luck"):
        fit_l1_path(X, y)

    def solve_nothing(self, X, y, **options):
        self.jerr_, self.n_lambda_ = 7777, 0

    monkeypatch.setattr(LogitNet, "fit", solve_nothing)
    with pytest.raises(
        RuntimeError, match=r"no solution \(jerr = 7777\) on 178 rows, 13 variables"
    ):
        fit_l1_path(X, y)


def test_a_class_that_counts_for_nothing_is_an_error_with_advice():
    X, y = load_wine(return_X_y=True)
    model = LogitPathClassifier(class_weight={0: 1e9, 1: 1, 2: 1}, random_state=0)
    with pytest.raises(RuntimeError, match=r"close to 0. Weigh classes and rows more evenly"):
        model.fit(X, y)
