"""The compact format of forests: predictions, sizes, bytes, and what fewer bits cost."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth, Leaves
from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.export import FORMATS, CompactForest, quantization_errors
from budgetlearn.export.c_code import c_header
from budgetlearn.export.formats import binned, float32_below
from budgetlearn.export.serialization import FormatError, stored
from budgetlearn.forests import RandomForestClassifier
from budgetlearn.gif import GIFClassifier, GIFRegressor
from budgetlearn.tree.predictor import Tree
from budgetlearn.validation import ParameterError
from tests.looping import check_each, for_each

REGRESSION = make_friedman1(400, noise=1.0, random_state=0)
TWO = load_breast_cancer(return_X_y=True)
TEN = load_digits(return_X_y=True)
SMALL = {"n_estimators": 30, "random_state": 0}
RIDGE = {"n_estimators": "auto", "joint_fit": "ridge", "prune_factor": 4, "random_state": 0}

MODELS = {
    "regression": (GIFRegressor(300, **SMALL), REGRESSION),
    "regression, one node a tree": (GIFRegressor(60, **RIDGE), REGRESSION),
    "two outputs": (GIFRegressor(300, **SMALL), (REGRESSION[0], REGRESSION[0][:, :2])),
    "constant": (GIFRegressor(1, n_estimators="auto"), REGRESSION),
    "two classes": (GIFClassifier(300, loss="trimmed_exponential", **SMALL), TWO),
    "ten classes": (GIFClassifier(600, **SMALL), TEN),
    "ten classes, pruned": (GIFClassifier(200, **RIDGE), TEN),
    "BudgetRF": (BudgetRFClassifier(n_estimators=9, random_state=0), TWO),
    "BudgetRF of ten classes": (BudgetRFClassifier(n_estimators=3, random_state=0), TEN),
    "BudgetRF, counts": (
        BudgetRFClassifier(n_estimators=3, leaves=Leaves(voting="counts"), random_state=0),
        TEN,
    ),
    "BudgetRF of numbers": (
        BudgetRFRegressor(n_estimators=9, growth=Growth(max_depth=6), random_state=0),
        REGRESSION,
    ),
    "random forest": (RandomForestClassifier(n_estimators=3, random_state=0), TEN),
}


@pytest.fixture(scope="module")
def fitted():
    cache = {}

    def get(name):
        if name not in cache:
            model, (X, y) = MODELS[name]
            X32 = X.astype(np.float32)
            cache[name] = model.fit(X32[::2].astype(float), y[::2]), X32[1::2], y[1::2]
        return cache[name]

    return get


@pytest.mark.parametrize("name", MODELS)
def test_float32_predicts_what_the_model_predicts(fitted, name):
    model, X, _ = fitted(name)
    forest = model.compact()
    if hasattr(model, "classes_"):
        assert (forest.predict(X) == model.predict(X)).mean() > 0.995
    else:
        np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=2e-5)


@for_each("name, format", product(MODELS, FORMATS))
def test_bytes_hold_the_whole_model(fitted, name, format):
    model, X, _ = fitted(name)
    forest = model.compact(format)
    data = forest.to_bytes()
    assert len(data) == forest.nbytes == model.nbytes(format)
    read = CompactForest.from_bytes(data, getattr(model, "classes_", None))
    assert read.to_bytes() == data
    assert repr(read) == f"CompactForest({format}, {X.shape[1]} features, {len(data)} bytes)"
    np.testing.assert_array_equal(read.predict(X), forest.predict(X))


def in_preorder(tree, node=0):
    """Return (split, splits left of it) of a side in preorder, and its stops left to right."""
    if tree.children_left[node] < 0:
        return [], [node]
    left, before = in_preorder(tree, tree.children_left[node])
    right, after = in_preorder(tree, tree.children_right[node])
    return [(node, len(left)), *left, *right], before + after


@pytest.mark.parametrize("name", ["ten classes", "random forest", "constant"])
def test_trees_are_stored_in_the_order_of_recursion(fitted, name):
    trees = [tree for tree in fitted(name)[0].trees_ if tree.node_count > 1]
    orders = [in_preorder(tree) for tree in trees]
    forest = stored(trees or fitted(name)[0].trees_, zero_stops=False)
    np.testing.assert_array_equal(forest.n_splits, [len(splits) for splits, _ in orders])
    np.testing.assert_array_equal(forest.n_left, [n for splits, _ in orders for _, n in splits])
    parts = [
        (tree.threshold[[node for node, _ in splits]], tree.value[stops])
        for tree, (splits, stops) in zip(trees, orders, strict=True)
    ]
    for found, own in ((forest.threshold, 0), (forest.value, 1)):
        expected = [found[:0], *(part[own] for part in parts)]
        np.testing.assert_array_equal(found, np.concatenate(expected))


def test_sides_that_were_not_accepted_take_no_node(fitted):
    model, *_ = fitted("regression, one node a tree")
    forest = model.compact()
    inner = sum(int((~tree.is_leaf).sum()) for tree in model.trees_)
    assert forest.feature.size == forest.threshold.size == inner
    # A stop for each accepted leaf, and for each accepted split with a side that was not.
    stops = {tree.value[leaf, 0] for tree in model.trees_ for leaf in np.flatnonzero(tree.is_leaf)}
    assert len(forest.value) == len(stops - {0.0})
    assert len(forest.value) < model.n_nodes_ < sum(tree.node_count for tree in model.trees_)


def test_fewer_bits_cost_little(fitted):
    for name, most in (("regression", 0.02), ("ten classes", 0.02), ("two classes", 0.02)):
        report = quantization_errors(*fitted(name))
        assert report["bytes"].is_monotonic_decreasing
        assert (report["increase"].abs() < most).all(), report
        assert report.loc["float32", "difference"] < 1e-3


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(-1e30, 1e30)),
        min_size=1,
        max_size=30,
    )
)
def test_grids_are_exact_and_near(pairs):
    feature, threshold = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    used, low, step, bins, place = binned(feature, threshold)
    assert ((bins >= 0) & (bins < 256)).all()
    np.testing.assert_array_equal(used[place], feature)
    exact = low[place].astype(float) + step[place].astype(float) * bins
    np.testing.assert_array_equal(exact.astype(np.float32), exact)
    assert (np.abs(exact - threshold) <= step[place]).all()
    for k in range(used.size):
        of = threshold[place == k]
        assert step[k] <= max(2 * np.ptp(of) / 254, np.abs(of).max() * 2.0**-21, 2.0**-119)


def test_a_few_far_thresholds_do_not_make_the_grid_of_the_others_coarse():
    random = np.random.default_rng(0)
    near, far = random.uniform(1, 8, 500), np.array([300.0, 700.0, -90.0])
    _, low, step, bins, _ = binned(np.zeros(503, dtype=int), np.concatenate([near, far]))
    placed = low[0] + step[0] * bins
    assert np.abs(placed[:500] - near).max() <= step[0] / 2 <= 0.0625
    # The far ones are still beyond the others, at the ends of the grid.
    np.testing.assert_array_equal(bins[500:], [255, 255, 0])
    # Without them, and where most are far, the grid holds all.
    for thresholds in (near, np.concatenate([near, random.uniform(-500, 500, 500)])):
        _, low, step, bins, _ = binned(np.zeros(thresholds.size, dtype=int), thresholds)
        assert np.abs(low[0] + step[0] * bins - thresholds).max() <= step[0]


def test_errors_are_those_of_words_too():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"word": pd.Categorical(random.choice(["a", "b", "c"], 60)), "n": range(60)})
    model = GIFClassifier(50, n_estimators=5, random_state=0).fit(X, X["word"] == "b")
    report = quantization_errors(model, X, X["word"] == "b")
    assert report.loc["float32", "difference"] == 0


def test_few_bits_cost_little_where_a_feature_has_outliers():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    X[:, 0] = np.exp(1.5 * X[:, 0])
    options = {"learning_rate": 0.2, "split_on": "residuals", "n_thresholds": 8}
    model = GIFRegressor(4000, n_estimators=100, max_features=None, random_state=0, **options)
    report = quantization_errors(model.fit(X, y), X, y)
    pd.testing.assert_frame_equal(quantization_errors(model, X, y[:, None]), report)
    assert report.loc["float16", "error"] < 0.001
    assert report.loc["int8", "error"] < 0.06  # 0.18 with steps that a few outliers make wide


@given(st.floats(-1e38, 1e38), st.floats(width=32, allow_nan=False))
def test_float32_thresholds_part_float32_examples_alike(threshold, x):
    near = float32_below(np.array([threshold]))[0]
    assert (np.float32(x) <= near) == (x <= threshold)


def test_damaged_bytes_are_refused(fitted):
    data = fitted("regression")[0].compact().to_bytes()
    for bad, message in (
        (b"PNG" + data[3:], "not a compact forest"),
        (data[:10], "not a compact forest"),
        (data[:4] + b"\x09" + data[5:], r"version 9, but this budgetlearn reads versions \(1, 2\)"),
        (data[:-1], f"expected {len(data)} bytes, got {len(data) - 1}"),
        (data[:5] + b"\x07" + data[6:], "unknown kind 7"),
    ):
        with pytest.raises(FormatError, match=message):
            CompactForest.from_bytes(bad)
    with pytest.raises(ParameterError, match="labels of 0 classes, got 2"):
        CompactForest.from_bytes(data, classes=["a", "b"])
    forest = CompactForest.from_bytes(data)
    for name in ("feature", "n_left"):  # beyond the columns, beyond the tree
        part = np.append(200, getattr(forest, name)[1:])
        with pytest.raises(FormatError, match="contradict each other"):
            CompactForest.from_bytes(replace(forest, **{name: part}).to_bytes())


def of_splits(features, thresholds):
    """Return a tree with these splits."""
    tree, leaves = chain(len(features)), np.full(len(features) + 1, -1)
    return replace(
        tree, feature=np.append(features, leaves), threshold=np.append(thresholds, 0 * leaves)
    )


def test_what_the_format_cannot_hold_is_refused(fitted):
    model, *_ = fitted("regression")
    with pytest.raises(ParameterError, match="format must be one of 'float32', 'float16', 'int8'"):
        model.nbytes("int4")
    with pytest.raises(ParameterError, match="at most 65,536 features, got 70,000"):
        CompactForest.of(model.trees_, 70_000)
    leaves = np.array([0.5, 0, 0]), np.array([1, -1, -1]), np.array([2, -1, -1])
    wide = Tree(np.array([0, -1, -1]), *leaves, np.eye(3, 65_536), np.ones(3))
    for classes in (None, np.arange(65_536)):
        with pytest.raises(ParameterError, match="65,535 classes or outputs, got 65,536"):
            CompactForest.of([wide], 1, classes=classes)
    huge = replace(wide, value=np.full((3, 1), 1e38))
    with pytest.raises(ParameterError, match=r"those of this model reach 1e\+38 and 9e\+38"):
        CompactForest.of([huge] * 9, 1)
    # Infinite thresholds have a grid of their own in int8: 33,000 features take 66,000.
    features = np.repeat(np.arange(33_000), 2)
    trees = [of_splits(some, np.tile([0.5, np.inf], 50)) for some in np.split(features, 660)]
    assert CompactForest.of(trees, 33_000).nbytes > 0
    with pytest.raises(ParameterError, match="65,535 grids of thresholds in int8, got 66,000"):
        CompactForest.of(trees, 33_000, format="int8")
    X, y = REGRESSION
    with pytest.raises(ParameterError, match="holds values up to 65504"):
        GIFRegressor(100, **SMALL).fit(X, 1e9 * y).nbytes("float16")


def check_held_or_refused(model, unit, shift, format):
    X, y = REGRESSION[0][:100], REGRESSION[1][:100]
    try:
        predicted = model.compact(format).predict(X)
    except ParameterError:
        far = shift > 1e3 or not 1e-30 < unit < 1e30
        assert far or (format == "float16" and not 1e-4 <= unit <= 1)
        return
    miss = predicted.astype(np.float64) - model.predict(X)
    assert np.sqrt(np.mean((miss / unit) ** 2)) < 0.06 * y.std()


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6, 1e10])
@pytest.mark.parametrize("model", [GIFRegressor(300, **SMALL), BudgetRFRegressor(**SMALL)])
def test_values_of_any_unit_are_held_or_refused(model, shift):
    X, y = REGRESSION[0][:100], REGRESSION[1][:100]
    for unit in [1e-60, 1e-42, 1e-12, 1e-8, 1e-4, 1.0, 1e6, 1e36, 1e60]:
        fitted = clone(model).fit(X, unit * (y + shift))
        check_each(
            FORMATS,
            lambda format, fitted=fitted, unit=unit: check_held_or_refused(
                fitted, unit, shift, format
            ),
        )


def test_one_output_of_two_may_not_vanish():
    X, y = REGRESSION[0], np.column_stack([REGRESSION[1], 1e-9 * REGRESSION[1]])
    model = GIFRegressor(300, **SMALL).fit(X, y)
    assert np.isfinite(model.compact("int8").predict(X)).all()
    with pytest.raises(ParameterError, match="vanish in format='float16': multiply the targets"):
        model.compact("float16")
    with pytest.warns(BudgetlearnWarning, match="float16: the values of this model, at most"):
        report = quantization_errors(model, X, y)
    assert report.isna().all(axis=1).tolist() == [False, True, False]
    assert report["difference"].dropna().between(0, 0.02 * y.std()).all()


def chain(n_splits, feature=0):
    """Return a tree whose splits all lie left of each other."""
    n = 2 * n_splits + 1
    inner = np.arange(n) < n_splits
    left = np.where(inner, np.arange(n) + 1, -1)
    right = np.where(inner, n - 1 - np.arange(n), -1)
    left[n_splits - 1] = n_splits
    value = np.arange(n, dtype=float)[:, None]
    return Tree(
        np.where(inner, feature, -1),
        np.where(inner, -np.arange(n), 0),
        left,
        right,
        value,
        value[:, 0],
    )


@pytest.mark.parametrize("n_splits", [1, 255, 257, 17_000, 70_000])
@pytest.mark.parametrize("n_features", [256, 257])
def test_widths_of_features_offsets_and_heads(n_splits, n_features):
    tree = chain(n_splits, n_features - 1)
    forest = CompactForest.of([tree], n_features)
    X = np.zeros((7, n_features))
    X[:, -1] = [1, 0, -0.5, -1.5, -n_splits / 2, -n_splits + 0.5, -2 * n_splits]
    read = CompactForest.from_bytes(forest.to_bytes())
    assert read.to_bytes() == forest.to_bytes()
    at = [0] * 7
    for i, x in enumerate(X[:, -1]):
        while tree.children_left[at[i]] >= 0:
            down = tree.children_left if x <= tree.threshold[at[i]] else tree.children_right
            at[i] = down[at[i]]
    np.testing.assert_array_equal(read.predict(X), tree.value[at, 0])


def test_bits_of_missing_values_are_read_back_whatever_their_number():
    for n_splits in (7, 8, 9):
        tree = chain(n_splits)
        left = np.arange(tree.node_count) % 3 == 0
        tree = replace(tree, missing_left=left & ~tree.is_leaf)
        forest, plain = CompactForest.of([tree], 1), CompactForest.of([chain(n_splits)], 1)
        assert forest.nbytes == plain.nbytes + (n_splits + 7) // 8
        read = CompactForest.from_bytes(forest.to_bytes())
        np.testing.assert_array_equal(read.missing_left, left[:n_splits])
        assert (forest.to_bytes()[4], plain.to_bytes()[4]) == (2, 1)


def test_a_split_of_missing_values_from_all_others_has_a_grid_of_its_own():
    threshold = np.array([0.5, np.inf, 1e300, 0.25])
    used, low, step, bins, place = binned(np.array([1, 1, 0, 1]), threshold)
    np.testing.assert_array_equal(used, [0, 1, 1])
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal((low + step * 0)[place][[1, 2]], [largest, largest])
    np.testing.assert_array_equal((low[place] + step[place] * bins)[[0, 3]], [0.5, 0.25])


@pytest.mark.parametrize("format", FORMATS)
def test_thresholds_below_all_numbers_of_float32_are_finite(format):
    X = np.array([[-4e38, -3.0], [-1e39, 1.0], [3e38, 2.0], [1.0, 4.0], [-5e38, 3.5]])
    forest = RandomForestClassifier(n_estimators=20, max_features=1, random_state=0)
    forest.fit(X, [0, 0, 1, 1, 0])
    with pytest.warns(BudgetlearnWarning, match=r"a split at -3.5e\+38 is beyond"):
        compact = forest.compact(format)
    assert -np.finfo(np.float32).max <= compact.thresholds().min() < -3.4e38
    assert "inf" not in c_header(compact)
    held = X[2:4].astype(np.float32)
    np.testing.assert_array_equal(compact.predict(held), forest.predict(held))
