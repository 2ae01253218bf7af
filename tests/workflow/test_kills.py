"""A few kills of a small study; `python -m tests.workflow.kills` does fifty of the smoke study."""

import random

import pytest
import yaml

from tests.workflow.kills import Killed, compare, contents, kill_often

pytestmark = pytest.mark.workflow
STUDY = {"study": "killed", "title": "Killed", "datasets": ["wine"], "runs": 1}


class WarmlyCalled(Killed):
    """Calls that nobody kills are forks of this process: each saves seconds."""

    def __init__(self, workflow, *arguments):
        super().__init__(workflow.folder, *arguments)
        self.workflow = workflow

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
    killed = WarmlyCalled(workflow, command, random.Random(3))
    killed.begin_anew("results/killed")
    kill_often(killed, "results/killed", expected, 2, (2, 6))
    assert len(killed.rows) == 2


def test_other_contents_are_told():
    with pytest.raises(AssertionError, match="points"):
        compare({"points": "1"}, {"points": "2"})
    with pytest.raises(AssertionError, match="points"):
        compare({}, {"points": "2"})
