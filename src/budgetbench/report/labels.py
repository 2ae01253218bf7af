"""Labels, colours and titles of methods and data sets."""

from dataclasses import dataclass, field

from ..analysis.schedules import CASE, GROUP
from ..study.study import ACQUISITION
from .text import counted

# Okabe and Ito's palette, which suits all common kinds of colour-blindness. A wine red replaces its
# yellow, which is too faint on white. Each colour has its own marker, for print without colour.
# From the eighth method the colours repeat, with other markers and line styles.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", ":")
CONTROL_COLOURS = ("#222222", "#777777")
CONTROL_MARKERS = ("*", "_")


@dataclass(frozen=True)
class Method:
    """The label, colour, line and marker of a method."""

    id: str  # in the records
    label: str  # on the page
    colour: str  # in matplotlib's notation, like marker and line; no two methods share all three
    marker: str
    line: str
    control: bool  # acquires no feature or all of them, to bracket the others
    peer: bool  # a method that users would pick instead


@dataclass(frozen=True)
class DataSheet:
    """The facts about a data set that the page shows."""

    title: str
    score: str = "accuracy"  # name of the score of predictions
    budget: str = ACQUISITION  # the budget by which methods are compared, or memory
    rows: int | None = None
    features: int | None = None
    classes: int | None = None
    licence: str | None = None
    citation: str | None = None
    sha256: str = ""  # of the content, as in `Dataset.sha256`
    # Each feature that was text in the files → its categories, in the order of codes 0, 1, …
    categories: dict = field(default_factory=dict)
    test_ratio: float = 1 / 3  # number of test rows divided by the number of training rows
    span: tuple = (0.0, 1.0)  # the lowest possible score, and the score of perfect predictions


class Display:
    """The methods (entries of the methods file) and data sets (`DataSheet`) of a report."""

    def __init__(self, methods, datasets, ranked=()):
        self.datasets, taken, styled = datasets, {True: 0, False: 0}, {}
        # The best are styled first, so that the lines readers compare most look least alike.
        for name in dict.fromkeys([*ranked, *methods]):
            given = methods[name]
            control = bool(given.get("control", False))
            colours, markers = (CONTROL_COLOURS, CONTROL_MARKERS) if control else (PALETTE, MARKERS)
            again, turn = divmod(taken[control], len(colours))
            taken[control] += 1
            # Shifted by three, so that a repeated colour gets another marker.
            marker, line = markers[(turn + 3 * again) % len(markers)], LINES[again % len(LINES)]
            label, peer = given.get("label", name), bool(given.get("peer", False))
            styled[name] = Method(name, label, colours[turn], marker, line, control, peer)
        self.methods = {name: styled[name] for name in methods}

    @property
    def competitors(self):
        """Ids of the methods that are not controls."""
        return [name for name, method in self.methods.items() if not method.control]

    @property
    def controls(self):
        """Ids of the controls."""
        return [name for name, method in self.methods.items() if method.control]

    @property
    def test_ratios(self):
        """Ratio of test rows to training rows of each data set."""
        return {name: entry.test_ratio for name, entry in self.datasets.items()}

    @property
    def bounded(self):
        """Ids of the data sets whose score lies in [0, 1] by definition."""
        return {name for name, entry in self.datasets.items() if entry.span == (0, 1)}

    def rivals(self, frame):
        """Return the methods of a frame that are not controls, in the order of display."""
        present = set(frame["method"])
        return [name for name in self.competitors if name in present]

    def cases(self, frame):
        """Return the (dataset, costs) pairs of a frame, data sets in the order of display."""
        present = set(map(tuple, frame[CASE].drop_duplicates().to_numpy()))
        order = list(self.datasets)
        return sorted(present, key=lambda case: (order.index(case[0]), case[1]))

    def counted(self, frame):
        """Count the cases of a frame: as data sets, unless one has several kinds of costs."""
        cases = self.cases(frame)
        if len({dataset for dataset, _ in cases}) == len(cases):
            return counted(len(cases), "data set")
        return f"{len(cases)} pairs of data set and costs"

    def among(self, ranking, frame):
        """Return "over 2 of 3 data sets, …" if only some cases of a frame are ranked, else ""."""
        n, every = len(ranking.means), self.counted(frame)
        some = 0 < n < len(self.cases(frame))
        return f"over {n} of {every}, those with the most methods" if some else ""

    def under(self, budget, frame):
        """Return the rows of a frame on the data sets that are compared by this budget."""
        budgets = {name: entry.budget for name, entry in self.datasets.items()}
        return frame[frame["dataset"].map(budgets) == budget]

    def label(self, method):
        """Return a method's name on the page."""
        return self.methods[method].label

    def case_title(self, dataset, costs="random"):
        """Return the heading of a case, with the kind of cost profile unless it is random."""
        title = self.datasets[dataset].title
        return title if costs == "random" else f"{title}, {costs} costs"

    def matrix(self, table, methods, cell):
        """Return the titles of a table's cases, and for each method its label and its cells.

        `cell` receives a row of the table as a dictionary, which is empty if there is no such row.
        """
        cases, known = self.cases(table), table.set_index(GROUP).to_dict("index")
        rows = [
            [self.label(name), *(cell(known.get((*case, name), {})) for case in cases)]
            for name in methods
            if name in set(table["method"])
        ]
        return [self.case_title(*case) for case in cases], rows

    def score(self, *datasets):
        """Return the name of the score on the given data sets (default: on all)."""
        # Data sets with different scores have no common name for it.
        scores = {self.datasets[name].score for name in datasets or self.datasets}
        return scores.pop() if len(scores) == 1 else "score"

    def span(self, frame):
        """Return the lowest and the best possible score on the data sets of a frame."""
        spans = [self.datasets[name].span for name in set(frame["dataset"])]
        return min(spans)[0], max(best for _, best in spans)
