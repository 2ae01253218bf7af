"""msB's search: schedules, charges, independence of order and process, and bad input."""

import pickle
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.costs import FeatureCosts, random_costs
from budgetlearn.exceptions import BudgetError, CostError
from budgetlearn.forests import CostSensitiveRFClassifier
from budgetlearn.forests import RandomForestClassifier as OurForest
from budgetlearn.msb import (
    CostSequence,
    ImportanceSequence,
    LogitPathClassifier,
    ModelScheduleSearch,
)
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions

NAMES = ("importance", "cost", "sampling", "l1")


@pytest.mark.parametrize(
    "estimator",
    [ModelScheduleSearch(DecisionTreeClassifier(max_depth=4)), LogitPathClassifier(n_lambda=20)],
    ids=type,
)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    return X[order[:400], :12], y[order[:400]], X[order[400:], :12], y[order[400:]]


def forest_search(**changes):
    parameters = {
        "estimator": RandomForestClassifier(8),
        "random_state": 1,
        **changes,
    }
    return ModelScheduleSearch(**{"feature_costs": random_costs(12, 3)} | parameters)


@pytest.fixture(scope="module")
def fitted(cancer):
    return forest_search().fit(*cancer)


def test_schedule_costs_are_those_of_its_variables(fitted):
    costs = [fitted.feature_costs_.subset(v) for v in fitted.schedule_.variables]
    assert costs == fitted.schedule_.costs.tolist()
    assert set(fitted.sequences_) == set(NAMES)


def test_schedule_scores_are_validation_accuracies(fitted, cancer):
    _, _, X_val, y_val = cancer
    scores = [np.mean(predicted == y_val) for predicted in fitted.staged_predict(X_val)]
    assert scores == fitted.schedule_.scores.tolist()


def test_no_visited_model_beats_the_schedule(fitted):
    for models in fitted.sequences_.values():
        for model in models:
            entry = fitted.schedule_.index(model.cost)
            assert fitted.schedule_.scores[entry] >= model.score


def test_charges_follow_the_budget(fitted, cancer):
    X = cancer[2]
    for entry, cost in enumerate(fitted.schedule_.costs):
        acquired = fitted.acquired_features(X, budget=cost)
        assert fitted.feature_costs_.total(acquired) == pytest.approx(cost)
        wanted = np.zeros(12, dtype=bool)
        wanted[list(fitted.schedule_.variables[entry])] = True
        assert (acquired == wanted).all()
    assert fitted.acquisition_cost(X) == pytest.approx(fitted.schedule_.costs[-1])


def test_prediction_looks_only_at_what_is_paid_for(fitted, cancer):
    X = cancer[2]
    budget = fitted.schedule_.costs[0]
    hidden = np.where(fitted.acquired_features(X, budget), X, 1e6)
    assert np.array_equal(fitted.predict(hidden, budget), fitted.predict(X, budget))


def test_constructor_budget_is_the_default(fitted, cancer):
    budget = float(fitted.schedule_.costs[0])
    limited = clone(fitted).set_params(budget=budget).fit(*cancer)
    assert limited.acquisition_cost(cancer[2]) == pytest.approx(budget)


def test_unaffordable_budget_names_the_cheapest(fitted, cancer):
    with pytest.raises(BudgetError, match=f"costs {fitted.schedule_.costs[0]:g}"):
        fitted.predict(cancer[2], budget=fitted.schedule_.costs[0] - 1)
    for ask in (fitted.predict, fitted.acquired_features):
        with pytest.raises(ParameterError, match="budget must be a number >= 0, got '12'"):
            ask(cancer[2], "12")


@pytest.mark.parametrize("changes", [{"n_jobs": 2}, {"sequences": NAMES[::-1]}])
def test_result_does_not_depend_on_jobs_or_order(fitted, cancer, changes):
    other = forest_search(**changes).fit(*cancer)
    assert other.schedule_.variables == fitted.schedule_.variables
    assert np.array_equal(other.schedule_.scores, fitted.schedule_.scores)
    assert np.array_equal(other.predict(cancer[2]), fitted.predict(cancer[2]))


def test_stagewise_sequences_do_not_depend_on_jobs(cancer):
    sequences = ("cost", "forward", "importance_per_cost")
    forest = RandomForestClassifier(3)
    one, two = (
        forest_search(estimator=forest, sequences=sequences, n_jobs=n).fit(*cancer) for n in (1, 2)
    )
    assert one.schedule_.variables == two.schedule_.variables
    assert [m.variables for m in one.sequences_["forward"]] == [
        m.variables for m in two.sequences_["forward"]
    ]


