"""The mutation run: the code that it changes or leaves alone, and the mutants it calls noticed."""

import ast

import pytest

from tests.mutation import by_hand, plugin
from tests.mutation.__main__ import ROOT, sample_of
from tests.mutation.operators import mutants_of, mutated
from tests.mutation.running import KILLED, SURVIVED, TIMEOUT, trace, try_mutant

SOURCE = '''"""Words 1."""
import math

LIMIT: int = 3


def clip(x, low=0):
    """Return it, at most 3."""
    if x < low and x is not None:
        raise ValueError(f"{x + 1} is too low")
    log.info("clip %d", x + 1)
    for _ in range(2):
        x = math.fsum([x], start=-x)
        break
    return min(x, LIMIT) if True else x[x == 1]
'''


def changes():
    return [(m.before, m.after) for m in mutants_of("clip.py", SOURCE)]


def test_every_kind_of_change_is_made():
    found = changes()
    for before, after in [
        ("3", "4"),
        ("0", "1"),
        ("x < low", "x <= low"),
        ("x is not None", "x is None"),
        ("x < low and x is not None", "x < low or x is not None"),
        ("math.fsum([x], start=-x)", "math.fsum([x])"),
        ("-x", "x"),
        ("break", "continue"),
        ("True", "False"),
        ("x == 1", "x != 1"),
    ]:
        assert (before, after) in found
    assert sum(after == "pass" for _, after in found) == 1  # the raise, not the log line
    assert sum(after == "return None" for _, after in found) == 1
    assert not any("+" in before for before, _ in found if not before.startswith(("if", "raise")))


def test_a_mutant_changes_one_place_and_no_line_number():
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for number, mutant in enumerate(mutants_of("clip.py", SOURCE)):
        tree = mutated(SOURCE, number)
        text = ast.unparse(tree).splitlines()
        assert text != plain
        lines = [node.lineno for node in ast.walk(tree) if hasattr(node, "lineno")]
        assert max(lines) == SOURCE.count("\n")
        compile(tree, "clip.py", "exec")
        assert mutant.at_import == (mutant.line <= 7)


def test_the_sample_depends_on_the_seed_alone():
    mutants = mutants_of("clip.py", SOURCE)
    assert sample_of(mutants, 5, 0) == sample_of(mutants[::-1], 5, 0)
    assert sample_of(mutants, 5, 0) != sample_of(mutants, 5, 1)
    below = mutants_of("clip.py", SOURCE.replace("import math", "import math\n\n"))
    texts = [[m.text for m in sample_of(some, 5, 0)] for some in (mutants, below)]
    assert texts[0] == texts[1]


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "steps.py").write_text(
        "def count(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i if i else -0\n"
    )
    (tree / "conftest.py").write_text("import steps\n\nassert steps.count(0) is not None\n")
    (tree / "test_steps.py").write_text(
        "import steps\n\n\ndef test_count():\n    assert steps.count(3) == 3\n\n\n"
        "def test_elsewhere():\n    assert True\n"
    )
    return tree


def test_what_became_of_mutants(tree, monkeypatch):
    monkeypatch.setattr(plugin, "GRACE", 2)  # for the one that never ends; 1 is short under load
    runs = trace(tree, "src/", ["test_steps.py"])
    assert runs["lines"]["test_steps.py::test_elsewhere"] == []
    lines = runs["lines"]["test_steps.py::test_count"]
    assert lines == [f"src/steps.py:{line}" for line in range(1, 6)]
    source = (tree / "src" / "steps.py").read_text()
    expected = {"i <= n": KILLED, "i -= 1": TIMEOUT, "return None": KILLED, "0": SURVIVED}
    mutants = [m for m in mutants_of("src/steps.py", source) if m.after in expected]
    seconds = {"test_steps.py::test_count": 0.0}
    assert {m.after: try_mutant(tree, m, seconds) for m in mutants} == expected
    assert (tree / "src" / "steps.py").read_text() == source


def test_tests_that_fail_unchanged_stop_the_run(tree):
    (tree / "test_steps.py").write_text("def test_wrong():\n    assert False\n")
    with pytest.raises(SystemExit, match="test_wrong"):
        trace(tree, "src/", ["test_steps.py"])


def test_what_is_changed_by_hand_stands_once_in_its_module():
    mutants = by_hand.listed()
    assert len(mutants) >= 100
    assert len({(m.module, m.before, m.after) for m in mutants}) == len(mutants)
    for mutant in mutants:
        source = mutant.source(ROOT).read_text(encoding="utf-8")
        assert source.count(mutant.before) == 1, str(mutant)
        assert mutant.before != mutant.after
        assert all((ROOT / name).is_file() for name in mutant.tests), str(mutant)


def test_mutants_by_hand_are_tried_and_summed_up(tree):
    changes = [("i < n", "i <= n", "Counts one more."), ("else -0", "else 1", "None is one.")]
    mutants = [by_hand.HandMade("steps", *change, ("test_steps.py",)) for change in changes]
    survivors = by_hand.measure(tree, mutants)
    assert survivors == mutants[1:]
    assert by_hand.summary(mutants, survivors) == [
        "steps: 1 of 2 noticed",
        "all: 50 % of 2 mutants noticed",
        "  steps: None is one.",
    ]
