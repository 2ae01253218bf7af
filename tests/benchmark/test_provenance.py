"""Fingerprints: an edit of code changes those of the jobs that it can touch."""

import re
import shutil

import pytest

from budgetlearn.benchmark import provenance

GIF = {"class": "budgetlearn.peers.GIFNodeShares", "parameters": {}}
FOREST = {"class": "budgetlearn.forest.BudgetRFClassifier", "parameters": {}}
MSB = {
    "class": "budgetlearn.msb.ModelScheduleSearch",
    "parameters": {"estimator": {"class": "budgetlearn.forest.RandomForestClassifier"}},
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package that a test may edit."""
    copy = tmp_path / "budgetlearn"
    ignore = shutil.ignore_patterns("*.so", "*.c", "*.cpp", "__pycache__")
    shutil.copytree(provenance.PACKAGE, copy, ignore=ignore)
    monkeypatch.setattr(provenance, "PACKAGE", copy)
    provenance._fit_fingerprint.cache_clear()
    yield copy
    provenance._fit_fingerprint.cache_clear()


def changed_by(package, file):
    """Return which of the three methods a line more in `file` touches."""
    specs = {"gif": GIF, "forest": FOREST, "msb": MSB}
    before = {name: provenance.fit_fingerprint(spec) for name, spec in specs.items()}
    with (package / file).open("a") as stream:
        stream.write("\n# more\n")
    provenance._fit_fingerprint.cache_clear()
    return {
        name for name, spec in specs.items() if provenance.fit_fingerprint(spec) != before[name]
    }


@pytest.mark.parametrize(
    ("file", "touched"),
    [
        ("msb/search.py", {"msb"}),
        ("peers/controls.py", {"gif"}),
        ("sequential/fmcc.py", set()),
        ("report/page.py", set()),
        ("benchmark/published.py", set()),
        ("forest/gif.py", {"gif", "forest", "msb"}),
        ("tree/grower.pyx", {"gif", "forest", "msb"}),
        ("benchmark/experiment.py", {"gif", "forest", "msb"}),
    ],
)
def test_an_edit_touches_the_methods_that_depend_on_it(package, file, touched):
    assert changed_by(package, file) == touched


def test_packages_of_methods_do_not_import_each_other():
    for name in provenance.METHOD_PACKAGES:
        others = "|".join(set(provenance.METHOD_PACKAGES) - {name})
        for path in (provenance.PACKAGE / name).glob("*.py*"):
            assert not re.search(rf"from \.\.({others})\b", path.read_text()), path
