"""The illustrative example of Nan et al. (2014), section 3 and figure 1, step by step."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from budgetlearn.sequential import FMCCClassifier

X = np.array(
    [[1, -1, -1]] * 2 + [[-1, 1, 1]] * 2 + [[-1, 1, -1]] + [[1, 1, 1]] * 3, dtype=np.float64
)
y = np.array([-1] * 4 + [1] * 4)


class PrintedSVM(ClassifierMixin, BaseEstimator):
    """The linear classifier with the coefficients that the paper prints."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.coef_ = np.array([[0.9995, 1.4998, -0.5002]])
        self.intercept_ = np.array([-0.9997])
        return self


def fitted(**parameters):
    # Neighbours are the examples with exactly the same acquired values: the nearest one and its
    # ties.
    return FMCCClassifier(PrintedSVM(), n_neighbors=1, **parameters).fit(X, y)


@pytest.mark.parametrize(
    ("prices", "first", "right"),
    [([9, 9, 0], 2, 4), ([9, 0, 9], 1, 6), ([0, 9, 9], 0, 4)],
    ids=["x3", "x2", "x1"],
)
def test_step_1_counts_four_six_four(prices, first, right):
    model = fitted(feature_costs=prices, max_cost=0)  # only one feature is affordable
    story = model.explain(X[0])
    assert story["feature"].tolist() == [first]
    assert story["value"].tolist() == [right / 8]


def test_step_1_acquires_x2():
    assert (fitted().decisions(X).order[:, 0] == 1).all()


def test_step_2_stops_when_x2_is_minus_one():
    story = fitted().explain(X[0])
    assert story["feature"].tolist() == [1]
    assert story["probability"].tolist() == [1.0]
    assert story["prediction"].tolist() == [-1]


def test_step_2_prefers_x1_when_x2_is_one():
    story = fitted().explain(X[5])
    assert story["feature"].tolist()[:2] == [1, 0]
    assert story["value"][1] == pytest.approx(5 / 6)


def test_step_2_would_get_half_right_with_x3():
    # x1 is not affordable after x2, so that x3 is the only candidate.
    story = fitted(feature_costs=[9, 1, 2], max_cost=3).explain(X[5])
    assert story["feature"].tolist() == [1, 2]
    assert story["value"][1] == pytest.approx(3 / 6)


def test_all_points_are_classified_right():
    assert fitted().score(X, y) == 1.0
