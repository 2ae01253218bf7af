"""Missing values in the cascade: values like others, and paid for like others."""

import pickle

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from budgetlearn import MissingValueError, ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.cascade.models import KINDS, below_all, medians
from budgetlearn.cascade.smooth_models import Scaling

pytestmark = pytest.mark.usefixtures("quick_cascade")

PRICES = [1.0, 2.0, 3.0, 4.0]
FULL = sum(PRICES)
TRAIN, TEST = slice(0, 300), slice(300, 500)


def telling_gaps(seed=0):
    """Return examples of which nothing but where feature 1 is missing tells the class."""
    random = np.random.default_rng(seed)
    X, y = random.standard_normal((500, 4)), random.integers(2, size=500)
    X[random.random(500) < np.where(y == 1, 0.95, 0.05), 1] = np.nan
    X[random.random(500) < 0.3, 2] = np.nan  # of any class
    return X, y


X, Y = telling_gaps()


def fitted(kind=ScheduleCascadeClassifier, y=Y, **options):
    made = kind(feature_costs=PRICES, n_stages=4, cv=3, random_state=0, **options)
    return made.fit(X[TRAIN], y[TRAIN])


@pytest.mark.parametrize("estimators", KINDS)
def test_every_kind_of_model_learns_from_where_values_are_missing(estimators):
    made = fitted(estimators=estimators)
    assert (made.predict(X[TEST]) == Y[TEST]).mean() > 0.9
    # The two orders find out that the second feature is worth its price, and the others are not.
    cheap = made.acquired_features(X[TEST], budget=3)
    assert cheap[:, 1].all()
    assert (made.predict(X[TEST], budget=3) == Y[TEST]).mean() > 0.9


def test_where_values_are_missing_is_learned_from_if_a_dynamic_order_may_compete():
    made = fitted(dynamic="auto", estimators="boosting")
    assert (made.predict(X[TEST]) == Y[TEST]).mean() > 0.85


@pytest.mark.parametrize("estimators", ["forest", "boosting", "linear", "kernel"])
def test_numbers_are_predicted_from_where_values_are_missing(estimators):
    y = Y + 0.1 * X[:, 0]
    made = fitted(ScheduleCascadeRegressor, y, estimators=estimators)
    assert made.score(X[TEST], y[TEST]) > 0.6


