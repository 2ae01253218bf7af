"""The method to use under each budget, mean or hard, chosen on rows that chose nothing else.

A method chooses among its own models on validation data, and whoever tries most has the best
validation score. Test rows chose nothing within a method, so half of them choose between methods
here, and the other half tells what to expect (`budgetbench.study.runs.choosing_rows`).
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..study.records import OK
from .areas import CONSTANT, distinct_budgets, staircase
from .differences import LEVEL, corrected_interval, score_interval
from .schedules import CASE, full_costs, of_case

HARD, MEAN = "hard", "mean"


def budget_kinds(points):
    """Return {method: "hard" if no example ever cost more than its model's mean, or "mean"}."""
    good = points[points["status"] == OK]
    # Costs are sums of floats: equal prices may differ in the last bit.
    equal = np.isclose(good["cost_max"].astype(float), good["cost"].astype(float), rtol=1e-9)
    kept = pd.Series(equal).groupby(good["method"].to_numpy()).all()
    return {name: HARD if same else MEAN for name, same in kept.items()}


def at_most(points):
    """Return the points, each charged what its most expensive example costs.

    Under a hard budget a model may be used only if no example exceeds it.
    """
    # A model that acquires nothing has share 0, also where the full cost is unknown.
    share = (points["cost_max"] / full_costs(points)).mask(points["cost_max"] == 0, 0.0)
    # The columns keep their names, so that schedules and areas need not know.
    columns = {"cost": points["cost_max"], "valid_cost": points["valid_cost_max"]}
    return points.assign(**columns, cost_fraction=share)


MOST_BUDGETS = 200
MOST_RUNNERS_UP = 3
_MEASURED = ["valid_fraction", "cost_fraction", "valid_score", "choice_score", "held_out_score"]
_SCORES = ["valid", "valid_sd", "choice", "test", "test_sd", "low", "high"]
_COLUMNS = ["budget", "method", *_SCORES, "cost", "gain", "gain_low", "gain_high"]
_COLUMNS += ["as_good", "n_runs", "runners_up", "models"]


def recommendations(schedules, methods, dataset, costs, *, ratio, bounded):
    """Return the method to use under each budget in one case.

    In each run a budget buys the most expensive model of a method's schedule that it affords on
    validation data. Of the methods that afford one in every run of the case, controls included,
    those count whose mean choice score exceeds the free constant's by more than chance would give
    the best of so many methods. Of these, and the cheaper recommendation so far, the cheapest is
    taken whose mean is within one standard error of the best.

    `ratio` is test rows by training rows, by which standard errors over runs are corrected;
    `bounded` says whether the score lies in [0, 1] by its nature: then so do its intervals.

    There is one row for each budget from which on something else is recommended; runners_up are
    dicts of method, test, low, high and cost, models are indices in `schedules`, one for each run.
    """
    frame = of_case(schedules, dataset, costs)
    known = np.isfinite(frame[["choice_score", "held_out_score"]].astype(float)).all(axis=1)
    # Of rows of one class some scores do not exist: such a run tells nothing of any method.
    runs = sorted(frame["run"][known].unique())
    frame = frame[frame["run"].isin(runs)]
    points = dict(iter(frame.groupby("method")))
    complete = {
        method: own
        for method in methods
        if len(own := points.get(method, frame[:0])) and known[own.index].all()
        if set(own["run"]) == set(runs)
    }
    if not complete:
        return pd.DataFrame(columns=_COLUMNS)
    fractions = [own["valid_fraction"] for own in complete.values()]
    budgets = distinct_budgets(np.concatenate(fractions), MOST_BUDGETS)
    offers = [_offers(name, own, budgets, runs) for name, own in complete.items()]
    rows = _Chooser(ratio, bounded).rows(budgets, zip(*offers, strict=True))
    return pd.DataFrame(rows, columns=_COLUMNS)


def all_recommendations(schedules, compared):
    """Return the recommendations of all cases as one table, with columns dataset and costs."""
    columns, tables = [*CASE, *_COLUMNS], []
    for dataset, costs in compared.cases(schedules):
        sheet = compared.datasets[dataset]
        known = {"ratio": sheet.test_ratio, "bounded": dataset in compared.bounded}
        table = recommendations(schedules, list(compared.methods), dataset, costs, **known)
        tables.append(table.assign(dataset=dataset, costs=costs))
    # Cases without any recommendation are left out: their empty columns have no types.
    some = [table for table in tables if len(table)]
    return pd.concat(some or [pd.DataFrame(columns=columns)])[columns]


class _Offer(NamedTuple):
    """The offers of a method under a budget: a model in each run, all of them in arrays."""

    method: str
    models: np.ndarray  # their places in the schedules
    paid: np.ndarray  # costs on validation data, as shares
    share: np.ndarray  # and on test data
    valid: np.ndarray  # scores on validation data
    choice: np.ndarray  # on the test rows that choose between methods
    test: np.ndarray  # and on the others


def _offers(method, points, budgets, runs):
    """Return the offer of a method under each budget; None where some run affords no model."""
    places = [np.flatnonzero(points["run"].to_numpy() == run) for run in runs]
    costs = points["valid_fraction"].to_numpy(dtype=float)
    bought = np.array([staircase(costs[own], own, budgets, -1) for own in places]).T
    index, measured = points.index.to_numpy(), points[_MEASURED].to_numpy(dtype=float)
    return [
        _Offer(method, index[rows], *measured[rows].T) if (rows >= 0).all() else None
        for rows in bought
    ]


class _Chooser:
    """Chooses between offers; `ratio` and `bounded` are those of `recommendations`."""

    def __init__(self, ratio, bounded):
        self.ratio, self.bounded = ratio, bounded

    def rows(self, budgets, offers):
        """Yield a row for each budget at which the recommendation changes."""
        current = None
        for budget, offered in zip(budgets, offers, strict=True):
            there = [one for one in offered if one is not None]
            free = next((one for one in there if one.method == CONSTANT), None)
            ranked = self._ranked(there, free)
            chosen = self._chosen(ranked, current)
            alike = current is not None and chosen.method == current.method
            if chosen is not None and not (alike and (chosen.models == current.models).all()):
                yield self._row(budget, chosen, ranked, free)
                current = chosen

    def _ranked(self, offers, free):
        """Return the offers that count, the best mean first, of equals the cheaper.

        With the free constant among the methods, what does not exceed it beyond chance is out.
        """
        if free is not None:
            rivals = [one for one in offers if one is not free]
            gains = [one.choice - free.choice for one in rivals]
            least = self._least_gain(gains)
            ahead = (gain.mean() > least for gain in gains)
            offers = [*itertools.compress(rivals, ahead), free]
        return sorted(offers, key=lambda one: (-one.choice.mean(), one.paid.mean()))

    def _least_gain(self, gains):
        """Return the mean gain that the best of so many useless methods hardly has by chance.

        The spread over runs is that of all methods together: a few runs tell little of one alone.
        """
        from scipy.special import ndtri  # here: planning a report loads no more than it needs

        if not gains or len(gains[0]) < 2:
            return 0.0
        spread = np.median(np.var(gains, axis=1, ddof=1))
        return -ndtri(LEVEL / len(gains)) * self._error(spread, len(gains[0]))

    def _chosen(self, ranked, current):
        """Return the cheapest offer within one standard error of the best."""
        if not ranked:
            return current
        offers = ranked if current is None else [current, *ranked]
        best = max(offers, key=lambda one: round(one.choice.mean(), 12))
        within = [one for one in offers if self._within_one_error(best.choice - one.choice)]
        return min(within, key=lambda one: round(one.paid.mean(), 12))

    def _within_one_error(self, gap):
        error = self._error(np.var(gap, ddof=1), len(gap)) if len(gap) > 1 else 0.0
        return gap.mean() <= error + 1e-12

    def _error(self, spread, n_runs):
        """Return the standard error of a mean over runs that share examples, from the variance."""
        return np.sqrt(spread * (1 / n_runs + self.ratio))

    def _row(self, budget, chosen, ranked, free):
        n_runs = len(chosen.test)
        row = {"budget": budget, "method": chosen.method, "n_runs": n_runs} | self._expected(chosen)
        row |= {"valid": chosen.valid.mean(), "choice": chosen.choice.mean()}
        for score in ("valid", "test"):
            row[f"{score}_sd"] = getattr(chosen, score).std(ddof=1) if n_runs > 1 else np.nan
        gain = (np.nan,) * 3
        if free is not None:
            gaps = chosen.test - free.test
            gain = corrected_interval(gaps, self.ratio, bounded=self.bounded)[:3]
        row |= dict(zip(("gain", "gain_low", "gain_high"), gain, strict=True))
        row["as_good"] = bool(chosen.method != CONSTANT and row["gain_low"] <= 0)
        others = [one for one in ranked if one.method != chosen.method][:MOST_RUNNERS_UP]
        row["runners_up"] = [{"method": one.method, **self._expected(one)} for one in others]
        return row | {"models": chosen.models.tolist()}

    def _expected(self, one):
        """Return the held-out score of an offer with its interval, and what it costs."""
        mean, low, high = score_interval(one.test, self.ratio, self.bounded)
        return {"test": mean, "low": low, "high": high, "cost": float(one.share.mean())}
