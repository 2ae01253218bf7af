"""From one's own table to a comparison, and from it to a model: as a user runs it, elsewhere."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import click
import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.utils import check_random_state

from budgetbench.analysis import recommendations
from budgetbench.datasets.preparing import prepare
from budgetbench.study import records
from budgetlearn.cli.compare import (
    REGISTRY,
    STUDY,
    _best,
    compare,
    folders,
    read_study,
    run_snakemake,
    write_files,
)
from budgetlearn.cli.fit import parts_of
from budgetlearn.cli.predict import cells_to_do_without, predictions
from budgetlearn.cli.saved_model import SavedModel
from budgetlearn.cli.table import read_own_table
from tests.cli.conftest import PRICES, called_in, compared_in, limit_methods, patients
from tests.workflow.conftest import Workflow

pytestmark = pytest.mark.usefixtures("quick_cascade")

METHODS = ("--methods", "cascade", "--methods", "filter_forest")
OWN = ("--target", "ill", "--costs", "prices.csv", "--runs", "1")


def program(folder, *words):
    """Run the command line as a process in a folder, and return what it prints."""
    command = [sys.executable, "-m", "budgetlearn", *words]
    run = {"capture_output": True, "text": True, "timeout": 600, "check": False}
    done = subprocess.run(command, cwd=folder, **run)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def worked(folder, *words, text=""):
    """Run the command line in this process, and return what it prints."""
    status, out, err = called_in(folder, *words, text=text)
    assert status == 0, out[-3000:] + err[-3000:]
    return out


def named_command(folder, said):
    """Return the words of the command of Snakemake that `compare` names."""
    line = next(line for line in said.splitlines() if line.startswith(f"In {folder}: "))
    return shlex.split(line.partition(": ")[2])


def numbers_to_predict():
    """Return the table with a target of numbers."""
    table = patients(150)
    return table.assign(ill=(table["age"].fillna(50) * 2 + table["glucose"]).round(2))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder outside of the project, with two tables and their prices."""
    folder = tmp_path_factory.mktemp("elsewhere")
    patients(150).to_csv(folder / "my_table.csv", index=False)
    numbers_to_predict().to_csv(folder / "numbers.csv", index=False)
    (folder / "prices.csv").write_text(PRICES)
    return folder


@pytest.fixture(scope="module")
def compared(elsewhere):
    said = program(elsewhere, "compare", "my_table.csv", *OWN, *METHODS)
    return elsewhere, said


