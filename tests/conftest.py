"""Fixtures that several packages' tests share."""

import csv
import functools
import gc
import os
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tests.report.browsing import start_browser
from tests.workflow.slurm import why_not

# How long an example takes tells of the machine's load, not of the code.
settings.register_profile("project", deadline=None)
settings.load_profile("project")

ROOT = Path(__file__).resolve().parents[1]

# Snakemake's plug-in for SLURM asks for a controller whenever it is imported, and waits for ten
# seconds where one was installed and none runs. The tests of SLURM name their own.
os.environ.setdefault("SLURM_CONF", os.devnull)

# Threads that wait for work sleep, and there are more than one only where a test asks for them
# (n_jobs): where workers share cores they would burn them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Names a file to write the processor seconds of each test to, children included.
SECONDS_FILE = os.environ.get("BUDGETLEARN_TEST_SECONDS")
# Processor seconds that a folder's tests may take; CI names those that take more.
SECONDS = {
    "tests/workflow": 120,
    "tests/cli": 80,
    "tests/project": 80,
    "tests/study": 60,
    "tests/cascade": 60,
    "tests/report": 60,
    "tests": 45,
    "tests/analysis": 45,
}
SECONDS_OF_OTHERS = 40
# Files in the order in which workers take them; each is one worker's.
LONGEST = (
    *("workflow/test_slurm", "workflow/test_deaths", "workflow/test_smoke", "cli/test_docs_pages"),
    *("project/test_api_page", "report/test_report", "workflow/test_studies", "cli/test_compare"),
    *("auto/test_estimator", "test_weights", "project/test_gallery", "cascade/test_estimator"),
    *("report/test_reproduction", "analysis/test_missing_runs", "project/test_sdist"),
    *("workflow/test_reruns", "workflow/test_kills", "workflow/test_elsewhere"),
    *("workflow/test_cluster_generic", "workflow/test_finished", "workflow/test_own_method"),
    *("report/test_comparing", "report/test_browser", "cli/test_forty_calls", "test_package"),
    *("export/test_c_code", "datasets/test_preparing", "study/test_stored_results"),
    *("gif/test_kernels", "sequential/test_common", "study/test_tries", "peers/test_node_shares"),
    *("analysis/test_intervals", "study/test_counted_fits", "msb/test_search_options"),
    *("cli/test_hard_calls", "cli/test_commands", "cli/test_stale_results", "cli/test_serve"),
    *("project/test_features_page", "report/sections/test_standings", "cascade/test_scoring"),
    *("cascade/test_gaps", "cli/test_hostile_names", "tree/test_growth", "test_per_feature"),
    *("auto/test_weights_and_gaps", "msb/test_search"),
)
_spent = {"before": 0.0, "tests": defaultdict(float)}


def _processor_seconds():
    """Return the seconds that this process and its ended children have used."""
    return sum(os.times()[:4])


