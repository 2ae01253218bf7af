"""Ranks and areas of the data sets, methods and budgets that a reader picks."""

from ...analysis.areas import HORIZONS
from ...analysis.recommendations import HARD, MEAN
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section


class Compare(Section):
    """A filter whose ranks, table and curves follow."""

    id = "compare"
    title = "Compare"
    place = 10

    def applies(self):
        return bool(self.study.cases_under(ACQUISITION))

    def context(self, report):
        kinds = report.results.budget_kinds
        names = report.display.rivals(report.results.bought)
        return {
            "horizons": list(HORIZONS),
            "keeping": {
                kind: [report.display.label(name) for name in names if kinds.get(name) == kind]
                for kind in (HARD, MEAN)
            },
        }

    def script_data(self, report):
        views = {MEAN: report.results.horizons, HARD: report.results.hard_horizons}
        return {
            "_".join(case): {
                kind: _areas(of_case(table, *case), report.display) for kind, table in views.items()
            }
            for case in report.cases
        }


def _areas(table, display):
    """Return {method: mean AUP at each horizon, None where it has none} of the competitors."""
    known = table.pivot_table(index="method", columns="horizon", values="mean_test")
    known = known.reindex(columns=list(HORIZONS))
    return {
        name: [None if value != value else round(value, 6) for value in known.loc[name]]
        for name in display.competitors
        if name in known.index
    }
