"""Scores at a budget: cross-validation and searches use the predictions that the budget allows."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import (
    balanced_accuracy_score,
    get_scorer,
    log_loss,
    r2_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetlearn import (
    BudgetRFClassifier,
    BudgetRFRegressor,
    CostSensitiveRFClassifier,
    GIFRegressor,
    LogitPathClassifier,
    ModelScheduleSearch,
    VoCClassifier,
    make_budget_scorer,
)
from budgetlearn.exceptions import BudgetError
from budgetlearn.protocol import Stage
from budgetlearn.protocol.scoring import r2_rows, score_and_error, score_outcome, standard_error
from budgetlearn.validation import ParameterError
from tests.protocol.conftest import COSTS, fit
from tests.protocol.estimators import NeverFree, SignOfFirst

SEARCHES = [
    (BudgetRFClassifier(n_estimators=4, random_state=0), {"alpha": [0.0, 4.0]}),
    (CostSensitiveRFClassifier(n_estimators=4, random_state=0), {"cost_weight": [0.0, 0.1]}),
    (VoCClassifier(), {"ridge": [0.1, 1.0]}),
]


@pytest.mark.parametrize(("model", "grid"), SEARCHES, ids=lambda each: type(each).__name__)
def test_a_grid_search_tunes_at_a_budget(model, grid, table):
    scorer = make_budget_scorer("accuracy", budget=5)
    search = GridSearchCV(model.set_params(feature_costs=COSTS), grid, scoring=scorer, cv=3)
    search.fit(*table)
    scores = search.cv_results_["mean_test_score"]
    assert (scores > 0.6).all()
    assert search.best_score_ == scores.max()


@pytest.mark.parametrize("model", [each for each, _ in SEARCHES], ids=lambda m: type(m).__name__)
def test_cross_validation_has_a_number_for_each_fold(model, table):
    scoring = {name: make_budget_scorer(name, budget=3) for name in ("roc_auc", "neg_log_loss")}
    made = cross_validate(model.set_params(feature_costs=COSTS), *table, scoring=scoring, cv=3)
    assert np.isfinite(made["test_roc_auc"]).all()
    assert np.isfinite(made["test_neg_log_loss"]).all()
    _check_routing(clone(model), *table)


def _check_routing(model, X, y):
    """Weights of examples reach scorers that ask for them, and budgets the model's own score."""
    weight, scorer = np.where(y == "ill", 1.0, 0.0), make_budget_scorer("accuracy", budget=15)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=False).set_score_request(budget=True)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, X, y, scoring=scorer, params={"sample_weight": weight})
        scorer.set_score_request(sample_weight=True)
        weighed = {"params": {"sample_weight": weight}, "scoring": scorer}
        recall = {"scoring": make_budget_scorer(partial(recall_score, pos_label="ill"), budget=15)}
        scores = [cross_validate(model, X, y, **each)["test_score"] for each in (weighed, recall)]
        np.testing.assert_allclose(*scores)
        for each in (model, SignOfFirst(COSTS).set_score_request(budget=True)):
            assert cross_validate(each, X, y, params={"budget": 15})["test_score"].min() > 0.5


@pytest.mark.parametrize("scoring", [None, "f1_macro", "neg_log_loss", "roc_auc"])
def test_targets_in_a_column_are_those_of_its_rows(scoring, table):
    X, y = np.asarray(table[0]), np.asarray(table[1])
    model = BudgetRFClassifier(n_estimators=2, scoring=scoring, random_state=0)
    model.fit(X[50:], y[50:], X[:50], y[:50])
    column = pd.DataFrame({"class": y[:50]})
    pd.testing.assert_frame_equal(model.measure(X[:50], column), model.operating_points_)
    assert model.score(X[:50], column) == model.score(X[:50], y[:50])


def test_numbers_to_validate_with_may_be_a_column(numbers):
    X, y = numbers
    made = BudgetRFRegressor(n_estimators=2, refit=True, random_state=0)
    row, column = (made.fit(X, y, X, each).predict(X) for each in (y, y[:, None]))
    np.testing.assert_array_equal(row, column)


def test_the_cost_of_several_numbers_at_once_is_certified(numbers):
    X, y = numbers
    both = np.column_stack([y, -y])
    model = GIFRegressor(40, n_estimators=5, random_state=0).fit(X, both, X, both)
    assert model.certify(X, both, cost=X.shape[1]).cost == X.shape[1]


