"""No result of a table, a price list or settings is taken for that of another one.

Of each edit it is asked whether the next call plans the work again, by the parameters of the rules,
and whether `recommend` refuses the results that are there. What Snakemake makes of the parameters,
and a real `recommend`, are tried in `test_compare.py`.
"""

import gzip
import os
import shutil
from contextlib import chdir, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from budgetbench.datasets.fetching import write_manifest
from budgetbench.datasets.preparing import prepare
from budgetbench.datasets.table_files import own_prices
from budgetbench.study import records, runs
from budgetbench.study.provenance import refuse_outdated, sources_of_run
from budgetlearn.cli import compare
from budgetlearn.exceptions import BudgetlearnError, DatasetError
from tests.cli.conftest import PRICES, called_in, patients

METHOD = "filter_forest"
COMPARE = ("compare", "table.csv", "--target", "ill", "--costs", "prices.csv", "--runs", "1")
CALL = (*COMPARE, "--name", "mine", "--methods", METHOD)
RESULTS = Path("results/mine")
LONG_AGO = 10**18  # ns: 2001


@pytest.fixture
def no_snakemake(monkeypatch):
    """Let compare run nothing."""
    let_run_nothing(monkeypatch)


def let_run_nothing(monkeypatch):
    monkeypatch.setattr(compare, "run_snakemake", lambda *_: False)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder, and a copy of it: a table, prices behind links, what a comparison leaves."""
    folder = tmp_path_factory.mktemp("work")
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        let_run_nothing(patch)
        compare_first()
    return folder, shutil.copytree(folder, f"{folder}-kept", symlinks=True)


@pytest.fixture
def compared(first, monkeypatch, no_snakemake):
    """That folder as it was, under its own name: the study names files by their whole path."""
    folder, kept = first
    shutil.rmtree(folder)
    shutil.copytree(kept, folder, symlinks=True)
    monkeypatch.chdir(folder)
    return folder


def compare_first():
    """Compare a table and prices behind links, here."""
    for name, content in (("table.csv", patients().to_csv(index=False)), ("prices.csv", PRICES)):
        Path(f"first-{name}").write_text(content)
        os.symlink(f"first-{name}", name)
    status, _, err = called_in(Path.cwd(), *CALL)
    assert status == 0, err
    study = as_it_is_now()
    (dataset,) = study.datasets
    data = prepare(study._planned[dataset])
    prices = own_prices("prices.csv", study.unpriced(dataset))
    profile = runs.draw_costs(data, "given", [0], study.seed, prices)
    split = runs.draw_splits(data, [0], study.seed, study.sizes(dataset))
    (run,) = runs.iterate(data, split, profile, "given", study.seed)
    row = {"dataset": dataset, "costs": "given", "method": METHOD, "run": 0}
    made_of = sources_of_run(METHOD, study.spec(METHOD, dataset), run)
    records.write([row], RESULTS / "points.parquet", sources=made_of)
    profile.assign(dataset=dataset, costs="given").to_csv(RESULTS / "costs.csv", index=False)


def as_it_is_now():
    config = yaml.safe_load((RESULTS / "study.yaml").read_text())
    return compare.checked_study(config, compare.folders()[0])


def planned():
    """Return what the rules get as parameters, and paths that Snakemake compares."""
    study = as_it_is_now()
    (dataset,) = study.datasets
    return {
        "fetch": study.raw(dataset),
        "prepare": study.prepared(dataset),
        "costs": (study.price_content(dataset, "given"), study.price_list(dataset, "given")),
        "split": (study.seed, study.sizes(dataset)),
        "fit": study.spec(METHOD, dataset),
    }


def recommended():
    """Do what recommend does before it takes results."""
    study, own, _ = compare.read_study(RESULTS, compare.folders()[0])
    cells = [(*case, METHOD) for case in study.cases]
    refuse_outdated(study, RESULTS / "points.parquet", cells, "", {cells[0][0]: own.costs})


def reported():
    """Do what the report does before it takes results."""
    study = as_it_is_now()
    prices = runs.given_prices(study, pd.read_csv(RESULTS / "costs.csv"))
    cells = [(*case, METHOD) for case in study.cases]
    refuse_outdated(study, RESULTS / "points.parquet", cells, "", prices)


def put(content, path="table.csv", when=None):
    """Write a file, as of some time, in place of the one that a link leads to."""
    path = Path(path).resolve()
    stat = path.stat()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    when = stat.st_mtime_ns if when is None else when
    os.utime(path, ns=(when, when))


def table(change, **how):
    """Return an edit of the table's frame."""

    def edit():
        put(change(pd.read_csv("table.csv")).to_csv(index=False), **how)

    return edit


