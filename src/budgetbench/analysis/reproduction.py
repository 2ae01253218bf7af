"""Outcomes of every printed number: reproduced, explained by a variant, or not.

A reason for a difference is an entry of `resources/published/deviations.yaml`, a dict: `why`, a
sentence; `variant`, the study that takes the cause away; and any of `WHERE`, what it is about.
With `one_sample: true` the variant draws other rows in every run, where the paper split one sample
again and again.
"""

import numpy as np
import pandas as pd

from .agreement import CLOCK, CLOCKS, INTERVAL, NORMAL, ONLY_MARGIN, UNJUDGED, WITHIN

# What an entry is about: it may leave out what it is meant for all of.
WHERE = ("table", "dataset", "method", "setting", "quantity")
NUMBER = ["source", "dataset", "method", "setting", "quantity"]  # tells one number from all others
# Outcomes, in the order of display.
REPRODUCED, EXPLAINED, UNEXPLAINED = "reproduced", "explained", "unexplained"
SINGLE, CLOCKED, NOT_RERUN, IMPOSSIBLE = "single run", "clock", "not rerun", "impossible"
OUTCOMES = (REPRODUCED, EXPLAINED, UNEXPLAINED, SINGLE, CLOCKED, NOT_RERUN, IMPOSSIBLE)
_SAME = ["paper", "dataset", "method", "quantity", "value", "value_sd", "budget"]


def fits(entry, row):
    """Return True if an entry is about a printed number."""
    row = row | {"table": row["source"]}
    return all(row[key] == entry[key] for key in WHERE if key in entry)


def entry_of(row, entries):
    """Return the entry that fits a printed number most closely, None where there is none."""
    fitting = [entry for entry in entries if fits(entry, row)]
    return max(fitting, key=lambda entry: sum(k in entry for k in WHERE), default=None)


def with_reasons(table, entries):
    """Return `agreement_table` with columns reason and variant for what is not reproduced.

    Both are "" where none is known or none is asked for.
    """
    found = [
        entry_of(row, entries) if row["verdict"] not in ("", WITHIN, CLOCK, UNJUDGED) else None
        for row in table.to_dict("records")
    ]
    return table.assign(
        reason=[entry["why"] if entry else "" for entry in found],
        variant=[entry["variant"] if entry else "" for entry in found],
    )


def with_variants(table, entries, variants):
    """Say of each number with a reason whether the variant that removes the cause is in the margin.

    `table` is from `with_reasons` with the same entries, `variants` maps variant studies to their
    `agreement_table`. New columns are variant_ours (the variant's number; NaN where it was not
    rerun) and explained: whether that lies within the margin of the printed one, and of an entry
    with `one_sample` also whether one sample may differ as much.
    """
    ours, explained = [], []
    for row in table.to_dict("records"):
        entry = entry_of(row, entries) if row["variant"] else None
        found = _variant_row(row, entry, variants)
        ours.append(float("nan") if found is None else found["ours"])
        explained.append(found is not None and _confirms(found, entry))
    return table.assign(variant_ours=ours, explained=explained)


def _confirms(found, entry):
    """Return True if a variant's row says that its entry explains the printed number."""
    if not entry.get("one_sample"):
        return bool(found["in_margin"])
    # The margin alone would be no test of numbers that lie within it anyway. What is printed is one
    # draw: its distance from our mean has the spread over samples, and that of our mean. That over
    # training sets is in it in full, though what is printed averages several: a generous interval.
    variance = found["sd"] ** 2 * (1 + 1 / found["n_runs"]) + found["unit"] ** 2 / 12
    near = abs(found["difference"]) <= NORMAL * np.sqrt(variance)
    return bool(found["in_margin"]) and bool(near)


def _variant_row(row, entry, variants):
    """Return the row of the same printed number in the variant study, None where it has none."""
    if entry is None or entry["variant"] not in variants:
        return None
    # The variant may answer by another quantity, such as another reading of the area.
    wanted = {key: row[key] for key in NUMBER} | {"quantity": entry.get("reading", row["quantity"])}
    numbers = variants[entry["variant"]]
    hit = numbers["n_runs"] > 0
    for key, value in wanted.items():
        hit &= numbers[key] == value
    rows = numbers[hit]
    return rows.iloc[0] if len(rows) else None


def with_outcomes(numbers, impossible):
    """Say of each printed number what became of it.

    `numbers` are from `with_variants`, ours beside them or not; `impossible` are entries as reasons
    are, without a variant: why numbers cannot be rerun here. New columns are outcome (of
    `OUTCOMES`), why (of what is impossible) and stand_in (whether ours is on other rows than the
    paper's).
    """
    rows = numbers.to_dict("records")
    # What was rerun all the same is judged: an entry never hides a number.
    why = [
        next((entry["why"] for entry in impossible if not row["n_runs"] and fits(entry, row)), "")
        for row in rows
    ]
    outcomes = [_outcome(row, reason) for row, reason in zip(rows, why, strict=True)]
    stand_in = (numbers["n_runs"] > 0) & (numbers["run_on"] != numbers["dataset"])
    return numbers.assign(outcome=outcomes, why=why, stand_in=stand_in)


def _outcome(row, why):
    if why:
        return IMPOSSIBLE
    if row["quantity"] in CLOCKS and row["n_runs"]:
        return CLOCKED
    if not row["n_runs"]:
        return NOT_RERUN
    # An explanation never turns a reproduced number into another outcome.
    fixed = {WITHIN: REPRODUCED, CLOCK: CLOCKED, UNJUDGED: SINGLE}
    return fixed.get(row["verdict"], EXPLAINED if row["explained"] else UNEXPLAINED)


def counted_once(numbers, readings):
    """Return the rows of printed numbers that count: each number once.

    Left out are `readings`, quantities that are other readings of a number that counts already, and
    what a paper prints again in another of its tables: the same mean with the same spread, of the
    same data set, method and node budget.
    """
    own = numbers[~numbers["quantity"].isin(readings)]
    budget = own["setting"].str.extract(r"budget_percent=([\d.]+)", expand=False).fillna("")
    # Without a printed spread equal values may be different numbers.
    again = own.assign(budget=budget).duplicated(_SAME) & own["value_sd"].notna()
    return own[~again]


def outcome_counts(numbers):
    """Return {outcome: number of rows} with every outcome in it."""
    counts = numbers["outcome"].value_counts()
    return {outcome: int(counts.get(outcome, 0)) for outcome in OUTCOMES}


def matrix(numbers):
    """Return a row for each paper, table and data set of `with_outcomes`.

    The columns are paper, table, source, dataset, run_on (first of ours, "" without), n (numbers);
    one for each outcome; near (of the unexplained, those that meet one of both conditions); least
    and most runs; study.
    """
    rows = []
    for (source, dataset), part in numbers.groupby(["source", "dataset"], sort=False):
        rerun = part[part["n_runs"] > 0]
        near = part["verdict"].isin((INTERVAL, ONLY_MARGIN)) & (part["outcome"] == UNEXPLAINED)
        first = part.iloc[0]
        ours = {"run_on": "", "study": ""} if rerun.empty else rerun.iloc[0]
        runs = [0] if rerun.empty else rerun["n_runs"]
        rows.append(
            {"paper": first["paper"], "table": first["table"], "source": source}
            | {"dataset": dataset, "run_on": ours["run_on"]}
            | {"n": len(part), **outcome_counts(part), "near": int(near.sum())}
            | {"least": int(min(runs)), "most": int(max(runs)), "study": ours["study"]}
        )
    return pd.DataFrame(rows)
