"""Values given for each feature are matched to columns by name, or refused."""

import inspect
import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpydoc.docscrape import FunctionDoc, NumpyDocString
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import budgetlearn
from budgetlearn import (
    BudgetPreprocessor,
    BudgetRFClassifier,
    FeatureCosts,
    ModelScheduleSearch,
    RandomForestClassifier,
)
from budgetlearn.budgetrf import Growth
from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.forests.base import directions_of
from budgetlearn.msb.search import SequenceProblem
from budgetlearn.msb.sequences import SEQUENCES
from budgetlearn.protocol.checked_data import checked_examples
from tests.looping import check_each

N = 4
NAMES = {
    "text": ("age", "sex", "dose", "site"),
    "numbers": (10, 20, 30, 40),
    "shuffled count": (2, 0, 3, 1),
    "count": (0, 1, 2, 3),
    "array": None,
}
SHUFFLE = [2, 0, 3, 1]

# Forms in which values are given, with different labels.
FORMS = {
    "array": lambda values, names: np.array(values),
    "list": lambda values, names: list(values),
    "dict": lambda values, names: dict(zip(names, values, strict=True)),
    "shuffled dict": lambda values, names: {names[k]: values[k] for k in SHUFFLE},
    "series": lambda values, names: pd.Series(values, index=names),
    "shuffled series": lambda values, names: pd.Series(values, index=names).iloc[SHUFFLE],
    "counted series": lambda values, names: pd.Series(values),
    "shuffled count": lambda values, names: pd.Series(values).iloc[SHUFFLE],
    "dict of counts": lambda values, names: dict(enumerate(values)),
}
CHANGES = {
    "same": lambda frame: frame,
    "reorder": lambda frame: frame.iloc[:, [3, 1, 0, 2]],
    "drop": lambda frame: frame.iloc[:, [0, 2, 3]],
    "add": lambda frame: (
        pd.concat([frame.iloc[:, :2], 7 + 0 * frame.iloc[:, [0]], frame], axis=1)
        .iloc[:, [0, 1, 2, 5, 6]]
        .set_axis([*frame.columns[:2], -5, *frame.columns[2:]], axis=1)
    ),
    "add text": lambda frame: frame.assign(new=1.0),
    "replace": lambda frame: frame.iloc[:, :3].assign(new=1.0),
    "rename": lambda frame: frame.rename(columns={frame.columns[1]: "other"}),
    "swap names": lambda frame: frame.set_axis(frame.columns[[1, 0, 2, 3]], axis=1),
    "concat rows": lambda frame: pd.concat([frame.iloc[:, SHUFFLE], frame]),
    "twice": lambda frame: pd.concat([frame, frame.iloc[:, :1]], axis=1),
}


def labels_of(values):
    """Return the labels of values, None if values are given in order."""
    if isinstance(values, dict):
        return list(values)
    return list(values.index) if isinstance(values, pd.Series) else None


def expected_values(given, columns):
    """Return the value of each column by the documented rule, None if values are to be refused."""
    labels, columns = labels_of(given), list(columns)
    if labels is None:
        return list(given) if len(given) == len(columns) else None
    by_label = dict(given)
    fits = set(labels) == set(columns) and len(set(columns)) == len(columns)
    return [by_label[name] for name in columns] if fits else None


def attempt(call):
    """Return the result of a call and None, or None and the message if it refuses."""
    try:
        return call(), None
    except (BudgetlearnError, ValueError, TypeError) as error:
        return None, str(error)


def right_or_refused(call, given, columns, must_fit=True):
    """Check that a call assigned the right values to the columns, or refused them."""
    expected = expected_values(given, columns)
    found, refusal = attempt(call)
    if refusal is None:
        assert expected is not None, "taken, although it names other features"
        np.testing.assert_array_equal(found, expected)
    else:
        assert len(refusal) > 30
        assert expected is None or not must_fit, refusal


def frame_of(kind, n_rows=40):
    rng = np.random.default_rng(0)
    names = NAMES[kind] or range(N)
    return pd.DataFrame(rng.normal(size=(n_rows, N)), columns=list(names))


