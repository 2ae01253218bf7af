"""A copy of the workflow to run in, so that tests leave no trace in the project."""

import faulthandler
import gc
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

import pytest

from budgetbench.datasets.registry import load_registry
from budgetbench.report import page, sections
from budgetbench.study import isolation, source_code

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 600  # seconds for a call
# Files that a run reads. `src` is not among them, because the package is installed.
PARTS = (
    "Snakefile",
    "workflow",
    "config",
    "resources/costs",
    "resources/published",
    "profiles",
    "environment.yml",
    "environment.post-deploy.sh",
)
SECTIONS = [f"budgetbench.report.sections.{info.name}" for info in iter_modules(sections.__path__)]


def copy_to(folder):
    """Copy the files that a run reads to a folder, and return it."""
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

    def run(self, *arguments, check=True, **environment):
        """Run snakemake there and return the finished process, with its output as text.

        It runs in a separate process, as for a user; `again` saves the start of a process.
        """
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        output = done.stdout + done.stderr
        assert not check or done.returncode == 0, output[-6000:]
        done.output = output
        return done

    def again(self, *arguments, fails=False, **environment):
        """Run snakemake there in a fork of this process, with all its jobs; return its output."""
        code, output = self.attempt(*arguments, **environment)
        assert bool(code) == fails, output[-6000:]
        return output

    def attempt(self, *arguments, **environment):
        """Do the same as `again`, and return the exit code, too.

        The imports of a call and the server of warm jobs are already there, which saves five
        seconds.
        """

        def prepare():
            os.environ.update(environment)
            share_server()

        start_server()
        return self._forked(prepare, "--cores", 2, *arguments)

    def plan(self, *arguments, cores=2):
        """Run snakemake there without starting any job; return its exit code and its output.

        It runs in a fork of this process, which has imported everything that it needs. This saves
        seconds for each call. With `cores` None, it is called as for a cluster, without a number.
        """
        here = () if cores is None else ("--cores", cores)
        return self._forked(gc.disable, *here, *arguments)

    def _forked(self, prepare, *arguments):
        with tempfile.TemporaryFile() as file:
            child = self.begin(prepare, file, *arguments)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            file.seek(0)
            return code, file.read().decode()

    def begin(self, prepare, file, *arguments):
        """Start snakemake there in a fork of this process, with output to a file; return its id."""
        warm_up()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks, in Python 3.12
            child = os.fork()
        if not child:
            _snakemake(self.folder, file.fileno(), prepare, arguments)
        return child


@cache
def warm_up():
    """Do once what each call of snakemake would repeat: import, and read the project's code."""
    for name in (
        "snakemake.report",
        "smart_open",
        "requests",
        "nbformat",
        "budgetlearn.peers",
        *SECTIONS,
    ):
        importlib.import_module(name)
    importlib.import_module("snakemake.cli").get_argument_parser()  # imports all plug-ins
    load_registry(ROOT / "config" / "datasets.yaml")
    for name in ("_files", "_check_kernel"):
        setattr(source_code, name, known_in_src(getattr(source_code, name)))
    source_code.script_fingerprint(ROOT / "workflow" / "scripts" / "fit.py")
    source_code.report_fingerprint(ROOT / "workflow" / "scripts" / "report.py")


def known_in_src(look):
    """Let each folder and each kernel of the project's own code be looked at once."""
    known, src = cache(look), ROOT / "src"
    return lambda path, *more: (known if path.is_relative_to(src) else look)(path, *more)


# A server that has also done what each report would repeat. It reads the library of charts.
SERVER = """
import importlib, sys
from budgetbench.report import page
from budgetbench.study import fork_server
library = sys.stdin.buffer.read().decode()
page.drawing_library = lambda: library
drawn_with = ("seaborn", "scikit_posthocs", "statsmodels.nonparametric.smoothers_lowess")
for name in (*fork_server._IMPORTS, *drawn_with):
    importlib.import_module(name)
print("ready", flush=True)
fork_server.serve(sys.argv[1])
"""


@cache
def start_server():
    """Start one server of warm jobs for all calls of this process, which saves seconds for each.

    `Workflow.run` tests that a call starts its own server.
    """
    command = [sys.executable, "-c", SERVER, str(os.getpid())]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, **pipes, start_new_session=True)
    server.stdin.write(page.drawing_library().encode())  # bundled once for all workers
    server.stdin.close()
    assert server.stdout.readline() == b"ready\n"
    return server


def share_server():
    """Run jobs as forks of a server that lasts as long as the process of the tests."""
    # The process of the tests may be further up than the parent.
    announce, tests = isolation.announce_caller, start_server().args[-1]

    def announce_both(*arguments, **options):
        announce(*arguments, **options)
        os.environ[isolation.CALLER] = tests

    isolation.announce_caller = announce_both
    forget_warnings()


def forget_warnings():
    """Handle warnings as in any process; under pytest they are errors."""
    warnings.resetwarnings()
    warnings.simplefilter("ignore", DeprecationWarning)


def be_a_call():
    """Make a fork of the tests like a user's call, as to signals and warnings."""
    os.setsid()
    faulthandler.disable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    forget_warnings()


def _snakemake(folder, out, prepare, arguments):
    """Run snakemake in a folder, with all output to a file, and end the process."""
    for stream in (1, 2):
        os.dup2(out, stream)
    os._exit(run_here(folder, prepare, arguments))


def run_here(folder, prepare, arguments):
    """Run snakemake in this process, a fork, and return its exit code."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TIMEOUT)
        sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
        # Jobs would get the stream that was there at the import, which is pytest's.
        importlib.import_module("snakemake.shell").STDOUT = None
        os.chdir(folder)
        gc.freeze()  # objects from before the fork need no collection
        prepare()
        importlib.import_module("snakemake.cli").main(list(map(str, arguments)))
    except SystemExit as done:
        code = done.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
    return code


@pytest.fixture(scope="session")
def make_workflow(tmp_path_factory):
    """Return a function that makes a fresh copy of the workflow."""

    def make(name="workflow"):
        folder = copy_to(tmp_path_factory.mktemp(name))
        load_registry(folder / "config" / "datasets.yaml")  # checked once for all forks
        return Workflow(folder)

    return make
