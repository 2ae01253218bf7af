"""The results of a study: who competes under which budget, and the tables, each computed once."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from budgetlearn.exceptions import ConfigError

from ..study.records import OK
from ..study.study import ACQUISITION
from .areas import area_table, horizon_areas, horizon_table, summary_table
from .efforts import time_table
from .ranks import ranking_of
from .recommendations import all_recommendations, at_most, budget_kinds
from .schedules import CASE, compressed_points, coverage_table


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods and data sets of a study, each id with what is known of it.

    A method's `control` says whether it only brackets the others (no feature, or all) and does not
    compete. A data set's `budget` says what methods are compared by there, acquisition cost or
    memory, `test_ratio` how many test rows there are by training row, `span` the least score that
    there can be, and the best.
    """

    methods: dict
    datasets: dict

    @property
    def competitors(self):
        """Ids of the methods that are not controls."""
        return [name for name, method in self.methods.items() if not method.control]

    @property
    def controls(self):
        """Ids of the methods that only bracket the others."""
        return [name for name, method in self.methods.items() if method.control]

    @property
    def test_ratios(self):
        """Test rows by training rows of each data set."""
        return {name: entry.test_ratio for name, entry in self.datasets.items()}

    @property
    def bounded(self):
        """Ids of the data sets whose score lies in [0, 1] by its nature."""
        return {name for name, entry in self.datasets.items() if entry.span == (0, 1)}

    def rivals(self, frame):
        """Return the methods of a frame that are not controls, in the order of display."""
        present = set(frame["method"])
        return [name for name in self.competitors if name in present]

    def cases(self, frame):
        """Return the (dataset, costs) pairs of a frame, data sets in the order of display."""
        # In the order of the study: an alphabetical one would mean nothing.
        present = set(map(tuple, frame[CASE].drop_duplicates().to_numpy()))
        order = list(self.datasets)
        return sorted(present, key=lambda case: (order.index(case[0]), case[1]))

    def under(self, budget, frame):
        """Return the rows of a frame on data sets where this budget of the study counts."""
        budgets = {name: entry.budget for name, entry in self.datasets.items()}
        return frame[frame["dataset"].map(budgets) == budget]


@dataclass(frozen=True, eq=False)
class Results:
    """Operating points of a study, with the control "constant", and what follows from them."""

    points: pd.DataFrame
    compared: Comparison
    expected: pd.DataFrame | None = None

    def __post_init__(self):
        compared = {"method": self.compared.methods, "dataset": self.compared.datasets}
        for column, known in compared.items():
            unknown = sorted(set(self.points[column]) - set(known))
            if unknown:
                raise ConfigError(
                    f"The operating points hold the {column} {unknown[0]!r}, which the study does "
                    f"not compare (it compares {', '.join(known)}). Add it there."
                )

    @cached_property
    def by_cost(self):
        """Operating points where methods are compared by acquisition cost."""
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
        """Mean AUP over runs up to each horizon, from `horizon_table`."""
        return horizon_table(horizon_areas(self.by_cost, self.schedules, self.expected))

    @cached_property
    def budget_kinds(self):
        """The kind of budget that each method keeps, from `budget_kinds`."""
        return budget_kinds(self.by_cost)

    @cached_property
    def hard_schedules(self):
        """As `schedules`, every model charged what its most expensive example costs."""
        return compressed_points(at_most(self.by_cost))

    @cached_property
    def hard_horizons(self):
        """As `horizons`, of `hard_schedules`."""
        return horizon_table(horizon_areas(self.by_cost, self.hard_schedules, self.expected))

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
