"""Renew docs/api.md and docs/reference.rst (`make docs`) from what the package exports."""

import importlib
import inspect
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import budgetlearn as b
from budgetlearn.exceptions import BudgetError
from budgetlearn.metrics import average_precision_at_5
from budgetlearn.testing import (
    check_acquiring,
    check_budgets,
    check_caps,
    check_untouched_cells,
    example_data,
)

GROUPS = [0, 0, -1, -1, 1, 1]  # of the features of the made-up data
PAGE = Path(__file__).with_name("api.md")
REFERENCE = Path(__file__).with_name("reference.rst")

# Parameters that make the examples small, where a class has them.
QUICK = {"n_estimators": 8, "n_lambda": 30, "random_state": 0}
TREE = {"estimator": DecisionTreeClassifier(max_depth=4)}
CASCADE = {"estimators": "linear", "orders": "gain_per_cost", "n_stages": 3, "cv": 2}
CASCADE |= {"dynamic": False}
SHARES = {"n_full_trees": 8}
STUMPS = {"estimator": GradientBoostingClassifier(max_depth=1), "percents": (10, 50)}
# What else single classes need; several examples where one does not show all that a class can.
SPECIAL = {
    "ModelScheduleSearch": [TREE],
    # Without time for more the models on all features and the constant remain.
    "AutoBudgetClassifier": [{"max_minutes": 1e-6}],
    "AutoBudgetRegressor": [{"max_minutes": 1e-6}],
    "ExhaustiveSearch": [TREE],
    "CostSensitiveRFClassifier": [{"cost_weight": 0.01}],
    "GIFClassifier": [{"node_budget": 300, "n_estimators": 10}],
    "GIFRegressor": [{"node_budget": 300, "n_estimators": 10}],
    "FMCCClassifier": [{"cost_weight": 0.01}],
    "VoCClassifier": [{"cost_weight": 0.01}],
    "ScheduleCascadeClassifier": [CASCADE],
    "ScheduleCascadeRegressor": [CASCADE],
    "LightGBMCostClassifier": [{"n_trees": (5, 20)}],
    "LightGBMCostRegressor": [{"n_trees": (5, 20)}],
    "AllFeaturesClassifier": [{"estimator": RandomForestClassifier(8)}],
    "AllFeaturesRegressor": [{"estimator": RandomForestRegressor(8)}],
    "ForestStages": [
        {"estimator": ExtraTreesClassifier(), "n_trees": (2, 5)},
        {"estimator": ExtraTreesRegressor(), "n_trees": (2, 5)},
    ],
    "GIFNodeShares": [
        {"estimator": b.GIFClassifier(), **SHARES},
        {"estimator": b.GIFRegressor(), **SHARES},
    ],
    "BoostingNodeShares": [{**STUMPS, **SHARES}],
}
# The page about a class, where it is not called as its room.
PAGES = {
    "RandomForestClassifier": "budgetrf.md",
    "CostWeightedRFClassifier": "rfb.md",
    "forests": "cost-sensitive-rf.md",
    "sequential": "fmcc.md",
}


def page_of(cls):
    """Return the page about a class: that of its room, but for a few."""
    room = cls.__module__.split(".")[1]
    page = PAGES.get(cls.__name__, PAGES.get(room, f"{room}.md"))
    return page if PAGE.with_name(page).is_file() else "own-method.md"


def examples():
    """Return small estimators of every exported class, by page."""
    made = {}
    for name, cls in estimator_classes().items():
        known = inspect.signature(cls).parameters
        quick = {key: value for key, value in QUICK.items() if key in known}
        for given in SPECIAL.get(name, [{}]):
            made.setdefault(page_of(cls), []).append(cls(**quick | given))
    return made


MODULES = (  # of the library, and what users take from the benchmark
    *("protocol", "costs", "curves", "metrics", "msb", "forests", "budgetrf", "gif", "export"),
    *("sequential", "cascade", "peers", "policies", "auto", "testing", "exceptions"),
)
MODULES = (*(f"budgetlearn.{name}" for name in MODULES), "budgetbench.datasets")

# Abilities with long names, as the table heads them; the page explains them above it.
COLUMNS = {
    "mean budget": "budget",
    "hard cap": "cap",
    "acquires while predicting": "lazy",
    "shared charges": "charges",
    "weighs shared charges": "weighs",
    "sample weights": "weights",
    "missing cells": "cells",
    "missing values": "gaps",
}
FIRST, LAST = ".. currentmodule:: budgetlearn\n", "The protocol\n---"  # lists of the reference
HEAD, NAMES = "| class |", "\n## `budgetlearn."  # where the table begins, and the names


def estimator_classes():
    """Return every estimator class that the package exports, by name, in the package's order."""
    names = [name for homes in b.OFFERED.values() for each in homes.values() for name in each]
    found = {name: getattr(b, name) for name in names}
    return {
        name: item
        for name, item in found.items()
        if inspect.isclass(item)
        and issubclass(item, b.BudgetedEstimator)
        and item is not b.BudgetedEstimator
    }


