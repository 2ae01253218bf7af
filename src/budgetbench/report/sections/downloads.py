"""Every table and figure as a file, the operating points, and what their columns mean."""

import gzip
import hashlib
import io
import json

import pandas as pd

from ...analysis.areas import CONSTANT, mean_curve
from ...analysis.schedules import GROUP, of_case
from ...study.records import POINTS
from ...study.study import ACQUISITION
from ..section import FILE, Section, table, texts

_CONTEXT = {
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "field": "cr:field",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
    "extract": "cr:extract",
    "column": "cr:column",
    "fileObject": "cr:fileObject",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "conformsTo": "dct:conformsTo",
}


class Downloads(Section):
    """Files beside the page."""

    id = "downloads"
    title = "Downloads"
    place = 140

    @property
    def parts(self):
        curves = [table("curves")] if self.study.cases_under(ACQUISITION) else []
        files = ("points.csv.gz", "schema.json", "croissant.json")
        return [*curves, *(table(name, kind=FILE) for name in files)]

    def tables(self, report):
        if not self.study.cases_under(ACQUISITION):
            return {}
        return {"curves": all_curves(report.results.schedules)}

    def files(self, report):
        # Rates are arrays, which a csv cannot hold; tables/acquisition.csv has their means.
        points = report.results.points.drop(columns="acquisition_rates", errors="ignore")
        packed = _packed(points)
        schema = schema_of({**report.tables, "points": points})
        croissant = croissant_of(report.study, packed, schema["points"])
        return {
            "points.csv.gz": packed,
            "schema.json": _json(schema),
            "croissant.json": _json(croissant),
        }

    def context(self, report):
        from . import sections_of  # here: this package imports its modules

        return {"parts": [part for section in sections_of(self.study) for part in section.parts]}


def all_curves(schedules):
    """Return the `mean_curve` of all methods in all cases, over shares of the full cost."""
    columns = [*GROUP, "budget", "mean", "sd", "n_affording", "n_runs"]
    frames = [pd.DataFrame(columns=columns)] if schedules.empty else []
    for (dataset, costs, method), own in schedules.groupby(GROUP):
        case = of_case(schedules, dataset, costs)
        free = case[case["method"] == CONSTANT].set_index("run")["test_score"]
        curve = mean_curve(own, "cost_fraction", free.astype(float))
        frames.append(curve.assign(dataset=dataset, costs=costs, method=method))
    return pd.concat(frames, ignore_index=True)[columns]


def _packed(frame):
    """Return a frame as compressed csv. It may be of a million rows: pandas would take a minute."""
    import pyarrow as pa  # here: planning a report loads no more than it needs
    from pyarrow import csv

    content = io.BytesIO()
    # Without a time in it: equal points are equal bytes.
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=6, mtime=0) as packed:
        csv.write_csv(pa.Table.from_pandas(frame, preserve_index=False), packed)
    return content.getvalue()


def croissant_of(study, packed, fields):
    """Return the description of the operating points as Croissant 1.0 has it.

    `packed` is the content of points.csv.gz, `fields` are name, type and meaning of its columns.
    """
    name = "points.csv.gz"
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"budgetlearn-{study.name}",
        "description": f"Operating points of the study: {study.config['title']}.",
        "license": "https://spdx.org/licenses/BSD-3-Clause.html",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": "application/gzip",
                "sha256": hashlib.sha256(packed).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "points",
                "name": "points",
                "field": [_field(name, **one) for one in fields],
            }
        ],
    }


def _field(file_name, name, type, meaning):  # the schema's names
    return {
        "@type": "cr:Field",
        "@id": f"points/{name}",
        "name": name,
        "description": meaning,
        "dataType": f"sc:{type}",
        "source": {"fileObject": {"@id": file_name}, "extract": {"column": name}},
    }


def _json(content):
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def schema_of(tables):
    """Return name, type and meaning of each column of the tables, by the name of their file."""
    meanings = {name: column.meaning for name, column in POINTS.items()} | texts()["column"]
    return {
        name: [
            {"name": column, "type": _kind(frame[column]), "meaning": meanings.get(column, "")}
            for column in frame
        ]
        for name, frame in sorted(tables.items())
    }


def _kind(values):
    """Return the type of a column as schema.org calls it."""
    kinds = {"b": "Boolean", "i": "Integer", "u": "Integer", "f": "Float"}
    return kinds.get(values.dtype.kind, "Text")