def text(path, before, after, **how):
    """Return an edit of the first place of a text."""

    def edit():
        content = Path(path).read_text()
        assert before in content
        put(content.replace(before, after, 1), path, **how)

    return edit


def labels(frame):
    return frame.assign(ill=np.random.default_rng(1).permutation(frame["ill"]))


def another(path, change, bring):
    """Return an edit that brings an older file of another content to the place of one."""

    def edit():
        Path("other").write_text(change(Path(path).read_text()))
        os.utime("other", ns=(LONG_AGO, LONG_AGO))
        bring("other", path)

    return edit


def swapped(name):
    """Return an edit that lets a link lead to another, older file."""

    def edit():
        content = Path(name).read_text().replace("yes", "no", 5).replace("20.7", "2.07")
        Path(f"second-{name}").write_text(content)
        os.utime(f"second-{name}", ns=(LONG_AGO, LONG_AGO))
        os.unlink(name)
        os.symlink(f"second-{name}", name)

    return edit


def entry(file, *place, **changes):
    """Return an edit of a part of a configuration file, whose time stays."""

    def edit():
        content = yaml.safe_load((RESULTS / file).read_text())
        part = content
        for key in place:
            part = part.setdefault(key, {})
        part.update(changes)
        put(yaml.safe_dump(content), RESULTS / file)

    return edit


SOURCE = ("datasets.yaml", "datasets", "table", "source")
EDITS = {
    "labels drawn anew": table(labels, when=2 * LONG_AGO),
    "labels drawn anew, time kept": table(labels),
    "labels drawn anew, long ago": table(labels, when=LONG_AGO),
    "an older table moved there": another(
        "table.csv", lambda content: content.replace("no", "yes", 9), os.replace
    ),
    "an older table copied there with its time": another(
        "table.csv", lambda content: content.replace("no", "yes", 9), shutil.copy2
    ),
    "same size and time": text("table.csv", "yes", "sey"),
    "one digit, same size and time": table(lambda f: f.assign(insulin=f["insulin"].round(2) + 1)),
    "the link of the table": swapped("table.csv"),
    "a column renamed": table(lambda f: f.rename(columns={"insulin": "lactate"})),
    "a column more": table(lambda f: f.assign(more=1)),
    "a column less": table(lambda f: f.drop(columns="age")),
    "two columns with each other's name": table(
        lambda f: f.rename(columns={"insulin": "glucose", "glucose": "insulin"})
    ),
    "columns in another order": table(lambda f: f[f.columns[::-1]]),
    "a row more": table(lambda f: pd.concat([f, f.tail(1)])),
    "a row less": table(lambda f: f.iloc[:-1]),
    "rows in another order": table(lambda f: f.iloc[::-1]),
    "a class renamed": table(lambda f: f.replace({"ill": {"yes": "ill"}})),
    "cells emptied": table(lambda f: f.assign(glucose=f["glucose"].where(f.index > 9))),
    "another separator": lambda: put(Path("table.csv").read_text().replace(",", ";")),
    "compressed": lambda: put(gzip.compress(labels(patients()).to_csv(index=False).encode())),
    "cut off": lambda: put(Path("table.csv").read_bytes()[:2000].rpartition(b"\n")[0]),
    "the table deleted": lambda: os.unlink("table.csv"),
    "a price": text("prices.csv", "20.7", "2.07"),
    "a price, long ago": text("prices.csv", "20.7", "2.07", when=LONG_AGO),
    "a price, same size and time": text("prices.csv", "20.7", "27.0"),
    "an older price list moved there": another(
        "prices.csv", lambda content: content.replace("15.5", "5.5"), os.replace
    ),
    "the link of the price list": swapped("prices.csv"),
    "a shared charge": lambda: put(PRICES.replace("2.1", "9.9"), "prices.csv"),
    "no shared charge": lambda: put(PRICES.replace("blood,2.1", ","), "prices.csv"),
    "two prices exchanged": lambda: put(
        PRICES.replace("age,1", "age,x").replace("smoker,2", "smoker,1").replace("x", "2"),
        "prices.csv",
    ),
    "the price list deleted": lambda: os.unlink("prices.csv"),
    "another target": entry(*SOURCE, target="smoker"),
    "a column left out": entry(*SOURCE, drop=["age"]),
    "gaps filled by the median": entry(*SOURCE, missing="median"),
    "numbers that name categories": entry(*SOURCE, categorical=["age"]),
    "what stands for a gap": entry(*SOURCE, na="former"),
    "the seed": entry("study.yaml", seed=5),
    "what counts": entry("study.yaml", scoring="balanced_accuracy"),
    "a method's parameter": entry("study.yaml", "overrides", METHOD, grid={"n_estimators": [7]}),
}


