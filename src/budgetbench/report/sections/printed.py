"""Printed and ours: reading the numbers of papers, and comparing a study's results with them.

A table of printed numbers is a tidy csv file with the columns paper, table, dataset, method,
quantity and value. The value has all printed digits, as they determine how it was rounded. Optional
columns are value_sd (over the paper's runs), runs (their number) and remark. Every other column is
a setting of the number, such as trees, and is empty for numbers without it.
"""

from pathlib import Path

import pandas as pd

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

from ...analysis import reproduction as judging
from ...study.records import setting_text
from ...study.study import PUBLISHED, here_or_in
from ..section import Section
from ..text import DASH, counted, plus_minus

_REASONS = f"{PUBLISHED}/deviations.yaml"
_PRINTED = ["paper", "table", "dataset", "method", "quantity", "value"]
_MAY_HAVE = ["value_sd", "runs", "remark"]
_KEYS = ["dataset", "method", "setting", "quantity"]
_ENTRY = {"why", "variant"}  # required keys of a reason
_MAY = {*judging.WHERE, "reading", "chosen_after", "narrowed_after", "one_sample"}
# CSS classes of verdicts, for the colour of the difference; others are "off".
_KINDS = {judging.WITHIN: "near", **dict.fromkeys(("", judging.UNJUDGED, judging.CLOCK), "control")}


class Printed(Section):
    """Printed numbers, ours, and their differences."""

    id = "published"
    title = "Printed and ours"
    place = 10
    names = ("published",)

    def applies(self):
        return bool(self.study.published)

    @property
    def inputs(self):
        return [*self.study.published, here_or_in(_REASONS, self.study.root)]

    def tables(self, report):
        printed = read_published(self.study.published)
        results, stand_ins = report.results, self.study.config.get("stand_ins", {})
        values = judging.OurValues(results.points, lambda: results.areas)
        judged = judging.agreement_table(judging.published_table(values, printed, stand_ins))
        return {"published": judging.with_reasons(judged, read_reasons(self.inputs[-1]))}

    def context(self, report):
        numbers, display = report.tables["published"], report.display
        rerun = numbers[numbers["n_runs"] > 0].groupby(["source", "run_on", "costs"], sort=False)
        # Numbers that were not rerun are counted below the tables.
        absent = numbers.loc[numbers["n_runs"] == 0, "source"].value_counts(sort=False)
        return {
            "tables": [_shown(part, case, display) for (_, *case), part in rerun],
            "not_rerun": [
                f"{source}: {counted(count, 'printed number')} not rerun in this study."
                for source, count in absent.items()
            ],
        }


def _shown(part, case, display):
    """Return the values of the page for one published table on one case."""
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
    """Return sentences on the reasons of deviations, and on numbers without a known reason."""
    pairs = part.loc[part["reason"] != "", ["reason", "variant"]].drop_duplicates().to_numpy()
    known = [f"{reason} Variant without this cause: {variant}." for reason, variant in pairs]
    unknown = ((part["verdict"] == judging.OUTSIDE) & (part["reason"] == "")).sum()
    if unknown:
        numbers = counted(unknown, "number")
        known.append(f"{numbers} outside both interval and margin, with no known reason.")
    return known


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
        outside = {True: "better", False: "worse"}.get(row["better"], "off")
        kind = outside if row["verdict"] == judging.OUTSIDE else _KINDS.get(row["verdict"], "off")
        # A minus sign instead of a hyphen, as it is as wide as the plus.
        shown = {"text": difference.replace("-", "−"), "kind": kind}
        cells += [plus_minus(row["value"], row["value_sd"], digits), own, shown]
    return cells


def read_published(paths):
    """Read tables of printed numbers from csv files; column `source` holds the file's name."""
    frames = [_read_one(Path(path)) for path in paths]
    columns = ["source", *_PRINTED[:4], "setting", *_PRINTED[4:]]
    columns += ["value_sd", "unit", "printed_runs", "remark"]
    return pd.concat(frames)[columns] if frames else pd.DataFrame(columns=columns)


def _read_one(path):
    # "None" is a setting (candidate_window=None means all of them), an empty field is not.
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    absent = [column for column in _PRINTED if column not in frame]
    if absent:
        raise ConfigError(f"{path}: printed numbers need the column {absent[0]!r}.")
    strange = sorted(set(frame["quantity"]) - set(judging.QUANTITIES))
    if strange:
        known = ", ".join(judging.QUANTITIES)
        raise ConfigError(f"{path}: unknown quantity {strange[0]!r}; known: {known}.")
    more = frame.reindex(columns=_MAY_HAVE).astype(object)
    # By index, as pandas before 3.1 has no records of a table without columns.
    rows = frame.drop(columns=[*_PRINTED, *_MAY_HAVE], errors="ignore").to_dict("index").values()
    frame = frame.assign(
        setting=[setting_text({n: v for n, v in row.items() if pd.notna(v)}) for row in rows],
        value=frame["value"].astype(float),
        value_sd=more["value_sd"].astype(float),
        # The value of one unit in the last printed digit.
        unit=[10.0 ** -len(text.partition(".")[2]) for text in frame["value"]],
        printed_runs=more["runs"].astype(float).fillna(1.0),
        remark=more["remark"].fillna(""),
        source=path.stem,
    )
    # A repeated number would count twice.
    repeated = frame[frame.duplicated(_KEYS)]
    if len(repeated):
        raise ConfigError(f"{path}: {tuple(repeated.iloc[0][_KEYS])} appears more than once.")
    return frame


def read_reasons(path):
    """Read the reasons of known deviations, each tested by a variant study, as a list of dicts."""
    entries = read_yaml(path) or []  # the head of `deviations.yaml` describes them
    for entry in entries:
        # A misspelt key would silently make the entry fit more numbers.
        if not _ENTRY <= entry.keys() <= {*_ENTRY, *_MAY}:
            raise ConfigError(
                f"{path}: an entry needs `why` and `variant` and may have "
                f"{', '.join(sorted(_MAY))}; got {', '.join(map(str, entry))}."
            )
    return entries