def test_halves_without_scores_are_said_not_to_recommend(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("budgetlearn.cli.compare.run_snakemake", lambda *_: False)
    patients(150).to_csv("table.csv", index=False)
    worked(tmp_path, "compare", "table.csv", "--target", "ill", *METHODS)
    row = {"dataset": "table", "costs": "unit", "method": "filter_forest", "run": 0}
    numbers = "cost", "cost_fraction", "valid_score", "test_score", "fit_seconds", "predict_seconds"
    records.write([row | dict.fromkeys(numbers, 0.5)], "results/table/points.parquet")
    status, _, err = called_in(tmp_path, "recommend", "results/table", "--budget", "2")
    assert status == 2
    assert "nan" not in err
    assert "are of one class. Give more rows, or compare with another --scoring" in err
    scored = dict.fromkeys((*numbers, "choice_score", "held_out_score"), 0.5)
    cheap = row | scored | {"cost": 0.004, "cost_fraction": 0.001}
    records.write([cheap], "results/table/points.parquet")
    _, _, err = called_in(tmp_path, "recommend", "results/table", "--budget", "0.001")
    assert "No method costs at most 0.001: the cheapest one costs 0.004. Raise" in err
    # Below the project's folder it is found where `compare` writes it from there.
    (tmp_path / "below").mkdir()
    places = folders()[0], tmp_path
    monkeypatch.setattr("budgetlearn.cli.compare.folders", lambda: places)
    below = called_in(tmp_path / "below", "recommend", "results/table", "--budget", "0.001")
    assert below == (2, "", err)


def test_recommend_leaves_out_what_came_of_seconds_after_the_tries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("budgetlearn.cli.compare.run_snakemake", lambda *_: False)
    monkeypatch.setattr("budgetbench.study.provenance.refuse_outdated", lambda *_: None)
    patients(150).to_csv("table.csv", index=False)
    worked(tmp_path, "compare", "table.csv", "--target", "ill", *METHODS, "--methods", "rfb")
    config = tmp_path / "results/table/study.yaml"
    more = {"tries": 2, "seconds_of": "cascade"}
    config.write_text(yaml.safe_dump(yaml.safe_load(config.read_text()) | more))
    row = {"dataset": "table", "costs": "unit", "method": "rfb", "run": 0, "cost": 4.0}
    row |= {"cost_fraction": 1.0, "fit_seconds": 1.0, "predict_seconds": 1.0}
    scores = "valid_score", "test_score", "choice_score", "held_out_score"
    fits = [row | dict.fromkeys(scores, 0.5 + k / 10) | {"fit": k, "stage": k} for k in (0, 1, 2)]
    records.write(fits, "results/table/points.parquet")
    study, own, _ = read_study(config.parent, folders()[0])
    assert _best(study, config.parent, own, 4)[0]["test"] == pytest.approx(0.6)


@pytest.mark.workflow
def test_compare_leaves_a_report_in_the_current_folder(compared):
    folder, said = compared
    results = folder / "results" / "my-table"
    assert f"Report: {results / 'report.html'}" in said
    page = (results / "report.html").read_text()
    assert "my_table.csv under a budget" in page
    points = records.read(results / "points.parquet")
    assert set(points["method"]) == {"cascade", "filter_forest", "constant"}
    assert (points["status"] == "ok").all()
    assert "blood" in (results / "costs/my_table/given/0.csv").read_text()


@pytest.mark.workflow
def test_the_command_that_compare_names_goes_on_from_the_configuration_it_wrote(compared):
    folder, said = compared
    words = named_command(folder, said)
    assert words[0] == "snakemake"
    code, told = Workflow(folder).plan(*words[1:], "-n")
    assert code == 0, told
    assert "Nothing to be done" in told
    config = folder / "results/my-table/study.yaml"
    before = config.read_text()
    study = yaml.safe_load(before)
    study["methods"].append("all_features")
    config.write_text(yaml.safe_dump(study))
    try:
        code, plan = Workflow(folder).plan(*words[1:], "-n")
    finally:
        config.write_text(before)
    assert (code, plan.count("rule fit:")) == (0, 1)


@pytest.fixture(scope="module")
def recommended(compared):
    """The folder with the recommended model, and what was said of it."""
    folder, _ = compared
    words = ("--budget", "20", "--minutes", ".2", "--out", "m.joblib")
    with pytest.MonkeyPatch.context() as patch:
        limit_methods(patch)
        return folder, worked(folder, "recommend", "results/my-table", *words)


@pytest.mark.workflow
def test_recommend_fits_what_the_comparison_found_best(recommended):
    folder, said = recommended
    assert re.match("Best for 20 in the comparison of 1 run: .*\n", said)
    assert "nan" not in said
    numbers = re.search(r"(\d+) rows to train, (\d+) held out", said).groups()
    assert sum(map(int, numbers)) == 150
    made = pd.read_csv(
        io.StringIO(worked(folder, "predict", "m.joblib", "my_table.csv")), keep_default_na=False
    )
    assert made["cost"].mean() <= 20
    assert (made["ill"] == patients(150)["ill"]).mean() > 0.7
    answers = '{"value": null}\n' * 4
    states = worked(folder, "ask", "m.joblib", "--json", text=answers).splitlines()
    assert json.loads(states[-1])["done"]


@pytest.mark.workflow
def test_recommend_quotes_the_model_that_it_writes_on_rows_that_this_has_not_seen(recommended):
    folder, said = recommended
    saved = SavedModel.load(folder / "m.joblib")
    own = read_own_table(folder / "my_table.csv", "ill", folder / "prices.csv", (), None)
    seed = yaml.safe_load((folder / "results/my-table/study.yaml").read_text())["seed"]
    held_out = parts_of(own, np.arange(150), check_random_state(seed))[2]
    X = saved.preprocessor.transform(own.X.iloc[held_out])
    limits = saved.limit(), None
    rows = predictions(saved, X, limits, cells_to_do_without(saved, X, limits))
    right, cost = np.mean(rows["prediction"] == own.y[held_out]), rows["cost"].mean()
    last = said.splitlines()[-2]
    assert last.startswith(f"On {held_out.size} rows that this model has not seen: accuracy ")
    assert f"accuracy {right:.3f} ±" in last
    assert last.endswith(f"for {cost:.2f} a row.")


@pytest.mark.workflow
def test_recommend_says_that_what_it_names_takes_more_minutes(compared, monkeypatch):
    limit_methods(monkeypatch)
    words = ("--budget", "20", "--minutes", "0.00001")
    said = worked(compared[0], "recommend", "results/my-table", *words)
    label = re.match(r"Best for 20 in the comparison of 1 run: (.*)\.\n", said)[1]
    assert f"\n{label} takes longer than --minutes 1e-05: only others are compared.\n" in said
    assert "\nThe time was too short to say that nothing is worth buying.\n" in said


@pytest.mark.workflow
def test_where_buying_nothing_is_recommended_the_model_predicts(compared):
    folder, _ = compared
    out = folder / "free.joblib"
    words = ("--budget", "0", "--minutes", ".05", "--out", out)
    said = worked(folder, "recommend", "results/my-table", *words)
    assert "→      0.00" in said
    assert "too short" not in said
    made = worked(folder, "predict", out, "my_table.csv")
    assert made.count("\n") == 151
    assert set(pd.read_csv(io.StringIO(made))["cost"]) == {0}
    assert json.loads(worked(folder, "ask", out, "--json"))["done"]


@pytest.mark.workflow
@pytest.mark.parametrize(("file", "rule"), [("my_table.csv", "fetch"), ("prices.csv", "costs")])
def test_an_older_file_put_in_place_is_noticed(compared, file, rule):
    folder, said = compared
    path, before = folder / file, (folder / file).stat()
    content = path.read_text()
    changed = re.sub(r"\.(\d),", lambda found: f".{9 - int(found[1])},", content, count=1)
    path.write_text(changed.replace("15.5", "25.5", 1))
    os.utime(path, ns=(0, 10**18))
    try:
        code, plan = Workflow(folder).plan(*named_command(folder, said)[1:], "-n")
        status, _, err = called_in(folder, "recommend", "results/my-table", "--budget", 20)
    finally:
        path.write_text(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert code == 0, plan
    assert re.search(rf"rule {rule}:.*rule fit:.*rule report:", plan, re.S)
    assert (status, err.count("\n")) == (2, 1)
    assert "changed since. Run `budgetlearn compare` again" in err


@pytest.mark.workflow
def test_recommend_corrects_its_intervals_for_the_split_of_the_study(compared, monkeypatch):
    results, told, real = compared[0] / "results" / "my-table", {}, recommendations.recommendations
    study, own, _ = read_study(results, folders()[0])

    def spy(*args, **known):
        told.update(known)
        return real(*args, **known)

    monkeypatch.setattr(recommendations, "recommendations", spy)
    for split, ratio in (((0.6, 0.2, 0.2), 30 / 90), ((0.5, 0.1, 0.4), 60 / 75)):
        study.config["split"] = dict(zip(("train", "valid", "test"), split, strict=True))
        _best(study, results, own, 20)
        assert told == {"ratio": pytest.approx(ratio, rel=0.05), "span": (0.0, 1.0)}


@pytest.mark.workflow
def test_recommend_names_what_the_cheapest_method_costs(compared):
    folder, _ = compared
    config = folder / "results/my-table/study.yaml"
    status, _, err = called_in(folder, "recommend", "results/nothing", "--budget", "1")
    assert status == 2
    assert "'results/nothing' does not exist" in err
    (folder / "empty").mkdir(exist_ok=True)
    status, _, err = called_in(folder, "recommend", "empty", "--budget", "1")
    assert (status, err.count("\n")) == (2, 1)
    assert "recommend needs a folder that `budgetlearn compare` wrote" in err
    (folder / "empty" / "study.yaml").write_text(config.read_text())
    status, _, err = called_in(folder, "recommend", "empty", "--budget", "1")
    assert (status, err.count("\n")) == (2, 1)
    assert "empty has no results yet: run `budgetlearn compare` to the end." in err


@pytest.mark.workflow
@pytest.mark.usefixtures("quick_scores", "quick_cascade")
def test_numbers_are_predicted_from_table_to_case(elsewhere):
    methods = ("--methods", "cascade_regressor")
    counts = ("--scoring", "neg_mean_absolute_error")
    said = compared_in(elsewhere, "numbers.csv", *OWN, *methods, *counts)
    page = (elsewhere / "results/numbers/report.html").read_text()
    assert "numbers.csv under a budget" in page
    assert "test −MAE over acquisition cost" in page
    assert "Report: " in said
    words = ("--budget", "45", "--minutes", ".2", "--out", "n.joblib")
    assert "−MAE" in worked(elsewhere, "recommend", "results/numbers", *words)
    few = pd.read_csv(io.StringIO(worked(elsewhere, "predict", "n.joblib", "numbers.csv")))
    assert few.columns.tolist() == ["ill", "cost", "bought"]
    assert few["ill"].corr(numbers_to_predict()["ill"]) > 0.6
    answers = "".join('{"value": null}\n' for _ in range(4))
    states = worked(elsewhere, "ask", "n.joblib", "--json", text=answers).splitlines()
    last = json.loads(states[-1])
    assert last["done"]
    assert last["probability"] is None


def test_a_dry_run_shows_the_configuration_and_writes_nothing(folder, told):
    (folder / "table.csv").rename(folder / "2nd Table.csv")
    table = ("compare", "2nd Table.csv", *OWN, "--dry-run", "--drop", "age")
    status, out, err = told(*table, "--max-rows", "100", "--na", "?")
    assert status == 0
    assert "Note: each run draws 100 of 240 rows (--max-rows)." in err
    assert sorted(path.name for path in folder.iterdir()) == ["2nd Table.csv", "prices.csv"]
    registry, study = map(yaml.safe_load, re.findall(r", not written:\n(.*?\n)\n", out, re.S))
    assert "--configfile results/table-2nd-table/study.yaml" in out.splitlines()[-1]
    assert study["datasets"] == ["table_2nd_table"]
    assert study["split"] == {"train": 60, "valid": 20, "test": 20}
    assert study["methods"][-1] == "constant"
    (folder / "2nd Table.csv").rename(folder / "Yes.csv")  # a word that YAML reads as a truth value
    status, out, err = told("compare", "Yes.csv", *OWN, "--dry-run", "--drop", "age")
    assert status == 0, err
    assert "--configfile results/table-yes/study.yaml" in out.splitlines()[-1]
    assert "scoring" not in study
    (entry,) = registry["datasets"].values()
    assert entry["source"]["na"] == ["?"]
    assert entry["source"]["drop"] == ["age"]
    assert entry["costs"] == str(folder / "prices.csv")


def test_an_identifier_is_left_out_of_a_comparison_and_may_be_kept(folder, told):
    patients().assign(id=range(240)).to_csv("table.csv", index=False)
    (folder / "prices.csv").write_text(PRICES + "id,3,,\n")
    for words, dropped in (((), ["id"]), (("--keep", "id"), None)):
        status, out, err = told("compare", "table.csv", *OWN, "--dry-run", *words)
        assert status == 0
        assert ("Note: id has a different whole number in each row" in err) == bool(dropped)
        shown = map(yaml.safe_load, re.findall(r", not written:\n(.*?\n)\n", out, re.S))
        files = dict(zip((REGISTRY, STUDY), shown, strict=True))
        (entry,) = files[REGISTRY]["datasets"].values()
        assert entry["source"].get("drop") == dropped
        written = folder / "results" / "table"
        write_files(files, written)
        kept = ["insulin", "id"][dropped is None]
        assert read_study(written, folders()[0])[1].X.columns[-1] == kept


def test_rows_of_one_id_are_compared_together_and_dates_are_days(folder, told):
    table = patients().assign(who=lambda t: t.index // 4, came="13.02.1970", born="1970-01-02")
    table.to_csv("table.csv", index=False)
    (folder / "prices.csv").write_text(PRICES + "came,3,,\n")
    known = ("compare", "table.csv", *OWN, "--id", "who", "--dry-run", "--drop", "born")
    status, out, err = told(*known)
    assert (status, "Read it as days with --date came, or" in err) == (2, True)
    status, out, err = told(*known, "--date", "came", "--date", "born")
    assert status == 0, err
    assert "rows with the same who are held out together" in err
    shown = map(yaml.safe_load, re.findall(r", not written:\n(.*?\n)\n", out, re.S))
    files = dict(zip((REGISTRY, STUDY), shown, strict=True))
    (entry,) = files[REGISTRY]["datasets"].values()
    assert entry["source"]["group"] == "who"
    assert (entry["source"]["drop"], entry["source"]["dates"]) == (["born"], ["came"])
    write_files(files, folder / "results" / "table")
    study, own, _ = read_study(folder / "results" / "table", folders()[0])
    (spec,) = study.datasets.values()
    for came in (own.X["came"], prepare(spec).X[:, own.X.columns.get_loc("came")]):
        assert set(came) == {43.0}  # from 1 January 1970 to 13 February
    assert own.groups.tolist() == table["who"].tolist()
    assert "who" not in own.X
    table.assign(who=table["who"].where(table.index != 7)).to_csv("table.csv", index=False)
    status, _, err = told(*known, "--drop", "came")
    assert (status, "who is missing in row 8 (counted from 1" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--methods", "mbs"), "unknown method 'mbs'. Did you mean msb?"),
        (("--scoring", "auc"), "'auc' is not one of 'accuracy', 'balanced_accuracy', 'roc_auc'"),
        (("--scoring", "r2"), "unknown scoring 'r2'. classification (table) has: accuracy, bal"),
        (("--name", "../x"), "a-z0-9-]*$': write for example my-study-2."),
        (("--target", "age"), "The target 'age' is empty in row 1"),
    ],
)
def test_what_cannot_be_compared_is_told_before_any_job(folder, told, words, said):
    status, _, err = told("compare", "table.csv", *OWN, "--dry-run", *words)
    assert status == 2
    assert said in err
    assert not (folder / "x").exists()


def test_a_comparison_says_what_counts(folder, told):
    status, out, _ = told("compare", "table.csv", *OWN, "--dry-run", "--scoring", "roc_auc")
    assert status == 0
    assert "\nscoring: roc_auc\n" in out
    three = patients().assign(ill=np.arange(240) % 3)
    three.to_csv("table.csv", index=False)
    status, _, err = told("compare", "table.csv", *OWN, "--dry-run", "--scoring", "roc_auc")
    assert status == 2
    assert "has: accuracy, balanced_accuracy, f1_macro, neg_log_loss." in err


def test_classes_too_rare_to_be_in_every_part_are_told_before_any_job(folder, told):
    rare = np.where(np.arange(240) == 7, "odd", patients()["ill"])
    patients().assign(ill=rare).to_csv("table.csv", index=False)
    status, _, err = told("compare", "table.csv", *OWN, "--dry-run")
    assert (status, err.count("\n")) == (2, 2)
    assert "Note: the class 'odd' has 1 of 240 rows: scores say little about it" in err
    assert "class 'odd' has 1 of 240 rows, too few" in err
    patients().head(6).assign(ill=list("ababab")).to_csv("table.csv", index=False)
    assert "table.csv has 6 rows: too few" in told("compare", "table.csv", *OWN)[2]


def test_a_classifier_does_not_predict_numbers(folder, told):
    numbers_to_predict().to_csv("table.csv", index=False)
    status, _, err = told("compare", "table.csv", *OWN, "--dry-run", "--methods", "msb")
    assert (status, err.count("\n")) == (2, 1)
    assert "table is regression, and msb predict classes only" in err
    assert "cascade_regressor" in err
    # The name of `fit` stands for the same method.
    status, out, _ = told("compare", "table.csv", *OWN, "--dry-run", "--methods", "cascade")
    assert (status, "\nmethods:\n- cascade_regressor\n- constant\n" in out) == (0, True)


def test_snakemake_has_a_cache_where_the_home_cannot_be_written(tmp_path, monkeypatch):
    module = sys.modules[compare.callback.__module__]
    told = tmp_path / "told"
    monkeypatch.setattr(
        module, "_snakemake", lambda *_: told.write_text(os.environ.get("XDG_CACHE_HOME", ""))
    )
    monkeypatch.setenv("XDG_CACHE_HOME", "so that it is put back")
    for home, cache in ((tmp_path, ""), (tmp_path / "absent", str(tmp_path / ".snakemake"))):
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(home))
        assert not run_snakemake(["snakemake"], tmp_path, os.open(os.devnull, os.O_RDONLY))
        assert told.read_text() == cache
        os.environ.setdefault("XDG_CACHE_HOME", "")


def test_ctrl_c_ends_snakemake_and_compare_without_a_traceback(tmp_path, monkeypatch, capfd):
    def pressed(_):
        os.kill(os.getppid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("snakemake.cli.main", pressed)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(click.Abort):  # "Stopped.", with status 130
        run_snakemake(["snakemake"], tmp_path, os.open(os.devnull, os.O_RDONLY))
    assert "Traceback" not in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
