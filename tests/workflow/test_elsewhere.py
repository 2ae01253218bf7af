"""The workflow as a module of another one, or on machines without its files: the same points."""

import ctypes
import json
import os
import shlex
import shutil
import subprocess

import pytest
import yaml
from sklearn.datasets import load_wine

from budgetbench.study import records
from budgetbench.study.stored_results import differences
from tests.workflow.conftest import ROOT, TIMEOUT, Workflow, share_server, start_server
from tests.workflow.warm import served

pytestmark = pytest.mark.workflow
STUDY = {
    "study": "small",
    "datasets": ["mine"],
    "datasets_file": "datasets.yaml",
    "costs": ["given"],
    "methods": ["msb", "broken", "constant"],
    "methods_file": "methods.yaml",
    "runs": 1,
    "overrides": {
        "msb": {
            "parameters": {
                "estimator": {"parameters": {"n_estimators": 5}},
                "sequences": ["importance"],
            }
        }
    },
}
BROKEN = """
from budgetlearn.peers import FreeConstantClassifier

class Broken(FreeConstantClassifier):
    def fit(self, X, y):
        raise ValueError("not today")
"""
IMPORTER = """
module budgetlearn:
    snakefile: {snakefile!r}
    config: config["budgetlearn"]
    prefix: "part"

use rule * from budgetlearn as bl_*

rule mine:
    default_target: True
    input: rules.bl_report.output.page
    output: "mine.html"
    shell: "cp {{input}} {{output}}"
"""
# Snakemake runs the hooks of the main Snakefile only; docs/studies.md shows these lines.
HOOKS = """
onstart:
    budgetlearn.onstart()

onsuccess:
    budgetlearn.onsuccess()

onerror:
    budgetlearn.onerror()
"""
# A stand-in for the command that the storage plug-in calls, for machines without it.
RSYNC = """#!/bin/sh
while [ $# -gt 2 ]; do shift; done
exec cp "$1" "$2"
"""


# Submits a job to a machine of its own, a folder that is empty at first, and prints the folder.
SUBMIT = """#!/bin/sh
machine=$(mktemp -d {machines}/XXXXXX)
cp "$1" $machine/job.sh
(cd $machine; setsid sh job.sh >log 2>&1 </dev/null; echo $? >ended) >/dev/null 2>&1 &
echo $machine
"""
STATUS = """#!/bin/sh
case $(cat $1/ended 2>/dev/null) in "") echo running;; 0) echo success;; *) echo failed;; esac
"""


def write_tables(folder):
    """Write a table and a price list of the user's own, and the registry that names them."""
    table = load_wine(as_frame=True).frame
    table.to_csv(folder / "mine.csv", index=False)
    prices = [f"{name},{1 + place % 7}" for place, name in enumerate(table.columns[:-1])]
    (folder / "prices.csv").write_text("\n".join(["feature,cost", *prices]))
    entry = {"title": "Mine", "task": "classification", "costs": "prices.csv"}
    entry["source"] = {"csv": "mine.csv", "target": "target"}
    (folder / "datasets.yaml").write_text(yaml.safe_dump({"datasets": {"mine": entry}}))


def make_small(folder):
    """Write a study and the files that it names to a folder; one of its methods always fails."""
    methods = yaml.safe_load((ROOT / "config" / "methods.yaml").read_text())
    methods["broken"] = {"label": "Broken", "class": "broken.Broken"}
    (folder / "methods.yaml").write_text(yaml.safe_dump(methods))
    (folder / "broken.py").write_text(BROKEN)
    (folder / "small.yaml").write_text(yaml.safe_dump({**STUDY, "methods_path": "."}))
    write_tables(folder)
    return Workflow(folder)


