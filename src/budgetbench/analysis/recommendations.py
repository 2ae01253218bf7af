"""The method to use under each budget, mean or hard, chosen on rows that chose nothing else.

A method chooses among its own models on validation data, and whoever tries most has the best
validation score. Test rows chose nothing within a method, so half of them choose between methods
here, and the other half tells what to expect (`budgetbench.study.runs.choosing_rows`).
"""

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
    """Return the points that have cost_max, charged what their most expensive example costs.

    Under a hard budget a model may be used only if no example exceeds it.
    """
    # A model that acquires nothing has share 0, also where the full cost is unknown.
    share = (points["cost_max"] / full_costs(points)).mask(points["cost_max"] == 0, 0.0)
    valid = points["valid_cost_max"].fillna(points["cost_max"])
    # The columns keep their names, so that schedules and areas need not know.
    hard = points.assign(cost=points["cost_max"], cost_fraction=share, valid_cost=valid)
    return hard[(hard["status"] != OK) | hard["cost_fraction"].notna()]


MOST_BUDGETS = 200
MOST_RUNNERS_UP = 3
_MEASURED = ["valid_fraction", "cost_fraction", "valid_score", "choice_score", "held_out_score"]
_NAMES = ["paid", "share", "valid", "choice", "test"]
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

    There is one row for each budget (a share of the full cost) from which on something else is
    recommended: choice is the mean score on the rows that chose; test, held out, has an interval
    low to high; cost is the mean share on test data; gain is the held-out score above the free
    constant's, as_good says whether its interval includes 0; runners_up are dicts of method, test,
    low, high and cost; models are indices in `schedules`, one for each run.
    """
    frame = of_case(schedules, dataset, costs)
    runs = sorted(frame["run"].unique())
    complete = {
        method: own
        for method in methods
        if set((own := frame[frame["method"] == method])["run"]) == set(runs)
        and len(own)
        and np.isfinite(own[["choice_score", "held_out_score"]].to_numpy(dtype=float)).all()
    }
    if not complete:
        return pd.DataFrame(columns=_COLUMNS)
    fractions = [own["valid_fraction"] for own in complete.values()]
    budgets = distinct_budgets(np.concatenate(fractions), MOST_BUDGETS)
    offers = {name: _Offers(own, budgets, runs) for name, own in complete.items()}
    return _Chooser(offers, ratio, bounded).table(budgets)


def all_recommendations(schedules, compared):
    """Return the recommendations of all cases as one table, with columns dataset and costs."""
    columns, tables = [*CASE, *_COLUMNS], []
    for dataset, costs in compared.cases(schedules):
        sheet = compared.datasets[dataset]
        known = {"ratio": sheet.test_ratio, "bounded": sheet.bounded}
        table = recommendations(schedules, list(compared.methods), dataset, costs, **known)
        tables.append(table.assign(dataset=dataset, costs=costs))
    # Cases without any recommendation are left out: their empty columns have no types.
    some = [table for table in tables if len(table)]
    return pd.concat(some or [pd.DataFrame(columns=columns)])[columns]


class _Offers(dict):
    """The models of a method under each budget, run by run: arrays (n_budgets, n_runs) by name.

    `affords` tells for which budgets every run has a model, `index` which rows the models are.
    """

    def __init__(self, points, budgets, runs):
        places = [np.flatnonzero(points["run"] == run) for run in runs]
        costs = points["valid_fraction"].to_numpy(dtype=float)
        bought = np.array([staircase(costs[own], own, budgets, -1) for own in places]).T
        measured = points[_MEASURED].to_numpy(dtype=float)[bought]
        super().__init__(zip(_NAMES, np.moveaxis(measured, 2, 0), strict=True))
        self.affords = (bought >= 0).all(axis=1)
        self.index = points.index.to_numpy()[bought]


class _Chooser:
    """Chooses between the offers of methods; an offer is a pair (method, place of its budget)."""

    def __init__(self, offers, ratio, bounded):
        self.offers, self.ratio, self.bounded = offers, ratio, bounded
        self.n_runs = next(iter(offers.values()))["choice"].shape[1]

    def table(self, budgets):
        """Return one row for each budget at which the recommendation changes."""
        rows, current = [], None
        for place, budget in enumerate(budgets):
            ranked = self._ranked(place)
            chosen = self._chosen(ranked, current)
            if chosen is not None and (current is None or not self._same(chosen, current)):
                rows.append(self._row(budget, chosen, ranked))
                current = chosen
        return pd.DataFrame(rows, columns=_COLUMNS)

    def _ranked(self, place):
        """Return the offers that count under a budget, the best mean first, of equals the cheaper.

        With the free constant among the methods, what does not exceed it beyond chance is out.
        """
        names = [name for name, offer in self.offers.items() if offer.affords[place]]
        free = self.offers.get(CONSTANT)
        if free is not None and free.affords[place]:
            rivals = [name for name in names if name != CONSTANT]
            gains = [self.offers[n]["choice"][place] - free["choice"][place] for n in rivals]
            least = self._least_gain(gains)
            names = [n for n, g in zip(rivals, gains, strict=True) if g.mean() > least]
            names.append(CONSTANT)
        pairs = [(name, place) for name in names]
        return sorted(pairs, key=lambda one: (-self._mean(one, "choice"), self._mean(one, "paid")))

    def _least_gain(self, gains):
        """Return the mean gain that the best of so many methods without any hardly has by chance.

        The spread over runs is that of all methods together: a few runs tell little of one alone.
        """
        from scipy.special import ndtri  # here: planning a report loads no more than it needs

        if not gains or self.n_runs < 2:
            return 0.0
        spread = np.median(np.var(gains, axis=1, ddof=1))
        return -ndtri(LEVEL / len(gains)) * np.sqrt(self._variance(spread))

    def _chosen(self, ranked, current):
        """Return the cheapest offer within one standard error of the best."""
        if not ranked:
            return current
        pairs = ranked if current is None else [current, *ranked]
        best = max(pairs, key=lambda one: round(self._mean(one, "choice"), 12))
        within = [one for one in pairs if self._within_one_error(one, best)]
        return min(within, key=lambda one: round(self._mean(one, "paid"), 12))

    def _within_one_error(self, one, best):
        gap = self._values(best, "choice") - self._values(one, "choice")
        error = np.sqrt(self._variance(np.var(gap, ddof=1))) if self.n_runs > 1 else 0.0
        return bool(gap.mean() <= error + 1e-12)

    def _variance(self, spread):
        """Return the variance of a mean over runs that share examples, from that over runs."""
        return spread * (1 / self.n_runs + self.ratio)

    def _values(self, one, name):
        return self.offers[one[0]][name][one[1]]

    def _mean(self, one, name):
        return float(self._values(one, name).mean())

    def _same(self, one, other):
        models = [self.offers[name].index[place] for name, place in (one, other)]
        return one[0] == other[0] and bool((models[0] == models[1]).all())

    def _row(self, budget, chosen, ranked):
        """Return the row of a recommendation."""
        name, place = chosen
        row = {"budget": budget, "method": name, "n_runs": self.n_runs, **self._held_out(chosen)}
        row |= {score: self._mean(chosen, score) for score in ("valid", "choice")}
        for score in ("valid", "test"):
            values = self._values(chosen, score)
            row[f"{score}_sd"] = values.std(ddof=1) if self.n_runs > 1 else np.nan
        row |= self._gain(chosen)
        row["as_good"] = bool(name != CONSTANT and row["gain_low"] <= 0)
        others = [one for one in ranked if one[0] != name][:MOST_RUNNERS_UP]
        row["runners_up"] = [{"method": one[0], **self._held_out(one)} for one in others]
        return row | {"models": self.offers[name].index[place].tolist()}

    def _held_out(self, one):
        """Return the held-out score of an offer with its interval, and what it costs."""
        mean, low, high = score_interval(self._values(one, "test"), self.ratio, self.bounded)
        return {"test": mean, "low": low, "high": high, "cost": self._mean(one, "share")}

    def _gain(self, chosen):
        """Return the held-out score above the free constant with its interval; NaN without one."""
        found = (np.nan,) * 3
        if CONSTANT in self.offers:
            gaps = self._values(chosen, "test") - self._values((CONSTANT, chosen[1]), "test")
            found = corrected_interval(gaps, self.ratio, bounded=self.bounded)[:3]
        return dict(zip(("gain", "gain_low", "gain_high"), found, strict=True))
