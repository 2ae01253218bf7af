"""Standard errors where rows belong together: as if each group were one row."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn import (
    AutoBudgetClassifier,
    BudgetRFClassifier,
    BudgetRFRegressor,
    ScheduleCascadeClassifier,
    ScheduleCascadeRegressor,
)
from budgetlearn.protocol.scoring import mean_and_error

TIMES = 4


def examples(n=90, seed=0):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, 3))
    return X, X[:, 0] + random.normal(size=n)


def test_the_error_of_a_mean_is_that_of_whole_groups():
    random = np.random.RandomState(0)
    means, errors = [], []
    for _ in range(400):
        who = np.repeat(np.arange(40), random.randint(1, 9, size=40))
        mean, error = mean_and_error(random.normal(size=40)[who], groups=who)
        means.append(mean)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)
    # Groups of any sizes that are all alike leave nothing in doubt; of one nothing is known.
    alike = np.repeat(np.arange(40), 2 * np.arange(1, 41))
    assert mean_and_error(np.arange(alike.size) % 2, groups=alike)[1] == 0
    assert np.isnan(mean_and_error(np.arange(5.0), groups=np.zeros(5))[1])


def test_weights_of_groups_are_as_many_rows():
    values, who = np.array([1.0, 4.0, 2.0, 7.0]), np.array([0, 0, 1, 2])
    weight = np.array([2, 1, 3, 1])
    rows = np.repeat(np.arange(4), weight)
    weighed = mean_and_error(values, weight, who)
    assert weighed == pytest.approx(mean_and_error(values[rows], groups=who[rows]))
    alone = mean_and_error(values, groups=np.arange(4))
    assert alone == pytest.approx((3.5, values.std(ddof=1) / 2))


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
@pytest.mark.parametrize("kind", [ScheduleCascadeClassifier, BudgetRFClassifier])
def test_rows_that_repeat_are_measured_as_one_group(kind, scoring):
    X, y = examples()
    settings = {"scoring": scoring} if kind is ScheduleCascadeClassifier else {}
    model = kind(random_state=0, **settings).fit(X, y > 0)
    single = model.measure(X, y > 0)
    rows = np.arange(len(y)).repeat(TIMES)
    again = model.measure(X[rows], y[rows] > 0, groups=[f"patient {row}" for row in rows])
    for name in ("cost_se", "score_se"):
        np.testing.assert_allclose(again[name], single[name], rtol=0.3 if scoring else 0.01)
    pd.testing.assert_series_equal(again["score"], single["score"])


def test_numbers_that_repeat_are_measured_as_one_group():
    X, y = examples()
    model = BudgetRFRegressor(random_state=0).fit(X, y)
    rows = np.arange(len(y)).repeat(TIMES)
    again = model.measure(X[rows], y[rows], groups=rows)
    np.testing.assert_allclose(again["score_se"], model.measure(X, y)["score_se"], rtol=0.02)


@pytest.mark.parametrize("kind", [ScheduleCascadeClassifier, ScheduleCascadeRegressor])
def test_a_cascade_is_as_unsure_as_there_are_groups(kind):
    X, y = examples()
    rows = np.arange(len(y)).repeat(TIMES)
    target = y > 0 if kind is ScheduleCascadeClassifier else y
    model = kind(random_state=0, n_stages=3, cv=3, estimators=("linear",))
    apart = model.fit(X[rows], target[rows], groups=rows).operating_points_
    assert model._n_measured == len(y)
    together = model.fit(X[rows], target[rows]).operating_points_
    ratio = apart["score_se"].iloc[-1] / together["score_se"].iloc[-1]
    assert ratio == pytest.approx(np.sqrt(TIMES), rel=0.25)


def test_unequal_groups_that_are_alike_do_not_blur_a_quote():
    who = np.repeat(np.arange(30), 2 * np.arange(1, 31))
    y = np.arange(who.size) % 2
    X = np.random.RandomState(0).normal(size=(who.size, 2))
    model = AutoBudgetClassifier(max_minutes=1e-5, random_state=0).fit(X, y, groups=who)
    free = model.operating_points_.iloc[0]
    assert free["score"] == 0.5
    assert free["score_se"] < 0.001
    measured = model.measure(X, y, groups=who).iloc[0]
    assert measured["score_se"] == 0
