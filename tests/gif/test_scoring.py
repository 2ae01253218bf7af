"""`scoring` in GIF: it measures the operating points, and validation data choose by it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import balanced_accuracy_score, get_scorer, mean_absolute_error

from budgetlearn import GIFClassifier, GIFRegressor
from budgetlearn.gif.pruning import SIZES

pytestmark = pytest.mark.usefixtures("quick_scores")
SMALL = {"n_estimators": 20, "learning_rate": 0.5, "random_state": 0}
# Few of the second class: most labels are right where all are of the first one.
X, Y = make_classification(700, 8, weights=[0.85], flip_y=0.15, class_sep=0.6, random_state=2)
TRAIN, VALID = slice(0, 300), slice(300, 700)
NUMBERS = make_friedman1(500, noise=4.0, random_state=0)


def stopped(scoring, node_budget=400, y=Y):
    model = GIFClassifier(node_budget, early_stopping=True, scoring=scoring, **SMALL)
    return model.fit(X[TRAIN], y[TRAIN], X[VALID], y[VALID])


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss"])
def test_early_stopping_keeps_the_nodes_of_the_best_score(scoring):
    whole = GIFClassifier(400, **SMALL).fit(X[TRAIN], Y[TRAIN])
    steps = [whole.within(size) for size in (0, *SIZES[SIZES <= 400])]
    scores = [get_scorer(scoring)(each, X[VALID], Y[VALID]) for each in steps]
    kept = stopped(scoring)
    assert kept.n_nodes_ == steps[int(np.argmax(scores))].n_nodes_
    assert kept.operating_points_["score"].iloc[-1] == pytest.approx(max(scores))


def test_the_score_matters():
    assert len({stopped(scoring).n_nodes_ for scoring in (None, "accuracy", "neg_log_loss")}) > 1


def test_a_class_that_is_new_to_validation_data_does_not_choose():
    y = Y.copy()
    y[650:] = 7
    model = GIFClassifier(400, early_stopping=True, scoring="accuracy", **SMALL)
    n_nodes = model.fit(X[TRAIN], y[TRAIN], X[VALID], y[VALID]).n_nodes_
    assert n_nodes == model.fit(X[TRAIN], y[TRAIN], X[300:650], y[300:650]).n_nodes_


@pytest.mark.parametrize("joint_fit", ["ridge", "logistic"])
def test_the_ridge_is_chosen_by_it(joint_fit):
    model = GIFClassifier(200, joint_fit=joint_fit, ridge="auto", **SMALL)
    model.set_params(scoring="balanced_accuracy")
    data = X[TRAIN], Y[TRAIN], X[VALID], Y[VALID]
    chosen = model.fit(*data)
    best = balanced_accuracy_score(Y[VALID], chosen.predict(X[VALID]))
    others = [
        model.set_params(ridge=ridge).fit(*data).predict(X[VALID]) for ridge in (0.003, 0.1, 3.0)
    ]
    assert best >= max(balanced_accuracy_score(Y[VALID], each) for each in others)


def test_numbers_are_scored_in_their_own_unit():
    X, y = NUMBERS
    y = 1e6 * y
    model = GIFRegressor(400, early_stopping=True, scoring="neg_mean_absolute_error", **SMALL)
    model.fit(X[:250], y[:250], X[250:], y[250:])
    score = model.operating_points_["score"].iloc[-1]
    assert score == pytest.approx(-mean_absolute_error(y[250:], model.predict(X[250:])))
    whole = GIFRegressor(400, **SMALL).fit(X[:250], y[:250])
    errors = [
        mean_absolute_error(y[250:], whole.within(size).predict(X[250:]))
        for size in (0, *SIZES[SIZES <= 400])
    ]
    assert -score == pytest.approx(min(errors))
