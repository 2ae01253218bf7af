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


@pytest.mark.parametrize("study", sorted({entry["study"] for entry in SETTINGS}))
def test_a_study_does_what_the_paper_says(study):
    entries = [entry for entry in SETTINGS if entry["study"] == study]
    told = {(entry["at"], entry["line"], entry.get("dataset")): entry["value"] for entry in entries}
    assert len(told) == len(entries)
    found = dict(zip(told, map(value_of, entries), strict=True))
    wrong = {
        place: (found[place], value)
        for place, value in told.items()
        if found[place] != (pytest.approx(value) if isinstance(value, float) else value)
    }
    assert not wrong, "by place and line of the paper: ours, and what the paper says"


@pytest.mark.skipif(not PAPERS.exists(), reason="the papers themselves are not in the repository")
def test_every_sentence_stands_on_its_line():
    read = cache(lambda paper: (PAPERS / paper).read_text(encoding="utf-8").splitlines())
    lines = [(entry, read(entry["paper"])[entry["line"] - 1]) for entry in SETTINGS]
    assert not [
        (entry["paper"], entry["line"], entry["says"], line)
        for entry, line in lines
        if entry["says"] not in line
    ]


def test_every_study_of_printed_numbers_has_a_sentence():
    printing = {"budgetrf-table-1", "fmcc-table-1", "gif-boosting", "gif-classification"}
    printing |= {"gif-regression", "gif-text", "msb-table-2", "msb-table-2-exhaustive"}
    assert printing <= {entry["study"] for entry in SETTINGS}
    found = Reproduction(ROOT, kept={})
    assert printing <= {*found.studies, *(one["study"] for one in found.about["apart"])}
