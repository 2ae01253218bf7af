"""What counts is the study's to say: what it chooses, what is refused, and what it is known by."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from budgetbench.analysis.schedules import compressed_points
from budgetbench.datasets.dataset import Dataset
from budgetbench.study import job_traces, records
from budgetbench.study.experiment import run_method
from budgetbench.study.methods import build
from budgetbench.study.model_sequences import importance_table, schedule_points, sequence_points
from budgetbench.study.provenance import scoring_of, sources_of_run
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetbench.study.study import Study, with_defaults
from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml
from budgetlearn.protocol.scoring import SCORES, scores_of
from tests.study.conftest import SIZES
from tests.study.test_finished import job

ROOT = Path(__file__).resolve().parents[2]
# Two fits, of which the second weighs the rare class as much as the other one.
FOREST = {
    "class": "budgetlearn.peers.AllFeaturesClassifier",
    "parameters": {
        "estimator": {
            "class": "sklearn.tree.DecisionTreeClassifier",
            "parameters": {"max_depth": 2, "random_state": 0},
        }
    },
    "grid": {"estimator__class_weight": [None, "balanced"]},
}


@pytest.fixture(scope="module")
def rare():
    """A run on a table of which one row in twelve belongs to the second class."""
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    y = (X[:, 0] + X[:, 1] + random.normal(0, 0.8, 600) > 2.2).astype(int)
    known = {"feature_names": tuple("abcd"), "class_names": ("no", "yes")}
    dataset = Dataset(id="rare", title="Rare", task="classification", X=X, y=y, **known)
    splits = draw_splits(dataset, [0], 7, SIZES)
    (run,) = iterate(dataset, splits, draw_costs(dataset, "unit", [0], 7), "unit", 7)
    return run


def points(spec, run, scoring=None, fitted=None):
    spec = spec if scoring is None else spec | {"scoring": scoring}
    frame = records.table(run_method("all_features", spec, run, fitted=fitted))
    assert set(frame["status"]) == {"ok"}
    return frame


def study(**config):
    config = {"study": "own", "methods": ["cascade", "constant"]} | config
    return Study.from_config(with_defaults(config, ROOT), ROOT)


def test_balanced_accuracy_chooses_another_point_than_accuracy(rare):
    chosen = {}
    for scoring in (None, "balanced_accuracy"):
        (best,) = compressed_points(points(FOREST, rare, scoring)).itertuples()
        chosen[scoring] = best.fit
    assert chosen == {None: 0, "balanced_accuracy": 1}


@pytest.mark.parametrize("name", scores_of("classification"))
def test_points_are_scored_as_scikit_learn_does(rare, name):
    fitted = []
    frame = points(FOREST, rare, name, fitted)
    X, y = rare.test
    measure = metrics.get_scorer(name)
    sides = {"test_score": slice(None), "choice_score": rare.choosing}
    for model, row in zip(fitted, frame.to_dict("records"), strict=True):
        assert model.scoring == name  # what the method itself chooses by
        for column, side in (sides | {"held_out_score": ~rare.choosing}).items():
            assert row[column] == pytest.approx(measure(model, X[side], y[side]))
        assert row["valid_score"] == pytest.approx(measure(model, *rare.valid))


def test_the_tasks_own_score_is_what_there_was_before(rare, regression_run):
    constant = {"class": "budgetlearn.peers.FreeConstantRegressor"}
    for spec, run, name in ((FOREST, rare, "accuracy"), (constant, regression_run, "r2")):
        plain, named = points(spec, run), points(spec, run, name)
        for column in ("valid_score", "test_score", "choice_score", "held_out_score"):
            assert plain[column].tolist() == named[column].tolist()


def test_a_mean_absolute_error_counts_with_a_minus(regression_run):
    spec = {"class": "budgetlearn.peers.FreeConstantRegressor"}
    (row,) = points(spec, regression_run, "neg_mean_absolute_error").to_dict("records")
    y = regression_run.test[1]
    known = np.sort(regression_run.train[1])
    told = np.full(y.size, known[(known.size - 1) // 2])  # the lower median
    assert row["test_score"] == pytest.approx(-metrics.mean_absolute_error(y, told))


def test_a_method_without_probabilities_is_told_so(rare):
    entry = read_yaml(ROOT / "config" / "methods.yaml")["boosting_stumps"]
    few = entry["parameters"] | {"n_full_trees": 4, "percents": [30]}
    spec = {"class": entry["class"], "parameters": few, "scoring": "roc_auc"}
    (row,) = run_method("boosting_stumps", spec, rare)
    assert "BoostingNodeShares gives no probabilities, which roc_auc needs" in row["status"]


def test_rows_of_one_class_have_no_probabilities_to_fear(rare):
    # The resamples of a standard error may lack the rare class.
    few = np.r_[np.flatnonzero(rare.valid[1] == 0), np.flatnonzero(rare.valid[1])[:1]]
    model = build(FOREST | {"scoring": "neg_log_loss"})
    model.fit(*rare.train, rare.valid[0][few], rare.valid[1][few])
    assert np.isfinite(model.operating_points_["score_se"]).all()


def test_an_entry_of_the_methods_file_keeps_its_own_scoring():
    own = FOREST | {"parameters": FOREST["parameters"] | {"scoring": "roc_auc"}}
    assert build(own | {"scoring": "f1_macro"}).scoring == "roc_auc"
    assert build(FOREST | {"scoring": "f1_macro"}).scoring == "f1_macro"
    assert build(FOREST).scoring is None
    constant = {"class": "budgetlearn.peers.FreeConstantClassifier", "scoring": "f1_macro"}
    build(constant)  # has no such parameter


def test_what_buys_nothing_guesses_by_shares(rare):
    spec = {"class": "budgetlearn.peers.FreeConstantClassifier", "scoring": "neg_log_loss"}
    (row,) = run_method("constant", spec, rare)
    share, truth = rare.train[1].mean(), rare.test[1]
    loss = metrics.log_loss(truth, np.full(len(truth), share))
    assert row["test_score"] == pytest.approx(-loss)


def test_sequences_become_a_schedule_by_it(rare):
    spec = {
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "parameters": {
            "estimator": {
                "class": "sklearn.tree.DecisionTreeClassifier",
                "parameters": {"max_depth": 3, "class_weight": "balanced", "random_state": 0},
            },
            "sequences": ["cost"],
            "min_variables": 1,
        },
        "scoring": "balanced_accuracy",
    }
    importance = importance_table("msb", spec, [rare])
    found, visited = sequence_points("msb", spec, "cost", rare, importance)
    schedule = schedule_points(records.table(found), importance)
    best = schedule.loc[schedule["valid_score"].idxmax()]
    assert best["valid_score"] == visited["score"].max()
    shares = visited["score"] * (rare.valid[1].size)
    assert not np.allclose(shares, shares.round())  # no share of rows


def test_a_study_passes_it_on_and_a_default_leaves_no_trace():
    plain, named, other = (
        study(datasets=["breast_cancer"], **more)
        for more in ({}, {"scoring": "accuracy"}, {"scoring": "balanced_accuracy"})
    )
    specs = [one.spec("cascade", "breast_cancer") for one in (plain, named, other)]
    assert specs[0] == specs[1] == {k: v for k, v in specs[2].items() if k != "scoring"}
    assert specs[2]["scoring"] == other.scoring("breast_cancer") == "balanced_accuracy"
    assert plain.scoring("breast_cancer") is named.scoring("breast_cancer") is None


def test_one_data_set_may_have_its_own():
    one = {"breast_cancer": {"scoring": "roc_auc"}}
    both = study(datasets=["wine", "breast_cancer"], by_dataset=one)
    assert [both.scoring(name) for name in both.datasets] == [None, "roc_auc"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"datasets": ["breast_cancer"], "scoring": "auc"},
            "unknown scoring 'auc'. Did you mean .*roc_auc.*classification .breast_cancer. has: "
            "accuracy, balanced_accuracy, f1_macro, neg_log_loss, roc_auc",
        ),
        ({"datasets": ["breast_cancer"], "scoring": "r2"}, "unknown scoring 'r2'"),
        (
            {"datasets": ["breast_cancer"], "scoring": "f1"},
            "unknown scoring 'f1'",
        ),
        (
            {"datasets": ["wine"], "scoring": "roc_auc"},  # of three classes
            "has: accuracy, balanced_accuracy, f1_macro, neg_log_loss.",
        ),
        (
            {"datasets": ["yahoo_like"], "scoring": "accuracy"},
            "ranking .yahoo_like. has: average_precision_at_5",
        ),
        (
            {"datasets": ["wine"], "scoring": "f1_macro", "budget": "memory"},
            "errors against memory have scores of their own: remove the scoring f1_macro",
        ),
        (
            {"datasets": ["wine"], "scoring": "f1_macro", "published": ["msb-table-2"]},
            "published tables",
        ),
        ({"datasets": ["wine"], "scoring": 3}, "scoring: 3 is not of type"),
    ],
)
def test_a_score_that_cannot_be_is_refused(config, said):
    with pytest.raises(ConfigError, match=said):
        study(**config)


def test_results_say_what_they_are_scored_by(rare):
    plain, other = (
        sources_of_run("all_features", spec, rare)
        for spec in (FOREST, FOREST | {"scoring": "f1_macro"})
    )
    kept = {name: [value] for name, value in other.items()}
    assert scoring_of("rare", kept) == "f1_macro"
    assert scoring_of("rare", {name: [value] for name, value in plain.items()}) is None
    # `recommend` refuses results by the first of them that differs.
    assert plain.keys() < other.keys()
    settings = "the settings of all_features on rare"
    assert plain[settings] != other[settings]


def test_jobs_of_another_score_do_not_take_each_others_results_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = job(spec=FOREST)
    for name in [*done.input, *done.output]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    job_traces.keep(done)
    assert not job_traces.take_over(job(spec=FOREST | {"scoring": "f1_macro"}))
    assert job_traces.take_over(done)


def test_the_schema_names_every_score():
    schema = read_yaml(ROOT / "workflow" / "schemas" / "config.schema.yaml")
    told = schema["properties"]["scoring"]["description"]
    assert all(f"`{name}`" in told for name, score in SCORES.items() if score.task != "ranking")
