"""Each study of a paper does what the paper says, sentence by sentence; else it has a label."""

from functools import cache
from pathlib import Path

import pytest

from budgetbench.report.paper_studies import Reproduction
from budgetbench.study.methods import build
from budgetbench.study.study import Study
from budgetlearn.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT.parent / "shared" / "papers"  # not part of the project: checked where they lie
SETTINGS = read_yaml(ROOT / "resources" / "published" / "settings.yaml")


@cache
def study_of(name, dataset=None):
    config = read_yaml(ROOT / "config/config.yaml")
    config |= read_yaml(ROOT / f"config/studies/{name}.yaml")
    if dataset:  # one that the study knows, but runs only where it can be fetched
        config |= {"datasets": [dataset]}
    return Study.from_config(config, ROOT)


def value_of(entry):
    """Return what the study has at the place that an entry names."""
    study = study_of(entry["study"], entry.get("dataset"))
    place = entry["at"].split(".")
    if "method" not in entry:
        value = study.config
    else:
        value = study.spec(entry["method"], entry["dataset"])
        if place[0] != "grid":
            value = build(value).get_params()
    for key in place:
        value = value[key]
    return value


@pytest.mark.parametrize("entry", SETTINGS, ids=lambda e: f"{e['study']}-{e['at']}-{e['line']}")
def test_a_study_does_what_the_paper_says(entry):
    value = value_of(entry)
    expected = entry["value"]
    assert value == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.skipif(not PAPERS.exists(), reason="the papers themselves are not in the repository")
@pytest.mark.parametrize("entry", SETTINGS, ids=lambda e: f"{e['study']}-{e['at']}-{e['line']}")
def test_the_sentence_stands_on_its_line(entry):
    lines = (PAPERS / entry["paper"]).read_text(encoding="utf-8").splitlines()
    assert entry["says"] in lines[entry["line"] - 1]


def test_every_study_of_printed_numbers_has_a_sentence():
    printing = {"budgetrf-table-1", "fmcc-table-1", "gif-boosting", "gif-classification"}
    printing |= {"gif-regression", "gif-text", "msb-table-2", "msb-table-2-exhaustive"}
    assert printing <= {entry["study"] for entry in SETTINGS}
    assert printing <= set(Reproduction(ROOT).studies)
