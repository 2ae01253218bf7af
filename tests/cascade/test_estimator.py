"""`ScheduleCascadeClassifier` and `-Regressor` on the protocol."""

import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from budgetbench.datasets.synthetic import yahoo_costs, yahoo_like
from budgetlearn.cascade import (
    ScheduleCascadeClassifier,
    ScheduleCascadeRegressor,
    estimator,
    models,
    orders,
)
from budgetlearn.cascade.mixture import with_temperature
from budgetlearn.costs import FeatureCosts, random_costs
from budgetlearn.metrics import average_precision_at_5
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions

pytestmark = pytest.mark.usefixtures("quick_cascade")

QUICK = {"estimators": GaussianNB(), "orders": "gain_per_cost", "dynamic": False, "random_state": 0}
LINEAR = QUICK | {"estimators": LinearRegression()}
SMALL = {"cv": 2, "n_stages": 3}
PRICES = [1.0, 4, 9, 2, 5, 7]


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(500, 6, n_informative=4, n_redundant=0, flip_y=0.05, random_state=3)
    return X, np.where(y == 1, "ill", "well")


@pytest.fixture(scope="module")
def fitted(table):
    X, y = table
    model = ScheduleCascadeClassifier(
        feature_costs=PRICES, estimators="forest", dynamic=False, random_state=0
    )
    return model.fit(X[:300], y[:300])


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(400, 6, noise=0.5, random_state=0)
    model = ScheduleCascadeRegressor(feature_costs=PRICES, **LINEAR)
    return model.fit(X[:250], y[:250]), X, y


@pytest.mark.parametrize(
    "estimator",
    [
        ScheduleCascadeClassifier(**QUICK, **SMALL),
        ScheduleCascadeRegressor(**LINEAR | SMALL | {"orders": "boosted_path"}),
    ],
    ids=type,
)
def test_scikit_learn(estimator):
    check_conventions(estimator)


def test_the_protocol_is_kept():
    check_budgeted_estimator(ScheduleCascadeClassifier(**QUICK))
    check_budgeted_estimator(ScheduleCascadeRegressor(**LINEAR))


def test_costs_and_scores_grow_and_hold_on_new_examples(fitted, table):
    points = fitted.operating_points_[["cost", "score"]]
    assert (points.diff()[1:] > 0).all(axis=None)
    assert len(points) == fitted.n_stages_ > 4
    X, y = table[0][300:], table[1][300:]
    for stage, (_, told) in zip(fitted.stages(X), fitted.operating_points_.iterrows(), strict=True):
        error = (stage.output == y).mean() - told["score"]
        assert abs(error) < 4 * np.hypot(told["score_se"], 0.5 / np.sqrt(len(y)))
        assert stage.cost.mean() == pytest.approx(told["cost"], abs=0.15 * sum(PRICES))


def test_a_budget_is_kept_on_average_and_a_cap_by_everybody(fitted, table):
    X = table[0][300:]
    for budget in (3.0, 8.0, 20.0):
        chosen = fitted.operating_points_["cost"].le(budget)
        assert fitted.choose(budget) in np.flatnonzero(chosen)
    for cap in (1.0, 6.0, 13.0):
        assert fitted.acquisition_cost(X, max_cost=cap).max() <= cap


def test_a_cap_is_spent_and_a_budget_above_it_asks_for_nothing(fitted, table):
    X = table[0][300:]
    # Every prefix of an order is payable.
    order = fitted.points_[-1].cascade.stages[-1]
    whole = [fitted.feature_costs_.subset(list(order[: k + 1])) for k in range(len(order))]
    for cap in whole[:-1]:
        if fitted.points_[-1].cost >= cap:
            spent = fitted.acquisition_cost(X, max_cost=cap)
            assert set(spent) <= {float(each) for each in whole if each <= cap}
            assert spent.min() > 0
        np.testing.assert_array_equal(
            fitted.predict(X, max_cost=cap, budget=cap), fitted.predict(X, max_cost=cap)
        )


