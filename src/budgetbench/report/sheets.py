"""The facts and prices of a study's data sets, for the report."""

from pathlib import Path

import pandas as pd

from budgetlearn.costs import COLUMNS

from ..analysis.schedules import of_case
from ..datasets.dataset import Dataset
from ..study.provenance import scoring_of
from ..study.records import read_costs
from .labels import DataSheet


def read_sheets(study, paths, sources):
    """Return {id: `DataSheet`} from the data sets' files and the points' `sources`."""
    from budgetlearn.protocol.scoring import SCORES, scores_of

    from ..study.runs import ratio_of_test_rows  # here: they load scikit-learn

    sheets = {}
    for data in map(Dataset.load, paths):  # one at a time, as large ones together may not fit
        score = SCORES[scoring_of(data.id, sources) or scores_of(data.task)[0]]
        sheets[data.id] = DataSheet(
            **study.shown[data.id],
            score=score.label,
            span=score.span,
            budget=study.budget(data.id),
            rows=data.n_samples,
            features=data.n_features,
            classes=len(data.class_names) or None,
            sha256=data.sha256,
            categories=data.categories,
            test_ratio=ratio_of_test_rows(data, study),
        )
    return sheets


def price_table(paths):
    """Return the prices of all cost tables, …/<dataset>/<costs>/<chunk>.csv, as one table."""
    # The data set and the kind of costs are only in the path.
    frames = [
        read_costs(path).assign(dataset=path.parts[-3], costs=path.parts[-2])
        for path in map(Path, paths)
    ]
    columns = ["dataset", "costs", "run", *COLUMNS]
    return pd.concat(frames, ignore_index=True).reindex(columns=columns)


def prices_of(prices, dataset, costs, run):
    """Return the price list of a run: columns feature (the name) and cost, indexed from 0."""
    case = of_case(prices, dataset, costs)
    own = case[case["run"] == run].reset_index(drop=True)
    # Prices of members of a group are texts that show the charge, as prices alone do not sum to a
    # model's cost.
    own["cost"] = [
        row.cost
        if pd.isna(row.group)
        else f"{row.cost:.10g} + {row.group_cost:.10g} for {row.group}"
        for row in own.itertuples()
    ]
    return own[["feature", "cost"]]
