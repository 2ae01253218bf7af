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

    `target` is the column to predict, `drop` those to leave out, `group` in ranking the one with
    the query of each row, `categorical` those of numbers that name categories. `missing` is as for
    `BudgetPreprocessor`, but under "median" the gaps stay: each run fills them from its own
    training rows. The rest is as for `budgetlearn.preprocessing.reading.read_table`.
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
    # Every run fits its own medians, so the gaps must survive the encoding here.
    encoder = BudgetPreprocessor(INDICATOR if missing == MEDIAN else missing, categorical)
    X = encoder.fit_transform(features)
    if missing == MEDIAN:
        X = X.mask(features.isna())
    y = frame[target].to_numpy()
    groups = None if group is None else pd.factorize(frame[group])[0]
    return Table(X.to_numpy(np.float64), y, tuple(X.columns), None, groups, encoder.categories_)


def own_prices(path, unpriced=(), content=None):
    """Return the price list of a table, as `budgetlearn.price_lists.read_prices` returns it.

    `unpriced` columns are no features: their prices are left out. `content` is the sha256 that the
    file must have; None: any.
    """
    prices = read_prices(path)
    # Prices that change while a study runs would be two studies under one name.
    refuse_changed(path, content)
    return prices[~prices["feature"].isin(unpriced)]
