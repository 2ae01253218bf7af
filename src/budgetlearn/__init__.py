"""Prediction under a budget: scikit-learn estimators for features with costs.

All public names are available here, and are loaded when first used.

>>> from sklearn.datasets import load_wine
>>> from budgetlearn import ModelScheduleSearch
>>> X, y = load_wine(return_X_y=True, as_frame=True)
>>> prices = dict(zip(X.columns, range(1, 14)))
>>> search = ModelScheduleSearch(feature_costs=prices, random_state=0).fit(X, y)
>>> search.operating_points_[["cost", "score", "variables"]]  # doctest: +SKIP
>>> search.predict(X[:5], budget=10)  # doctest: +SKIP
"""

import importlib
import textwrap

__version__ = "1.0.0rc1"

# All exported names by purpose, with the room or module of each. The module's docstring, `__all__`
# and docs/reference.rst are derived from this, so a new estimator is added here only.
OFFERED = {
    "Subsets of variables from cheap to expensive, and a model for each": {
        "msb": ("ModelScheduleSearch", "LogitPathClassifier", "ExhaustiveSearch")
    },
    "Forests that weigh prices, or the number of nodes, while they grow": {
        "budgetrf": ("BudgetRFClassifier", "BudgetRFRegressor"),
        "forests": (
            *("CostSensitiveRFClassifier", "CostSensitiveRFPathClassifier"),
            *("CostWeightedRFClassifier", "RandomForestClassifier"),
        ),
        "gif": ("GIFClassifier", "GIFRegressor"),
    },
    "Features acquired one after another, example by example, until the method is sure": {
        "sequential": ("FMCCClassifier", "VoCClassifier", "RandomOrderClassifier"),
        "cascade": ("ScheduleCascadeClassifier", "ScheduleCascadeRegressor"),
    },
    "The best of all methods for each budget, found out of fold": {
        "auto": ("AutoBudgetClassifier", "AutoBudgetRegressor", "recommend_for_bytes")
    },
    "Methods that users would pick instead, controls, and adapters of other libraries": {
        "peers": (
            *("LightGBMCostClassifier", "LightGBMCostRegressor", "GreedyMiserClassifier"),
            *("FilterForestClassifier", "FilterBoostingClassifier", "ASTCClassifier"),
            *("SparseLinearClassifier", "ForestStages", "BoostingNodeShares", "GIFNodeShares"),
            *("AllFeaturesClassifier", "AllFeaturesRegressor", "FreeConstantClassifier"),
            *("FreeConstantRegressor",),
        )
    },
    "Prices with shared charges, tables with text and gaps, and the base of own methods": {
        "costs": ("FeatureCosts", "random_costs"),
        "preprocessing.preprocessor": ("BudgetPreprocessor",),
        "curves": ("ModelSchedule",),
        "protocol": ("BudgetedEstimator", "Stage"),
    },
    "Scores at a budget, tables behind a preprocessor, checks of own estimators": {
        "protocol": ("make_budget_scorer", "BudgetPipeline"),
        "testing": ("check_budgeted_estimator", "expected_failed_checks"),
    },
    "Errors and warnings": {
        "exceptions": (
            *("BudgetlearnError", "BudgetlearnWarning", "BudgetError", "ConfigError"),
            *("CostError", "DatasetError", "GuaranteeError", "IncompletePathWarning"),
            *("MissingExtraError", "MissingValueError"),
        ),
        "validation": ("ParameterError",),
    },
    "A picture of a fitted estimator, in one call": {"displays": ("CostAccuracyDisplay",)},
}
_HOME = {
    name: home for homes in OFFERED.values() for home, names in homes.items() for name in names
}
__all__ = ["__version__", *sorted(_HOME)]


def _listing():
    """Return the exported names by purpose, for the end of this module's docstring."""
    parts = []
    for purpose, homes in OFFERED.items():
        names = ", ".join(name for each in homes.values() for name in each)
        parts.append(f"{textwrap.fill(names, 96)}\n    {purpose}.")
    return "\n".join(parts) + "\n"


if __doc__ is not None:  # python -OO has none
    __doc__ += "\n" + _listing()


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
