"""Fixtures shared by the tests of several packages."""

import copy
import csv
import functools
import gc
import hashlib
import marshal
import os
import pickle
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random.bit_generator import ISeedSequence

from budgetlearn.files import write_whole
from tests.report.browsing import start_browser
from tests.workflow.slurm import why_not

ROOT = Path(__file__).resolve().parents[1]

# Snakemake's SLURM plug-in looks for a controller whenever it is imported. It waits ten seconds if
# SLURM is installed but no controller runs. The tests of SLURM set their own.
os.environ.setdefault("SLURM_CONF", os.devnull)

# Waiting threads sleep, and there is only one unless a test asks for more (n_jobs). Otherwise they
# would waste the cores that workers share.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# File for the processor seconds of each test, including its child processes.
SECONDS_FILE = os.environ.get("BUDGETLEARN_TEST_SECONDS")
# Processor seconds that the tests of a folder may take; CI reports folders that take more.
SECONDS = {
    "tests/workflow": 100,
    "tests/cli": 70,
    "tests/project": 70,
    "tests/study": 50,
    "tests/report": 50,
}
SECONDS_OF_OTHERS = 40
# Files in the order in which workers take them; one worker runs the whole file.
LONGEST = (
    *(
        "workflow/test_slurm",
        "workflow/test_deaths",
        "workflow/test_smoke",
        "report/test_comparing",
    ),
    *("project/test_api_page", "report/test_report", "workflow/test_studies", "cli/test_compare"),
    *("auto/test_estimator", "test_weights", "project/test_gallery", "cascade/test_estimator"),
    *("report/test_reproduction", "analysis/test_missing_runs", "project/test_sdist"),
    *("workflow/test_reruns", "workflow/test_kills", "workflow/test_elsewhere"),
    *("workflow/test_cluster_generic", "workflow/test_finished", "workflow/test_own_method"),
    *("cli/test_docs_pages", "report/test_browser", "cli/test_forty_calls", "test_package"),
    *("export/test_c_code", "datasets/test_preparing", "study/test_stored_results"),
    *("gif/test_kernels", "sequential/test_common", "study/test_tries", "peers/test_node_shares"),
    *("analysis/test_intervals", "study/test_counted_fits", "msb/test_search_options"),
    *("cli/test_hard_calls", "cli/test_commands", "cli/test_stale_results", "cli/test_serve"),
    *("project/test_features_page", "report/sections/test_standings", "cascade/test_scoring"),
    *("cascade/test_gaps", "cli/test_hostile_names", "tree/test_growth", "test_per_feature"),
    *("auto/test_weights_and_gaps", "msb/test_search"),
)
# Files that one worker takes one after another: they start a browser, or a server of warm jobs. The
# tests of SLURM, which mostly wait, are not among them.
WORKFLOW = {f"workflow/{path.stem}" for path in ROOT.glob("tests/workflow/test_*.py")}
WORKFLOW.remove("workflow/test_slurm")
CALLS = ("cli/test_compare", "cli/test_hostile_names", *WORKFLOW)
PAGES = ("report/test_browser", "report/test_comparing", "report/test_scoring")
TOGETHER = dict.fromkeys(CALLS, "calls") | dict.fromkeys(PAGES, "pages")
_spent = {"before": 0.0, "tests": defaultdict(float)}


def pytest_configure():
    """Set up Hypothesis, without plug-ins such as trio's, which selenium brings along."""
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")  # read at its import
    from hypothesis import settings

    # No deadline: the time of an example depends on the machine's load, not on the code.
    settings.register_profile("project", deadline=None)
    settings.load_profile("project")


def _processor_seconds():
    """Return the seconds that this process and its ended children have used."""
    return sum(os.times()[:4])


