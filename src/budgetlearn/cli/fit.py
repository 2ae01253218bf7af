"""`budgetlearn fit`: from a table and its prices to a schedule of acquisitions."""

import click
from sklearn.utils import check_random_state

import budgetlearn

from ..exceptions import ConfigError
from . import options
from .fitting import fit_table, sampled
from .schedule_text import print_schedule
from .table import CLASSIFICATION, REGRESSION, described, read_own_table, tell_notes

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
SEVERAL = ("categorical", "one_hot")


@click.command()
@click.argument("table", type=options.FILE)
@options.columns
@click.option(
    "--one-hot",
    multiple=True,
    help="A column of words to spread out, for linear methods; repeatable.",
)
@click.option(
    "--method",
    type=click.Choice(NAMES),
    help="[default: msb; budgetrf with more than 60 columns; cascade for regression]",
)
@options.budget
@options.guaranteed
@click.option("--out", type=options.OUT, help="Write the model to this file.")
@click.option("--report", type=options.OUT, help="Write a page about the model (html).")
@click.option(
    "--max-rows",
    type=click.IntRange(min=10),
    default=100_000,
    show_default=True,
    help="Of a larger table so many rows are drawn at random.",
)
@options.reading
@options.seed
@options.jobs
@options.debug
def fit(table, method, budget, guaranteed, out, report, max_rows, seed, jobs, **rest):
    """Train on TABLE (csv or Parquet) and print what each price buys.

    A fifth of the rows is held out: the model does not see them, and its score on them is what to
    expect of new rows. For example:

        budgetlearn fit patients.csv --target ill --costs prices.csv --budget 50 --out model.joblib
    """
    preprocessor = {name: rest[name] for name in ("missing", *SEVERAL)}
    options.needs_budget(guaranteed, budget)
    own = read_own_table(table, **described(rest))
    tell_notes(own)
    random = check_random_state(seed)
    rows = sampled(own, max_rows, random)
    if rows.size < len(own.y):
        click.echo(
            f"Note: {rows.size:,} of {len(own.y):,} rows are used, drawn at random (--max-rows).",
            err=True,
        )
    method = method or default_method(own.task, own.X.shape[1])
    estimator = make(method, own.task, own.costs, seed, jobs)
    about = {"method": method, "budget": budget}
    saved = fit_table(own, estimator, preprocessor, rows, random, about, guaranteed)
    if budget is not None:
        saved.stage(budget)  # refused before anything is written
    print_schedule(saved)
    if out:
        saved.save(out)
        click.echo(f"Model: {out}")
    if report:
        from .page import write_page

        write_page(saved, report)
        click.echo(f"Page: {report}")


def default_method(task, n_columns):
    """Return the method to take where none is named.

    Parameters
    ----------
    task : str
        What is predicted.
    n_columns : int
        How many columns there are to acquire.

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
    # Not every method is random, or has threads.
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{name: wanted[name] for name in wanted if name in known})
