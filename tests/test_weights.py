"""Weights of examples say how much more one counts than another, in every estimator."""

import inspect
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import has_fit_parameter

import budgetlearn
from budgetlearn import (
    AllFeaturesClassifier,
    AllFeaturesRegressor,
    ASTCClassifier,
    AutoBudgetClassifier,
    AutoBudgetRegressor,
    BudgetRFClassifier,
    BudgetRFRegressor,
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    CostWeightedRFClassifier,
    ExhaustiveSearch,
    FilterBoostingClassifier,
    FilterForestClassifier,
    FMCCClassifier,
    FreeConstantClassifier,
    FreeConstantRegressor,
    GIFClassifier,
    GIFRegressor,
    GreedyMiserClassifier,
    LightGBMCostClassifier,
    LightGBMCostRegressor,
    LogitPathClassifier,
    ModelScheduleSearch,
    RandomForestClassifier,
    RandomOrderClassifier,
    ScheduleCascadeClassifier,
    ScheduleCascadeRegressor,
    SparseLinearClassifier,
    VoCClassifier,
)
from budgetlearn.budgetrf import Growth
from budgetlearn.tree.impurity import Powers
from budgetlearn.validation import ParameterError
from tests.looping import for_each

pytestmark = pytest.mark.usefixtures("quick_cascade")

N = 180
UNITS = (1e-100, 1e100)


ALIKE = Growth(bootstrap=False, ties="first", max_depth=4)


def budget_rf(**options):
    """Return a forest whose trees have the same rows and break ties the same way."""
    model = BudgetRFClassifier(
        feature_costs=range(1, 7), n_estimators=3, growth=ALIKE, random_state=0
    )
    return model.set_params(**options)


def budget_regression(**options):
    """Return such a forest for regression."""
    model = BudgetRFRegressor(
        feature_costs=range(1, 7), n_estimators=3, growth=ALIKE, random_state=0
    )
    return model.set_params(**options)


def gif(kind=GIFClassifier, **options):
    """Return a small forest that tries one feature for each split, so that there are no ties."""
    plain = {"n_estimators": 20, "max_features": 1, "learning_rate": 0.3}
    return kind(100, **(plain | options), random_state=0)


def cascade(kind, **options):
    """Return a small cascade, by default of linear models."""
    plain = {"estimators": "linear", "orders": "boosted_path", "n_stages": 2, "cv": 2}
    return kind(feature_costs=range(1, 7), random_state=0, **plain | options)