def pytest_runtest_logstart():
    """Leave out the seconds of collection and of other tests."""
    _spent["before"] = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Add the processor seconds of a set-up, call or tear-down to its report."""
    report = yield
    now = _processor_seconds()
    report.processor_seconds, _spent["before"] = now - _spent["before"], now
    return report


def pytest_runtest_logreport(report):
    """Sum the seconds of each test; workers send their reports to the main process."""
    # The report of a crashed worker has no seconds.
    _spent["tests"][report.nodeid] += getattr(report, "processor_seconds", 0.0)


def _folder(test):
    """Return the folder of a test: `tests` if it is in none of the others."""
    return Path(test.partition("::")[0]).parent.as_posix()


def pytest_sessionfinish(session):
    """Write the seconds of each test to `SECONDS_FILE`."""
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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadfile`, let one worker take files that belong together."""
    if config.getvalue("dist") == "loadfile":
        from xdist.scheduler import LoadFileScheduling

        class Scheduling(LoadFileScheduling):
            def _split_scope(self, test):
                file = super()._split_scope(test)
                return TOGETHER.get(file.removeprefix("tests/").removesuffix(".py"), file)

        return Scheduling(config, log)
    return None


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Add a worker, and one more if SLURM is available: tests wait for what they start."""
    n_workers = yield
    return n_workers + 1 + (not why_not())


def pytest_collection_modifyitems(items):
    """Start with the longest files, because a worker that gets one last would work alone."""
    rank = {ROOT / "tests" / f"{name}.py": place for place, name in enumerate(LONGEST)}
    first = [rank.get(item.path, len(rank)) for item in items]
    items[:] = [items[place] for place in sorted(range(len(items)), key=first.__getitem__)]


class _NoText(dict):
    """A docstring without text."""

    def __init__(self, _):
        super().__init__(Notes=[])

    def __str__(self):
        return "\n"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Exclude imported modules and collected tests from garbage collection, and collect rarely."""
    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            # SciPy reads and writes 240 docstrings when it is imported.
            patch.setattr("scipy._lib._array_api.FunctionDoc", _NoText, raising=False)
            # pytest reads compiled tests in small pieces, which takes five times as long.
            whole = {"load": lambda file: marshal.loads(file.read()), "dumps": marshal.dumps}
            patch.setattr("_pytest.assertion.rewrite.marshal", SimpleNamespace(**whole))
            _know_digits()
            return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 20, 20)
        _know_arrays()
        _know_parameters()
        _know_signatures()
        _know_classes()
        _know_templates(session.config)
        _know_library(session.config)
        _know_settings()
        _know_seeds()


def _know_digits():
    """Parse scikit-learn's images of digits once, and copy them for every test."""
    from sklearn.datasets import _base

    parse = functools.cache(_base.load_gzip_compressed_csv_data)
    _base.load_gzip_compressed_csv_data = lambda *name, **how: copy.deepcopy(parse(*name, **how))


def _know_arrays():
    """Give scikit-learn a quick answer that NumPy's own arrays are no data frames.

    It asks whenever it checks a table. Its own way to the same answer takes a fifteenth of the
    suite's time.
    """
    asked = sys.modules.get("narwhals.stable.v2.dependencies")
    for name in ("is_into_dataframe", "is_into_series"):
        if answer := getattr(asked, name, None):
            assert not answer(np.zeros((1, 1)))
            quick = lambda x, answer=answer: type(x) is not np.ndarray and answer(x)  # noqa: E731
            setattr(asked, name, quick)


def _know_parameters():
    """Let scikit-learn read the parameters of a constructor once instead of for every copy."""
    if base := sys.modules.get("sklearn.base"):
        read = base.BaseEstimator._get_param_names.__func__
        names = {}

        def known(cls):
            if cls.__init__ not in names:
                names[cls.__init__] = tuple(read(cls))
            return [*names[cls.__init__]]

        base.BaseEstimator._get_param_names = classmethod(known)


def _know_signatures():
    """Let scikit-learn read the signature of a function once instead of at every call."""
    if checks := sys.modules.get("sklearn.utils._param_validation"):
        checks.signature = functools.cache(checks.signature)
        checks.make_constraint = functools.cache(checks.make_constraint)
    if aliases := sys.modules.get("sklearn.externals.array_api_compat.common._aliases"):
        aliases._unique_kwargs = functools.cache(aliases._unique_kwargs)


