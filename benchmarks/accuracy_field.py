"""The cascade and BudgetRF+ compared with their rivals in the results of a study.

    python benchmarks/accuracy_field.py results/field --to areas.csv
    python benchmarks/accuracy_field.py results/seconds --to areas.csv --seconds

LightGBM has coupled or lazy costs; each run takes the kind with the larger area on validation data.
Errors at a share of the full cost are those of the model that validation data choose within it, or
those of the free constant if nothing is affordable. They are averaged over runs, then over data
sets. `--to` writes the area of each method on each data set as shown in docs/results/. `--seconds`
compares the areas of BudgetRF+ and of each kind of LightGBM only, with all settings for which the
study's `seconds_of` leaves time.
"""

import argparse
from pathlib import Path

import pandas as pd

from budgetbench.analysis.areas import HORIZONS, area_table, horizon_areas
from budgetbench.analysis.ranks import horizon_ranks
from budgetbench.analysis.schedules import compressed_points
from budgetbench.study import records

RUN = ["dataset", "costs", "run"]
CONTROLS = ("constant", "all_features")
KINDS = ("lightgbm_coupled", "lightgbm_lazy")
CLEAR = 0.005  # smaller leads do not count


def better_kind(table, lazy_is_better):
    """Return LightGBM's column: lazy if that is better on validation data, otherwise coupled."""
    coupled, lazy = (table[kind] for kind in KINDS)
    return coupled.where(~lazy_is_better, lazy)


def errors_within(points, share):
    """Return the test error of each run (rows) and method within a share of the full cost."""
    chosen = compressed_points(points)
    within = chosen[chosen["cost_fraction"] <= share + 1e-12].sort_values("cost", kind="stable")
    scores = within.pivot_table("test_score", RUN, "method", aggfunc="last")
    free = points[points["method"] == "constant"].groupby(RUN)["test_score"].first()
    scores = scores.reindex(free.index, columns=points["method"].unique())
    return 1 - scores.apply(lambda column: column.fillna(free))


def show_leads(ours, rival, names_of_both):
    """Print on how many data sets, and in which share of the runs, a method is ahead."""
    one, other = names_of_both
    lead = ours - rival
    means = lead.groupby("dataset").mean()
    print(
        f"{one} ahead of {other} by {means.mean():.3f} ± {means.sem():.3f}, on "
        f"{(means > 0).sum()} of {len(means)} data sets ({(means >= CLEAR).sum()} by {CLEAR}; "
        f"behind by as much on {(means <= -CLEAR).sum()}), in {(lead > 0).sum()} of "
        f"{len(lead)} runs; not on {list(means.index[means <= 0])}"
    )


def show_firsts(table, lazy_is_better):
    """Print how often each method is first up to each horizon, with LightGBM's kinds as one."""
    for horizon in HORIZONS:
        areas = table[table["horizon"] == horizon].pivot_table("aup", RUN, "method")
        rivals = areas.drop(columns=list(KINDS)).assign(lightgbm=better_kind(areas, lazy_is_better))
        rivals = rivals[[name for name in rivals if name not in CONTROLS]]
        means = rivals.groupby("dataset").mean()
        first = means.idxmax(axis=1).value_counts().to_dict()
        ranks = means.rank(axis=1, ascending=False).mean().round(2).sort_values().head(4).to_dict()
        print(f"up to {horizon}: first on {first} of {len(means)} data sets; mean ranks {ranks}")


def write_areas(test, path):
    """Write the mean area of each method on each data set, with LightGBM's kinds as one."""
    table = test.drop(columns=list(KINDS)).groupby("dataset").mean()
    table = table[table.mean().sort_values(ascending=False).index]
    table.loc["mean"] = table.mean()
    shown = table.map(lambda area: "" if pd.isna(area) else f"{area:.3f}".removeprefix("0"))
    shown.to_csv(path)


def show_equal_seconds(folder, path):
    """Print the leads of BudgetRF+ with the settings of equal seconds; write the areas."""
    points = records.read([folder / "points.parquet"])
    areas = area_table(points, compressed_points(points))
    test, valid = (areas.pivot_table(f"aup_{part}", RUN, "method") for part in ("test", "valid"))
    both = better_kind(test, valid[KINDS[1]] > valid[KINDS[0]])
    for name, rival in [
        *test[list(KINDS)].items(),
        ("the better of both, in twice the time", both),
    ]:
        show_leads(test["budgetrf_plus"], rival, ("budgetrf_plus", name))
    print(
        points.drop_duplicates([*RUN, "method", "fit"]).groupby("method")["processor_seconds"].sum()
    )
    if path:
        shown = test.drop(columns=list(CONTROLS)).groupby("dataset").mean()
        shown.loc["mean"] = shown.mean()
        shown.map(lambda area: f"{area:.3f}".removeprefix("0")).to_csv(path)


def main():
    """Print mean ranks, leads and errors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--seconds", action="store_true")
    options = parser.parse_args()
    folder = options.results
    if options.seconds:
        show_equal_seconds(folder, options.to)
        return
    # The report's files leave out models that methods fitted in the seconds left after their tries.
    points = pd.read_csv(folder / "tables" / "points.csv.gz", low_memory=False)
    areas = pd.read_csv(folder / "tables" / "areas.csv")
    table = pd.read_csv(folder / "tables" / "horizons.csv").query("budget == 'mean'")
    test, valid = (areas.pivot_table(f"aup_{part}", RUN, "method")
                   for part in ("test", "valid"))  # fmt: skip
    lazy_is_better = valid[KINDS[1]] > valid[KINDS[0]]

    methods = [name for name in test if name not in CONTROLS]
    print(horizon_ranks(table, methods)[list(HORIZONS)].head(6).round(2).to_string())

    lightgbm = better_kind(test, lazy_is_better)
    show_firsts(horizon_areas(points, compressed_points(points)), lazy_is_better)
    test["lightgbm"] = lightgbm
    pairs = [("cascade", "lightgbm"), ("cascade", "budgetrf_plus"), ("cascade", "msb")]
    rivals = ("lightgbm", *KINDS)
    for one, other in [*pairs, *(("budgetrf_plus", rival) for rival in rivals)]:
        if {one, other} <= {*test}:
            show_leads(test[one], test[other], (one, other))
    if options.to:
        write_areas(test, options.to)
    print(f"areas: {test.mean().round(3).to_dict()}")

    ours = "cascade" if "cascade" in test else "budgetrf_plus"
    for share in (0.05, 0.1, 0.2, 1.0):
        errors = errors_within(points, share)
        errors["lightgbm"] = better_kind(errors, lazy_is_better)
        each = errors.groupby("dataset").mean()
        means, gap = each.mean(), (each["lightgbm"] - each[ours]).round(9)
        lower = 1 - means[ours] / means["lightgbm"]
        shown = means.drop("constant").round(3).to_dict()
        print(
            f"error of {ours} at {share:.0%}: {lower:.1%} lower than LightGBM's, lower on "
            f"{(gap > 0).sum()}, equal on {(gap == 0).sum()} of {len(gap)} data sets; {shown}"
        )


if __name__ == "__main__":
    main()