# For these, a row with weight k has exactly the effect of k rows.
EXACT = {
    "BudgetRF": budget_rf(),
    "BudgetRF, powers": budget_rf(growth__impurity="powers"),
    "BudgetRF, high powers": budget_rf(growth__impurity=Powers(6)),
    "BudgetRF, polynomial": budget_rf(growth__impurity="polynomial"),
    "BudgetRF, Gini": budget_rf(growth__impurity="gini", growth__split="expected"),
    "BudgetRF, entropy": budget_rf(
        growth__impurity="entropy", growth__split="expected", leaves__voting="counts"
    ),
    "BudgetRF, discount": budget_rf(growth__reuse_discount=0.5, cost_exponent=0.5),
    "BudgetRF, balanced": budget_rf(class_weight="balanced"),
    "BudgetRF, budget": budget_rf(budget=20),
    "BudgetRF, numbers": budget_regression(),
    "BudgetRF, numbers, discount": budget_regression(growth__reuse_discount=0.5),
    # In deeper trees, ties of small nodes are broken at random.
    "forest": RandomForestClassifier(
        n_estimators=5, bootstrap=False, max_depth=3, max_features=None, random_state=0
    ),
    "GIF": gif(),
    "GIF, exponential": gif(loss="exponential"),
    "GIF, balanced": gif(class_weight="balanced", loss="squared"),
    "GIF, residuals": gif(split_on="residuals", loss="squared"),
    "GIF, all candidates": gif(candidate_window=None, joint_fit=2),
    "GIF, numbers": gif(GIFRegressor),
    "GIF, numbers, Huber": gif(GIFRegressor, loss="huber"),
    "GIF, numbers, quantile": gif(GIFRegressor, loss="quantile", quantile=0.43),
    "GIF, numbers, early": gif(GIFRegressor, early_stopping=True),
    "msB": ModelScheduleSearch(GaussianNB(), random_state=0),
    "msB, balanced": ModelScheduleSearch(GaussianNB(), class_weight="balanced", random_state=0),
    "subsets": ExhaustiveSearch(GaussianNB(), random_state=0),
    "all features": AllFeaturesClassifier(GaussianNB(), class_weight="balanced"),
    "all features, numbers": AllFeaturesRegressor(LinearRegression()),
    "constant": FreeConstantClassifier(),
    "constant, numbers": FreeConstantRegressor(),
    "L1 path": LogitPathClassifier(n_lambda=20, random_state=0),
    "priced L1": SparseLinearClassifier(n_lambda=20, random_state=0),
}
# These measure something in rows, and copies are more rows, or they draw rows.
RELATIVE = {
    "BudgetRF, threshold": budget_rf(alpha=4),
    "BudgetRF, thresholds": budget_rf(alpha=[0, 2, 8], budget=20),
    "BudgetRF, pruned": budget_rf(leaves__prune=[0.1, 1.0], growth__bootstrap=True),
    "BudgetRF, leaves": budget_rf(leaves__joint_fit=True),
    "BudgetRF, refitted": budget_rf(refit=True, alpha=[0, 4], class_weight={0: 3, 1: 1, 2: 2}),
    "BudgetRF, drawn": budget_rf(
        growth__bootstrap=True,
        growth__max_features="sqrt",
        growth__thresholds="random",
        oob_score=True,
    ),
    "BudgetRF, numbers, pruned": budget_regression(
        leaves__prune=[0.1, 1.0], growth__bootstrap=True
    ),
    "BudgetRF, numbers, leaves": budget_regression(leaves__joint_fit=[1.0, 10.0]),
    "BudgetRF, numbers, drawn": budget_regression(
        growth__bootstrap=True, growth__ties="random", refit=True
    ),
    "GIF, ridge": gif(joint_fit="ridge", prune_factor=2),
    "GIF, ridge, chosen": gif(joint_fit="ridge", prune_factor=2, ridge="auto"),
    "GIF, logistic": gif(joint_fit="logistic", prune_factor=2),
    "GIF, trimmed": gif(loss="trimmed_exponential"),
    "GIF, ties": GIFClassifier(1500, n_estimators=100, max_features="sqrt", random_state=0),
    "GIF, numbers, ridge": gif(GIFRegressor, joint_fit="ridge", prune_factor=2, ridge="auto"),
    "forest, drawn": RandomForestClassifier(n_estimators=5, criterion="entropy", random_state=0),
    "forest, balanced": RandomForestClassifier(
        n_estimators=5, class_weight="balanced", random_state=0
    ),
    "cost-sensitive": CostSensitiveRFClassifier(
        feature_costs=range(1, 7),
        cost_weight=0.01,
        n_estimators=5,
        complementary=True,
        random_state=0,
    ),
    "cost-sensitive path": CostSensitiveRFPathClassifier(
        feature_costs=range(1, 7), n_estimators=3, random_state=0
    ),
    "cost-sensitive, balanced": CostSensitiveRFClassifier(
        cost_weight=0.01, n_estimators=5, class_weight="balanced", random_state=0
    ),
    "cascade": cascade(
        ScheduleCascadeClassifier,
        estimators=("forest", "boosting", "linear", "kernel"),
        orders="gain_per_cost",
        dynamic=False,
        class_weight="balanced",
    ),
    "cascade, numbers": cascade(ScheduleCascadeRegressor, estimators=("linear", "kernel")),
    "cost-weighted": CostWeightedRFClassifier(
        feature_costs=range(1, 7), n_estimators=5, subset="above_mean", random_state=0
    ),
    "msB, refitted": ModelScheduleSearch(
        LogisticRegression(), refit=True, class_weight={0: 3, 1: 1, 2: 2}, random_state=0
    ),
}
# These measure neighbours, bins, smallest leaves or the rating of features in rows, or rounding
# breaks their ties.
RIVALS = {
    "ASTC": ASTCClassifier(feature_costs=range(1, 7)),
    "FMCC": FMCCClassifier(random_state=0),
    "FMCC, balanced": FMCCClassifier(class_weight="balanced", random_state=0),
    "random order": RandomOrderClassifier(random_state=0),
    "VoC": VoCClassifier(random_state=0),
    "GreedyMiser": GreedyMiserClassifier(
        feature_costs=range(1, 7), cost_weights=(0.3, 0.03), n_trees=(5, 10), max_depth=2
    ),
    "LightGBM": LightGBMCostClassifier(n_trees=(10, 20), random_state=0),
    "LightGBM, numbers": LightGBMCostRegressor(n_trees=(10, 20), random_state=0),
    "filter, forest": FilterForestClassifier(n_estimators=30, random_state=0),
    "filter, boosting": FilterBoostingClassifier(random_state=0),
}
RELATIVE |= RIVALS
# Forests that draw their rows, which are the same on average if leaves are not pure.
DRAWN = {
    "BudgetRF": budget_rf(n_estimators=150, growth__bootstrap=True, leaves__voting="counts"),
    "forest": RandomForestClassifier(n_estimators=150, max_depth=4, random_state=0),
    "cost-weighted": CostWeightedRFClassifier(n_estimators=150, max_depth=4, random_state=0),
}


