"""The real workflow: the smoke study from nothing to its report, and the reruns after changes."""

import json
import re
import shutil

import pandas as pd
import pytest
import yaml

from budgetbench.study import records

pytestmark = pytest.mark.workflow
SMOKE = ("--configfile", "config/studies/smoke.yaml")


@pytest.fixture(scope="module")
def smoke(make_workflow):
    workflow = make_workflow()
    workflow.run(*SMOKE)
    return workflow


def results(workflow):
    return workflow.folder / "results" / "smoke"


def test_report_and_its_parts_are_there(smoke):
    page = (results(smoke) / "report.html").read_text()
    assert "msB" in page
    assert "logitB" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    names = {path.name for path in (results(smoke) / "figures").iterdir()}
    assert {"areas.svg", "curves_wine_random.svg"} <= names
    summary = pd.read_csv(results(smoke) / "tables" / "summary.csv")
    config = yaml.safe_load((smoke.folder / SMOKE[1]).read_text())
    assert set(summary["method"]) == set(config["methods"])
    assert (summary["n_runs"] == 2).all()


def test_the_log_tells_how_far_the_fits_are(smoke):
    (log,) = (smoke.folder / ".snakemake/log").glob("*.log")
    told = re.findall(r"^fits (\d+) of (\d+)(?:, .* left)?$", log.read_text(), re.MULTILINE)
    made = len([*results(smoke).rglob("usage/**/*.tsv")])
    assert told
    assert all(0 < int(done) <= int(total) == made for done, total in told)


def test_every_operating_point_is_recorded(smoke):
    points = records.read(results(smoke) / "points.parquet")
    assert (points["status"] == "ok").all()
    assert set(points["run"]) == {0, 1}
    fractions = points["cost_fraction"]
    assert fractions.between(0, 1).all()
    assert (points.loc[points["method"] == "all_features", "cost_fraction"] == 1).all()
    schedule = points[(points["method"] == "msb") & (points["run"] == 0)].sort_values("stage")
    assert (schedule["valid_score"].diff().dropna() > 0).all()
    assert (schedule["budget"].diff().dropna() > 0).all()


def test_inputs_can_be_opened(smoke):
    costs = pd.read_csv(results(smoke) / "costs/wine/random/0.csv")
    assert len(costs) == 2 * 13
    parts = pd.read_parquet(results(smoke) / "splits/wine/0.parquet")
    assert parts["0"].value_counts().tolist() == pytest.approx([107, 36, 35], abs=2)
    manifest = json.loads((smoke.folder / "resources/data/wine/manifest.json").read_text())
    assert manifest["dataset"] == "wine"


def test_jobs_leave_logs_and_usage(smoke):
    log = (results(smoke) / "logs/fit/wine/random/logitb/0.log").read_text()
    assert "logitb on wine, random costs, run 1" in log
    assert (results(smoke) / "usage/fit/wine/random/logitb/0.tsv").stat().st_size > 0


def test_a_copy_is_what_a_rerun_is_compared_with(smoke, tmp_path):
    stored = shutil.copytree(results(smoke), tmp_path / "smoke")
    check = ("rerun_check", *SMOKE, "--config", f"stored={stored}")
    assert "compared exactly" in smoke.again(*check)
    points = records.read(stored / "points.parquet")
    points.loc[7, "test_score"] += 1e-9
    records.write(points, stored / "points.parquet")
    told = smoke.again(*check, fails=True)
    assert "1 numbers of results/smoke/points.parquet" in told


def test_a_second_run_has_nothing_to_do(smoke):
    assert "Nothing to be done" in smoke.plan(*SMOKE)[1]


def test_peers_go_on_for_the_seconds_of_the_cascade(smoke):
    study = {
        "study": "seconds",
        "runs": 1,
        "tries": 2,
        "seconds_of": "cascade",
        "datasets": ["wine"],
        "methods": ["cascade", "filter_forest", "constant"],
        "overrides": {
            "cascade": {"parameters": {"estimators": "forest", "orders": "gain_per_cost"}},
            "filter_forest": {"parameters": {"n_estimators": 1, "n_selected": [1, 5]}},
        },
    }
    (smoke.folder / "seconds.yaml").write_text(yaml.safe_dump(study))
    smoke.again("--configfile", "seconds.yaml")
    folder = smoke.folder / "results" / "seconds"
    points = records.read(folder / "points.parquet")
    n_fits = points.groupby("method")["fit"].nunique()
    assert n_fits["filter_forest"] > 2
    assert n_fits[["cascade", "constant"]].tolist() == [1, 1]
    assert "<h3>With equal seconds</h3>" in (folder / "report.html").read_text()
    reached = pd.read_csv(folder / "tables" / "equal_seconds.csv").set_index(["method", "equal"])
    assert reached.loc[("filter_forest", "tries"), "settings"] == 2
    assert reached.loc[("filter_forest", "seconds"), "settings"] > 2
    assert reached["aup"].notna().all()


def test_an_edited_method_reruns_its_own_jobs_only(smoke):
    path = smoke.folder / "config" / "methods.yaml"
    before = path.read_text()
    methods = yaml.safe_load(before)
    methods["fmcc"]["parameters"]["cost_weight"] = 0.003
    path.write_text(yaml.safe_dump(methods, sort_keys=False))
    try:
        full = smoke.plan(*SMOKE, "-n")[1]
    finally:
        path.write_text(before)
    assert full.count("rule fit:") == 1
    assert "method=fmcc" in full
    assert "rule msb_sequence:" not in full


def test_results_depend_neither_on_chunks_nor_on_surroundings(smoke, make_workflow):
    other = make_workflow("Prüfung mit Lücke")
    settings = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
    path = other.folder / SMOKE[1]
    study = yaml.safe_load(path.read_text())
    methods = ["msb", "budgetrf", "fmcc", "constant"]
    overrides = {name: study["overrides"][name] for name in methods[:2]}
    study |= {"methods": methods, "overrides": overrides, "runs_per_job": 1}
    path.write_text(yaml.safe_dump(study))
    other.run("collect", *SMOKE, "--cores", "1", **settings)
    keys = ["method", "run", "stage"]
    timed = ["fit_seconds", "processor_seconds", "predict_seconds", "added_seconds"]
    first, second = (
        records.read(results(w) / "points.parquet").sort_values(keys).drop(columns=timed)
        for w in (smoke, other)
    )
    first = first[first["method"].isin(second["method"])]
    assert set(second["method"]) == set(methods)
    pd.testing.assert_frame_equal(first.reset_index(drop=True), second.reset_index(drop=True))


def test_snakemake_report_carries_figures_and_tables(smoke):
    assert "WARNING" not in smoke.again(*SMOKE, "--report", "report.html")
    page = (smoke.folder / "report.html").read_text()
    for name in ("Cost–accuracy curves", "Who wins", "Tables"):
        assert name.encode("ascii", "backslashreplace").decode() in page or name in page