def pytest_runtest_logstart():
    """Leave out what collection and other tests used."""
    _spent["before"] = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Add the processor seconds of set-up, call or tear-down to its report."""
    report = yield
    now = _processor_seconds()
    report.processor_seconds, _spent["before"] = now - _spent["before"], now
    return report


def pytest_runtest_logreport(report):
    """Sum the seconds of each test; workers send their reports to the main process."""
    # A worker that crashed leaves a report without seconds.
    _spent["tests"][report.nodeid] += getattr(report, "processor_seconds", 0.0)


def _folder(test):
    """Return the folder of tests that a test lies in; `tests` for those in no other."""
    return Path(test.partition("::")[0]).parent.as_posix()


def pytest_sessionfinish(session):
    """Write the seconds of each test to the file that was asked for."""
    if SECONDS_FILE and not hasattr(session.config, "workerinput"):
        with open(SECONDS_FILE, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["folder", "test", "processor_seconds"])
            for test, seconds in sorted(_spent["tests"].items(), key=lambda pair: -pair[1]):
                rows.writerow([_folder(test), test, f"{seconds:.2f}"])


def pytest_terminal_summary(terminalreporter):
    """Sum the seconds of each folder, and mark those above their budget."""
    if SECONDS_FILE:
        sums = defaultdict(float)
        for test, seconds in _spent["tests"].items():
            sums[_folder(test)] += seconds
        terminalreporter.section("processor seconds")
        for folder, seconds in sorted(sums.items(), key=lambda pair: -pair[1]):
            budget = SECONDS.get(folder, SECONDS_OF_OTHERS)
            over = f" (above its budget of {budget})" if seconds > budget else ""
            terminalreporter.line(f"{seconds:8.1f} {folder}{over}", yellow=bool(over))


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Add a worker where a SLURM can be had: its tests wait for most of their minutes."""
    n_workers = yield
    return n_workers + (not why_not())


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: whoever got one of them last would work alone."""
    rank = {f"tests/{name}.py": place for place, name in enumerate(LONGEST)}
    first = [rank.get(item.path.relative_to(ROOT).as_posix(), len(rank)) for item in items]
    items[:] = [items[place] for place in sorted(range(len(items)), key=first.__getitem__)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave what is imported and collected out of all searches for garbage, and search rarely."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 20, 20)
        _know_arrays()
        _know_parameters()
        _know_signatures()
        _know_classes()
        _know_templates()


def _know_arrays():
    """Let scikit-learn know at a glance that NumPy's own arrays are no data frames.

    It asks whenever it checks a table, and the long way to the same answer takes a fifteenth of
    the suite's time.
    """
    asked = sys.modules.get("narwhals.stable.v2.dependencies")
    for name in ("is_into_dataframe", "is_into_series"):
        if answer := getattr(asked, name, None):
            assert not answer(np.zeros((1, 1)))
            quick = lambda x, answer=answer: type(x) is not np.ndarray and answer(x)  # noqa: E731
            setattr(asked, name, quick)


def _know_parameters():
    """Let scikit-learn read the parameters of a constructor once: it does so for every copy."""
    if base := sys.modules.get("sklearn.base"):
        read = base.BaseEstimator._get_param_names.__func__
        names = {}

        def known(cls):
            if cls.__init__ not in names:
                names[cls.__init__] = tuple(read(cls))
            return [*names[cls.__init__]]

        base.BaseEstimator._get_param_names = classmethod(known)


def _know_signatures():
    """Let scikit-learn read the signature of a function once: it does so at every call."""
    if checks := sys.modules.get("sklearn.utils._param_validation"):
        checks.signature = functools.cache(checks.signature)
        checks.make_constraint = functools.cache(checks.make_constraint)
    if aliases := sys.modules.get("sklearn.externals.array_api_compat.common._aliases"):
        aliases._unique_kwargs = functools.cache(aliases._unique_kwargs)


def _know_classes():
    """Let scikit-learn know at a glance that whole numbers in an array are classes.

    It asks at every fit of a tree and for every score, and converts the array twice to find out.
    """
    if targets := sys.modules.get("sklearn.utils.multiclass"):
        look = targets.type_of_target

        def quick(y, *arguments, **options):
            if type(y) is np.ndarray and y.ndim == 1 and y.size and y.dtype.kind == "i":
                smallest = y.min()
                others = y[y != smallest]
                return "binary" if (others == others[:1]).all() else "multiclass"
            return look(y, *arguments, **options)

        for few in ([0], [-1, 0, -1], [3, 1, 2]):
            assert quick(np.array(few)) == look(np.array(few))
        for name, module in list(sys.modules.items()):
            if name.startswith("sklearn.") and vars(module).get("type_of_target") is look:
                module.type_of_target = quick


def _know_templates():
    """Let a template be compiled once: every page has an environment of its own."""
    if jinja2 := sys.modules.get("jinja2"):
        translate, known = jinja2.Environment.compile, {}

        def quick(self, source, *names, **options):
            how = self.trim_blocks, self.lstrip_blocks, self.autoescape, frozenset(self.filters)
            key = (source, names, *options.items(), *how)
            if key not in known:
                known[key] = translate(self, source, *names, **options)
            return known[key]

        jinja2.Environment.compile = quick


@pytest.fixture(scope="module")
def quick_scores():
    """Let standard errors of scores be of few draws, whose parameters scikit-learn does not check.

    Both take most of the time of what is fitted on few rows by a score that the user names.
    """
    from sklearn import config_context

    from budgetlearn.protocol import scoring

    with pytest.MonkeyPatch.context() as patch, config_context(skip_parameter_validation=True):
        patch.setattr(scoring, "RESAMPLES", 8)
        yield


@pytest.fixture(scope="module")
def quick_cascade(small_cascade):
    """Let cascades be small, and choose their points for fewer tradeoffs."""
    from budgetlearn.cascade import pool

    with pytest.MonkeyPatch.context() as patch:
        few = pool.TRADEOFFS[::3]  # the last is still 0
        patch.setattr(pool, "TRADEOFFS", few)
        more = pool.exit_thresholds.__defaults__[1:]
        patch.setattr(pool.exit_thresholds, "__defaults__", (few, *more))
        yield


@pytest.fixture(scope="module")
def small_cascade():
    """Let cascades be of small models and of orders found with few: they take most of a fit.

    For tests of what a cascade does with its models, of which there are as many, however good.
    """
    from budgetlearn.cascade import models, orders

    def of_few_trees(kind):
        return lambda *_, **options: kind(**options | {"n_estimators": 10})

    def few_extra_trees(n_classes, n_trees=20, **options):
        return extra_trees(n_classes, min(n_trees, 20), **options)

    extra_trees = models._extra_trees
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "N_ROUNDS", 5)
        patch.setattr(orders, "N_PILOTS", 1)
        patch.setattr(orders, "N_PARTS", 2)
        for name in ("RandomForestClassifier", "RandomForestRegressor"):
            patch.setattr(orders, name, of_few_trees(getattr(orders, name)))
        patch.setattr(models, "boosting_rounds", lambda n_classes: (25, 0.3))
        patch.setattr(models, "_extra_trees", few_extra_trees)
        patch.setattr(models, "MOST_COPIES", 8)
        yield


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium for all tests of a process."""
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def data_dir():
    """Folder with the real data as ``<dataset>/<file>``; tests that need it are skipped without.

    ``BUDGETLEARN_DATA`` names it; otherwise ``shared/data`` beside the repository is taken.
    """
    named = os.environ.get("BUDGETLEARN_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    message = f"no folder of real data at {folder}; set BUDGETLEARN_DATA to one"
    if os.environ.get("CI"):
        pytest.fail(message)
    return pytest.skip(message)
