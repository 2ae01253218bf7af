"""`BudgetPreprocessor`: words and gaps to numbers; one original column stays one acquisition."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from budgetlearn import BudgetPreprocessor, BudgetRFClassifier, FeatureCosts, ModelScheduleSearch
from budgetlearn.exceptions import BudgetlearnWarning, DatasetError, MissingValueError
from budgetlearn.validation import ParameterError

TABLE = pd.DataFrame(
    {
        "age": [31, None, 55, 40],
        "colour": ["red", "blue", None, "red"],
        "member": [True, False, True, True],
        "region": [10, 20, 10, 30],
        "blood": [1.5, 2.5, 3.5, 4.5],
    }
)


def test_numbers_words_truth_values_and_gaps():
    made = BudgetPreprocessor(categorical=["region"]).fit(TABLE)
    found = made.transform(TABLE)
    assert found.columns.tolist() == TABLE.columns.tolist()
    assert found["age"].tolist() == [31, 6, 55, 40]  # 31 - (55 - 31) - 1
    assert found["colour"].tolist() == [1, 0, -1, 1]
    assert found["member"].tolist() == [1, 0, 1, 1]
    assert found["region"].tolist() == [0, 1, 0, 2]
    assert made.categories_ == {
        "colour": ("blue", "red"),
        "member": ("False", "True"),
        "region": ("10", "20", "30"),
    }


def test_median_and_the_usual_word_are_those_of_training():
    made = BudgetPreprocessor(missing="median").fit(TABLE)
    gaps = pd.DataFrame({"age": [None], "colour": [None]}).reindex(columns=TABLE.columns)
    found = made.transform(gaps)
    assert found["age"].tolist() == [40]
    assert found["colour"].tolist() == [1]
    assert found["blood"].tolist() == [3.0]


def test_gaps_are_refused_by_row_and_column():
    with pytest.raises(DatasetError, match=r"'age' is empty in row 2 .* 2 such cells"):
        BudgetPreprocessor(missing="refuse").fit(TABLE)


def test_a_gap_where_training_had_none_stays_one():
    made = BudgetPreprocessor().fit(TABLE)
    found = made.transform(TABLE.assign(blood=np.nan, member=None))
    assert found["blood"].isna().all()
    assert found["member"].isna().all()


def test_an_unknown_word_is_a_gap_and_can_be_told():
    made = BudgetPreprocessor().fit(TABLE)
    new = TABLE.assign(colour="green")
    said = "Column 'colour' has categories unknown in training, taken as missing: 'green'"
    with pytest.warns(BudgetlearnWarning, match=said):
        assert made.transform(new)["colour"].tolist() == [-1] * 4
    assert made.unknown_words(new) == {"colour": ["green"]}
    assert made.unknown_words(TABLE) == {}


def test_columns_that_are_not_there_are_not_there_afterwards():
    made = BudgetPreprocessor().fit(TABLE)
    found = made.transform(TABLE[["colour", "age"]].assign(more=1))
    assert found.columns.tolist() == ["age", "colour"]


def test_a_number_read_as_float_beside_gaps_is_the_same_category():
    made = BudgetPreprocessor(categorical=["region"]).fit(TABLE)
    new = TABLE.assign(region=[20.0, None, 30.0, 10.0])
    assert made.transform(new)["region"].fillna(-9).tolist() == [1, -9, 2, 0]


# By hand: colour costs 5, age 2; blood 1 and region 3 share a charge of 10; member 4.
COSTS = FeatureCosts(
    {"age": 2, "colour": 5, "member": 4, "region": 3, "blood": 1}, [-1, -1, -1, 0, 0], [10]
)


def test_encoded_columns_cost_what_they_cost_before():
    made = BudgetPreprocessor().fit(TABLE)
    names = made.get_feature_names_out().tolist()
    assert names == TABLE.columns.tolist() == made.transform(TABLE).columns.tolist()
    costs = FeatureCosts.of(COSTS, len(names), names)
    bills = {
        ("age",): 2,
        ("colour", "age"): 7,
        ("blood",): 11,
        ("blood", "region"): 14,
        ("blood", "region", "colour", "member"): 23,
        tuple(names): 25,
    }
    for owned, bill in bills.items():
        assert costs.subset([names.index(name) for name in owned]) == bill


@pytest.fixture(scope="module")
def shop():
    """A table in which colour and age tell the class, with gaps."""
    random = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "age": random.integers(20, 60, n).astype(float),
            "colour": random.choice(["red", "blue", "green"], n),
            "noise": random.normal(size=n),
        }
    )
    y = np.where((table["colour"] == "red") | (table["age"] > 50), "yes", "no")
    table.loc[::17, "age"] = np.nan
    table.loc[::23, "colour"] = None
    return table, y


PRICES = {"age": 2, "colour": 5, "noise": 1}


@pytest.mark.parametrize(
    "estimator",
    [
        ModelScheduleSearch(sequences=("importance", "cost"), min_variables=1, random_state=0),
        BudgetRFClassifier(n_estimators=10, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_pipeline_takes_prices_of_the_columns(shop, estimator):
    table, y = shop
    model = clone(estimator).set_params(feature_costs=PRICES)
    pipe = make_pipeline(BudgetPreprocessor(), model).fit(table, y)
    assert pipe.score(table, y) > 0.9
    preprocessor, model = pipe
    assert model.feature_costs_.full == 8
    acquired = model.acquired_features(preprocessor.transform(table))
    np.testing.assert_allclose(
        model.acquisition_cost(preprocessor.transform(table)), acquired @ [2.0, 5.0, 1.0]
    )


def test_the_columns_that_are_not_acquired_may_be_absent(shop):
    table, y = shop
    model = ModelScheduleSearch(sequences=("cost",), feature_costs=PRICES, random_state=0)
    pipe = make_pipeline(BudgetPreprocessor(), model).fit(table, y)
    names = model.operating_points_["variables"].iloc[0]
    budget = model.operating_points_["cost"].iloc[0]
    assert pipe.predict(table[list(names)], budget=budget).shape == (300,)
    with pytest.raises(MissingValueError, match=re.escape(names[0])):
        pipe.predict(table.drop(columns=names[0]), budget=budget)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["2024-03-01", "2024-04-01", "2024-05-01"], "'c' holds dates or times"),
        (["1.3.2024", "2.3.2024", None], "the first is '1.3.2024'"),
        (pd.to_datetime(["2024-03-01", "2024-04-01", None]), "holds dates"),
        (
            ["80", "75", "?"],
            "1 of its 3 cells are not plain numbers: '\\?' in row 3",
        ),
        (["1,5", "2,5", "3,5"], "'1,5' in row 1"),
        ([None, None, None], "without a single value"),
        ([1.0, np.inf, 2.0], "infinity in row 2"),
        (["a b", "a  b", "c"], "differ only in blanks"),
        (["caf\xe9", "cafe\u0301", "c"], r"'caf\\xe9' and 'cafe\\u0301' look the same: Unicode"),
    ],
)
def test_what_would_give_wrong_numbers_is_refused_by_name(column, said):
    with pytest.raises(DatasetError, match=said):
        BudgetPreprocessor().fit(pd.DataFrame({"ok": [1, 2, 3], "c": column}))


def test_rows_are_counted_from_the_top_whatever_the_index_is():
    table = pd.DataFrame({"c": ["80", "75", "?", "90"]}, index=list("wxyz"))
    with pytest.raises(DatasetError, match=r"'\?' in row 3 \(rows counted from 1"):
        BudgetPreprocessor().fit(table)
    table = pd.DataFrame({"c": [1.0, 2.0, np.inf]}, index=[10, 20, 30])
    with pytest.raises(DatasetError, match="infinity in row 3 "):
        BudgetPreprocessor().fit(table)


def test_names_and_free_text_are_refused():
    table = pd.DataFrame({"who": [f"person {k}" for k in range(100)]})
    with pytest.raises(DatasetError, match="'who' holds 100 different words in 100 rows"):
        BudgetPreprocessor().fit(table)
    assert BudgetPreprocessor(categorical=["who"]).fit(table).categories_["who"][0] == "person 0"


def test_numbers_with_two_units_are_no_categories():
    cells = [f"{k} {'kg' if k % 3 else 'lb'}" for k in range(60)] * 4
    with pytest.raises(DatasetError, match="holds numbers, but 240 of its 240 cells are not plain"):
        BudgetPreprocessor().fit(pd.DataFrame({"weight": cells}))
    seats = [f"{k}{letter}" for k in range(20) for letter in "ABCD"] * 3
    assert len(BudgetPreprocessor().fit(pd.DataFrame({"s": seats})).categories_["s"]) == 80


def test_complex_numbers_do_not_lose_their_imaginary_parts():
    with pytest.raises(DatasetError, match=r"different words in 12 rows \('1j', '\(1\+1j\)'"):
        BudgetPreprocessor().fit(pd.DataFrame({"a": np.arange(12) + 1j}))


def test_numbers_name_categories_where_a_list_or_their_type_says_so():
    table = pd.DataFrame({2024: [1, 2, 1], "g": [1.5, 2, 3], "r": 4, "gr": 5})
    assert BudgetPreprocessor(categorical=[2024]).fit(table).categories_ == {"2024": ("1", "2")}
    table["g"] = ["1:10", "1:20", "1:10"]  # titers, which look like times
    assert BudgetPreprocessor(categorical=["g"]).fit(table).categories_ == {"g": ("1:10", "1:20")}
    table["g"] = pd.Categorical([10, 2, 10])
    assert BudgetPreprocessor().fit(table).categories_ == {"g": ("10", "2")}
    with pytest.raises(ParameterError, match="categorical must be a list of names, got 'gr'"):
        BudgetPreprocessor(categorical="gr").fit(table)


def test_text_where_training_had_numbers_is_named():
    made = BudgetPreprocessor().fit(TABLE)
    with pytest.raises(DatasetError, match=r"'age' held numbers .* now 'old' in row 2"):
        made.transform(TABLE.assign(age=[1, "old", 2, 3]))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"categorical": ["hue"]}, "categorical names columns that the table lacks: 'hue'"),
        ({"missing": "drop"}, "missing must be one of 'indicator', 'median', 'refuse'"),
    ],
)
def test_wrong_parameters_are_named(how, said):
    with pytest.raises(Exception, match=said):
        BudgetPreprocessor(**how).fit(TABLE)


def test_strange_names_and_a_name_twice():
    table = pd.DataFrame([[1, "a"], [2, "b"]], columns=["<script>", 'a,"b"\nc'])
    assert BudgetPreprocessor().fit_transform(table).columns.tolist() == table.columns.tolist()
    twice = pd.DataFrame([[1, 2]], columns=["c", "c"])
    for asked in (BudgetPreprocessor().fit, BudgetPreprocessor().fit(twice.iloc[:, :1]).transform):
        with pytest.raises(DatasetError, match="'c' appear twice"):
            asked(twice)


def test_a_sparse_matrix_is_a_table():
    table = np.array([[0.0, 2.0], [3.0, 0.0]])
    made = BudgetPreprocessor().fit_transform(csr_matrix(table))
    assert made.columns.tolist() == ["x0", "x1"]
    np.testing.assert_array_equal(made, table)


@pytest.mark.parametrize("large", [1e17, -1e17, 1e300, -1.7e308, 123456789012.0, 0.0])
def test_a_gap_is_apart_from_one_large_value(large):
    table = pd.DataFrame({"a": [large, None, large], "b": [1.0, 2.0, 3.0]})
    made = BudgetPreprocessor().fit_transform(table)["a"]
    assert np.isfinite(made).all()
    assert made[1] < made[0] == made[2] == large
    with np.errstate(over="ignore"):
        assert np.float32(made[1]) < np.float32(large) or abs(large) > 1e38


def test_a_gap_is_finite_beside_numbers_far_apart():
    table = pd.DataFrame({"a": [-1e308, None, 1e308]})
    assert np.isfinite(BudgetPreprocessor().fit_transform(table)["a"]).all()
    with pytest.raises(DatasetError, match="there is no smaller number"):
        BudgetPreprocessor().fit(pd.DataFrame({"a": [-1.7976931348623157e308, None]}))


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64", "object", "str"])
def test_large_whole_numbers_are_different_categories(kind):
    numbers = pd.Series([2**53, 2**53 + 1, 2**53 + 2, 5]).astype(kind)
    encoder = BudgetPreprocessor(categorical=["id"]).fit(pd.DataFrame({"id": numbers}))
    assert len(encoder.categories_["id"]) == 4
    assert sorted(encoder.transform(pd.DataFrame({"id": numbers}))["id"]) == [0, 1, 2, 3]


def test_large_categories_that_lost_digits_are_refused():
    table = pd.DataFrame({"id": [2**53, 2**53 + 1, None, 5]})
    with pytest.raises(DatasetError, match=r"'id' holds 9007199254740992 in row 1 .*as text"):
        BudgetPreprocessor(categorical=["id"]).fit(table)


@pytest.mark.parametrize("kind", ["int64", "Int64", "float64"])
def test_categories_are_the_same_whatever_type_they_are_read_as(kind):
    encoder = BudgetPreprocessor(categorical=["region"]).fit(TABLE)
    again = TABLE.assign(region=TABLE["region"].astype(kind))
    assert encoder.transform(again)["region"].tolist() == [0, 1, 0, 2]


def test_numbers_among_objects_are_numbers():
    table = np.array([[1.5, "red", 10.0], [2, "blue", 20.0], [None, "red", 10]], dtype=object)
    assert BudgetPreprocessor().fit_transform(table)["x0"].tolist() == [1.5, 2, 0]
    encoder = BudgetPreprocessor(categorical=["x2"]).fit(table)
    assert encoder.categories_["x2"] == ("10", "20")
    new = pd.DataFrame({"x0": [1], "x1": ["red"], "x2": [20]})
    assert encoder.transform(new).to_numpy().tolist() == [[1, 1, 1]]


def test_only_a_column_with_gaps_needs_a_number_below():
    lowest = -np.finfo(float).max
    table = pd.DataFrame({"full": [lowest, 1.0, 2.0], "gap": [1.0, None, 3.0]})
    assert BudgetPreprocessor().fit_transform(table)["gap"].tolist() == [1, -2, 3]
    table = pd.DataFrame({"small": [None, 1.0, 2.0], "gap": [lowest, None, 3.0]})
    with pytest.raises(DatasetError, match=r"'gap' holds -1\.79769e\+308"):
        BudgetPreprocessor().fit(table)
