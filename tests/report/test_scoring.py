"""The page calls the score by its name, and knows what it can be: of any that a study names."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from budgetbench.datasets import load_dataset
from budgetbench.report.page import build_tables, collected
from budgetbench.report.sections import sections_of
from budgetbench.report.sections.inside_msb import VariableImportance
from budgetbench.report.sheets import read_sheets
from tests.factories import make_points, make_report, make_sheets, make_study
from tests.report.browsing import WIDTHS, chart, resize
from tests.report.writing import write_page

SCORE = "balanced accuracy"
SCORED = ["valid_score", "test_score", "choice_score", "held_out_score"]


def made(points, **sheet):
    study = make_study(2, ["wine"], own_cost=["logitb"], staircases={"both": ["msb", "logitb"]})
    return make_report(points, study, make_sheets(study, **sheet))


@pytest.fixture(scope="module")
def points():
    return make_points(n_runs=2).query("dataset == 'wine'")


def axes_of(report):
    """Return the names of the axes of scores, by figure."""
    sections = sections_of(report.study)
    figures = collected(sections, build_tables(sections, report), "figures")
    named = {}
    for name, figure in figures.items():
        for axes in figure.axes[:1]:  # none where there is nothing to draw
            named[name] = f"{axes.get_xlabel()} | {axes.get_ylabel()}"
    return named


def test_axes_and_words_say_the_score(points, tmp_path):
    report = made(points, score=SCORE)
    named = axes_of(report)
    for figure in ("overview", "curves_wine_random", "own_cost", "staircases_wine_random"):
        assert SCORE in named[figure], figure
    assert not any("| accuracy" in name or "test accuracy" in name for name in named.values())
    page = write_page(report, tmp_path).read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<script.*?</script>|<[^>]*>", " ", page, flags=re.DOTALL).split())
    assert f"staircase of test {SCORE} over acquisition cost" in text
    assert f"score {SCORE}" in text  # among the settings
    assert "the majority-class rate" not in text
    data = json.loads(re.search(r'id="study">(.*?)</script>', page)[1])
    (case,) = data["cases"].values()
    assert (case["score"], case["bounded"], case["best"]) == (SCORE, True, 1)


def test_importance_is_a_fall_in_the_score(points, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = made(points, score=SCORE)
    section = VariableImportance(report.study)
    Path(section.inputs[0]).parent.mkdir(parents=True)
    Path(section.inputs[0]).write_text("run,variable,importance\n0,0,0.1\n1,0,0.2\n")
    axes = section.draw(report, "wine").axes[0]
    assert axes.get_xlabel() == f"fall in validation {SCORE} when shuffled"


def test_a_loss_is_perfect_at_0_and_knows_no_worst(points, tmp_path, browser):
    points = points.assign(**{name: 5 * (points[name] - 3) for name in SCORED})
    report = made(points, score="−log-loss", span=(-np.inf, 0.0))
    assert report.display.bounded == set()
    assert report.display.span(points) == (-np.inf, 0)
    page = write_page(report, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "0 is perfect." in text
    resize(browser, WIDTHS["desktop"])  # a phone folds the section
    browser.get(page.as_uri())
    figure = chart(browser)
    drawn = figure.get_attribute("textContent")
    assert "test −log-loss" in drawn
    # Bands end where they are, not where a share would: the axis holds what is drawn, and no more.
    ticks = re.findall(r"−(\d+\.?\d*)", drawn.partition("test −log-loss")[0])
    assert min(map(float, ticks)) > 8


def test_sheets_have_the_score_that_the_points_were_made_with(tmp_path):
    load_dataset("wine").save(tmp_path / "wine.parquet")
    shown = {"wine": {"title": "Wine", "licence": "", "citation": ""}}
    study = SimpleNamespace(
        shown=shown, datasets=shown, seed=1, config={}, budget=lambda _: "acquisition",
        sizes=lambda _: [0.6, 0.2, 0.2],
    )  # fmt: skip
    for sources, score, least in (
        ({}, "accuracy", 0),
        ({"the score on wine": ["neg_log_loss"]}, "−log-loss", -np.inf),
        ({"the score on other": ["neg_log_loss"]}, "accuracy", 0),
    ):
        (sheet,) = read_sheets(study, [tmp_path / "wine.parquet"], sources).values()
        assert (sheet.score, sheet.span[0]) == (score, least)
