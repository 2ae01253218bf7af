"""A score is its offset plus one part per feature, and each part looks at its own feature alone."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.sequential import boosted_stumps
from budgetlearn.sequential.fmcc import fit_additive
from budgetlearn.validation import ParameterError

ESTIMATORS = [
    LogisticRegression(),
    RidgeClassifier(),
    SVC(kernel="linear"),
    make_pipeline(StandardScaler(), MinMaxScaler(), LinearSVC()),
    boosted_stumps(60),
    GradientBoostingClassifier(max_depth=1, n_estimators=50),
    GradientBoostingClassifier(max_depth=1, n_estimators=50, init="zero", loss="exponential"),
]


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(200, 7, n_informative=4, random_state=3)
    return X.round(1), y == 1  # rounded: thresholds meet equal values


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
class TestParts:
    def test_add_up_to_the_score(self, estimator, table):
        X, y = table
        fitted, score = fit_additive(estimator, X, y, 0)
        total = score.offset + score.parts(X).sum(axis=1)
        decision = fitted.decision_function(X)
        # AdaBoost's decision counts every vote for one class and against the other: twice ours.
        scale = 2.0 if isinstance(estimator, AdaBoostClassifier) else 1.0
        np.testing.assert_allclose(scale * total, decision, rtol=1e-9, atol=1e-9)

    def test_belong_to_one_feature_each(self, estimator, table):
        X, y = table
        _, score = fit_additive(estimator, X, y, 0)
        before = score.parts(X)
        changed = X.copy()
        changed[:, 2] += 1.5
        after = score.parts(changed)
        others = np.arange(X.shape[1]) != 2
        np.testing.assert_array_equal(before[:, others], after[:, others])


def test_constant_trees_go_to_the_offset():
    X = np.zeros((10, 2))
    y = np.arange(10) < 3
    fitted, score = fit_additive(GradientBoostingClassifier(max_depth=1, n_estimators=3), X, y, 0)
    assert score.offset == pytest.approx(fitted.decision_function(X)[0])
    assert not score.parts(X).any()


def test_own_random_state_is_kept(table):
    X, y = table
    fitted, _ = fit_additive(LinearSVC(random_state=7), X, y, 0)
    assert fitted.random_state == 7
    fitted, _ = fit_additive(LinearSVC(), X, y, 0)
    assert isinstance(fitted.random_state, int)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GaussianNB(), "linear binary classifier"),
        (SVC(kernel="rbf"), "linear binary classifier"),
        (make_pipeline(PCA(), LinearSVC()), "scale each feature by itself"),
        (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5), "max_depth=1"),
        (AdaBoostClassifier(LogisticRegression(), n_estimators=5), "decision stumps"),
        (GradientBoostingClassifier(n_estimators=5), "max_depth=1"),
        (
            GradientBoostingClassifier(max_depth=1, n_estimators=2, init=LogisticRegression()),
            "start from a constant",
        ),
    ],
)
def test_refuses_scores_that_mix_features(estimator, message, table):
    with pytest.raises(ParameterError, match=message):
        fit_additive(estimator, *table, 0)