def _know_classes():
    """Give scikit-learn a quick answer that whole numbers in an array are classes.

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


def _shared(config, name):
    """Return a folder of this run for what all workers share."""
    base = config._tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def _know_templates(config):
    """Compile each template once for all workers, although every page has its own environment."""
    if jinja2 := sys.modules.get("jinja2"):
        translate, known, folder = jinja2.Environment.compile, {}, _shared(config, "templates")

        def quick(self, source, *names, **options):
            how = self.trim_blocks, self.lstrip_blocks, self.autoescape, *sorted(self.filters)
            key = (source, names, *options.items(), *how)
            if key not in known:
                path = folder / hashlib.sha256(repr(key).encode()).hexdigest()
                if not path.exists():
                    write_whole(path, marshal.dumps(translate(self, source, *names, **options)))
                known[key] = marshal.loads(path.read_bytes())
            return known[key]

        jinja2.Environment.compile = quick


def _know_library(config):
    """Bundle the scripts that draw charts once for all workers, in more than a second."""
    if page := sys.modules.get("budgetbench.report.page"):
        bundle, path = page.drawing_library, _shared(config, "library") / "drawing.js"

        @functools.cache
        def quick():
            if not path.exists():
                write_whole(path, bundle())
            return path.read_bytes().decode()

        page.drawing_library = quick


def _know_settings():
    """Parse each YAML text once, and check each configuration once for each schema."""
    if yaml := sys.modules.get("yaml"):
        parse, parsed = yaml.load, {}

        def quick_load(text, *loader, **options):
            if not isinstance(text, str):
                return parse(text, *loader, **options)
            key = (text, *loader, *options.items())
            if key not in parsed:
                parsed[key] = pickle.dumps(parse(text, *loader, **options))
            return pickle.loads(parsed[key])

        yaml.load = quick_load
    if registry := sys.modules.get("budgetbench.datasets.registry"):
        checks, followed = registry.Validator, set()
        look = checks.iter_errors

        def quick_look(self, instance, *schema):
            whole = isinstance(self.schema, dict) and "$schema" in self.schema
            if schema or not whole:
                return look(self, instance, *schema)
            key = pickle.dumps((self.schema, instance))
            faults = [] if key in followed else [*look(self, instance)]
            followed.update([] if faults else [key])
            return iter(faults)

        checks.iter_errors = quick_look


class _Blank(ISeedSequence):
    """Seeds that are replaced before they are used."""

    def generate_state(self, n_words, dtype=np.uint32):
        return np.zeros(n_words, dtype)


def _know_seeds():
    """Make scikit-learn's generators at once from a seed, without one from the system before."""
    if checks := sys.modules.get("sklearn.utils.validation"):
        look = checks.check_random_state

        def quick(seed):
            if type(seed) not in (int, np.int64):
                return look(seed)
            generator = np.random.MT19937(_Blank())
            generator._legacy_seeding(seed)
            return np.random.RandomState(generator)

        for seed in (0, 5, 2**32 - 1):
            assert quick(seed).bytes(9999) == look(seed).bytes(9999), seed
        for module in list(sys.modules.values()):
            if getattr(module, "__dict__", {}).get("check_random_state") is look:
                module.check_random_state = quick


@pytest.fixture(scope="module")
def quick_texts():
    """Let pandas keep texts as Python's, a third faster for small tables than its default, Arrow's.

    Whole pages are also drawn with Arrow's, by `test_report` and by the jobs of the workflow.
    """
    import pandas as pd

    with pd.option_context("mode.string_storage", "python"):
        yield


@pytest.fixture(scope="module")
def quick_scores():
    """Use few draws for standard errors of scores, without scikit-learn's check of parameters.

    These two take most of the time of a fit on few rows with `scoring`.
    """
    from sklearn import config_context

    from budgetlearn.protocol import scoring

    with pytest.MonkeyPatch.context() as patch, config_context(skip_parameter_validation=True):
        patch.setattr(scoring, "RESAMPLES", 8)
        yield


@pytest.fixture(scope="module")
def quick_cascade(small_cascade):
    """Make cascades small, and choose their points for fewer tradeoffs."""
    from budgetlearn.cascade import pool

    with pytest.MonkeyPatch.context() as patch:
        few = pool.TRADEOFFS[::3]  # the last is still 0
        patch.setattr(pool, "TRADEOFFS", few)
        more = pool.exit_thresholds.__defaults__[1:]
        patch.setattr(pool.exit_thresholds, "__defaults__", (few, *more))
        yield


@pytest.fixture(scope="module")
def small_cascade():
    """Make the models of cascades small and the search for orders short, for faster fits.

    This is for tests of the use that a cascade makes of its models. Their number is the same.
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
    """A headless Chromium, shared by all tests of a process."""
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def data_dir():
    """Folder with the real data as ``<dataset>/<file>``; tests that need it are skipped without it.

    It is ``BUDGETLEARN_DATA``, or by default ``shared/data`` next to the repository.
    """
    named = os.environ.get("BUDGETLEARN_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    message = f"no folder of real data at {folder}; set BUDGETLEARN_DATA to one"
    if os.environ.get("CI"):
        pytest.fail(message)
    return pytest.skip(message)
