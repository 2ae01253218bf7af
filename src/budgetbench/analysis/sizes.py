"""Error against memory, where models of several sizes are compared."""

import numpy as np
import pandas as pd

from ..study.records import OK, parse_setting, setting_text
from .schedules import GROUP, RUN, of_case


def size_table(points, competitors, tuned=()):
    """Return mean nodes, bytes and test error of every method at each of its sizes.

    The sizes of a tuned method are budgets: 1, 2, 5, 10, … nodes, with the model that validation
    data choose in each run among all that fit; a budget that changes no choice is left out. `tuned`
    are the data sets and methods of which validation data choose among several settings.

    The columns are dataset, costs, method, variant (the settings that a grid fits the method with,
    "" for a method without a grid or tuned), setting (or the budget), n_nodes, n_bytes,
    valid_score, error (mean squared error in regression, else 1 − score), error_sd, fit_seconds,
    n_runs; variants in the order of the grid, sorted by nodes.
    """
    shown = points[
        (points["status"] == OK) & points["n_nodes"].notna() & points["method"].isin(competitors)
    ]
    # Papers on memory print errors, of either task.
    errors = shown["test_mse"].where(shown["test_mse"].notna(), 1 - shown["test_score"])
    shown = shown.assign(error=errors)
    is_tuned = pd.MultiIndex.from_frame(shown[["dataset", "method"]]).isin(list(tuned))
    plain, chosen = shown[~is_tuned], _within_budgets(shown[is_tuned])
    shown = pd.concat([plain.assign(variant=_variants(plain)), chosen.assign(variant="")])
    groups = shown.groupby([*GROUP, "fit", "variant", "setting"], dropna=False, sort=False)
    # Means over runs of equal settings: single runs would show their own splits.
    table = groups.agg(
        n_nodes=("n_nodes", "mean"),
        n_bytes=("n_bytes", "mean"),
        valid_score=("valid_score", "mean"),
        error=("error", "mean"),
        error_sd=("error", "std"),
        fit_seconds=("fit_seconds", "mean"),
        n_runs=("run", "nunique"),
    ).reset_index()
    return table.sort_values([*GROUP, "fit", "n_nodes"], ignore_index=True).drop(columns="fit")


def _within_budgets(points):
    """Return, of each run, the point that is best on validation data within each budget of nodes.

    Budgets that some run has no model for are left out.
    """
    frames = [points.iloc[:0]]
    for _, own in points.groupby(GROUP):
        budgets = _round_numbers(own["n_nodes"])
        runs = [_best_within(part, budgets) for _, part in own.groupby(RUN)]
        # A mean over some of the runs would compare other data than its neighbours.
        afforded = np.logical_and.reduce([rows >= 0 for rows, _ in runs])
        rows = np.array([rows[afforded] for rows, _ in runs])
        # Budgets that change no choice would repeat the same point.
        new = np.append(True, (np.diff(rows) != 0).any(axis=0))[: rows.shape[1]]
        names = [f"≤ {budget:,} nodes" for budget in budgets[afforded][new]]
        frames += [
            part.iloc[kept].assign(setting=names, fit=0)
            for kept, (_, part) in zip(rows[:, new], runs, strict=True)
        ]
    return pd.concat(frames)


def _round_numbers(values):
    """Return 1, 2, 5, 10, … from the least to the first that is as large as the largest value."""
    decades = 10 ** np.arange(np.floor(np.log10(values.max())) + 2)
    steps = np.outer(decades.astype(int), [1, 2, 5]).ravel()
    return steps[np.searchsorted(steps, values.min()) : np.searchsorted(steps, values.max()) + 1]


def _best_within(points, budgets):
    """Return the best row on validation data within each budget, −1 for none; and the rows."""
    rows = points.sort_values("n_nodes", kind="stable")
    scores = rows["valid_score"].to_numpy(dtype=float)
    # Of the smallest rows, the first of the best: a place counts once it beats all before it.
    ahead = scores > np.maximum.accumulate(np.append(-np.inf, scores))[:-1]
    leaders = np.maximum.accumulate(np.where(ahead, np.arange(len(rows)), -1))
    # Leaders are cumulative: the last that fits is the best that fits.
    fitting = np.searchsorted(rows["n_nodes"], budgets, side="right")
    return np.append(leaders, -1)[fitting - 1], rows


def _variants(points):
    """Return the settings that all points of a fit share, for each point."""
    variants = pd.Series("", index=points.index, dtype=object)
    for _, own in points.groupby(GROUP):
        fits = [stages for _, stages in own.groupby("fit")]
        for stages in fits if len(fits) > 1 else ():
            settings = [parse_setting(text).items() for text in stages["setting"].unique()]
            # What changes from stage to stage is the stage's, the rest is the grid's.
            shared = [pair for pair in settings[0] if all(pair in rest for rest in settings)]
            variants[stages.index] = setting_text(dict(shared))
    return variants


def best_in_little(table, cases, size="n_nodes"):
    """Return the method of lowest mean error in little memory, for each case with rivals.

    Little is, in each case, the smallest `size` (n_nodes or n_bytes) in which every method has a
    model; each is represented by its largest model within it, of several variants by the one that
    validation data prefer. Where one method alone is fitted with a grid, its variants compete, and
    are returned in place of methods. A case where a size is not known is left out.
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
    # The least memory in which nobody is left out: below it, rivals would win by absence.
    little = frame.groupby("rival")[size].min().max()
    within = frame[frame[size] <= little].sort_values(size, kind="stable")
    largest = within.groupby(["rival", "variant"], sort=False).tail(1)
    preferred = largest.sort_values("valid_score", kind="stable").groupby("rival")["error"].last()
    return preferred.idxmin()