def example(model):
    """Return training and validation data, and a whole number for each training row."""
    make = make_classification if is_classifier(model) else make_regression
    kind = {"n_classes": 3, "flip_y": 0.1} if is_classifier(model) else {"noise": 5.0}
    X, y = make(2 * N, 6, n_informative=4, random_state=0, **kind)
    return X[:N], y[:N], X[N:], y[N:], np.random.default_rng(1).integers(0, 4, N)


def said(model, X):
    """Return the predictions of a fitted model for examples, and their acquired features."""
    ask = model.predict_proba if is_classifier(model) else model.predict
    return ask(X), model.acquired_features(X)


def assert_alike(model, other, X):
    (says, sees), (other_says, other_sees) = said(model, X), said(other, X)
    np.testing.assert_allclose(says, other_says, rtol=1e-4, atol=1e-4 * np.abs(says).max())
    np.testing.assert_array_equal(sees, other_sees)


@cache
def with_counts(name):
    """Return a model fitted with whole numbers as weights, some of them 0."""
    model = (EXACT | RELATIVE)[name]
    X, y, X_val, y_val, times = example(model)
    return clone(model).fit(X, y, X_val, y_val, sample_weight=times)


def copies(X, y, times):
    return X.repeat(times, axis=0), y.repeat(times)


def test_all_estimators_with_weights_are_here():
    public = (getattr(budgetlearn, name) for name in budgetlearn.__all__)
    classes = {each for each in public if inspect.isclass(each) and hasattr(each, "fit")}
    classes -= {AutoBudgetClassifier, AutoBudgetRegressor}  # tests/auto/test_weights_and_gaps.py
    weighted = {
        each
        for each in classes
        if has_fit_parameter(each, "sample_weight")
        or "class_weight" in inspect.signature(each).parameters
    }
    assert {type(model) for model in (*EXACT.values(), *RELATIVE.values())} == weighted


@for_each("name", EXACT | RELATIVE)
def test_the_unit_of_weights_is_of_no_effect(name):
    model = (EXACT | RELATIVE)[name]
    X, y, X_val, y_val, times = example(model)
    weight = times + np.random.default_rng(2).uniform(0.1, 1.0, N)
    small, large = (
        clone(model).fit(X, y, X_val, y_val, sample_weight=unit * weight) for unit in UNITS
    )
    assert_alike(small, large, X_val)


