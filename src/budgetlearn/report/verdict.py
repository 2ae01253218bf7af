"""The sentences on top of the report, computed from the data."""


def verdict(leads, metadata):
    """Return who has the best mean AUP, on how many data sets, and how sure that is.

    Parameters
    ----------
    leads : DataFrame
        From `budgetlearn.benchmark.aggregate.lead_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of str
        One sentence each.
    """
    if leads.empty:
        return ["No method completed a single run: see the coverage table."]
    contested = leads.dropna(subset="runner_up")
    alone = len(leads) - len(contested)
    if contested.empty:
        return ["Nowhere did two methods complete runs, so there is nothing to compare."]
    gap = [f"On {alone} more only one method completed runs: no comparison."] if alone else []
    return [_who_wins(contested, metadata), *_how_sure(contested), *gap]


def _who_wins(leads, metadata):
    """Return the sentence that counts the best means."""
    wins = leads["best"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    labels = [metadata.methods[name].label for name in wins.index]
    if len(labels) == 1:
        few = {1: "the one data set compared", 2: "both data sets"}
        where = few.get(len(leads), f"all {len(leads)} data sets")
        return f"{labels[0]} has the best mean AUP on {where}."
    shares = [f"{label} on {n}" for label, n in zip(labels, wins, strict=True)]
    return f"Best mean AUP, of {len(leads)} data sets: {', '.join(shares)}."


def _how_sure(leads):
    """Return the sentence that holds the leads against their spread between runs."""
    measured = leads.dropna(subset="lead_sd")
    if measured.empty:
        return ["One run each: the spread between runs is unknown."]
    clear = int((measured["lead"] > measured["lead_sd"]).sum())
    if len(measured) == 1:
        verb = "exceeds" if clear else "stays within"
        return [f"Its lead over the runner-up, taken within runs, {verb} one standard deviation."]
    return [
        f"On {clear} of {len(measured)} the lead over the runner-up, taken within runs, exceeds "
        "one standard deviation."
    ]