def columns_of(table):
    return list(table.columns) if isinstance(table, pd.DataFrame) else list(range(table.shape[1]))


TABLES = list(itertools.product(NAMES, CHANGES))
ESTIMATORS = [
    name
    for name in budgetlearn.__all__
    if hasattr(getattr(budgetlearn, name), "fit")
    and "feature_costs" in inspect.signature(getattr(budgetlearn, name)).parameters
]


@cache
def table_of(kind, change):
    table = CHANGES[change](frame_of(kind))
    return table.to_numpy() if kind == "array" else table


def unfitted(name, **parameters):
    """Return an estimator with its required parameters."""
    cls = getattr(budgetlearn, name)
    if "estimator" in inspect.signature(cls).parameters:
        parameter = inspect.signature(cls).parameters["estimator"]
        if parameter.default is inspect.Parameter.empty:
            parameters["estimator"] = DecisionTreeClassifier()
    return cls(**parameters)


def check_prices(name, pairs):
    values = (1.0, 2.0, 4.0, 8.0)
    for (kind, change), form in pairs:
        table, own = table_of(kind, change), NAMES[kind] or range(N)
        prices = FORMS[form](values, own)
        estimator = unfitted(name, feature_costs=prices)
        y = np.arange(len(table)) % 2

        def found(estimator=estimator, table=table, y=y):
            checked_examples(estimator, table, y, None, None, None)
            return estimator.feature_costs_.costs

        mixed = len({isinstance(label, str) for label in columns_of(table)}) == 2
        repeated = len(set(columns_of(table))) < table.shape[1]
        right_or_refused(found, prices, columns_of(table), must_fit=not (mixed or repeated))


@pytest.mark.filterwarnings("ignore:.*feature names.*:UserWarning")
def test_prices_of_every_estimator():
    pairs = list(itertools.product(TABLES, FORMS))
    # All of them read prices the same way. Each pair is tried on several, each form on all.
    parts = [(name, pairs[place % 7 :: 7]) for place, name in enumerate(ESTIMATORS)]
    assert len(ESTIMATORS) > 3 * 7
    check_each(parts, check_prices)


def check_groups(kind, form, prices):
    names, groups, charges = NAMES[kind], (0, 1, -1, 0), (5.0, 7.0)
    own = names or range(N)
    given_prices, given_groups = FORMS[prices]((1, 2, 4, 8), own), FORMS[form](groups, own)
    of_prices = labels_of(given_prices)

    def found():
        costs = FeatureCosts(given_prices, given_groups, list(charges))
        return FeatureCosts.of(costs, N, names).groups

    if labels_of(given_groups) is None and of_prices is not None:
        # Groups are in the order of the prices and go to the same columns.
        place = {label: k for k, label in enumerate(of_prices)}
        by_label = {label: groups[place[label]] for label in of_prices}
        right_or_refused(found, by_label, own)
    elif of_prices is None:
        right_or_refused(found, given_groups, range(N), must_fit=True)
    else:
        fits = set(of_prices) == set(labels_of(given_groups)) == set(own)
        right_or_refused(found, given_groups, own, must_fit=fits)


def test_groups_of_every_form():
    check_each(itertools.product(NAMES, FORMS, FORMS), check_groups)


def test_charges_are_given_by_the_number_of_their_group():
    shuffled = FeatureCosts([1, 2], [0, 1], pd.Series({1: 7.0, 0: 5.0}))
    assert shuffled.group_costs.tolist() == [5.0, 7.0]
    for wrong in ({0: 5.0, 2: 7.0}, pd.Series([5.0, 7.0], index=["a", "b"])):
        with pytest.raises(BudgetlearnError, match=r"group_costs must name each group"):
            FeatureCosts([1, 2], [0, 1], wrong)


def check_importance(name, form, kind):
    X, y = frame_of(kind).to_numpy(), np.arange(40) % 2
    names, values = NAMES[kind], (0.4, 0.1, 0.3, 0.2)
    costs = FeatureCosts.of(None, N, names)
    problem = SequenceProblem(DecisionTreeClassifier(), (X, y), (X, y), costs, 1, seed=0)

    def order(importance):
        sequence = SEQUENCES[name](importance=importance)
        if hasattr(sequence, "n_candidates"):
            sequence.n_candidates = 1
        return list(sequence.subsets(problem))

    importance = FORMS[form](values, names or range(N))
    expected = expected_values(importance, names or range(N))
    if expected is None:
        with pytest.raises(BudgetlearnError, match="importance"):
            order(importance)
    else:
        assert order(importance) == order(np.array(expected))