@pytest.fixture
def small(tmp_path):
    return make_small(tmp_path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the points of the same study when it runs as usual."""
    folder = tmp_path_factory.mktemp("plain")
    study = {**STUDY, "methods": ["msb", "constant"]}
    del study["methods_file"]
    write_tables(folder)
    (folder / "small.yaml").write_text(yaml.safe_dump(study))
    Workflow(folder).again("collect", "-s", ROOT / "Snakefile", "--configfile", "small.yaml")
    return records.read(folder / "results/small/points.parquet")


def same(expected, path):
    found = records.read(path)
    return differences(expected, found[found["method"] != "broken"]).empty


def test_as_a_module_with_a_prefix(small, expected):
    snakefile = small.folder / "Snakefile"
    snakefile.write_text(IMPORTER.format(snakefile=str(ROOT / "workflow" / "Snakefile")))
    config = {"budgetlearn": yaml.safe_load((small.folder / "small.yaml").read_text())}
    (small.folder / "all.yaml").write_text(yaml.safe_dump(config))
    assert "not complete" not in small.again("--configfile", "all.yaml")
    results = small.folder / "part/results/small"
    assert "Broken" in (small.folder / "mine.html").read_text()
    assert same(expected, results / "points.parquet")
    assert not (small.folder / "results").exists()
    (kept,) = results.rglob("failures/**/*.json")
    assert "not today" in json.loads(kept.read_text())["runs"][0]["status"]
    _, plan = small.plan("-n", "--quiet", "rules", "--configfile", "all.yaml")
    assert "bl_fit" in plan  # failed runs are repeated
    assert "bl_msb" not in plan
    assert HOOKS in (ROOT / "docs/studies.md").read_text()
    snakefile.write_text(snakefile.read_text() + HOOKS)
    said = small.again("bl_collect", "--configfile", "all.yaml", fails=True)
    assert "1 run did not complete" in said
    assert "broken on mine, given costs, run 0: failed: ValueError: not today" in said
    assert "fits 1 of 1" in said
    config["budgetlearn"] |= {"strict": False, "methods": ["msb", "logitb", "constant"]}
    (small.folder / "all.yaml").write_text(yaml.safe_dump(config))
    _, plan = small.plan("-n", "--quiet", "rules", "--configfile", "all.yaml")
    assert "bl_fit" not in plan  # the points of the other runs were found
    assert "bl_collect" in plan


def in_a_cloud(words):
    """Make the generic plug-in like those of clouds: machines share no files with this one."""
    import snakemake_executor_plugin_cluster_generic as plugin

    plugin.common_settings.implies_no_shared_fs = True
    plugin.common_settings.job_deploy_sources = True
    plugin.Executor.get_python_executable = lambda self: words


def hidden_from_machines(folder):
    """Return a hook for calls of Snakemake; those of machines find nothing in a folder."""

    def hide(words, arguments):
        if os.getcwd() == str(folder):
            share_server()
            return
        libc = ctypes.CDLL(None)
        if libc.unshare(0x20000) == 0:  # a private mount namespace, unless that is forbidden
            assert libc.mount(b"none", b"/", None, 0x44000, None) == 0  # private, recursively
            assert libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, None) == 0
        start_server.cache_clear()
        start_server()  # another one, in there

    return hide


def test_with_a_storage_and_machines_that_share_no_files(make_workflow, expected, tmp_path):
    pytest.importorskip("snakemake_storage_plugin_fs", reason="snakemake-storage-plugin-fs")
    pytest.importorskip("snakemake_executor_plugin_cluster_generic", reason="extra `cluster`")
    small = make_small(make_workflow().folder)
    programs = {"submit": SUBMIT.format(machines=tmp_path), "status": STATUS}
    if shutil.which("rsync") is None:
        programs["rsync"] = RSYNC
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    sources = ("Snakefile", "workflow", "config", "small.yaml", "datasets.yaml", "methods.yaml")
    for command in ("init -q", f"add {' '.join(sources)} broken.py"):  # without the tables
        subprocess.run(["git", *command.split()], cwd=small.folder, check=True)
    storage = ("--default-storage-provider", "fs")
    storage += ("--default-storage-prefix", f"{tmp_path}/store/")
    printed = ("--configfile", "config/studies/fmcc-table-1.yaml")  # numbers in the project
    assert small.plan("-n", "--quiet", "rules", *printed, *storage)[0] == 0
    arguments = ("--configfile", "small.yaml", *storage)
    with served(tmp_path, in_a_cloud, hidden_from_machines(small.folder)) as words:
        command = [*shlex.split(words), "-m", "snakemake", *arguments, "--jobs", "2"]
        command += ["--executor", "cluster-generic", "--resources", "slot=1"]
        command += ["--cluster-generic-submit-cmd", tmp_path / "submit"]
        command += ["--cluster-generic-status-cmd", tmp_path / "status"]
        done = subprocess.run(
            [*map(str, command), "--seconds-between-status-checks", "1"],
            cwd=small.folder,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )
    logs = "".join(path.read_text() for path in tmp_path.glob("*/log"))
    told = done.stdout[-6000:] + logs[-6000:]
    assert done.returncode == 1, told  # one run has no result
    assert "broken on mine, given costs, run 0: failed: ValueError: not today" in told
    results = tmp_path / "store/results/small"
    assert "Broken" in (results / "report.html").read_text(), told
    assert same(expected, results / "points.parquet")
    _, plan = small.plan("-n", "--quiet", "rules", *arguments)
    assert "fit" in plan
    assert "msb" not in plan
    few = (*arguments, "--config", "strict=false", "methods=msb,logitb,constant")
    _, plan = small.plan("-n", "--quiet", "rules", *few)
    assert "fit" not in plan
    assert "collect" in plan
    (kept,) = small.folder.glob(".snakemake/storage/**/failures/points/mine/given/broken/0.json")
    shutil.copytree(kept.parent, kept.parents[1] / "msb")
    _, plan = small.plan("-n", "--quiet", "rules", *arguments)
    assert "msb_importance" in plan
