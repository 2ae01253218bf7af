"""The cluster profile is read by Snakemake and its SLURM plugin; no cluster is needed for that."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.workflow
def test_slurm_profile_plans_the_default_study():
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="optional dependency `slurm`")
    command = "-m snakemake --profile profiles/slurm --dry-run --forceall"
    done = subprocess.run(
        [sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "slurm_partition=main" in output
    assert "slurm_account=my_account" in output
    assert "Group job runs" in output
    fit = output[output.index("rule fit:") :]
    assert "mem_mb=1100" in fit[: fit.index("slot=1")]
