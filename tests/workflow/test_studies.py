"""Every study in config/ plans, and wrong configurations are reported before any job starts."""

import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from budgetbench.report import sections_of
from budgetbench.study.study import Study
from budgetlearn.files import read_yaml
from tests.looping import check_each

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))


@pytest.fixture(scope="module")
def workflow(make_workflow):
    return make_workflow()


@cache
def study_of(path, **settings):
    config = read_yaml(ROOT / "config" / "config.yaml") | read_yaml(path) | settings
    return Study.from_config(config, ROOT)


def asked_of(study, *datasets):
    """Return what Snakemake has to plan for a study: keys, costs, budgets, sources and methods.

    With names of data sets, return what it has to plan for these.
    """
    datasets = datasets or tuple(study.datasets)
    kinds = {("key", key) for key in study.config if study.config[key] not in (None, {}, [])}
    for name, settings in study.config.get("by_dataset", {}).items():
        kinds |= {("key of a data set", key) for key in settings if name in datasets}
    kinds |= {(study.budget(name), costs) for name, costs in study.cases if name in datasets}
    kinds |= {("reader", study.datasets[name].reader) for name in datasets}
    for dataset, _, method in study.cells:
        if dataset in datasets:
            spec = study.methods[method] | study.spec(method, dataset)
            room = str(spec.get("class")).split(".")[1:2]
            kinds |= {("method", *room), *(("key of a method", key) for key in spec)}
    return kinds


def covering(asked, wanted):
    """Return keys of `asked` that together have everything wanted, those with most of it first."""
    found, rest = [], set(wanted)
    while rest:
        found.append(max(asked, key=lambda key: len(asked[key] & rest)))
        assert asked[found[-1]] & rest
        rest -= asked[found[-1]]
    return found


def test_every_study_is_read_with_its_sections():
    def check(path):
        study = study_of(path)
        study.check_tables()
        assert study.points_files
        assert sections_of(study)

    check_each(STUDIES, check)


@pytest.mark.workflow
def test_whatever_studies_ask_for_plans(workflow):
    """Studies are planned, the ones with most to plan first, until everything was planned once.

    Studies may be large, so each is planned only on data sets that add something new.
    """
    asked = {path: asked_of(study_of(path)) for path in STUDIES}
    chosen, rest = [((), ())], set().union(*asked.values())
    for path in covering(asked, rest):
        study = study_of(path)
        of_each = {name: asked_of(study, name) for name in study.datasets}
        names = covering(of_each, asked[path] & rest)
        chosen.append((("--configfile", path), (f"datasets=[{','.join(names)}]",)))
        rest -= asked[path]

    def check(call, datasets):
        few = ("runs=1", "runs_per_job=1")  # the same kinds of jobs, but fewer of each
        code, output = workflow.plan("-n", "--quiet", "rules", *call, "--config", *few, *datasets)
        assert code == 0, output
        jobs = next(line for line in output.splitlines() if line.startswith("total"))
        assert 5 < int(jobs.split()[1]) < 1000

    assert len(chosen) > 5
    check_each(chosen, check)


@pytest.mark.workflow
@pytest.mark.parametrize(("asked", "n_chunks"), [((), 1), (("runs_per_job=5",), 2)])
def test_the_command_line_is_laid_over_the_default_study_and_that_over_the_rest(
    workflow, asked, n_chunks
):
    code, output = workflow.plan("-n", "--quiet", "rules", "--config", "runs=10", *asked)
    assert code == 0, output
    default = read_yaml(ROOT / "config" / "studies" / "default.yaml")
    count = re.search(r"^costs +(\d+)$", output, re.MULTILINE)[1]
    assert int(count) == n_chunks * len(default["datasets"])


def _told():
    """Return {study: submissions with 100 runs} from docs/cluster.md."""
    page = (ROOT / "docs" / "cluster.md").read_text()
    table = page.partition("| submissions |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    pairs = [zip(names.split(","), counts.split(","), strict=False) for names, counts in rows]
    return {
        name.strip(" `"): int(count)
        for pair in pairs
        for name, count in pair
        if count.strip().isdigit()
    }


OF_PAPERS = [path for path in STUDIES if path.stem != "field"]


def test_a_hundred_runs_are_less_than_500_submissions_and_5000_jobs():
    submissions, jobs = {}, {}
    for path in OF_PAPERS:
        study = study_of(path, runs=100)
        # One for each data set, one for each chunk of its runs (group `runs`), one for the results.
        submissions[path.stem] = len(study.datasets) * (1 + len(study.chunks)) + 1
        jobs[path.stem] = len(study.points_files) * 3  # with sequences, about three for each
    assert not {name: count for name, count in submissions.items() if count >= 500}
    assert not {name: count for name, count in jobs.items() if count >= 5000}
    del submissions["smoke"]
    assert {name: count for name, count in _told().items() if name != "field"} == submissions


def test_tuned_rivals_of_the_cascade_get_its_seconds_too():
    study = study_of(ROOT / "config" / "studies" / "field.yaml")
    for dataset, method in {(d, m) for d, _, m in study.cells}:
        spec = study.spec(method, dataset)
        tuned = "space" in spec and method != "cascade"
        assert spec.get("seconds_of") == ("cascade" if tuned else None)


@pytest.mark.workflow
def test_a_typo_is_told_before_any_job(workflow):
    code, output = workflow.plan("-n", "--config", "datasets=[wien]")
    assert code != 0
    assert "Did you mean wine?" in output


@pytest.mark.workflow
def test_a_key_twice_in_a_study_is_told_before_any_job(workflow, tmp_path):
    study = tmp_path / "twice.yaml"
    study.write_text("study: twice\nruns: 2\nruns: 3\n")
    code, output = workflow.plan("-n", "--configfile", study)
    assert code != 0
    assert "the key 'runs' appears twice" in output


@pytest.mark.workflow
def test_offline_without_the_files_says_what_to_do(workflow):
    asked = ("--config", "datasets=[musk2]", "offline=True")
    output = workflow.again(*asked, fails=True, BUDGETLEARN_DATA="")
    assert "musk2" in output
    assert "BUDGETLEARN_DATA" in output
    assert not list((workflow.folder / "resources/data").rglob("*.gz"))


@pytest.mark.workflow
def test_a_file_that_was_damaged_since_heals(workflow, data_dir):
    table = "results/default/data/vehicle.parquet"
    chosen = (table, "--config", "datasets=[vehicle]", "offline=True", f"data_dir={data_dir}")
    workflow.again(*chosen)
    raw = workflow.folder / "resources/data/vehicle/xaa.dat"
    content = raw.read_bytes()
    raw.write_bytes(content[:100])
    (workflow.folder / table).unlink()
    workflow.again(*chosen)
    assert raw.read_bytes() == content
    assert (data_dir / "vehicle/xaa.dat").read_bytes() == content


@pytest.mark.workflow
def test_given_prices_reach_the_runs(workflow):
    study = ROOT / "config/studies/budgetrf-yahoo.yaml"
    few = ("--config", "runs=2", "runs_per_job=2")
    workflow.again("--configfile", study, *few, "--until", "costs")
    costs = pd.read_csv(workflow.folder / "results/budgetrf-yahoo/costs/yahoo_like/given/0.csv")
    listed = pd.read_csv(ROOT / "resources/costs/yahoo_like.csv").set_index("feature")["cost"]
    for _, run in costs.groupby("run"):
        assert run.set_index("feature")["cost"].to_dict() == listed.to_dict()
