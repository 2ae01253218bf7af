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
from ..section import Section, file, table

_OPERATING = "Operating points of all methods and runs."
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

# Of the columns of all tables, beside those of the operating points.
MEANINGS = {name: column.meaning for name, column in POINTS.items()} | {
    "budget": "what may be spent, as a share of what all features cost",
    "mean": "mean over runs",
    "sd": "standard deviation over runs",
    "n_runs": "runs that the mean is over",
    "n_affording": "runs that afford a model of the method at this budget",
    "aup_test": "area under the Pareto staircase of test scores",
    "aup_valid": "area under the Pareto staircase of validation scores",
    "n_points": "length of the schedule",
    "mean_test": "mean area on test data",
    "sd_test": "its standard deviation over runs",
    "mean_valid": "mean area on validation data",
    "sd_valid": "its standard deviation over runs",
    "n_failed": "runs without a result",
    "horizon": "share of the full cost that may be spent; log: each decade counts alike",
    "mean_rank": "mean rank over data sets, 1 is the best",
    "n_cases": "data sets",
    "p_best": "p-value of Nemenyi's test against the method of the best mean rank",
    "elo": "Elo rating, 1000 on average",
    "low": "lower bound of the 95 % interval",
    "high": "upper bound of the 95 % interval",
    "wins": "data sets, runs or matches won",
    "ties": "data sets or matches tied",
    "losses": "data sets or matches lost",
    "p": "p-value of the corrected resampled t test",
    "p_holm": "the same after Holm's correction",
    "choice": "mean score on the rows that chose between methods",
    "test": "mean held-out score",
    "gain": "held-out score above the free constant's",
    "gain_low": "lower bound of its 95 % interval",
    "gain_high": "upper bound of its 95 % interval",
    "as_good": "whether that interval includes 0: the free constant may do as well",
    "runners_up": "the next best methods and their held-out scores",
    "default_models": "models fitted by the first fit of a run",
    "default_seconds": "seconds of the first fit of a run",
    "default_aup": "area of the first fit alone: the method at its own settings",
    "models": "models fitted in a run",
    "seconds": "seconds of all fits of a run",
    "aup": "area of all fits of a run: the method tuned",
    "splits": "standard deviation of the area that is due to splits",
    "prices": "standard deviation of the area that is due to prices",
    "rest": "standard deviation of the area that is due to neither alone",
    "n_splits": "splits",
    "n_prices": "cost profiles",
}


class Downloads(Section):
    """Files beside the page."""

    id = "downloads"
    title = "Downloads"
    place = 140

    @property
    def parts(self):
        curves = [table("curves", _CURVES)] if self.study.cases_under(ACQUISITION) else []
        files = {"points.csv.gz": _OPERATING, "schema.json": _SCHEMA, "croissant.json": _CROISSANT}
        return [*curves, *(file(name, caption) for name, caption in files.items())]

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
    return {
        name: [
            {"name": column, "type": _kind(frame[column]), "meaning": MEANINGS.get(column, "")}
            for column in frame
        ]
        for name, frame in sorted(tables.items())
    }


def _kind(values):
    """Return the type of a column as schema.org calls it."""
    kinds = {"b": "Boolean", "i": "Integer", "u": "Integer", "f": "Float"}
    return kinds.get(values.dtype.kind, "Text")