def test_a_model_that_only_a_smaller_one_beats_is_still_there():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([y, X[:, :3]])  # one variable tells all: no larger model is better
    search = ModelScheduleSearch(
        DecisionTreeClassifier(), sequences=["forward"], random_state=0
    ).fit(X, y)
    assert min(map(len, search.schedule_.variables)) == 2
    assert np.mean(search.predict(X) == y) == 1


def test_the_last_member_of_a_group_frees_its_charge(cancer):
    costs = FeatureCosts(np.ones(12), groups=[0] * 6 + [-1] * 6, group_costs=[100])
    fitted = forest_search(feature_costs=costs, sequences=["cost"]).fit(*cancer)
    bills = [model.cost for model in fitted.sequences_["cost"]]
    # The members go first, one unit each; the last of the six takes the charge along.
    assert bills == [112, 111, 110, 109, 108, 107, 6, 5, 4, 3, 2]


def test_sequences_fitted_apart_are_the_same_models(fitted, cancer):
    importance = forest_search().variable_importance(*cancer)
    alone = forest_search(sequences=[ImportanceSequence(importance)]).fit(*cancer)
    assert [(m.variables, m.score) for m in alone.sequences_["importance"]] == [
        (m.variables, m.score) for m in fitted.sequences_["importance"]
    ]


def test_equal_subsets_are_fitted_once(cancer):
    class CountingTree(DecisionTreeClassifier):
        fits = 0

        def fit(self, X, y):
            CountingTree.fits += 1
            return super().fit(X, y)

    search = ModelScheduleSearch(CountingTree(), sequences=("cost", "importance", "l1")).fit(
        *cancer
    )
    distinct = {m.variables for models in search.sequences_.values() for m in models}
    assert CountingTree.fits == len(distinct)


@pytest.mark.parametrize(
    "engine",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        DecisionTreeClassifier(),
        GradientBoostingClassifier(n_estimators=10),
        RandomForestClassifier(10),
        OurForest(n_estimators=10),
    ],
)
def test_any_classifier_is_an_engine(engine):
    X, y = load_wine(return_X_y=True)
    search = ModelScheduleSearch(engine, sequences=["cost", "importance"], random_state=0)
    assert np.mean(search.fit(X, y).predict(X) == y) > 0.85


def test_our_forest_is_the_default_engine(cancer):
    search = ModelScheduleSearch(sequences=["cost"], min_variables=11, random_state=0).fit(*cancer)
    assert all(isinstance(model, OurForest) for model in search.models_)
    assert {model.max_bins for model in search.models_} == {255}


def test_models_on_shared_codes_are_the_models_on_their_columns(cancer):
    X, y, X_val, _ = cancer
    search = ModelScheduleSearch(OurForest(n_estimators=5, max_bins=16), random_state=0)
    search.fit(*cancer)
    for variables, model in zip(search.schedule_.variables, search.models_, strict=True):
        columns = list(variables)
        alone = clone(model).fit(X[:, columns], y)
        np.testing.assert_array_equal(
            alone.predict_proba(X_val[:, columns]), model.predict_proba(X_val[:, columns])
        )


