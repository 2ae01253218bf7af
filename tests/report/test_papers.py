"""`snakemake papers`: every study is run and kept, and one that fails stops nothing."""

import subprocess
from pathlib import Path

import pytest

from budgetbench.report import papers
from budgetbench.report.papers import Reproduction, dots

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def calls(monkeypatch):
    """The calls of Snakemake and the studies that are kept; the second call fails."""
    seen, kept = [], []

    def run(command, check):
        seen.append(command)
        return subprocess.CompletedProcess(command, returncode=len(seen) == 2)

    monkeypatch.setattr(papers.subprocess, "run", run)
    monkeypatch.setattr(papers, "keep", lambda study, root: kept.append(study))
    return seen, kept


def test_a_study_that_fails_stops_no_other_and_keeps_its_runs(calls):
    seen, kept = calls
    failed = papers.run_papers(ROOT, 2, {"runs": 1})
    studies = Reproduction(ROOT).studies
    assert failed == [studies[1]]
    assert [study.name for study in kept] == studies
    assert {study.config["runs"] for study in kept} == {1}
    assert len(seen) == len(studies)
    assert seen[0][-2:] == ["--config", "runs=1"]
    assert "--keep-going" in seen[0]


def test_a_drawing_shows_difference_interval_and_margin():
    row = {"outcome": "reproduced", "se": 0.1, "share": 0.05, "difference": 0.2}
    drawing = dots([row, row | {"share": 3.0, "difference": 12.0, "outcome": "unexplained"}])
    # 420 pixels are ± 35 %: the zero in the middle, 5 % right of it, the far one at the edge.
    assert 'cx="240.0" cy="12" r="4" class="near"' in drawing
    assert 'x1="210.6" x2="269.4"' in drawing  # 1.96 · .1 · (5 % of .2) on both sides
    assert 'cx="420.0" cy="30" r="4" class="worse"' in drawing
    assert '<rect x="150" y="0" width="120"' in drawing
    alone = dots([row | {"se": float("nan")}])
    assert alone.count("<line") == 1  # the zero: a single run has no interval