def test_there_are_as_many_edits_as_promised():
    assert len(EDITS) >= 30


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_planned_again_and_its_old_results_are_refused(compared, edit):
    before = planned()
    recommended()
    reported()
    EDITS[edit]()
    with suppress(BudgetlearnError):  # where the call is refused
        assert planned() != before
    for taken in (recommended, reported):
        with pytest.raises(BudgetlearnError):
            taken()


@pytest.mark.parametrize("name", ["table.csv", "prices.csv"])
def test_what_is_the_same_is_not_done_again(compared, name):
    before = planned()
    os.utime(name, ns=(3 * LONG_AGO, 3 * LONG_AGO))
    shutil.copy(name, "same")
    os.replace("same", name)
    assert planned() == before
    recommended()


def test_results_without_what_they_were_made_of_or_of_a_left_out_method_are_refused(compared):
    study, file = as_it_is_now(), RESULTS / "points.parquet"
    left_out = [(*study.cases[0], "msb")]
    with pytest.raises(BudgetlearnError, match="outdated: the list of data sets and methods"):
        refuse_outdated(study, file, left_out, "", {})
    points = records.read(RESULTS / "points.parquet")
    records.write(points, RESULTS / "points.parquet")
    with pytest.raises(BudgetlearnError, match="outdated: the data of table changed since"):
        recommended()


def test_a_file_that_changes_under_a_job_stops_it(compared, tmp_path):
    study = as_it_is_now()
    (dataset,) = study.datasets
    spec, content = study._planned[dataset], study.price_content(dataset, "given")
    write_manifest(spec, [], tmp_path / "manifest.json")
    assert spec.content in (tmp_path / "manifest.json").read_text()
    table(labels)()
    with pytest.raises(DatasetError, match=r"table\.csv was changed while the study was running"):
        prepare(spec)
    text("prices.csv", "20.7", "2.07")()
    with pytest.raises(DatasetError, match=r"prices\.csv was changed while"):
        own_prices("prices.csv", (), content)


def tree():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        ("--dry-run", "--seed", "9"),
        ("--methods", "mbs"),
        ("--drop", "nothing"),
        ("--drop", "age", "--drop", "smoker", "--drop", "glucose", "--drop", "insulin"),
    ],
)
def test_a_dry_run_and_a_refused_call_write_nothing(compared, told, words):
    before = tree()
    status, _, _ = told(*CALL, *words)
    assert status == (0 if "--dry-run" in words else 2)
    assert tree() == before


def test_a_second_call_leaves_the_work_of_the_first_alone(compared, told):
    with compare.sole_work(Path.cwd(), "mine"):
        before = tree()
        status, _, err = told(*CALL, "--seed", "9")
        assert (status, err.count("\n")) == (2, 1)
        assert "Another `budgetlearn compare` is running" in err
        assert tree() == before
    assert told(*CALL, "--seed", "9")[0] == 0
    assert "seed: 9" in (RESULTS / "study.yaml").read_text()


def test_a_call_leaves_a_study_alone_that_snakemake_works_on(compared, told):
    locks = Path(".snakemake/locks")
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("results/mine/points.parquet\n")
    before = tree()
    status, _, err = told(*CALL, "--seed", "9")
    assert status == 2
    assert "Snakemake is running the study mine" in err
    assert tree() == before
    assert told(*CALL, "--name", "mine-too")[0] == 0
