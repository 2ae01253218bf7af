"""Printed numbers of papers compared with ours: agreement, and explanations of differences.

A printed number is reproduced when ours lies in its prediction interval (Patil, Peng and Leek 2016)
*and* within a margin of a tenth of the printed error. The interval alone would accept any noisy
pair, and the margin alone would accept differences that chance cannot explain. Claims are judged by
paired differences. A reason for a difference is an entry of `resources/published/deviations.yaml`:
see `budgetbench.report.sections.printed.read_reasons`.

A third reading of the area, `aup_paper`, is how Yan et al. (section 5.2) seem to have measured
theirs: each sequence is compressed on validation data, their union is compressed again on test
data, and rectangles have the height of their right end. This reading was chosen among 16 after
seeing the printed numbers.
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
    value: str | None  # expression in columns of the points; None: a reading of a run's area
    best: float = 0.0  # the best possible value; the distance from it is the error
    sign: int = -1  # 1 if higher is better, -1 if lower is better, 0 if neither
    digits: int = 3  # decimals on the page


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
# A method built from sequences → methods that have one of its sequences each, with the same seeds.
MEMBERS = {"msb": ("msb_importance", "msb_cost", "msb_sampling", "msb_l1")}
MARGIN = 0.1  # of the printed error
NORMAL = 1.96  # standard errors of a 95 % interval
MOST = 10.0  # standard errors at which distances are cut
# Verdicts of numbers by two conditions, of numbers without a spread, and of times.
WITHIN, INTERVAL, ONLY_MARGIN = "within", "interval only", "margin only"
OUTSIDE, UNJUDGED, CLOCK = "outside", "single run", "not judged (time)"
CLOCKS = ("seconds", "predict_seconds")  # measured on another machine, so not comparable
# Verdicts of claims.
SUPPORTED, NOT_SUPPORTED, UNTESTABLE = "supported", "not supported", "untestable here"
# With fewer runs a difference within its spread is no verdict. The limit was 2 until the verdicts
# of the first reruns were seen; docs/reproduction.md reports the effect of the change.
FEWEST, FEWEST_AT_FIRST = 5, 2
# The keys that select an entry's numbers; a missing key selects all.
WHERE = ("table", "dataset", "method", "setting", "quantity")
NUMBER = ["source", "dataset", "method", "setting", "quantity"]  # identify a number
# Outcomes, in the order of display.
REPRODUCED, EXPLAINED, UNEXPLAINED = "reproduced", "explained", "unexplained"
NOT_RERUN, IMPOSSIBLE = "not rerun", "impossible"
OUTCOMES = (REPRODUCED, EXPLAINED, UNEXPLAINED, UNJUDGED, CLOCK, NOT_RERUN, IMPOSSIBLE)
_SAME = ["paper", "dataset", "method", "quantity", "value", "value_sd", "budget"]


def published_table(values, printed, stand_ins):
    """Return the printed numbers with the mean over our runs.

    `values` are `OurValues`, and `stand_ins` maps our data sets to those of the paper that they
    replace. The mean is NaN if the study did not rerun the number or no run completed. Of several
    operating points with the number's setting, the best on validation data counts, as in papers.
    """
    cases = values.cases.rename(columns={"dataset": "run_on"})
    cases["dataset"] = cases["run_on"].map(lambda name: stand_ins.get(name, name))
    rows = printed.merge(cases, how="left", on="dataset")
    nothing = pd.Series(dtype=float)
    records = rows.to_dict("records")
    ours = [nothing if pd.isna(row["run_on"]) else values.of(row) for row in records]
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
    """Our values of printed quantities, one for each completed run."""

    def __init__(self, points, areas):
        points = check_points(points)
        self.cases, good = points[CASE].drop_duplicates(), points[points["status"] == OK]
        # The best on validation data comes first and counts among several points of a setting.
        good = good.sort_values("valid_score", ascending=False, kind="stable")
        # A dict by label is a hundred times as fast as a Series.
        self.settings = good["setting"].map(parse_setting).to_dict()
        known = {name: q.value for name, q in QUANTITIES.items() if q.value}
        self.points = good.eval("\n".join(f"{name} = {value}" for name, value in known.items()))
        # A function that returns the table of areas, as few printed tables need it.
        self.areas = cache(areas)
        # Grouped once, as hundreds of numbers belong to few cells.
        columns = dict.fromkeys([*GROUP, "run", "n_features", "valid_cost", *known])
        self._cells = dict(list(self.points[[*columns]].groupby(GROUP)))

    def of(self, row):
        """Return our values of a printed number by run; `row` is its row in the table.

        In a claim `at_most` is a budget, or one for each run, to be kept on validation data.
        """
        where = {"dataset": row["run_on"], "costs": row["costs"], "method": row["method"]}
        if QUANTITIES[row["quantity"]].value is None:
            areas = _rows(self.areas(), where).set_index("run")
            if row["quantity"] == "aup_paper":  # only on request, as it takes time
                areas["aup_paper"] = paper_areas(self.points, **where)
            return areas[row["quantity"]].dropna()
        wanted = parse_setting(row["setting"] or None)
        own = self._cells.get(tuple(where[name] for name in GROUP), self.points.iloc[:0])
        most = row.get("at_most", np.inf)
        most = own["run"].map(most) if isinstance(most, pd.Series) else most
        match = ~(own["valid_cost"] > most * (1 + 1e-9)).to_numpy(dtype=bool)  # up to rounding
        if "n_features" in wanted:  # a separate column, not a setting of the method
            match &= own["n_features"].to_numpy() == float(wanted.pop("n_features"))
        if wanted := wanted.items():
            match &= np.array([wanted <= self.settings[i].items() for i in own.index], dtype=bool)
        found = own.loc[match, ["run", row["quantity"]]].drop_duplicates("run")
        return found.set_index("run")[row["quantity"]]


def _rows(frame, where):
    """Return the rows of `frame` with the values that `where` gives by column."""
    return frame[np.logical_and.reduce([frame[name] == value for name, value in where.items()])]


def paper_areas(points, dataset, costs, method):
    """Return the third reading of a method's area, for each run with results of every member."""
    # They replace msB, whose own points are already compressed as a union on validation data.
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
    """Return the area of rectangles that reach from each point to the next cheaper one."""
    kept = pareto_indices(costs, scores)
    # Below the cheapest and above the most expensive model, that model's own score counts.
    edges = np.concatenate(([0.0], costs[kept]))
    edges[-1] = 1.0
    return float(np.diff(edges) @ scores[kept])


