"""Every subset of a few variables, and the ones that msB visits."""

import pandas as pd

from budgetbench.report.sections.inside_msb import SolutionSpace
from tests.factories import METHODS, make_points, make_report, make_study

SPACE = pd.DataFrame([{"run": 0, "subset": s, "cost": 10.0 * s, "score": s / 4} for s in (1, 2, 3)])
VISITED = pd.DataFrame(
    [
        {"run": 0, "sequence": sequence, "step": step, "variables": v, "cost": c, "score": q}
        for sequence in ("cost", "importance", "l1")
        for step, (v, c, q) in enumerate([("0,1", 30.0, 0.75), ("0", 10.0, 0.25)])
    ]
    + [{"run": 0, "sequence": "cost", "step": 2, "variables": "0,2", "cost": 50.0, "score": 0.5}]
)
SEARCH = {"label": "all subsets", "class": "budgetlearn.msb.ExhaustiveSearch"}


def searching(**config):
    """A study of wine that searches all subsets."""
    methods = METHODS | {"exhaustive": SEARCH}
    return make_study(2, ["wine"], methods, runs_per_job=1, **config)


def drawn(section):
    """The section's figure of wine."""
    report = make_report(make_points(n_runs=2).query("dataset == 'wine'"), section.study)
    return section.figures(report)["space_wine_random"]


def test_steps_are_numbered_and_lettered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    section = SolutionSpace(searching(figures=["solution_space"]))
    for path in section.inputs:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        content = SPACE if "spaces" in path else VISITED[VISITED["sequence"] == path.split("/")[-2]]
        content.to_csv(path, index=False)
    axes = drawn(section).axes[0]
    marks = {text.get_text(): text.xy for text in axes.texts}
    steps = {"1": (30, 0.75), "2": (10, 0.25), "3": (50, 0.5)}  # of the cost sequence
    assert marks == steps | {"a": (30, 0.75), "b": (10, 0.25)}  # not l1
    assert "visits 2 of 3 subsets" in axes.get_title(loc="left")
    assert axes.get_ylabel() == "validation accuracy"


def test_nothing_to_draw_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = drawn(SolutionSpace(searching(figures=["solution_space"])))
    assert "no search" in figure.texts[0].get_text()


def test_its_files_are_those_of_the_first_chunk():
    assert not SolutionSpace(searching()).applies()
    section = SolutionSpace(searching(figures=["solution_space"]))
    assert section.applies()
    assert section.inputs == [
        "results/generated/spaces/wine/random/exhaustive/0.csv",
        "results/generated/sequences/wine/random/msb/importance/0.csv",
        "results/generated/sequences/wine/random/msb/cost/0.csv",
    ]
