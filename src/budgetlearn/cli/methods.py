"""The methods that the command line offers: a name, and the estimator that it stands for."""

import budgetlearn

from ..exceptions import ConfigError
from .table import CLASSIFICATION, REGRESSION

METHODS = {
    CLASSIFICATION: {
        "msb": "ModelScheduleSearch",
        "cascade": "ScheduleCascadeClassifier",
        "budgetrf": "BudgetRFClassifier",
        "rfb": "CostWeightedRFClassifier",
        "cost_sensitive_rf": "CostSensitiveRFPathClassifier",
        "logitb": "LogitPathClassifier",
        "fmcc": "FMCCClassifier",
        "lightgbm": "LightGBMCostClassifier",
        "greedy_miser": "GreedyMiserClassifier",
        "filter_forest": "FilterForestClassifier",
    },
    REGRESSION: {"cascade": "ScheduleCascadeRegressor"},
}
NAMES = tuple(METHODS[CLASSIFICATION])
MOST_FOR_MSB = 60  # it fits models on hundreds of subsets of the columns


def default_method(task, n_columns):
    """Return the method to take where none is named.

    Parameters
    ----------
    task : str
        What is predicted.
    n_columns : int
        How many columns there are to buy.

    Returns
    -------
    str
    """
    if task == REGRESSION:
        return "cascade"
    return "msb" if n_columns <= MOST_FOR_MSB else "budgetrf"


def make(method, task, costs, seed, jobs):
    """Return the unfitted estimator of a method.

    Parameters
    ----------
    method : str
        Its name.
    task : str
        What is predicted.
    costs : FeatureCosts
        Prices of the original columns.
    seed : int
        Its `random_state`.
    jobs : int
        Its `n_jobs`, where it has such.

    Returns
    -------
    estimator

    Raises
    ------
    ConfigError
        When the method cannot do the task.
    """
    if method not in METHODS[task]:
        raise ConfigError(
            f"{method} does not predict numbers. Methods of regression: "
            f"{', '.join(METHODS[REGRESSION])}; or use --task classification."
        )
    estimator = getattr(budgetlearn, METHODS[task][method])()
    wanted = {"feature_costs": costs, "random_state": seed, "n_jobs": jobs}
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{name: wanted[name] for name in wanted if name in known})
