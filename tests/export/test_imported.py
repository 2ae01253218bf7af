"""Forests of other libraries on the way to a device: as they are, and pruned to a budget."""

import re
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from budgetlearn.exceptions import BudgetError, BudgetlearnWarning
from budgetlearn.export import FORMATS, CompactForest, ImportedForest
from budgetlearn.export.c_code import LAYOUTS
from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.validation import ParameterError
from tests.export.test_c_code import (
    bits,
    compiled,
    formats_and_layouts,
    hostile,
    needs_cc,
    printed,
)

X, y = make_friedman1(600, noise=1.0, random_state=0)
NUMBERS = X, y
OUTPUTS = X, np.column_stack([y, X[:, 0] - 5])
X, y = load_breast_cancer(return_X_y=True)
TWO = X, np.array(["no", "yes"])[y]
TEN = tuple(part[:900] for part in load_digits(return_X_y=True))
LIGHT = {"n_estimators": 9, "num_leaves": 15, "verbose": -1, "n_jobs": 1}
BAGGED = LIGHT | {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
MODELS = {
    "tree": (DecisionTreeClassifier(max_depth=4), TWO),
    "tree of numbers": (DecisionTreeRegressor(max_depth=5), NUMBERS),
    "random forest": (RandomForestClassifier(7, max_leaf_nodes=60), TEN),
    "extra trees": (ExtraTreesClassifier(7, max_depth=5), TWO),
    "random forest of numbers": (RandomForestRegressor(7, max_depth=5), NUMBERS),
    "extra trees of two numbers": (ExtraTreesRegressor(7, max_depth=5), OUTPUTS),
    "bagging": (BaggingClassifier(n_estimators=5, max_features=0.5), TWO),
    "AdaBoost": (AdaBoostClassifier(n_estimators=8), TEN),
    "boosting": (GradientBoostingClassifier(n_estimators=9), TWO),
    "boosting of ten classes": (GradientBoostingClassifier(n_estimators=3, max_depth=2), TEN),
    "boosting of numbers": (GradientBoostingRegressor(n_estimators=20), NUMBERS),
    "LightGBM": (lightgbm.LGBMClassifier(**LIGHT), TWO),
    "LightGBM of ten classes": (lightgbm.LGBMClassifier(**LIGHT | {"n_estimators": 3}), TEN),
    "LightGBM of numbers": (lightgbm.LGBMRegressor(**LIGHT), NUMBERS),
    "LightGBM's random forest": (lightgbm.LGBMClassifier(**BAGGED), TWO),
    "LightGBM's random forest of numbers": (lightgbm.LGBMRegressor(**BAGGED), NUMBERS),
}


@pytest.fixture(scope="module")
def fitted():
    cache = {}

    def get(name):
        if name not in cache:
            model, (X, y) = MODELS[name]
            X = X.astype(np.float32)
            model = clone(model).set_params(random_state=0).fit(X[::2].astype(float), y[::2])
            cache[name] = ImportedForest(model), model, X[1::2], y[1::2]
        return cache[name]

    return get


@pytest.mark.parametrize("name", MODELS)
def test_bytes_predict_what_the_model_predicts(fitted, name):
    forest, model, X, _ = fitted(name)
    read = CompactForest.from_bytes(forest.compact().to_bytes(), forest.classes)
    if forest.classes is None:
        np.testing.assert_allclose(read.predict(X), model.predict(X), rtol=2e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(read.predict(X), model.predict(X))
    assert len(read.to_bytes()) == forest.nbytes()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("model", [DecisionTreeClassifier(), ExtraTreesClassifier(1)])
def test_classes_that_tie_in_a_lone_tree_tie_on_a_device(model, format):
    n_tied = 0
    for seed in range(50):
        random = np.random.default_rng(seed)
        X, y = random.integers(4, size=(60, 3)), random.integers(3, size=60)
        model = clone(model).set_params(max_depth=3, random_state=0).fit(X, y)
        last, second = np.sort(model.predict_proba(X))[:, :-3:-1].T
        n_tied += np.count_nonzero(last == second)
        compact = ImportedForest(model).compact(format)
        np.testing.assert_array_equal(compact.predict(X), model.predict(X))
    assert n_tied > 100


@needs_cc
@pytest.mark.parametrize("name", MODELS)
def test_c_predicts_what_the_model_predicts(fitted, tmp_path, name):
    forest, model, X, _ = fitted(name)
    predicted = model.predict(X)
    variants = formats_and_layouts(name, MODELS)
    program = compiled(tmp_path, forest, *variants)
    for place, (format, layout) in enumerate(variants):
        numbers, where = printed(program, X, place), f"{format}, {layout}"
        scores = forest.compact(format).scores(X)
        np.testing.assert_array_equal(bits(numbers[:, 1:]), bits(scores), where)
        if forest.classes is not None:
            same = forest.classes[numbers[:, 0].astype(int)] == predicted
            assert same.mean() == 1 if format == "float32" else same.mean() > 0.95, where
        elif format != "int8":
            near = {"float32": 2e-5, "float16": 2e-3}[format]
            found = numbers[:, 1:].astype(float).reshape(predicted.shape)
            np.testing.assert_allclose(found, predicted, rtol=near, atol=near, err_msg=where)


@needs_cc
@pytest.mark.parametrize("name", ["random forest", "LightGBM", "boosting of numbers"])
def test_hostile_rows_are_the_same_bits_in_both_layouts(fitted, tmp_path, name):
    forest, _, X, _ = fitted(name)
    X = hostile(forest, X)
    program = compiled(tmp_path, forest, *(("int8", layout) for layout in LAYOUTS))
    for place in range(len(LAYOUTS)):
        numbers = printed(program, X, place)
        np.testing.assert_array_equal(bits(numbers[:, 1:]), bits(forest.compact("int8").scores(X)))


def test_scores_of_averaging_forests_are_sums_of_shares_and_of_boosting_raw_ones(fitted):
    forest, model, X, _ = fitted("random forest")
    shares = forest.compact().scores(X) / 7
    np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-6)
    forest, model, X, _ = fitted("boosting")
    raw = model.decision_function(X)
    np.testing.assert_allclose(forest.compact().scores(X)[:, 0], raw, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("n_classes", "expected"), [(2, "binary"), (3, "multiclass")])
def test_a_booster_names_its_classes_by_numbers(n_classes, expected):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    parameters = {"objective": expected, "verbose": -1, "num_threads": 1}
    parameters |= {} if n_classes == 2 else {"num_class": n_classes}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), 4)
    shares = booster.predict(X)
    codes = shares > 0.5 if n_classes == 2 else shares.argmax(axis=1)
    np.testing.assert_array_equal(ImportedForest(booster).compact().predict(X), codes)
    assert (codes == y).mean() > 0.95