@for_each("name", EXACT | RELATIVE)
def test_equal_weights_change_nothing(name):
    model = (EXACT | RELATIVE)[name]
    X, y, X_val, y_val, _ = example(model)
    plain = said(clone(model).fit(X, y, X_val, y_val), X_val)
    equal = clone(model).fit(X, y, X_val, y_val, sample_weight=np.full(N, 1e-7))
    for one, other in zip(plain, said(equal, X_val), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", EXACT)
def test_a_weight_is_as_good_as_that_many_rows(name):
    model = EXACT[name]
    X, y, X_val, y_val, times = example(model)
    repeated = clone(model).fit(*copies(X, y, times), X_val, y_val)
    assert_alike(with_counts(name), repeated, X_val)


@for_each("name", EXACT | RELATIVE)
def test_a_weight_of_zero_leaves_a_row_out(name):
    model = (EXACT | RELATIVE)[name]
    X, y, X_val, y_val, times = example(model)
    kept = times > 0
    weighted = with_counts(name)
    without = clone(model).fit(X[kept], y[kept], X_val, y_val, sample_weight=times[kept])
    for one, other in zip(said(weighted, X_val), said(without, X_val), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", DRAWN)
def test_forests_of_drawn_rows_take_weights_as_rows_on_average(name):
    model = DRAWN[name]
    X, y, X_val, *_ = example(model)
    times = np.where(y == 0, 4, 1)
    plain = clone(model).fit(X, y).predict_proba(X_val)
    weighted = clone(model).fit(X, y, sample_weight=times).predict_proba(X_val)
    repeated = clone(model).fit(*copies(X, y, times)).predict_proba(X_val)
    shift, miss = (repeated - plain).mean(axis=0), (repeated - weighted).mean(axis=0)
    assert shift[0] > 0.03
    assert np.abs(miss).max() < 0.35 * shift[0]


# Leaves of fully grown forests are pure, whatever the weights.
@pytest.mark.parametrize(
    "name", [name for name in RIVALS if name not in ("filter, forest", "FMCC, balanced")]
)
def test_rivals_take_weights_as_rows_on_average(name):
    model = RIVALS[name]
    X, y = make_classification(4 * N, 6, n_informative=4, class_sep=0.5, flip_y=0.2, random_state=0)
    train, test = slice(0, 2 * N), slice(2 * N, None)
    times = np.where(y[train] == 0, 4, 1)
    plain = clone(model).fit(X[train], y[train])
    weighted = clone(model).fit(X[train], y[train], sample_weight=times)
    repeated = clone(model).fit(*copies(X[train], y[train], times))
    plain, weighted, repeated = (
        np.mean(each.predict(X[test]) < 0.5) for each in (plain, weighted, repeated)
    )
    assert repeated - plain > 0.1
    assert abs(repeated - weighted) < 0.35 * (repeated - plain)


THRESHOLD = {"alpha": 4}
RIDGE = {"joint_fit": "ridge", "prune_factor": 2, "ridge": 0.3}


@pytest.mark.parametrize(
    ("make", "options", "counted"), [(budget_rf, THRESHOLD, "alpha"), (gif, RIDGE, "ridge")]
)
def test_what_is_measured_in_rows_sees_copies_as_rows(make, options, counted):
    model = make(**options, **({"loss": "squared"} if make is gif else {}))
    X, y, X_val, y_val, times = example(model)
    rows = times.sum() / np.count_nonzero(times)
    weighted = clone(model).fit(X, y, X_val, y_val, sample_weight=times)
    repeated = clone(model).set_params(**{counted: rows * options[counted]})
    assert_alike(weighted, repeated.fit(*copies(X, y, times), X_val, y_val), X_val)


@pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e9, 1e100])
@pytest.mark.parametrize("make", [budget_rf, gif, LogitPathClassifier, ModelScheduleSearch])
def test_the_unit_of_class_weights_is_of_no_effect(make, unit):
    model, shares = make(), {0: 3.0, 1: 1.0, 2: 0.5}
    X, y, X_val, y_val, _ = example(model)
    model.set_params(random_state=0)
    if make is ModelScheduleSearch:
        model.set_params(estimator=LogisticRegression())
    one, other = (
        clone(model).set_params(class_weight={c: by * share for c, share in shares.items()})
        for by in (1.0, unit)
    )
    assert_alike(one.fit(X, y, X_val, y_val), other.fit(X, y, X_val, y_val), X_val)


REFITTING = {
    "BudgetRF": (
        budget_rf(refit=True, leaves__prune=[0.3, 1.0], growth__bootstrap=True),
        {"prune_": "leaves__prune"},
    ),
    "msB": (ModelScheduleSearch(LogisticRegression(), refit=True, random_state=0), {}),
    "subsets": (ExhaustiveSearch(LogisticRegression(), refit=True, random_state=0), {}),
}


@pytest.mark.parametrize("class_weight", [{0: 9.0, 1: 1.0, 2: 2.0}, "balanced"])
@pytest.mark.parametrize("name", REFITTING)
def test_refitting_is_one_fit_on_all_rows_with_their_weights(name, class_weight):
    model, chosen = REFITTING[name]
    X, y, X_val, y_val, times = example(model)
    model = clone(model).set_params(class_weight=class_weight)
    rows, weight = (
        np.vstack([X, X_val]),
        1e-5 * np.append(times + 1, np.full(N, np.mean(times + 1))),
    )
    model.fit(X, y, X_val, y_val, sample_weight=weight[:N])
    once = clone(model).set_params(refit=False)
    for fitted, parameter in chosen.items():
        once.set_params(**{parameter: getattr(model, fitted)})
    if chosen:
        once.fit(rows, np.append(y, y_val), sample_weight=weight)
        assert_alike(once, model, X_val)
        return
    features = list(model.schedule_.variables[-1])
    labels, classes = np.append(y, y_val), np.unique(y)
    totals = np.array([weight[labels == label].sum() for label in classes])
    balanced = dict(zip(classes.tolist(), 1 / totals, strict=True))
    shares = balanced if class_weight == "balanced" else class_weight
    product = weight * np.array([shares[label] for label in labels])
    engine = LogisticRegression().fit(
        rows[:, features], labels, sample_weight=product / product.mean()
    )
    np.testing.assert_allclose(
        engine.predict_proba(X_val[:, features]), model.predict_proba(X_val), atol=1e-3
    )