def test_regressors_are_scored_too(numbers):
    model = GIFRegressor(node_budget=40, n_estimators=5, feature_costs=COSTS, random_state=0)
    made = cross_validate(model, *numbers, scoring=make_budget_scorer("r2", budget=15), cv=3)
    assert (made["test_score"] > 0.1).all()


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_the_score_is_that_of_the_predictions_within_the_budget(first, table, budget):
    X, y = table
    predicted = first.predict(X, budget=budget)
    for metric in ("balanced_accuracy", get_scorer("balanced_accuracy"), balanced_accuracy_score):
        scorer = make_budget_scorer(metric, budget=budget)
        assert scorer(first, X, y) == balanced_accuracy_score(y, predicted)
    weight = np.arange(len(y))
    assert make_budget_scorer("accuracy", budget=budget)(first, X, y, weight) == pytest.approx(
        np.average(predicted == y, weights=weight)
    )
    shares = first.predict_proba(X, budget=budget)
    assert make_budget_scorer("neg_log_loss", budget=budget)(first, X, y) == -log_loss(y, shares)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss"])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 2.0], r"sample_weight.shape == \(2,\), expected \(90,\)"),
        (np.ones((90, 1)), "Expected either a scalar value or a 1D array of length 90"),
        (np.zeros(90), "at least one non-zero|must not be 0 everywhere"),
        (np.full(90, -1.0), "Negative values in data passed to `sample_weight`"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_their_name(table, scoring, weight, message):
    X, y = table
    model = BudgetRFClassifier(n_estimators=2, scoring=scoring, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.score(X, y, sample_weight=weight)


def test_a_cap_is_kept(single, table):
    X, y = table
    scorer = make_budget_scorer("accuracy", max_cost=3)
    assert scorer(single, X, y) == np.mean(single.predict(X, max_cost=3, fallback=True) == y)


def test_what_nothing_affords_scores_as_the_constant(table):
    X, y = table
    model = fit(NeverFree, table)
    labels, counts = np.unique(y[:50], return_counts=True)
    constant = labels[counts.argmax()]
    assert make_budget_scorer("accuracy", budget=0)(model, X, y) == np.mean(y == constant)
    with pytest.raises(BudgetError):
        make_budget_scorer("accuracy", budget=0, fallback=False)(model, X, y)


def test_a_pipeline_of_scikit_learn_is_scored_through_its_last_step(table):
    X, y = table
    model = BudgetRFClassifier(feature_costs=COSTS, n_estimators=4, random_state=0)
    scorer = pickle.loads(pickle.dumps(make_budget_scorer("roc_auc", budget=4)))
    made = cross_validate(make_pipeline(StandardScaler(), model), X, y, scoring=scorer, cv=3)
    assert (made["test_score"] > 0.4).all()


@pytest.mark.parametrize("limits", [{"budget": -1}, {"max_cost": "5"}, {"budget_mode": "sure"}])
def test_limits_are_checked_at_once(limits):
    with pytest.raises(ParameterError):
        make_budget_scorer("accuracy", **limits)


@pytest.mark.parametrize("scoring", ["f1_macro", "balanced_accuracy", "matthews_corrcoef", "f1"])
@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1, 5]], ids=["words", "numbers"])
def test_a_score_of_labels_is_counted_as_scikit_learn_counts_it(scoring, labels):
    random = np.random.default_rng(0)
    labels = np.array(labels)
    if scoring == "f1":
        labels = np.arange(2)
    y, other = labels[random.integers(labels.size, size=(2, 60))]
    output = np.where(random.random(60) < 0.6, y, other)
    estimator = DummyClassifier().fit(np.zeros((labels.size, 1)), labels)
    estimator.scoring = scoring
    stage = Stage({}, output=output)
    score = partial(get_scorer(scoring)._score_func, **get_scorer(scoring)._kwargs)
    for weight in (None, random.random(60)):
        found = score_outcome(estimator, scoring, stage, y, weight)
        assert found == pytest.approx(score(y, output, sample_weight=weight), abs=1e-14)
    error = score_and_error(estimator, stage, y)[1]
    # The jackknife's, with a row more of each class that is right, and one that is wrong.
    n, longer_y = 60 + 2 * labels.size, np.concatenate([y, labels, labels])
    longer = np.concatenate([output, labels, np.roll(labels, -1)])
    left_out = [score(np.delete(longer_y, row), np.delete(longer, row)) for row in range(n)]
    assert error == pytest.approx(np.sqrt(n - 1) * np.std(left_out), abs=1e-14)
    drawn = np.random.default_rng(0).integers(60, size=(150, 60))
    redrawn = [score(y[rows], output[rows]) for rows in drawn]
    assert error == pytest.approx(np.std(redrawn, ddof=1), rel=0.2)