def test_what_predicts_no_sum_of_trees_is_refused():
    X, y = NUMBERS
    with pytest.raises(TypeError, match="transforms the sum"):
        ImportedForest(lightgbm.LGBMRegressor(objective="poisson", **LIGHT).fit(X, np.abs(y)))
    with pytest.raises(TypeError, match="got IsolationForest"):
        ImportedForest(IsolationForest(n_estimators=3).fit(X))
    with pytest.raises(ParameterError, match="two classes or more, got 'a' only"):
        ImportedForest(RandomForestClassifier(3).fit(X, ["a"] * len(X)))
    for model in (RandomForestClassifier(3), lightgbm.LGBMClassifier()):
        with pytest.raises(NotFittedError):
            ImportedForest(model)


def test_what_a_given_forest_has_seen_does_not_measure_it():
    X, y = NUMBERS
    trees = lightgbm.train({"verbose": -1}, lightgbm.Dataset(X[:150], y[:150]), 20)
    for forest in (DecisionTreeRegressor(max_depth=5).fit(X[:150], y[:150]), trees):
        model = GIFRegressor(99, forest=forest, joint_fit="ridge").fit(X[:150], y[:150])
        with pytest.raises(
            BudgetError, match=r"`forest` may have seen the rows.* fit\(X, y, X_val"
        ):
            model.predict(X, budget=5)
        model.fit(X[:150], y[:150], X[150:], y[150:]).predict(X, budget=10)


