"""Folders and models of others are data: no code of theirs runs, no byte leaves their place."""

import gzip
import os
import pickle
import subprocess
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import budgetlearn
from budgetbench.study import records
from budgetlearn.cli import compare
from budgetlearn.cli.saved_model import FORMAT, SavedModel, read_model
from budgetlearn.files import csv_text, write_whole
from budgetlearn.msb import exhaustive
from tests.cli.conftest import QUICK

CALL = ("compare", "table.csv", "--target", "ill", "--costs", "prices.csv", "--runs", "1")


@pytest.fixture
def outside(folder, tmp_path_factory):
    """A folder outside of the working one, in which nothing may appear."""
    place = tmp_path_factory.mktemp("outside")
    yield place
    assert list(place.iterdir()) == []


@pytest.fixture
def study(folder, outside, told, monkeypatch):
    """Write the study of a comparison with changes, as somebody else may; return its folder."""

    def write(**changes):
        monkeypatch.setattr(compare, "run_snakemake", lambda *_: False)
        assert told(*CALL, "--methods", "filter_forest")[0] == 0
        results = folder / "results" / "table"
        content = yaml.safe_load((results / "study.yaml").read_text())
        (results / "study.yaml").write_text(yaml.safe_dump(content | changes))
        row = {"dataset": "table", "costs": "given", "method": "filter_forest", "run": 0}
        records.write([row], results / "points.parquet")
        return results

    return write


def methods(results, entry):
    """Write a file of methods, one of which is theirs; return what the study says of it."""
    theirs = {
        "theirs": {"label": "Theirs", **entry},
        "constant": {"label": "-", "class": "budgetlearn.peers.FreeConstantClassifier"},
    }
    (results / "methods.yaml").write_text(yaml.safe_dump(theirs))
    return {"methods": ["theirs", "constant"], "methods_file": str(results / "methods.yaml")}


def touching(outside):
    """Return the parameters with which Popen leaves a file."""
    return {"args": ["touch", str(outside / "popen")]}


FOREST = "budgetlearn.forests.RandomForestClassifier"
ENTRIES = {
    "a program": lambda out: {"class": "subprocess.Popen", "parameters": touching(out)},
    "a program inside of an estimator": lambda out: {
        "class": "budgetlearn.msb.ModelScheduleSearch",
        "parameters": {"estimator": {"class": "subprocess.Popen", "parameters": touching(out)}},
    },
    "a module beside the study": lambda out: {"class": "theirs.Method"},
    "a program that a module of ours imports": lambda out: {
        "class": "budgetbench.study.provenance.subprocess.Popen",
        "parameters": touching(out),
    },
    "a function": lambda out: {"class": "budgetlearn.files.whole_file"},
    "a class that is no estimator": lambda out: {
        "class": "budgetlearn.msb.exhaustive.SubsetScores",
        "parameters": {"n_variables": 2, "path": str(out / "scores")},
    },
    "a file to keep progress in": lambda out: {
        "class": "budgetlearn.msb.ExhaustiveSearch",
        "parameters": {"checkpoint": str(out / "checkpoint")},
    },
    "a folder to unpickle from": lambda out: {
        "class": FOREST,
        "grid": {"estimator__memory": [str(out / "memory")]},
    },
}


@pytest.mark.parametrize("name", ENTRIES)
def test_recommend_runs_no_class_of_a_folder(study, outside, told, monkeypatch, name):
    results = study()
    # Whoever writes a folder can write results that recommend the method in it.
    best = {"method": "theirs", "cost": 0.5, "test": 0.9, "n_runs": 1, "as_good": False}
    monkeypatch.setattr(compare, "_best", lambda *_: (best, {}))
    (results / "theirs.py").write_text(f"open({str(outside / 'module')!r}, 'w')\n")
    changes = methods(results, ENTRIES[name](outside))
    study_file = results / "study.yaml"
    content = yaml.safe_load(study_file.read_text()) | changes | {"methods_path": str(results)}
    study_file.write_text(yaml.safe_dump(content))
    status, out, err = told("recommend", "results/table", "--budget", "20", "--out", "m.joblib")
    assert status == 2, out
    assert err.count("\n") == 1
    assert not Path("m.joblib").exists()


