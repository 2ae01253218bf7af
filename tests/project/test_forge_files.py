"""What the forge, pip and pre-commit read says the same as the project."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import budgetlearn
from budgetlearn.files import read_yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOOKS = [
    hook for repo in read_yaml(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]
]
FILES = {
    "ruff-check": "setup.py",
    "ruff-format": "setup.py",
    "cython-lint": "src/budgetlearn/tree/table.pyx",
    "snakefmt": "Snakefile",
}


def test_wheels_are_built_for_the_pythons_that_the_project_names():
    named = re.findall(r"Python :: (3\.\d+)", str(PROJECT["project"]["classifiers"]))
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp{version.replace('.', '')}-*" for version in named]
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_the_forge_lints_tests_on_both_systems_and_builds_wheels():
    jobs = read_yaml(ROOT / ".github" / "workflows" / "checks.yml")["jobs"]
    said = {
        name: " ".join(str(step.get("run", step.get("uses"))) for step in job["steps"])
        for name, job in jobs.items()
    }
    assert "make lint" in said["lint"]
    assert "make test" in said["test"]
    assert jobs["test"]["steps"][-1]["env"].keys() == {"CI", "BUDGETLEARN_TEST_SECONDS"}
    assert ".ci/packages" in said["packages"]
    assert "pypa/cibuildwheel" in said["wheels"]
    assert "tests/workflow/test_slurm.py" in said["slurm"]
    assert "--resolution ${{ matrix.resolution }}" in said["versions"]
    folders = re.findall(r"tests/\w+", said["versions"])
    assert all((ROOT / folder).is_dir() for folder in folders)
    for name in ("test", "packages", "wheels"):
        systems = " ".join(jobs[name]["strategy"]["matrix"]["os"])
        assert "ubuntu" in systems
        assert "macos" in systems


def test_a_release_is_published_without_a_secret_from_the_same_systems():
    checked, published = (
        read_yaml(ROOT / ".github" / "workflows" / f"{name}.yml")["jobs"]
        for name in ("checks", "publish")
    )
    assert published["publish"]["permissions"] == {"id-token": "write"}
    assert set(published["publish"]["needs"]) == published.keys() - {"publish"}
    systems = [jobs["wheels"]["strategy"]["matrix"]["os"] for jobs in (checked, published)]
    assert systems[0] == systems[1]


def test_the_recipe_asks_for_what_the_project_does():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text()
    assert f'version = "{PROJECT["project"]["version"]}"' in recipe
    asked = {re.sub(r"[\s\"]", "", line) for line in re.findall(r"^ *- ([^#\n]*)", recipe, re.M)}
    assert set(PROJECT["project"]["dependencies"]) <= asked


def test_the_container_has_what_the_workflow_reads():
    said = (ROOT / "Dockerfile").read_text()
    for name in re.findall(r"^COPY (?!--|\.)(.*) \S+$", said, re.M):
        assert all((ROOT / part).exists() for part in name.split())
    extras = re.search(r"\$\{wheel\}\[(.*)\]", said)[1].split(",")
    assert set(extras) <= PROJECT["project"]["optional-dependencies"].keys()


def test_slurm_is_asked_for_with_a_python_that_can_start_it():
    said = (ROOT / ".ci" / "run").read_text()
    assert said.index("make setup") < said.index("PYTHON=.venv/bin/python .ci/slurm")


def test_the_citation_is_of_this_version():
    citation = read_yaml(ROOT / "CITATION.cff")
    required = {"cff-version", "title", "message", "authors", "version", "license"}
    assert required <= citation.keys()
    assert citation["version"] == budgetlearn.__version__ == PROJECT["project"]["version"]
    assert citation["license"] == PROJECT["project"]["license"]


def test_the_changelog_begins_with_this_version():
    heading = re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heading[1] == PROJECT["project"]["version"]


def headings(page):
    """Return the names by which links reach the headings of a page."""
    found = re.findall(r"^#+ (.*)", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in found}


def test_links_reach_a_file_and_a_heading():
    links = [
        (name, *found)
        for name in ("README.md", "CHANGELOG.md")
        for found in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", (ROOT / name).read_text())
    ]
    assert len(links) > 30
    for name, path, heading in links:
        page = ROOT / (path or name)
        assert page.exists(), path
        assert not heading or heading in headings(page), f"{path}#{heading}"


def test_no_address_is_invented():
    assert "urls" not in PROJECT["project"]  # until the project has one


def test_one_python_builds_the_container_and_the_pages():
    pages = read_yaml(ROOT / ".readthedocs.yaml")
    assert (ROOT / pages["sphinx"]["configuration"]).is_file()
    (installed,) = pages["python"]["install"]
    assert (
        set(installed["extra_requirements"]) <= PROJECT["project"]["optional-dependencies"].keys()
    )
    images = re.findall(r"^FROM python:(\S+)-slim", (ROOT / "Dockerfile").read_text(), re.M)
    assert set(images) == {pages["build"]["tools"]["python"]}


def test_the_catalog_says_what_there_is():
    usage = read_yaml(ROOT / ".snakemake-workflow-catalog.yml")["usage"]
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    deployed = usage["software-stack-deployment"]
    assert deployed["conda"] == ("environment.yml" in rules)
    assert deployed["apptainer"] == ("container:" in rules)
    assert usage["report"] == ("caption=" in rules)
    assert (ROOT / "config/README.md").is_file()  # the catalog lists a workflow only with both
    assert (ROOT / "workflow/Snakefile").is_file()


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hooks_of_pre_commit_are_commands_that_work(hook):
    program, *words = shlex.split(hook["entry"])
    assert program.startswith(".venv/bin/")
    assert (ROOT / FILES[hook["id"]]).is_file()
    if "files" in hook:
        assert re.search(hook["files"], FILES[hook["id"]])
    if "format" in hook["id"] or hook["id"] == "snakefmt":
        words.append("--check")
    here = Path(sys.executable).with_name(Path(program).name)
    command = [here, *words, FILES[hook["id"]]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