def with_gaps(n=500):
    """Return rows with gaps that say something, in one column by themselves, and classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] + np.abs(X[:, 1]) > 0.5).astype(int)
    X[random.random(X.shape) < 0.2] = np.nan
    X[(y == 1) & (random.random(n) < 0.4), 0] = np.nan
    X[:, 2] = np.where(random.random(n) < 0.5, np.nan, 1)
    return X, y ^ np.isnan(X[:, 2])


GAPS = {
    "LightGBM": lightgbm.LGBMClassifier(**LIGHT),
    "random forest": RandomForestClassifier(5, max_depth=6, random_state=0),
    "bagging": BaggingClassifier(n_estimators=4, max_features=0.7, random_state=0),
}


@needs_cc
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", GAPS)
def test_missing_values_take_the_way_that_they_take_in_the_model(tmp_path, name, whole):
    X, y = with_gaps()
    if whole and name == "LightGBM":  # takes them for 0 where training had none
        pytest.skip("not promised")
    model = clone(GAPS[name]).fit(np.nan_to_num(X[:300]) if whole else X[:300], y[:300])
    forest = ImportedForest(model)
    np.testing.assert_array_equal(forest.compact().predict(X), model.predict(X))
    variants = (("float32", "small"), ("int8", "small"), ("int8", "fast"))
    program = compiled(tmp_path, forest, *variants, level="-O2")
    for place, (format, _) in enumerate(variants):
        numbers = printed(program, X, place)
        np.testing.assert_array_equal(bits(numbers[:, 1:]), bits(forest.compact(format).scores(X)))
    assert (forest.compact("int8").predict(X) == model.predict(X)).mean() > 0.9


def test_a_forest_of_gaps_is_pruned_and_whole_tables_need_no_bits():
    X, y = with_gaps()
    for table, has in ((X, True), (np.nan_to_num(X), False)):
        whole = clone(GAPS["random forest"]).fit(table, y)
        limits = {"byte_budget": 700, "byte_format": "int8", "joint_fit": "ridge", "ridge": 0.1}
        model = GIFClassifier(10**5, forest=whole, **limits).fit(table, y)
        assert model.nbytes("int8") <= 700
        assert model.compact("int8").missing_left.any() == has
        assert model.score(table, y) > 0.9


@pytest.mark.parametrize("joint_fit", ["ridge", "logistic"])
@pytest.mark.parametrize("name", ["random forest", "LightGBM of ten classes", "LightGBM"])
def test_a_given_forest_is_pruned_to_bytes_and_errs_little(fitted, name, joint_fit):
    forest, whole, X, y = fitted(name)
    rows, classes = MODELS[name][1][0][::2], MODELS[name][1][1][::2]
    error = (whole.predict(X) != y).mean()
    ridge = 0.1 if joint_fit == "ridge" else 0.02
    limits = {"byte_budget": forest.nbytes("int8") // 4, "byte_format": "int8"}
    model = GIFClassifier(10**5, forest=whole, joint_fit=joint_fit, ridge=ridge, **limits)
    model.fit(rows, classes)
    assert 0.9 * model.byte_budget < model.nbytes("int8") <= model.byte_budget
    assert (model.compact("int8").predict(X) != y).mean() < error + 0.03
    # Every split is one of the forest's.
    own = {(f, t) for tree in forest.trees for f, t in zip(tree.feature, tree.threshold, strict=1)}
    for tree in model.trees_:
        assert own.issuperset(zip(tree.feature, tree.threshold, strict=True)), name


def test_all_nodes_refitted_are_ridge_regression_on_paths(fitted):
    _, whole, *_ = fitted("random forest of numbers")
    X, y = (part[::2] for part in NUMBERS)
    model = GIFRegressor(10**5, forest=whole, joint_fit="ridge", ridge=0.3).fit(X, y)
    # The slow twin: one indicator for each node but the roots, by scikit-learn's own paths.
    trees = whole.estimators_
    paths = [tree.decision_path(X.astype(np.float32)).toarray()[:, 1:] for tree in trees]
    Z = np.hstack(paths).astype(float)
    centred, penalty = Z - Z.mean(axis=0), 0.3 * Z.sum(axis=1).mean()
    gram = centred.T @ centred + penalty * np.eye(Z.shape[1])
    weights = np.linalg.solve(gram, centred.T @ (y - y.mean()))
    np.testing.assert_allclose(model.predict(X), y.mean() + centred @ weights, rtol=1e-6)
    assert model.n_nodes_ == sum(tree.tree_.node_count for tree in trees)
    assert model.feature_importances_.argmax() == whole.feature_importances_.argmax()
    # Importances count a row of weight k like k rows, and do not depend on the zero of the targets.
    counts = np.arange(len(y)) % 3 + 1
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).feature_importances_
    weighted = model.fit(X, y + 1e9, sample_weight=counts).feature_importances_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-4)


def test_a_forest_needs_a_regression_and_the_same_columns(fitted):
    _, whole, X, y = fitted("random forest")
    with pytest.raises(ParameterError, match="a given forest needs a regression"):
        GIFClassifier(100, forest=whole).fit(X, y)
    with pytest.raises(ParameterError, match="fitted to 64 columns, but X has 5: give both"):
        GIFClassifier(100, forest=whole, joint_fit="ridge").fit(X[:, :5], y)


def test_the_columns_of_a_forest_stand_in_the_order_of_its_own():
    X = pd.DataFrame(NUMBERS[0][:, :3], columns=list("abc"))
    forest = DecisionTreeRegressor(max_depth=2).fit(X, NUMBERS[1])
    model = GIFRegressor(100, forest=forest, joint_fit="ridge")
    assert model.fit(X, NUMBERS[1]).n_nodes_ == 7
    model.fit(X.to_numpy(), NUMBERS[1])
    with pytest.raises(
        ParameterError, match=r"has the columns .'a', 'b', 'c'., but X has .'c', 'b'"
    ):
        model.fit(X[["c", "b", "a"]], NUMBERS[1])


def test_one_node_has_room_for_no_split():
    X, y = load_digits(return_X_y=True)
    whole = ExtraTreesClassifier(3, random_state=0).fit(X, y)
    shares = np.bincount(y) / y.size
    for joint_fit in ("ridge", "logistic"):
        model = GIFClassifier(1, forest=whole, joint_fit=joint_fit, byte_budget=100)
        with pytest.warns(BudgetlearnWarning, match="leaves room for no node"):
            model.fit(X, y)
        assert model.n_nodes_ == 0
        np.testing.assert_allclose(model.predict_proba(X[:2]), [shares, shares])


def test_a_forest_without_a_split_leaves_the_constant():
    X, y = NUMBERS
    forest = DecisionTreeRegressor(max_depth=1, min_impurity_decrease=1e9).fit(X, y)
    assert ImportedForest(forest).compact().predict(X[:2]) == pytest.approx(y.mean())
    model = GIFRegressor(100, forest=forest, joint_fit="ridge").fit(X, y)
    assert model.predict(X[:2]) == pytest.approx(y.mean())
    assert (model.n_nodes_, model.n_steps_) == (0, 0)


def test_the_example_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "microcontroller.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(next(block for block in blocks if "ImportedForest" in block), names)
    small, digits, label = names["small"], names["digits"][1000:], names["label"][1000:]
    assert ImportedForest(names["forest"]).nbytes("int8") == 34_673
    assert 3900 < small.nbytes("int8") <= 4000
    assert (small.predict(digits) != label).mean() < 0.12


@pytest.mark.parametrize(("objective", "unit"), [("regression_l1", 1.0), ("regression", 1e-10)])
def test_sums_near_zero_are_not_taken_for_means(objective, unit):
    x = np.linspace(-3, 3, 600)[:, None]
    y = unit * np.where(np.abs(x[:, 0]) < 1, 0, x[:, 0])
    model = lightgbm.LGBMRegressor(**LIGHT, objective=objective).fit(x, y)
    found = ImportedForest(model).compact().predict(x)
    np.testing.assert_allclose(found, model.predict(x), rtol=1e-5, atol=1e-6 * unit)


def test_a_transformation_that_keeps_zero_is_refused():
    x = np.linspace(-3, 3, 600)[:, None]
    y = np.where(np.abs(x[:, 0]) < 1, 0, x[:, 0])
    model = lightgbm.LGBMRegressor(**LIGHT, objective="regression_l1", reg_sqrt=True).fit(x, y)
    assert model.predict([[0.0]]) == 0
    with pytest.raises(TypeError, match="transforms the sum"):
        ImportedForest(model)
