"""Plugins for pytest in a child process: one notes the lines of each test, one picks tests."""

import signal
import sys
import threading
import time
from collections import defaultdict

# A test, or the import of the tests, may take this many times its CPU seconds plus this many more.
PATIENCE, GRACE, IMPORT = 4, 3, 60


class Tracer:
    """Note the CPU seconds of each test and the lines of some files that it runs.

    Lines run by a test's fixtures count for every test of its file, because others may share them.

    Parameters
    ----------
    prefix : str
        Beginning of the paths of the files to watch.

    Attributes
    ----------
    seconds : dict of str to float
        By the test's id.
    fixture_seconds : dict of str to float
        The longest time of a test's fixtures, by its file.
    lines : dict of str to set of (str, int)
        File and line, by the test's id.
    failed : list of str
        Tests that fail without a mutant.
    """

    def __init__(self, prefix):
        self._prefix = prefix
        self._hit = set()
        self._shared = defaultdict(set)
        self.fixture_seconds = defaultdict(float)
        self.seconds, self.lines, self.failed = {}, {}, []

    def _trace(self, frame, event, argument):
        path = frame.f_code.co_filename
        if not path.startswith(self._prefix):
            return None
        hit = self._hit

        def line(frame, event, argument):
            hit.add((path, frame.f_lineno))
            return line

        return line(frame, event, argument)

    def pytest_runtest_setup(self, item):
        self._hit = set()
        self._begun = time.process_time()
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def pytest_runtest_call(self, item):
        file, seconds = item.nodeid.split("::")[0], time.process_time() - self._begun
        self.fixture_seconds[file] = max(self.fixture_seconds[file], seconds)
        self._shared[file] |= self._hit
        self._hit = set()
        sys.settrace(self._trace)

    def pytest_runtest_teardown(self, item):
        sys.settrace(None)
        threading.settrace(None)
        self.lines[item.nodeid] = self._hit
        self.seconds[item.nodeid] = time.process_time() - self._begun

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)

    def lines_of(self, test):
        """Return the lines of a test and of the fixtures of its file."""
        return self.lines[test] | self._shared[test.split("::")[0]]


class Chooser:
    """Run some tests in a given order; a test that takes far longer than before ends the process.

    The kernel ends the process, so that a loop in compiled code ends, too. CPU seconds count
    instead of wall-clock time, because machines are shared.

    Parameters
    ----------
    seconds : dict of str to float
        CPU seconds of each test and of its file's fixtures, by its id, in the order to run them.
    """

    def __init__(self, seconds):
        self._rank = {test: i for i, test in enumerate(seconds)}
        self._seconds = seconds
        self._allow(IMPORT)

    def _allow(self, seconds):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def pytest_runtest_setup(self, item):
        self._allow(GRACE + PATIENCE * self._seconds[item.nodeid])

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank),
            key=lambda item: self._rank[item.nodeid],
        )
