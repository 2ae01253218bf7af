"""One run of one method: what is fitted, charged and recorded, and what becomes of failures."""

import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from budgetbench.analysis.areas import area_table
from budgetbench.analysis.schedules import compressed_points, coverage_table
from budgetbench.study import records
from budgetbench.study.experiment import failed_row, run_method
from budgetbench.study.methods import build
from budgetlearn.auto import estimator, methods
from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import ConfigError, IncompletePathWarning
from budgetlearn.metrics import average_precision_at_5
from budgetlearn.peers import FreeConstantClassifier
from tests.auto.conftest import limit_folds, smaller

LOGIT = {"class": "budgetlearn.msb.LogitPathClassifier", "parameters": {"n_lambda": 20}}
CONSTANT = {"class": "budgetlearn.peers.FreeConstantClassifier"}
ALL = {
    "class": "budgetlearn.peers.AllFeaturesClassifier",
    "parameters": {
        "estimator": {
            "class": "sklearn.tree.DecisionTreeClassifier",
            "parameters": {"max_depth": 3},
        }
    },
}


class Broken(BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no\nsuch luck")


class Slow(FreeConstantClassifier):
    """Fits for a twentieth of a second, after one that a checkpoint remembers."""

    resumed_seconds_ = 100.0

    def fit(self, X, y):
        time.sleep(0.05)
        return super().fit(X, y)


class Grumbling(FreeConstantClassifier):
    """Has something to say of its fit."""

    def fit(self, X, y):
        warnings.warn("look out", UserWarning, stacklevel=1)
        return super().fit(X, y)


class TwiceEarly(FreeConstantClassifier):
    """Ends early, and tells of it twice."""

    def fit(self, X, y):
        for reason in ("the first reason", "what followed from it"):
            warnings.warn(reason, IncompletePathWarning, stacklevel=1)
        return super().fit(X, y)


class Uneven(FreeConstantClassifier):
    """Has a stage more on odd numbers of rows."""

    def stages(self, X, which=None):
        for _ in range(1 + len(X) % 2):
            yield from super().stages(X, which)


class Stageless(FreeConstantClassifier):
    def stages(self, X, parts=None):
        return iter(())


class Constant(ClassifierMixin, BaseEstimator):
    """Of a user, without stages; says `said` in place of one of its answers."""

    def __init__(self, said=None):
        self.said = said

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def _answer(self, name, array):
        return self.said[name](array) if self.said and name in self.said else array

    def predict(self, X):
        return self._answer("output", np.full(len(X), self.classes_[0]))

    def predict_proba(self, X):
        shares = np.full((len(X), len(self.classes_)), 1 / len(self.classes_))
        return self._answer("probabilities", shares)

    def acquired_features(self, X):
        return self._answer("acquired", np.zeros(X.shape, dtype=bool))


def numbered(array):
    """The numbers of the columns in place of which of them were acquired."""
    return np.tile(np.arange(array.shape[1]), (len(array), 1))


WRONG = {
    "a column": ("output", lambda a: a[:, None], "output of shape (36, 1), not (36,)"),
    "a row less": ("output", lambda a: a[1:], "output of shape (35,), not (36,)"),
    "a class less": ("probabilities", lambda a: a[:, 1:], "of shape (36, 2), not (36, 3)"),
    "not known": ("probabilities", lambda a: a * np.nan, "do not sum to 1"),
    "too much": ("probabilities", lambda a: a * 5, "do not sum to 1"),
    "from nothing": ("output", lambda a: np.arange(len(a)) % 3, "differs between rows that acq"),
    "some rows": ("acquired", lambda a: a[:5], "acquired of shape (5, 13), not (36, 13)"),
    "numbers of columns": ("acquired", numbered, "values other than true and false"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_of_another_form_is_a_failure_and_no_score(wine_runs, name):
    said, change, message = WRONG[name]
    scoring = "neg_log_loss" if said == "probabilities" else None
    spec = {"class": f"{__name__}.Constant", "scoring": scoring}
    (right,) = run_method("own", spec, wine_runs[0])
    assert right["status"] == "ok"
    asked = {**spec, "parameters": {"said": {said: change}}}
    validation = replace(wine_runs[0], valid=wine_runs[0].test)  # as many rows
    (row,) = run_method("own", asked, validation)
    assert f"failed: ConfigError: Constant gives {said}" in row["status"]
    assert message in row["status"]
    ones = {**spec, "parameters": {"said": {"acquired": lambda array: array.astype(int)}}}
    (numbers,) = run_method("own", ones, wine_runs[0])
    assert (numbers["status"], numbers["cost"]) == ("ok", 0)


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_a_part_without_a_score_is_a_failure(regression_run):
    X, y = regression_run.test
    single = replace(regression_run, test=(X[:1], y[:1]), choosing=None)
    (row,) = run_method("constant", {"class": "budgetlearn.peers.FreeConstantRegressor"}, single)
    assert row["status"] == "failed: ValueError: r2 of 1 rows is nan: enlarge that part"


def test_controls_bracket_the_cost(wine_runs):
    run = wine_runs[0]
    (free,) = run_method("constant", CONSTANT, run)
    (full,) = run_method("all_features", ALL, run)
    y = run.test[1]
    assert (free["cost"], free["n_features"]) == (0, 0)
    assert free["test_score"] == np.mean(y == np.bincount(run.train[1]).argmax())
    assert full["cost_fraction"] == pytest.approx(1)
    assert full["n_features"] == 13
    assert full["test_score"] > free["test_score"]
    (unpaid,) = run_method("all_features", ALL, replace(run, costs=FeatureCosts(np.zeros(13))))
    assert (unpaid["status"], unpaid["cost_fraction"]) == ("ok", 0)


def test_validation_scores_of_a_model_that_trained_on_them_are_out_of_fold(wine_runs):
    forest = {"estimators": "forest", "orders": "gain_per_cost"}
    spec = {"class": "budgetlearn.cascade.ScheduleCascadeClassifier", "parameters": forest}
    fitted = []
    frame = records.table(run_method("cascade", spec, wine_runs[0], fitted=fitted))
    told = fitted[0].operating_points_
    assert set(frame["status"]) == {"ok"}
    np.testing.assert_array_equal(frame["valid_score"], told["score"])
    np.testing.assert_array_equal(frame["valid_cost"], told["cost"])
    assert frame["valid_score"].max() < 1  # in-sample all are right
    run, model = wine_runs[0], fitted[0]
    # What one example pays at most is not told out of fold, and test rows must not say it.
    most = [run.costs.total(stage.acquired).max() for stage in model.stages(run.valid[0])]
    np.testing.assert_array_equal(frame["valid_cost_max"], most)
    assert (frame["valid_cost_max"] != frame["cost_max"]).any()


def test_a_study_can_run_the_automatic_choice(wine_runs, regression_run, monkeypatch):
    few = {"LightGBM", "linear model", "BudgetRF"}
    every = methods.competitors

    def competitors(*task):
        return [smaller(each) for each in every(*task) if each.name in few]

    monkeypatch.setattr(estimator, "competitors", competitors)
    limit_folds(monkeypatch)
    entries = yaml.safe_load(Path("config/methods.yaml").read_text(encoding="utf-8"))
    for name, run in (("auto", wine_runs[0]), ("auto_regressor", regression_run)):
        frame = records.table(run_method(name, entries[name], run))
        assert set(frame["status"]) == {"ok"}
        assert frame["cost"].iloc[0] == 0
        assert frame["cost_fraction"].iloc[-1] == pytest.approx(1)
        assert frame["test_score"].iloc[-1] > frame["test_score"].iloc[0] + 0.3


def test_rows_that_choose_between_methods_and_the_others_are_scored_apart(wine_runs):
    run, fitted = wine_runs[0], []
    row = list(run_method("all", ALL, run, fitted=fitted))[-1]
    right = fitted[0].predict(run.test[0]) == run.test[1]
    assert row["choice_score"] == pytest.approx(right[run.choosing].mean())
    assert row["held_out_score"] == pytest.approx(right[~run.choosing].mean())
    assert row["test_score"] == pytest.approx(right.mean())
    alone = replace(run, choosing=np.arange(len(right)) == 0)
    assert np.isnan(list(run_method("all", ALL, alone))[-1]["choice_score"])


def test_costs_of_single_examples_are_recorded(wine_runs):
    run, fitted = wine_runs[0], []
    rows = list(run_method("m", forest(), run, fitted=fitted))
    for row, stage in zip(rows, fitted[0].stages(run.test[0]), strict=True):
        paid = run.costs.total(stage.acquired)
        assert row["cost_p95"] == np.quantile(paid, 0.95)
        assert row["cost_max"] == paid.max()
    assert rows[0]["cost_max"] > rows[0]["cost"]
    assert rows[-1]["valid_cost_max"] >= rows[-1]["valid_cost"]


def test_schedule_rows_name_their_variables(wine_runs):
    run = wine_runs[0]
    frame = records.table(run_method("logitb", LOGIT, run))
    assert frame["stage"].tolist() == list(range(len(frame)))
    assert (np.diff(frame["valid_score"]) > 0).all()
    for _, row in frame.iterrows():
        variables = list(records.parse_variables(row["variables"]))
        assert row["cost"] == pytest.approx(run.costs.subset(variables))
        assert row["n_features"] == len(variables)


def test_same_run_same_points(wine_runs):
    first, again = (records.table(run_method("logitb", LOGIT, wine_runs[1])) for _ in range(2))
    same = [name for name in records.COLUMNS if not name.endswith("seconds")]
    assert first[same].equals(again[same])


def test_runs_differ(wine_runs):
    assert wine_runs[0].costs != wine_runs[1].costs
    assert not np.array_equal(wine_runs[0].train[0], wine_runs[1].train[0])
    assert wine_runs[0].seed("msb") != wine_runs[1].seed("msb")


def test_a_method_may_share_the_seeds_of_another(wine_runs):
    names = {"m": {}, "n": {}, "as_m": {"seed_as": "m"}}
    scores = {
        name: [row["test_score"] for row in run_method(name, forest() | more, wine_runs[0])]
        for name, more in names.items()
    }
    assert scores["as_m"] == scores["m"] != scores["n"]


def test_a_failure_is_a_row(wine_runs):
    (row,) = run_method("broken", {"class": f"{__name__}.Broken"}, wine_runs[0])
    assert row["status"] == "failed: RuntimeError: no such luck"
    assert records.table([row])["test_score"].isna().all()
    early = failed_row("broken", wine_runs[0], "timeout: 1 s", [{"fit": 0}, {"fit": 3}])
    assert (early["stage"], early["fit"]) == (2, 3)  # after what it has, in the setting it was at


def test_a_method_without_stages_is_a_row(wine_runs):
    (row,) = run_method("stageless", {"class": f"{__name__}.Stageless"}, wine_runs[0])
    assert row["status"].startswith(f"failed: ValueError: {__name__}.Stageless has no stages")


def test_seconds_are_those_of_the_fit_and_of_what_was_resumed(wine_runs):
    start, processor = time.perf_counter(), time.process_time()
    (row,) = run_method("slow", {"class": f"{__name__}.Slow"}, wine_runs[0])
    assert 100.05 <= row["fit_seconds"] <= 100 + time.perf_counter() - start
    assert 100 <= row["processor_seconds"] <= 100 + time.process_time() - processor


def test_rates_are_the_share_of_examples_that_a_feature_was_acquired_for(wine_runs):
    run = wine_runs[0]
    *_, row = run_method("budgetrf", forest(n_estimators=1), run)
    model = build(
        forest(n_estimators=1), feature_costs=run.costs, random_state=run.seed("budgetrf")
    )
    acquired = model.fit(*run.train).acquired_features(run.test[0])
    assert row["acquisition_rates"].shape == (13,)
    assert row["acquisition_rates"].dtype == np.float32
    np.testing.assert_allclose(row["acquisition_rates"], acquired.mean(axis=0), rtol=1e-6)
    assert row["n_features"] == pytest.approx(acquired.mean(axis=0).sum())


def test_stages_that_depend_on_the_data_are_a_failure(wine_runs):
    run = wine_runs[0]
    odd, even = (tuple(part[:n] for part in run.test) for n in (9, 10))
    uneven = replace(run, valid=odd, test=even, choosing=run.choosing[:10])
    (row,) = run_method("uneven", {"class": f"{__name__}.Uneven"}, uneven)
    assert row["status"].startswith("failed: ValueError: zip()")


def test_nested_estimators_are_built():
    search = build(
        {
            "class": "budgetlearn.msb.ModelScheduleSearch",
            "parameters": {
                "estimator": {"class": "sklearn.linear_model.LogisticRegression"},
                "sequences": ["cost", {"class": "budgetlearn.msb.L1PathSequence"}],
            },
        },
        random_state=3,
        nothing=1,
    )
    assert isinstance(search.estimator, LogisticRegression)
    assert search.sequences[1].name == "l1"
    assert search.random_state == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"class": "budgetlearn.msb.NoSuch"}, "is not an importable class"),
        ({"class": "nowhere.to.be.Found"}, "is not an importable class"),
        ({**LOGIT, "parameters": {"n_lamda": 3}}, "has no parameter n_lamda; it has feature_costs"),
    ],
)
def test_wrong_specifications_are_refused(spec, message):
    with pytest.raises(ConfigError, match=message):
        build(spec)


