"""The protocol on small estimators: budgets, names, missing cells, sessions and validation data."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.cascade import ScheduleCascadeRegressor
from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import BudgetError, CostError, MissingValueError
from budgetlearn.msb import ModelScheduleSearch
from budgetlearn.protocol.checked_data import Examples
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.protocol.estimators import CHEATS, NeverFree, OneByOne, SignOfFirst

NAMES = ["age", "mcv", "gammagt", "drinks"]


def test_a_session_below_the_cheapest_stage_is_refused_or_acquires_nothing(table):
    X, y = table
    expensive, free = (kind([5, 1, 1, 1]).fit(X, y) for kind in (NeverFree, SignOfFirst))
    for limit in ({"budget": 4}, {"max_cost": 4}):
        with pytest.raises(BudgetError, match="the cheapest one costs 5"):
            expensive.session(**limit)
        session = free.session(**limit)
        assert (session.done, session.cost) == (True, 0)
    told = expensive.explain(X[:1], budget=4, fallback=True)
    assert told.empty


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 4)), columns=NAMES)
    y = np.where(X["age"] + 0.9 * X["mcv"] > 0, "well", "ill")
    return X, y


def fitted(table, **parameters):
    X, y = table
    model = SignOfFirst(**parameters)
    return model.fit(X[:50], y[:50], X[50:], y[50:])


def test_the_public_checks_pass_and_notice_a_method_that_looks_without_paying():
    check_budgeted_estimator(SignOfFirst())
    check_budgeted_estimator(OneByOne())

    for wrong, message in CHEATS.items():
        with pytest.raises(AssertionError, match=message):
            check_budgeted_estimator(wrong())


def test_the_method_of_the_page_on_own_methods_passes_the_public_checks():
    page = (Path(__file__).parents[2] / "docs" / "own-method.md").read_text(encoding="utf-8")
    found = {}
    exec(re.search(r"^```python\n(.*?)^```", page, re.M | re.S)[1], found)
    check_budgeted_estimator(found["CheapestK"]())


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_prices_given_by_name_are_aligned(table, kind):
    prices = {"drinks": 1, "gammagt": 8, "mcv": 4, "age": 2}
    model = fitted(table, feature_costs=kind(prices))
    assert model.feature_costs_.costs.tolist() == [2, 4, 8, 1]
    assert model.acquisition_cost(table[0][:3]).tolist() == [6, 6, 6]


def test_prices_by_number_go_by_the_numbers_that_a_table_calls_its_columns(table):
    """scikit-learn forgets names that are no text; columns 2, 0, 3, 1 are not 0, 1, 2, 3."""
    X, y = table
    X = X.set_axis([2, 0, 3, 1], axis=1)
    model = fitted((X, y), feature_costs={0: 1, 1: 2, 2: 4, 3: 8})
    assert model.feature_costs_.costs.tolist() == [4, 1, 8, 2]
    with pytest.raises(CostError, match="unknown features: 3; no price for features: 9"):
        fitted((X.rename(columns={3: 9}), y), feature_costs={0: 1, 1: 2, 2: 4, 3: 8})


def test_groups_follow_prices_given_by_name(table):
    prices = pd.Series([1.0, 8, 4, 2], index=["drinks", "gammagt", "mcv", "age"])
    costs = FeatureCosts(prices, groups=[-1, 0, 0, -1], group_costs=[100])
    model = fitted(table, feature_costs=costs)
    assert model.feature_costs_.subset([1, 2]) == 112


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({"age": 1, "mcv": 1, "gammagt": 1}, "no price for features: drinks"),
        (dict.fromkeys([*NAMES, "weight"], 1), "unknown features: weight"),
    ],
)
def test_prices_for_other_features_are_refused(table, prices, message):
    with pytest.raises(CostError, match=message):
        fitted(table, feature_costs=prices)


def test_prices_by_name_need_a_table_with_names(table):
    X, y = table
    with pytest.raises(CostError, match="no feature names"):
        SignOfFirst(dict.fromkeys(NAMES, 1)).fit(X.to_numpy(), y)
    pipeline = make_pipeline(StandardScaler(), SignOfFirst(dict.fromkeys(NAMES, 1)))
    with pytest.raises(CostError, match="no feature names"):
        pipeline.fit(X, y)
    pipeline.set_output(transform="pandas").fit(X[NAMES[::-1]], y)
    assert pipeline[-1].feature_costs_.names == tuple(NAMES[::-1])


def test_validation_data_in_another_column_order_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="same order"):
        SignOfFirst().fit(X[:50], y[:50], X.loc[50:, NAMES[::-1]], y[50:])


def test_validation_labels_of_another_kind_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match=r"y_val has labels as .0., but training .'ill'."):
        SignOfFirst().fit(X[:50], y[:50], X[50:], np.arange(40) % 2)
    model = SignOfFirst().fit(X[:50], y[:50] == "ill", X[50:], y[50:] == "ill")
    for judge in (model.measure, model.score, partial(model.certify, error=0.9)):
        with pytest.raises(
            ValueError, match=r"has labels as .'(ill|well)'., but training .False.:"
        ):
            judge(X[50:], y[50:])


def test_a_validation_class_that_training_lacks_counts_as_error(table):
    X, y = table
    y_val = y[50:].astype(object)
    known = fitted(table).operating_points_["score"]
    y_val[:10] = "other"
    strange = SignOfFirst().fit(X[:50], y[:50], X[50:], y_val).operating_points_["score"]
    assert (strange < known).all()


def test_a_budget_takes_the_best_affordable_operating_point(table):
    model = fitted(table, feature_costs=[1, 2, 3, 4])
    X = table[0]
    assert model.acquisition_cost(X, budget=2.9).max() == 1
    assert model.acquisition_cost(X, budget=3).max() == 3
    assert model.acquisition_cost(X, max_cost=1.5).max() == 1
    assert model.operating_points_["variables"].tolist() == [(), ("age",), ("age", "mcv")]
    np.testing.assert_array_equal(model.predict(X, budget=1), list(model.stages(X))[1].output)


def test_without_validation_data_fixed_costs_still_keep_a_budget(table):
    X, y = table
    model = SignOfFirst(feature_costs=[1, 2, 3, 4]).fit(X, y)
    assert model.acquisition_cost(X, budget=2).max() == 1


def test_columns_that_nothing_looks_at_may_be_absent(table):
    X, model = table[0], fitted(table)
    np.testing.assert_array_equal(model.predict(X[["mcv", "age"]]), model.predict(X))
    with pytest.raises(MissingValueError, match="'mcv'"):
        model.predict(X[["age"]])
    assert model.acquired_features(X[["age"]], fallback=True).sum() == len(X)


@pytest.mark.parametrize("cell", ["f", pytest.param(10**400, id="large"), -np.inf, "1.5 mg"])
def test_a_cell_that_is_no_number_is_named(table, cell):
    X, y, model = table[0].astype(object), table[1], fitted(table)
    X.loc[7, "mcv"] = cell
    said = f"'mcv' is {str(cell)[:30]!r:.30}.* in row 8 .* not a finite number.*BudgetPreprocessor"
    for ask in (model.predict, lambda X: SignOfFirst().fit(X, y)):
        with pytest.raises(ParameterError, match=said):
            ask(X)
    with pytest.raises(ParameterError, match=said.replace("'mcv'", "1")):
        SignOfFirst().fit(X.to_numpy(), y)
    # Gaps of pandas' own types, in this column or in one before it.
    X.insert(0, "smokes", pd.array([None, *[True] * (len(X) - 1)], "boolean"))
    for words in (X, X.assign(mcv=[pd.NA, *X["mcv"][1:]])):
        with pytest.raises(ParameterError, match=said):
            SignOfFirst().fit(words, y)


def test_numbers_are_not_looked_at_one_by_one_for_an_error(table, monkeypatch):
    X, y, *_ = table
    monkeypatch.delattr("budgetlearn.protocol.checked_data.as_number")
    with pytest.raises(ValueError, match="expecting"):
        SignOfFirst().fit(X.to_numpy(), y).predict(X.to_numpy()[:, 1:])
    with pytest.raises(ParameterError, match="is 'inf' in row 1 "):
        SignOfFirst().fit(np.where(np.arange(len(X))[:, None] == 0, np.inf, X), y)


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_a_row_without_a_label_is_named(table, gap):
    X, y, *_ = table
    labels = np.array(y, dtype=object)
    labels[[4, 9]] = gap
    with pytest.raises(ParameterError, match=r"y contains NaN or None in row 5 .*2 such rows"):
        SignOfFirst().fit(X, labels)


def test_text_and_numbers_are_no_labels_of_one_target(table):
    X, y, *_ = table
    labels = np.array(y, dtype=object)
    labels[4] = 1
    with pytest.raises(ParameterError, match="y mixes text and numbers"):
        SignOfFirst().fit(X, labels)
    with pytest.raises(ParameterError, match="or is bytes: write all as text"):
        SignOfFirst().fit(X, np.array(y, dtype=bytes))


def test_a_missing_cell_is_named_or_done_without(table):
    X, model = table[0].copy(), fitted(table)
    X.loc[7, "mcv"] = np.nan
    with pytest.raises(MissingValueError, match=r"'mcv'.* in row 8 \("):
        model.predict(X)
    made = model.decisions(X, fallback=True)
    whole = model.decisions(table[0])
    assert made.acquired[7].tolist() == [True, False, False, False]
    assert made.prediction[7] == list(model.stages(table[0]))[1].output[7]
    others = np.arange(len(X)) != 7
    np.testing.assert_array_equal(made.prediction[others], whole.prediction[others])


def test_a_session_asks_for_names_and_predicts_at_any_moment(table):
    X, model = table[0], fitted(table, feature_costs=[5, 2, 3, 4])
    session = model.session()
    assert session.prediction in ("ill", "well")
    assert [name for name, *_ in session.wanted] == ["mcv"]
    session.give(mcv=X.loc[0, "mcv"])
    assert (session.cost, session.done) == (2, False)
    with pytest.raises(ValueError, match="unknown features: weight"):
        session.give(weight=1)
    for wrong in ("high", [1.0], np.inf):
        with pytest.raises(ValueError, match="'age' must be a finite number"):
            session.give(age=wrong)
    session.give(age=X.loc[0, "age"])
    assert session.done
    assert session.prediction == model.predict(X[:1])[0]


def test_a_session_goes_on_without_what_cannot_be_had(table):
    X, model = table[0], fitted(table, feature_costs=[5, 2, 3, 4])
    session = model.session()
    session.give(mcv=np.nan).give(age=X.loc[3, "age"])
    assert session.done
    assert session.cost == 5
    assert session.prediction == list(model.stages(X))[1].output[3]


def test_members_of_a_acquired_group_that_cost_nothing_are_offered_together(table):
    costs = FeatureCosts([0, 0, 0, 1], groups=[0, 0, 0, -1], group_costs=[10])
    session = fitted(table, feature_costs=costs).session()
    assert session.wanted[0][:2] == ("age", 10)
    assert [name for name, *_ in session.wanted[1:]] == ["mcv", "gammagt"]
    session.give(age=1.0, mcv=1.0)
    assert session.done
    assert session.cost == 10


def test_a_source_that_returns_too_little_is_refused(table):
    with pytest.raises(ValueError, match="one finite number"):
        fitted(table).predict_acquiring(lambda rows, feature: [0.0], 5)


def test_explanations_name_features_and_prices(table):
    X, model = table[0], fitted(table, feature_costs=[5, 2, 3, 4])
    told = model.explain(X.iloc[[4]])
    assert told["feature"].tolist() == ["mcv", "age"]
    assert told["spent"].tolist() == [2, 7]
    assert told["prediction"].iloc[-1] == model.predict(X.iloc[[4]])[0]


def test_the_constant_is_the_most_frequent_class(table):
    X, y = table
    model = ModelScheduleSearch(
        DecisionTreeClassifier(), feature_costs=[9, 9, 9, 9], random_state=0
    ).fit(X, y)
    labels, counts = np.unique(y, return_counts=True)
    with pytest.raises(BudgetError, match="cheapest one costs 18"):
        model.predict(X, budget=1)
    assert set(model.predict(X, budget=1, fallback=True)) == {labels[counts.argmax()]}


@pytest.mark.parametrize(("nullable", "plain"), [("Int64", np.int64), ("boolean", np.bool_)])
def test_nullable_labels_of_pandas_stay_what_they_are(table, nullable, plain):
    X, y, *_ = table
    labels = (np.asarray(y) == np.asarray(y)[0]).astype(np.int64)
    for given in (pd.Series(labels), pd.DataFrame({"class": labels})):
        search = ModelScheduleSearch(random_state=0).fit(X, given.astype(nullable))
        assert search.classes_.dtype == search.predict(X).dtype == plain
    gaps = pd.Series(labels).astype(nullable)
    gaps[0] = pd.NA
    with pytest.raises(ValueError, match="NaN"):
        ModelScheduleSearch(random_state=0).fit(X, gaps)


def test_pyarrow_gives_names_lists_are_read_and_sparse_tables_refused():
    pyarrow = pytest.importorskip("pyarrow")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["age", "dose"])
    y, given = np.asarray(X["age"] > 0), pyarrow.Table.from_pandas(X)
    model = SignOfFirst({"dose": 2, "age": 1}).fit(given, y, given, y)
    assert model.feature_costs_.names == ("age", "dose")
    np.testing.assert_array_equal(model.predict(given), model.predict(X))
    pd.testing.assert_frame_equal(model.measure(given, y), model.measure(X, y))
    words = pyarrow.Table.from_pandas(X.assign(dose="much"))
    with pytest.raises(ParameterError, match="feature 'dose' is 'much' in row 1"):
        SignOfFirst().fit(words, y)
    plain = SignOfFirst().fit(X.to_numpy(), y)
    assert plain.predict(X.to_numpy().tolist()).tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="Expected 2D array"):
        plain.predict(X.to_numpy()[0])
    with pytest.raises(TypeError, match="parse data was passed"):
        SignOfFirst().fit(csr_matrix(X), y)


@pytest.mark.parametrize("kind", ["int8", "bool", "float16"])
def test_numbers_of_few_bytes_are_learned_from_as_floats(kind):
    X = np.random.default_rng(0).normal(size=(60, 3))
    # Their span does not fit into a byte.
    y = np.clip(100 * X[:, 0], -120, 120).astype(kind)
    model = ScheduleCascadeRegressor(estimators=("linear",), random_state=0, cv=3)
    points = [model.fit(X, each).operating_points_ for each in (y, y.astype(float))]
    assert_frame_equal(*points)


def test_numbers_of_minus_one_are_learned_from_like_others():
    # Among classes -1 stands for one that training does not know.
    X, numbers = np.zeros((3, 1)), np.array([-1.0, 2.0, 5.0])
    train, valid = Examples(X, numbers, numbers), Examples(X, numbers, numbers)
    assert train.joined(valid).y.tolist() == [-1, 2, 5, -1, 2, 5]
    codes = np.array([-1, 0, 1])
    assert train.joined(Examples(X, codes, codes)).y.tolist() == [-1, 2, 5, 0, 1]
