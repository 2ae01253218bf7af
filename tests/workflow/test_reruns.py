"""Jobs that Snakemake runs again after each edit, by dry runs on a finished study.

The study's files are empty. Only the code, the inputs and the parameters of each are compared.
"""

import json
import os
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from budgetbench.study import source_code
from tests.workflow.conftest import Workflow

pytestmark = pytest.mark.workflow
SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
STUDY = "config/studies/probe.yaml"
PROBE = """
study: probe
title: Probe
datasets: [wine]
runs: 2
runs_per_job: 2
methods: [msb, logitb, budgetrf, constant]
published: [msb-table-2]
"""
CALL = ("--configfile", STUDY)
MSB = {"msb_importance": 1, "msb_sequence": 4, "msb_schedule": 1}
LAST = {"collect": 1, "report": 1}
DRAWN = {"split": 1, "costs": 1, "fit": 3, **MSB, **LAST}
PREPARED = {"prepare": 1, **DRAWN}
ONE_FIT = {"fit": 1, **LAST}
LATER = 10**9  # ns


@pytest.fixture(scope="module")
def finished(make_workflow):
    """A workflow next to a copy of the package, with a study that is marked as finished."""
    workflow = make_workflow()
    (workflow.folder / STUDY).write_text(PROBE)
    for name in source_code.OWN:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source_code.ROOT / name, workflow.folder / name, ignore=ignored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_code, "ROOT", workflow.folder)
        # No edit adds a file, or an import to a kernel: looked for once for all forks.
        for name in ("_files", "compiled_into"):
            patch.setattr(source_code, name, cache(getattr(source_code, name)))
        source_code.script_fingerprint(SCRIPTS / "fit.py")  # read once for all forks
        source_code.report_fingerprint(SCRIPTS / "report.py")
        code, summary = workflow.plan(*CALL, "--summary")
        assert code == 0, summary
        for line in summary.splitlines():
            if line.startswith(("results/", "resources/data/")):
                file = workflow.folder / line.split("\t")[0]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        code, told = workflow.plan(*CALL, "--touch", "--forceall")
        assert code == 0, told
        yield workflow


def planned(workflow, *arguments):
    """Return {rule: jobs} that a call would run, and its output."""
    code, told = workflow.plan(*CALL, "-n", *arguments)
    assert code == 0, told
    counts = Counter(re.findall(r"^ *(?:local)?rule (\w+):", told, re.MULTILINE))
    counts.pop("all", None)
    assert counts or "Nothing to be done" in told, told
    return dict(counts), told


@pytest.fixture
def edit(finished):
    """Return a function that changes the content of a file, for one test."""
    undo = []

    def change(file, function):
        path = finished.folder / file
        before = path.read_bytes() if path.exists() else None
        written = path.stat().st_mtime_ns if path.exists() else 0
        after = function(before)
        assert after != before
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(after)
        if path.suffix in (".py", ".so"):  # so that no kernel is older
            os.utime(path, ns=(written + 1, written + 1))
        undo.append((path, before, written))

    yield change
    for path, before, written in undo:
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)
            os.utime(path, ns=(written, written))


def text(before, after):
    """Replace the first occurrence of a text."""
    return lambda content: content.replace(before, after, 1)


def more(line):
    """Append a line."""
    return lambda content: content + line


def entry(*place, **changes):
    """Change keys of an entry of a YAML file."""

    def edited(content):
        content = yaml.safe_load(content)
        part = content
        for key in place:
            part = part[key]
        part.update(changes)
        return yaml.safe_dump(content, sort_keys=False).encode()

    return edited


def failed(status):
    """A run of logitB without a result, kept as by `keep_failures`."""
    runs = [{"run": 1, "status": status}]
    limits = {"time_limit": 3600, "memory_limit": None, "job_memory": None}
    kept = {**limits, "runs": runs}
    return lambda content: json.dumps(kept).encode()


def config(*settings):
    return ("--config", *settings)