def forest(**changes):
    parameters = {"n_estimators": 5, **changes}
    return {"class": "budgetlearn.budgetrf.BudgetRFClassifier", "parameters": parameters}


def test_a_forest_is_evaluated_after_each_tree(wine_runs):
    start = time.perf_counter()
    frame = records.table(run_method("budgetrf", forest(), wine_runs[0]))
    assert 0 < frame["predict_seconds"].max() < time.perf_counter() - start
    assert frame["setting"].tolist() == [f"trees={n}" for n in range(1, 6)]
    for column in ("cost", "n_features", "predict_seconds"):
        assert frame[column].is_monotonic_increasing
    assert frame["added_seconds"].sum() == pytest.approx(frame["predict_seconds"].iloc[-1])
    model = build(
        forest(), feature_costs=wine_runs[0].costs, random_state=wine_runs[0].seed("budgetrf")
    ).fit(*wine_runs[0].train)
    assert frame["n_nodes"].tolist() == np.cumsum([t.node_count for t in model.trees_]).tolist()
    assert frame["test_score"].iloc[-1] == model.score(*wine_runs[0].test)


def test_a_path_over_cost_weights_says_which_is_which(wine_runs):
    spec = {
        "class": "budgetlearn.forests.CostSensitiveRFPathClassifier",
        "parameters": {"cost_weights": [0, 0.001, 0.02], "n_estimators": 3},
    }
    frame = records.table(run_method("cost_sensitive_rf", spec, wine_runs[0]))
    assert frame["setting"].tolist() == ["cost_weight=0.02", "cost_weight=0.001", "cost_weight=0"]
    assert (np.diff(frame["cost"]) >= 0).all()