@pytest.mark.parametrize("weight", [None, np.random.default_rng(0).uniform(0.5, 2, 300)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_table_and_values_asked_for_one_by_one_give_the_same(dynamic, weight):
    made = ScheduleCascadeClassifier(
        feature_costs=PRICES, dynamic=dynamic, n_stages=4, cv=3, random_state=0
    ).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    rows = X[TEST][:60].copy()
    rows[:5, 1:3] = np.nan
    for budget in (2, 5, FULL):
        bought = made.predict_acquiring(lambda i, j: rows[i, j], len(rows), budget=budget)
        shares = made.predict_proba(rows, budget=budget)
        np.testing.assert_allclose(bought.probabilities, shares, atol=1e-12)
        # A missing value was paid for and came back empty.
        np.testing.assert_array_equal(bought.cost, made.acquisition_cost(rows, budget=budget))
    if dynamic:  # a fixed order would fit its stand-in to be stored, which takes long
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(again.predict_proba(rows), made.predict_proba(rows))


def test_a_row_of_nothing_but_gaps_is_predicted_from_them():
    only = np.full((1, 2), np.nan)
    for dynamic in (False, "auto"):
        made = ScheduleCascadeClassifier(
            feature_costs=[1, 1], dynamic=dynamic, estimators="boosting", random_state=0
        ).fit(X[TRAIN, 1:3], Y[TRAIN])
        bought = made.predict_acquiring(lambda i, j: only[i, j], 1)
        np.testing.assert_allclose(bought.probabilities, made.predict_proba(only), atol=1e-12)
        assert bought.probabilities[0, 1] > 0.6


def test_what_training_always_had_must_not_be_missing():
    stages = {"estimators": "forest", "orders": [[[0], [0, 1], [0, 1, 2, 3]]]}
    made, rows = fitted(**stages), X[TEST].copy()
    rows[:, 0] = np.nan
    with pytest.raises(MissingValueError):
        made.predict(rows, budget=FULL)
    joined = ScheduleCascadeClassifier(feature_costs=PRICES, random_state=0, **stages)
    joined.fit(X[TRAIN], Y[TRAIN], rows[:100], Y[TEST][:100])
    # Validation examples are learned from like the others.
    assert joined.missing_in_training_.tolist() == [True, True, True, False]
    assert len(joined.predict(rows, budget=FULL)) == len(rows)


def test_an_estimator_that_takes_none_says_so():
    with pytest.raises(ValueError, match="does not accept missing values"):
        fitted(estimators=GaussianNB())


def test_codes_of_missing_values_are_below_all_others_in_single_precision():
    table = np.full((4, 3), np.nan)
    table[[0, 2, 3], 0] = 1.0, -2.0, 10.0
    table[[0, 1, 3], 1] = 3e9, 3e9 + 500, 4e9
    below = below_all(table, 0.1)
    assert below[0] == pytest.approx(-3.2)  # a tenth of the range below, in any unit
    assert below_all(table / 1000, 0.1)[0] == pytest.approx(-0.0032)
    known = np.nanmin(table[:, :2], axis=0).astype(np.float32)
    assert (below[:2].astype(np.float32) < known).all()
    assert np.isfinite(below).all()
    np.testing.assert_array_equal(medians(table), [1, 3e9 + 500, 0])


def test_a_value_below_those_of_training_is_not_taken_for_missing():
    random = np.random.default_rng(0)
    X, noise = 1e3 * random.normal(size=(300, 1)), 0.1 * random.normal(size=300)
    gaps = random.random(300) < 0.15
    y = np.where(gaps, 8, 3e-3 * X[:, 0]) + noise
    X[gaps] = np.nan
    model = ScheduleCascadeRegressor(estimators="forest", n_stages=2, cv=2, random_state=0)
    low, missing = model.fit(X, y).predict([[np.nanmin(X) - 100], [np.nan]])
    assert low < -5
    assert missing == pytest.approx(8, abs=0.5)


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2, 1, 4])])
def test_a_missing_value_is_the_mean_and_has_a_column_of_its_own(weight):
    table = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0], [5.0, 9.0]])
    scaled = Scaling.of(table, weight, False).scaled(table)
    assert scaled.shape == (4, 3)
    assert scaled[1, 0] == pytest.approx(0)
    shares = np.full(4, 0.25) if weight is None else weight / weight.sum()
    np.testing.assert_allclose(shares @ scaled, 0, atol=1e-12)
    np.testing.assert_allclose(shares @ scaled**2, 1)
    # Missing where training had all: the mean.
    assert Scaling.of(table[[0, 2]], None, False).scaled(table)[1] == pytest.approx([0, 0])


def test_a_few_codes_leave_all_other_values_their_scale():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    coded = X.copy()
    coded[:3] = -999
    plain = Scaling.of(X, None, True)
    np.testing.assert_array_equal(plain.scale, Scaling.of(X, None, False).scale)
    found, ruled = (Scaling.of(coded, None, robust) for robust in (True, False))
    np.testing.assert_allclose(found.scale, plain.scale, rtol=0.1)
    assert (ruled.scale > 40).all()
    assert (found.scaled(coded)[:3] == -3).all()


def test_a_column_of_one_value_and_a_few_codes_is_scaled():
    X = np.zeros((1000, 1))
    X[0] = 7
    scaled = Scaling.of(X, None, True).scaled(X)
    assert scaled[0] == 3
    assert np.ptp(scaled[1:]) == 0
    assert abs(scaled[1]) < 0.1
