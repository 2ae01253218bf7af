"""What a report says of the data sets, and the prices of their features, read from files."""

from pathlib import Path

import pandas as pd

from ..analysis.schedules import of_case
from ..datasets import Dataset, read_prices
from .display import DataSheet

PRICE_COLUMNS = ["dataset", "costs", "run", "feature", "cost"]


def read_sheets(study, paths):
    """Return the data sheets of a study's data sets.

    Parameters
    ----------
    study : Study
        The study.
    paths : iterable of path-like
        Its prepared data sets.

    Returns
    -------
    dict of str to DataSheet
    """
    sheets = {}
    for path in paths:  # one at a time: large ones together would not fit
        data = Dataset.load(path)
        sheets[data.id] = _sheet(data, study)
    return {name: sheets[name] for name in study.datasets}


def _sheet(data, study):
    from ..benchmark.runs import ratio_of_test_rows  # here: they load scikit-learn
    from ..benchmark.scores import SCORES

    return DataSheet(
        **study.shown[data.id],
        score=SCORES[data.task].name,
        bounded=SCORES[data.task].bounded,
        budget=study.budget(data.id),
        rows=data.X.shape[0],
        features=data.X.shape[1],
        classes=None if data.class_names is None else len(data.class_names),
        sha256=data.sha256,
        categories=data.categories,
        test_ratio=ratio_of_test_rows(data, study),
    )


def price_table(paths):
    """Return all prices as one table, charges of cost groups left out.

    Parameters
    ----------
    paths : iterable of path-like
        Cost tables, at …/<dataset>/<costs>/<chunk>.csv.

    Returns
    -------
    DataFrame
        dataset, costs, run, feature (its name), cost, for each run in the order of the features.
    """
    frames = []
    for path in map(Path, paths):
        kind, dataset = path.parts[-2], path.parts[-3]
        frames.append(read_prices(path).assign(dataset=dataset, costs=kind))
    return pd.concat(frames, ignore_index=True)[PRICE_COLUMNS]


def prices_of(prices, dataset, costs, run):
    """Return the price list of a run: feature (its name) and cost, indexed from 0."""
    case = of_case(prices, dataset, costs)
    return case.loc[case["run"] == run, ["feature", "cost"]].reset_index(drop=True)


def names_of(prices, dataset):
    """Return {index: name} of the features of a data set."""
    own = prices[prices["dataset"] == dataset]
    return dict(enumerate(own["feature"].drop_duplicates()))
