"""Operating points and labels of a cascade chosen by a score that the user names."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer
from sklearn.naive_bayes import GaussianNB

from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor, estimator
from budgetlearn.validation import ParameterError

pytestmark = pytest.mark.usefixtures("quick_scores", "quick_cascade")
QUICK = {"orders": "gain_per_cost", "n_stages": 4, "cv": 3, "random_state": 0}
SCORES = {"f1_macro": lambda y, p: f1_score(y, p, average="macro"),
          "balanced_accuracy": balanced_accuracy_score}  # fmt: skip


@pytest.fixture(scope="module")
def table():
    """A rare class, and three of six features that tell it."""
    random = np.random.RandomState(0)
    y = random.uniform(size=4500) < 0.1
    X = random.standard_normal((4500, 6)) + np.outer(y, [1.2, 1, 0.8, 0, 0, 0])
    return X, np.where(y, "rare", "common")


def fitted(table, n_rows=1500, **settings):
    X, y = table
    return ScheduleCascadeClassifier(estimators=GaussianNB(), **(QUICK | settings)).fit(
        X[:n_rows], y[:n_rows]
    )


@pytest.fixture(scope="module")
def leaning(table):
    return fitted(table, scoring="f1_macro", n_stages=2, cv=2)


@pytest.mark.parametrize(("scoring", "dynamic"), [("f1_macro", False), ("balanced_accuracy", True)])
def test_labels_lean_to_the_rare_class_where_that_scores_more(table, scoring, dynamic):
    # Numbers: scikit-learn's scores of words take several times as long.
    table = table[0], (table[1] == "rare").astype(int)
    X, y = table[0][1500:], table[1][1500:]
    n_rows = 800 if dynamic else 1500
    plain, chosen = (
        fitted(table, n_rows, dynamic=dynamic, scoring=each) for each in (None, scoring)
    )
    for cap in (3, None):
        found = [SCORES[scoring](y, each.predict(X, max_cost=cap)) for each in (plain, chosen)]
        assert found[1] > found[0] + 0.02
    last = chosen.operating_points_.iloc[-1]
    assert abs(last["score"] - SCORES[scoring](y, chosen.predict(X))) < 3 * last["score_se"]
    assert chosen.score(X, y) == pytest.approx(SCORES[scoring](y, chosen.predict(X)))


def test_one_at_a_time_the_labels_are_the_same(table, leaning):
    X = table[0][1500:1530]
    asked = leaning.predict_acquiring(lambda rows, feature: X[rows, feature], len(X), budget=3)
    np.testing.assert_array_equal(asked.prediction, leaning.predict(X, budget=3))
    # The estimate is of the label that is given.
    stage = list(leaning.stages(X))[-1]
    own = stage.probabilities[np.arange(30), np.searchsorted(leaning.classes_, stage.output)]
    np.testing.assert_array_equal(stage.estimate, own)
    assert (own < 0.5).any()


def test_a_score_of_probabilities_changes_no_label(table, monkeypatch):
    X, y = table
    model = fitted(table, 800, scoring="neg_log_loss", n_stages=2, cv=2)
    assert all(point.leaning is None for point in model.points_)
    points = model.operating_points_
    assert points["score"].is_monotonic_increasing
    assert (points["score"] < 0).all()
    assert model.score(X[1500:], y[1500:]) == pytest.approx(points["score"].iloc[-1], abs=0.05)
    # The area under the ROC curve grows with the root of what the log loss gains.
    for name, kept in ("neg_log_loss", 0.49), ("roc_auc", 0.7):
        promised = []
        for share in (1.0, 0.49):
            monkeypatch.setattr(estimator, "confirmed_share", lambda *_, share=share: share)
            fit = fitted(table, 400, scoring=name, n_stages=2, cv=2)
            promised.append(fit.operating_points_["score"].to_numpy())
        gains = [each[1:] - each[0] for each in promised]
        np.testing.assert_allclose(gains[1], kept * gains[0])


def test_numbers_are_chosen_by_a_score_too():
    X, y = make_friedman1(400, 5, random_state=0)
    model = ScheduleCascadeRegressor(
        estimators=LinearRegression(), scoring="neg_mean_absolute_error", **QUICK
    ).fit(X[:200], y[:200])
    told = model.operating_points_["score"]
    assert model.score(X[200:], y[200:]) == pytest.approx(told.iloc[-1], rel=0.2)
    # In any unit of the targets, though here all scores are below the tolerance of R².
    tiny = clone(model).fit(X[:200], 2.0**-50 * y[:200]).operating_points_
    assert tiny["cost"].tolist() == model.operating_points_["cost"].tolist()
    np.testing.assert_allclose(tiny["score"], 2.0**-50 * told)


def test_a_score_that_is_no_number_is_refused(table):
    nothing = make_scorer(lambda y, predicted: np.nan)
    with pytest.raises(ParameterError, match="scoring is NaN for the"):
        fitted(table, scoring=nothing)
    with pytest.raises(ParameterError, match="scoring must be the name of one score, a scorer or"):
        fitted(table, scoring=["accuracy"])


def test_the_standard_error_of_a_score_counts_the_weights(table, monkeypatch):
    X, y = table[0][:600], table[1][:600]
    counted, weight = [], np.where(np.arange(600) % 2, 0.5, 1.0)

    def told(score, n, weight, groups):
        counted.append(weight)
        return score(np.arange(n), weight)

    monkeypatch.setattr(estimator, "standard_error", told)
    settings = QUICK | {"scoring": "balanced_accuracy", "n_stages": 2, "cv": 2, "dynamic": False}
    made = ScheduleCascadeClassifier(estimators=GaussianNB(), **settings)
    made.fit(X, y, sample_weight=weight)
    assert len(counted) == len(made.operating_points_)
    for each in counted:
        np.testing.assert_allclose(each, weight / weight.mean())
    # Of the labels as they lean; the score told is what is not chance of its gain over a half.
    assert any(point.leaning is not None for point in made.points_)
    gains = made.operating_points_[["score", "score_se"]][1:] - 0.5
    shares = gains["score"] / gains["score_se"]
    assert shares.max() < 1
    np.testing.assert_allclose(shares, shares.iloc[0])
