"""The data sets of a study: their sheets and prices, and a page of what is in them."""

from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.costs import read_prices
from budgetlearn.files import whole_file

from ..analysis.schedules import of_case
from ..datasets.dataset import Dataset
from ..study.provenance import scoring_of
from .display import DataSheet
from .page import data_uri, template_environment
from .style import drawing, figure_bytes
from .text import as_text

PRICE_COLUMNS = ["dataset", "costs", "run", "feature", "cost"]
_MOST_BARS = 26


def read_sheets(study, paths, sources):
    """Return the `DataSheet` of each data set, by id, from its file and the points' `sources`."""
    sheets = {}
    for path in paths:  # one at a time: large ones together would not fit
        data = Dataset.load(path)
        sheets[data.id] = _sheet(data, study, sources)
    # In the order of the study, whatever order the files came in.
    return {name: sheets[name] for name in study.datasets}


def _sheet(data, study, sources):
    from budgetlearn.protocol.scoring import SCORES, scores_of

    from ..study.runs import ratio_of_test_rows  # here: they load scikit-learn

    score = SCORES[scoring_of(data.id, sources) or scores_of(data.task)[0]]
    return DataSheet(
        **study.shown[data.id],
        score=score.label,
        span=score.span,
        budget=study.budget(data.id),
        rows=data.X.shape[0],
        features=data.X.shape[1],
        classes=None if data.class_names is None else len(data.class_names),
        sha256=data.sha256,
        categories=data.categories,
        test_ratio=ratio_of_test_rows(data, study),
    )


def price_table(paths):
    """Return the prices of all cost tables, …/<dataset>/<costs>/<chunk>.csv, as one table.

    Charges of cost groups are left out; features come in the order of the data.
    """
    # The path says what a price list of one run cannot: its data set and kind.
    frames = [
        read_prices(path).assign(dataset=path.parts[-3], costs=path.parts[-2])
        for path in map(Path, paths)
    ]
    return pd.concat(frames, ignore_index=True)[PRICE_COLUMNS]


def prices_of(prices, dataset, costs, run):
    """Return the price list of a run: feature (its name) and cost, indexed from 0."""
    case = of_case(prices, dataset, costs)
    return case.loc[case["run"] == run, ["feature", "cost"]].reset_index(drop=True)


def names_of(prices, dataset):
    """Return {index: name} of the features of a data set."""
    own = prices[prices["dataset"] == dataset]
    # Every run names the features in the same order: the first sight of each is its place.
    return dict(enumerate(own["feature"].drop_duplicates()))


def write_data_page(study, files, path):
    """Write the page of the prepared data sets in `files`."""
    pages = [_page(study, Dataset.load(file)) for file in files]
    template = template_environment().get_template("data.html.j2")
    with whole_file(path) as unfinished:
        unfinished.write_text(template.render(study=study, pages=pages), encoding="utf-8")


def _page(study, data):
    shown, list_of = study.shown[data.id], study.datasets[data.id].costs
    prices = None if list_of is None else read_prices(list_of).set_index("feature")["cost"]
    # What makes a data set hard or odd stands here: gaps, constants, skewed classes.
    facts = {
        "task": data.task,
        "rows": f"{data.n_samples:,}",
        "features": f"{data.n_features:,}",
        **_target_facts(data),
        "split": as_text(study.sizes(data.id)),
        "constant columns": int((np.ptp(data.X, axis=0) == 0).sum()),
        "missing cells": f"{np.isnan(data.X).sum():,}",
        "prices": "none of its own: drawn at random, 1 to 100, or 1 each",
        "licence": as_text(shown["licence"] or None),
        "citation": as_text(shown["citation"] or None),
        "sha256 of the prepared table": data.sha256,
    }
    # Ranking is split by query: rows of one are not independent.
    if data.groups is not None:
        facts["split"] += f"; {len(np.unique(data.groups)):,} queries stay whole"
    drawn = {"Classes" if data.class_names else "Target": _target_figure(data)}
    if prices is not None:
        span = f"{prices.min():.4g} to {prices.max():.4g}"
        facts["prices"] = f"a list: {span}, all together {prices.sum():.6g}"
        drawn["Prices, from the most expensive"] = _price_figure(prices)
    images = {name: data_uri(figure_bytes(figure, "svg")) for name, figure in drawn.items()}
    page = {"id": data.id, "title": shown["title"], "facts": facts, "images": images}
    return page | {"categories": data.categories}


def _target_facts(data):
    if data.class_names:
        counts = data.class_counts
        share = f"{counts.max() / counts.sum():.1%} of the rows"
        return {"classes": len(data.class_names), "largest class": share}
    low, mean, high = data.y.min(), data.y.mean(), data.y.max()
    return {"target": f"{low:.4g} to {high:.4g}, mean {mean:.4g}"}


def _target_figure(data):
    if not data.class_names:
        with drawing(5.2, 2.8) as (figure, axes):
            axes.hist(data.y, bins=40, color="#0072b2")
            axes.set(xlabel="target", ylabel="rows")
        return figure
    # The largest classes; the axis says how many more there are.
    order = np.argsort(-data.class_counts, kind="stable")[:_MOST_BARS]
    names = [data.class_names[code] for code in order]
    left_out = len(data.class_names) - len(order)
    axis = {"ylabel": "rows", "xlabel": f"class ({left_out} more)" if left_out else "class"}
    # Labels are turned where they would run into each other.
    turned = max(map(len, names)) * len(names) > 50
    return _bars(data.class_counts[order], names, axis, 2.8, turned, color="#0072b2")


def _price_figure(prices):
    # From the most expensive: whether few features hold most of the cost is seen at once.
    shown, axis = prices.sort_values(ascending=False, kind="stable"), {"ylabel": "price"}
    axis["xlabel"] = "feature"
    if len(shown) <= _MOST_BARS:
        return _bars(shown, shown.index, axis, 3.4, turned=True, color="#d55e00")
    # Many bars without gaps read as one outline.
    return _bars(shown, None, axis, 2.8, turned=False, color="#d55e00", width=1.0)


def _bars(heights, names, axis, height, turned, **look):
    with drawing(5.2, height) as (figure, axes):
        axes.bar(range(len(heights)), heights, **look)
        if names is not None:
            axes.set_xticks(range(len(heights)), names, **({"rotation": 90} if turned else {}))
        axes.set(**axis)
        axes.grid(axis="x", visible=False)
    return figure
