"""Figures that show msB from inside, and methods beside what others reach at their cost."""

import numpy as np
import pandas as pd
import pytest

from budgetlearn.benchmark.inside import importance_files, inside_figures, visited_files
from budgetlearn.benchmark.points import compressed_points
from budgetlearn.benchmark.study import Study
from budgetlearn.report import write_report
from budgetlearn.report.importance import importance_figure
from budgetlearn.report.inside import Inside, inside_of, inside_sections
from budgetlearn.report.metadata import Metadata
from budgetlearn.report.own_cost import own_cost_rows, own_cost_table
from budgetlearn.report.solution_space import space_figure
from budgetlearn.report.staircases import staircase_figure

from ..made_up import fail, made_up_metadata, made_up_points

CASE = {"dataset": "wine", "costs": "random"}


def made_up_inside():
    """Importance of wine's variables in two runs, and a solution space of two variables."""
    rng = np.random.default_rng(0)
    importance = [
        {"dataset": "wine", "run": run, "variable": v, "importance": v / 20 + rng.normal(0, 0.01)}
        for run in range(2)
        for v in range(13)
    ]
    space = [CASE | {"run": 0, "subset": s, "cost": 10.0 * s, "score": s / 4} for s in (1, 2, 3)]
    visited = [
        CASE | {"run": 0, "sequence": sequence, "step": step, "variables": v, "cost": c, "score": q}
        for sequence in ("cost", "importance", "l1")
        for step, (v, c, q) in enumerate([("0,1", 30.0, 0.75), ("0", 10.0, 0.25)])
    ]
    return Inside(
        figures=["importance", "solution_space"],
        importance=pd.DataFrame(importance),
        space=pd.DataFrame(space),
        visited=pd.DataFrame(visited),
        staircases={"Both": ["msb", "logitb"], "One": ["msb"]},
        own_cost=["logitb"],
    )


def metadata_with(inside):
    return Metadata.from_dict(made_up_metadata() | {"inside": inside})


@pytest.fixture
def metadata():
    return metadata_with(made_up_inside())


def test_importance_is_the_mean_over_runs_most_important_first(metadata):
    axes = importance_figure(metadata, "wine").axes[0]
    own = metadata.inside.importance
    means = own.groupby("variable")["importance"].mean().sort_values(ascending=False)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(means.tolist())
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [f"wine measurement {v}" for v in means.index]


def test_staircases_are_those_of_the_lowest_complete_run(metadata):
    points = fail(made_up_points(n_runs=2), "logitb", 0)
    kept = compressed_points(points)
    figure = staircase_figure(kept, metadata, "wine", "random")
    both, one = figure.axes
    assert [axes.get_title(loc="left") for axes in (both, one)] == ["Both", "One"]
    assert "run 1" in figure.get_suptitle()
    own = kept[(kept["dataset"] == "wine") & (kept["run"] == 1) & (kept["method"] == "msb")]
    drawn = one.lines[0]
    assert drawn.get_xdata()[:-1].tolist() == own["valid_cost"].tolist()
    assert drawn.get_ydata()[:-1].tolist() == own["valid_score"].tolist()
    assert len(both.lines) == 4


def test_steps_are_numbered_and_lettered(metadata):
    axes = space_figure(metadata, "wine", "random").axes[0]
    marks = {text.get_text(): text.xy for text in axes.texts}
    assert marks == {"1": (30, 0.75), "2": (10, 0.25), "a": (30, 0.75), "b": (10, 0.25)}
    assert "visits 2 of 3 subsets" in axes.get_title(loc="left")


@pytest.mark.parametrize(
    "draw",
    [
        lambda m: importance_figure(m, "wine"),
        lambda m: space_figure(m, "wine", "random"),
        lambda m: staircase_figure(compressed_points(made_up_points(1))[:0], m, "wine", "random"),
    ],
)
def test_nothing_to_draw_is_said(draw):
    empty = Inside(figures=["importance", "solution_space"], staircases={"Both": ["msb"]})
    assert "no " in draw(metadata_with(empty)).texts[0].get_text()


def made_up_own_cost(n_runs=3, last_stage=3):
    """Points on wine in which logitB stops early, for a cost of its own."""
    points = made_up_points(n_runs).query("dataset == 'wine'").reset_index(drop=True)
    return points[(points["method"] != "logitb") | (points["stage"] <= last_stage)]


def expected_rival_scores(points):
    """Return own score, msB's score at most at that cost, and whether msB affords a model."""
    kept, rows = compressed_points(points), []
    for run, row in points.query("method == 'logitb'").groupby("run").last().iterrows():
        own = kept[(kept["method"] == "msb") & (kept["run"] == run) & (kept["cost"] <= row["cost"])]
        free = points.query("method == 'constant' and run == @run")["test_score"].iloc[0]
        rows.append((row["test_score"], [free, *own["test_score"]][-1], bool(len(own))))
    return rows


