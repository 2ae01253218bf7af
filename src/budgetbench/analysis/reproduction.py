"""Numbers that papers print: ours beside each, whether they agree, and if not, what explains it.

A printed number is reproduced when ours lies in its prediction interval (Patil, Peng and Leek 2016)
*and* within a margin of a tenth of the printed error. The interval alone would pass any noisy
pair, the margin alone would pass a difference that no chance explains. Claims are judged by paired
differences. A reason for a difference is an entry of `resources/published/deviations.yaml`: see
`budgetbench.report.sections.printed.read_reasons`.

A third reading of the area, `aup_paper`, is how Yan et al. seem to have measured theirs: section
5.2 selects within each sequence on validation data and gives "the predictive accuracy by the final
model schedule" on test data. So each sequence is compressed on validation data, and their union is
measured, and compressed again, on test data. The rectangles of the area have the height of their
right end; that was chosen after seeing the printed numbers, as one of 16 readings.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from budgetlearn.curves import pareto_indices

from ..study.records import OK, parse_setting
from .schedules import CASE, GROUP, check_points, of_case


class Quantity(NamedTuple):
    """A quantity that papers print."""

    name: str  # on the page
    value: str | None  # of columns of the points; None: a reading of the area of a whole run
    best: float = 0.0  # the value that it cannot pass; what a number lacks of it is its error
    sign: int = -1  # 1 where higher is better, -1 where lower is, 0 where neither is
    digits: int = 3  # that the page shows


QUANTITIES = {
    "cost": Quantity("mean cost", "cost", digits=1),
    "cost_percent": Quantity("% of the full cost", "100 * cost_fraction", digits=1),
    "entropy_percent": Quantity(
        "entropy of nodes over trees, %", "100 * node_entropy", best=100.0, sign=0, digits=2
    ),
    "error_percent": Quantity("test error, %", "100 * (1 - test_score)", digits=2),
    "estimated_score": Quantity("estimated test score", "estimated_score", best=1.0, sign=1),
    "mse": Quantity("mean squared error", "test_mse", digits=4),
    "n_features": Quantity("features", "n_features", digits=1),
    "n_nodes": Quantity("nodes", "n_nodes", digits=0),
    "predict_seconds": Quantity("seconds to predict", "predict_seconds"),
    "seconds": Quantity("seconds to fit", "fit_seconds", digits=2),
    "test_error": Quantity("test error", "1 - test_score"),
    "test_score": Quantity("test score", "test_score", best=1.0, sign=1),
    "valid_score": Quantity("validation score", "valid_score", best=1.0, sign=1),
    "aup_test": Quantity("AUP (test)", None, best=1.0, sign=1),
    "aup_valid": Quantity("AUP (validation)", None, best=1.0, sign=1),
    "aup_paper": Quantity("AUP (third reading)", None, best=1.0, sign=1),
}
# A method built from sequences → the methods of one sequence each, by the same seeds.
MEMBERS = {"msb": ("msb_importance", "msb_cost", "msb_sampling", "msb_l1")}


def published_table(values, printed, stand_ins):
    """Put the mean over our runs beside each printed number.

    `values` are `OurValues`, `stand_ins` says for which data set of the paper one of ours stands
    in. A number that the study did not rerun, or for which no run completed, has NaN. Where several
    operating points of a run have the setting that a number belongs to, the one with the best
    validation score counts: that is how the papers choose.
    """
    cases = values.cases.rename(columns={"dataset": "run_on"})
    cases["dataset"] = cases["run_on"].map(lambda name: stand_ins.get(name, name))
    rows = printed.merge(cases, how="left", on="dataset")
    nothing = pd.Series(dtype=float)
    ours = [
        nothing if pd.isna(row["run_on"]) else values.of(row) for row in rows.to_dict("records")
    ]
    rows["ours"] = [own.mean() for own in ours]
    rows["sd"] = [own.std() for own in ours]
    rows["n_runs"] = [own.size for own in ours]
    rows["difference"] = rows["ours"] - rows["value"]
    rows["note"] = "ours on " + rows["run_on"]
    rows.loc[rows["run_on"] == rows["dataset"], "note"] = ""
    rows.loc[rows["n_runs"] == 0, "note"] = "no run of ours has it"
    rows.loc[rows["run_on"].isna(), "note"] = "not rerun in this study"
    return rows


class OurValues:
    """Our values of printed quantities, one for each completed run.

    `areas` is a function that returns the table of areas: few tables print any.
    """

    def __init__(self, points, areas):
        points = check_points(points)
        self.cases, good = points[CASE].drop_duplicates(), points[points["status"] == OK]
        # The best on validation data first: of several points of a setting that one counts.
        good = good.sort_values("valid_score", ascending=False, kind="stable")
        # By label, as a dict: a Series takes a hundred times as long for each of them.
        self.settings = good["setting"].map(parse_setting).to_dict()
        known = {name: q.value for name, q in QUANTITIES.items() if q.value}
        self.points = good.eval("\n".join(f"{name} = {value}" for name, value in known.items()))
        self.areas = cache(areas)
        # Hundreds of numbers are of a few cells.
        columns = dict.fromkeys([*GROUP, "run", "n_features", "valid_cost", *known])
        self._cells = dict(list(self.points[[*columns]].groupby(GROUP)))

    def of(self, row):
        """Return the values that belong to a printed number by run; `row` is one of its table.

        In a claim `at_most` is a budget, or one for each run: only points that keep it on
        validation data count.
        """
        where = {"dataset": row["run_on"], "costs": row["costs"], "method": row["method"]}
        if QUANTITIES[row["quantity"]].value is None:
            areas = _rows(self.areas(), where).set_index("run")
            if row["quantity"] == "aup_paper":  # only when it is asked for: it takes time
                areas["aup_paper"] = paper_areas(self.points, **where)
            return areas[row["quantity"]].dropna()
        wanted = parse_setting(row["setting"] or None)
        own = self._cells.get(tuple(where[name] for name in GROUP), self.points.iloc[:0])
        most = row.get("at_most", np.inf)
        most = own["run"].map(most) if isinstance(most, pd.Series) else most
        match = ~(own["valid_cost"] > most * (1 + 1e-9)).to_numpy(dtype=bool)  # but for rounding
        if "n_features" in wanted:  # a column of its own, not a setting of the method
            match &= own["n_features"].to_numpy() == float(wanted.pop("n_features"))
        if wanted := wanted.items():
            match &= np.array([wanted <= self.settings[i].items() for i in own.index], dtype=bool)
        found = own.loc[match, ["run", row["quantity"]]].drop_duplicates("run")
        return found.set_index("run")[row["quantity"]]


def _rows(frame, where):
    """Return the rows of `frame` that have the values of `where`, by column."""
    return frame[np.logical_and.reduce([frame[name] == value for name, value in where.items()])]


def paper_areas(points, dataset, costs, method):
    """Return the third reading of a method's area in each run of which every member is there.

    msB's own points are compressed as a union on validation data already.
    """
    members = MEMBERS.get(method, (method,))
    case = of_case(points, dataset, costs)
    runs = case[case["method"].isin(members)].groupby("run")
    areas = {
        run: right_end_area(*part[["cost_fraction", "test_score"]].to_numpy(dtype=float).T)
        for run, part in runs
        if part["method"].nunique() == len(members)
    }
    return pd.Series(areas, dtype=float)


def right_end_area(costs, scores):
    """Return the area of rectangles that reach from a point to the next cheaper one.

    Below the cheapest model its own score counts, above the most expensive one too.
    """
    kept = pareto_indices(costs, scores)
    edges = np.concatenate(([0.0], costs[kept]))
    edges[-1] = 1.0
    return float(np.diff(edges) @ scores[kept])


MARGIN = 0.1  # of the printed error
NORMAL = 1.96  # standard errors of a 95 % interval
MOST = 10.0  # standard errors beyond which a distance says no more
# Verdicts: of numbers that two conditions judge, of those that a single one can, of clocks.
WITHIN, INTERVAL, ONLY_MARGIN = "within", "interval only", "margin only"
OUTSIDE, UNJUDGED, CLOCK = "outside", "single run", "clock"
CLOCKS = ("seconds", "predict_seconds")  # of another machine: nothing to agree with
# Of claims.
SUPPORTED, NOT_SUPPORTED, UNTESTABLE = "supported", "not supported", "untestable here"
# Runs below which a difference within its spread says nothing. It was 2 until the verdicts of the
# first reruns were seen: what that changed is said on docs/reproduction.md.
FEWEST, FEWEST_AT_FIRST = 5, 2


def printed_error(quantity, value):
    """Return the error that a printed number states, of which the margin is a share."""
    return abs(QUANTITIES[quantity].best - value)


def agreement_table(table):
    """Judge each printed number of `published_table` that was rerun: return it with more columns.

    Their meanings are in `report/sections/texts.yaml`. The standard error is from the spread over
    runs on both sides and the rounding of the printed number, so that runs that agree do not make
    it 0; a side that prints no spread, or has a single run, is taken to spread as the other does.
    """
    own, printed = table["sd"].where(table["n_runs"] > 1), table["value_sd"]
    ours = own.fillna(printed) ** 2 / table["n_runs"].clip(lower=1)
    theirs = printed.fillna(own) ** 2 / table["printed_runs"]
    se = np.sqrt(ours + theirs + table["unit"] ** 2 / 12)  # variance of what rounding takes away
    error = np.array([*map(printed_error, table["quantity"], table["value"])], dtype=float)
    difference = table["difference"].to_numpy(dtype=float)
    share = difference / np.where(error == 0, np.nan, error)
    slack = 1e-9 * np.abs(table["value"].to_numpy(dtype=float))  # 0.3 - 0.2 is not 0.1
    in_interval = np.abs(difference) <= NORMAL * se + slack
    in_margin = np.abs(difference) <= MARGIN * error + slack
    signs = np.array([QUANTITIES[name].sign for name in table["quantity"]], dtype=float)
    better = (signs * table["difference"] > 0).astype(object)
    verdicts = {
        "": table["n_runs"] == 0,
        CLOCK: table["quantity"].isin(CLOCKS),
        UNJUDGED: se.isna(),
        WITHIN: in_interval & in_margin,
        INTERVAL: in_interval,
        ONLY_MARGIN: in_margin,
    }
    return table.assign(
        se=se,
        printed_se=printed / np.sqrt(table["printed_runs"]),
        own_se=own / np.sqrt(table["n_runs"]),
        better=better.where((signs != 0) & table["difference"].notna(), None),
        in_se=(difference / se).clip(-MOST, MOST),
        margin=MARGIN * error,
        share=share,
        in_interval=in_interval,
        in_margin=in_margin,
        verdict=np.select(list(verdicts.values()), list(verdicts), OUTSIDE),
    )


def check_claim(claim, values_of, fewest=FEWEST):
    """Judge a claim, as the head of `claims.yaml` has it, by paired differences over runs.

    `values_of` turns a side of a comparison, to which a number may be an alternative, into a Series
    of our values by run. The verdict is "supported" when the 95 % interval of every difference lies
    on the claimed side, "not supported" when one does not, and "untestable here" when that may be
    for want of runs: with fewer than `fewest` only a difference beyond its spread is a verdict.
    """
    if claim.get("untestable"):
        return {"verdict": UNTESTABLE, "evidence": claim["untestable"]}
    found = [_comparison(one, values_of, fewest) for one in claim["compare"]]
    verdicts = [verdict for verdict, _ in found]
    # The worst first: a claim holds as a whole or not at all.
    verdict = next(v for v in (NOT_SUPPORTED, UNTESTABLE, SUPPORTED) if v in verdicts)
    if claim.get("most") and 2 * verdicts.count(SUPPORTED) > len(verdicts):
        verdict = SUPPORTED
    return {"verdict": verdict, "evidence": "; ".join(text for _, text in found)}


def _comparison(one, values_of, fewest):
    from scipy import stats  # here: planning a report loads no more than it needs

    less, factor = values_of(one["less"]), one.get("factor", 1.0)
    if isinstance(one["than"], dict):
        other = {**one["less"], **one["than"]}
        if other.get("at_most") == "own":
            other["at_most"] = values_of({**one["less"], "quantity": "cost"})
        than = values_of(other)
    else:
        than = pd.Series(float(one["than"]), index=less.index)
    pairs = pd.concat([less.rename("less"), than.rename("than")], axis=1).dropna()
    if len(pairs) < 2:  # no spread
        return UNTESTABLE, f"{one['less']['dataset']}: {len(pairs)} runs kept"
    gap = factor * pairs["than"] - pairs["less"]
    reach = stats.t.ppf(0.975, len(gap) - 1) * gap.std() / np.sqrt(len(gap))
    times = "" if factor == 1 else f"{factor:g} × "
    text = (
        f"{one['less']['dataset']}: {pairs['less'].mean():.4g} against {times}"
        f"{pairs['than'].mean():.4g} ({len(pairs)} runs)"
    )
    if gap.mean() > reach:
        return SUPPORTED, text
    # With few runs "not supported" would only say that they were few.
    decided = len(pairs) >= fewest or gap.mean() < -reach
    return (NOT_SUPPORTED if decided else UNTESTABLE), text


# What an entry is about: it may leave out what it is meant for all of.
WHERE = ("table", "dataset", "method", "setting", "quantity")
NUMBER = ["source", "dataset", "method", "setting", "quantity"]  # tells one number from all others
# Outcomes, in the order of display.
REPRODUCED, EXPLAINED, UNEXPLAINED = "reproduced", "explained", "unexplained"
NOT_RERUN, IMPOSSIBLE = "not rerun", "impossible"
OUTCOMES = (REPRODUCED, EXPLAINED, UNEXPLAINED, UNJUDGED, CLOCK, NOT_RERUN, IMPOSSIBLE)
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
    """Return `agreement_table` with reason and variant, "" where none is known or asked for."""
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

    `variants` maps variant studies to their `agreement_table`. The new column explained says
    whether the variant's number lies within the margin of the printed one, and of an entry with
    `one_sample` also whether one sample may differ as much.
    """
    explained = [
        row["variant"] in variants and _explains(entry_of(row, entries), row, variants)
        for row in table.to_dict("records")
    ]
    return table.assign(explained=explained)


