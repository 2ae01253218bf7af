"""msB in pieces, as the workflow runs it, is msB in one piece."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from budgetbench.study import records
from budgetbench.study.experiment import run_method
from budgetbench.study.methods import sequence_name
from budgetbench.study.model_sequences import importance_table, schedule_points, sequence_points
from budgetbench.study.records import parse_variables
from budgetlearn.exceptions import ConfigError
from budgetlearn.msb import ImportanceSequence, RemovalSequence

ENGINE = {"class": "sklearn.tree.DecisionTreeClassifier", "parameters": {"max_depth": 3}}


class Dying(DecisionTreeClassifier):
    """An engine that ends the process."""

    def fit(self, X, y):
        raise SystemExit("out of paper")


class LastFirst(RemovalSequence):
    """A sequence of a user's own, that wants the importance and a number."""

    name = "last_first"

    def __init__(self, importance=None, power=1):
        self.importance = importance
        self.power = power

    def chooser(self, problem):
        assert len(self.importance) == problem.costs.n_features
        return lambda left: max(left)


class Nothing(LastFirst):
    """A sequence without models, as the L1 path where one variable tells all."""

    name = "nothing"

    def subsets(self, problem):
        return iter(())


OWN = {"class": f"{__name__}.LastFirst", "parameters": {"power": 2}, "name": "last_2"}


def spec(*sequences):
    return {
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "parameters": {"estimator": ENGINE, "sequences": list(sequences)},
    }


def pieces(wanted, run):
    """Rows and visited models of each sequence of a specification, and the importance."""
    importance = importance_table("msb", wanted, [run])
    names = map(sequence_name, wanted["parameters"]["sequences"])
    parts = [sequence_points("msb", wanted, name, run, importance) for name in names]
    rows = [row for points, _ in parts for row in points]
    return rows, pd.concat([visited for _, visited in parts]), importance


def test_the_pieces_make_the_schedule(wine_runs):
    wanted = spec("importance", "cost", "sampling", "l1", "importance_per_cost", "uniform")
    rows, _, importance = pieces(wanted, wine_runs[0])
    merged = schedule_points(records.table(rows), importance)
    whole = records.table(run_method("msb", wanted, wine_runs[0]))
    for column in ("stage", "variables", "cost", "valid_score", "test_score"):
        assert merged[column].tolist() == whole[column].tolist()


def test_visited_models_are_told_in_order(wine_runs):
    run = wine_runs[0]
    rows, visited, importance = pieces(spec("importance"), run)
    other = importance.sample(frac=1, random_state=0)  # files may have another order
    again = sequence_points("msb", spec("importance"), "importance", run, other)[1]
    assert again["variables"].tolist() == visited["variables"].tolist()
    assert visited["step"].tolist() == list(range(12))
    sets = [set(parse_variables(text)) for text in visited["variables"]]
    order = np.lexsort((-run.costs.costs, importance["importance"].round(12)))
    assert (sets[0] - sets[1]) == {order[0]}
    assert visited["cost"].tolist() == pytest.approx([run.costs.subset(list(s)) for s in sets])
    assert visited["score"].max() == rows[-1]["valid_score"]


def test_a_sequence_of_ones_own_is_named_and_given_the_importance(wine_runs):
    assert sequence_name(OWN) == "last_2"
    assert sequence_name({"class": "my_package.LastFirst"}) == "lastfirst"
    rows, visited, _ = pieces(spec(OWN, "cost"), wine_runs[0])
    assert {row["status"] for row in rows} == {"ok"}
    own = visited[visited["sequence"] == "last_2"]
    assert own["variables"].iloc[-1] == "0,1"


def test_parameters_of_a_known_class_are_kept(wine_runs):
    flat = {
        "class": f"{ImportanceSequence.__module__}.ImportanceSequence",
        "parameters": {"importance": list(range(13))},
    }
    _, visited, _ = pieces(spec(flat), wine_runs[0])
    assert visited["variables"].iloc[-1] == "11,12"


def test_a_failed_fit_has_visited_nothing(wine_runs):
    run = wine_runs[0]
    importance = importance_table("msb", spec("cost"), [run])
    rows, visited = sequence_points("msb", spec("cost"), "cost", run, importance, time_limit=0)
    assert rows[-1]["status"].startswith("timeout")
    assert visited.empty
    merged = schedule_points(records.table(rows), importance)
    assert merged["status"].tolist() == [rows[-1]["status"]]


def test_a_sequence_without_models_is_a_failure_only_if_all_are(wine_runs):
    nothing = {"class": f"{__name__}.Nothing", "name": "nothing"}
    rows, _, importance = pieces(spec("cost", nothing), wine_runs[0])
    merged = schedule_points(records.table(rows), importance)
    alone, _, _ = pieces(spec("cost"), wine_runs[0])
    assert merged["variables"].tolist() == [row["variables"] for row in alone]
    assert set(merged["status"]) == {"ok"}
    rows, _, importance = pieces(spec(nothing), wine_runs[0])
    assert not any(map(records.is_failure, (row["status"] for row in rows)))
    (status,) = schedule_points(records.table(rows), importance)["status"]
    assert status.startswith("failed: NoModelError: the sequences nothing visit no model of 2")


