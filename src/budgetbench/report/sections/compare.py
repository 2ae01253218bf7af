"""Ranks and areas up to each horizon: a table, and a filter for what a reader picks."""

import pandas as pd

from ...analysis.areas import HORIZONS
from ...analysis.ranks import horizon_ranks
from ...analysis.recommendations import HARD, MEAN
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section, case_name, table
from ..summary import winner_sentences


def _views(results):
    """Return the areas by what is charged: the mean example, or the most expensive one."""
    return {MEAN: results.horizons, HARD: results.hard_horizons}


class Compare(Section):
    """A filter whose ranks, table and curves follow."""

    id = "compare"
    title = "Compare"
    place = 10
    under = ACQUISITION

    def context(self, report):
        # Who keeps a hard budget was measured on test examples, not declared.
        kinds, display = report.results.budget_kinds, report.display
        names = display.rivals(report.results.bought)
        keeping = {
            kind: [display.label(name) for name in names if kinds.get(name) == kind]
            for kind in (HARD, MEAN)
        }
        return {"horizons": list(HORIZONS), "keeping": keeping}

    def script_data(self, report):
        views = _views(report.results).items()
        return {
            case_name(*case): {k: _areas(of_case(t, *case), report.display) for k, t in views}
            for case in report.cases
        }


def _areas(table, display):
    """Return {method: mean AUP at each horizon, None where it has none} of the competitors."""
    # Six digits: the script ranks by these, and bytes are the page's weight.
    known = table.pivot_table(index="method", columns="horizon", values="mean_test")
    known = known.reindex(columns=list(HORIZONS))
    return {
        name: [None if value != value else round(value, 6) for value in known.loc[name]]
        for name in display.competitors
        if name in known.index
    }


class Horizons(Section):
    """Mean ranks when only a part of the full cost may be spent."""

    id = "horizons"
    title = "How much to spend"
    place = 21
    under = ACQUISITION

    @property
    def parts(self):
        return [table("horizons")]

    def summary(self, report):
        results = report.results
        found = winner_sentences(results.horizons, report.display) if results.completed else []
        return found[1:]

    def tables(self, report):
        views = _views(report.results).items()
        return {"horizons": pd.concat([view.assign(budget=name) for name, view in views])}

    def context(self, report):
        found = report.results.horizons
        ranks = horizon_ranks(found, report.display.rivals(found))
        return {"horizons": list(HORIZONS), "ranks": ranks, "best": ranks.min()}