def _explains(entry, row, variants):
    """Return True if a variant's number confirms the cause that an entry names."""
    # The variant may answer by another quantity, such as another reading of the area.
    wanted = {key: row[key] for key in NUMBER} | {"quantity": entry.get("reading", row["quantity"])}
    rows = _rows(variants[entry["variant"]].query("n_runs > 0"), wanted)
    if rows.empty:
        return False
    found = rows.iloc[0]
    if not (found["in_margin"] and entry.get("one_sample")):
        return bool(found["in_margin"])
    # The margin alone would be no test of numbers that lie within it anyway. What is printed is one
    # draw: its distance from our mean has the spread over samples, and that of our mean. That over
    # training sets is in it in full, though what is printed averages several: a generous interval.
    variance = found["sd"] ** 2 * (1 + 1 / found["n_runs"]) + found["unit"] ** 2 / 12
    return bool(abs(found["difference"]) <= NORMAL * np.sqrt(variance))


def with_outcomes(numbers, impossible):
    """Return numbers with outcome (of `OUTCOMES`), why (if impossible) and stand_in (other rows).

    `impossible` are entries as reasons are, without a variant: why numbers cannot be rerun here.
    """
    rows = numbers.to_dict("records")
    # What was rerun all the same is judged: an entry never hides a number.
    why = [
        next((entry["why"] for entry in impossible if not row["n_runs"] and fits(entry, row)), "")
        for row in rows
    ]
    outcomes = {
        IMPOSSIBLE: np.array(why, dtype=object) != "",
        NOT_RERUN: numbers["n_runs"] == 0,
        # Before the explained: an explanation never makes another outcome of a reproduced number.
        REPRODUCED: numbers["verdict"] == WITHIN,
        CLOCK: numbers["verdict"] == CLOCK,
        UNJUDGED: numbers["verdict"] == UNJUDGED,
        EXPLAINED: numbers["explained"].astype(bool),
    }
    stand_in = (numbers["n_runs"] > 0) & (numbers["run_on"] != numbers["dataset"])
    outcome = np.select(list(outcomes.values()), list(outcomes), UNEXPLAINED)
    return numbers.assign(outcome=outcome, why=why, stand_in=stand_in)


