"""Every table and figure as a file, the operating points, and what their columns mean."""

import gzip
import hashlib
import io
import json

import pandas as pd

from ...analysis.areas import CONSTANT, mean_curve
from ...analysis.schedules import GROUP
from ...study.study import ACQUISITION
from ..columns import schema_of
from ..section import Section, file, table

_POINTS = "Operating points of all methods and runs."
_SCHEMA = "Columns of all tables: name, type and meaning."
_CROISSANT = "The results described as Croissant has it (JSON-LD), for search and loading."
_CURVES = """Mean test score over runs of what each budget gets, by method: the curves of the page.
Budgets are shares of the full cost."""
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
        curves = [table("curves", _CURVES)] if self.study.cases_under(ACQUISITION) else []
        points = [file("points.csv.gz", _POINTS), file("schema.json", _SCHEMA)]
        return [*curves, *points, file("croissant.json", _CROISSANT)]

    def tables(self, report):
        if not self.study.cases_under(ACQUISITION):
            return {}
        return {"curves": all_curves(report.results.schedules)}

    def files(self, report):
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

        parts = [part for section in sections_of(self.study) for part in section.parts]
        return {"parts": [(part.kind, part.path, part.caption) for part in parts]}


def all_curves(schedules):
    """Return the mean curves of all methods in all cases, over shares of the full cost.

    Parameters
    ----------
    schedules : DataFrame
        From `budgetbench.analysis.schedules.compressed_points`.

    Returns
    -------
    DataFrame
        dataset, costs, method, budget, mean, sd, n_affording, n_runs.
    """
    columns = [*GROUP, "budget", "mean", "sd", "n_affording", "n_runs"]
    frames = []
    for (dataset, costs, method), own in schedules.groupby(GROUP):
        same = (schedules["dataset"] == dataset) & (schedules["costs"] == costs)
        free = schedules[same & (schedules["method"] == CONSTANT)].set_index("run")["test_score"]
        curve = mean_curve(own, "cost_fraction", free.astype(float))
        frames.append(curve.assign(dataset=dataset, costs=costs, method=method))
    return (
        pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)
    )


def _packed(frame):
    """Return a frame as compressed csv. It may be of a million rows: pandas would take a minute."""
    import pyarrow as pa  # here: planning a report loads no more than it needs
    from pyarrow import csv

    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=6, mtime=0) as packed:
        csv.write_csv(pa.Table.from_pandas(frame, preserve_index=False), packed)
    return content.getvalue()


def croissant_of(study, packed, fields):
    """Return the description of the operating points as Croissant 1.0 has it.

    Parameters
    ----------
    packed : bytes
        Content of points.csv.gz.
    fields : list of dict
        name, type and meaning of its columns.
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
