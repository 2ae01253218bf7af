"""Prediction under a budget: scikit-learn estimators whose features cost something.

The estimators are here by name, loaded when they are first used, and so is `FeatureCosts`.

>>> from sklearn.datasets import load_wine
>>> from budgetlearn import ModelScheduleSearch
>>> X, y = load_wine(return_X_y=True, as_frame=True)
>>> prices = dict(zip(X.columns, range(1, 14)))
>>> search = ModelScheduleSearch(feature_costs=prices, random_state=0).fit(X, y)
>>> search.operating_points_[["cost", "score", "variables"]]  # doctest: +SKIP
>>> search.predict(X[:5], budget=10)  # doctest: +SKIP

ModelScheduleSearch (msB), LogitPathClassifier, ExhaustiveSearch
    Subsets of variables from cheap to expensive, and a model for each.
BudgetRFClassifier, BudgetRFRegressor, CostSensitiveRFClassifier, CostSensitiveRFPathClassifier,
CostWeightedRFClassifier, RandomForestClassifier, GIFClassifier, GIFRegressor
    Forests that weigh prices, or the number of nodes, while they grow.
FMCCClassifier, VoCClassifier, ScheduleCascadeClassifier, ScheduleCascadeRegressor
    Acquire features one after another, example by example, and stop when sure.
LightGBMCostClassifier, GreedyMiserClassifier, FilterForestClassifier, FilterBoostingClassifier,
ASTCClassifier, SparseLinearClassifier, RandomOrderClassifier
    What users would pick instead.
AllFeaturesClassifier, FreeConstantClassifier, FreeConstantRegressor, ForestStages,
BoostingNodeShares, GIFNodeShares
    Controls and adapters that the benchmark compares with.
BudgetPreprocessor
    Text, gaps and truth values to numbers; one column of the table stays one acquisition.
FeatureCosts, random_costs, BudgetedEstimator, Stage
    Prices with shared charges, and what an own method derives from.
CostAccuracyDisplay, ScheduleDisplay, AcquisitionDisplay
    Pictures of a fitted estimator, in one call.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "costs": ("FeatureCosts", "random_costs"),
    "preprocessing.preprocessor": ("BudgetPreprocessor",),
    "protocol": ("BudgetedEstimator", "Stage"),
    "displays": ("AcquisitionDisplay", "CostAccuracyDisplay", "ScheduleDisplay"),
    "forests": (
        "CostSensitiveRFClassifier",
        "CostSensitiveRFPathClassifier",
        "CostWeightedRFClassifier",
        "RandomForestClassifier",
    ),
    "budgetrf": ("BudgetRFClassifier", "BudgetRFRegressor"),
    "gif": ("GIFClassifier", "GIFRegressor"),
    "msb": ("ExhaustiveSearch", "LogitPathClassifier", "ModelScheduleSearch"),
    "sequential": ("FMCCClassifier", "RandomOrderClassifier", "VoCClassifier"),
    "cascade": ("ScheduleCascadeClassifier", "ScheduleCascadeRegressor"),
    "peers": (
        "ASTCClassifier",
        "AllFeaturesClassifier",
        "BoostingNodeShares",
        "FilterBoostingClassifier",
        "FilterForestClassifier",
        "ForestStages",
        "FreeConstantClassifier",
        "FreeConstantRegressor",
        "GIFNodeShares",
        "GreedyMiserClassifier",
        "LightGBMCostClassifier",
        "SparseLinearClassifier",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
