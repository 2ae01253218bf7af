"""The importance of the variables: means over runs, most important first."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetbench.report.sections.inside_msb import VariableImportance
from tests.factories import make_points, make_report, make_study


def drawn(folder, monkeypatch, importance):
    """The figure of wine from a file with this importance; None: from no file."""
    monkeypatch.chdir(folder)
    section = VariableImportance(make_study(2, ["wine"], figures=["importance"]))
    if importance is not None:
        Path(section.inputs[0]).parent.mkdir(parents=True)
        importance.to_csv(section.inputs[0], index=False)
    report = make_report(make_points(n_runs=2).query("dataset == 'wine'"), section.study)
    return section.figures(report)["importance_wine"]


def test_importance_is_the_mean_over_runs_most_important_first(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    importance = pd.DataFrame(
        [
            {"run": run, "variable": v, "importance": v / 20 + rng.normal(0, 0.01)}
            for run in range(2)
            for v in range(13)
        ]
    )
    axes = drawn(tmp_path, monkeypatch, importance).axes[0]
    means = importance.groupby("variable")["importance"].mean().sort_values(ascending=False)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(means.tolist())
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [f"wine measurement {v}" for v in means.index]


def test_it_is_read_from_its_files_on_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not VariableImportance(make_study()).applies()
    study = make_study(2, ["wine"], runs_per_job=1, figures=["importance"])
    section = VariableImportance(study)
    assert section.applies()
    folder = "results/generated/importance/wine/msb"
    assert section.inputs == [f"{folder}/0.csv", f"{folder}/1.csv"]
    (tmp_path / folder).mkdir(parents=True)
    for run, path in enumerate(section.inputs):
        text = f"run,variable,importance,seconds\n{run},0,0.{5 - 2 * run},1\n"
        (tmp_path / path).write_text(text)
    report = make_report(make_points(n_runs=2).query("dataset == 'wine'"), study)
    (bar,) = section.figures(report)["importance_wine"].axes[0].patches
    assert bar.get_width() == pytest.approx(0.4)


def test_nothing_to_draw_is_said(tmp_path, monkeypatch):
    assert "no importance" in drawn(tmp_path, monkeypatch, None).texts[0].get_text()
