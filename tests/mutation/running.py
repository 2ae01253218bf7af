"""Runs of the tests in forked processes: traced once, then once for each mutant.

Nothing is imported twice: the parent holds the libraries, each child imports the package afresh,
with one file changed on the way in. Files are only read.
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

from .operators import mutated
from .plugin import Chooser, Tracer

# A mutant may take this many times the CPU seconds of its tests, and this many more.
PATIENCE, GRACE = 4, 5
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
    """Run tests unchanged and return what each one runs.

    Parameters
    ----------
    tree : Path
        Copy of the repository.
    prefix : str
        How the paths of the sources to watch begin, relative to it.
    paths : list of str
        Test files and folders, relative to it.

    Returns
    -------
    dict
        `seconds` and `lines` by test id; lines as "file:line", files relative to the tree.

    Raises
    ------
    SystemExit
        When a test fails unchanged.
    """

    def job():
        tracer = Tracer(f"{tree}/{prefix}")
        pytest.main([*_OPTIONS, *paths], plugins=[tracer])
        lines = {
            test: sorted(f"{Path(path).relative_to(tree)}:{n}" for path, n in tracer.lines_of(test))
            for test in tracer.lines
        }
        return {"seconds": tracer.seconds, "lines": lines, "failed": tracer.failed}

    found = _in_child(tree, job)
    if found is None or found["failed"]:
        raise SystemExit(f"tests fail without any mutant: {found and found['failed']}")
    return found


def try_mutant(tree, mutant, tests, seconds):
    """Run the tests that run a mutant's line, the fast ones first, until one fails.

    Parameters
    ----------
    tree : Path
        Copy of the repository.
    mutant : Mutant
        The change.
    tests : list of str
        Ids of tests, in the order to run them.
    seconds : float
        CPU seconds that they take unchanged.

    Returns
    -------
    str
        `KILLED`, `SURVIVED` or `TIMEOUT`.
    """
    source = (tree / mutant.path).read_text(encoding="utf-8")
    code = compile(mutated(source, mutant.number), str(tree / mutant.path), "exec")

    def job():
        _swap_in(str(tree / mutant.path), code)
        files = list(dict.fromkeys(test.split("::")[0] for test in tests))
        return int(pytest.main([*_OPTIONS, "-x", *files], plugins=[Chooser(tests)]))

    exit_code = _in_child(tree, job, limit=GRACE + PATIENCE * seconds)
    if exit_code is None:
        return TIMEOUT
    if exit_code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest found none of the tests {tests[:3]} ... (exit {exit_code})")
    return SURVIVED if exit_code == pytest.ExitCode.OK else KILLED


# scikit-learn's estimator checks take most of the time of a package's tests.
_QUICK = "not test_scikit_learn and not test_estimator_checks"
_OPTIONS = ["-q", "--assert=plain", "--tb=no", "-p", "no:cacheprovider"]
_OPTIONS += ["-m", "not workflow", "-k", _QUICK]


def _swap_in(path, code):
    """Let the import of one file give `code`."""
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        return code if self.path == path else plain(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code


def _in_child(tree, job, limit=None):
    """Return what `job` gives in a forked process, or None if it died or ran out of time."""
    with tempfile.NamedTemporaryFile(dir=tree.parent) as answer:
        child = os.fork()
        if not child:
            _be_child(tree, job, limit, Path(answer.name))
        with contextlib.suppress(OSError):  # the child does it too: whoever is first
            os.setpgid(child, child)
        # Sleeping tests use no CPU: a wall clock as well, generous because machines are shared.
        deadline = None if limit is None else time.monotonic() + 60 + 20 * limit
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if deadline is not None and time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what a test may have left behind
        text = Path(answer.name).read_text(encoding="utf-8")
    return json.loads(text) if text else None


def _be_child(tree, job, limit, answer):
    os.setpgid(0, 0)
    os.chdir(tree)
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]  # the copy has its own
    sys.path[:0] = [str(tree / "src"), str(tree)]
    os.environ["PYTHONPATH"] = str(tree / "src")
    if limit is not None:
        seconds = int(limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
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