@pytest.mark.parametrize("fallback", [True, False])  # the constant is an operating point of its own
def test_who_can_afford_nothing_gets_the_class_shares(fitted, table, fallback):
    X = table[0][300:320]
    made = fitted.decisions(X, max_cost=0.5, fallback=fallback)
    np.testing.assert_allclose(made.probabilities, np.tile(fitted.constant_, (20, 1)))
    assert not made.acquired.any()


OWN = QUICK | {"orders": [[[0], [0, 1, 2], [0, 1, 2, 3, 4, 5]]]}


def test_of_a_stage_that_is_too_expensive_the_first_features_are_acquired(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(models, "MOST_BETWEEN", 0)
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **OWN).fit(X, y)
    first, second = PRICES[1], PRICES[2]
    assert first + second == 13
    for cap, acquired in ((1, [0]), (first, [0]), (1 + first, [0, 1]), (13, [0, 1])):
        made = model.decisions(X, max_cost=cap)
        assert (np.flatnonzero(made.acquired.any(axis=0)) == acquired).all()
        assert made.acquired[:, acquired].all()
    # Without a model between its stages: as far on the way to the stand-in as to the next stage.
    stage = model.models_.models["GaussianNB 0", (0,)].predict(X[:, [0]])
    known = np.where(np.isin(np.arange(6), [0, 1]), X, np.nan)
    share = first / 13
    cascade = model.points_[-1].cascade
    stage = with_temperature(cascade.mixtures[0].of([stage]), cascade.temperatures[0])
    expected = (1 - share) * stage + share * model.models_.fallback_model.predict(known)
    np.testing.assert_allclose(model.predict_proba(X, max_cost=1 + first), expected)
    # Where one of the two cannot be had, the stand-in predicts alone; without both the constant.
    known[::4, 0] = known[1::4, 1] = known[2::4] = np.nan
    for start in (0, 1):
        expected[start::4] = model.models_.fallback_model.predict(known[start::4])
    expected[2::4] = model.constant_
    made = model.decisions(known, max_cost=1 + first, fallback=True)
    np.testing.assert_allclose(made.probabilities, expected)


@pytest.mark.parametrize("numbers", [False, True])
def test_between_two_stages_a_model_of_what_is_known_answers(table, numbers, monkeypatch):
    X, y = table
    monkeypatch.setattr("budgetlearn.cascade.models.MOST_BETWEEN", 4)
    if numbers:
        y = X @ np.arange(6.0)
        model = ScheduleCascadeRegressor(
            feature_costs=PRICES, **OWN | {"estimators": LinearRegression()}
        )
        expected = LinearRegression().fit(X[:, [0, 1]], y).predict(X[:, [0, 1]])
    else:
        model = ScheduleCascadeClassifier(feature_costs=PRICES, **OWN)
        expected = GaussianNB().fit(X[:, [0, 1]], y).predict(X[:, [0, 1]])
    model.fit(X, y)
    cap = PRICES[0] + PRICES[1]
    models = [each for _, some in model.models_.between.values() for each in some]
    assert set(model.models_.between) == {(0, 1), (0, 1, 2, 3)}  # of five, one more matters little
    assert not any("_model" in vars(each) for each in models)  # none before it is asked
    found = model.predict(X, max_cost=cap)
    stored = pickle.loads(pickle.dumps(model))
    models = [each for _, some in stored.models_.between.values() for each in some]
    assert all(each._fit is None for each in models)
    for each in (found, stored.predict(X, max_cost=cap)):
        if numbers:
            np.testing.assert_allclose(each, expected)
        else:
            np.testing.assert_array_equal(each, expected)
    if not numbers:  # the temperature is that of the stage that is begun
        for stage, known in enumerate([(0, 1), (0, 1, 2, 3)]):
            (mixture, _), columns = model.models_.between[known], list(known)
            shares = GaussianNB().fit(X[:, columns], y).predict_proba(X[:, columns])
            temperature = model.points_[-1].cascade.temperatures[stage + 1]
            shares = with_temperature(mixture.of([shares]), temperature)
            each = model.predict_proba(X, max_cost=sum(PRICES[k] for k in known))
            np.testing.assert_allclose(each, shares)
    # What is not paid for is not looked at.
    rest = np.where(np.arange(6) < 2, X, np.nan)
    np.testing.assert_array_equal(model.predict(rest, max_cost=cap, fallback=True), found)