def agreement_table(table):
    """Return `published_table` with verdicts on the rerun numbers and other columns.

    `report/sections/texts.yaml` explains the columns. The standard error combines the spread over
    runs on both sides and the rounding of the printed number, so it is not 0 if runs agree. A side
    without a printed spread, or with a single run, is assumed to spread like the other.
    """
    own, printed = table["sd"].where(table["n_runs"] > 1), table["value_sd"]
    ours = own.fillna(printed) ** 2 / table["n_runs"].clip(lower=1)
    theirs = printed.fillna(own) ** 2 / table["printed_runs"]
    se = np.sqrt(ours + theirs + table["unit"] ** 2 / 12)  # with the variance of a rounding error
    # The error that a printed number states; the margin is a share of it.
    best = np.array([QUANTITIES[name].best for name in table["quantity"]], dtype=float)
    error = np.abs(best - table["value"].to_numpy(dtype=float))
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
    """Judge a claim of `claims.yaml`, whose head describes the format, by paired differences.

    `values_of` turns a side of a comparison into a Series of our values by run; the other side may
    be a number instead. The verdict is "supported" if the 95 % interval of every difference lies on
    the claimed side and "not supported" if one does not. It is "untestable here" if that may be due
    to a lack of runs: with fewer than `fewest` only a difference beyond its spread is a verdict.
    """
    if claim.get("untestable"):
        return {"verdict": UNTESTABLE, "evidence": claim["untestable"]}
    found = [_comparison(one, values_of, fewest) for one in claim["compare"]]
    verdicts = [verdict for verdict, _ in found]
    # The worst verdict counts, as a claim must hold as a whole.
    verdict = next(v for v in (NOT_SUPPORTED, UNTESTABLE, SUPPORTED) if v in verdicts)
    if claim.get("most") and 2 * verdicts.count(SUPPORTED) > len(verdicts):
        verdict = SUPPORTED
    return {"verdict": verdict, "evidence": "; ".join(text for _, text in found)}


def _comparison(one, values_of, fewest):
    from scipy import stats  # here, to keep planning a report fast

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
    # With few runs a difference within its spread decides nothing.
    decided = len(pairs) >= fewest or gap.mean() < -reach
    return (NOT_SUPPORTED if decided else UNTESTABLE), text


def fits(entry, row):
    """Return True if an entry is about a printed number."""
    row = row | {"table": row["source"]}
    return all(row[key] == entry[key] for key in WHERE if key in entry)