DATASETS, METHODS = "config/datasets.yaml", "config/methods.yaml"
KERNEL = (
    "budgetlearn/tree/"
    + source_code.kernel_of(source_code.ROOT / "budgetlearn/tree/depth_first.pyx").name
)
FAILURE = "results/probe/failures/points/wine/random/logitb/0.json"
DRAWN_WITH = {
    "template": ("budgetbench/report/templates/page.html.j2", text(b"<header>", b"<header >")),
    "base of the pages": ("budgetlearn/cli/templates/base.html.j2", text(b"<html", b"<html ")),
    "style": ("budgetlearn/cli/templates/style.css", more(b"a {}")),
    "script": ("budgetbench/report/sections/what_to_buy.js", more(b";")),
    "section": ("budgetbench/report/sections/effort.py", more(b"MORE = 1\n")),
    "analysis": ("budgetbench/analysis/areas.py", more(b"MORE = 1\n")),
}
LIMITS = ("offline=true", "time_limit=null", "memory_limit=500", "retry_failed=true")
# Changes: file (None if only the call changes), its edit, arguments of the call, jobs that run.
EDITS = {
    "nothing": (None, None, (), {}),
    "more runs": (None, None, config("runs=4"), DRAWN),
    "cores, threads, places and limits": (
        *(None, None),
        ("--cores", "1", "--config", "threads_per_job=2", "data_dir=elsewhere", *LIMITS),
        {},
    ),
    "seed of the study": (None, None, config("seed=1"), DRAWN),
    "title of the study": (None, None, config("title=Other"), {"report": 1}),
    "a method's parameter": (METHODS, entry("logitb", parameters={"n_lambda": 9}), (), ONE_FIT),
    "a method's label": (METHODS, entry("logitb", label="Logit"), (), {"report": 1}),
    "a method more": (
        STUDY,
        text(b"methods: [", b"methods: [msb_cost, "),
        (),
        {"msb_importance": 1, "msb_sequence": 1, "msb_schedule": 1, **LAST},
    ),
    "a data set's source": (
        DATASETS,
        entry("datasets", "wine", source={"generated": "twonorm", "n_samples": 178, "seed": 5}),
        (),
        {"fetch": 1, **PREPARED},
    ),
    "a data set's licence": (DATASETS, entry("datasets", "wine", licence="x"), (), {"report": 1}),
    "a data set's target": (
        DATASETS,
        entry("datasets", "wine", labels={"at_least": 1}),
        (),
        PREPARED,
    ),
    "a data set's missing rows": (DATASETS, entry("datasets", "wine", unmeasured=0), (), PREPARED),
    "a data set's title": (DATASETS, entry("datasets", "wine", title="W"), (), {"report": 1}),
    "template": (*DRAWN_WITH["template"], (), {"report": 1}),
    "a section more": (STUDY, more(b"own_cost: [budgetrf]\n"), (), {"report": 1}),
    "reasons": (
        "resources/published/deviations.yaml",
        text(b"why:", b"why: In short,"),
        (),
        {"report": 1},
    ),
    "code of the data sets": ("budgetbench/datasets/fetching.py", more(b"# why\n"), (), PREPARED),
    "code of studies": ("budgetbench/study/study.py", more(b"MORE = 1\n"), (), PREPARED),
    "code of the library": ("budgetlearn/cascade/pool.py", more(b"MORE = 1\n"), (), PREPARED),
    "code of the command line": ("budgetlearn/cli/fit.py", more(b"MORE = 1\n"), (), {}),
    "code of the analysis": (*DRAWN_WITH["analysis"], (), {"report": 1}),
    "a kernel": (KERNEL, more(b"\0"), (), PREPARED),
    "a failed run": (FAILURE, failed("failed: ValueError: x"), (), ONE_FIT),
    "a failed run, of which only the data are asked": (
        *(FAILURE, failed("failed: ValueError: x")),
        ("data",),
        {},
    ),
    "a failed run, where nothing is to be fitted": (
        *(FAILURE, failed("failed: ValueError: x")),
        config("strict=false"),
        {},
    ),
    "a run out of time": (FAILURE, failed("timeout: x"), (), {}),
    "a run out of time, and more of it": (
        *(FAILURE, failed("timeout: x")),
        config("time_limit=4000"),
        ONE_FIT,
    ),
    "a run out of time, once more": (
        *(FAILURE, failed("timeout: x")),
        config("retry_failed=true"),
        ONE_FIT,
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns(finished, edit, name):
    file, function, arguments, jobs = EDITS[name]
    if file:
        edit(file, function)
    found, told = planned(finished, *arguments)
    assert found == jobs, told


def test_whatever_a_report_is_drawn_with_changes_its_parameter(finished, edit):
    # Snakemake compares this fingerprint; a template above showed that it then plans the report.
    seen = {source_code.report_fingerprint(SCRIPTS / "report.py"): "nothing"}
    for name, (file, function) in DRAWN_WITH.items():
        edit(file, function)
        now = source_code.report_fingerprint(SCRIPTS / "report.py")
        assert now not in seen, name
        seen[now] = name


def test_a_copied_project_runs_nothing_again(finished, tmp_path):
    copy = shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True)
    found, told = planned(Workflow(copy))
    assert found == {}, told


def test_a_name_alone_is_the_default_study_under_that_name(finished):
    _, told = finished.plan("-n", "--config", "study=mine")
    assert "output: results/mine/report.html" in told


def test_a_kernel_older_than_its_source_stops_the_call(finished, edit):
    edit("budgetlearn/tree/depth_first.pyx", more(b"# why\n"))
    code, told = finished.plan(*CALL, "-n")
    assert code != 0
    assert "the kernel budgetlearn.tree.depth_first was compiled before" in told
    assert "make setup" in told
