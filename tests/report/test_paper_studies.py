"""`snakemake papers`: every study is run and kept, and one that fails stops nothing."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from budgetbench.report import paper_studies
from budgetbench.report.paper_studies import Reproduction, drawing

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
    studies = Reproduction(ROOT, kept={}).studies
    assert failed == [studies[1]]
    assert [study.config["study"] for study in kept] == studies
    assert {study.config["runs"] for study in kept} == {1}
    assert len(seen) == len(studies)
    assert seen[0][-2:] == ["--config", "runs=1"]
    assert "--keep-going" in seen[0]


def test_settings_of_a_call_change_one_part_of_a_setting_as_they_do_for_snakemake(calls):
    paper_studies.run_papers(ROOT, 2, {"cluster": {"memory": 4321}})
    assert {study.config["cluster"]["memory"] for study in calls[1]} == {4321}


NUMBER = {
    "outcome": "reproduced", "share": 0.05, "margin": 0.4, "se": 0.1, "own_se": 0.06,
    "printed_se": 0.08,
}  # fmt: skip


def test_a_drawing_shows_printed_and_ours_with_their_spread():
    # 240 pixels are ± 35 %: the zero in the middle, 5 % right of it, of a printed error of 4.
    assert drawing(NUMBER) == {
        "kind": "near",
        "dot": 137.1,
        "printed": (113.1, 126.9),  # 2 % on both sides of the zero
        "ours": (132.0, 142.3),  # 1.5 % on both sides of the dot
        "interval": (120.3, 153.9),  # 1.96 · .1 on both sides of it
    }
    far = drawing(NUMBER | {"share": 3.0, "outcome": "unexplained"})
    assert (far["kind"], far["dot"]) == ("worse", 240.0)  # at the edge


def test_a_drawing_leaves_out_what_is_not_known():
    alone = drawing(NUMBER | {"se": np.nan, "own_se": np.nan, "printed_se": np.nan})
    assert [alone[name] for name in ("printed", "ours", "interval")] == [None] * 3
    met = drawing(NUMBER | {"share": 0.0})  # met exactly: it has its intervals all the same
    assert (met["dot"], met["ours"]) == (120.0, (114.9, 125.1))
    # Not rerun, or a printed error of 0, of which nothing is a share.
    assert drawing(NUMBER | {"share": np.nan, "margin": 0.0}) is None
