"""`BudgetPipeline`: what an estimator offers, in terms of the columns before they were encoded."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from budgetlearn import (
    BudgetPipeline,
    BudgetPreprocessor,
    BudgetRFClassifier,
    FMCCClassifier,
    GIFRegressor,
    LogitPathClassifier,
    make_budget_scorer,
)
from budgetlearn.exceptions import ConfigError, MissingValueError

PRICES = {"pressure": 2.0, "age": 1.0, "colour": 5.0}
FOREST = BudgetRFClassifier(feature_costs=PRICES, n_estimators=5, random_state=0)
LOGIT = LogitPathClassifier(feature_costs=PRICES, random_state=0)
KINDS = {
    "codes": [("encode", BudgetPreprocessor()), ("model", FOREST)],
    "scaled": [
        ("encode", BudgetPreprocessor()),
        ("scale", StandardScaler()),
        ("model", LOGIT),
    ],
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "pressure": rng.normal(size=150),
            "age": rng.normal(size=150),
            "colour": rng.choice(["red", "blue", "green"], 150),
        }
    )
    return X, np.where(X["age"] + 2 * (X["colour"] == "red") > 0.5, "ill", "well")


@pytest.fixture(scope="module", params=KINDS)
def pipeline(request, table):
    return clone(BudgetPipeline(KINDS[request.param])).fit(*table)


def test_costs_are_those_of_original_columns(pipeline, table):
    X, _ = table
    for budget in (None, 3, 6):
        acquired = pipeline.acquired_features(X, budget, fallback=True)
        expected = acquired @ np.array(list(PRICES.values()))
        np.testing.assert_allclose(pipeline.acquisition_cost(X, budget, fallback=True), expected)
    assert pipeline.acquisition_cost(X, 3, fallback=True).mean() <= 3


def test_prediction_and_score_keep_the_budget(pipeline, table):
    X, y = table
    budget = float(pipeline.operating_points_["cost"].iloc[-1])
    with config_context(enable_metadata_routing=True):  # budgets need no request
        made = pipeline.predict(X, budget)
        shares = pipeline.predict_proba(X, budget)
    assert pipeline.score(X, y, budget=budget) == np.mean(made == y)
    np.testing.assert_array_equal(pipeline.classes_[shares.argmax(axis=1)], made)
    assert not hasattr(BudgetPipeline([("model", GIFRegressor())]), "predict_proba")


def test_a_session_asks_for_original_columns_each_once(pipeline, table):
    X, _ = table
    for row in range(8):
        session, asked = pipeline.session(), []
        while not session.done:
            (name, price, _), *others = session.wanted
            assert name in PRICES
            assert price == PRICES[name]
            assert not others
            asked.append(name)
            session.give({name: X[name].iloc[row]})
        assert len(set(asked)) == len(asked)
        example = X.iloc[[row]]
        assert session.prediction == pipeline.predict(example)[0]
        assert session.cost == pipeline.acquisition_cost(example)[0]
        assert session.probability == pytest.approx(pipeline.predict_proba(example).max())


def test_decisions_and_sources_speak_of_original_columns(table):
    X, y = table
    forest = clone(FOREST).set_params(feature_costs={"age": 1.0, "colour": 5.0})
    # The first column is noise, and left out: places among features are not those of columns.
    steps = [("encode", BudgetPreprocessor()), ("select", SelectKBest(k=2)), ("model", forest)]
    pipeline = BudgetPipeline(steps).fit(X, y)
    fresh, calls = X.head(12).reset_index(drop=True), []

    def source(rows, column):
        calls.append((len(rows), column))
        return fresh.loc[rows, column]

    made, expected = pipeline.predict_acquiring(source, 12, max_cost=7), pipeline.decisions(fresh)
    assert dict(map(reversed, calls)).keys() <= PRICES.keys()
    for each in (made, expected):
        np.testing.assert_array_equal(each.prediction, pipeline.predict(fresh))
        np.testing.assert_array_equal(each.acquired, pipeline.acquired_features(fresh))
        ordered = [sorted(row[row >= 0]) for row in each.order]
        assert ordered == [np.flatnonzero(row).tolist() for row in each.acquired]
    asked = sum(n * PRICES[column] for n, column in calls)
    assert asked == pytest.approx(made.cost.sum()) == pytest.approx(expected.cost.sum())
    with pytest.raises(MissingValueError, match="age"):
        pipeline.predict_acquiring(lambda rows, _: [None] * len(rows), 1)


def test_a_session_does_without_what_cannot_be_had(pipeline):
    session = pipeline.session()
    while not session.done:
        session.give({session.wanted[0][0]: None})
    assert session.cost == 0
    with pytest.raises(ValueError, match="unknown features: weight"):
        pipeline.session().give(weight=3)


def test_a_session_does_without_what_predict_takes_for_a_gap_of_training(table):
    X, y = table
    gaps = X.assign(age=X["age"].mask(X["pressure"] > 1))
    session = clone(BudgetPipeline(KINDS["codes"])).fit(gaps, y).session()
    while not session.done:
        session.give({session.wanted[0][0]: None})
    assert session.cost == 0


def test_a_session_refuses_words_that_training_did_not_have(pipeline):
    session = pipeline.session()
    wanted = session.wanted
    with pytest.raises(ValueError, match=r"'colour' must be one of blue, green, red .* got 'rde'"):
        session.give(age=0.5, colour="rde")
    assert session.wanted == wanted
    assert session.give(age=0.5, colour="red ").cost > 0


def test_an_explanation_speaks_of_original_columns(pipeline, table):
    X, _ = table
    for row in range(8):
        steps = pipeline.explain(X.iloc[[row]])
        pd.testing.assert_frame_equal(steps, pipeline.explain(X.iloc[row].to_dict()))
        assert steps["feature"].is_unique
        assert steps["price"].tolist() == [PRICES[name] for name in steps["feature"]]
        assert steps["spent"].iloc[-1] == pipeline.acquisition_cost(X.iloc[[row]])[0]
        assert steps["measured"].tolist() == [X[name].iloc[row] for name in steps["feature"]]
        assert steps["prediction"].iloc[-1] == pipeline.predict(X.iloc[[row]])[0]


def test_an_explanation_says_what_a_session_says_after_each_column(table):
    X, y = table
    model = FMCCClassifier(feature_costs=PRICES, random_state=0)
    pipeline = BudgetPipeline([("encode", BudgetPreprocessor()), ("model", model)]).fit(X, y)
    for row in range(20):
        session = pipeline.session()
        for step in pipeline.explain(X.iloc[[row]]).itertuples():
            assert session.wanted[0][:2] == (step.feature, step.price)
            session.give({step.feature: step.measured})
            assert (session.prediction, session.probability) == (step.prediction, step.probability)


def test_a_certificate_holds_through_the_steps(pipeline, table):
    X, y = table
    certificate = pipeline.certify(X, y, cost=8)
    assert pipeline.acquisition_cost(X, budget=certificate.budget).mean() <= 8


def test_it_is_cross_validated_at_a_budget(pipeline, table):
    scorer = make_budget_scorer("accuracy", budget=6)
    assert (cross_validate(pipeline, *table, scoring=scorer, cv=3)["test_score"] > 0.6).all()


def test_whole_numbers_beside_words_are_the_same_words_everywhere():
    table = pd.DataFrame({"grade": ["K", 1.0, 2.0, "K", 1.0] * 20, "noise": range(100)})
    forest = BudgetRFClassifier(feature_costs=[1, 50], n_estimators=5, random_state=0)
    pipeline = BudgetPipeline(
        [("encode", BudgetPreprocessor(categorical=["grade"])), ("f", forest)]
    )
    pipeline.fit(table, table["grade"] == "K")
    assert pipeline[0].categories_["grade"] == ("1", "2", "K")
    assert not pipeline.session(budget=5).give(grade=1.0).prediction
    numbers = pd.DataFrame({"grade": [1.0, 2.0]})
    assert not pipeline.predict(numbers, budget=5).any()


def test_steps_that_mix_columns_are_refused(table):
    X, y = table
    mixed = OneHotEncoder(sparse_output=False)
    model = BudgetRFClassifier(n_estimators=2)
    with pytest.raises(ConfigError, match="columns that the table does not have"):
        BudgetPipeline([("encode", mixed), ("model", model)]).fit(X[["colour"]], y)


def test_an_array_and_no_preprocessor_will_do():
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = BudgetRFClassifier(feature_costs=[1, 2, 4], n_estimators=3, random_state=0)
    pipeline = BudgetPipeline([("model", model)]).fit(X, X[:, 0] > 0)
    assert pipeline.acquired_features(X).shape == X.shape
    assert pipeline.explain(X[0])["feature"].isin([0, 1, 2]).all()
    with pytest.raises(ValueError, match="explain takes one example, got 2 rows"):
        pipeline.explain(X[:2])
    scaled = BudgetPipeline([("scale", StandardScaler()), ("model", model)]).fit(X, X[:, 0] > 0)
    assert set(scaled.explain(X[0])["feature"]) <= {"x0", "x1", "x2"}


def test_explanations_know_columns_whose_names_are_numbers(table):
    X, y = table
    numbered = X.set_axis([3, 4, 5], axis=1)
    prices = dict(zip("345", PRICES.values(), strict=True))
    steps = [("encode", BudgetPreprocessor()), ("model", clone(FOREST))]
    pipeline = BudgetPipeline(steps).set_params(model__feature_costs=prices).fit(numbered, y)
    steps = pipeline.explain(numbered.iloc[[0]])
    assert steps["measured"].tolist() == [numbered[int(name)].iloc[0] for name in steps["feature"]]


@pytest.mark.parametrize("nothing", ["passthrough", None])
def test_steps_that_do_nothing_are_passed_over(nothing, table):
    X, y = table
    steps = [("first", nothing), *KINDS["codes"]]
    pipeline = clone(BudgetPipeline(steps)).fit(X, y)
    explained = pipeline.explain(X.iloc[[0]])
    assert explained["prediction"].iloc[-1] == pipeline.predict(X.iloc[[0]])[0]
    session = pipeline.session().give(X.iloc[0].to_dict())
    assert session.prediction == explained["prediction"].iloc[-1]


def test_a_table_of_pyarrow_keeps_its_names(table):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = table
    model, given = clone(BudgetPipeline(KINDS["codes"])), pyarrow.Table.from_pandas(X)
    expected = clone(model).fit(X, y)
    model.fit(given, y)
    some = given.select(["colour", "age"])  # in another order, without a column
    for new, same in ((given, X), (some, X[["age", "colour"]])):
        said = expected.predict_proba(same, fallback=True)
        np.testing.assert_array_equal(model.predict_proba(new, fallback=True), said)


def test_a_last_step_without_budgets_is_refused(table):
    with pytest.raises(ConfigError, match="last step must predict under a budget, but BudgetPre"):
        BudgetPipeline([("encode", BudgetPreprocessor())]).fit(*table)