def test_a_score_of_a_single_example_is_known():
    estimator = DummyClassifier().fit(np.zeros((2, 1)), [0, 1])
    estimator.scoring = "f1_macro"
    score, error = score_and_error(estimator, Stage({}, output=np.ones(1, int)), np.ones(1, int))
    assert score == 1
    assert error > 0.2  # of which one row says little


@pytest.mark.parametrize("said", [[0, 0, 0, 0], [0, 0, 0, 1]], ids=["right", "a class too many"])
def test_balanced_accuracy_of_rows_without_a_class_warns_of_nothing(said):
    # As `compare` has them of a rare class; scikit-learn's scorer warns at each of many scores.
    estimator = LogitPathClassifier(scoring="balanced_accuracy", random_state=0)
    X, y = np.repeat(np.eye(2), 6, axis=0), np.repeat([0, 1], 6)
    known, none = X[[6 * label for label in said]], np.zeros(4, int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(X, y, known, none)
        found = score_and_error(estimator, Stage({}, output=np.array(said)), none)
    assert found[0] == np.mean(np.equal(said, 0))
    assert estimator.operating_points_["score"].max() == 1


def test_the_error_of_balanced_accuracy_covers_the_truth_with_two_rows_of_a_rare_class():
    # Of 31 rows two are rare. All shares of either class that may be right, as likely as they are.
    estimator = DummyClassifier().fit(np.zeros((2, 1)), [0, 1])
    estimator.scoring, y = "balanced_accuracy", np.repeat([0, 1], [29, 2])
    right = [(i, j) for i in range(12, 30) for j in range(3)]
    found = []
    for i, j in right:
        wrong = np.repeat([False, True, False, True], [i, 29 - i, j, 2 - j])
        found.append(score_and_error(estimator, Stage({}, output=np.where(wrong, 1 - y, y)), y))
    scores, errors = np.transpose(found)
    i, j = np.transpose(right)
    covered = []
    for share in (0.6, 0.7, 0.8, 0.9):
        chance = binom.pmf(i, 29, share + 0.05) * binom.pmf(j, 2, share)
        off = np.abs(scores - (2 * share + 0.05) / 2)
        covered.append([chance @ (off <= errors), chance @ (off <= 2 * errors)])
    one, two = np.mean(covered, axis=0)
    assert 0.6 < one < 0.75
    assert 0.9 < two < 0.97


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_a_score_of_probabilities_is_that_of_scikit_learn(scoring):
    random, labels = np.random.default_rng(0), np.array(["no", "yes"])
    chance = np.round(random.random(60), 1)  # with ties, and sure ones
    y = labels[(random.random(60) < chance).astype(int)]
    estimator = DummyClassifier().fit(np.zeros((2, 1)), labels)
    stage = Stage({}, output=y, probabilities=np.column_stack([1 - chance, chance]))
    for weight in (None, random.random(60)):
        found = score_outcome(estimator, scoring, stage, y, weight)
        expected = (
            roc_auc_score(y, chance, sample_weight=weight)
            if scoring == "roc_auc"
            else -log_loss(y, stage.probabilities, sample_weight=weight)
        )
        assert found == pytest.approx(expected, abs=1e-14)
    # Some resamples lack the rare class, so they have no score.
    rare, three = np.append(y, ["maybe"] * 2), DummyClassifier().fit(np.zeros((3, 1)), [*"abc"])
    three.classes_ = np.unique(rare)
    shares = random.dirichlet(np.ones(3), rare.size)
    three.scoring = {"roc_auc": "roc_auc_ovr"}.get(scoring, scoring)
    score, error = score_and_error(three, Stage({}, rare, shares), rare)
    assert np.isfinite(score)
    assert 0 < error < 0.5
    alike = Stage({}, output=y[:1], probabilities=stage.probabilities[:1])
    assert np.isnan(score_outcome(estimator, scoring, alike, y[:1])) == (scoring == "roc_auc")


@pytest.mark.parametrize("stranger", ["b", "z"])  # between the classes of training, and behind them
@pytest.mark.parametrize("kind", [BudgetRFClassifier, ModelScheduleSearch])
def test_a_class_that_training_lacks_is_an_error_to_scores_of_probabilities(kind, stranger):
    random = np.random.default_rng(0)
    X = random.standard_normal((160, 2))
    y = np.where(X[:, 0] > 0, "c", "a")
    strange = y[100:].copy()
    strange[:6] = stranger
    for scoring in ("neg_log_loss", "roc_auc"):
        model = kind(scoring=scoring, random_state=0).fit(X[:100], y[:100], X[100:], strange)
        found = model.operating_points_["score"].iloc[-1]
        chances = list(model.staged_predict_proba(X[100:]))[-1]
        if scoring == "roc_auc":  # each of the six is behind every row of the first class
            right = roc_auc_score(y[106:] == "c", chances[6:, 1])
            share = (y[106:] == "c").sum() / ((y[106:] == "c").sum() + 6)
            assert found == pytest.approx(right * share)
        else:
            least = np.log(np.finfo(chances.dtype).eps)
            own = -log_loss(y[106:], chances[6:], labels=["a", "c"])
            assert found == pytest.approx((6 * least + 54 * own) / 60)


@pytest.mark.parametrize("noise", [0.5, 5.0])
def test_the_error_of_r2_is_that_of_resampling(noise):
    random = np.random.default_rng(0)
    y = random.exponential(size=(400, 2))
    said = y + noise * random.standard_normal(y.shape)
    drawn = random.integers(400, size=(400, 400))
    for truth, stage in ((y, said), (y[:, 0], said[:, 0])):
        score, error = score_and_error(DummyRegressor(), Stage({}, output=stage), truth)
        redrawn = [r2_score(truth[rows], stage[rows]) for rows in drawn]
        assert score == pytest.approx(r2_score(truth, stage))
        assert error == pytest.approx(np.std(redrawn), rel=0.15)


@pytest.mark.parametrize("noise", [0.3, 3.0])
@pytest.mark.parametrize("weighed", [False, True])
def test_r2_row_by_row_has_its_mean_and_its_standard_error(noise, weighed):
    random, n = np.random.default_rng(0), 500
    y = random.exponential(size=n)
    said = y + noise * random.standard_normal(n)
    weight = random.integers(1, 4, n).astype(float) if weighed else None
    rows = r2_rows((said - y) ** 2, y, weight)
    assert np.average(rows, weights=weight) == pytest.approx(
        r2_score(y, said, sample_weight=weight)
    )
    if weighed:
        copies = np.repeat(np.arange(n), weight.astype(int))
        np.testing.assert_allclose(r2_rows((said - y)[copies] ** 2, y[copies]), rows[copies])
        return
    drawn = random.integers(n, size=(600, n))
    redrawn = [r2_score(y[rows], said[rows]) for rows in drawn]
    assert rows.std() / np.sqrt(n) == pytest.approx(np.std(redrawn), rel=0.15)


def test_the_mean_surely_has_no_r2():
    y = np.arange(5.0)
    np.testing.assert_allclose(r2_rows((y - y.mean()) ** 2, y), 0, atol=1e-12)
    np.testing.assert_array_equal(r2_rows(np.array([0.0, 4.0]), np.ones(2)), [1, -3])


def test_a_weighted_score_is_as_uncertain_as_one_of_fewer_rows():
    values, weight = np.random.default_rng(0).normal(size=400), np.repeat([10.0, 0.1], [40, 360])

    def mean(rows, weight):
        return np.average(values[rows], weights=weight)

    as_many = weight.sum() ** 2 / (weight**2).sum()  # Kish's effective sample size
    assert standard_error(mean, 400, weight) == pytest.approx(1 / np.sqrt(as_many), rel=0.3)
    assert standard_error(mean, 400) == pytest.approx(1 / 20, rel=0.3)