def test_points_of_numbers_leave_no_wide_gaps_between_budgets():
    X, y = make_friedman1(300, random_state=0)
    model = ScheduleCascadeRegressor(
        feature_costs=np.arange(1, 11), estimators=LinearRegression(), random_state=0
    )
    points = model.fit(X, y).operating_points_
    # The mean has an R² of 0 on its own rows, but not on others.
    assert points["score_se"].iloc[0] == pytest.approx(2 * np.sqrt(3) / 300)
    costs = points["cost"].to_numpy()[1:]
    # Corners of the convex hull alone are up to 2.5 times as far apart.
    assert (costs[1:] / costs[:-1]).max() < 1.25


def test_the_largest_budget_is_as_good_as_a_model_of_all_features(fitted, table):
    X, y = table
    models = fitted.models_.models
    everything = models["forest", tuple(range(6))].predict(X[300:]).argmax(axis=1)
    full = (fitted.classes_[everything] == y[300:]).mean()
    assert (fitted.predict(X[300:]) == y[300:]).mean() > full - 0.03


def test_easy_examples_stop_early(fitted, table):
    X = table[0][300:]
    middle = list(fitted.stages(X))[fitted.n_stages_ // 2]
    assert np.unique(middle.cost).size > 1
    early = middle.cost == middle.cost.min()
    assert middle.estimate[early].min() > 0.5


def test_a_budget_below_every_acquisition_gets_the_free_constant(fitted, table):
    made, cost = fitted.predict_with_cost(table[0], budget=0.1)
    assert not cost.any()
    assert set(made) == {fitted.classes_[fitted.constant_.argmax()]}


def test_score_takes_a_budget(fitted, numbers, table):
    X, y = table[0][300:], table[1][300:]
    assert fitted.score(X, y, budget=8) == (fitted.predict(X, budget=8) == y).mean()
    model, X, y = numbers
    cost = model.operating_points_["cost"]
    assert model.score(X, y, budget=cost.iloc[0]) < model.score(X, y, budget=cost.iloc[-1])


def test_the_budget_of_the_constructor(table):
    X, y = table
    model = ScheduleCascadeClassifier(feature_costs=PRICES, budget=9, **QUICK).fit(X[:300], y[:300])
    np.testing.assert_array_equal(model.predict(X), model.predict(X, budget=9))
    # A budget below one is not a share.
    prices = [0.01, 0.04, 0.09, 0.02, 0.05, 0.07]
    model = ScheduleCascadeClassifier(feature_costs=prices, budget=0.09, **QUICK).fit(
        X[:300], y[:300]
    )
    assert 0 < model.acquisition_cost(X[300:]).mean() < 0.15


@pytest.mark.parametrize("unit", [1e12, 1e-12])  # scikit-learn's trees take 1e-16 for nothing
def test_the_unit_of_the_target_does_not_matter(numbers, unit):
    model, X, y = numbers
    other = clone(model).fit(X[:250], unit * y[:250])
    told, again = model.operating_points_, other.operating_points_
    np.testing.assert_allclose(other.predict(X[250:]), unit * model.predict(X[250:]), rtol=1e-6)
    assert len(told) > 2
    np.testing.assert_allclose(again["cost"], told["cost"], rtol=1e-6)
    np.testing.assert_allclose(again["score"], told["score"], rtol=1e-6)
    assert again["score"].iloc[0] == told["score"].iloc[0] == 0.0  # the mean, without rounding


def test_validation_data_are_trained_on(table):
    X, y = table
    cut = ScheduleCascadeClassifier(feature_costs=PRICES, **QUICK).fit(
        X[:200], y[:200], X[200:300], y[200:300]
    )
    whole = ScheduleCascadeClassifier(feature_costs=PRICES, **QUICK).fit(X[:300], y[:300])
    pd.testing.assert_frame_equal(cut.operating_points_, whole.operating_points_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_linear_algebra_inside_a_fit_has_one_thread(table, n_jobs):
    seen = set()

    class Watching(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.update((pool["user_api"], pool["num_threads"]) for pool in threadpool_info())
            return super().fit(X, y, sample_weight)

    X, y = table
    model = ScheduleCascadeClassifier(**(QUICK | {"estimators": Watching(), "n_jobs": n_jobs}))
    with threadpool_limits(2):
        model.fit(X[:100], y[:100])
        after = {p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"}
    # LightGBM, if loaded by now, has an OpenMP of its own, and is told its threads.
    assert ("blas", 2) not in seen
    assert {("blas", 1), ("openmp", 1)} <= seen
    assert after == {2}


def test_any_number_of_threads_and_a_pickle_give_the_same(table):
    X, y = table
    one = ScheduleCascadeClassifier(
        feature_costs=random_costs(6, 0), dynamic=False, random_state=1, n_stages=2, n_jobs=1
    )
    two = clone(one).set_params(n_jobs=2).fit(X[:100], y[:100])
    one.fit(X[:100], y[:100])
    pd.testing.assert_frame_equal(one.operating_points_, two.operating_points_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.predict_proba(X), again.predict_proba(X))


def test_own_nested_sets_by_name(table):
    X, y = table
    X = pd.DataFrame(X, columns=list("abcdef"))
    own = [["d"], ["d", "a"], ["d", "a", "b"]]
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **(QUICK | {"orders": [own]})).fit(X, y)
    assert model.points_[1].cascade.stages[0] == (3,)
    assert not model.acquired_features(X)[:, [2, 4, 5]].any()
    assert model.points_[1].cascade.name == "own 0"


def test_own_nested_sets_name_columns_that_are_called_by_numbers(table):
    X, y = table
    X = pd.DataFrame(X, columns=[5, 4, 3, 2, 1, 0])
    model = ScheduleCascadeClassifier(
        feature_costs=PRICES, **(QUICK | {"orders": [[[2], [2, 5]]]})
    ).fit(X, y)
    assert model.points_[1].cascade.stages[0] == (3,)
    assert not model.acquired_features(X)[:, [1, 2, 4, 5]].any()
    with pytest.raises(ValueError, match="unknown features: 7"):
        ScheduleCascadeClassifier(
            feature_costs=PRICES, **(QUICK | {"orders": [[[2], [2, 7]]]})
        ).fit(X, y)


@pytest.mark.parametrize("orders", [[[0], [0, 1]], [["d"], ["d", "a"]], [[]], [3], ["boosted"]])
def test_what_is_no_order_is_named(orders, table):
    X, y = table
    X = pd.DataFrame(X, columns=list("abcdef"))
    with pytest.raises(ParameterError, match=r"'gain_per_cost'. or nested lists of features, got"):
        ScheduleCascadeClassifier(**(QUICK | {"orders": orders})).fit(X, y)


def test_groups_are_acquired_whole(table):
    X, y = table
    costs = FeatureCosts([1, 1, 1, 1, 1, 1], [0, 0, 0, -1, -1, -1], [20])
    model = ScheduleCascadeClassifier(feature_costs=costs, **QUICK).fit(X, y)
    acquired = model.acquired_features(X)[:, :3]
    np.testing.assert_array_equal(acquired.any(axis=1), acquired.all(axis=1))


def test_what_cannot_be_is_refused(table):
    X, y = table
    for parameters, message in (
        ({"n_stages": 1}, "n_stages"),
        ({"cv": 1}, "cv"),
        ({"cv": 200}, "at least 400"),
        ({"budget": np.ones(3)}, "budget must be a number"),
        ({"budget": "two_se"}, "budget"),
        ({"dynamic": np.array(["yes", "auto"])}, "dynamic must be True, False or 'auto'"),
        ({"orders": "cheapest"}, "'boosted_path', 'schedule', 'gain_per_cost'"),
        ({"orders": []}, "orders must be a list of at least one, got"),
        ({"orders": [[["x"]]]}, "unknown features: x"),
        ({"estimators": ["forest", "forest"]}, "distinct models"),
        ({"estimators": 5}, "estimators must be a list of at least one, got 5"),
        ({"estimators": [1]}, "estimators must be one of 'forest', .*; got 1"),
    ):
        with pytest.raises(ParameterError, match=message):
            ScheduleCascadeClassifier(feature_costs=PRICES, **(QUICK | parameters)).fit(
                X[:300], y[:300]
            )


def test_numbers_stop_where_more_would_change_little(numbers):
    model, X, y = numbers
    points = model.operating_points_
    assert (np.diff(points["cost"]) > 0).all()
    stages = list(model.stages(X[250:]))
    assert any(np.unique(stage.cost).size > 1 for stage in stages)
    for stage, (_, told) in zip(stages, points.iterrows(), strict=True):
        r2 = 1 - np.mean((stage.output - y[250:]) ** 2) / y[250:].var()
        assert r2 == pytest.approx(told["score"], abs=0.25)
    order, known = model.points_[-1].cascade, model.models_.models
    assert {key for kind, key in known if kind == order.change_kind} == set(order.known[:-1])


def test_progress_is_told_on_request(table, capsys):
    X, y = table[0][:10], table[1][:10]  # two for each fold are enough
    for told in (True, False):
        verbose = {"verbose": True} if told else {}
        ScheduleCascadeClassifier(feature_costs=PRICES, **QUICK, **verbose).fit(X, y)
        assert ("order gain_per_cost" in capsys.readouterr().out) == told


def test_a_missing_value_is_skipped_at_its_stage(fitted, table):
    X, y = table[0][300:], table[1][300:]
    order = fitted.points_[-1].cascade.stages[-1]
    holed = X.copy()
    holed[:100, order[1]] = np.nan
    made = fitted.decisions(holed, fallback=True)
    assert not made.acquired[:100, order[1]].any()
    assert made.acquired[:100, order[2]].any()  # the stages go on without it
    whole = fitted.decisions(X)
    np.testing.assert_array_equal(made.prediction[100:], whole.prediction[100:])
    accuracy = (made.prediction == y)[:100].mean()
    first = (
        fitted.predict(X[:100], budget=fitted.operating_points_["cost"].iloc[0]) == y[:100]
    ).mean()
    assert first < accuracy <= (whole.prediction == y)[:100].mean() + 0.02


def test_numbers_do_without_a_missing_value(numbers):
    model, X, y = numbers
    holed = X[250:].copy()
    holed[:, model.points_[-1].cascade.stages[-1][0]] = np.nan
    made = model.decisions(holed, fallback=True)
    assert made.cost.max() < sum(PRICES)
    assert np.mean((made.prediction - y[250:]) ** 2) < y[250:].var()


def test_a_session_goes_on_without_a_value(fitted, table):
    session = fitted.session()
    refused = session.wanted[0][0]
    session.give({refused: np.nan})
    while not session.done:
        name = session.wanted[0][0]
        assert name != refused
        session.give({name: table[0][300, name]})
    assert 0 < session.probability <= 1
    assert 0 < session.cost <= sum(PRICES) - PRICES[refused]


def test_one_standard_error_from_the_best(table):
    X, y = table
    model = ScheduleCascadeClassifier(feature_costs=PRICES, budget="one_se", **QUICK).fit(
        X[:300], y[:300]
    )
    points = model.operating_points_
    best = points.iloc[-1]
    near = points[points["score"] >= best["score"] - best["score_se"]]
    assert near["cost"].iloc[0] < best["cost"]
    expected = model.predict(X, budget=float(near["cost"].iloc[0]))
    np.testing.assert_array_equal(model.predict(X), expected)
    # The error that counts is that of the best one.
    others = [9.0] * (len(points) - 1)
    model.operating_points_ = points.assign(score_se=[*others, best["score_se"]])
    np.testing.assert_array_equal(model.predict(X), expected)


def test_kinds_without_weight_at_the_ends_are_not_fitted_between_them(table, monkeypatch):
    X, y = table
    monkeypatch.setattr("budgetlearn.cascade.mixture.LEAST_WEIGHT", 0.3)
    sizes = []

    class Blind(DummyClassifier):
        def fit(self, X, y):
            sizes.append(X.shape[1])
            return super().fit(X, y)

    parameters = QUICK | {"estimators": [GaussianNB(), Blind()]}
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **parameters).fit(X[:300], y[:300])
    assert set(sizes) == {1, 6}
    mixtures = model.points_[-1].cascade.mixtures
    assert {mixture.kinds for mixture in mixtures} == {("GaussianNB 0",)}


def test_smooth_kinds_are_left_out_of_large_tables(table, monkeypatch):
    X, y = table
    monkeypatch.setattr("budgetlearn.cascade.estimator.MOST_SMOOTH_ROWS", 299)
    parameters = QUICK | {"estimators": ("forest", "linear", "kernel")}
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **parameters).fit(X[:300], y[:300])
    assert {kind for kind, _ in model.models_.models} == {"forest", "constant"}
    alone = ScheduleCascadeClassifier(feature_costs=PRICES, **(QUICK | {"estimators": "linear"}))
    assert {kind for kind, _ in alone.fit(X[:300], y[:300]).models_.models} == {
        "linear",
        "constant",
    }


def test_the_part_of_a_large_table_that_judges_is_predicted_as_judged(table, numbers, monkeypatch):
    X, y = table
    folds = np.where(np.arange(500) % 10, -1, 0)
    monkeypatch.setattr(estimator, "judged_folds", lambda y, *_: folds[: len(y)])
    monkeypatch.setattr(orders, "MOST_PILOT_ROWS", 0)
    parameters = QUICK | {"estimators": "boosting"}
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **parameters).fit(X, y)
    X, y, points = X[::10], y[::10], model.operating_points_
    budgets = points["cost"] * (1 + 1e-9)
    costs = [model.acquisition_cost(X, budget=each).mean() for each in budgets]
    np.testing.assert_allclose(costs, points["cost"], atol=1e-9)
    # No model has seen these rows, or is fitted again on all of them.
    scores = [model.score(X, y, budget=each) for each in budgets]
    np.testing.assert_allclose(scores, points["observed"], atol=1e-9)
    assert scores[-1] > 0.7
    _, X, y = numbers
    of_numbers = ScheduleCascadeRegressor(feature_costs=PRICES, **parameters).fit(X, y)
    promised = of_numbers.operating_points_["observed"].iloc[-1]
    assert of_numbers.score(X[::10], y[::10]) == pytest.approx(promised)