def test_a_sequence_that_ends_early_counts_and_is_told(wine_runs, monkeypatch):
    monkeypatch.setattr("budgetlearn.msb.l1_path.PASSES", (15, 30))
    wanted = spec("cost", "l1")
    rows, _, importance = pieces(wanted, wine_runs[0])
    merged = schedule_points(records.table(rows), importance)
    whole = records.table(run_method("msb", wanted, wine_runs[0]))
    for frame in (merged, whole):
        assert set(frame["status"][:-1]) == {"ok"}
        assert frame["status"].iloc[-1].startswith("partial: The L1 path ends")
    for column in ("stage", "variables", "cost", "valid_score", "status"):
        assert merged[column].astype(str).tolist() == whole[column].astype(str).tolist()


def test_importance_that_failed_is_told_by_every_sequence(wine_runs):
    broken = spec("cost")
    broken["parameters"]["estimator"] = {"class": f"{__name__}.Dying"}
    importance = importance_table("msb", broken, wine_runs[:2])
    assert importance["status"].tolist() == ["died: SystemExit: out of paper"] * 2
    rows, visited = sequence_points("msb", broken, "cost", wine_runs[1], importance)
    assert [(row["run"], row["status"]) for row in rows] == [(1, "died: SystemExit: out of paper")]
    assert visited.empty


def test_the_time_of_the_importance_is_part_of_the_limit(wine_runs):
    run = wine_runs[0]
    importance = importance_table("msb", spec("cost"), [run]).assign(seconds=1000.0)
    rows, _ = sequence_points("msb", spec("cost"), "cost", run, importance, time_limit=999)
    assert rows[-1]["status"].startswith("timeout")


def test_the_limit_is_for_all_sequences_together(wine_runs):
    rows, _, importance = pieces(spec("cost", "importance"), wine_runs[0])
    whole = schedule_points(records.table(rows), importance)
    seconds = whole["fit_seconds"].iloc[0]
    merged = schedule_points(records.table(rows), importance, time_limit=0.9 * seconds)
    (status,) = merged["status"]
    assert status.startswith("timeout: its sequences took ")
    assert len(schedule_points(records.table(rows), importance, 1.1 * seconds)) == len(whole)


def test_an_unknown_sequence_is_refused(wine_runs):
    importance = importance_table("msb", spec("cost"), [wine_runs[0]])
    with pytest.raises(ConfigError, match="unknown sequence 'expensive'; known: importance, cost"):
        sequence_points("msb", spec("expensive"), "expensive", wine_runs[0], importance)


def frame_of(*rows):
    """Operating points of run 0: sequence's stage, variables, cost, score, seconds."""
    names = {"dataset": "d", "costs": "unit", "method": "msb", "run": 0}
    keys = ("stage", "variables", "budget", "valid_score", "fit_seconds")
    return records.table({**names, **dict(zip(keys, row, strict=True))} for row in rows)


def test_seconds_of_a_schedule_are_those_of_all_sequences_and_the_importance():
    points = frame_of(
        (0, "0,1", 2.0, 0.6, 5.0), (1, "0,1,2", 3.0, 0.7, 5.0), (0, "1", 1.0, 0.5, 7.0)
    )
    points = points.assign(n_fitted=[3, 3, 4], processor_seconds=[1.0, 1.0, 2.0])
    importance = pd.DataFrame({"run": [0, 0, 1], "seconds": 30.0, "processor_seconds": 20.0})
    merged = schedule_points(points, importance)
    assert merged["n_fitted"].tolist() == [8] * 3  # one more for the importance
    assert merged["processor_seconds"].tolist() == [23.0] * 3
    assert merged["fit_seconds"].tolist() == [42.0] * 3
    assert merged["variables"].tolist() == ["1", "0,1", "0,1,2"]
    assert merged["stage"].tolist() == [0, 1, 2]
    assert len(schedule_points(points, importance, time_limit=42.0)) == 3
    (status,) = schedule_points(points, importance, time_limit=41.9)["status"]
    assert status == "timeout: its sequences took 42.0 s together, limit 41.9 s"
    # Runs after one that failed, or took too long, have their schedules.
    both = pd.concat([points, points.assign(run=1, fit_seconds=4.0)], ignore_index=True)
    failed = both.assign(status=np.where(both["run"] == 0, "failed: no", "ok"))
    for found in (schedule_points(both, importance, 41.9), schedule_points(failed, importance)):
        assert found["run"].tolist() == [0, 1, 1, 1]


def test_of_equal_models_that_of_the_first_variables_is_taken():
    """As in one piece: whichever sequence comes first, and 2 before 10."""
    rows = [(0, "0,10", 2.0, 0.6, 1.0), (0, "0,2", 2.0, 0.6, 1.0)]
    importance = pd.DataFrame({"run": [0], "seconds": 0.0, "processor_seconds": 0.0})
    for part in (rows, rows[::-1]):
        assert schedule_points(frame_of(*part), importance)["variables"].tolist() == ["0,2"]
