"""Our random forest: scikit-learn's contract, accuracy and out-of-bag estimate."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.ensemble import RandomForestClassifier as Peer
from sklearn.ensemble import RandomForestRegressor as NumbersPeer

from budgetlearn.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import TreeGrower
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions


@pytest.mark.parametrize("estimator", [RandomForestClassifier(n_estimators=10)], ids=type)
def test_estimator_checks(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1000], y[:1000], X[1000:], y[1000:]


@pytest.mark.parametrize("parameters", [{}, {"criterion": "entropy"}, {"max_bins": 255}])
def test_as_accurate_as_the_peer(digits, parameters):
    X, y, X_test, y_test = digits
    ours = RandomForestClassifier(n_estimators=60, random_state=0, **parameters).fit(X, y)
    peer = Peer(60, random_state=0).fit(X, y)
    assert ours.score(X_test, y_test) > peer.score(X_test, y_test) - 0.02


def test_without_bootstrap_the_training_data_are_learnt(digits):
    X, y, _, _ = digits
    for kind in (RandomForestClassifier, RandomForestRegressor):
        assert kind(n_estimators=3, bootstrap=False, random_state=0).fit(X, y).score(X, y) == 1


def test_n_jobs_does_not_matter(digits, monkeypatch):
    X, y, X_test, _ = digits
    tree, given = TreeGrower.tree, []
    monkeypatch.setattr(TreeGrower, "tree", lambda *each: given.append(each[2]) or tree(*each))
    one, two = (
        RandomForestClassifier(n_estimators=8, random_state=1, oob_score=True, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    # Trees write the prices, so threads must not share them.
    assert len({id(prices) for prices in given}) == len(given) == 16
    np.testing.assert_array_equal(one.predict_proba(X_test), two.predict_proba(X_test))
    assert one.oob_score_ == two.oob_score_


def test_oob_score_estimates_the_test_score():
    X, y = make_classification(3000, 12, n_informative=6, flip_y=0.1, random_state=0)
    forest = RandomForestClassifier(n_estimators=60, oob_score=True, random_state=0)
    forest.fit(X[:1500], y[:1500])
    assert forest.oob_score_ == pytest.approx(forest.score(X[1500:], y[1500:]), abs=0.03)
    assert np.isfinite(forest.oob_decision_function_).all()
    X, y = make_friedman1(3000, noise=1.0, random_state=0)
    known, unseen = (X[:600], y[:600]), (X[600:], y[600:])
    forest = RandomForestRegressor(n_estimators=100, oob_score=True, random_state=0).fit(*known)
    peer = NumbersPeer(100, max_features=1 / 3, oob_score=True, random_state=0).fit(*known)
    assert forest.score(*unseen) == pytest.approx(peer.score(*unseen), abs=0.01)
    assert forest.oob_score_ == pytest.approx(peer.oob_score_, abs=0.02)
    assert np.isfinite(forest.oob_prediction_).all()


def test_examples_that_no_tree_left_out_have_no_oob_estimate(digits):
    X, y, _, _ = digits
    forest = RandomForestClassifier(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    share = np.isnan(forest.oob_decision_function_[:, 0]).mean()
    assert share == pytest.approx(1 - np.exp(-1), abs=0.05)


def test_codes_can_be_shared_by_forests_on_subsets(digits):
    X, y, X_test, _ = digits
    columns = [20, 21, 36, 42, 43]
    shared = RandomForestClassifier(n_estimators=5, random_state=0)
    shared.fit(X[:, columns], y, binned=bin_features(X).take(columns))
    own = RandomForestClassifier(n_estimators=5, random_state=0).fit(X[:, columns], y)
    np.testing.assert_array_equal(
        shared.predict_proba(X_test[:, columns]), own.predict_proba(X_test[:, columns])
    )
    with pytest.raises(ParameterError, match="codes of X"):
        shared.fit(X[:, columns], y, binned=bin_features(X))


def test_stages_end_at_the_forest(digits):
    X, y, X_test, _ = digits
    forest = RandomForestClassifier(n_estimators=6, random_state=0).fit(X, y)
    np.testing.assert_array_equal(list(forest.staged_predict(X_test))[-1], forest.predict(X_test))
    np.testing.assert_array_equal(
        list(forest.staged_predict_proba(X_test))[-1], forest.predict_proba(X_test)
    )
    np.testing.assert_array_equal(
        list(forest.staged_acquired_features(X_test))[-1], forest.acquired_features(X_test)
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"criterion": "mse"}, "criterion"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "log2"}, "max_features"),
        ({"max_features": 1.5}, "max_features must be an integer"),
        ({"max_depth": 10**30}, "max_depth"),
        ({"oob_score": True, "bootstrap": False}, "bootstrap"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        RandomForestClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_one_class_and_nan_are_refused():
    with pytest.raises(ParameterError, match="one class"):
        RandomForestClassifier().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        RandomForestClassifier().fit([[0.0], [np.nan]], [0, 1])
