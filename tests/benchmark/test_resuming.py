"""A job of the exhaustive search that is run again goes on where it stopped."""

import pandas as pd
import pytest

from budgetlearn.benchmark import resuming
from budgetlearn.benchmark.resuming import resumable_run
from budgetlearn.benchmark.runs import draw_costs, draw_splits, iterate
from budgetlearn.datasets import Dataset
from budgetlearn.datasets.synthetic import generate

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


def checkpoint_of(code, run, folder, monkeypatch):
    """The file in which a job keeps its progress, found by stopping it at once."""
    asked = []

    def stopped(*arguments, checkpoint):
        asked.append(checkpoint)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(resuming, "run_method", stopped)
        with pytest.raises(KeyboardInterrupt):
            resumable_run("exhaustive", SPEC, run, folder, code)
    return asked[0]


def test_an_interrupted_run_goes_on(run, tmp_path, monkeypatch):
    resumable_run("exhaustive", SPEC, run, tmp_path / "whole", "v1")
    whole = (tmp_path / "whole" / "4.csv").read_text().splitlines(keepends=True)
    started = checkpoint_of("v1", run, tmp_path, monkeypatch)
    started.write_text("".join(whole[:40]))
    resumable_run("exhaustive", SPEC, run, tmp_path, "v1")
    again = (tmp_path / "4.csv").read_text().splitlines(keepends=True)
    assert again[:40] == whole[:40]
    assert len(again) == len(whole)
    assert not started.exists()


def test_other_code_starts_afresh(run, tmp_path, monkeypatch):
    first, second = (checkpoint_of(code, run, tmp_path, monkeypatch) for code in ("v1", "v2"))
    assert first != second


def test_a_run_out_of_time_is_not_complete(run, tmp_path):
    rows = resumable_run("exhaustive", SPEC, run, tmp_path, "v1", limit=1e-6)
    assert rows[-1]["status"].startswith("timeout")
    assert not list(tmp_path.glob("*.csv"))


def test_msb_with_the_same_seeds_never_beats_it(run, tmp_path):
    best = resumable_run("exhaustive", SPEC, run, tmp_path, "v1")
    for row in resumable_run("msb", MSB, run, tmp_path, "v1"):
        reached = [own["valid_score"] for own in best if own["budget"] <= row["budget"]]
        assert max(reached) >= row["valid_score"]
