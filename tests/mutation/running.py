"""Runs of the tests in forked processes: traced once, then once for each mutant.

Nothing is imported twice: the parent holds the libraries, and each child imports the package anew,
with one file changed during the import. Files are only read.
"""

import contextlib
import importlib.machinery
import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.mutation.operators import mutated
from tests.mutation.plugin import Chooser, Tracer

MEMORY = 8 << 30
KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"


def preload():
    """Import the libraries that the children share."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    import hypothesis
    import joblib  # noqa: F401
    import pandas  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.ensemble
    import sklearn.inspection
    import sklearn.utils.estimator_checks  # noqa: F401

    hypothesis.settings.register_profile("mutants", derandomize=True, deadline=None, database=None)
    hypothesis.settings.load_profile("mutants")


def trace(tree, prefix, paths):
    """Run tests without a mutant and return the lines that each one runs.

    Parameters
    ----------
    tree : Path
        Copy of the repository.
    prefix : str
        Beginning of the paths of the sources to watch, relative to the tree.
    paths : list of str
        Test files and folders, relative to the tree.

    Returns
    -------
    dict
        `seconds` (with those of the fixtures) and `lines` by test id; lines as "file:line", files
        relative to the tree.

    Raises
    ------
    SystemExit
        If a test fails without a mutant.
    """

    def job():
        tracer = Tracer(f"{tree}/{prefix}")
        pytest.main([*_OPTIONS, *paths], plugins=[tracer])
        lines = {
            test: sorted(f"{Path(path).relative_to(tree)}:{n}" for path, n in tracer.lines_of(test))
            for test in tracer.lines
        }
        files = tracer.fixture_seconds
        seconds = {test: t + files[test.split("::")[0]] for test, t in tracer.seconds.items()}
        return {"seconds": seconds, "lines": lines, "failed": tracer.failed}

    found = _in_child(tree, job)
    if found is None or found["failed"]:
        raise SystemExit(f"tests fail without any mutant: {found and found['failed']}")
    return found


def try_mutant(tree, mutant, seconds):
    """Run the tests that run a mutant's line, until one fails.

    Parameters
    ----------
    tree : Path
        Copy of the repository.
    mutant : Mutant
        The change.
    seconds : dict of str to float
        CPU seconds of each test without a mutant, by its id, in the order to run them.

    Returns
    -------
    str
        `KILLED`, `SURVIVED` or `TIMEOUT`.
    """
    path = tree / mutant.path
    code = compile(mutated(path.read_text(encoding="utf-8"), mutant.number), str(path), "exec")
    files = list(dict.fromkeys(test.split("::")[0] for test in seconds))
    return run_tests(tree, files, path, code, lambda: [Chooser(seconds)])


def run_tests(tree, files, path=None, code=None, plugins=list):
    """Run tests until one fails, optionally with one source changed.

    Parameters
    ----------
    tree : Path
        Copy of the repository.
    files : sequence of str
        Test files, relative to the tree.
    path, code : Path and code, default=None
        A source of the tree, and the code to import instead.
    plugins : callable, default=list
        Makes the plugins for pytest, in the process of the tests.

    Returns
    -------
    str
        `KILLED`, `SURVIVED` or `TIMEOUT`.
    """

    def job():
        if code is not None:
            _swap_in(str(path), code)
        return int(pytest.main([*_OPTIONS, "-x", *files], plugins=plugins()))

    exit_code = _in_child(tree, job, memory=MEMORY)
    if exit_code is None:
        return TIMEOUT
    if exit_code == pytest.ExitCode.USAGE_ERROR and code is not None:
        return KILLED  # a conftest.py that imports the change failed
    if exit_code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest found no tests to run in {list(files)} (exit {exit_code})")
    return SURVIVED if exit_code == pytest.ExitCode.OK else KILLED


# scikit-learn's estimator checks take most of the time of a package's tests.
_QUICK = "not test_scikit_learn and not test_estimator_checks"
_OPTIONS = ["-q", "--assert=plain", "--tb=no", "-p", "no:cacheprovider"]
_OPTIONS += ["-m", "not workflow", "-k", _QUICK]
# A fork that ends its parent's fault handler, as pytest does when a test fails, waits forever.
_OPTIONS += ["-p", "no:faulthandler", "-W", "ignore::pytest.PytestConfigWarning"]


def _swap_in(path, code):
    """Make the import of one file give `code`."""
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        return code if self.path == path else plain(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code


def _in_child(tree, job, memory=None):
    """Return the result of `job` in a forked process, or None if the process died."""
    with tempfile.NamedTemporaryFile(dir=tree.parent) as answer:
        child = os.fork()
        if not child:
            _be_child(tree, job, memory, Path(answer.name))
        with contextlib.suppress(OSError):  # the child does it too, whichever is first
            os.setpgid(child, child)
        # A sleeping process uses no CPU time, so an hour of wall-clock time is the limit as well.
        deadline = time.monotonic() + 3600
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # processes that a test may have left
        text = Path(answer.name).read_text(encoding="utf-8")
    return json.loads(text) if text else None


def _be_child(tree, job, memory, answer):
    os.setpgid(0, 0)
    os.chdir(tree)
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]  # the copy has its own
    sys.path[:0] = [str(tree / "src"), str(tree)]
    os.environ["PYTHONPATH"] = str(tree / "src")
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    status = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        found = job()
        answer.write_text(json.dumps(found), encoding="utf-8")
        status = 0
    finally:
        os._exit(status)
