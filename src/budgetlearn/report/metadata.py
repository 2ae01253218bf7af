"""What a report has to know beside the operating points: labels, data sheets, settings."""

from dataclasses import dataclass, field

import pandas as pd

from ..benchmark.points import of_case
from ..benchmark.study import ACQUISITION
from ..exceptions import ConfigError
from .inside import Inside

# Okabe and Ito's palette, told apart by all common kinds of colour-blindness, with a wine red for
# its yellow, which is too faint on white. Each has a marker of its own, for print without colour;
# from the eighth method on colours come again, with other markers and other lines.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", ":")
CONTROL_COLOURS = ("#222222", "#777777")
CONTROL_MARKERS = ("*", "_")
PROFILE_COLUMNS = ["dataset", "costs", "run", "feature", "cost"]


@dataclass(frozen=True)
class Method:
    """How a method is shown.

    Attributes
    ----------
    id, label : str
        Its names in the records and on the page.
    colour, marker, line : str
        As matplotlib knows them; no two methods share all three.
    control : bool
        Whether it only brackets the others (no feature, or all of them) and does not compete.
    peer : bool
        Whether it is what users pick today, beside the papers' methods.
    spec : dict
        What it is: class, parameters and the grid of settings tried, shown as they are.
    """

    id: str
    label: str
    colour: str
    marker: str
    line: str
    control: bool
    peer: bool
    spec: dict


@dataclass(frozen=True)
class Metadata:
    """Metadata of a study, checked.

    Attributes
    ----------
    name, title : str
        The study's id and what it is about.
    methods : dict of str to Method
        In the order of display.
    datasets : dict of str to dict
        Data sheets: title, and where known score (what predictions are scored by), rows,
        features, classes (how many, or class to rows), licence, citation, sha256 (a mapping from
        file to hash; nothing for embedded data), budget (what methods are compared by, acquisition
        cost unless it says memory).
    settings, provenance : dict
        Shown as they are: what was compared, and what it was made with.
    profiles : DataFrame
        The prices: dataset, costs, run, feature (its name), cost, for each run in the order of
        the data's columns; may be empty.
    expected : DataFrame or None
        dataset, costs, method, run of all that was to be done.
    schedule_of : dict
        dataset and method whose model schedule is shown first.
    published : DataFrame or None
        Printed numbers to stand beside ours, from `budgetlearn.benchmark.published`.
    stand_ins : dict of str to str
        Data set of ours → the paper's that it stands in for.
    reasons : list of dict
        Why numbers deviate, from `budgetlearn.benchmark.deviations.read_reasons`.
    not_rerun : list of str
        Tables of printed numbers that the study does not rerun.
    inside : Inside
        What is known of msB beside its operating points.
    """

    name: str
    title: str
    methods: dict
    datasets: dict
    settings: dict = field(default_factory=dict)
    provenance: dict = field(default_factory=dict)
    profiles: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=PROFILE_COLUMNS))
    expected: pd.DataFrame | None = None
    schedule_of: dict = field(default_factory=dict)
    published: pd.DataFrame | None = None
    stand_ins: dict = field(default_factory=dict)
    reasons: list = field(default_factory=list)
    not_rerun: list = field(default_factory=list)
    inside: Inside = field(default_factory=Inside)

    @classmethod
    def from_dict(cls, metadata):
        """Check plain mappings and give every method a colour and a marker.

        Parameters
        ----------
        metadata : dict
            study (its name), methods (id to an entry of the methods file: label, control, class,
            parameters), datasets; and if wanted title, settings, provenance, profiles, expected,
            schedule_of; see the attributes.

        Raises
        ------
        ConfigError
            When a key is missing or unknown.
        """
        required = {"study", "methods", "datasets"}
        optional = {"title", "settings", "provenance", "profiles", "expected", "schedule_of"}
        optional |= {"published", "stand_ins", "reasons", "not_rerun", "inside"}
        if not required <= metadata.keys() <= required | optional:
            raise ConfigError(
                f"Report metadata must have the keys {sorted(required)} and may have "
                f"{sorted(optional)}; got {sorted(metadata)}."
            )
        given = {key: value for key, value in metadata.items() if value is not None}
        name = given.pop("study")
        given.setdefault("title", name)
        return cls(name=name, **given | {"methods": _styled(given["methods"])})

    @property
    def competitors(self):
        """Ids of the methods that are no controls."""
        return [method.id for method in self.methods.values() if not method.control]

    @property
    def controls(self):
        """Ids of the methods that only bracket the others."""
        return [method.id for method in self.methods.values() if method.control]

    def check_covers(self, points):
        """Raise `ConfigError` if `points` holds a method or data set that has no metadata."""
        for column, known in (("method", self.methods), ("dataset", self.datasets)):
            unknown = sorted(set(points[column]) - set(known))
            if unknown:
                raise ConfigError(
                    f"The operating points hold the {column} {unknown[0]!r}, which the report "
                    f"metadata does not describe (it knows {', '.join(known)}). Add it there."
                )

    def under(self, budget, points):
        """Return the rows of `points` on data sets where methods are compared by `budget`."""
        budgets = {name: sheet.get("budget", ACQUISITION) for name, sheet in self.datasets.items()}
        return points[points["dataset"].map(budgets) == budget]

    def rivals(self, points):
        """Return the methods of `points` that are no controls, in the order of display."""
        present = set(points["method"])
        return [name for name in self.competitors if name in present]

    def cases(self, points):
        """Return the (dataset, costs) pairs of `points`, data sets in the order of the sheets."""
        present = set(map(tuple, points[["dataset", "costs"]].to_numpy()))
        order = list(self.datasets)
        return sorted(present, key=lambda case: (order.index(case[0]), case[1]))

    def case_title(self, dataset, costs):
        """Return the heading of a case; the kind of cost profile is named unless random."""
        title = self.datasets[dataset].get("title", dataset)
        return title if costs == "random" else f"{title}, {costs} costs"

    def score(self, *datasets):
        """Return what predictions on data sets (none: on all) are scored by, in a word."""
        sheets = [self.datasets[name] for name in datasets or self.datasets]
        scores = {sheet.get("score", "accuracy") for sheet in sheets}
        return scores.pop() if len(scores) == 1 else "score"

    def prices(self, dataset, costs, run):
        """Return the price list of a run: feature (its name) and cost, indexed from 0."""
        case = of_case(self.profiles, dataset, costs)
        return case.loc[case["run"] == run, ["feature", "cost"]].reset_index(drop=True)


def _styled(methods):
    """Return the methods with a colour, a marker and a line each, controls in grey."""
    taken, styled = {True: 0, False: 0}, {}
    for name, given in methods.items():
        control = bool(given.get("control", False))
        colours, markers = (CONTROL_COLOURS, CONTROL_MARKERS) if control else (PALETTE, MARKERS)
        again, turn = divmod(taken[control], len(colours))
        taken[control] += 1
        styled[name] = Method(
            id=name,
            label=given.get("label", name),
            colour=colours[turn],
            marker=markers[(turn + 3 * again) % len(markers)],
            line=LINES[again % len(LINES)],
            control=control,
            peer=bool(given.get("peer", False)),
            spec={key: given[key] for key in ("class", "parameters", "grid") if given.get(key)},
        )
    return styled
