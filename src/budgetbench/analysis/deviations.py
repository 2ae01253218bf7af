"""Why numbers are off: by a variant study that takes the cause away, or not at all."""

import pandas as pd

from .agreement import CLOCK, UNJUDGED, WITHIN

# An entry may leave out what it is meant for all of.
WHERE = ("table", "dataset", "method", "setting", "quantity")
NUMBER = ["source", "dataset", "method", "setting", "quantity"]


def fits(entry, row):
    """Return whether an entry is about a printed number."""
    row = row | {"table": row["source"]}
    return all(row[key] == entry[key] for key in WHERE if key in entry)


def entry_of(row, entries):
    """Return the entry that fits a printed number most closely, None where there is none."""
    fitting = [entry for entry in entries if fits(entry, row)]
    return max(fitting, key=lambda entry: sum(k in entry for k in WHERE), default=None)


def with_reasons(table, entries):
    """Say of each number that is not reproduced why, as far as an entry names its variant.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.agreement.agreement_table`.
    entries : list of dict
        From `budgetbench.report.printed_numbers.read_reasons`.

    Returns
    -------
    DataFrame
        With the columns reason and variant: "" where none is known or none is asked for.
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

    Parameters
    ----------
    table : DataFrame
        From `with_reasons`.
    entries : list of dict
        The same.
    variants : dict of str to DataFrame
        Variant study → its numbers, from `budgetbench.analysis.agreement.agreement_table`.

    Returns
    -------
    DataFrame
        With the columns variant_ours (the variant's number; NaN where it was not rerun) and
        explained: whether that lies within the margin of the printed one.
    """
    ours, explained = [], []
    for row in table.to_dict("records"):
        entry = entry_of(row, entries) if row["variant"] else None
        found = _variant_row(row, entry, variants)
        ours.append(float("nan") if found is None else found["ours"])
        explained.append(found is not None and bool(found["in_margin"]))
    return table.assign(variant_ours=ours, explained=explained)


def _variant_row(row, entry, variants):
    """Return the row of the same printed number in the variant study, None where it has none."""
    if entry is None or entry["variant"] not in variants:
        return None
    wanted = {key: row[key] for key in NUMBER}
    wanted["quantity"] = entry.get("reading", row["quantity"])
    numbers = variants[entry["variant"]]
    hit = pd.Series(numbers["n_runs"] > 0)
    for key, value in wanted.items():
        hit &= numbers[key] == value
    rows = numbers[hit]
    return rows.iloc[0] if len(rows) else None
