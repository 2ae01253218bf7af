"""What a report has to know beside the operating points: labels, data sheets, settings."""

from dataclasses import dataclass, field

import pandas as pd

from ..benchmark.aggregate import of_case
from ..exceptions import ConfigError

# Okabe and Ito's palette, told apart by all common kinds of colour-blindness, with a wine red for
# its yellow, which is too faint on white. Each has a marker of its own, for print without colour.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
CONTROLS = {"all_features": ("#222222", "*"), "constant": ("#777777", "_")}
PROFILE_COLUMNS = ["dataset", "costs", "run", "feature", "cost"]


@dataclass(frozen=True)
class Method:
    """How a method is shown: its label, colour and marker, and whether it competes."""

    id: str
    label: str
    colour: str
    marker: str

    @property
    def control(self):
        """Whether the method only brackets the others: no feature, or all of them."""
        return self.id in CONTROLS


@dataclass(frozen=True)
class Metadata:
    """Metadata of a study, checked.

    Attributes
    ----------
    name : str
        The study.
    methods : dict of str to Method
        In the order of display.
    datasets : dict of str to dict
        Data sheets: title, rows, features, classes, licence, citation, sha256 (a string, a
        mapping from file to hash, or None for embedded and generated data).
    settings, provenance : dict
        Shown as they are: what was compared, and what it was made with.
    profiles : DataFrame
        The prices: dataset, costs, run, feature (its name), cost, for each run in the order of
        the data's columns; may be empty.
    expected : DataFrame or None
        dataset, costs, method, run of all that was to be done.
    """

    name: str
    methods: dict
    datasets: dict
    settings: dict = field(default_factory=dict)
    provenance: dict = field(default_factory=dict)
    profiles: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=PROFILE_COLUMNS))
    expected: pd.DataFrame | None = None

    @classmethod
    def from_dict(cls, metadata):
        """Check plain mappings and give every method a colour and a marker.

        Parameters
        ----------
        metadata : dict
            study (name), methods (id to label and, if wanted, colour and marker), datasets,
            settings, provenance, profiles, expected; see the attributes. The first three are
            required.

        Raises
        ------
        ConfigError
            When a key is missing or unknown.
        """
        required = {"study", "methods", "datasets"}
        known = required | {"settings", "provenance", "profiles", "expected"}
        if not required <= metadata.keys() <= known:
            raise ConfigError(
                f"Report metadata must have the keys {sorted(required)} and may have "
                f"{sorted(known - required)}; got {sorted(metadata)}."
            )
        rest = {k: v for k, v in metadata.items() if k not in {"study", "methods"}}
        given = {k: v for k, v in rest.items() if v is not None}
        return cls(metadata["study"], _styled(metadata["methods"]), **given)

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

    def cases(self, points):
        """Return the (dataset, costs) pairs of `points`, data sets in the order of the sheets."""
        present = set(map(tuple, points[["dataset", "costs"]].to_numpy()))
        order = list(self.datasets)
        return sorted(present, key=lambda case: (order.index(case[0]), case[1]))

    def title(self, dataset, costs):
        """Return the heading of a case; the kind of cost profile is named unless random."""
        title = self.datasets[dataset].get("title", dataset)
        return title if costs == "random" else f"{title}, {costs} costs"

    def prices(self, dataset, costs, run):
        """Return the price list of a run: feature (its name) and cost, indexed from 0."""
        case = of_case(self.profiles, dataset, costs)
        return case.loc[case["run"] == run, ["feature", "cost"]].reset_index(drop=True)


def _styled(methods):
    """Return the methods with a colour and a marker each."""
    free = list(zip(PALETTE, MARKERS, strict=True))
    competing = [name for name in methods if name not in CONTROLS]
    styles = CONTROLS | {name: free[i % len(free)] for i, name in enumerate(competing)}
    return {
        name: Method(
            name,
            given.get("label", name),
            given.get("colour", styles[name][0]),
            given.get("marker", styles[name][1]),
        )
        for name, given in methods.items()
    }
