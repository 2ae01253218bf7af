"""Every study in config/ plans; mistakes in a configuration are told before any job starts."""

from pathlib import Path

import pytest
import yaml

from budgetlearn.benchmark.methods import build
from budgetlearn.benchmark.study import Study
from budgetlearn.exceptions import BudgetlearnError

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))
DEFAULT = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


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
def test_offline_without_the_files_says_what_to_do(workflow):
    done = workflow.run(
        "--config", "datasets=[vehicle]", "offline=True", check=False, BUDGETLEARN_DATA=""
    )
    assert done.returncode != 0
    assert "vehicle" in done.output
    assert "BUDGETLEARN_DATA" in done.output
    assert not list((workflow.folder / "resources/data").rglob("*.dat"))


def changed(**changes):
    return Study.from_config({**DEFAULT, **changes}, ROOT)


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
        ({"overrides": {"rfb": {}}}, "method in overrides"),
        ({"methods_file": "config/none.yaml"}, "does not exist"),
        ({"study": "My Study"}, "study"),
    ],
)
def test_mistakes_are_refused(changes, message):
    with pytest.raises(BudgetlearnError, match=message):
        changed(**changes)


def test_given_costs_need_a_price_list():
    with pytest.raises(BudgetlearnError, match="wine has no price list"):
        changed(costs=["given"]).price_list("wine", "given")


def test_chunks_cover_all_runs_once():
    study = changed(runs=7, runs_per_job=3)
    assert [study.runs_of(chunk) for chunk in study.chunks] == [[0, 1, 2], [3, 4, 5], [6]]


def test_overrides_reach_into_nested_parameters():
    study = changed(
        overrides={"msb": {"parameters": {"estimator": {"parameters": {"max_depth": 3}}}}}
    )
    assert study.spec("msb")["parameters"]["estimator"]["parameters"]["max_depth"] == 3
    assert study.spec("msb")["parameters"]["estimator"]["parameters"]["n_estimators"] > 1


@pytest.mark.parametrize("method", yaml.safe_load((ROOT / "config/methods.yaml").read_text()))
def test_every_method_can_be_built(method):
    every = yaml.safe_load((ROOT / "config/methods.yaml").read_text())
    assert build({key: every[method].get(key) for key in ("class", "parameters")})
