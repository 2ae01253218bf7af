"""Filter selection: features in the order of information per price, a forest on the first k."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import mutual_info_classif

from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.forests import RandomForestClassifier
from budgetlearn.peers import FilterForestClassifier
from tests.looping import check_conventions


@pytest.mark.parametrize("estimator", [FilterForestClassifier(n_estimators=5)], ids=type)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


PRICES = np.random.default_rng(1).integers(1, 101, 13).astype(float)


def test_order_is_information_per_price(wine):
    X, y = wine
    model = FilterForestClassifier(feature_costs=PRICES, n_estimators=2, random_state=0).fit(X, y)
    assert sorted(model.order_) == list(range(13))
    ratio = model.mutual_information_ / PRICES
    assert (np.diff(ratio[model.order_]) <= 0).all()
    seed = np.random.RandomState(0).randint(2**31 - 1, size=7)[0]  # one more for each forest
    information = mutual_info_classif(X, y, random_state=seed)
    np.testing.assert_array_equal(model.mutual_information_, information)


@pytest.mark.parametrize(("times", "plus"), [(1e-30, 0.0), (1e200, 0.0), (1.0, 1e9)])
def test_information_is_the_same_in_any_unit_and_far_from_zero(wine, times, plus):
    X, y = wine
    model = FilterForestClassifier(n_estimators=1, random_state=0)
    information = model.fit(X, y).mutual_information_
    moved = model.fit(times * X + plus, y).mutual_information_
    np.testing.assert_allclose(moved, information, atol=0.01)


def test_classes_of_one_row_have_no_information(wine):
    X, _ = wine
    model = FilterForestClassifier(n_selected=[1], n_estimators=1, random_state=0)
    assert not model.fit(X[:4], range(4), X[:4], range(4)).mutual_information_.any()


def test_free_features_come_first(wine):
    X, y = wine
    prices = np.where(np.arange(13) < 4, 0, PRICES)
    model = FilterForestClassifier(feature_costs=prices, n_estimators=2, random_state=0).fit(X, y)
    free = model.order_[:4]
    assert set(free) == {0, 1, 2, 3}
    assert (np.diff(model.mutual_information_[free]) <= 0).all()


def test_each_stage_looks_at_its_features_only(wine):
    X, y = wine
    model = FilterForestClassifier(feature_costs=PRICES, n_estimators=20, random_state=0).fit(X, y)
    assert model.stage_settings_ == [{"features": k} for k in (1, 2, 3, 5, 8, 13)]
    for setting, acquired in zip(
        model.stage_settings_, model.staged_acquired_features(X), strict=True
    ):
        acquired = set(np.flatnonzero(acquired.any(axis=0)))
        assert acquired <= set(model.order_[: setting["features"]])
    assert np.mean(model.predict(X) == y) > 0.98


def test_a_stage_is_a_forest_on_the_selected_columns(wine):
    X, y = wine
    model = FilterForestClassifier(
        feature_costs=PRICES, n_selected=(4,), n_estimators=9, random_state=3
    )
    model.fit(X, y)
    columns = np.sort(model.order_[:4])
    seed = np.random.RandomState(3).randint(2**31 - 1, size=2)[1]
    forest = RandomForestClassifier(n_estimators=9, random_state=seed).fit(X[:, columns], y)
    np.testing.assert_array_equal(model.predict(X), forest.predict(X[:, columns]))
    np.testing.assert_array_equal(
        model.acquired_features(X)[:, columns], forest.acquired_features(X[:, columns])
    )
    shares = forest.predict_proba(X[:, columns])
    np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-12)
    np.testing.assert_allclose(next(model.staged_predict_proba(X)), shares, rtol=1e-12)
    assert [stage.nodes for stage in model.stages(X)] == [
        sum(tree.node_count for tree in forest.trees_)
    ]


def test_threads_change_nothing(wine):
    X, y = wine
    one, two = (
        FilterForestClassifier(
            n_selected=(2, 13), feature_costs=PRICES, n_estimators=5, random_state=0, n_jobs=n_jobs
        ).fit(X, y)
        for n_jobs in (1, 2)
    )
    for a, b in zip(one.staged_predict(X), two.staged_predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_selected": (3, 2)}, "n_selected must be one or more increasing"),
        ({"n_selected": (0, 2)}, "n_selected"),
        ({"n_selected": (2, 14)}, "at most the number of features, 13, got 14"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_bad_parameters_are_refused(wine, parameters, message):
    with pytest.raises(BudgetlearnError, match=message):
        FilterForestClassifier(**parameters).fit(*wine)
