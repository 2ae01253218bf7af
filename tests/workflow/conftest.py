"""A copy of the workflow to run in, so that tests leave no trace in the project."""

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from snakemake import cli

ROOT = Path(__file__).resolve().parents[2]
# What a run reads. `src` is not among them: the package is the installed one.
PARTS = (
    "Snakefile",
    "workflow",
    "config",
    "resources/costs",
    "resources/published",
    "profiles",
    "environment.yml",
)


def copy_to(folder):
    """Copy what a run reads to a folder, and return it."""
    for part in PARTS:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, target)
    return folder


class Workflow:
    """A folder in which the workflow can run."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def run(self, *arguments, check=True, cores=2, **environment):
        """Run snakemake there and return the finished process, its output as text.

        `cores` None: as a call to a cluster, which names none.
        """
        here = () if cores is None else ("--cores", cores)
        command = [sys.executable, "-m", "snakemake", *map(str, (*here, *arguments))]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=600,
        )
        output = done.stdout + done.stderr
        assert not check or done.returncode == 0, output[-6000:]
        done.output = output
        return done

    def plan(self, *arguments):
        """Run snakemake there without starting any job; return its exit code and its output.

        In a fork of this process, which has imported all that it needs: seconds a call are saved.
        """
        with tempfile.TemporaryFile() as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks, in Python 3.12
            child = os.fork()
            if not child:
                _snakemake(self.folder, file.fileno(), arguments)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            file.seek(0)
            return code, file.read().decode()


def _snakemake(folder, out, arguments):
    """Be snakemake in a folder, with all output to a file, and end."""
    code = 1
    try:
        for stream in (1, 2):
            os.dup2(out, stream)
        sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
        os.chdir(folder)
        cli.main(["--cores", "2", *map(str, arguments)])
    except SystemExit as done:
        code = done.code or 0
    finally:
        sys.stdout.flush()
        os._exit(code)


@pytest.fixture(scope="session")
def make_workflow(tmp_path_factory):
    """Return a function that makes a fresh copy of the workflow."""

    def make(name="workflow"):
        return Workflow(copy_to(tmp_path_factory.mktemp(name)))

    return make
