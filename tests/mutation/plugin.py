"""What pytest is given in a child process: it notes which lines each test runs, or picks tests."""

import sys
import threading
import time
from collections import defaultdict


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
    lines : dict of str to set of (str, int)
        File and line, by the test's id.
    failed : list of str
        Tests that fail unchanged.
    """

    def __init__(self, prefix):
        self._prefix = prefix
        self._hit = set()
        self._shared = defaultdict(set)
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
        self._shared[item.nodeid.split("::")[0]] |= self._hit
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
    """Run some tests in a given order.

    Parameters
    ----------
    tests : list of str
        Their ids.
    """

    def __init__(self, tests):
        self._rank = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank),
            key=lambda item: self._rank[item.nodeid],
        )
