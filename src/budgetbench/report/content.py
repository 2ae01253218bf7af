"""The content of a report, from which all sections work."""

import itertools
from dataclasses import dataclass, field

import pandas as pd

from ..analysis import Results
from ..analysis.schedules import RUN, check_points
from ..study.study import Study
from .display import Display


@dataclass(frozen=True, eq=False)
class Report:
    """The content of a report.

    Attributes
    ----------
    study : Study
        The study.
    display : Display
        How its methods and data sets are shown.
    results : Results
        Its results.
    prices : DataFrame
        From `budgetbench.report.data_page.price_table`; may be empty.
    provenance : dict of str to str
        What the results were made with.
    tables : dict of str to DataFrame
        The tables of all sections, by name.
    all_points : DataFrame
        Those of `results`, and what methods have for seconds left after their tries.
    """

    study: Study
    display: Display
    results: Results
    prices: pd.DataFrame
    provenance: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    all_points: pd.DataFrame | None = None

    @classmethod
    def of(cls, study, points, sheets, prices, provenance):
        """Put a report's content together.

        Parameters
        ----------
        study : Study
            The study.
        points : DataFrame
            Operating points of all methods and runs, the control "constant" among them.
        sheets : dict of str to DataSheet
            From `budgetbench.report.data_page.read_sheets`.
        prices : DataFrame
            From `budgetbench.report.data_page.price_table`; may be empty.
        provenance : dict of str to str
            What the results were made with.

        Returns
        -------
        Report

        Raises
        ------
        ConfigError
            When the points hold a method or data set that the study does not compare.
        """
        compared = Display(study.methods, sheets)
        # Equal tries are the comparison; what extra seconds brought has a table of its own.
        within = points[~study.beyond_tries(points)]
        results = Results(check_points(within), compared, _expected(study))
        # Results first, as colours go by rank; the comparison itself needs no colours.
        display = Display(study.methods, sheets, ranked=results.ranking.mean.index)
        return cls(study, display, results, prices, provenance, all_points=points)

    @property
    def cases(self):
        """The (dataset, costs) pairs in which methods are compared by acquisition cost."""
        return self.display.cases(self.results.bought)


def _expected(study):
    """Return every (dataset, costs, method, run) that the study asks for."""
    runs = range(study.config["runs"])
    rows = [(*cell, run) for cell, run in itertools.product(study.cells, runs)]
    return pd.DataFrame(rows, columns=RUN)