def test_an_engine_of_ours_may_take_missing_values():
    X, y = load_wine(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    engine = CostSensitiveRFClassifier(n_estimators=5)
    search = ModelScheduleSearch(engine, sequences=["importance"], random_state=0)
    search.fit(X[::2], y[::2], X[1::2], y[1::2])
    for variables, model in zip(search.schedule_.variables, search.models_, strict=True):
        columns = list(variables)
        alone = clone(model).fit(X[::2][:, columns], y[::2])
        np.testing.assert_array_equal(
            alone.predict_proba(X[:, columns]), model.predict_proba(X[:, columns])
        )


def test_our_engine_in_two_threads_finds_the_same_schedule(cancer):
    one, two = (
        ModelScheduleSearch(OurForest(n_estimators=8), random_state=0, n_jobs=n).fit(*cancer)
        for n in (1, 2)
    )
    assert one.schedule_.variables == two.schedule_.variables
    np.testing.assert_array_equal(one.schedule_.scores, two.schedule_.scores)
    np.testing.assert_array_equal(one.predict(cancer[2]), two.predict(cancer[2]))


def test_a_sequence_of_ones_own():
    class Odd:
        name = "odd"

        def subsets(self, problem):
            yield tuple(range(1, problem.costs.n_features, 2))

    X, y = load_wine(return_X_y=True)
    search = ModelScheduleSearch(DecisionTreeClassifier(), sequences=[Odd()]).fit(X, y)
    assert search.schedule_.variables == ((1, 3, 5, 7, 9, 11),)


@pytest.mark.parametrize("wrong", [(-1, 0), (0, 0, 1), (13,), ()])
def test_a_wrong_sequence_of_ones_own_is_refused(wrong):
    class Wrong:
        name = "wrong"

        def subsets(self, problem):
            yield from [(0, 1), wrong]

    X, y = load_wine(return_X_y=True)
    with pytest.raises(ParameterError, match=r"from 0 to 12; got "):
        ModelScheduleSearch(DecisionTreeClassifier(), sequences=[Wrong()]).fit(X, y)


def test_sequences_that_visit_nothing_are_refused():
    X, y = load_wine(return_X_y=True)
    X[:, 1:] = 1.0  # constant columns are never on the L1 path
    search = ModelScheduleSearch(DecisionTreeClassifier(), sequences=["l1"])
    with pytest.raises(ParameterError, match="sequences l1 visit no model of 2 or more variables"):
        search.fit(X, y)


def test_seconds_of_fits_are_told(cancer):
    start = time.perf_counter()
    search = forest_search(sequences=["cost"]).fit(*cancer)
    elapsed = time.perf_counter() - start
    seconds = [model.fit_seconds for model in search.sequences_["cost"]]
    assert min(seconds) > 0
    assert sum(seconds) < elapsed


class Remembering(DecisionTreeClassifier):
    """A tree that remembers which rows it was trained and asked on: each cell holds its row."""

    trained, asked = [], []

    def fit(self, X, y):
        Remembering.trained.append(set(np.floor(X).ravel()))
        return super().fit(X, y)

    def predict(self, X):
        Remembering.asked.append(set(np.floor(X).ravel()))
        return super().predict(X)


@pytest.mark.parametrize("own", [True, False])
def test_validation_rows_are_never_trained_on(own):
    X = np.arange(120)[:, None] + np.array([0, 0.1, 0.2, 0.3])
    y = np.arange(120) // 7 % 2
    Remembering.trained, Remembering.asked = [], []
    search = ModelScheduleSearch(Remembering(), ("cost", "importance"), random_state=0)
    if own:
        search.fit(X[:80], y[:80], X[80:], y[80:])
        train = set(range(80))
    else:
        search.set_params(validation_fraction=1 / 3).fit(X, y)
        train = Remembering.trained[0]
        assert 78 <= len(train) <= 82
    assert all(rows == train for rows in Remembering.trained)
    assert all(rows == set(range(120)) - train for rows in Remembering.asked)


def test_string_labels_and_pickle():
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    search = ModelScheduleSearch(DecisionTreeClassifier(), random_state=0).fit(X, names)
    again = pickle.loads(pickle.dumps(search))
    assert set(again.predict(X)) <= set(names)
    assert np.array_equal(again.predict(X), search.predict(X))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"feature_costs": np.ones(5)}, CostError, "each of the 12 features"),
        ({"feature_costs": -np.ones(12)}, CostError, "finite and >= 0"),
        ({"feature_costs": np.full(12, np.nan)}, CostError, "finite and >= 0"),
        ({"sequences": ["expensive"]}, ValueError, "a sequence must be one of"),
        ({"sequences": 5}, ValueError, "sequences must be a list of at least one, got 5"),
        ({"sequences": [CostSequence(), "cost"]}, ValueError, "must differ"),
        ({"min_variables": 0}, ValueError, "min_variables must be an integer >= 1"),
        ({"budget": "12"}, ValueError, "budget must be a number >= 0, got '12'"),
    ],
)
def test_bad_parameters_are_refused(cancer, changes, error, message):
    with pytest.raises(error, match=message):
        forest_search(**changes).fit(*cancer)


def test_bad_data_are_refused(cancer):
    X, y, X_val, y_val = cancer
    with pytest.raises(ValueError, match="at least two classes"):
        forest_search().fit(X, np.zeros_like(y))
    with pytest.raises(ValueError, match="NaN"):
        forest_search(estimator=OurForest(n_estimators=2)).fit(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="is not a finite number"):
        forest_search().fit(np.full_like(X, np.inf), y)
    with pytest.raises(ValueError, match="y_val has no class of y"):
        forest_search().fit(X, y, X_val, y_val + 2)
    with pytest.raises(ValueError, match="both or none"):
        forest_search().fit(X, y, X_val)
    with pytest.raises(ValueError, match="12 features"):
        forest_search().fit(X, y, X_val[:, :3], y_val)
    for fraction in (0, 1):
        with pytest.raises(ValueError, match="validation_fraction must be a number > 0 and < 1"):
            forest_search(validation_fraction=fraction).fit(X, y)
