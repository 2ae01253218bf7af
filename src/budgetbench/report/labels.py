"""Labels, colours and titles of methods and data sets."""

from dataclasses import dataclass, field

from ..analysis.schedules import CASE, GROUP
from ..study.study import ACQUISITION

# Okabe and Ito's palette, told apart by all common kinds of colour-blindness, with a wine red for
# its yellow, which is too faint on white. Each has a marker of its own, for print without colour;
# from the eighth method on colours come again, with other markers and other lines.
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
    colour: str  # as matplotlib knows it, like marker and line; no two methods share all three
    marker: str
    line: str
    control: bool  # only brackets the others: no feature, or all of them
    peer: bool  # what users would pick instead


@dataclass(frozen=True)
class DataSheet:
    """The facts of a data set that readers see."""

    title: str  # its name on the page
    score: str = "accuracy"  # what predictions are scored by, in a word
    budget: str = ACQUISITION  # what methods are compared by there, or memory
    rows: int | None = None
    features: int | None = None
    classes: int | None = None
    licence: str | None = None
    citation: str | None = None
    sha256: str = ""  # of the content, as `Dataset.sha256` has it
    # Feature that was words in the files → the words, in the order of their codes 0, 1, …
    categories: dict = field(default_factory=dict)
    test_ratio: float = 1 / 3  # test rows by the rows that a model trains on
    span: tuple = (0.0, 1.0)  # the least score that there can be, and that of perfect predictions


class Display:
    """Methods (entries of the methods file) and data sets (`DataSheet`), compared and shown."""

    def __init__(self, methods, datasets, ranked=()):
        self.methods, self.datasets = _styled(methods, ranked), datasets

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

    def label(self, method):
        """Return a method's name on the page."""
        return self.methods[method].label

    def case_title(self, dataset, costs="random"):
        """Return the heading of a case; the kind of cost profile is named unless random."""
        # Random prices are the rule; naming them everywhere would be noise.
        title = self.datasets[dataset].title
        return title if costs == "random" else f"{title}, {costs} costs"

    def matrix(self, table, methods, cell):
        """Return the titles of a table's cases, and a list for each method in it: label and cells.

        `cell` takes the row of the table as a dictionary, empty where there is none.
        """
        cases, known = self.cases(table), table.set_index(GROUP).to_dict("index")
        rows = [
            [self.label(name), *(cell(known.get((*case, name), {})) for case in cases)]
            for name in methods
            if name in set(table["method"])
        ]
        return [self.case_title(*case) for case in cases], rows

    def score(self, *datasets):
        """Return the name of the score of predictions on data sets (none: on all)."""
        # Over data sets of several tasks no one word is right.
        scores = {self.datasets[name].score for name in datasets or self.datasets}
        return scores.pop() if len(scores) == 1 else "score"

    def span(self, frame):
        """Return the least and the best score that there can be on the data sets of a frame."""
        spans = [self.datasets[name].span for name in set(frame["dataset"])]
        return min(spans)[0], max(best for _, best in spans)


def _styled(methods, ranked):
    taken, styled = {True: 0, False: 0}, {}
    # The best choose first, so that those that are looked at most look least alike.
    for name in dict.fromkeys([*ranked, *methods]):
        given = methods[name]
        control = bool(given.get("control", False))
        colours, markers = (CONTROL_COLOURS, CONTROL_MARKERS) if control else (PALETTE, MARKERS)
        again, turn = divmod(taken[control], len(colours))
        taken[control] += 1
        styled[name] = Method(
            id=name,
            label=given.get("label", name),
            colour=colours[turn],
            # Shifted by three: the colour comes again with another marker.
            marker=markers[(turn + 3 * again) % len(markers)],
            line=LINES[again % len(LINES)],
            control=control,
            peer=bool(given.get("peer", False)),
        )
    return {name: styled[name] for name in methods}
