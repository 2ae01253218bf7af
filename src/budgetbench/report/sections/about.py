"""The facts behind the results: coverage, settings, prices, data, provenance, and downloads."""

import gzip
import io
import json

from ...analysis.schedules import CASE, CASE_RUN
from ...study.methods import settings_tried
from ...study.records import POINTS
from ..section import FILE, Section, part, texts
from ..text import DASH, as_text

_WORDS = {"n_ok": "ok", "n_partial": "in part", "n_failed": "failed", "n_missing": "missing"}


class Coverage(Section):
    """Completed runs by method and data set, and the reasons for missing ones."""

    id = "coverage"
    place = 95
    names = ("coverage",)

    def context(self, report):
        display = report.display
        titles, rows = display.matrix(report.results.coverage, display.methods, _counts)
        gaps = [
            f"{title}, {label}: {cell['text']} ({cell['message']})"
            for label, *cells in rows
            for title, cell in zip(titles, cells, strict=True)
            if cell["kind"]
        ]
        return {"columns": titles, "rows": rows, "gaps": gaps}


def _counts(row):
    counts = {word: row[name] for name, word in _WORDS.items() if row.get(name)}
    # Without a row the study does not include the method here, so nothing is missing.
    text = ", ".join(f"{count} {word}" for word, count in counts.items()) if row else DASH
    kind = "" if set(counts) <= {"ok"} else "bad"
    message = row.get("message") or "no record of it was found"
    return {"text": text, "kind": kind, "message": message}


class Settings(Section):
    """Settings of the study and of every method."""

    id = "settings"
    place = 100

    def context(self, report):
        study, given = self.study, self.study.methods
        # Models offered in a run, as a range over the data sets.
        spans = report.results.times.groupby("method")["n_points"].agg(["min", "max"])
        spans = spans.round().astype(int).itertuples()
        number = {name: "–".join(map(str, dict.fromkeys(ends))) for name, *ends in spans}
        # The specification on the first data set of each method, with its space or grid.
        spec = {name: study.spec(name, data) for data, _, name in study.cells[::-1]}
        rows = [
            [
                {"text": method.label, "note": "control" if method.control else ""},
                {"text": given[method.id]["class"], "kind": "code"},
                {"text": as_text(given[method.id].get("parameters") or None), "kind": "long"},
                as_text(settings_tried(spec[method.id]) or None),
                number.get(method.id),
            ]
            for method in report.display.methods.values()
        ]
        scores = {name: sheet.score for name, sheet in report.display.datasets.items()}
        splits = {data: _split(study.sizes(data)) for data in study.datasets}
        profiles = {d: ", ".join(c for name, c in study.cases if name == d) for d in splits}
        settings = {
            "runs": study.config["runs"],
            "split": _same_or_each(splits),
            "cost profiles": _same_or_each(profiles),
            "seed": study.seed,
            "refit on training and validation data": study.config.get("refit", False),
        }
        for data in splits:
            if own := study.config.get("by_dataset", {}).get(data, {}).get("overrides"):
                settings[f"only on {data}"] = own
        if "left_out" in study.config:
            settings["left out"] = study.config["left_out"]
        return {"settings": settings | {"score": _same_or_each(scores)}, "rows": rows}


def _same_or_each(settings):
    return next(iter(settings.values())) if len(set(settings.values())) == 1 else settings


def _split(sizes):
    if isinstance(sizes, str):
        return sizes
    if isinstance(sizes, dict):
        return f"{_split(sizes['per_class'])} of each class"
    return " / ".join(map(str, sizes))


class Prices(Section):
    """Cheapest, median and most expensive feature, and the cost of all features."""

    id = "prices"
    place = 103
    names = ("prices",)

    def tables(self, report):
        prices = report.prices
        # A charge is paid once for all features of its group.
        charges = prices["group_cost"].mask(prices.duplicated([*CASE_RUN, "group"])).fillna(0.0)
        # Each run draws its own prices, so the sums are taken within runs and then averaged.
        paid = prices.assign(paid=prices["cost"] + charges).groupby(CASE_RUN)["paid"].sum()
        table = prices.groupby(CASE)["cost"].agg(least="min", median="median", most="max")
        return {"prices": table.assign(full=paid.groupby(CASE).mean()).reset_index()}

    def context(self, report):
        known, display = report.tables["prices"].set_index(CASE), report.display
        forms, cases = ("{:g}", "{:g}", "{:g}", "{:.6g}"), display.cases(known.reset_index())
        rows = [[display.case_title(*c), *map(str.format, forms, known.loc[c])] for c in cases]
        return {"rows": rows}


class DataSets(Section):
    """A table with one line for each data set."""

    id = "data"
    place = 105

    def context(self, report):
        rows = []
        for sheet in report.display.datasets.values():
            facts = sheet.title, sheet.rows, sheet.features, sheet.classes, sheet.licence
            rows.append([*facts, {"text": sheet.citation, "kind": "long"}])
        return {"rows": rows}


class MadeWith(Section):
    """Provenance of code and data."""

    id = "provenance"
    place = 110

    def context(self, report):
        return {"hashes": {one.title: one.sha256 for one in report.display.datasets.values()}}


class Downloads(Section):
    """The files of the report."""

    id = "downloads"
    place = 140

    @property
    def parts(self):
        return [part(name, FILE) for name in texts()[FILE]]

    def files(self, report):
        import pyarrow as pa  # here, to keep planning a report fast
        from pyarrow import csv

        # The rates are arrays, which have no place in a csv file.
        points = report.results.points.drop(columns="acquisition_rates", errors="ignore")
        tables = {**report.tables, "points": points}
        schema = json.dumps(schema_of(tables), indent=1, ensure_ascii=False)
        content = io.BytesIO()
        # Not by pandas, which takes a minute. Without a time stamp: equal points give equal bytes.
        with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=6, mtime=0) as packed:
            csv.write_csv(pa.Table.from_pandas(points, preserve_index=False), packed)
        return {"points.csv.gz": content.getvalue(), "schema.json": f"{schema}\n".encode()}

    def context(self, report):
        from . import sections_of  # here: this package imports its modules

        parts = [part for section in sections_of(self.study) for part in section.parts]
        return {"rows": [[{"file": p.path}, {"text": p.caption, "kind": "long"}] for p in parts]}


def schema_of(tables):
    """Return {file name: list of the name, type and meaning of each column} for all tables."""
    meanings = {name: column.meaning for name, column in POINTS.items()} | texts()["column"]
    kinds = {"b": "Boolean", "i": "Integer", "u": "Integer", "f": "Float"}  # as schema.org has them
    schema = {}
    for name, frame in sorted(tables.items()):
        schema[name] = []
        for column, dtype in frame.dtypes.items():
            # All spreads are over runs.
            other = "standard deviation over runs" if "sd" in column.split("_") else ""
            meaning = meanings.get(f"{name}.{column}", meanings.get(column, other))
            kind = kinds.get(dtype.kind, "Text")
            schema[name].append({"name": column, "type": kind, "meaning": meaning})
    return schema
