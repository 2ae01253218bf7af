"""What is compared: methods, data sets and the budget of each, in the order of display."""

from dataclasses import dataclass

from budgetlearn.exceptions import ConfigError

from ..study.study import ACQUISITION
from .schedules import CASE


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods and data sets of a study.

    Attributes
    ----------
    methods : dict of str to object
        Id to whatever is known of a method; `control` says whether it only brackets the others (no
        feature, or all of them) and does not compete.
    datasets : dict of str to object
        Id to whatever is known of a data set; `budget` says what methods are compared by there,
        acquisition cost or memory, `test_ratio` how many test rows there are by training row,
        `bounded` whether its score lies in [0, 1].
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

    def rivals(self, frame):
        """Return the methods of a frame that are not controls, in the order of display.

        Parameters
        ----------
        frame : DataFrame
            With the column method.

        Returns
        -------
        list of str
        """
        present = set(frame["method"])
        return [name for name in self.competitors if name in present]

    def cases(self, frame):
        """Return the cases of a frame, data sets in the order of display.

        Parameters
        ----------
        frame : DataFrame
            With the columns dataset and costs.

        Returns
        -------
        list of (str, str)
            Data set and kind of cost profile.
        """
        present = set(map(tuple, frame[CASE].drop_duplicates().to_numpy()))
        order = list(self.datasets)
        return sorted(present, key=lambda case: (order.index(case[0]), case[1]))

    def under(self, budget, frame):
        """Return the rows of a frame on data sets where methods are compared by a budget.

        Parameters
        ----------
        budget : {"acquisition", "memory"}
            Which one.
        frame : DataFrame
            With the column dataset.

        Returns
        -------
        DataFrame
        """
        budgets = {name: entry.budget for name, entry in self.datasets.items()}
        return frame[frame["dataset"].map(budgets) == budget]

    def bought(self, frame):
        """Return the rows of a frame on data sets that are compared by acquisition cost.

        Parameters
        ----------
        frame : DataFrame
            With the column dataset.

        Returns
        -------
        DataFrame
        """
        return self.under(ACQUISITION, frame)

    def check_covers(self, points):
        """Refuse points of a method or data set that is not compared.

        Parameters
        ----------
        points : DataFrame
            Operating points.

        Raises
        ------
        ConfigError
            With the first such name.
        """
        for column, known in (("method", self.methods), ("dataset", self.datasets)):
            unknown = sorted(set(points[column]) - set(known))
            if unknown:
                raise ConfigError(
                    f"The operating points hold the {column} {unknown[0]!r}, which the study does "
                    f"not compare (it compares {', '.join(known)}). Add it there."
                )
