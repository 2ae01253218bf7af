"""A few kills of a small study; `python -m tests.workflow.kills` kills the smoke study 50 times."""

import os
import random

import pytest
import yaml

from tests.workflow.conftest import be_a_call
from tests.workflow.kills import Killed, compare, contents, kill_often

pytestmark = pytest.mark.workflow
STUDY = {"study": "killed", "title": "Killed", "datasets": ["wine"], "runs": 1}


class Fork:
    """A fork of this process, with the methods of a process of `subprocess`."""

    def __init__(self, pid):
        self.pid, self.returncode = pid, None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


class WarmlyCalled(Killed):
    """Calls are forks of this process, which saves seconds; calls to be killed have own servers."""

    def __init__(self, workflow, *arguments):
        super().__init__(workflow.folder, *arguments)
        self.workflow = workflow

    def start(self):
        with self.output.open("w") as output:
            return Fork(self.workflow.begin(be_a_call, output, *self.command))

    def call(self, *more):
        code, output = self.workflow.attempt(*self.command, *more)
        self.output.write_text(output)
        return code


def test_what_was_killed_gives_the_same_in_the_end(make_workflow):
    workflow = make_workflow()
    folder = workflow.folder
    study = folder / "config" / "studies" / "killed.yaml"
    study.write_text(yaml.safe_dump({**STUDY, "methods": ["logitb", "constant"]}))
    workflow.again("collect", "--configfile", study)
    expected = contents(folder / "results" / "killed")
    assert len(expected) == 4  # data, split, costs, points
    command = ("collect", "--cores", "2", "--configfile", study)
    killed = WarmlyCalled(workflow, command, random.Random(1))
    killed.begin_anew("results/killed")
    kill_often(killed, "results/killed", expected, 2, (0.3, 2.5))
    assert len(killed.rows) == 2


def test_other_contents_are_told():
    with pytest.raises(AssertionError, match="points"):
        compare({"points": "1"}, {"points": "2"})
    with pytest.raises(AssertionError, match="points"):
        compare({}, {"points": "2"})