def test_better_models_weigh_more(table):
    X, y = table
    stump = DecisionTreeClassifier(max_depth=1)
    parameters = QUICK | {"estimators": [stump, GaussianNB()]}
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **parameters).fit(X[:300], y[:300])
    last = model.points_[-1].cascade.mixtures[-1]
    assert last.weights[last.kinds.index("GaussianNB 1")] > 0.8
    alike = QUICK | {"estimators": [GaussianNB(), GaussianNB(var_smoothing=1e-8)]}
    model = ScheduleCascadeClassifier(feature_costs=PRICES, **alike).fit(X[:300], y[:300])
    np.testing.assert_allclose(model.points_[-1].cascade.mixtures[-1].weights, 0.5, atol=0.05)


def test_documents_are_ranked_better_for_more():
    X, grades, queries = yahoo_like(1500, seed=1)
    # Grades of 3 are a tenth: by accuracy nothing is worth acquiring for so few.
    relevant, costs = (grades >= 2).astype(int), yahoo_costs()
    keep = np.argsort(costs.costs, kind="stable")[::8]  # 65 of the 519 features, of every price
    X, costs = X[:, keep], FeatureCosts(costs.costs[keep])
    model = ScheduleCascadeClassifier(feature_costs=costs, n_stages=5, **QUICK).fit(
        X[:900], relevant[:900]
    )
    scores = [
        average_precision_at_5(relevant[900:], shares[:, 1], queries[900:])
        for shares in model.staged_predict_proba(X[900:])
    ]
    chance = average_precision_at_5(relevant[900:], np.zeros(600), queries[900:])
    assert scores[0] == chance  # the free constant
    assert chance < scores[1] < scores[-1] - 0.1
    assert any(np.unique(stage.cost).size > 1 for stage in model.stages(X[900:]))


