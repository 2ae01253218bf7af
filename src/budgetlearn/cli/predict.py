"""`budgetlearn predict`: classes of new rows, from the columns that a budget acquires."""

import sys
from functools import partial

import click
import numpy as np
import pandas as pd

from ..costs import affords
from ..exceptions import DatasetError, MissingValueError
from ..files import csv_text, whole_file
from ..preprocessing.reading import read_table
from . import options
from .output import mean_cost, shown
from .saved_model import SavedModel


@click.command()
@click.argument("model", type=options.FILE)
@click.argument("table", type=options.FILE)
@options.budget
@click.option("--fallback", is_flag=True, help="Where cells are missing, do with what is there.")
@click.option("--out", type=options.OUT, help="Write here instead of to the screen.")
@options.reading
@options.trust
@options.debug
def predict(model, table, budget, fallback, out, separator, decimal, na, trust):
    """Predict the rows of TABLE with a MODEL of `budgetlearn fit`, and write them as csv.

    Only the columns that are bought are read: others may be empty or absent. Each row gets its
    prediction, the probability of it, what it costs, and the columns bought. How cells are written
    (--decimal, --na) is as in the table of `fit`, unless it is said here.
    """
    saved = SavedModel.load(model, trust)
    known = saved.reading
    source = partial(
        read_table, table, separator, decimal or known.get("decimal"), na or known.get("na")
    )
    # Only these columns are parsed: others may be broken, or missing altogether.
    wanted = needed(saved, budget)
    frame = _frame(source, table, wanted)
    _tell_unknown(saved, frame)
    absent = [name for name in wanted if name not in frame.columns]
    if absent and fallback:
        click.echo(f"Note: {table} lacks {', '.join(map(shown, absent))}.", err=True)
    try:
        rows = predictions(saved, frame, budget, fallback)
    except MissingValueError as error:
        text = str(error).replace("pass fallback=True", "take --fallback")
        if absent:
            found = ", ".join(map(repr, source().columns[:20]))
            text += f" {table} has the columns: {found}."
        raise DatasetError(text) from error
    _tell_overspent(saved, rows["cost"], budget)
    if out:
        with whole_file(out, through_links=True) as unfinished:
            unfinished.write_text(csv_text(rows), encoding="utf-8")
    else:
        sys.stdout.write(csv_text(rows))


def _frame(source, table, wanted):
    """Return the columns to acquire; where there are none, the rows are still counted."""
    if not wanted:
        return source()[[]]
    frame = source(columns=wanted)
    if not frame.shape[1]:
        raise DatasetError(
            f"{table} has none of the columns that are bought: {', '.join(map(shown, wanted))}. "
            "Is --separator right?"
        )
    return frame


def _tell_unknown(saved, frame):
    """Name the categories that training did not have."""
    for name, words in saved.preprocessor.unknown_words(frame).items():
        click.echo(
            f"Note: {shown(name)} has categories unknown in training, taken as missing: "
            f"{', '.join(map(shown, words[:5]))}",
            err=True,
        )


def _tell_overspent(saved, costs, budget):
    """Note a mean cost above the budget, and the cost that was to be expected."""
    budget = saved.budget if budget is None else budget
    if budget is None or affords(budget, costs.mean()):
        return
    click.echo(
        f"Note: these rows cost {costs.mean():.2f} on average, more than the budget of {budget:g}: "
        "it is kept on average over many rows. By the rows held out in training "
        f"{mean_cost(saved, saved.stage(budget), len(costs))}.",
        err=True,
    )


def needed(saved, budget):
    """Return the columns that a prediction within a budget may look at, as a list."""
    index = saved.stage(budget)
    # Where examples differ any column may be looked at.
    if saved.model.fixed_costs() is not None and index in saved.curve.index:
        return list(saved.curve.loc[index, "variables"])
    return saved.preprocessor.feature_names_in_.tolist()


def predictions(saved, frame, budget, fallback=False):
    """Return one row for each row of a table: prediction, probability, cost, bought.

    Parameters
    ----------
    saved : SavedModel
        The model.
    frame : DataFrame
        Its columns, as far as they are there.
    budget : float or None
        What a prediction may cost on average; None: the model's own.
    fallback : bool, default=False
        Whether missing cells are done without.

    Returns
    -------
    DataFrame
    """
    encoder, model = saved.preprocessor, saved.model
    X, how = encoder.transform(frame), {"budget": saved.limit(budget), "fallback": fallback}
    made = {saved.target: model.predict(X, **how)}
    if saved.task == "classification" and hasattr(model, "predict_proba"):
        shares = model.predict_proba(X, **how)
        place = np.searchsorted(model.classes_, made[saved.target])
        made["probability"] = shares[np.arange(len(shares)), place].round(6)
    acquired = model.acquired_features(X, **how)
    bought = encoder.original_features(acquired)
    # Rounded, so that sums in another order write the same text.
    made["cost"] = model.feature_costs_.total(acquired).round(9)
    names = encoder.feature_names_in_
    # Few rows differ in what they acquired: each list is joined once.
    different, which = np.unique(bought, axis=0, return_inverse=True)
    lists = ["; ".join(names[row]) for row in different]
    made["bought"] = np.array(lists, dtype=object)[which.ravel()]
    return pd.DataFrame(made)