def entry_of(row, entries):
    """Return the most specific entry about a printed number, or None."""
    fitting = [entry for entry in entries if fits(entry, row)]
    return max(fitting, key=lambda entry: sum(k in entry for k in WHERE), default=None)


def with_reasons(table, entries):
    """Return `agreement_table` with reason and variant, "" if none is known or needed."""
    found = [
        entry_of(row, entries) if row["verdict"] not in ("", WITHIN, CLOCK, UNJUDGED) else None
        for row in table.to_dict("records")
    ]
    named = {"reason": "why", "variant": "variant"}.items()
    return table.assign(**{name: [e[key] if e else "" for e in found] for name, key in named})


def with_variants(table, entries, variants):
    """Return the table with the column `explained`: whether a variant confirms the reason.

    `variants` maps variant studies to their `agreement_table`. A number is explained if that of the
    variant, which removes the cause, lies within the margin of the printed one. For an entry with
    `one_sample`, one sample must also be able to differ as much.
    """
    explained = [
        row["variant"] in variants and _explains(entry_of(row, entries), row, variants)
        for row in table.to_dict("records")
    ]
    return table.assign(explained=explained)


def _explains(entry, row, variants):
    """Return True if a variant's number confirms the cause that an entry names."""
    # The variant may use another quantity, such as another reading of the area.
    wanted = {key: row[key] for key in NUMBER} | {"quantity": entry.get("reading", row["quantity"])}
    rows = _rows(variants[entry["variant"]].query("n_runs > 0"), wanted)
    if rows.empty:
        return False
    found = rows.iloc[0]
    if not (found["in_margin"] and entry.get("one_sample")):
        return bool(found["in_margin"])
    # The margin alone would not test numbers that lie within it anyway. The printed number is one
    # draw, so its distance from our mean has the variance over samples plus that of our mean. This
    # is generous: it includes all variance over training sets, of which papers average several.
    variance = found["sd"] ** 2 * (1 + 1 / found["n_runs"]) + found["unit"] ** 2 / 12
    return bool(abs(found["difference"]) <= NORMAL * np.sqrt(variance))


def with_outcomes(numbers, impossible):
    """Return numbers with outcome (of `OUTCOMES`), why (if impossible) and stand_in (other rows).

    The entries of `impossible` are like reasons without a variant: why numbers cannot be rerun.
    """
    rows = numbers.to_dict("records")
    # Numbers that were rerun anyway are judged, so that no entry hides a number.
    why = [
        next((entry["why"] for entry in impossible if not row["n_runs"] and fits(entry, row)), "")
        for row in rows
    ]
    outcomes = {
        IMPOSSIBLE: np.array(why, dtype=object) != "",
        NOT_RERUN: numbers["n_runs"] == 0,
        # Before EXPLAINED, as a reproduced number needs no explanation.
        REPRODUCED: numbers["verdict"] == WITHIN,
        CLOCK: numbers["verdict"] == CLOCK,
        UNJUDGED: numbers["verdict"] == UNJUDGED,
        EXPLAINED: numbers["explained"].astype(bool),
    }
    stand_in = (numbers["n_runs"] > 0) & (numbers["run_on"] != numbers["dataset"])
    outcome = np.select(list(outcomes.values()), list(outcomes), UNEXPLAINED)
    return numbers.assign(outcome=outcome, why=why, stand_in=stand_in)


def counted_once(numbers, readings):
    """Return the rows of printed numbers that count, each number once."""
    # Without `readings`, other readings of a number that counts, and repetitions in other tables:
    # the same mean and spread for the same data set, method and node budget.
    own = numbers[~numbers["quantity"].isin(readings)]
    budget = own["setting"].str.extract(r"budget_percent=([\d.]+)", expand=False).fillna("")
    # Without a printed spread equal values may be different numbers.
    return own[~(own.assign(budget=budget).duplicated(_SAME) & own["value_sd"].notna())]


def outcome_counts(numbers):
    """Return {outcome: number of rows} for all outcomes."""
    return numbers["outcome"].value_counts().reindex(OUTCOMES, fill_value=0).to_dict()


def misses_by_chance(numbers):
    """Return the expected number of misses by an exact rerun whose runs spread like ours."""
    from scipy import stats  # here, to keep planning a report fast

    return 2 * stats.norm.sf(np.minimum(NORMAL, numbers["margin"] / numbers["se"])).sum()


def matrix(numbers):
    """Return a row for each paper, table and data set of `with_outcomes`.

    `n` counts the numbers, a column each outcome, and `near` the unexplained numbers that meet one
    of the conditions. `least` and `most` are of our runs, `run_on` and `study` of our first number.
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
