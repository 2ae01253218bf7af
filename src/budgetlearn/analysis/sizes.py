"""Error against memory, where models of several sizes are compared."""

import pandas as pd

from ..benchmark.records import OK, parse_setting, setting_text
from .schedules import GROUP, of_case


def size_table(points, competitors):
    """Return mean nodes, bytes and test error of every method at each of its sizes.

    Parameters
    ----------
    points : DataFrame
        Operating points, with n_nodes where a method has nodes.
    competitors : sequence of str
        Which methods compete.

    Returns
    -------
    DataFrame
        dataset, costs, method, variant (the settings that a grid fits the method with, "" for a
        method without a grid), setting, n_nodes, n_bytes, error (mean squared error in regression,
        else 1 − score), error_sd, fit_seconds, n_runs; variants in the order of the grid, sorted
        by nodes.
    """
    shown = points[
        (points["status"] == OK) & points["n_nodes"].notna() & points["method"].isin(competitors)
    ]
    errors = shown["test_mse"].where(shown["test_mse"].notna(), 1 - shown["test_score"])
    shown = shown.assign(error=errors, variant=_variants(shown))
    groups = shown.groupby([*GROUP, "fit", "variant", "setting"], dropna=False)
    table = groups.agg(
        n_nodes=("n_nodes", "mean"),
        n_bytes=("n_bytes", "mean"),
        error=("error", "mean"),
        error_sd=("error", "std"),
        fit_seconds=("fit_seconds", "mean"),
        n_runs=("run", "nunique"),
    ).reset_index()
    table = table.sort_values([*GROUP, "fit", "n_nodes"], ignore_index=True)
    return table.drop(columns="fit")


def _variants(points):
    """Return what the grid of each point's method sets: what all points of its fit share."""
    variants = pd.Series("", index=points.index, dtype=object)
    for _, own in points.groupby(GROUP):
        fits = [stages for _, stages in own.groupby("fit")]
        for stages in fits if len(fits) > 1 else ():
            settings = [parse_setting(text).items() for text in stages["setting"].unique()]
            shared = [pair for pair in settings[0] if all(pair in rest for rest in settings)]
            variants[stages.index] = setting_text(dict(shared))
    return variants


def best_in_little(table, cases, size="n_nodes"):
    """Return who has the lowest mean error in little memory, in each case where some compete.

    Little is, in each case, the smallest size in which every method has a model; each is
    represented by its largest model within it. Where one method alone is fitted with a grid, its
    variants compete. A case where a size is not known is left out.

    Parameters
    ----------
    table : DataFrame
        From `size_table`.
    cases : sequence of (str, str)
        The (dataset, costs) pairs.
    size : {"n_nodes", "n_bytes"}, default="n_nodes"
        What memory is counted in.

    Returns
    -------
    list of str
        A method, or a variant of a method that is alone, for each such case.
    """
    frames = [_with_rivals(of_case(table, *case)) for case in cases]
    return [
        _best_of(frame, size)
        for frame in frames
        if len(set(frame["rival"])) > 1 and frame[size].notna().all()
    ]


def _with_rivals(frame):
    """Add who competes in a case: its methods, or the variants of a method that is alone."""
    alone = len(set(frame["method"])) == 1
    return frame.assign(rival=frame["variant"] if alone else frame["method"])


def _best_of(frame, size):
    """Return the rival of lowest error in the smallest memory that every rival fits into."""
    little = frame.groupby("rival")[size].min().max()
    within = frame[frame[size] <= little].sort_values(size, kind="stable")
    largest = within.groupby(["rival", "variant"])["error"].last()
    return largest.idxmin()[0]
