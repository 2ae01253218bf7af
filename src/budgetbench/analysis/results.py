"""What several parts of a report need, each computed once."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ..study.records import OK
from ..study.study import MEMORY
from .areas import area_table, summary_table
from .comparison import Comparison
from .efforts import time_table
from .horizons import horizon_areas, horizon_table
from .ranks import ranking_of
from .recommendations import all_recommendations, at_most, budget_kinds
from .schedules import RUN, compressed_points, counted_runs, coverage_table


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study: its operating points and what follows from them.

    Attributes
    ----------
    points : DataFrame
        Operating points of all methods and runs, the control "constant" among them.
    compared : Comparison
        Which methods compete, and by which budget.
    expected : DataFrame or None
        dataset, costs, method, run of all that was to be done.
    """

    points: pd.DataFrame
    compared: Comparison
    expected: pd.DataFrame | None = None

    def __post_init__(self):
        self.compared.check_covers(self.points)

    @cached_property
    def bought(self):
        """Operating points where methods are compared by acquisition cost."""
        return self.compared.bought(self.points)

    @cached_property
    def stored(self):
        """Operating points where methods are compared by memory."""
        return self.compared.under(MEMORY, self.points)

    @cached_property
    def schedules(self):
        """The points of `bought` that beat every cheaper one of their run on validation data."""
        return compressed_points(self.bought)

    @cached_property
    def areas(self):
        """AUP of each run, from `area_table`."""
        return area_table(self.bought, self.schedules, self.expected)

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
    def valid_ranking(self):
        """`Ranking` by AUP on validation data."""
        return ranking_of(self.summary, self.compared.rivals(self.summary), "valid")

    @cached_property
    def horizons(self):
        """Mean AUP over runs up to each horizon, from `horizon_table`."""
        return horizon_table(horizon_areas(self.bought, self.schedules, self.expected))

    @cached_property
    def budget_kinds(self):
        """Which methods keep a hard budget, from `budget_kinds`."""
        return budget_kinds(self.bought)

    @cached_property
    def hard_schedules(self):
        """As `schedules`, every model charged what its most expensive example costs."""
        return compressed_points(at_most(self.bought))

    @cached_property
    def hard_horizons(self):
        """As `horizons`, of `hard_schedules`; runs of unknown largest cost are left out."""
        charged = at_most(self.bought)
        runs = counted_runs(self.bought, self.expected)
        unknown = pd.MultiIndex.from_frame(self.bought[RUN]).difference(
            pd.MultiIndex.from_frame(charged[RUN])
        )
        known = runs[~pd.MultiIndex.from_frame(runs).isin(unknown)]
        return horizon_table(horizon_areas(charged, self.hard_schedules, known))

    @cached_property
    def recommendations(self):
        """What to use under each budget, from `all_recommendations`."""
        return all_recommendations(self.schedules, self.compared)

    @cached_property
    def times(self):
        """Mean times, from `time_table`."""
        return time_table(self.points)

    @cached_property
    def coverage(self):
        """Completed runs, from `coverage_table`."""
        return coverage_table(self.points, self.expected)
