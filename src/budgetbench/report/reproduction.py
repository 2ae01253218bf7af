"""Everything that is known of the papers' numbers: printed, ours from kept reruns, and verdicts."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from budgetlearn.files import read_yaml

from ..analysis.agreement import FEWEST_AT_FIRST, agreement_table, check_claim
from ..analysis.areas import area_table
from ..analysis.published import AREAS, OurValues, published_table
from ..analysis.reproduction import (
    EXPLAINED,
    NUMBER,
    counted_once,
    fits,
    matrix,
    with_outcomes,
    with_reasons,
    with_variants,
)
from ..analysis.schedules import RUN, compressed_points
from ..study import records, reruns
from ..study.study import PUBLISHED
from .printed_numbers import read_published, read_reasons


@dataclass(frozen=True, eq=False)
class Kept:
    """A kept rerun: points, settings, and what it took."""

    points: pd.DataFrame
    settings: dict
    origins: list

    @cached_property
    def areas(self):
        """AUP of each run."""
        return area_table(self.points, compressed_points(self.points))

    @cached_property
    def ours(self):
        """Our values of printed quantities."""
        return OurValues(self.points, self.areas)

    @property
    def runs(self):
        """Number of runs by data set."""
        return self.points.groupby("dataset")["run"].nunique().to_dict()

    @property
    def hours(self):
        """Core-hours of the jobs that fitted, where they were recorded."""
        return sum(one.get("seconds", 0.0) for one in self.origins) / 3600

    @property
    def commits(self):
        """Commits that the points were made at."""
        return sorted({one["commit"] for one in self.origins})

    def numbers(self, printed):
        """Return printed numbers with ours beside them, judged; a row for those not rerun too."""
        stand_ins = self.settings.get("stand_ins", {})
        table = published_table(self.points, printed, self.areas, stand_ins)
        return agreement_table(table)


class Reproduction:
    """The papers' numbers and claims, judged against the kept reruns in the project's folder."""

    def __init__(self, root="."):
        folder = Path(root) / PUBLISHED
        about = read_yaml(folder / "papers.yaml")
        self.papers, self.impossible = about["papers"], about["impossible"]
        self.readings, self._others = about["readings"], [about["variants"], about["figures"]]
        self.drawings, self.tried = about["drawings"], about["tried"]
        self._root = Path(root)
        self._tables, self._held_out = about["tables"], about["held_out"]
        self._claims = read_yaml(folder / "claims.yaml")
        self.entries = read_reasons(folder / "deviations.yaml")
        self._folder = folder
        self.kept = {
            name: Kept(
                reruns.read_kept(path),
                reruns.settings_of(path),
                reruns.provenance_of(path)["origins"],
            )
            for name, path in reruns.kept_studies(root).items()
        }

    @property
    def studies(self):
        """Every study of the papers that has a file, in the order in which they are run."""
        # Tables first: what is interrupted has then the numbers that count.
        named = [*self._tables.values(), *self._held_out.values(), *self._others]
        named.append([entry["variant"] for entry in self.entries])
        every = dict.fromkeys(name for names in named for name in names)
        return [name for name in every if (self._root / f"config/studies/{name}.yaml").exists()]

    @cached_property
    def all_numbers(self):
        """Every recorded number with its outcome, other readings and repetitions too."""
        return self._judged(self._tables)

    @cached_property
    def numbers(self):
        """Every printed number once."""
        return counted_once(self.all_numbers, self.readings)

    @cached_property
    def held_out(self):
        """The numbers that were never published."""
        return self._judged(self._held_out)

    @cached_property
    def matrix(self):
        """One row for each paper, table and data set."""
        return matrix(self.numbers)

    @cached_property
    def confirmed(self):
        """Of each entry of the deviations, the share of its numbers that its variant has right."""
        rows = self.all_numbers.to_dict("records")
        shares = []
        for entry in self.entries:
            own = [row for row in rows if row["n_runs"] and fits(entry, row)]
            # Whether they need it or not: a reason must hold for all that it is about.
            asked = pd.DataFrame(own).assign(variant=entry["variant"])
            judged = with_variants(asked, [entry], self.of_variants) if own else None
            shares.append(float("nan") if judged is None else judged["explained"].mean())
        return shares

    @cached_property
    def claims(self):
        """Every claim with verdict and evidence, and its verdict by the rule at first."""
        return [
            claim
            | check_claim(claim, self._values)
            | {"at_first": check_claim(claim, self._values, FEWEST_AT_FIRST)["verdict"]}
            for claim in self._claims
        ]

    def explained_after(self, numbers):
        """Count the explained numbers whose variant was chosen after seeing what is printed."""
        after = [(e["variant"], e["why"]) for e in self.entries if e.get("chosen_after")]
        explained = numbers.loc[numbers["outcome"] == EXPLAINED, ["variant", "reason"]]
        return sum(pair in after for pair in explained.itertuples(index=False, name=None))

    def _judged(self, tables):
        # A number without a rerun keeps its row: not rerun is an outcome, too.
        parts = [self._best(table, studies) for table, studies in tables.items()]
        numbers = with_reasons(pd.concat(parts, ignore_index=True), self.entries)
        explained = with_variants(numbers, self.entries, self.of_variants)
        return with_outcomes(explained, self.impossible)

    @cached_property
    def of_variants(self):
        """The numbers of every variant study that is kept."""
        asked = dict.fromkeys((entry["variant"], entry["table"]) for entry in self.entries)
        parts = {}
        for name, table in asked:  # a variant may answer for several tables
            if name in self.kept:
                parts.setdefault(name, []).append(self.kept[name].numbers(self._printed(table)))
        return {name: pd.concat(found, ignore_index=True) for name, found in parts.items()}

    def _printed(self, table):
        return read_published([self._folder / f"{table}.csv"])

    def _best(self, table, studies):
        """Return the numbers of a table, of each the first study that has it."""
        printed = self._printed(table).reset_index(drop=True)
        found = [
            self.kept[name].numbers(printed).assign(study=name)
            for name in studies
            if name in self.kept
        ]
        found.append(_alone(printed))
        rows = pd.concat(found, ignore_index=True)
        # Stable: of the studies that reran a number the first named one counts.
        rows = rows.sort_values("n_runs", key=lambda n: n == 0, kind="stable")
        return printed[NUMBER].merge(rows.drop_duplicates(NUMBER), on=NUMBER)

    def _values(self, side):
        """Return our values of one side of a claim, by run."""
        kept = self.kept.get(side["study"])
        # No points, no verdict: the claim is then untestable.
        own = [] if kept is None else kept.points["dataset"] == side["dataset"]
        if not any(own):
            return pd.Series(dtype=float)
        cases = kept.points.loc[own, "costs"]
        where = {"run_on": side["dataset"], "costs": side.get("costs", cases.iloc[0])}
        return kept.ours.of(where | {"setting": ""} | side)


def _alone(printed):
    """Return printed numbers with nothing of ours beside them."""
    areas = pd.DataFrame(columns=[*RUN, *AREAS])
    return agreement_table(published_table(records.table([]), printed, areas)).assign(study="")
