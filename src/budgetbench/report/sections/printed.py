"""Printed and ours: the numbers of papers, how they are read, and those of a study beside them.

A table of printed numbers is a tidy csv: paper, table, dataset, method, quantity, value (with the
digits that are printed: they say how it was rounded), and if printed value_sd, the standard
deviation over the paper's runs, and runs, how many those are; where needed remark, what readers
must know of the number; every other column is a setting that the number belongs to, for example
trees, empty where it has none.
"""

from pathlib import Path

import pandas as pd

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

from ...analysis import reproduction as judging
from ...study.records import setting_text
from ...study.study import PUBLISHED, place_of
from ..section import Section
from ..text import DASH, counted, plus_minus

_REASONS = f"{PUBLISHED}/deviations.yaml"
_PRINTED = ["paper", "table", "dataset", "method", "quantity", "value"]
_MAY_HAVE = ["value_sd", "runs", "remark"]
_KEYS = ["dataset", "method", "setting", "quantity"]
_ENTRY = {"why", "variant"}  # what an entry of the reasons must have
_MAY = {*judging.WHERE, "reading", "chosen_after", "narrowed_after", "one_sample"}


class Printed(Section):
    """Printed numbers, ours, and how far apart they are."""

    id = "published"
    title = "Printed and ours"
    place = 10
    names = ("published",)

    def applies(self):
        return bool(self.study.published)

    @property
    def inputs(self):
        return [*self.study.published, place_of(_REASONS, self.study.root)]

    def tables(self, report):
        printed = read_published(self.study.published)
        results, stand_ins = report.results, self.study.config.get("stand_ins", {})
        values = judging.OurValues(results.points, lambda: results.areas)
        judged = judging.agreement_table(judging.published_table(values, printed, stand_ins))
        return {"published": judging.with_reasons(judged, read_reasons(self.inputs[-1]))}

    def context(self, report):
        numbers, display = report.tables["published"], report.display
        rerun = numbers[numbers["n_runs"] > 0].groupby(["source", "run_on", "costs"], sort=False)
        # Counted aloud below the tables: a page that shows only what came out would flatter us.
        absent = numbers.loc[numbers["n_runs"] == 0, "source"].value_counts(sort=False)
        return {
            "tables": [_shown(part, case, display) for (_, *case), part in rerun],
            "not_rerun": [
                f"{source}: {counted(count, 'printed number')} not rerun in this study."
                for source, count in absent.items()
            ],
        }


def _shown(part, case, display):
    """Return one published table on one case, as the page shows it."""
    first, quantities = part.iloc[0], list(part["quantity"].drop_duplicates())
    heads = ["Method", "Setting"]
    for name in quantities:
        heads += [f"{judging.QUANTITIES[name].name}, printed", "ours", "difference"]
    least, most = part["n_runs"].min(), part["n_runs"].max()
    note = f"{counted(most, 'run') if least == most else f'{least} to {most} runs'} of ours"
    if first["run_on"] != first["dataset"]:
        note += f", on other rows than the paper's {first['dataset']}: expect a gap"
    return {
        "title": f"{first['paper']}, table {first['table']}: {display.case_title(*case)}",
        "note": note,
        "heads": heads,
        "reasons": [*filter(None, part["remark"].drop_duplicates()), *_reasons(part)],
        "rows": [
            [display.label(method), setting or DASH, *_cells(own.set_index("quantity"), quantities)]
            for (method, setting), own in part.groupby(["method", "setting"], sort=False)
        ],
    }


def _reasons(part):
    """Return in words which variants explain what is not reproduced, and what none explains."""
    pairs = part.loc[part["reason"] != "", ["reason", "variant"]].drop_duplicates().to_numpy()
    known = [f"{reason} Variant without that: {variant}." for reason, variant in pairs]
    unknown = ((part["verdict"] == judging.OUTSIDE) & (part["reason"] == "")).sum()
    if unknown:
        numbers = counted(unknown, "number")
        known.append(f"{numbers} outside both interval and margin, with no known reason.")
    return known


# Class of the distance from the printed number, for its colour; of others "off".
_KINDS = {judging.WITHIN: "near", **dict.fromkeys(("", "single run", "clock"), "control")}


def _cells(numbers, quantities):
    cells = []
    for name in quantities:
        if name not in numbers.index:
            cells += [DASH, DASH, {"text": DASH, "kind": "control"}]
            continue
        row, digits = numbers.loc[name], judging.QUANTITIES[name].digits
        own = plus_minus(row["ours"], row["sd"], digits)
        difference = f"{row['difference']:+.{digits}f}"
        if pd.notna(row["share"]):
            difference += f" ({100 * row['share']:+.0f} %)"
        # Better than printed is a deviation, too, but of another kind than worse.
        outside = "better" if row["better"] else "worse"
        kind = outside if row["verdict"] == judging.OUTSIDE else _KINDS.get(row["verdict"], "off")
        # A minus sign below, not a hyphen: it is as wide as the plus.
        shown = {"text": difference.replace("-", "−"), "kind": kind}
        cells += [plus_minus(row["value"], row["value_sd"], digits), own, shown]
    return cells


def read_published(paths):
    """Read tables of printed numbers from csv files; the name of each is kept as `source`."""
    frames = [_read_one(Path(path)) for path in paths]
    columns = ["source", *_PRINTED[:4], "setting", *_PRINTED[4:]]
    columns += ["value_sd", "unit", "printed_runs", "remark"]
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)


def _read_one(path):
    # "None" is a setting (candidate_window=None: all of them), an empty field is not.
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    # A number that is read wrongly would be judged wrongly: refuse what is not understood.
    absent = [column for column in _PRINTED if column not in frame]
    if absent:
        raise ConfigError(f"{path}: printed numbers need the column {absent[0]!r}.")
    strange = sorted(set(frame["quantity"]) - set(judging.QUANTITIES))
    if strange:
        known = ", ".join(judging.QUANTITIES)
        raise ConfigError(f"{path}: unknown quantity {strange[0]!r}; known: {known}.")
    more = frame.reindex(columns=_MAY_HAVE).astype(object)
    rows = frame.drop(columns=[*_PRINTED, *_MAY_HAVE], errors="ignore").to_dict("records")
    frame = frame.assign(
        setting=[setting_text({n: v for n, v in row.items() if pd.notna(v)}) for row in rows],
        value=frame["value"].astype(float),
        value_sd=more["value_sd"].astype(float),
        # Of the last digit of a number as it is printed.
        unit=[10.0 ** -len(text.partition(".")[2]) for text in frame["value"]],
        printed_runs=more["runs"].astype(float).fillna(1.0),
        remark=more["remark"].fillna(""),
        source=path.stem,
    )
    # Twice the same number would count twice as reproduced.
    repeated = frame[frame.duplicated(_KEYS)]
    if len(repeated):
        raise ConfigError(f"{path}: {tuple(repeated.iloc[0][_KEYS])} appears more than once.")
    return frame


def read_reasons(path):
    """Read the reasons of known deviations, each an experiment, as a list of dicts from YAML.

    The head of `resources/published/deviations.yaml` says what an entry has.
    """
    entries = read_yaml(path) or []
    for entry in entries:
        # A key that is misspelt would silently make the entry fit more numbers.
        if not _ENTRY <= entry.keys() <= {*_ENTRY, *_MAY}:
            raise ConfigError(
                f"{path}: an entry needs `why` and `variant` and may have "
                f"{', '.join(sorted(_MAY))}; got {', '.join(map(str, entry))}."
            )
    return entries