def counted_once(numbers, readings):
    """Return the rows of printed numbers that count: each number once.

    Left out are `readings`, quantities that are other readings of a number that counts already, and
    what a paper prints again in another of its tables: the same mean with the same spread, of the
    same data set, method and node budget.
    """
    own = numbers[~numbers["quantity"].isin(readings)]
    budget = own["setting"].str.extract(r"budget_percent=([\d.]+)", expand=False).fillna("")
    # Without a printed spread equal values may be different numbers.
    return own[~(own.assign(budget=budget).duplicated(_SAME) & own["value_sd"].notna())]


def outcome_counts(numbers):
    """Return {outcome: number of rows} with every outcome in it."""
    counts = numbers["outcome"].value_counts()
    return {outcome: int(counts.get(outcome, 0)) for outcome in OUTCOMES}


def misses_by_chance(numbers):
    """Count the judged numbers that an exact rerun would miss, its runs spread as these."""
    from scipy import stats  # here: planning a report loads no more than it needs

    return 2 * stats.norm.sf(np.minimum(NORMAL, numbers["margin"] / numbers["se"])).sum()


def matrix(numbers):
    """Return a row for each paper, table and data set of `with_outcomes`.

    n counts its numbers, a column each outcome; near, of the unexplained, those that meet one of
    both conditions; least and most are our runs, run_on and study those of the first number of
    ours.
    """
    rows = []
    for (source, dataset), part in numbers.groupby(["source", "dataset"], sort=False):
        rerun = part[part["n_runs"] > 0]
        near = part["verdict"].isin((INTERVAL, ONLY_MARGIN)) & (part["outcome"] == UNEXPLAINED)
        ours = {"run_on": "", "study": ""} if rerun.empty else rerun.iloc[0]
        runs = [0] if rerun.empty else rerun["n_runs"]
        rows.append(
            {"paper": part["paper"].iloc[0], "table": part["table"].iloc[0], "source": source}
            | {"dataset": dataset, "run_on": ours["run_on"]}
            | {"n": len(part), **outcome_counts(part), "near": int(near.sum())}
            | {"least": int(min(runs)), "most": int(max(runs)), "study": ours["study"]}
        )
    return pd.DataFrame(rows)