@pytest.mark.parametrize("place", ["overrides", "by_dataset"])
def test_nor_one_that_its_settings_name(study, outside, told, place):
    entry = {"filter_forest": {"class": "subprocess.Popen", "parameters": touching(outside)}}
    entry = {"overrides": entry}
    study(**(entry if place == "overrides" else {"by_dataset": {"table": entry}}))
    status, _, err = told("recommend", "results/table", "--budget", "20")
    assert (status, err.count("\n")) == (2, 1)
    assert "runs code of subprocess.Popen" in err
    assert "--trust" in err


def test_yaml_is_plain_data(study, outside, told):
    results = study()
    text = f"!!python/object/apply:os.mkdir ['{outside / 'yaml'}']"
    (results / "study.yaml").write_text(f"study: x\ntitle: {text}\n")
    status, _, err = told("recommend", "results/table", "--budget", "20")
    assert (status, err.count("\n")) == (2, 1)


def test_a_class_of_the_users_own_is_taken_on_trust(study, told):
    results = study()
    (results / "my_own_forest.py").write_text(
        "from budgetlearn.peers import FilterForestClassifier\n\n\n"
        "class Mine(FilterForestClassifier):\n    pass\n"
    )
    content = yaml.safe_load((results / "study.yaml").read_text())
    content |= methods(results, {"class": "my_own_forest.Mine"}) | {"methods_path": str(results)}
    (results / "study.yaml").write_text(yaml.safe_dump(content))
    status, _, err = told("recommend", "results/table", "--budget", "20")
    assert (status, "runs code of my_own_forest.Mine" in err) == (2, True)
    _, _, err = told("recommend", "results/table", "--budget", "20", "--trust")
    assert "runs code" not in err
    assert "importable" not in err


# --- models


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function, *arguments):
        self.what = function, arguments

    def __reduce__(self):
        return self.what


def named(module, name):
    """Return opcodes of a pickle that takes a name from a module, and calls it with nothing."""
    parts = (b"\x80\x04\x8c", bytes([len(module)]), module.encode(), b"\x8c", bytes([len(name)]))
    return b"".join((*parts, name.encode(), b"\x93)R."))


def model(content):
    """Write a file of a model that holds a pickle."""
    content = content if isinstance(content, bytes) else pickle.dumps(content, 5)
    Path("m").write_bytes(f"budgetlearn model {FORMAT}\n".encode() + gzip.compress(content))


