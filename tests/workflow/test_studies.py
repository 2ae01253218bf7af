"""Every study in config/ plans; mistakes in a configuration are told before any job starts."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from budgetlearn.benchmark.methods import build
from budgetlearn.benchmark.study import Study
from budgetlearn.exceptions import BudgetlearnError

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))
COMMON = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
DEFAULT = COMMON | yaml.safe_load((ROOT / "config" / "studies" / "default.yaml").read_text())
# What a test changes stands alone.
PLAIN = {**DEFAULT, "overrides": {}, "by_dataset": {}, "datasets": ["wine", "digits", "twonorm"]}


@pytest.fixture(scope="module")
def workflow(make_workflow):
    return make_workflow()


@pytest.mark.workflow
@pytest.mark.parametrize(
    "study", [None, *STUDIES], ids=lambda path: path.stem if path else "default"
)
def test_study_plans(workflow, study):
    chosen = ["--configfile", study] if study else []
    output = workflow.run("-n", "--quiet", "rules", *chosen).output
    jobs = next(line for line in output.splitlines() if line.startswith("total"))
    assert 10 < int(jobs.split()[1]) < 5000


@pytest.mark.workflow
def test_a_typo_is_told_before_any_job(workflow):
    done = workflow.run("-n", "--config", "datasets=[wien]", check=False)
    assert done.returncode != 0
    assert "Did you mean wine?" in done.output


@pytest.mark.workflow
def test_a_key_twice_in_a_study_is_told_before_any_job(workflow, tmp_path):
    study = tmp_path / "twice.yaml"
    study.write_text("study: twice\nruns: 2\nruns: 3\n")
    done = workflow.run("-n", "--configfile", study, check=False)
    assert done.returncode != 0
    assert "the key 'runs' stands twice" in done.output


@pytest.mark.workflow
def test_offline_without_the_files_says_what_to_do(workflow):
    done = workflow.run(
        "--config", "datasets=[vehicle]", "offline=True", check=False, BUDGETLEARN_DATA=""
    )
    assert done.returncode != 0
    assert "vehicle" in done.output
    assert "BUDGETLEARN_DATA" in done.output
    assert not list((workflow.folder / "resources/data").rglob("*.dat"))


@pytest.mark.workflow
def test_a_file_that_was_damaged_since_heals(workflow, data_dir):
    table = "results/default/data/vehicle.parquet"
    chosen = (table, "--config", "datasets=[vehicle]", "offline=True", f"data_dir={data_dir}")
    workflow.run(*chosen)
    raw = workflow.folder / "resources/data/vehicle/xaa.dat"
    content = raw.read_bytes()
    raw.write_bytes(content[:100])
    (workflow.folder / table).unlink()
    workflow.run(*chosen)
    assert raw.read_bytes() == content
    assert (data_dir / "vehicle/xaa.dat").read_bytes() == content


def changed(**changes):
    return Study.from_config({**PLAIN, **changes}, ROOT)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ["msb", "logitbb", "constant"]}, "Did you mean logitb"),
        ({"datasets": ["wine", "whine"]}, "wine"),
        ({"methods": ["msb"]}, "methods"),
        ({"runs": 0}, "runs: 0 is less than the minimum"),
        ({"runz": 3}, "'runz' was unexpected"),
        ({"costs": ["cheap"]}, "costs"),
        ({"split": {"train": 0.5, "valid": 0.5}}, "split"),
        ({"overrides": {"rfb_subset": {}}}, "method in overrides"),
        ({"methods_file": "config/none.yaml"}, "cannot be read: No such file"),
        ({"study": "My Study"}, "study"),
        ({"datasets": ["wine", "friedman1"]}, "friedman1 is regression, which is not supported"),
        (
            {"budget": "memory", "by_dataset": {"abalone": {"budget": "acquisition"}}}
            | {"datasets": ["wine", "abalone"]},
            "abalone is regression",
        ),
        ({"by_dataset": {"whine": {"split": "given"}}}, "Did you mean wine"),
        ({"by_dataset": {"wine": {"split": "taken"}}}, "by_dataset.wine.split"),
        ({"by_dataset": {"wine": {"methods": ["msb"]}}}, "by_dataset.wine.methods"),
        ({"by_dataset": {"wine": {"methods": ["msbb", "constant"]}}}, "Did you mean msb"),
        ({"budget": "time"}, "budget: 'time' is not one of"),
        ({"stand_ins": {"whine": "wine"}}, "Did you mean wine"),
        ({"published": ["budgetrf-table-2"]}, "Did you mean budgetrf-table-1"),
        ({"overrides": {"msb": {"grid": {"min_variables": [2, 3]}}}}, "msb has a grid"),
        ({"by_dataset": {"wine": {"split": {"per_class": [9, 0, 9]}}}}, "by_dataset.wine.split"),
        ({"by_dataset": {"wine": {"overrides": {"msbb": {}}}}}, "Did you mean msb"),
        ({"by_dataset": {"wine": {"overrides": {"msb": {"clas": "x"}}}}}, "'clas' was unexpected"),
    ],
)
def test_mistakes_are_refused(changes, message):
    with pytest.raises(BudgetlearnError, match=message):
        changed(**changes)


def test_given_costs_need_a_price_list():
    with pytest.raises(BudgetlearnError, match="wine has no price list"):
        changed(costs=["given"]).price_list("wine", "given")


@pytest.mark.workflow
def test_given_prices_reach_the_runs(workflow):
    study = ROOT / "config/studies/budgetrf-yahoo.yaml"
    workflow.run("--configfile", study, "--config", "runs=2", "runs_per_job=2", "--until", "costs")
    costs = pd.read_csv(workflow.folder / "results/budgetrf-yahoo/costs/yahoo_like/given/0.csv")
    listed = pd.read_csv(ROOT / "resources/costs/yahoo_like.csv").set_index("feature")["cost"]
    for _, run in costs.groupby("run"):
        assert run.set_index("feature")["cost"].to_dict() == listed.to_dict()


def test_a_data_set_can_have_its_own_split():
    counts = {"train": 100, "valid": 30, "test": "rest"}
    study = changed(by_dataset={"wine": {"split": counts}, "digits": {"split": "given"}})
    assert study.sizes("wine") == [100, 30, "rest"]
    assert study.sizes("digits") == "given"
    assert study.sizes("breast_cancer") == [0.6, 0.2, 0.2]


def test_a_split_can_count_rows_per_class():
    sizes = {"per_class": [20, 5, 10]}
    assert changed(by_dataset={"wine": {"split": sizes}}).sizes("wine") == sizes


def test_a_method_can_be_another_on_one_data_set():
    own = {"msb": {"parameters": {"sequences": ["cost"]}}}
    study = changed(by_dataset={"wine": {"overrides": own}})
    assert study.sequences("msb", "wine") == ["cost"]
    assert study.spec("msb", "digits") == changed().spec("msb", "digits")
    assert study.spec("msb", "wine") != study.spec("msb", "digits")


def test_a_data_set_can_have_methods_costs_and_a_budget_of_its_own():
    own = {"methods": ["voc", "constant"], "costs": ["unit"], "budget": "memory"}
    study = changed(
        datasets=["wine", "digits"], methods=["msb", "constant"], by_dataset={"wine": own}
    )
    assert study.cells == [
        ("wine", "unit", "voc"),
        ("wine", "unit", "constant"),
        ("digits", "random", "msb"),
        ("digits", "random", "constant"),
    ]
    assert list(study.methods) == ["msb", "constant", "voc"]
    assert [study.budget(name) for name in ("wine", "digits")] == ["memory", "acquisition"]


def test_settings_of_a_data_set_that_is_not_compared_add_no_method():
    study = changed(datasets=["digits"], by_dataset={"wine": {"methods": ["voc", "constant"]}})
    assert "voc" not in study.methods


def test_a_study_without_methods_is_laid_over_the_default_study():
    study = Study.from_config({**COMMON, "datasets": ["wine"]}, ROOT)
    assert study.config["methods"] == DEFAULT["methods"]
    assert list(study.datasets) == ["wine"]


def test_chunks_cover_all_runs_once():
    study = changed(runs=7, runs_per_job=3)
    assert [study.runs_of(chunk) for chunk in study.chunks] == [[0, 1, 2], [3, 4, 5], [6]]


def test_overrides_reach_into_nested_parameters():
    study = changed(
        overrides={"msb": {"parameters": {"estimator": {"parameters": {"max_depth": 3}}}}}
    )
    assert study.spec("msb", "wine")["parameters"]["estimator"]["parameters"]["max_depth"] == 3
    assert study.spec("msb", "wine")["parameters"]["estimator"]["parameters"]["n_estimators"] > 1


@pytest.mark.parametrize("method", yaml.safe_load((ROOT / "config/methods.yaml").read_text()))
def test_every_method_can_be_built(method):
    every = yaml.safe_load((ROOT / "config/methods.yaml").read_text())
    assert build({key: every[method].get(key) for key in ("class", "parameters")})