def test_importance_of_every_sequence():
    given = [
        name for name, cls in SEQUENCES.items() if "importance" in inspect.signature(cls).parameters
    ]
    check_each(itertools.product(given, FORMS, NAMES), check_importance)


def check_directions(form, kind):
    frame, values = frame_of(kind), (1, -1, 0, 1)
    own = NAMES[kind] or range(N)
    given = FORMS[form](values, own)
    table = frame.to_numpy() if kind == "array" else frame
    forest = RandomForestClassifier(n_estimators=1, monotonic_cst=given)

    def found():
        return directions_of(given, forest.fit(table, np.arange(40) % 2))

    right_or_refused(found, given, own)


@pytest.mark.filterwarnings("ignore:.*feature names.*:UserWarning")
def test_directions_of_every_form():
    check_each(itertools.product(FORMS, NAMES), check_directions)


@given(st.permutations(range(N)), st.data())
def test_acquired_marks_are_those_of_their_columns(order, data):
    names = NAMES["text"]
    costs = FeatureCosts(dict(zip(names, [1, 2, 4, 8], strict=True)), [0, 0, -1, -1], [16])
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=N, max_size=N)))
    series = pd.Series(marks, index=names).iloc[list(order)]
    assert costs.total(series.to_frame().T).tolist() == costs.total(marks[None]).tolist()
    assert costs.subset(series) == costs.subset(marks)
    for method in (costs.marginal, costs.shares):
        np.testing.assert_array_equal(method(series), method(marks))
        with pytest.raises(BudgetlearnError, match="acquired"):
            method(pd.Series(marks))
        with pytest.raises(BudgetlearnError, match=r"\(4,\)"):
            method(marks[:3])


# Prediction: a model fitted on one table gets another.


def classes_of(frame):
    return (frame.iloc[:, 1] + 0.5 * frame.iloc[:, 3] > 0).astype(int).to_numpy()


MODELS = {
    "each example its own": BudgetRFClassifier(
        n_estimators=5, growth=Growth(max_depth=3), random_state=0
    ),
    "all alike": ModelScheduleSearch(
        DecisionTreeClassifier(max_depth=3), sequences=("cost",), random_state=0
    ),
}


@pytest.fixture(scope="module")
def fitted():
    made = {}
    for (key, model), kind in itertools.product(MODELS.items(), NAMES):
        frame = frame_of(kind, 200)
        prices = FORMS["shuffled dict"]((1, 2, 4, 8), NAMES[kind] or range(N))
        table = frame.to_numpy() if kind == "array" else frame
        copy = type(model)(**model.get_params(deep=False)).set_params(feature_costs=prices)
        made[key, kind] = copy.fit(table, classes_of(frame))
    return made


def check_changed_table(model, kind, change):
    frame = frame_of(kind)
    names = list(NAMES[kind] or range(N))
    table = CHANGES[change](frame)
    owned = model.acquired_features(frame.to_numpy() if kind in ("array", "count") else frame)
    found, refusal = attempt(lambda: (model.predict(table), model.acquisition_cost(table)))
    if refusal is not None:
        assert len(refusal) > 30
        assert change != "same"
        return
    by_name = table.loc[:, ~table.columns.duplicated()].reindex(columns=names).to_numpy()
    if kind == "array" and change in (
        "rename",
        "replace",
    ):  # no names were learned, so positions count
        by_name = table.to_numpy()
    elif np.isnan(by_name).any():  # allowed only if no prediction reads these cells
        by_name = np.where(np.isnan(by_name), 9e9, by_name)
    np.testing.assert_array_equal(found[0], model.predict(by_name))
    np.testing.assert_array_equal(found[1], model.acquisition_cost(by_name))
    assert owned.any()


