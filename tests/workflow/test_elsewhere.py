"""The workflow as a module of another one, or with files in a storage, gives the same points."""

import json
import os
import shutil

import pytest
import yaml

from budgetbench.study import records
from budgetbench.study.stored_results import differences
from tests.workflow.conftest import ROOT, Workflow

pytestmark = pytest.mark.workflow
STUDY = {
    "study": "small",
    "datasets": ["wine"],
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


@pytest.fixture
def small(tmp_path):
    """Return a folder with a study and the files that it names; one of its methods always fails."""
    methods = yaml.safe_load((ROOT / "config" / "methods.yaml").read_text())
    methods["broken"] = {"label": "Broken", "class": "broken.Broken"}
    (tmp_path / "methods.yaml").write_text(yaml.safe_dump(methods))
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({**STUDY, "methods_path": "."}))
    return Workflow(tmp_path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the points of the same study when it runs as usual."""
    folder = tmp_path_factory.mktemp("plain")
    study = {**STUDY, "methods": ["msb", "constant"]}
    del study["methods_file"]
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
    assert "broken on wine, random costs, run 0: failed: ValueError: not today" in said
    assert "fits 1 of 1" in said
    config["budgetlearn"] |= {"strict": False, "methods": ["msb", "logitb", "constant"]}
    (small.folder / "all.yaml").write_text(yaml.safe_dump(config))
    _, plan = small.plan("-n", "--quiet", "rules", "--configfile", "all.yaml")
    assert "bl_fit" not in plan  # the points of the other runs were found
    assert "bl_collect" in plan


def test_with_a_storage(small, expected):
    pytest.importorskip("snakemake_storage_plugin_fs", reason="snakemake-storage-plugin-fs")
    path = os.environ["PATH"]
    if shutil.which("rsync") is None:
        (small.folder / "rsync").write_text(RSYNC)
        (small.folder / "rsync").chmod(0o755)
        path = f"{small.folder}:{path}"
    storage = ("--default-storage-provider", "fs", "--default-storage-prefix", "store/")
    catalog = ROOT / "workflow" / "Snakefile"
    arguments = ("-s", catalog, "--configfile", "small.yaml", *storage)
    small.again(*arguments, fails=True, PATH=path)  # one run has no result
    results = small.folder / "store/results/small"
    assert "Broken" in (results / "report.html").read_text()
    assert same(expected, results / "points.parquet")
    _, plan = small.plan("-n", "--quiet", "rules", *arguments)
    assert "fit" in plan
    assert "msb" not in plan
    few = (*arguments, "--config", "strict=false", "methods=msb,logitb,constant")
    _, plan = small.plan("-n", "--quiet", "rules", *few)
    assert "fit" not in plan
    assert "collect" in plan
