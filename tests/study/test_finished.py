"""A finished job outlives what Snakemake does to its outputs, and is never taken for another."""

import os
from types import SimpleNamespace

import pytest

from budgetbench.study import job_traces
from budgetbench.study.job_traces import keep_failures

CONFIG = {"study": "own", "time_limit": 5, "memory_limit": None, "retry_failed": False}
OUTPUTS = ["results/own/sequences/wine/0.parquet", "results/own/sequences/wine/0.csv"]


def job(n_outputs=2, rule="fit", **params):
    return SimpleNamespace(
        rule=rule,
        config=CONFIG,
        wildcards={"dataset": "wine"},
        input=["data", "split"],
        output=OUTPUTS[:n_outputs],
        params={"spec": {"class": "a.B"}, "seed": 7, **params},
    )


@pytest.fixture(autouse=True)
def done(tmp_path, monkeypatch):
    """A job that is done, of which a killed submission then took the outputs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("rows")
    (tmp_path / "split").write_text("parts")
    os.makedirs("results/own/sequences/wine")
    for name in OUTPUTS:
        (tmp_path / name).write_text(f"of {name}")
    job_traces.keep(job())
    for name in OUTPUTS:
        os.remove(name)
    return tmp_path


def test_an_equal_job_takes_the_outputs_over(done):
    (kept,) = (done / "results/own/finished").glob("*/sequences/wine/0.csv")
    os.utime(kept, (1, 1))
    assert job_traces.take_over(job())
    assert [(done / name).read_text() for name in OUTPUTS] == [f"of {name}" for name in OUTPUTS]
    assert all((done / name).stat().st_mtime > 1 for name in OUTPUTS)  # no younger input
    os.remove(OUTPUTS[0])  # a second time, by the next kill
    assert job_traces.take_over(job())


def test_without_links_there_are_copies(done, monkeypatch):
    def refuse(*_):
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    assert job_traces.take_over(job())
    assert (done / OUTPUTS[1]).read_text() == f"of {OUTPUTS[1]}"


@pytest.mark.parametrize("change", [{"seed": 8}, {"code": "edited"}, {"rule": "other"}])
def test_a_job_of_other_parameters_does_not(done, change):
    assert not job_traces.take_over(job(**change))
    assert not any(os.path.exists(name) for name in OUTPUTS)


def test_what_another_job_finished_since_is_not_taken_for_it(done):
    for name in OUTPUTS:
        (done / name).write_text("of other parameters")
    job_traces.keep(job(seed=8))
    for name in OUTPUTS:
        os.remove(name)
    assert job_traces.take_over(job())
    assert [(done / name).read_text() for name in OUTPUTS] == [f"of {name}" for name in OUTPUTS]


@pytest.mark.parametrize("name", ["data", "split"])
def test_a_job_of_other_inputs_does_not(done, name):
    (done / name).write_text("others")
    assert not job_traces.take_over(job())


@pytest.mark.parametrize("lost", ["0.csv", "0.parquet"])
def test_half_of_what_was_finished_is_nothing(done, lost):
    (kept,) = (done / "results/own/finished").glob(f"*/sequences/wine/{lost}")
    kept.write_text("")  # as by a power cut
    assert not job_traces.take_over(job())
    kept.unlink()
    assert not job_traces.take_over(job())


@pytest.mark.parametrize(("status", "again"), [("died: x", True), ("timeout: x", False)])
def test_a_job_with_a_run_to_repeat_does_not(status, again):
    keep_failures(CONFIG, OUTPUTS[0], [(0, status)])
    assert job_traces.take_over(job()) == (not again)


def test_all_is_forgotten_once_the_study_has_its_points(done):
    study = SimpleNamespace(config=CONFIG, points_files=OUTPUTS)
    job_traces.forget(study)
    assert job_traces.take_over(job())
    job_traces.forget(study)
    assert not (done / "results/own/finished").exists()
