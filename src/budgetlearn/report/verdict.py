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
    if leads["runner_up"].isna().all():
        label = metadata.methods[leads["best"].iloc[0]].label
        return [f"Only {label} completed runs, so there is nothing to compare it with."]
    return [_who_wins(leads, metadata), *_how_sure(leads)]


def _who_wins(leads, metadata):
    """Return the sentence that counts the best means."""
    wins = leads["best"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    shares = [f"{metadata.methods[m].label} on {n}" for m, n in wins.items()]
    total = f"{len(leads)} data set{'s' if len(leads) > 1 else ''}"
    if len(shares) == 1:
        every = "the only" if len(leads) == 1 else f"all {len(leads)}"
        label = metadata.methods[wins.index[0]].label
        return f"{label} has the best mean AUP on {every} data set{'s' * (len(leads) > 1)}."
    return f"Best mean AUP, of {total}: {', '.join(shares[:-1])} and {shares[-1]}."


def _how_sure(leads):
    """Return the sentence that holds the leads against their spread between runs."""
    measured = leads.dropna(subset="lead_sd")
    if measured.empty:
        return ["One run each: the spread between runs is unknown."]
    clear = int((measured["lead"] > measured["lead_sd"]).sum())
    return [
        f"On {clear} of {len(measured)} the lead over the runner-up, taken within runs, exceeds "
        "one standard deviation."
    ]
