"""A job of the exhaustive search that is run again goes on where it stopped."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.synthetic import generate
from budgetbench.study import records
from budgetbench.study.experiment import (
    checkpoint_file,
    resumable_run,
    run_method,
)
from budgetbench.study.runs import draw_costs, draw_splits, iterate

ENGINE = {"class": "sklearn.tree.DecisionTreeClassifier", "parameters": {"max_depth": 3}}
SPEC = {
    "class": "budgetlearn.msb.ExhaustiveSearch",
    "parameters": {"estimator": ENGINE},
    "seed_as": "msb",
}
MSB = {
    "class": "budgetlearn.msb.ModelScheduleSearch",
    "parameters": {"estimator": ENGINE},
    "seed_as": "msb",
}


@pytest.fixture(scope="module")
def run():
    table = generate("gaussian_mixture", n_samples=300, seed=1)
    dataset = Dataset(
        id="mixture",
        title="Mixture",
        task="classification",
        X=table.X[:, :6],
        y=table.y,
        feature_names=table.feature_names[:6],
        class_names=("0", "1", "2", "3"),
    )
    splits = draw_splits(dataset, [4], 7, [0.6, 0.2, 0.2])
    return next(iterate(dataset, splits, draw_costs(dataset, "random", [4], 7), "random", 7))


def test_a_complete_run_leaves_its_solution_space(run, tmp_path):
    rows = resumable_run("exhaustive", SPEC, run, tmp_path, "v1")
    assert [path.name for path in tmp_path.iterdir()] == ["4.csv"]
    space = pd.read_csv(tmp_path / "4.csv", comment="#")
    assert len(space) == 57
    assert rows[-1]["valid_score"] == space["score"].max()
    assert rows[0]["fit_seconds"] > 0


def test_an_interrupted_run_goes_on(run, tmp_path):
    resumable_run("exhaustive", SPEC, run, tmp_path / "whole", "v1")
    whole = (tmp_path / "whole" / "4.csv").read_text().splitlines(keepends=True)
    started = checkpoint_file(tmp_path, SPEC, run, "v1")
    started.write_text("".join(whole[:40]))
    resumable_run("exhaustive", SPEC, run, tmp_path, "v1")
    again = (tmp_path / "4.csv").read_text().splitlines(keepends=True)
    assert again[:40] == whole[:40]
    assert len(again) == len(whole)
    assert not started.exists()


def test_other_code_starts_afresh(run, tmp_path):
    first, second = (checkpoint_file(tmp_path, SPEC, run, code) for code in ("v1", "v2"))
    assert first != second


def test_a_run_out_of_time_is_not_complete(run, tmp_path):
    rows = resumable_run("exhaustive", SPEC, run, tmp_path, "v1", time_limit=0)
    assert rows[-1]["status"].startswith("timeout")
    assert not list(tmp_path.glob("*.csv"))


class Killed(BaseEstimator):
    """A method whose first setting is well, and whose second one is the end of its process."""

    def __init__(self, at=0):
        self.at = at

    def fit(self, X, y):
        if self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))

    def acquired_features(self, X):
        return np.zeros(np.shape(X), dtype=bool)


def test_what_was_finished_before_a_death_is_kept(run, tmp_path):
    spec = {"class": f"{__name__}.Killed", "grid": {"at": [0, 1]}}
    rows = resumable_run("killed", spec, run, tmp_path, "")
    assert [row["status"] for row in rows[:1]] == ["ok"]
    assert rows[1]["status"].startswith("died: its process was killed by SIGKILL")
    assert [(row["run"], row["stage"], row["method"]) for row in rows] == [
        (4, 0, "killed"),
        (4, 1, "killed"),
    ]
    assert len(records.table(rows)) == 2


def test_classes_are_imported_before_the_process_starts(run, tmp_path, monkeypatch):
    module = tmp_path / "slow_to_import.py"
    module.write_text(f"from {__name__} import Killed\n")
    monkeypatch.syspath_prepend(tmp_path)
    resumable_run("slow", {"class": "slow_to_import.Killed"}, run, tmp_path, "")
    assert "slow_to_import" in sys.modules
    (row,) = resumable_run("absent", {"class": "slow_to_import.Absent"}, run, tmp_path, "")
    assert row["status"].startswith("failed: ConfigError: 'slow_to_import.Absent'")


def test_a_process_of_its_own_changes_no_result(run, tmp_path):
    alone = resumable_run("exhaustive", SPEC, run, tmp_path, "")
    here = list(run_method("exhaustive", SPEC, run))
    timed = ["fit_seconds", "processor_seconds", "predict_seconds", "added_seconds"]
    first, second = (records.table(rows).drop(columns=timed) for rows in (alone, here))
    pd.testing.assert_frame_equal(first, second)


def test_msb_with_the_same_seeds_never_beats_it(run, tmp_path):
    best = resumable_run("exhaustive", SPEC, run, tmp_path, "v1")
    for row in resumable_run("msb", MSB, run, tmp_path, "v1"):
        reached = [own["valid_score"] for own in best if own["budget"] <= row["budget"]]
        assert max(reached) >= row["valid_score"]
