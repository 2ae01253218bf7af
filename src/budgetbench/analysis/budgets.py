"""Scores of methods within a budget of cost or of memory."""

import numpy as np
import pandas as pd

from budgetlearn.costs import affords

from ..study.records import OK, parse_setting, setting_text
from .areas import CONSTANT
from .schedules import CASE_RUN, GROUP, RUN, of_case

TIED = "several with equal errors"


def own_cost_table(points, schedules, methods, compared):
    """Return the scores of methods without a choice of budget, and of others within their cost.

    A run in which a rival affords no model, or failed, counts with the free constant, as in the
    area under the Pareto (Yan et al., section 5.2). The last stage of each of `methods`, the whole
    model, counts. Controls are shown at their own cost. `wins` counts runs in which the rival is
    ahead.
    """
    good = points[points["status"] == OK].sort_values([*RUN, "stage"])
    whole = good.groupby(RUN).tail(1)[[*RUN, "cost", "cost_fraction", "test_score"]]
    own = whole[whole["method"].isin(methods)]
    free = whole.loc[whole["method"] == CONSTANT, [*CASE_RUN, "test_score"]]
    own = own.merge(free.rename(columns={"test_score": "free_score"}), on=CASE_RUN, how="left")
    rivals = [name for name in [*compared.competitors, *compared.controls] if name not in methods]
    # Controls have one model each and are shown at its cost, even beyond the budget.
    fixed = whole[whole["method"].isin(compared.controls) & (whole["cost"] > 0)]
    begun = points.loc[~points["method"].isin(compared.controls), RUN].drop_duplicates()
    # A run without a model has no cost, which no budget affords.
    free_choice = begun.merge(schedules[[*RUN, "cost", "test_score"]], on=RUN, how="left")
    theirs = pd.concat([free_choice, fixed])[["method", *CASE_RUN, "cost", "test_score"]]
    theirs = theirs[theirs["method"].isin(rivals)].rename(columns={"method": "rival"})
    pairs = own.merge(theirs, on=CASE_RUN, suffixes=("", "_rival"))
    within = pairs["rival"].isin(compared.controls) | affords(pairs["cost"], pairs["cost_rival"])
    score = pairs["test_score_rival"].where(within, pairs["free_score"])
    pairs = pairs.assign(within=within, rival_score=score, ahead=score > pairs["test_score"])
    pairs = pairs.dropna(subset="rival_score").sort_values([*RUN, "within"], kind="stable")
    best = pairs.groupby([*RUN, "rival"]).tail(1).groupby(["rival", *GROUP], as_index=False)
    table = best.agg(
        cost_fraction=("cost_fraction", "mean"),
        score=("test_score", "mean"),
        score_sd=("test_score", "std"),
        rival_score=("rival_score", "mean"),
        rival_sd=("rival_score", "std"),
        wins=("ahead", "sum"),
        n_affording=("within", "sum"),
        n_runs=("run", "size"),
    )
    order = table["rival"].map(rivals.index).argsort(kind="stable")
    return table.loc[order, [*GROUP, *table.columns.drop(GROUP)]].reset_index(drop=True)


def size_table(points, competitors, tuned=()):
    """Return mean nodes, bytes and test error of every method at each of its sizes.

    `tuned` lists each (dataset, method) for which validation data choose among several settings.
    Their sizes are budgets of 1, 2, 5, 10, … nodes, with the model that validation data choose in
    each run among all that fit. Budgets that change no choice are omitted. `variant` is the setting
    of the grid ("" without one), and `setting` that of the model, or the budget.
    """
    measured = (points["status"] == OK) & points["n_nodes"].notna()
    shown = points[measured & points["method"].isin(competitors)]
    # Papers on memory report errors for both tasks.
    errors = shown["test_mse"].where(shown["test_mse"].notna(), 1 - shown["test_score"])
    shown = shown.assign(error=errors)
    is_tuned = pd.MultiIndex.from_frame(shown[["dataset", "method"]]).isin(list(tuned))
    plain, chosen = shown[~is_tuned], _within_budgets(shown[is_tuned])
    shown = pd.concat([plain.assign(variant=_variants(plain)), chosen.assign(variant="")])
    groups = shown.groupby([*GROUP, "fit", "variant", "setting"], dropna=False, sort=False)
    # Means over runs with equal settings.
    means = groups[["n_nodes", "n_bytes", "valid_score", "error", "fit_seconds"]].mean()
    means.insert(4, "error_sd", groups["error"].std())
    table = means.assign(n_runs=groups["run"].nunique()).reset_index()
    return table.sort_values([*GROUP, "fit", "n_nodes"], ignore_index=True).drop(columns="fit")


def _within_budgets(points):
    """Return the best point of each run on validation data within budgets that all runs afford."""
    frames = [points.iloc[:0]]
    ranked = points.sort_values(["valid_score", "n_nodes"], ascending=[False, True])
    for _, own in ranked.groupby(GROUP):
        decades = 10 ** np.arange(np.floor(np.log10(max(own["n_nodes"].max(), 1))) + 2)
        steps = np.outer(decades.astype(int), [1, 2, 5]).ravel()
        first, last = np.searchsorted(steps, [own["n_nodes"].min(), own["n_nodes"].max()])
        before = None
        for budget in steps[first : last + 1]:
            best = own[own["n_nodes"] <= budget].drop_duplicates("run").sort_values("run")
            # Means must be over the same runs at every budget, and equal choices would repeat one.
            if len(best) == own["run"].nunique() and not best.index.equals(before):
                frames.append(best.assign(setting=f"≤ {budget:,} nodes", fit=0))
                before = best.index
    return pd.concat(frames)


def _variants(points):
    """Return for each point the settings that all points of its fit share."""
    variants = pd.Series("", index=points.index, dtype=object)
    for _, own in points.groupby(GROUP):
        fits = [stages for _, stages in own.groupby("fit")]
        for stages in fits if len(fits) > 1 else ():
            settings = [parse_setting(text).items() for text in stages["setting"].unique()]
            # Settings that change from stage to stage belong to the stage, the others to the grid.
            shared = [pair for pair in settings[0] if all(pair in rest for rest in settings)]
            variants[stages.index] = setting_text(dict(shared))
    return variants


def best_in_little(table, cases, size="n_nodes"):
    """Return the method of lowest mean error in little memory, for each case with rivals.

    The memory is the smallest `size` (n_nodes or n_bytes) in which every method has a model. Each
    method is represented by its largest model of that size, for the variant that validation data
    prefer. A single method's variants compete. If several have the lowest error, the entry is
    `TIED`. Cases with an unknown size are omitted.
    """
    found = []
    for case in cases:
        frame = of_case(table, *case)
        alone = len(set(frame["method"])) == 1
        frame = frame.assign(rival=frame["variant" if alone else "method"])
        if frame["rival"].nunique() < 2 or frame[size].isna().any():
            continue
        # Below this size some rival has no model.
        little = frame.groupby("rival")[size].min().max()
        within = frame[frame[size] <= little].sort_values(size, kind="stable")
        largest = within.groupby(["rival", "variant"], sort=False).tail(1)
        preferred = largest.sort_values("valid_score", kind="stable").groupby("rival")["error"]
        errors = preferred.last().round(12)
        best = errors.index[errors == errors.min()]
        found.append(best[0] if len(best) == 1 else TIED)
    return found
