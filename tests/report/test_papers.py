"""`snakemake papers`: every study is run and kept, and one that fails stops nothing."""

import subprocess
from pathlib import Path

import pytest

from budgetbench.report import papers
from budgetbench.report.papers import Reproduction

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