def test_each_setting_of_a_grid_gives_its_own_points(wine_runs):
    spec = forest(n_estimators=3) | {"grid": {"alpha": [0, 8]}}
    frame = records.table(run_method("budgetrf", spec, wine_runs[0]))
    assert frame["stage"].tolist() == list(range(6))
    assert frame["setting"].tolist()[2:4] == ["alpha=0, trees=3", "alpha=8, trees=1"]
    assert frame["fit"].tolist() == [0] * 3 + [1] * 3
    assert frame.groupby("fit")["fit_seconds"].nunique().tolist() == [1, 1]
    alone = records.table(run_method("budgetrf", forest(n_estimators=3, alpha=8), wine_runs[0]))
    assert frame["test_score"].tolist()[3:] == alone["test_score"].tolist()
    assert frame["n_nodes"].tolist()[3:] == alone["n_nodes"].tolist()


def test_a_grid_reaches_nested_parameters(regression_run):
    spec = {
        "class": "budgetlearn.peers.GIFNodeShares",
        "parameters": {
            "n_full_trees": 30,
            "estimator": {"class": "budgetlearn.gif.GIFRegressor"},
        },
        "grid": {"estimator__n_estimators": [10, 40], "estimator__candidate_window": [1, None]},
    }
    frame = records.table(run_method("gif", spec, regression_run))
    assert frame["setting"].iloc[0] == "candidate_window=1, n_estimators=10, budget_percent=1"
    assert frame["setting"].iloc[-1] == "candidate_window=None, n_estimators=40, budget_percent=10"
    assert frame["fit"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert frame["node_entropy"].between(0.5, 1).all()
    # A split takes 6 bytes and a stop 4; a tree's head 2. A node is a split or a leaf.
    assert (frame["n_bytes"] / frame["n_nodes"]).between(4, 11).all()
    assert (frame["n_bytes"].diff()[1::2] > 0).all()


def test_a_setting_that_fails_leaves_the_others(wine_runs):
    spec = forest() | {"grid": {"alpha": [0, -1, 1]}}
    frame = records.table(run_method("budgetrf", spec, wine_runs[0]))
    assert frame["fit"].tolist() == [0] * 5 + [1] + [2] * 5
    failed = frame.iloc[5]
    assert failed["status"].startswith("failed: ParameterError: alpha")
    assert failed["setting"] == "alpha=-1"
    assert (frame.drop(index=5)["status"] == "ok").all()
    assert frame["stage"].tolist() == [*range(11)]
    coverage = coverage_table(frame, frame.head(1))
    assert coverage[["n_ok", "n_partial", "message"]].to_numpy().tolist() == [
        [0, 1, failed["status"]]
    ]


def test_ranking_is_scored_by_whole_queries(ranking_run):
    run = ranking_run
    frame = records.table(run_method("budgetrf", forest(leaves__voting="counts"), run))
    assert (frame["status"] == "ok").all()
    model = build(
        forest(leaves__voting="counts"), feature_costs=run.costs, random_state=run.seed("budgetrf")
    ).fit(*run.train)
    (X, y), queries = run.test, run.test_queries
    assert not set(queries) & set(run.valid_queries)
    expected = average_precision_at_5(y, model.predict_proba(X)[:, 1], queries)
    assert frame["test_score"].iloc[-1] == expected
    for control in (CONSTANT, ALL):
        (row,) = run_method("control", control, run)
        assert row["status"] == "ok"


@pytest.mark.parametrize(
    "spec",
    [
        {
            "class": "budgetlearn.cascade.ScheduleCascadeClassifier",
            "parameters": {"estimators": "forest", "orders": "gain_per_cost", "n_stages": 2},
        },
        forest(refit=True),
    ],
    ids=["cascade", "refitted"],
)
def test_in_ranking_a_model_measured_out_of_fold_is_measured_by_queries(ranking_run, spec):
    run, fitted = ranking_run, []
    frame = records.table(run_method("m", spec | {"refit": True}, run, fitted=fitted))
    assert set(frame["status"]) == {"ok"}
    for column, (X, y), queries in (
        ("valid_score", run.valid, run.valid_queries),
        ("test_score", run.test, run.test_queries),
    ):
        shares = fitted[0].staged_predict_proba(X)
        expected = [average_precision_at_5(y, each[:, 1], queries) for each in shares]
        np.testing.assert_allclose(frame[column], expected)


def test_acquiring_one_by_one_is_evaluated_after_each_acquisition(wine_runs):
    spec = {"class": "budgetlearn.sequential.FMCCClassifier"}
    run = wine_runs[0]
    frame = records.table(run_method("fmcc", spec, run))
    assert frame["setting"].tolist() == [f"features={n}" for n in range(1, 14)]
    assert frame["n_features"].tolist() == list(range(1, 14))
    assert frame["cost_fraction"].iloc[-1] == pytest.approx(1)
    model = build(spec, feature_costs=run.costs, random_state=run.seed("fmcc")).fit(*run.train)
    X, y = run.test
    stages = zip(model.staged_predict(X), model.staged_predict_proba(X), strict=True)
    for row, (predicted, shares) in zip(frame.itertuples(), stages, strict=True):
        assert row.test_score == np.mean(predicted == y)
        assert row.estimated_score == pytest.approx(shares[np.arange(len(y)), predicted].mean())


def test_only_methods_that_estimate_their_accuracy_record_it(wine_runs):
    assert records.table(run_method("logitb", LOGIT, wine_runs[0]))["estimated_score"].isna().all()


def test_regression_records_mean_squared_error(regression_run):
    spec = {"class": "budgetlearn.peers.FreeConstantRegressor"}
    (row,) = run_method("constant", spec, regression_run)
    y, mean = regression_run.test[1], regression_run.train[1].mean()
    assert row["test_mse"] == pytest.approx(np.mean((y - mean) ** 2))
    assert row["test_score"] == pytest.approx(1 - row["test_mse"] / y.var())
    assert row["cost"] == 0


def test_classification_has_no_mean_squared_error(wine_runs):
    (row,) = run_method("constant", CONSTANT, wine_runs[0])
    assert np.isnan(row["test_mse"])


def test_sizes_are_stages_with_their_nodes(regression_run):
    gif = {
        "class": "budgetlearn.peers.GIFNodeShares",
        "parameters": {
            "percents": [1, 10],
            "n_full_trees": 100,
            "estimator": {
                "class": "budgetlearn.gif.GIFRegressor",
                "parameters": {"n_estimators": 100},
            },
        },
    }
    rows = list(run_method("gif", gif, regression_run))
    assert [row["setting"] for row in rows] == ["budget_percent=1", "budget_percent=10"]
    # A full tree on 240 training rows has 479 nodes.
    assert [row["n_nodes"] for row in rows] == pytest.approx([479, 4790], abs=1)
    assert rows[1]["test_mse"] != rows[0]["test_mse"]


def test_absolute_node_budgets_are_a_grid(regression_run):
    spec = {
        "class": "budgetlearn.gif.GIFRegressor",
        "parameters": {"n_estimators": 50},
        "grid": {"node_budget": [100, 300]},
    }
    rows = list(run_method("gif", spec, regression_run))
    assert len(rows) == 20
    assert rows[9]["setting"] == f"node_budget=100, nodes={rows[9]['n_nodes']}"
    assert 299 <= rows[-1]["n_nodes"] <= 300


def test_a_path_that_ends_early_counts_and_is_told(wine_runs, monkeypatch):
    monkeypatch.setattr("budgetlearn.msb.l1_path.PASSES", (20, 40))
    for refit in (False, True):
        spec = LOGIT | {"refit": refit}
        cut = records.table(run_method("logitb", spec, wine_runs[0]))
        assert set(cut["status"][:-1]) == {"ok"}
        assert len(cut) > 2
        told = cut.iloc[-1]
        assert told["status"].startswith("partial: The L1 path ends at penalty")
        assert np.isnan(told["test_score"])
        assert told["stage"] == len(cut) - 1
        coverage = coverage_table(cut, cut.head(1))
        assert coverage[["n_ok", "n_partial", "n_failed"]].to_numpy().tolist() == [[0, 1, 0]]
        assert coverage["message"][0] == told["status"]
        constant = records.table(run_method("constant", CONSTANT, wine_runs[0]))
        points = pd.concat([cut, constant], ignore_index=True)
        areas = area_table(points, compressed_points(points)).set_index("method")
        assert areas.loc["logitb", "status"] == "ok"
        assert areas.loc["logitb", "aup_test"] > areas.loc["constant", "aup_test"]


def test_the_first_reason_to_end_early_is_told(wine_runs):
    *_, row = run_method("early", {"class": f"{__name__}.TwiceEarly"}, wine_runs[0])
    assert row["status"] == "partial: the first reason"


def test_other_warnings_of_a_fit_are_shown(wine_runs):
    with pytest.warns(UserWarning, match="look out"):
        rows = list(run_method("warning", {"class": f"{__name__}.Grumbling"}, wine_runs[0]))
    assert {row["status"] for row in rows} == {"ok"}
