"""`snakemake papers`: every study is run and kept, and one that fails stops nothing."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from budgetbench.report import paper_studies
from budgetbench.report.paper_studies import Reproduction, dots

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def calls(monkeypatch):
    """The calls of Snakemake and the studies that are kept; the second call fails."""
    seen, kept = [], []

    def run(command, check):
        seen.append(command)
        return subprocess.CompletedProcess(command, returncode=len(seen) == 2)

    monkeypatch.setattr(paper_studies.subprocess, "run", run)
    monkeypatch.setattr(paper_studies, "keep", lambda study, root: kept.append(study))
    return seen, kept


def test_a_study_that_fails_stops_no_other_and_keeps_its_runs(calls):
    seen, kept = calls
    failed = paper_studies.run_papers(ROOT, 2, {"runs": 1})
    studies = Reproduction(ROOT).studies
    assert failed == [studies[1]]
    assert [study.name for study in kept] == studies
    assert {study.config["runs"] for study in kept} == {1}
    assert len(seen) == len(studies)
    assert seen[0][-2:] == ["--config", "runs=1"]
    assert "--keep-going" in seen[0]


def test_a_drawing_shows_difference_interval_and_margin():
    row = {"outcome": "reproduced", "se": 0.1, "share": 0.05, "margin": 0.4}
    near, far = dots([row, row | {"share": 3.0, "outcome": "unexplained"}])
    # 420 pixels are ± 35 %: the zero in the middle, 5 % right of it, the far one at the edge.
    # The interval is 1.96 · .1 on both sides, of a printed error of 4.
    assert near == {"kind": "near", "low": 210.6, "ours": 240.0, "high": 269.4}
    assert (far["kind"], far["ours"]) == ("worse", 420.0)
    (alone,) = dots([row | {"se": float("nan")}])
    assert np.isnan([alone["low"], alone["high"]]).all()  # a single run has no interval


def test_a_number_that_is_met_exactly_has_an_interval_too():
    (met,) = dots([{"outcome": "reproduced", "se": 0.1, "share": 0.0, "margin": 0.4}])
    assert (met["low"], met["ours"], met["high"]) == (180.6, 210.0, 239.4)
