"""Weights of rows and classes, and missing values, whichever methods take them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score

from budgetlearn import AutoBudgetClassifier, AutoBudgetRegressor
from budgetlearn.auto.everything import CentredRegressor, boosted_trees
from budgetlearn.auto.evidence import of_all_classes
from budgetlearn.auto.scores import Objective
from budgetlearn.validation import ParameterError

X, Y = make_classification(
    400, 6, n_informative=3, weights=[0.85], flip_y=0.1, class_sep=0.7, random_state=0
)
PRICES = np.arange(1.0, 7.0)
TRAIN, TEST = slice(0, 200), slice(200, 400)


def fitted(table, y, sample_weight=None, **parameters):
    made = AutoBudgetClassifier(feature_costs=PRICES, random_state=0, **parameters)
    return made.fit(table, y, sample_weight=sample_weight)


@pytest.mark.usefixtures("fast")
def test_class_weights_reach_the_choice_and_every_decision():
    plain, even = fitted(X[TRAIN], Y[TRAIN]), fitted(X[TRAIN], Y[TRAIN], class_weight="balanced")
    points = even.operating_points_
    # The shares of a fold are not quite equal, and the constant of a fold is on either side.
    assert points["score"].iloc[0] == pytest.approx(0.5, abs=0.05)
    full = {"budget": PRICES.sum()}
    scores = [
        balanced_accuracy_score(Y[TEST], made.predict(X[TEST], **full)) for made in (plain, even)
    ]
    assert scores[1] > scores[0] + 0.03
    # Out of fold the weighted score is the balanced accuracy to expect of other rows.
    error = 2 * points["score_se"].iloc[even.recommended_] + 0.06
    held_out = balanced_accuracy_score(Y[TEST], even.predict(X[TEST]))
    assert held_out == pytest.approx(points["score"].iloc[even.recommended_], abs=error)
    weight = np.where(Y[TEST] == 1, 5.0, 2.0)
    points = even.measure(X[TEST], Y[TEST], weight)
    for score, labels in zip(points["score"], even.staged_predict(X[TEST]), strict=True):
        assert score == pytest.approx(np.average(labels == Y[TEST], weights=weight))
    # Probabilities are those of a world with as many of either class.
    assert even.predict_proba(X, budget=0)[0] == pytest.approx([0.5, 0.5])


@pytest.mark.usefixtures("fast")
def test_methods_without_weights_are_corrected_by_class():
    made = fitted(X[TRAIN], Y[TRAIN], class_weight={0: 1, 1: 8}, max_minutes=None)
    for entry in made.entries_[1:]:
        takes = entry.model.__sklearn_tags__().sample_weight
        assert takes == (entry.shift is None)
        if entry.shift is not None:
            assert entry.shift[1] / entry.shift[0] == pytest.approx(8)
    known = np.array([[0.8, 0.2]]), np.arange(2), np.arange(2)
    shares = of_all_classes(*known, np.array([1.0, 4.0]))
    np.testing.assert_allclose(shares, [[0.5, 0.5]])
    # Not one method was left out.
    assert not made.skipped_


@pytest.mark.usefixtures("fast")
def test_rows_without_weight_are_of_no_effect_and_equal_weights_change_nothing():
    wrong = Y[TRAIN].copy()
    weight = np.ones(200)
    wrong[:40], weight[:40] = 1 - wrong[:40], 0
    made, alone = fitted(X[TRAIN], wrong, weight), fitted(X[40:200], Y[40:200])
    np.testing.assert_array_equal(made.predict_proba(X), alone.predict_proba(X))
    assert made.operating_points_["score"].iloc[0] == alone.operating_points_["score"].iloc[0]


@pytest.mark.usefixtures("fast")
def test_a_target_is_wanted_for_each_row():
    made = fitted(X[TRAIN], Y[TRAIN])
    for measure in (made.score, made.measure):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[200, 1\]"):
            measure(X[TEST], Y[:1])


def test_weighted_scores_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    y, made, weight = random.normal(size=80), random.normal(size=(80, 1)), random.random(80)
    weight /= weight.mean()
    rows = Objective("r2").rows(y, made, None, None, weight)
    assert rows.mean() == pytest.approx(r2_score(y, made[:, 0], sample_weight=weight))


@pytest.mark.usefixtures("fast")
def test_the_unit_of_weights_is_of_no_effect():
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 200)
    one, other = (
        fitted(X[TRAIN], Y[TRAIN], unit * weight).predict_proba(X[TEST]) for unit in (1.0, 2.0**30)
    )
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.usefixtures("fast")
def test_weights_and_a_score_that_has_its_own_are_refused():
    for scoring in ("roc_auc", "balanced_accuracy", "f1"):
        with pytest.raises(ParameterError, match="leave out one"):
            fitted(X[TRAIN], Y[TRAIN], class_weight="balanced", scoring=scoring)
        made = fitted(X[TRAIN], Y[TRAIN], scoring=scoring)
        tested = X[TEST], Y[TEST]
        for asked in (made.score, made.measure):
            with pytest.raises(ParameterError, match="leave out one"):
                asked(*tested, sample_weight=1.0 + np.arange(len(Y[TEST])))
        equal = np.full(len(Y[TEST]), 2.0)
        assert made.score(*tested, sample_weight=equal) == made.score(*tested)


def with_gaps(table, seed=0):
    table = table.copy()
    table[np.random.default_rng(seed).random(table.shape) < 0.2] = np.nan
    return table


@pytest.mark.usefixtures("fast")
def test_gaps_keep_no_method_out_and_are_the_same_in_a_table_and_bought_one_by_one():
    table, y = make_classification(300, 6, n_informative=3, class_sep=1.5, random_state=1)
    table = with_gaps(table)
    made = fitted(table[:200], y[:200])
    assert not made.skipped_
    assert made.measure(table[200:], y[200:])["score"].iloc[made.recommended_] > 0.7
    assert any(entry.fill is not None for entry in made.entries_[1:])
    for cost in made.operating_points_["cost"]:
        rows = table[200:230]
        bought = made.predict_acquiring(lambda i, j, rows=rows: rows[i, j], 30, budget=cost)
        expected = made.predict_proba(rows, budget=cost)
        np.testing.assert_allclose(bought.probabilities, expected)


@pytest.mark.usefixtures("fast")
def test_gaps_in_regression():
    table, y = make_regression(150, 6, n_informative=3, noise=1, random_state=0)
    table = with_gaps(table)
    table[:, 5] = np.nan
    made = AutoBudgetRegressor(feature_costs=PRICES, random_state=0).fit(table[:100], y[:100])
    assert not made.skipped_
    held_out = made.measure(table[100:], y[100:])["score"]
    assert held_out[made.recommended_] > held_out[0]
    unknown, weight = y[100:].copy(), np.ones(50)
    unknown[3] = np.nan
    for asked in (made.measure, made.score):
        with pytest.raises(ValueError, match="y contains NaN"):
            asked(table[100:], unknown)
        for wrong in (np.nan, -1.0):
            weight[0] = wrong
            with pytest.raises(ValueError, match="sample_weight"):
                asked(table[100:], y[100:], sample_weight=weight)
        with pytest.raises(ValueError, match=r"non-zero|0 everywhere"):
            asked(table[100:], y[100:], sample_weight=0 * np.ones(50))


@pytest.mark.usefixtures("fast")
def test_what_validation_rows_lack_others_may_lack():
    """They are learned from, too."""
    some, few = X[TRAIN].copy(), X[TEST][:3].copy()
    some[:30, :] = np.nan
    few[0, :] = np.nan
    made = AutoBudgetClassifier(feature_costs=PRICES, random_state=0)
    made.fit(X[TEST], Y[TEST], some, Y[TRAIN])
    assert made.predict(few, budget=PRICES.sum()).shape == (3,)


def test_numbers_far_from_zero_are_learned_as_well():
    X, y = make_regression(300, 4, noise=5.0, random_state=0)
    model = CentredRegressor(boosted_trees(False), random_state=0)
    far = 1e9 * y.std()  # beyond the seven digits of single precision
    near, moved = (clone(model).fit(X[:200], y[:200] + centre) for centre in (0.0, far))
    score = near.score(X[200:], y[200:])
    assert score > 0.5
    assert moved.score(X[200:], y[200:] + far) == pytest.approx(score, abs=0.03)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_trees_learn_numbers_in_any_unit(unit):
    X, y = make_regression(200, 4, noise=5.0, random_state=0)
    model = CentredRegressor(ExtraTreesRegressor(10), random_state=0)
    usual, other = (clone(model).fit(X, each * y).predict(X) for each in (1.0, unit))
    assert np.ptp(usual) > 0
    np.testing.assert_allclose(other, unit * usual, rtol=1e-9)