def test_no_operating_point_promises_less_than_the_free_constant():
    random = np.random.RandomState(3)
    X, y = random.normal(size=(120, 4)), (random.rand(120) < 0.25).astype(int)  # nothing to learn
    majority = 1 - y.mean()
    cascade = ScheduleCascadeClassifier(
        feature_costs=[1, 2, 3, 4], estimators="forest", cv=3, random_state=0
    )
    points = cascade.fit(X, y).operating_points_
    assert points[["score", "observed"]].to_numpy().min() >= majority - 1e-12
    assert points["cost"].iloc[0] == 0
    assert points["score"].iloc[0] == pytest.approx(majority)
    free, cost = cascade.predict_with_cost(np.full((5, 4), np.nan), budget=0)
    assert not free.any()
    assert not cost.any()


def test_of_coins_no_more_is_promised_than_of_guesses():
    for seed in (1, 2):  # .575 and .555 where nothing is taken off
        random = np.random.RandomState(seed)
        X, y = random.normal(size=(200, 50)), random.permutation(np.arange(200) % 2)
        cascade = ScheduleCascadeClassifier(
            estimators="linear", orders="boosted_path", cv=3, random_state=seed
        )
        points = cascade.fit(X, y).operating_points_
        assert points[["score", "observed"]].to_numpy().max() <= 0.5 + np.sqrt(0.25 / 200)


