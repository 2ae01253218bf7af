"""The page on own methods: its file, its entries and its command work as printed there."""

import re
import shlex
from pathlib import Path

import pytest

from budgetbench.study import records

pytestmark = pytest.mark.workflow
PAGE = Path(__file__).parents[2] / "docs" / "own-method.md"
FILES = ("cheapest_k.py", "my_methods.yaml", "my_study.yaml")


def test_a_method_in_a_folder_of_ones_own_is_compared(make_workflow):
    workflow = make_workflow()
    blocks = re.findall(r"^```(?:python|yaml|sh)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (workflow.folder / "my_folder").mkdir()
    for name, block in zip(FILES, blocks, strict=False):
        (workflow.folder / "my_folder" / name).write_text(block)
    command = shlex.split(blocks[len(FILES)])
    assert command[:3] == ["snakemake", "--cores", "2"]
    workflow.again("collect", *command[3:], "--config", "runs=1", PYTHONPATH="")
    points = records.read(workflow.folder / "results" / "mine" / "points.parquet")
    assert (points["status"] == "ok").all()
    of_grid = points[(points["method"] == "cheapest_k") & (points["dataset"] == "wine")]
    assert of_grid["setting"].tolist() == ["k=1", "k=2", "k=4", "k=8"]
    assert of_grid["n_features"].tolist() == [1, 2, 4, 8]
    with (workflow.folder / "my_folder" / FILES[0]).open("a") as stream:
        stream.write("MORE = 1\n")
    code, told = workflow.plan("collect", *command[3:], "-n", "--config", "runs=1")
    again = set(re.findall(r"output: results/mine/points/\w+/\w+/(\w+)/", told))
    assert (code, again) == (0, {"cheapest_2", "cheapest_k"}), told


def test_a_folder_that_is_not_there_is_told(make_workflow):
    code, output = make_workflow().plan("--config", "methods_path=nowhere", "-n")
    assert code
    assert "there is no folder" in output
    assert "methods_path" in output
