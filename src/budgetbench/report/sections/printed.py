"""Printed and ours: the numbers of papers beside those of a study that reruns them."""

import pandas as pd

from ...analysis.published import published_table
from ...analysis.reproduction import OUTSIDE, WITHIN, agreement_table, with_reasons
from ...study.study import PUBLISHED, place_of
from ..printed_numbers import read_published, read_reasons
from ..section import Section, table
from ..text import DASH, counted, plus_minus, span_of_runs

_REASONS = f"{PUBLISHED}/deviations.yaml"
# Digits that matter, by quantity; three for all others.
_DIGITS = {"cost_percent": 1, "n_features": 1, "cost": 1, "n_nodes": 0, "seconds": 2}
_DIGITS |= {"error_percent": 2, "mse": 4, "entropy_percent": 2}
_NAMES = {
    "aup_test": "AUP (test)",
    "aup_valid": "AUP (validation)",
    "aup_paper": "AUP (third reading)",
    "cost": "mean cost",
    "cost_percent": "% of the full cost",
    "entropy_percent": "entropy of nodes over trees, %",
    "error_percent": "test error, %",
    "estimated_score": "estimated test score",
    "mse": "mean squared error",
    "n_features": "features",
    "n_nodes": "nodes",
    "predict_seconds": "seconds to predict",
    "seconds": "seconds to fit",
    "test_error": "test error",
    "test_score": "test score",
    "valid_score": "validation score",
}


class Printed(Section):
    """Printed numbers, ours, and how far apart they are."""

    id = "published"
    title = "Printed and ours"
    place = 10

    def applies(self):
        return bool(self.study.published)

    @property
    def inputs(self):
        return [*self.study.published, place_of(_REASONS, self.study.root)]

    @property
    def parts(self):
        return [table("published")]

    def tables(self, report):
        printed = read_published(self.study.published)
        results, stand_ins = report.results, self.study.config.get("stand_ins", {})
        ours = published_table(results.points, printed, results.areas, stand_ins)
        judged = agreement_table(ours)
        return {"published": with_reasons(judged, read_reasons(self.inputs[-1]))}

    def context(self, report):
        numbers = report.tables["published"]
        return {"tables": printed_tables(numbers, report.display), "not_rerun": left_out(numbers)}


def printed_tables(table, display):
    """Return the published tables that the study reruns, as the page shows them.

    There is a dict for each published table and case: title; note (how many runs, on the paper's
    data or on others); quantities (names of the groups of columns); rows of method, setting and
    cells (printed, ours, difference and its kind: near, off, better or worse); reasons: remarks on
    the printed numbers, and the variants that answer for differences.
    """
    # What was not rerun is counted below the tables, not shown as gaps in them.
    rerun = table[table["n_runs"] > 0]
    keys = ["source", "run_on", "costs"]
    return [
        _shown(part, display.case_title(run_on, costs))
        for (_, run_on, costs), part in rerun.groupby(keys, sort=False)
    ]


def left_out(table):
    """Return in words how many printed numbers of each table have nothing of ours beside them."""
    # Said aloud: a page that shows only what came out would flatter us.
    counts = (table["n_runs"] == 0).groupby(table["source"], sort=False).sum()
    return [
        f"{source}: {counted(int(count), 'printed number')} not rerun in this study."
        for source, count in counts.items()
        if count
    ]


def _shown(part, case_title):
    first = part.iloc[0]
    quantities = list(part["quantity"].drop_duplicates())
    return {
        "title": f"{first['paper']}, table {first['table']}: {case_title}",
        "note": _note(part, first),
        "quantities": [_NAMES[name] for name in quantities],
        "reasons": [*filter(None, part["remark"].drop_duplicates()), *_reasons(part)],
        "rows": [
            (method, setting or DASH, _cells(numbers.set_index("quantity"), quantities))
            for (method, setting), numbers in part.groupby(["method", "setting"], sort=False)
        ],
    }


def _note(part, first):
    """Return the number of our runs in words, and a mark for other data than the paper's."""
    runs = span_of_runs(part["n_runs"])
    if first["run_on"] == first["dataset"]:
        return f"{runs} of ours"
    return f"{runs} of ours, on other rows than the paper's {first['dataset']}: expect a gap"


def _reasons(part):
    """Return the variants that answer for what is not reproduced, in words, also if none does."""
    known = [
        f"{reason} Variant without that: {variant}."
        for reason, variant in part[["reason", "variant"]].drop_duplicates().to_numpy()
        if reason
    ]
    unknown = int(((part["verdict"] == OUTSIDE) & (part["reason"] == "")).sum())
    if unknown:
        numbers = counted(unknown, "number")
        known.append(f"{numbers} outside both interval and margin, with no known reason.")
    return known


_KINDS = {"": "", "single run": "", "clock": "", WITHIN: "near", OUTSIDE: "worse"}


def _kind(row):
    """Return the class of distance from the printed number, for its colour; "" if not judged."""
    # Better than printed is a deviation, too, but of another kind than worse.
    kind = _KINDS.get(row["verdict"], "off")
    return "better" if kind == "worse" and row["better"] else kind


def _cells(numbers, quantities):
    """Return printed, ours, difference and kind of difference of each quantity."""
    cells = []
    for name in quantities:
        if name not in numbers.index:
            cells.append((DASH, DASH, DASH, ""))
            continue
        row, digits = numbers.loc[name], _DIGITS.get(name, 3)
        own = plus_minus(row["ours"], row["sd"], digits)
        difference = f"{row['difference']:+.{digits}f}"
        if pd.notna(row["share"]):
            difference += f" ({100 * row['share']:+.0f} %)"
        # A minus sign below, not a hyphen: it is as wide as the plus.
        printed = plus_minus(row["value"], row["value_sd"], digits)
        cells.append((printed, own, difference.replace("-", "−"), _kind(row)))
    return cells
