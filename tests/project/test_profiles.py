"""What the project asks of Snakemake: its cluster profile, and insides that the Snakefile uses."""

import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from budgetlearn.files import read_yaml
from tests.workflow.conftest import Workflow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = PROJECT["optional-dependencies"]["workflow"]


@pytest.mark.workflow
def test_slurm_profile_plans_the_default_study():
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="optional dependency `slurm`")
    command = "--profile profiles/slurm --dry-run --forceall"
    code, output = Workflow(ROOT).plan(*command.split(), cores=None)
    assert code == 0, output
    assert "slurm_partition" not in output  # each cluster's own: nothing to be edited is tracked
    assert "slurm_account" not in output
    assert "Group job runs" in output
    fit = output[output.index("rule fit:") :]
    assert "mem_mb=1100" in fit[: fit.index("slot=1")]


def test_what_the_snakefile_uses_of_snakemakes_insides_is_there():
    """No released interface promises these: pyproject.toml bounds the version from above."""
    from snakemake import cli, workflow  # noqa: F401  (the first import of them must be cli)
    from snakemake.path_modifier import PathModifier
    from snakemake.script import PythonScript
    from snakemake.settings.types import StorageSettings

    assert "job_rate_limiter" in inspect.getsource(workflow.JobScheduler)
    assert list(inspect.signature(workflow.Workflow.register_resource).parameters) == [
        *("self", "name", "value")
    ]
    assert isinstance(inspect.getattr_static(workflow.Workflow, "remote_exec"), property)
    assert list(inspect.signature(PathModifier.replace_prefix).parameters)[:2] == ["self", "path"]
    assert next(iter(inspect.signature(PythonScript.generate_preamble).parameters)) == "path"
    assert "PythonScript.generate_preamble(" in inspect.getsource(PythonScript.get_preamble)
    assert "self.forcefiles = set()" in inspect.getsource(workflow.DAG)
    assert "default_storage_provider" in inspect.signature(StorageSettings).parameters
    wanted = Requirement(next(line for line in WORKFLOW if line.startswith("snakemake>")))
    installed = Version(version("snakemake"))
    assert installed in wanted.specifier
    assert f"{installed.major + 1}.0" not in wanted.specifier


def test_the_ends_of_the_range_of_snakemake_are_tried():
    (line,) = (line for line in WORKFLOW if line.startswith("snakemake>"))
    lowest, above = re.fullmatch(r"snakemake>=([\d.]+),<(\d+)", line).groups()
    jobs = read_yaml(ROOT / ".github/workflows/checks.yml")["jobs"]
    assert jobs["snakemake"]["strategy"]["matrix"]["version"] == [
        f"{lowest}.0",
        f"{int(above) - 1}.*",
    ]
    assert f'min_version("{lowest}")' in (ROOT / "Snakefile").read_text()
