"""The user's own table and price list, encoded as everywhere: a column stays one."""

from pathlib import Path

import numpy as np
import pandas as pd

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.column_encoders import INDICATOR, MEDIAN
from budgetlearn.preprocessing.preprocessor import BudgetPreprocessor
from budgetlearn.preprocessing.reading import read_table
from budgetlearn.price_lists import read_prices

from .fetching import refuse_changed
from .tables import Table


def read_own(
    path,
    target,
    drop=(),
    group=None,
    missing=INDICATOR,
    categorical=(),
    separator=None,
    decimal=".",
    na=None,
):
    """Read a table of csv or Parquet.

    Parameters
    ----------
    target : str
        The column to predict.
    drop : sequence of str, default=()
        Columns to leave out.
    group : str, default=None
        In ranking, the column with the query of each row.
    missing : {"indicator", "median", "refuse"}, default="indicator"
        As for `BudgetPreprocessor`. Under "median" the gaps stay: each run fills them from its own
        training rows.
    categorical : sequence of str, default=()
        Columns of numbers that name categories.
    separator, decimal, na : str
        As for `budgetlearn.preprocessing.reading.read_table`.
    """
    frame = read_table(Path(path), separator, decimal, na)
    others = [target, *drop, *([] if group is None else [group])]
    for name in others:
        if name not in frame.columns:
            known = ", ".join(map(repr, frame.columns[:30]))
            raise DatasetError(f"There is no column {name!r}. The columns are: {known}.")
    features = frame.drop(columns=others)
    if not features.shape[1]:
        raise DatasetError(f"There is no column beside {', '.join(map(repr, others))}.")
    encoder = BudgetPreprocessor(INDICATOR if missing == MEDIAN else missing, categorical)
    X = encoder.fit_transform(features)
    if missing == MEDIAN:
        X = X.mask(features.isna())
    y = frame[target].to_numpy()
    groups = None if group is None else pd.factorize(frame[group])[0]
    return Table(X.to_numpy(np.float64), y, tuple(X.columns), None, groups, encoder.categories_)


def own_prices(path, unpriced=(), content=None):
    """Read the price list of a table.

    Parameters
    ----------
    unpriced : collection of str, default=()
        Columns of the table that are no features: their prices are left out.
    content : str, default=None
        The sha256 that the file must have; None: any.

    Returns
    -------
    DataFrame
        As `budgetlearn.price_lists.read_prices` returns it.
    """
    prices = read_prices(path)
    refuse_changed(path, content)
    return prices[~prices["feature"].isin(unpriced)]
