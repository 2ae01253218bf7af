"""The results of a study, each table computed once."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ..study.records import OK
from ..study.study import ACQUISITION
from .areas import area_table, horizon_areas, horizon_table, summary_table
from .efforts import time_table
from .ranks import ranking_of
from .recommendations import HARD, MEAN, all_recommendations, at_most, budget_kinds
from .schedules import compressed_points, coverage_table


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study's operating points, which include the control "constant"."""

    points: pd.DataFrame
    compared: object  # methods and data sets: a `budgetbench.report.labels.Display`
    expected: pd.DataFrame | None = None

    @cached_property
    def by_cost(self):
        """Operating points on the data sets that are compared by acquisition cost."""
        return self.compared.under(ACQUISITION, self.points)

    @cached_property
    def schedules(self):
        """The points of `by_cost` that beat every cheaper one of their run on validation data."""
        return compressed_points(self.by_cost)

    @cached_property
    def areas(self):
        """AUP of each run, from `area_table`."""
        return area_table(self.by_cost, self.schedules, self.expected)

    @cached_property
    def completed(self):
        """Competitors that completed a run, in the order of display."""
        return self.compared.rivals(self.areas[self.areas["status"] == OK])

    @cached_property
    def summary(self):
        """Mean AUP over runs, from `summary_table`."""
        return summary_table(self.areas)

    @cached_property
    def ranking(self):
        """`Ranking` by AUP on test data."""
        return ranking_of(self.summary, self.compared.rivals(self.summary))

    @cached_property
    def horizons(self):
        """{kind of budget: mean AUP over runs up to each horizon, from `horizon_table`}."""
        schedules = {MEAN: self.schedules, HARD: self.hard_schedules}
        return {
            kind: horizon_table(horizon_areas(self.by_cost, each, self.expected))
            for kind, each in schedules.items()
        }

    @cached_property
    def budget_kinds(self):
        """The kind of budget that each method keeps, from `budget_kinds`."""
        return budget_kinds(self.by_cost)

    @cached_property
    def hard_schedules(self):
        """The schedules if every model costs as much as its most expensive example."""
        return compressed_points(at_most(self.by_cost))

    @cached_property
    def recommendations(self):
        """The method to use under each budget, from `all_recommendations`."""
        return all_recommendations(self.schedules, self.compared)

    @cached_property
    def times(self):
        """Mean times, from `time_table`."""
        return time_table(self.points)

    @cached_property
    def coverage(self):
        """Completed runs, from `coverage_table`."""
        return coverage_table(self.points, self.expected)
