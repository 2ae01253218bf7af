"""Scores, weights, missing values and refitting in msB, exhaustive search and logitB."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.exceptions import MissingValueError
from budgetlearn.msb import ExhaustiveSearch, LogitPathClassifier, ModelScheduleSearch
from budgetlearn.testing import check_budgeted_estimator, expected_failed_checks
from budgetlearn.validation import ParameterError

pytestmark = pytest.mark.usefixtures("quick_scores")
PRICES = [3, 1, 4, 1, 5]


@pytest.fixture(scope="module")
def rare():
    """Two named classes, one of them rare; training and validation data."""
    X, codes = make_classification(
        400, 5, n_informative=3, n_redundant=0, weights=[0.85], flip_y=0.15, random_state=3
    )
    y = np.array(["well", "ill"])[codes]
    return X[:250], y[:250], X[250:], y[250:]


def searches(**changes):
    shared = {"feature_costs": PRICES, "random_state": 0} | changes
    return [
        ModelScheduleSearch(GaussianNB(), **shared),
        ExhaustiveSearch(GaussianNB(), **shared),
        LogitPathClassifier(n_lambda=30, **shared),
    ]


@pytest.mark.parametrize("place", range(3))
def test_the_schedule_maximises_what_scoring_names(rare, place):
    X_val, y_val = rare[2:]
    search = searches(scoring="balanced_accuracy")[place].fit(*rare)
    scores = [balanced_accuracy_score(y_val, found) for found in search.staged_predict(X_val)]
    np.testing.assert_allclose(search.schedule_.scores, scores)
    np.testing.assert_allclose(search.operating_points_["score"], scores)
    plain = searches()[place].fit(*rare)
    assert scores[-1] >= balanced_accuracy_score(y_val, plain.predict(X_val))
    assert plain.score(X_val, y_val) >= np.mean(search.predict(X_val) == y_val)


def test_scorers_see_labels_and_may_want_probabilities(rare):
    X_val, y_val = rare[2:]
    ill = make_scorer(f1_score, pos_label="ill")
    search = ModelScheduleSearch(GaussianNB(), scoring=ill, random_state=0).fit(*rare)
    assert search.schedule_.scores[-1] == f1_score(y_val, search.predict(X_val), pos_label="ill")
    search.set_params(scoring="neg_log_loss").fit(*rare)
    best = -log_loss(y_val, search.predict_proba(X_val))
    assert search.schedule_.scores[-1] == pytest.approx(best)
    assert search.score(X_val, y_val) == pytest.approx(best)


def test_importance_is_the_fall_of_the_score(rare):
    by_accuracy, by_loss = (
        ModelScheduleSearch(GaussianNB(), scoring=scoring, random_state=0)
        for scoring in (None, "neg_log_loss")
    )
    assert not np.allclose(
        by_accuracy.variable_importance(*rare), by_loss.variable_importance(*rare)
    )


@pytest.mark.parametrize("place", range(3))
def test_weights_are_repetitions(rare, place):
    X, y, X_val, y_val = rare
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighed = searches()[place].fit(X, y, X_val, y_val, sample_weight=times)
    repeated = searches()[place].fit(X.repeat(times, axis=0), y.repeat(times), X_val, y_val)
    assert weighed.schedule_.variables == repeated.schedule_.variables
    np.testing.assert_allclose(
        weighed.predict_proba(X_val), repeated.predict_proba(X_val), rtol=1e-4
    )


@pytest.mark.parametrize("place", range(3))
def test_class_weights_favour_a_rare_class(rare, place):
    shared = {"scoring": "balanced_accuracy"}
    plain = searches(**shared)[place].fit(*rare)
    balanced = searches(class_weight="balanced", **shared)[place].fit(*rare)
    shares = [np.mean(model.predict(rare[2]) == "ill") for model in (plain, balanced)]
    assert shares[1] > shares[0]


def test_weights_want_an_engine_that_takes_them(rare):
    search = ModelScheduleSearch(KNeighborsClassifier(), random_state=0)
    with pytest.raises(ParameterError, match="whose fit takes sample_weight, got KNeighbors"):
        search.fit(*rare, sample_weight=np.arange(1, 251))
    assert "check_class_weight_classifiers" in expected_failed_checks(search)
    assert search.fit(*rare).n_stages_ >= 1


@pytest.mark.parametrize("search", [ModelScheduleSearch, ExhaustiveSearch])
def test_refitting_uses_all_data_and_keeps_the_schedule(search):
    X, y = load_wine(return_X_y=True)
    X = X[:, :5]
    plain, refitted = (
        search(DecisionTreeClassifier(), refit=refit, random_state=0).fit(X, y)
        for refit in (False, True)
    )
    assert plain.schedule_.variables == refitted.schedule_.variables
    pd.testing.assert_frame_equal(plain.operating_points_, refitted.operating_points_)
    sizes = [model.models_[0].tree_.n_node_samples[0] for model in (plain, refitted)]
    assert sizes == [133, 178]
    again = plain.models_[0].__class__(random_state=plain.models_[0].random_state)
    again.fit(X[:, list(plain.schedule_.variables[0])], y)
    budget = plain.schedule_.costs[0]
    expected = again.predict(X[:, list(plain.schedule_.variables[0])])
    np.testing.assert_array_equal(refitted.predict(X, budget=budget), expected)


@pytest.mark.parametrize("place", range(3))
def test_schedules_name_the_variables(rare, place):
    X, y, X_val, y_val = rare
    X, X_val = (pd.DataFrame(part, columns=list("abcde")) for part in (X, X_val))
    search = searches(feature_costs=dict(zip("edcba", PRICES, strict=True)))[place]
    points = search.fit(X, y, X_val, y_val).operating_points_
    schedule = search.schedule_
    assert [schedule.select(cost)[2] for cost in schedule.costs] == points["variables"].tolist()
    assert points["variables"].iloc[-1][-1] in str(schedule)


@pytest.fixture(scope="module")
def holed(rare):
    X, y = rare[0].copy(), rare[1]
    X[::3, 0] = np.nan
    return pd.DataFrame(X, columns=list("abcde")), y


@pytest.fixture(scope="module")
def boosted(holed):
    engine = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5)
    sequences = ("importance", "l1")
    return ModelScheduleSearch(engine, sequences, min_variables=5, refit=True, random_state=0).fit(
        *holed
    )


def test_missing_values_of_features_that_had_some_in_training_are_values(boosted, holed):
    X = holed[0]
    predicted = boosted.predict(X)
    made = boosted.predict_acquiring(lambda rows, name: X[name].to_numpy()[rows], len(X))
    np.testing.assert_array_equal(made.prediction, predicted)
    assert made.acquired[0, 0], "a missing value that was looked for is paid for"
    session = boosted.session()
    while not session.done:
        name = session.wanted[0][0]
        session.give({name: X.loc[0, name]})
    assert session.prediction == predicted[0]


def test_missing_values_of_other_features_are_refused_by_name(boosted, holed):
    X = holed[0].copy()
    X.loc[7, "b"] = np.nan
    with pytest.raises(MissingValueError, match=r"'b'.* in row 8 \("):
        boosted.predict(X)
    assert len(boosted.predict(X, fallback=True)) == len(X)


@pytest.mark.parametrize(
    ("steps", "takes"),
    [
        ([SimpleImputer(), LogisticRegression()], True),
        ([StandardScaler(), DecisionTreeClassifier()], True),
        ([StandardScaler(), "passthrough", LogisticRegression()], False),
        ([PCA(), SimpleImputer(), LogisticRegression()], False),
        ([LogisticRegression()], False),
    ],
)
def test_a_pipeline_takes_missing_values_where_its_steps_do(holed, steps, takes):
    engine = steps[0] if len(steps) == 1 else make_pipeline(*steps)
    search = ModelScheduleSearch(engine, ("cost",), random_state=0)
    if takes:
        assert len(search.fit(*holed).predict(holed[0])) == len(holed[0])
    else:
        with pytest.raises(ValueError, match="NaN"):
            search.fit(*holed)


@pytest.mark.parametrize(
    "search",
    [
        ModelScheduleSearch(GaussianNB(), refit=True, class_weight="balanced", random_state=0),
        ModelScheduleSearch(GaussianNB(), scoring="neg_log_loss", random_state=0),
        ExhaustiveSearch(GaussianNB(), refit=True, scoring="roc_auc", random_state=0),
        LogitPathClassifier(n_lambda=20, scoring="f1", class_weight="balanced", random_state=0),
    ],
)
def test_the_protocol_holds(search):
    check_budgeted_estimator(search)


def test_a_look_at_the_importance_leaves_what_was_fitted(rare):
    X, y, X_val, _ = rare
    search = ModelScheduleSearch(GaussianNB(), random_state=0).fit(*rare)
    search.variable_importance(X[:, :3], y == "ill")
    assert set(search.predict(X_val)) <= {"well", "ill"}


def test_importance_is_that_of_validation_rows_as_training_had_them(rare):
    X, y, X_val, y_val = rare
    X_val = X_val.copy()
    X_val[4, 1] = np.nan
    with pytest.raises(MissingValueError, match=r"X_val has no value .NaN. of feature 1 in row 5 "):
        ModelScheduleSearch(DecisionTreeClassifier()).variable_importance(X, y, X_val, y_val)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "neg_brier_score"])
def test_a_score_of_probabilities_that_an_engine_lacks_is_refused_before_the_fit(scoring, rare):
    search = ModelScheduleSearch(LinearSVC(), scoring=scoring)
    with pytest.raises(ParameterError, match=f"'{scoring}' needs class probabilities, which this"):
        search.fit(*rare)