MODELS = {
    "a command": lambda out: Calls(os.system, f"touch {out}/command"),
    "a program": lambda out: Calls(subprocess.Popen, ["touch", f"{out}/popen"]),
    "code": lambda out: Calls(eval, f"open('{out}/code', 'w')"),
    "a file": lambda out: Calls(open, f"{out}/file", "w"),
    "a spreadsheet": lambda out: Calls(pd.ExcelWriter, f"{out}/sheet.xlsx"),
    "an array on disk": lambda out: Calls(np.memmap, f"{out}/array", "uint8", "w+", 0, (9,)),
    "a class of ours that opens files": lambda out: Calls(
        exhaustive.SubsetScores, 2, f"{out}/scores"
    ),
    "a function of ours": lambda out: Calls(write_whole, f"{out}/m", "text"),
    "the plain reader of models": lambda out: Calls(SavedModel.load, "theirs", True),
    "an object array": lambda out: Calls(joblib.load, "theirs"),
    "a module that runs": lambda out: named("budgetlearn.cli.__main__", "main"),
    "a module beside the model": lambda out: named("theirs", "Method"),
    "what a module of ours imports": lambda out: named("budgetlearn.tree.growth", "np.save"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_runs_no_code(folder, outside, told, monkeypatch, name):
    monkeypatch.syspath_prepend(folder)
    Path("theirs.py").write_text(f"open({str(outside / 'module')!r}, 'w')\n")
    joblib.dump(Calls(os.system, f"touch {outside}/joblib"), "theirs")
    model(MODELS[name](outside))
    for words in (("predict", "m", "table.csv"), ("ask", "m", "--json")):
        status, out, err = told(*words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "add --trust" in err


def test_models_of_other_formats_are_refused_before_they_are_read(folder, outside, told):
    call = pickle.dumps(Calls(os.system, f"touch {outside}/format"))
    for number, said in ((FORMAT + 1, "install a newer budgetlearn"), (1, "fit the model again")):
        Path("m").write_bytes(f"budgetlearn model {number}\n".encode() + gzip.compress(call))
        status, _, err = told("predict", "m", "table.csv")
        assert (status, err.count("\n")) == (2, 1)
        assert f"m has format {number}, this version reads {FORMAT}: {said}" in err
    joblib.dump(Calls(os.system, f"touch {outside}/joblib"), "m")
    assert "is not a model that" in told("predict", "m", "table.csv")[2]


@pytest.mark.parametrize("classes", [2, 3, None])
def test_boosted_trees_of_scikit_learn_are_read(tmp_path, classes):
    """They stand in where LightGBM is not installed."""
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = kind(max_iter=3).fit(X, np.arange(60) % (classes or 60))
    SavedModel.save(SimpleNamespace(model=model), tmp_path / "model")
    assert (read_model(tmp_path / "model")["model"].predict(X) == model.predict(X)).all()
    # scikit-learn before 1.9 pickles its losses under this name.
    loss = gzip.compress(b"c_loss\nCyHalfSquaredError\n.")
    (tmp_path / "loss").write_bytes(f"budgetlearn model {FORMAT}\n".encode() + loss)
    assert read_model(tmp_path / "loss").__name__ == "CyHalfSquaredError"


def test_only_one_class_among_those_of_models_opens_files():
    package = Path(budgetlearn.__file__).parent
    parts = ("base", "forest", "msb", "peers", "preprocessing", "sequential", "tree")
    sources = [path for part in parts for path in (package / part).rglob("*.py")]
    sources += [package / "costs.py", package / "curves.py"]
    writers = "whole_file", "write_whole"
    writing = [path.stem for path in sources if any(each in path.read_text() for each in writers)]
    assert writing == ["exhaustive"]


# --- what is written


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full", "pipe"])
def test_a_device_is_left_alone(folder, told, device):
    os.mkfifo("pipe")
    status, _, err = told(*QUICK, "--out", device)
    assert status == 2
    assert f"{device} is not a file" in err
    assert told(*QUICK, "--report", device)[0] == 2
    assert told(*QUICK, "--out", "m")[0] == 0
    assert told("predict", "m", "table.csv", "--out", device)[0] == 2
    assert not os.path.isfile(device)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_written_through(folder, told, there):
    (folder / "kept").mkdir()
    for name in ("m", "m.html", "out.csv"):
        if there:
            (folder / "kept" / name).write_text("old")
        (folder / name).symlink_to(folder / "kept" / name)
    assert told(*QUICK, "--out", "m", "--report", "m.html")[0] == 0
    assert told("predict", "m", "table.csv", "--out", "out.csv")[0] == 0
    for name in ("m", "m.html", "out.csv"):
        assert (folder / name).is_symlink()
        assert (folder / "kept" / name).stat().st_size > 100
    assert len(list((folder / "kept").iterdir())) == 3


def test_names_are_no_formulas_in_a_spreadsheet(folder, told):
    table = pd.read_csv("table.csv").rename(columns={"age": "=1+1", "ill": "@ill"})
    table["@ill"] = table["@ill"].map({"yes": "+cmd|' /C calc'!A0", "no": "-a"})
    table.to_csv("table.csv", index=False)
    Path("prices.csv").write_text("feature,cost\n=1+1,1\nsmoker,2\nglucose,3\ninsulin,3\n")
    fit = ("fit", "table.csv", "--target", "@ill", "--costs", "prices.csv")
    assert told(*fit, "--method", "filter_forest", "--out", "m")[0] == 0
    assert told("predict", "m", "table.csv", "--out", "out.csv")[0] == 0
    made = pd.read_csv("out.csv", dtype=str)
    assert made.columns[0] == "'@ill"
    assert set(made["'@ill"]) == {"'+cmd|' /C calc'!A0", "'-a"}
    bought = made["bought"].dropna()
    assert bought.str.startswith("'=1+1").any()
    assert not bought.str.startswith("=").any()
    cells = pd.DataFrame({"x": [-1.5, 2], "y": ["-1.5", "-"], "z": ["-a", "\t=1"]})
    assert csv_text(cells) == "x,y,z\n-1.5,-1.5,'-a\n2.0,-,'\t=1\n"
