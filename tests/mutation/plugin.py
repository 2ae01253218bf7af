"""What pytest is given in a child process: it notes which lines each test runs, or picks tests."""

import signal
import sys
import threading
import time
from collections import defaultdict

# A test may take this many times its CPU seconds, and this many more; the import of the tests, too.
PATIENCE, GRACE, IMPORT = 4, 3, 60


class Tracer:
    """Note the CPU seconds of each test and the lines of some files that it runs.

    Lines that a test's fixtures run count for every test of its file: others may share them.

    Parameters
    ----------
    prefix : str
        How the paths of the files to watch begin.

    Attributes
    ----------
    seconds : dict of str to float
        By the test's id.
    fixture_seconds : dict of str to float
        Most that the fixtures of a test took, by its file.
    lines : dict of str to set of (str, int)
        File and line, by the test's id.
    failed : list of str
        Tests that fail unchanged.
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

    The kernel ends it, so that a loop in compiled code is ended too. CPU seconds count, not those
    of the clock: machines are shared.

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
