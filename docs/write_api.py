"""Renew docs/api.md (`make docs`): what each estimator can do, tried, and the public names."""

import importlib
import inspect
import warnings
from pathlib import Path

from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import budgetlearn as b
from budgetlearn.testing import abilities

PAGE = Path(__file__).with_name("api.md")

SEED = {"random_state": 0}
TREES = {"n_estimators": 8, **SEED}
CASCADE = {"estimators": "forest", "orders": "gain_per_cost", "n_stages": 3, "cv": 2, **SEED}
SHARES = {"n_full_trees": 20, "n_probes": 2, **SEED}
# Small estimators of every class, by page. A cell is yes where one of a class's examples does it.
EXAMPLES = {
    "msb.md": [
        b.ModelScheduleSearch(DecisionTreeClassifier(max_depth=4), **SEED),
        b.ExhaustiveSearch(DecisionTreeClassifier(max_depth=4), **SEED),
        b.LogitPathClassifier(n_lambda=30, **SEED),
    ],
    "budgetrf.md": [
        b.BudgetRFClassifier(**TREES),
        b.BudgetRFRegressor(**TREES),
        b.RandomForestClassifier(**TREES),
    ],
    "cost-sensitive-rf.md": [
        b.CostSensitiveRFClassifier(cost_weight=0.01, **TREES),
        b.CostSensitiveRFPathClassifier(**TREES),
    ],
    "rfb.md": [b.CostWeightedRFClassifier(**TREES)],
    "gif.md": [
        b.GIFClassifier(300, n_estimators=10, **SEED),
        b.GIFRegressor(300, n_estimators=10, **SEED),
    ],
    "fmcc.md": [
        b.FMCCClassifier(cost_weight=0.01, **SEED),
        b.VoCClassifier(cost_weight=0.01, **SEED),
        b.RandomOrderClassifier(**SEED),
    ],
    "cascade.md": [
        b.ScheduleCascadeClassifier(**CASCADE),
        b.ScheduleCascadeRegressor(**CASCADE),
    ],
    "peers.md": [
        b.LightGBMCostClassifier(**SEED),
        b.GreedyMiserClassifier(),
        b.FilterForestClassifier(**TREES),
        b.FilterBoostingClassifier(**TREES),
        b.ASTCClassifier(),
        b.SparseLinearClassifier(n_lambda=30, **SEED),
        b.ForestStages(ExtraTreesClassifier(), n_trees=(2, 5), **SEED),
        b.ForestStages(ExtraTreesRegressor(), n_trees=(2, 5), **SEED),
        b.GIFNodeShares(b.GIFClassifier(), **SHARES),
        b.GIFNodeShares(b.GIFRegressor(), **SHARES),
        b.BoostingNodeShares(GradientBoostingClassifier(max_depth=1), percents=(10, 50), **SHARES),
        b.AllFeaturesClassifier(**SEED),
        b.FreeConstantClassifier(),
        b.FreeConstantRegressor(),
    ],
}
MODULES = (  # of the library, and what users take from the benchmark
    *("protocol", "costs", "curves", "metrics", "msb", "forests", "budgetrf", "gif", "export"),
    *("sequential", "cascade", "peers", "testing", "exceptions"),
)
MODULES = (*(f"budgetlearn.{name}" for name in MODULES), "budgetbench.datasets")

HEAD, NAMES = "| class |", "\n## `budgetlearn."  # where the table begins, and the names


def estimator_classes():
    """Return every estimator class that the package exports, by name."""
    found = {name: getattr(b, name) for name in b.__all__}
    return {
        name: item
        for name, item in found.items()
        if inspect.isclass(item)
        and issubclass(item, b.BudgetedEstimator)
        and item is not b.BudgetedEstimator
    }


def table(tried=abilities):
    """Yield the lines of the table; `tried(estimator)` returns what an example can do."""
    rows = {}
    for page, estimators in EXAMPLES.items():
        for estimator in estimators:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                can = tried(estimator)
            cells = rows.setdefault((page, type(estimator).__name__), dict.fromkeys(can, False))
            cells |= {name: cells[name] or can[name] for name in can}
    names = list(next(iter(rows.values())))
    yield "| " + " | ".join(["class", *names]) + " |"
    yield "|---" + "|:-:" * len(names) + "|"
    for (page, name), cells in rows.items():
        marks = ["✓" if cells[ability] else "–" for ability in names]
        yield "| " + " | ".join([f"[`{name}`]({page})", *marks]) + " |"


def summary(item):
    """Return the first sentence of a docstring on one line."""
    return inspect.getdoc(item).split("\n\n", 1)[0].replace("\n", " ").replace("|", "\\|")


def listing(name):
    """Yield a section of the public classes and functions of a module."""
    module = importlib.import_module(name)
    named = getattr(module, "__all__", None) or [
        key
        for key, item in vars(module).items()
        if getattr(item, "__module__", None) == module.__name__ and not key.startswith("_")
    ]
    yield f"\n## `{name}`\n"
    yield summary(module)
    yield "\n| name | |\n|---|---|"
    for key in sorted(named):
        item = getattr(module, key)
        if inspect.isclass(item) or inspect.isfunction(item):
            yield f"| `{key}` | {summary(item)} |"


def names():
    """Return the sections of public names."""
    return "\n".join(line for name in MODULES for line in listing(name)) + "\n"


def with_names(page):
    """Return the page with its public names as the package has them."""
    return page[: page.index(NAMES)] + names()


def render(page):
    """Return the page with its table and its public names renewed."""
    start, end = page.index(HEAD), page.index(NAMES)
    return with_names(page[:start] + "\n".join(table()) + "\n" + page[end:])


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