def test_rivals_are_held_to_the_own_cost(metadata):
    points = made_up_own_cost()
    table = own_cost_table(points, compressed_points(points), metadata).set_index("rival")
    assert set(table.index) == {"msb", "all_features"}  # not the constant: it buys nothing
    scores = expected_rival_scores(points)
    assert table.loc["msb", "n_runs"] == table.loc["msb", "n_affording"] == 3
    assert table.loc["msb", "rival_score"] == pytest.approx(np.mean([s for _, s, _ in scores]))
    assert table.loc["msb", "wins"] == sum(theirs > own for own, theirs, _ in scores)
    full = points[points["method"] == "all_features"]["test_score"].mean()
    assert table.loc["all_features", "rival_score"] == pytest.approx(full)
    assert table.loc["all_features", "cost_fraction"] == pytest.approx(
        points.query("method == 'logitb' and stage == 3")["cost_fraction"].mean()
    )


def test_a_run_in_which_a_rival_affords_nothing_counts_as_the_free_constant(metadata):
    points = made_up_own_cost(n_runs=5, last_stage=0)
    scores = expected_rival_scores(points)
    n_affording = sum(affords for *_, affords in scores)
    assert 0 < n_affording < 5
    table = own_cost_table(points, compressed_points(points), metadata)
    row = table.set_index("rival").loc["msb"]
    assert (row["n_affording"], row["n_runs"]) == (n_affording, 5)
    assert row["rival_score"] == pytest.approx(np.mean([theirs for _, theirs, _ in scores]))
    notes = {entry["rival"]: entry["note"] for entry in own_cost_rows(table, metadata)}
    assert notes == {"msB": f"{n_affording} of 5 runs afford a model", "all features": ""}


def test_a_run_that_a_rival_did_not_complete_is_left_out(metadata):
    points = fail(made_up_own_cost(), "msb", 1)
    table = own_cost_table(points, compressed_points(points), metadata).set_index("rival")
    assert table.loc["msb", "n_runs"] == 2


def test_the_page_shows_them(tmp_path):
    points = made_up_points(n_runs=2).query("dataset == 'wine'")
    write_report(points, made_up_metadata() | {"inside": made_up_inside()}, tmp_path)
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert {"importance_wine", "staircases_wine_random", "space_wine_random", "own_cost"} <= names
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("The whole solution space: Wine") == 1
    assert "At their own cost" in page
    assert (tmp_path / "tables" / "own_cost.csv").exists()


def test_sections_follow_the_data_sets(metadata):
    names = ["space_wine_random", "importance_wine", "importance_breast_cancer", "areas"]
    shown = [part["name"] for part in inside_sections(names, metadata)]
    assert shown == ["importance_wine", "space_wine_random", "importance_breast_cancer"]


def study(**changes):
    return Study(
        {
            "study": "x",
            "runs": 2,
            "runs_per_job": 1,
            "costs": ["random"],
            "methods": ["msb", "exhaustive"],
            **changes,
        },
        {"wine": None},
        {
            "msb": {"class": "a.B", "kind": "schedule", "parameters": {"sequences": ["cost"]}},
            "exhaustive": {"class": "a.C"},
        },
    )


def test_files_and_figures_are_asked_for_where_they_are_shown():
    plain = study()
    assert [importance_files(plain), visited_files(plain), inside_figures(plain)] == [[], [], []]
    shown = study(
        figures=["importance", "solution_space"], staircases={"x": ["msb"]}, own_cost=["msb"]
    )
    assert importance_files(shown) == [f"results/x/importance/wine/msb/{c}.csv" for c in (0, 1)]
    assert visited_files(shown) == ["results/x/sequences/wine/random/msb/cost/0.csv"]
    wanted = ["importance_wine", "staircases_wine_random", "space_wine_random", "own_cost"]
    assert inside_figures(shown) == wanted


def test_the_files_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "importance/wine/msb/0.csv": "run,variable,importance,seconds\n0,0,0.5,1\n",
        "importance/wine/msb/1.csv": "run,variable,importance,seconds\n1,0,0.3,1\n",
        "sequences/wine/random/msb/cost/0.csv": "run,sequence,step,variables,cost,score\n"
        '0,cost,0,"0,1",13,0.9\n',
        "costs/wine/random/0.csv": "run,feature,cost,group,group_cost\n"
        "0,a,1,g,10\n0,b,2,g,10\n0,c,4,,\n",
        "subsets/wine/random/exhaustive/0.csv": '# {"format": 1}\nsubset,score,fit_seconds\n'
        "3,0.9,1\n5,0.7,1\n",
    }
    for name, text in files.items():
        path = tmp_path / "results" / "x" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    read = inside_of(
        study(figures=["importance", "solution_space"]), ["results/x/costs/wine/random/0.csv"]
    )
    assert read.importance["importance"].tolist() == [0.5, 0.3]
    assert read.space["cost"].tolist() == [13, 15]  # the charge of the group once
    assert set(read.space["dataset"]) == {"wine"}
    assert read.visited[["dataset", "costs", "variables"]].to_numpy().tolist() == [
        ["wine", "random", "0,1"]
    ]
