"""`AutoBudgetClassifier` and `-Regressor`: schedules, what counts, few rows, and little time."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB

from budgetlearn import (
    AutoBudgetClassifier,
    AutoBudgetRegressor,
    BudgetRFClassifier,
    FilterForestClassifier,
    ScheduleCascadeClassifier,
    SparseLinearClassifier,
)
from budgetlearn.auto import estimator, evidence
from budgetlearn.auto.estimator import Entry, _increasing
from budgetlearn.auto.evidence import Comparison
from budgetlearn.auto.methods import Method, Stages, competitors
from budgetlearn.auto.scores import Objective
from budgetlearn.costs import FeatureCosts
from budgetlearn.protocol.checked_data import Examples
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.auto.conftest import limit_folds, limit_methods

X, Y = make_classification(240, 6, n_informative=3, random_state=0)
PRICES = np.arange(1.0, 7.0)


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        limit_methods(patch)
        return AutoBudgetClassifier(feature_costs=PRICES, random_state=0).fit(X[:160], Y[:160])


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("kind", [AutoBudgetClassifier, AutoBudgetRegressor])
def test_promises_of_the_protocol_are_kept(kind):
    check_budgeted_estimator(kind(random_state=0))


@pytest.mark.usefixtures("fast")
def test_promises_are_kept_where_errors_have_costs():
    # Decisions by expected cost must be the same from a table, a source and a session.
    check_budgeted_estimator(AutoBudgetClassifier(error_costs=[[0, 40], [200, 0]], random_state=0))


def test_the_schedule_starts_with_nothing_and_ends_with_everything(made):
    points = made.operating_points_
    assert (points["cost"].iloc[0], points["cost"].iloc[-1]) == (0, PRICES.sum())
    assert points["setting"].iloc[0] == {"method": "constant"}
    between = points.iloc[:-1]
    assert (np.diff(between["score"]) >= 0).all()
    assert (between["score"].iloc[1:] > between["score"].iloc[0]).all()
    assert (np.diff(between["cost"]) > 0).all()
    assert set(made.comparison_["method"]) >= {"constant", "LightGBM", "sparse linear"}
    assert made.score(X[160:], Y[160:]) > 0.8


def test_scores_of_models_are_less_certain_than_those_of_the_comparison(made):
    compared = made.comparison_.groupby("method")["score_se"]
    for row in made.operating_points_.itertuples():
        factor = 1.5 if row.cost else 1.0
        of_rows = compared.get_group(row.setting["method"])
        assert np.isclose(factor * of_rows, row.score_se).any()


def test_quoted_costs_are_those_of_the_model_that_predicts(made):
    for row in made.operating_points_.itertuples():
        spent = made.acquisition_cost(X[:160], budget=row.cost).mean()
        assert spent <= row.cost * 1.001 + 1e-9


def test_measured_points_are_those_of_the_rows_that_measure(monkeypatch):
    limit_folds(monkeypatch)
    few = [each for each in competitors(True, 6) if each.name in ("BudgetRF", "LightGBM")]
    monkeypatch.setattr(estimator, "competitors", lambda *_: few)
    auto = AutoBudgetClassifier(feature_costs=PRICES, random_state=0).fit(X[:160], Y[:160])
    points = auto.measure(X[160:161], Y[160:161])
    # One row is right or wrong, and says as little of the model either way: a share of 2 in 3.
    assert (points["score_se"] == [0.0, *[np.sqrt(2 / 9)] * (len(points) - 1)]).all()
    assert list(points) == list(auto.operating_points_)
    column = pd.DataFrame({"class": Y[160:]})  # of targets
    pd.testing.assert_frame_equal(auto.measure(X[160:], column), auto.measure(X[160:], Y[160:]))
    for row, stage in zip(points.itertuples(), auto.stages(X[160:161]), strict=True):
        assert row.cost == pytest.approx(stage.cost[0])
        assert row.variables == tuple(np.flatnonzero(stage.acquired[0]))
        assert row.n_features == len(row.variables)


def test_a_cost_that_all_rows_share_needs_no_doubt(monkeypatch):
    limit_folds(monkeypatch)
    linear = [each for each in competitors(True, 6) if each.name in ("sparse linear", "LightGBM")]
    monkeypatch.setattr(estimator, "competitors", lambda *_: linear)
    auto = AutoBudgetClassifier(feature_costs=PRICES, random_state=0).fit(X[:160], Y[:160])
    between = auto.operating_points_["cost"].iloc[1:-1]
    assert len(between)
    for stage, cost in between.items():
        assert auto.choose(cost, budget_mode="guaranteed") == stage
        assert auto.certify(X[160:], Y[160:], cost=cost).stage == stage


def fitted_to_noise(seed, share):
    random = np.random.default_rng(seed)
    y = (random.random(300) < share).astype(int)
    return AutoBudgetClassifier(feature_costs=PRICES, random_state=0).fit(
        random.normal(size=(300, 6)), y
    )


def test_noise_buys_nothing(fast, monkeypatch):
    made = fitted_to_noise(0, 0.3)
    assert made.recommended_ == 0
    assert made.acquisition_cost(X[:5]).sum() == 0
    assert set(made.predict(X[:5])) == {0}
    # What buys everything is shown all the same.
    assert len(made.operating_points_) == 2
    # Nor does a large budget if all columns predict better by chance.
    linear = [each for each in competitors(True, 6) if each.name == "linear model"]
    monkeypatch.setattr(estimator, "competitors", lambda *_: linear)
    lucky = fitted_to_noise(11, 0.4)
    assert np.diff(lucky.comparison_["score"]) > 0.006
    assert lucky.operating_points_["cost"].tolist() == [0, PRICES.sum()]
    assert lucky.choose(PRICES.sum()) == 0


def test_total_cost_weighs_purchases_against_errors(fast):
    # Where errors cost next to nothing nothing is worth its price; where they cost a lot, much is.
    little = AutoBudgetClassifier(
        feature_costs=PRICES, error_costs=[[0, 0.1], [0.1, 0]], random_state=0
    )
    assert little.fit(X, Y).recommended_ == 0
    much = AutoBudgetClassifier(
        feature_costs=PRICES, error_costs={(0, 1): 500, (1, 0): 500}, random_state=0
    )
    much.fit(X[:160], Y[:160])
    assert much.recommended_ > 0
    held_out = much.measure(X[160:], Y[160:])["score"]
    assert held_out[much.recommended_] > held_out[0] + 50
    assert much.score(X[160:], Y[160:]) == pytest.approx(held_out[much.recommended_])
    # Missing the second class is worse: without features it is the answer.
    uneven = AutoBudgetClassifier(
        feature_costs=PRICES, error_costs=[[0, 1], [9, 0]], random_state=0
    ).fit(X, Y)
    assert uneven.predict(X[:1], budget=0)[0] == 1


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "neg_log_loss", "f1"])
def test_every_score_orders_the_schedule(scoring):
    made = AutoBudgetClassifier(feature_costs=PRICES, scoring=scoring, random_state=0).fit(
        X[:160], Y[:160]
    )
    points, held_out = made.operating_points_, made.measure(X[160:], Y[160:])
    gap = np.abs(points["score"] - held_out["score"])
    assert (gap < 4 * np.hypot(points["score_se"], held_out["score_se"]) + 0.02).all()
    assert held_out["score"][made.recommended_] > held_out["score"][0]
    own = {entry.model.scoring for entry in made.entries_[1:]}
    assert own == {"f1_macro" if scoring == "f1" else scoring}


@pytest.mark.usefixtures("fast")
def test_f1_stays_that_of_one_class_where_other_rows_have_more_of_it():
    made = AutoBudgetClassifier(
        feature_costs=PRICES, scoring="f1", max_minutes=1e-6, random_state=0
    )
    first, second = np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)
    made.fit(X[rows := np.r_[first[:80], second[:70]]], Y[rows])
    assert made.score_name_ == "F1 of 1"
    more = np.r_[first[80:100], second[70:110]]
    found = made.measure(X[more], Y[more])["score"]
    labels = list(made.staged_predict(X[more]))
    for score, label in zip(found, labels, strict=True):
        assert score == pytest.approx(f1_score(Y[more], label, zero_division=0))


def test_regression_by_either_score(fast):
    table, y = make_regression(150, 6, n_informative=3, noise=5, random_state=0)
    for scoring, best in ((None, np.mean), ("neg_mean_absolute_error", lambda y: np.sort(y)[49])):
        made = AutoBudgetRegressor(feature_costs=PRICES, scoring=scoring, random_state=0)
        made.fit(table[:100], y[:100])
        held_out = made.measure(table[100:], y[100:])["score"]
        assert held_out[made.recommended_] > held_out[0]
        assert made.predict(table[:3], budget=0) == pytest.approx(np.full(3, best(y[:100])))


def test_a_class_of_five_rows(fast):
    y = Y[:150].copy()
    y[:5] = 2
    made = AutoBudgetClassifier(feature_costs=PRICES, random_state=0).fit(X[:150], y)
    assert made.predict_proba(X[:3]).shape == (3, 3)
    np.testing.assert_allclose(made.predict_proba(X).sum(axis=1), 1)
    assert not made.skipped_


@pytest.mark.usefixtures("fast")
def test_of_many_rows_some_compare_and_all_teach_what_is_chosen(monkeypatch):
    learned, shares = [], set()

    def noted(self, method, examples):
        learned.append(len(examples.y))
        shares.add(self.times)
        return fitted(self, method, examples)

    fitted = Comparison.fitted
    monkeypatch.setattr(Comparison, "fitted", noted)
    monkeypatch.setattr(estimator, "MOST_COMPARED", 60)
    rare = np.r_[np.where(Y[:237] == 0, "no", "yes"), ["rare"] * 3]
    made = AutoBudgetClassifier(feature_costs=PRICES, max_minutes=60, random_state=0).fit(X, rare)
    assert made.score(X, rare) > 0.8
    assert max(count for count in learned if count < 240) <= 41  # two of three parts of 61
    assert learned[-1] == 240
    assert shares == {240 / 61}  # the rare class keeps a row
    learned.clear()
    made.set_params(max_minutes=None).fit(X, rare)
    assert min(learned) == 160
    monkeypatch.setattr(evidence, "MANY_ROWS", 200)
    monkeypatch.setattr(evidence, "LEAST_FOLDS", 2)
    made.fit(X, rare)
    assert min(learned) == 120


@pytest.mark.usefixtures("quick_cascade")
def test_without_time_the_constant_and_all_features_remain(monkeypatch):
    limit_folds(monkeypatch)
    made = AutoBudgetClassifier(feature_costs=PRICES, max_minutes=1e-6, random_state=0).fit(X, Y)
    assert {"cascade", "msB"} <= set(made.skipped_)
    assert "longer than max_minutes" in made.skipped_["cascade"]
    assert made.skipped_["LightGBM"] == made.skipped_["cascade"]  # 100 classes take it minutes
    assert set(made.comparison_["method"]) == {"constant", "linear model"}
    assert made.operating_points_["cost"].tolist() == [0, PRICES.sum()]


def test_other_methods_compete(fast):
    other = FilterForestClassifier(n_estimators=20)
    made = AutoBudgetClassifier(feature_costs=PRICES, others={"mine": other}, random_state=0).fit(
        X, Y
    )
    assert "mine" in set(made.comparison_["method"])
    assert not hasattr(other, "classes_")


def test_stored_models_predict_alike_and_hold_no_rows(made):
    again = pickle.loads(pickle.dumps(made))
    for budget in (0, 3, 10, PRICES.sum()):
        np.testing.assert_array_equal(again.predict(X, budget), made.predict(X, budget))
    assert again.session(budget=PRICES.sum()).wanted
    for entry in made.entries_[1:]:
        assert "_unmeasured" not in vars(entry.model)


def test_a_cap_leaves_nobody_without_an_answer(made):
    # The constant costs nothing, and so is within every cap.
    spent = made.acquisition_cost(X, budget=PRICES.sum(), max_cost=0.5)
    assert spent.max() <= 0.5


def test_groups_and_names_reach_the_methods(fast):
    groups = [0, 0, -1, -1, -1, -1]
    costs = FeatureCosts(PRICES, groups, [50.0])
    made = AutoBudgetClassifier(feature_costs=costs, random_state=0).fit(X, Y)
    assert made.operating_points_["cost"].iloc[-1] == pytest.approx(costs.full)


def test_bad_parameters_are_refused():
    for named, message in (
        ({"max_minutes": 0}, "max_minutes"),
        ({"budgets": 20}, "budgets must be a list of at least one number, got 20"),
        ({"budgets": [-1]}, "budgets"),
        ({"scoring": "r2"}, "scoring"),
        ({"others": [GaussianNB()]}, "others must be a dict from name to estimator, got"),
        ({"scoring": "accuracy", "error_costs": [[0, 1], [1, 0]]}, "not both"),
    ):
        with pytest.raises(ParameterError, match=message):
            AutoBudgetClassifier(feature_costs=PRICES, **named).fit(X, Y)
    with pytest.raises(ParameterError, match="10 rows or more"):
        AutoBudgetClassifier(feature_costs=PRICES).fit(X[:8], [0, 1] * 4)


def test_no_threads_are_refused_and_skip_no_method():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        AutoBudgetClassifier(feature_costs=PRICES, n_jobs=0).fit(X, Y)


def test_every_method_can_be_made_and_copied():
    costs = FeatureCosts(PRICES)
    for classifies in (True, False):
        for method in competitors(classifies, 6):
            clone(method.make(costs, 0, 1))
    assert "msB" not in {each.name for each in competitors(True, 61)}


@pytest.mark.usefixtures("quick_cascade")
def test_what_a_model_remembers_costs_more_on_other_rows(monkeypatch):
    costs = FeatureCosts(PRICES)
    model = BudgetRFClassifier(feature_costs=PRICES, n_estimators=2, random_state=0).fit(X, Y)
    stages = Stages(model, X)
    stages.costs, stages.errors = np.array([2.0, 20.0, 3.0]), np.array([0.5, 1.0, 0.0])
    # Half of the correction, 1, is as uncertain as the rows are.
    assert stages.quoted(0, 1.5) == (3.0, pytest.approx(np.hypot(0.75, 0.5)))
    assert stages.quoted(0, 1.0) == (2.0, 0.5)
    assert stages.quoted(1, 1.5)[0] == costs.full
    # Where all pay the same nothing depends on what was seen.
    assert stages.quoted(2, 1.5) == (3.0, 0.0)
    # Of equals the cheapest is chosen; on a path, whose scores are unknown, the last.
    stages.scores = np.array([0.9, 0.9, 0.5])
    for measured, chosen in ((True, 0), (False, 1)):
        stages.measured = measured
        assert [stages.choose(budget) for budget in (1, 30)] == [None, chosen]
    # What is quoted is within the budget; nothing costs more than all features.
    assert [stages.choose(2.9, inflation) for inflation in (1.0, 1.5)] == [0, None]
    assert stages.choose(costs.full, 1.5) == 1
    # Of labels that are partly chance a model is surest where it has seen them.
    table, y = make_classification(160, 6, n_informative=3, flip_y=0.3, random_state=1)
    settings = {"estimators": "forest", "orders": "gain_per_cost", "n_stages": 3, "cv": 2}
    limit_folds(monkeypatch)
    cascade = Method("cascade", ScheduleCascadeClassifier, settings)
    # With weights the cascade's own measure, an average by weight, is no cost of rows.
    train = Examples(table, y, y, weight=np.tile([0.99, 1.01], 80))
    costs = FeatureCosts(2.0**-50 * costs.costs)  # in any unit
    comparison = Comparison(
        train=train,
        classes=np.arange(2),
        costs=costs,
        budgets=[2.0**-50 * 5.0, 2.0**-50 * 10.0, costs.full],
        objective=Objective("accuracy"),
        seed=0,
        n_jobs=1,
        deadline=None,
        fill=None,
        constant=np.full(2, 0.5),
    )
    policies, _ = comparison.run([cascade])
    assert min(policy.inflation for policy in policies) == 1
    assert max(policy.inflation for policy in policies) > 1.2


def test_the_cost_of_a_cascade_is_quoted_as_its_own_stages_measured_it_out_of_fold():
    # Of labels that are partly chance a cascade is surest of the rows that it was fitted on.
    table, y = make_classification(900, 6, n_informative=3, flip_y=0.3, random_state=1)
    train, other = table[:300], table[300:]
    cascade = ScheduleCascadeClassifier(
        feature_costs=PRICES, estimators="forest", orders="gain_per_cost", random_state=0
    ).fit(train, y[:300])
    stages = Stages(cascade, train)
    np.testing.assert_array_equal(stages.costs, cascade.operating_points_["cost"])
    # The model that predicts is none of those that were measured.
    most, error = stages.errors.argmax(), stages.errors.max()
    assert error > 0
    assert stages.quoted(most, 7.0) == (stages.costs[most], pytest.approx(1.5 * error))
    # Three copies of each row in a group of their own say no more than the row.
    copies = Stages(cascade, np.repeat(train, 3, axis=0), groups=np.repeat(np.arange(300), 3))
    np.testing.assert_allclose(copies.errors, stages.errors * np.sqrt(300 / 299))
    # On one row of the fit alone, costs do not differ, but those out of fold did.
    own = cascade.operating_points_["cost_se"][most]
    assert Stages(cascade, train[:1]).quoted(most, 1.0)[1] == pytest.approx(own)
    spent = [each.cost.mean() for each in cascade.stages(other, {"acquired"})][-1]
    # Weighted means are no costs of rows.
    weighed = Stages(cascade, train, weighed=True)
    assert not weighed.out_of_fold
    assert weighed.costs[-1] < 0.9 * spent
    assert stages.costs[-1] == pytest.approx(spent, rel=0.1)
    # What was measured on rows that were put aside says less than models on parts of all rows do.
    forest = FilterForestClassifier(feature_costs=PRICES, n_estimators=5, random_state=0)
    forest.fit(train[:200], y[:200], train[200:], y[200:300])
    assert not Stages(forest, train[:200]).out_of_fold


def test_of_entries_that_cost_the_same_only_the_best_stays():
    def entry(name, cost, score, last=False):
        return Entry(name, score, 0.1, last=last, cost=cost)

    found = [
        entry("constant", 0.0, 0.5),
        entry("worse and free", 0.0, 0.6),
        entry("free", 0.0, 0.7),
        entry("as good and free", 0.0, 0.7),
        entry("worse", 2.949, 0.743),
        entry("better", 2.951, 0.755),
        entry("dominated", 4.0, 0.75),
        entry("more", 5.0, 0.8),
        entry("as good for the same", 5.01, 0.8),
        entry("as good for more", 9.0, 0.8),
        entry("all", 40.0, 0.79, last=True),
    ]
    kept = [entry.method for entry in _increasing(found)]
    assert kept == ["constant", "free", "better", "more", "as good for more", "all"]


@pytest.mark.parametrize("cost", [6.99, 7.0, 7.01])
def test_what_takes_the_place_of_a_sure_entry_is_sure(cost):
    found = [
        Entry("constant", 0.0, 0.0),
        Entry("cheap", 0.5, 0.0, sure=False, cost=2.0),
        # The best of many, less what the choice flatters it by; and all columns, chosen of few.
        Entry("linear", 0.87, 0.0, sure=True, cost=7.0),
        Entry("everything", 0.88, 0.0, sure=False, last=True, cost=cost),
    ]
    kept = [(entry.method, entry.sure) for entry in _increasing(found)]
    assert kept == [("constant", True), ("cheap", False), ("everything", True)]
    unsure = [replace(entry, sure=False) for entry in found]
    assert not any(entry.sure for entry in _increasing(unsure))
    worse = _increasing([*found[:3], replace(found[3], score=0.86)])
    assert [entry.method for entry in worse if entry.sure] == ["constant", "linear"]


def test_of_rows_that_share_a_score_a_budget_takes_the_most_expensive(made):
    spending = pickle.loads(pickle.dumps(made))
    points = spending.operating_points_
    assert len(points) > 3
    points.loc[2, "score"] = points.loc[1, "score"]
    between = (points["cost"][2] + points["cost"][3]) / 2
    assert spending.choose(between) == 2
    assert spending.choose(points["cost"][1]) == 1


@pytest.mark.usefixtures("fast")
def test_a_model_that_buys_nothing_is_no_row_of_the_schedule():
    # Few rows: at small budgets the folds' models buy something and that of all rows does not.
    table, y = make_classification(
        400, 6, n_informative=3, weights=[0.85], flip_y=0.1, class_sep=0.7, random_state=0
    )
    made = AutoBudgetClassifier(feature_costs=PRICES, class_weight="balanced", random_state=0)
    points = made.fit(table[:200], y[:200]).operating_points_
    assert points["setting"].iloc[0] == {"method": "constant"}
    assert (points["cost"].iloc[1:] > 0).all()


def test_the_constant_stays_the_first_row_where_free_features_tell_more(fast):
    prices = [0.0, 0.0, 0.0, 0.0, 0.0, 6.0]
    made = AutoBudgetClassifier(feature_costs=prices, random_state=0).fit(X[:160], Y[:160])
    points = made.operating_points_
    assert points["setting"].iloc[0] == {"method": "constant"}
    assert (points["cost"].iloc[1], points["score"].iloc[1] > points["score"].iloc[0]) == (0, True)
    assert len(set(next(made.staged_predict(X[:9])))) == 1
    assert made.choose(0) == 1


@pytest.mark.usefixtures("fast")
def test_free_features_are_a_step_of_their_own_beside_others():
    told = np.abs(np.corrcoef(X.T, Y)[-1, :-1]).argmax()
    prices = np.where(np.arange(6) == told, 0.0, 1.0)
    made = AutoBudgetClassifier(feature_costs=prices, random_state=0).fit(X[:160], Y[:160])
    points = made.operating_points_
    assert (made.comparison_["budget"].min(), points["cost"].iloc[1]) == (0, 0)
    assert points["variables"].iloc[1] == (told,)
    assert points["score"].iloc[1] > points["score"].iloc[0] + 0.1


@pytest.mark.parametrize(("cost", "is_kept"), [(0.5, False), (1.9, False), (2, True), (5, True)])
def test_a_model_far_cheaper_than_those_out_of_fold_does_not_get_their_score(cost, is_kept):
    policy = SimpleNamespace(place=0, spent=np.array([8.0, 0]), inflation=1.0, temperature=1.0)
    model = SimpleNamespace(feature_costs_=FeatureCosts([1, 9]))
    stages = SimpleNamespace(model=model, acquires=[True, True])
    stages.quoted = lambda *_: (cost, 0.0)
    none = SimpleNamespace(budgets=[9.0], fill_of=lambda _: None, shift_of=lambda _: None)
    # The second case has no stage within the budget on unseen rows.
    for within, stage in ((1, 1), (None, 0)):
        stages.choose = lambda _, inflation=None, within=within: within if inflation else 0
        entry = AutoBudgetClassifier()._bought(Entry("any", 0.9, 0.1), policy, stages, none)
        assert (entry.stage == stage) if is_kept else entry is None
    # Also where features are free nobody needs a second constant.
    stages.acquires, model.feature_costs_ = [False, False], FeatureCosts([0, 9])
    assert AutoBudgetClassifier()._bought(Entry("any", 0.9, 0.1), policy, stages, none) is None


@pytest.mark.usefixtures("fast")
def test_the_free_prediction_is_that_of_all_rows_that_are_learned_from():
    # Most of the training rows are of the first class, most of all rows of the second.
    first, second = np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)
    train, valid = np.r_[first[:30], second[:20]], np.r_[first[30:35], second[20:80]]
    made = AutoBudgetClassifier(feature_costs=PRICES, max_minutes=1e-6, random_state=0)
    made.fit(X[train], Y[train], X[valid], Y[valid])
    every = np.r_[Y[train], Y[valid]]
    assert made.predict(X[:1], budget=0) == [1]
    assert made.operating_points_["score"][0] == np.mean(every == 1)
    np.testing.assert_allclose(made.predict_proba(X[:1], budget=0)[0, 1], every.mean())


def test_what_cannot_compete_is_refused_before_any_fit(monkeypatch):
    monkeypatch.setattr(Comparison, "_compared", lambda *_: pytest.fail("a method was fitted"))
    with pytest.raises(ValueError, match="feature_costs"):
        AutoBudgetClassifier(others={"mine": GaussianNB()}).fit(X, Y)


@pytest.mark.usefixtures("fast")
def test_a_solver_that_finds_nothing_skips_its_method(monkeypatch):
    def fails(self, *_):
        raise RuntimeError("glmnet found no solution.")

    monkeypatch.setattr(SparseLinearClassifier, "_path", fails)
    made = AutoBudgetClassifier(feature_costs=PRICES, random_state=0).fit(X[:160], Y[:160])
    assert made.skipped_ == {"sparse linear": "glmnet found no solution"}


def test_few_rows_leave_the_cascade_in(monkeypatch):
    cascade = [each for each in competitors(True, 3) if each.name == "cascade"]
    monkeypatch.setattr("budgetlearn.auto.estimator.competitors", lambda *_: cascade)
    monkeypatch.setattr("budgetlearn.auto.evidence.REPEATS", ())
    rows = slice(None, 10 * (len(Y) // 10), len(Y) // 10)
    assert not AutoBudgetClassifier(random_state=0).fit(X[rows, :3], Y[rows]).skipped_
