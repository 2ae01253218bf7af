"""Extreme tables in the library: strange names, one column, one row, one class."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import budgetlearn
from budgetlearn import BudgetPreprocessor, FeatureCosts, ModelScheduleSearch
from budgetlearn.exceptions import DatasetError
from budgetlearn.validation import ParameterError
from tests.looping import for_each

NAMES = ["<script>alert(1)</script>", "a,b", 'q"uo"te', "two\nlines"]
CLASSIFIERS = (
    *("BudgetRFClassifier", "CostSensitiveRFClassifier", "CostWeightedRFClassifier"),
    *("FilterForestClassifier", "FMCCClassifier", "GreedyMiserClassifier", "LogitPathClassifier"),
    *("LightGBMCostClassifier", "ModelScheduleSearch", "ScheduleCascadeClassifier"),
)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(120, 4)), columns=NAMES)
    return X, np.where(X[NAMES[0]] + X[NAMES[3]] > 0, "p", "q")


def test_strange_names_are_kept_from_the_price_list_to_the_schedule(table, tmp_path):
    X, y = table
    prices = pd.DataFrame({"feature": NAMES, "cost": [1, 2, 3, 4]})
    prices.to_csv(tmp_path / "prices.csv", index=False)
    costs = FeatureCosts.read(tmp_path / "prices.csv")
    assert costs.names == tuple(NAMES)
    assert costs == FeatureCosts.read(prices)
    search = ModelScheduleSearch(sequences=("cost",), feature_costs=costs, random_state=0)
    preprocessor, search = make_pipeline(BudgetPreprocessor(), search).fit(X, y)
    assert preprocessor.get_feature_names_out().tolist() == NAMES
    schedule = search.operating_points_
    acquired = set().union(*schedule["variables"])
    assert {NAMES[0], NAMES[3]} <= acquired <= set(NAMES)
    last = schedule.iloc[-1]
    assert last["cost"] == sum(NAMES.index(name) + 1 for name in last["variables"])
    assert set(search.explain(X[:1])["feature"]) == set(last["variables"])
    assert search.session().wanted[0][0] in NAMES


@for_each("name", CLASSIFIERS)
def test_a_table_of_one_column_has_one_thing_to_acquire(table, name):
    X, y = table
    model = getattr(budgetlearn, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.set_params(feature_costs=[7]).fit(X[NAMES[:1]], y)
    assert set(model.acquisition_cost(X[NAMES[:1]])) <= {0, 7}
    assert model.score(X[NAMES[:1]], y) > 0.6


@for_each("name, n_rows", product(CLASSIFIERS, [1, 120]))
def test_one_class_is_refused_whether_in_one_row_or_in_many(table, name, n_rows):
    X, y = table
    model = getattr(budgetlearn, name)()
    with pytest.raises(ParameterError, match="at least two classes, got one class only: 'p'"):
        model.fit(X[:n_rows], np.full_like(y[:n_rows], "p"))


def test_one_row_is_encoded_and_no_row_is_refused(table):
    X, _ = table
    row = X[:1].assign(word="red")
    made = BudgetPreprocessor().fit_transform(row)
    assert made.iloc[0].tolist() == [*X.iloc[0], 0.0]
    with pytest.raises(DatasetError, match="has no rows"):
        BudgetPreprocessor().fit(row[:0])
    with pytest.raises(DatasetError, match="different names, but it has none"):
        BudgetPreprocessor().fit(row[[]])
