"""The recommended method under each budget, mean or hard.

Each method chooses among its own models on validation data, so its validation score grows with the
number of tries. Half of the test rows, which chose nothing within a method, choose between methods
here. The other half estimates the score to expect (`budgetbench.study.runs.choosing_rows`).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..study.records import OK
from .areas import CONSTANT, distinct_budgets, staircase
from .differences import LEVEL, corrected_interval, score_interval
from .schedules import CASE, full_costs, of_case

HARD, MEAN = "hard", "mean"
MOST_BUDGETS = 200
MOST_RUNNERS_UP = 3
_MEASURED = ["valid_fraction", "cost_fraction", "valid_score", "choice_score", "held_out_score"]
_SCORES = ["valid", "valid_sd", "choice", "test", "test_sd", "low", "high"]
_COLUMNS = ["budget", "method", *_SCORES, "cost", "gain", "gain_low", "gain_high"]
_COLUMNS += ["as_good", "n_runs", "runners_up", "models"]


def budget_kinds(points):
    """Return {method: "hard" if no example cost more than its model's mean, otherwise "mean"}."""
    good = points[points["status"] == OK]
    # Costs are sums of floats, so equal costs may differ in the last bit.
    equal = np.isclose(good["cost_max"].astype(float), good["cost"].astype(float), rtol=1e-9)
    kept = pd.Series(equal).groupby(good["method"].to_numpy()).all()
    return {name: HARD if same else MEAN for name, same in kept.items()}


def at_most(points):
    """Return the points with the cost of their most expensive example."""
    # Under a hard budget a model may be used only if no example exceeds the budget.
    # A model that acquires nothing has share 0, even if the full cost is unknown.
    share = (points["cost_max"] / full_costs(points)).mask(points["cost_max"] == 0, 0.0)
    # The columns keep their names, so that schedules and areas work unchanged.
    columns = {"cost": points["cost_max"], "valid_cost": points["valid_cost_max"]}
    return points.assign(**columns, cost_fraction=share)


def recommendations(schedules, methods, dataset, costs, *, ratio, span):
    """Return the method to use under each budget in one case.

    In each run a budget selects the most expensive model of a method's schedule that it affords on
    validation data. Methods, including controls, must afford a model in every run of the case.
    Their mean choice score must exceed that of the free constant by more than the best of equally
    many useless methods would by chance. Among these methods and the cheaper recommendation so far,
    the cheapest one within one standard error of the best is recommended.

    `ratio` is the number of test rows divided by that of training rows, which corrects standard
    errors over runs. `span` are the lowest possible score and that of perfect predictions.

    There is one row for each budget at which the recommendation changes. `runners_up` are dicts of
    method, test, low, high and cost, and `models` are indices in `schedules`, one for each run.
    """
    frame = of_case(schedules, dataset, costs)
    known = np.isfinite(frame[["choice_score", "held_out_score"]].astype(float)).all(axis=1)
    # Some scores do not exist for rows of a single class; such runs are useless for all methods.
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
    rows = _Chooser(ratio, span).rows(budgets, zip(*offers, strict=True))
    return pd.DataFrame(rows, columns=_COLUMNS)


def all_recommendations(schedules, compared):
    """Return the recommendations of all cases as one table, with columns dataset and costs."""
    columns, tables = [*CASE, *_COLUMNS], []
    for dataset, costs in compared.cases(schedules):
        sheet = compared.datasets[dataset]
        known = {"ratio": sheet.test_ratio, "span": sheet.span}
        table = recommendations(schedules, list(compared.methods), dataset, costs, **known)
        tables.append(table.assign(dataset=dataset, costs=costs))
    # Without the empty tables, whose columns have no types.
    some = [table for table in tables if len(table)]
    return pd.concat(some or [pd.DataFrame(columns=columns)])[columns]


class _Offer(NamedTuple):
    """A method's models under a budget, one for each run, as arrays."""

    method: str
    models: np.ndarray  # indices in the schedules
    paid: np.ndarray  # costs on validation data, as shares of the full cost
    share: np.ndarray  # costs on test data, as shares of the full cost
    valid: np.ndarray  # scores on validation data
    choice: np.ndarray  # scores on the test rows that choose between methods
    test: np.ndarray  # scores on the other test rows


def _offers(method, points, budgets, runs):
    """Return the offer of a method under each budget; None if some run affords no model."""
    places = [np.flatnonzero(points["run"].to_numpy() == run) for run in runs]
    costs = points["valid_fraction"].to_numpy(dtype=float)
    selected = np.array([staircase(costs[own], own, budgets, -1) for own in places]).T
    index, measured = points.index.to_numpy(), points[_MEASURED].to_numpy(dtype=float)
    return [
        _Offer(method, index[rows], *measured[rows].T) if (rows >= 0).all() else None
        for rows in selected
    ]


class _Chooser:
    """Chooses between offers; `ratio` and `span` are as in `recommendations`."""

    def __init__(self, ratio, span):
        self.ratio, self.span = ratio, span

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
        """Return the offers that count, best mean first, cheaper ones first among equals."""
        # If the free constant is among the methods, the others must exceed it by more than chance.
        if free is not None:
            from scipy.special import ndtri  # here, to keep planning a report fast

            rivals = [one for one in offers if one is not free]
            gains = [one.choice - free.choice for one in rivals]
            # The best of equally many useless methods hardly exceeds this gain.
            least = -ndtri(LEVEL / len(gains)) * self._error(gains) if gains else 0.0
            ahead = [one for one, gain in zip(rivals, gains, strict=True) if gain.mean() > least]
            offers = [*ahead, free]
        return sorted(offers, key=lambda one: (-one.choice.mean(), one.paid.mean()))

    def _chosen(self, ranked, current):
        """Return the cheapest offer within one standard error of the best."""
        if not ranked:
            return current
        offers = ranked if current is None else [current, *ranked]
        best = max(offers, key=lambda one: round(one.choice.mean(), 12))
        error = self._error([best.choice - one.choice for one in offers if one is not best])
        least = best.choice.mean() - error - 1e-12
        within = [one for one in offers if one.choice.mean() >= least]
        return min(within, key=lambda one: round(one.paid.mean(), 12))

    def _error(self, differences):
        """Return the standard error of mean differences over runs that share examples."""
        if not differences or len(differences[0]) < 2:
            return 0.0
        # The median spread over runs of all differences, as few runs estimate each poorly.
        spread = np.median(np.var(differences, axis=1, ddof=1))
        return np.sqrt(spread * (1 / len(differences[0]) + self.ratio))

    def _row(self, budget, chosen, ranked, free):
        n_runs = len(chosen.test)
        row = {"budget": budget, "method": chosen.method, "n_runs": n_runs} | self._expected(chosen)
        row |= {"valid": chosen.valid.mean(), "choice": chosen.choice.mean()}
        for score in ("valid", "test"):
            row[f"{score}_sd"] = getattr(chosen, score).std(ddof=1) if n_runs > 1 else np.nan
        gain = (np.nan,) * 3
        if free is not None:
            gaps = chosen.test - free.test
            gain = corrected_interval(gaps, self.ratio, bounded=self.span == (0, 1))[:3]
        row |= dict(zip(("gain", "gain_low", "gain_high"), gain, strict=True))
        row["as_good"] = bool(chosen.method != CONSTANT and row["gain_low"] <= 0)
        others = [one for one in ranked if one.method != chosen.method][:MOST_RUNNERS_UP]
        row["runners_up"] = [{"method": one.method, **self._expected(one)} for one in others]
        return row | {"models": chosen.models.tolist()}

    def _expected(self, one):
        """Return the held-out score of an offer with its interval, and its mean cost."""
        mean, low, high = score_interval(one.test, self.ratio, self.span)
        return {"test": mean, "low": low, "high": high, "cost": float(one.share.mean())}