@pytest.mark.filterwarnings("ignore:.*feature names.*:UserWarning")
@pytest.mark.parametrize("key", MODELS)
def test_predictions_on_changed_tables(fitted, key):
    check_each(
        itertools.product(NAMES, CHANGES),
        lambda kind, change: check_changed_table(fitted[key, kind], kind, change),
    )


@pytest.mark.filterwarnings("ignore:.*feature names.*:UserWarning")
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("key", MODELS)
def test_sources_sessions_and_explanations_call_features_alike(fitted, key, kind):
    model, frame = fitted[key, kind], frame_of(kind)
    names = list(NAMES[kind] or range(N))
    source = frame.set_axis(names, axis=1).iloc[:, SHUFFLE]
    expected = model.predict(frame.to_numpy())
    acquired = model.predict_acquiring(
        lambda rows, feature: source[feature].to_numpy()[rows], len(frame)
    )
    np.testing.assert_array_equal(acquired.prediction, expected)
    np.testing.assert_allclose(acquired.cost, model.acquisition_cost(frame.to_numpy()))
    for row in range(10):
        session = model.session()
        while not session.done:
            feature, price, _ = session.wanted[0]
            assert price == (1, 2, 4, 8)[names.index(feature)]
            session.give({feature: source[feature].iloc[row]})
        assert session.prediction == expected[row]
        for example in (source.iloc[row], source.iloc[row].to_dict()):
            told = model.explain(example)
            values = [source[name].iloc[row] for name in told["feature"]]
            assert told["measured"].tolist() == values
            assert told["prediction"].iloc[-1] == expected[row]
            assert ("probability" in told) == is_classifier(model)
    with pytest.raises(BudgetlearnError, match="values of the example"):
        model.explain(source.iloc[0].rename({names[0]: "strange"}))


# Encoded tables: prices are matched by name.


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "cheap": rng.normal(size=150),
            "word": rng.choice(list("abc"), 150),
            "expensive": rng.normal(size=150),
        }
    )
    return table, ((table["expensive"] > 0) | (table["word"] == "a")).astype(int).to_numpy()


def test_pipelines_charge_the_columns_in_any_order(shop):
    table, y = shop
    prices = pd.Series({"expensive": 1000.0, "word": 10.0, "cheap": 1.0})
    backwards = FunctionTransformer(lambda frame: frame.iloc[:, ::-1])
    model = BudgetRFClassifier(n_estimators=5, random_state=0, feature_costs=prices)
    pipe = make_pipeline(BudgetPreprocessor(), backwards, model).fit(table, y)
    encoded = backwards.transform(pipe[0].transform(table[["expensive", "cheap", "word"]]))
    acquired = model.acquired_features(encoded)
    bill = acquired @ prices[encoded.columns].to_numpy()
    np.testing.assert_allclose(model.acquisition_cost(encoded), bill)
    assert model.feature_costs_.full == 1011
    with pytest.raises(BudgetlearnError, match="without names"):
        pipe.predict(table.to_numpy())


# All parameters with values for each feature are tested here.

PER_FEATURE = ("n_features,)", "n_groups,)", "dict, Series", "nested sets")
HERE = {"feature_costs", "costs", "groups", "group_costs", "importance", "acquired", "x"}
HERE |= {"monotonic_cst"}
# Nested sets are tested with the cascade.
ELSEWHERE = {"orders"}


def documented_parameters():
    """Yield (where, parameter) for parameters of public classes that take values per feature."""
    classes = [getattr(budgetlearn, name) for name in budgetlearn.__all__]
    for cls in [*filter(inspect.isclass, classes), *SEQUENCES.values()]:
        documents = [(cls.__name__, NumpyDocString(inspect.getdoc(cls)))]
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_") and method.__module__.startswith("budgetlearn"):
                documents.append((f"{cls.__name__}.{name}", FunctionDoc(method)))
        for where, document in documents:
            for parameter in document["Parameters"]:
                if any(mark in parameter.type for mark in PER_FEATURE):
                    yield where, parameter.name


def test_no_per_feature_parameter_is_left_out():
    found = {name for _, names in documented_parameters() for name in names.split(", ")}
    assert found == HERE | ELSEWHERE