def abilities(estimator):
    """Return for each ability under a budget whether it worked, tried on small made-up data."""
    parts, costs = example_data(estimator)
    train, valid, (X, y) = parts
    groups = b.FeatureCosts(costs, GROUPS, group_costs=[3.0, 5.0])
    model = clone(estimator).set_params(feature_costs=groups).fit(*train, *valid)
    tried = {
        "mean budget": lambda: check_budgets(model, X),
        "hard cap": lambda: check_caps(model, X, groups.alone),
        "acquires while predicting": lambda: check_acquiring(model, X),
        "shared charges": lambda: _charges_once(model, X, groups),
        "weighs shared charges": lambda: _weighs_charges(estimator, parts, costs),
        "probabilities": lambda: np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1),
        "ranking": lambda: _ranks(model, X, y),
        "regression": lambda: not is_classifier(model),
        "sample weights": lambda: _weighs(estimator, train, X),
        "missing cells": lambda: check_untouched_cells(model, X),
        "missing values": lambda: _learns_from_missing(estimator, train, X),
        "scoring": lambda: _scores(model, parts),
        "refit": lambda: _refits(model, parts),
    }
    return {name: _works(check) for name, check in tried.items()}


def _works(check):
    """Return True if a check passes; a refusal or a method that is not there is no ability."""
    try:
        return check() is not False
    except (AttributeError, BudgetError, NotImplementedError, TypeError, ValueError):
        return False


def _charges_once(model, X, costs):
    """A charge that acquired features share is on the bill once."""
    acquired = model.acquired_features(X)
    # By hand: members of a group as a matrix, and not by the code that is checked.
    shared = np.array(GROUPS)[:, None] == np.arange(2)
    charges = (acquired @ shared).astype(bool) @ costs.group_costs
    np.testing.assert_allclose(model.acquisition_cost(X), acquired @ costs.costs + charges)


def _weighs_charges(estimator, parts, costs):
    """With a high charge on some features others are acquired."""
    train, valid, (X, _) = parts
    owned = []
    # So high a charge that whoever heeds it avoids the first two features altogether.
    for charge in (0.0, 1e4):
        shared = b.FeatureCosts(costs, GROUPS, group_costs=[charge, 0.0])
        model = clone(estimator).set_params(feature_costs=shared).fit(*train, *valid)
        owned.append(np.array([stage.acquired for stage in model.stages(X, {"acquired"})]))
    return not np.array_equal(*owned)


def _ranks(model, X, y):
    """The probability of relevance ranks the documents of queries, better than in reverse."""
    queries, shares = np.arange(len(X)) % 8, model.predict_proba(X)[:, 1]
    relevant = y == model.classes_[1]
    # Better than in reverse is all that small data can show.
    best, worst = (average_precision_at_5(relevant, by, queries) for by in (shares, -shares))
    assert best >= worst


def _weighs(estimator, train, X):
    """`fit` takes weights: equal ones change nothing, others do."""
    X_train, y_train = train
    plain = clone(estimator).fit(X_train, y_train)
    equal = clone(estimator).fit(X_train, y_train, sample_weight=np.ones(len(y_train)))
    np.testing.assert_array_equal(plain.predict(X), equal.predict(X))


def _learns_from_missing(estimator, train, X):
    """Missing values of a feature that had some in training are values like others."""
    X_train, y_train = train[0].copy(), train[1]
    # Whole rows: whichever feature a model takes first, it meets gaps.
    X_train[::3] = np.nan
    model = clone(estimator).fit(X_train, y_train)
    assert len(model.predict(np.full_like(X, np.nan))) == len(X)


def _scores(model, parts):
    """Operating points are compared by the score that is asked for."""
    train, valid, _ = parts
    scoring = "neg_log_loss" if is_classifier(model) else "neg_mean_absolute_error"
    other = clone(model).set_params(scoring=scoring).fit(*train, *valid)
    by_other, plain = other.operating_points_["score"], model.operating_points_["score"]
    return not np.array_equal(by_other, plain)


def _refits(model, parts):
    """The operating points stay, the models learn from the validation data too."""
    train, valid, _ = parts
    again = clone(model).set_params(refit=True).fit(*train, *valid)
    np.testing.assert_array_equal(
        again.operating_points_["score"], model.operating_points_["score"]
    )
    outputs = [list(each.staged_predict(valid[0])) for each in (model, again)]
    return not np.array_equal(*outputs)


def table(tried=abilities):
    """Yield the lines of the table; `tried(estimator)` returns what an example can do."""
    rows = {}
    for page, estimators in examples().items():
        for estimator in estimators:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                can = tried(estimator)
            cells = rows.setdefault((page, type(estimator).__name__), dict.fromkeys(can, False))
            cells |= {name: cells[name] or can[name] for name in can}
    names = list(next(iter(rows.values())))
    yield "|".join(["| class ", *(COLUMNS.get(name, name) for name in names), ""])
    yield "|---" + "|:-:" * len(names) + "|"
    for (page, name), cells in rows.items():
        marks = ["✓" if cells[ability] else "–" for ability in names]
        yield "|".join([f"| [`{name}`]({page}) ", *marks, ""])


def summary(item):
    """Return the first sentence of a docstring on one line."""
    return inspect.getdoc(item).split("\n\n", 1)[0].replace("\n", " ").replace("|", "\\|")


def listing(name):
    """Yield a section of the public classes and functions of a module."""
    module = importlib.import_module(name)
    named = getattr(module, "__all__", None) or [
        key
        for key, item in vars(module).items()
        if str(getattr(item, "__module__", "")).startswith(name) and not key.startswith("_")
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


def reference():
    """Return the reference with its lists of exported names renewed."""
    text = REFERENCE.read_text(encoding="utf-8")
    start, end = text.index(FIRST) + len(FIRST), text.index(LAST)
    lines = []
    for purpose, homes in b.OFFERED.items():
        lines += ["", purpose, "-" * len(purpose), "", ".. autosummary::", "   :toctree: generated"]
        lines += ["", *(f"   {name}" for names in homes.values() for name in names)]
    return text[:start] + "\n".join(lines) + "\n\n" + text[end:]


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