def test_early_points_are_promised_what_labels_say_if_there_are_many():
    # The forest's probabilities alone promise these points .05 too much.
    X, y = make_classification(
        1500, 8, n_informative=6, n_classes=3, class_sep=0.8, flip_y=0.05, random_state=0
    )
    cascade = ScheduleCascadeClassifier(
        feature_costs=range(1, 9), **QUICK | {"estimators": "forest", "cv": 3}
    )
    points = cascade.fit(X, y).operating_points_
    early = points[points["cost"].between(1, 12)]
    assert len(early) > 5
    assert (early["score"] - early["observed"]).abs().mean() < 0.02
    assert (np.diff(points["score"]) > 0).all()


def test_no_operating_point_in_regression_promises_less_than_the_mean():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(80, 3)), random.normal(size=80)
    cascade = ScheduleCascadeRegressor(estimators="forest", cv=3, random_state=0).fit(X, y)
    points = cascade.operating_points_
    assert points[["score", "observed"]].to_numpy().min() >= 0.0
    np.testing.assert_allclose(cascade.predict(X[:3], budget=0), y.mean())


@pytest.mark.parametrize("kind", ["linear", "kernel", "boosting", "forest"])
def test_numbers_far_from_zero_are_learned_as_well(numbers, kind):
    _, X, y = numbers
    chosen = {"estimators": kind, "orders": [[[0], [0, 1], [0, 1, 2]]]}
    model = ScheduleCascadeRegressor(cv=2, random_state=0, **chosen)
    far = 1e9 * y.std()  # beyond the seven digits of single precision
    near, moved = (clone(model).fit(X[:250], y[:250] + centre) for centre in (0.0, far))
    assert near.score(X[250:], y[250:]) > 0.2
    assert moved.score(X[250:], y[250:] + far) > near.score(X[250:], y[250:]) - 0.03
    told, again = (each.operating_points_["score"].iloc[-1] for each in (near, moved))
    assert again == pytest.approx(told, abs=0.03)


def test_a_budget_above_the_cap_stands_in_for_the_one_of_the_constructor(fitted):
    limited = copy(fitted).set_params(budget=0.5)
    assert limited.choose() == 0
    full = fitted.feature_costs_.full
    assert limited.choose(full, max_cost=full) == limited.choose(full) > 0