def test_refitting_keeps_a_rare_class_in_sight():
    X, y = make_classification(
        1500, 6, n_informative=4, weights=[0.9], flip_y=0.05, class_sep=0.7, random_state=0
    )
    train, valid, test = np.split(np.arange(1500), [400, 1000])
    search = ModelScheduleSearch(LogisticRegression(), class_weight="balanced", random_state=0)
    recalls = [
        recall_score(
            y[test],
            clone(search)
            .set_params(refit=refit)
            .fit(X[train], y[train], X[valid], y[valid])
            .predict(X[test]),
        )
        for refit in (False, True)
    ]
    assert recalls[1] > recalls[0] - 0.05


def test_held_out_rows_keep_their_weights_when_all_are_learned_from():
    X, y, X_val, _, _ = example(GaussianNB())
    search = ModelScheduleSearch(GaussianNB(), refit=True, random_state=0)
    search.fit(X, y, sample_weight=np.where(y == 0, 50.0, 1.0))
    once = GaussianNB().fit(
        X[:, list(search.schedule_.variables[-1])], y, sample_weight=np.where(y == 0, 50.0, 1.0)
    )
    columns = X_val[:, list(search.schedule_.variables[-1])]
    np.testing.assert_allclose(once.predict_proba(columns), search.predict_proba(X_val), rtol=1e-6)


def test_small_weights_do_not_prune_trees_to_their_roots():
    X, y, X_val, y_val, _ = example(BudgetRFClassifier())
    forest = budget_rf(leaves__prune=0.1, growth__bootstrap=True, growth__max_depth=None)
    error = np.mean(forest.fit(X, y).predict(X_val) != y_val)
    forest.fit(X, y, sample_weight=np.full(N, 1e-5 / N))
    assert max(tree.node_count for tree in forest.trees_) > 1
    assert np.mean(forest.predict(X_val) != y_val) == error


def test_small_weights_do_not_shrink_a_ridge_regression():
    X, y, X_val, y_val, _ = example(GIFRegressor())
    model = gif(GIFRegressor, joint_fit="ridge", prune_factor=2)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, N)
    usual = r2_score(y_val, model.fit(X, y, sample_weight=weight).predict(X_val))
    small = r2_score(y_val, model.fit(X, y, sample_weight=weight / N).predict(X_val))
    assert small == pytest.approx(usual, abs=1e-6)


def test_weights_too_far_apart_are_refused():
    X, y, *_ = example(GIFClassifier())
    with pytest.raises(ParameterError, match="sample_weight must not differ by more than a factor"):
        gif().fit(X, y, sample_weight=10.0 ** np.linspace(-200, 0, N))
    with pytest.raises(ParameterError, match="weights must not differ by more than a factor"):
        gif(class_weight={0: 1e-30, 1: 1.0, 2: 1.0}).fit(X, y)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_class_weights_that_are_none_are_refused(bad):
    X, y, *_ = example(GIFClassifier())
    with pytest.raises(ParameterError, match="class_weight must give each class a finite number"):
        gif(class_weight={0: bad}).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.3}, {"growth__impurity": "powers"}])
def test_equal_splits_are_not_settled_by_the_rounding_of_weights(options):
    random = np.random.default_rng(0)
    x = random.normal(size=N)
    y = (np.sin(3 * x) + random.normal(size=N) > 0).astype(int)
    forest = budget_rf(growth__max_depth=None, **options).set_params(feature_costs=None)
    # All features split the examples the same way, some in the reverse order.
    X = np.column_stack([x, -x, x**3, 1 - 2 * x])
    forest.fit(X, y, sample_weight=random.uniform(0.1, 3.0, N))
    assert max(tree.feature.max() for tree in forest.trees_) == 0


def test_equal_splits_are_not_settled_by_the_rounding_of_a_threshold():
    random = np.random.default_rng(0)
    x = random.normal(size=600)
    y = (np.sin(3 * x) + random.normal(size=600) > 0).astype(int)
    forest = budget_rf(alpha=1 / 3, growth__max_depth=None).set_params(feature_costs=None)
    forest.fit(np.column_stack([x, -x, x**3, 1 - 2 * x]), y)
    assert max(tree.feature.max() for tree in forest.trees_) == 0
