"""What became of every printed number: reproduced, explained by a variant, or not."""

import numpy as np
import pandas as pd

from .agreement import CLOCK, CLOCKS, INTERVAL, ONLY_MARGIN, UNJUDGED, WITHIN

# Outcomes, in the order of display.
REPRODUCED, EXPLAINED, UNEXPLAINED = "reproduced", "explained", "unexplained"
SINGLE, CLOCKED, NOT_RERUN, IMPOSSIBLE = "single run", "clock", "not rerun", "impossible"
OUTCOMES = (REPRODUCED, EXPLAINED, UNEXPLAINED, SINGLE, CLOCKED, NOT_RERUN, IMPOSSIBLE)
_SAME = ["paper", "dataset", "method", "quantity", "value", "value_sd", "budget"]


def with_outcomes(numbers, impossible):
    """Say of each printed number what became of it.

    Parameters
    ----------
    numbers : DataFrame
        From `budgetbench.analysis.deviations.with_variants`; a row for each printed number, ours
        beside it or not.
    impossible : list of dict
        Entries with `why` and any of table, dataset, quantity: what cannot be rerun here.

    Returns
    -------
    DataFrame
        With the columns outcome (of `OUTCOMES`), why (of what is impossible) and stand_in (whether
        ours is on other rows than the paper's).
    """
    rows = numbers.to_dict("records")
    why = ["" if row["n_runs"] else _impossible(row, impossible) for row in rows]
    outcomes = [_outcome(row, reason) for row, reason in zip(rows, why, strict=True)]
    stand_in = (numbers["n_runs"] > 0) & (numbers["run_on"] != numbers["dataset"])
    return numbers.assign(outcome=outcomes, why=why, stand_in=stand_in)


def _impossible(row, entries):
    """Return why a number cannot be rerun here, "" where it can."""
    row = row | {"table": row["source"]}
    keys = ("table", "dataset", "quantity")
    fitting = [e for e in entries if all(row[k] == e[k] for k in keys if k in e)]
    return fitting[0]["why"] if fitting else ""


def _outcome(row, why):
    if why:
        return IMPOSSIBLE
    if row["quantity"] in CLOCKS and row["n_runs"]:
        return CLOCKED
    if not row["n_runs"]:
        return NOT_RERUN
    fixed = {WITHIN: REPRODUCED, CLOCK: CLOCKED, UNJUDGED: SINGLE}
    return fixed.get(row["verdict"], EXPLAINED if row["explained"] else UNEXPLAINED)


def counted_once(numbers, readings):
    """Return the rows that count: each printed number once.

    Parameters
    ----------
    numbers : DataFrame
        With paper, source, dataset, method, setting, quantity, value and value_sd.
    readings : list of str
        Quantities that are other readings of a number that counts already.

    Returns
    -------
    DataFrame
        Without those readings, and without what a paper prints again in another of its tables: the
        same mean with the same spread, of the same data set, method and node budget.
    """
    own = numbers[~numbers["quantity"].isin(readings)]
    budget = own["setting"].str.extract(r"budget_percent=([\d.]+)", expand=False).fillna("")
    again = own.assign(budget=budget).duplicated(_SAME) & own["value_sd"].notna()
    return own[~again]


def outcome_counts(numbers):
    """Return {outcome: number of rows} with every outcome in it."""
    counts = numbers["outcome"].value_counts()
    return {outcome: int(counts.get(outcome, 0)) for outcome in OUTCOMES}


def matrix(numbers):
    """Return a row for each paper, table and data set: how many numbers, and what became of them.

    Parameters
    ----------
    numbers : DataFrame
        From `with_outcomes`.

    Returns
    -------
    DataFrame
        paper, table, source, dataset, run_on (first of ours, "" without), n; a column for each
        outcome; near (of the unexplained, those that meet one of both conditions); least and most
        runs; study.
    """
    rows = []
    for (source, dataset), part in numbers.groupby(["source", "dataset"], sort=False):
        rerun = part[part["n_runs"] > 0]
        near = part["verdict"].isin((INTERVAL, ONLY_MARGIN)) & (part["outcome"] == UNEXPLAINED)
        first = part.iloc[0]
        rows.append(
            {"paper": first["paper"], "table": first["table"], "source": source}
            | {"dataset": dataset, "run_on": "" if rerun.empty else rerun["run_on"].iloc[0]}
            | {"n": len(part), **outcome_counts(part), "near": int(near.sum())}
            | {"least": _runs(rerun, np.min), "most": _runs(rerun, np.max)}
            | {"study": "" if rerun.empty else rerun["study"].iloc[0]}
        )
    return pd.DataFrame(rows)


def _runs(rerun, extreme):
    return 0 if rerun.empty else int(extreme(rerun["n_runs"]))
