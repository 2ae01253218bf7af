"""The file of what errors cost: true,predicted,cost."""

import numpy as np
import pandas as pd

from ..exceptions import ConfigError

COLUMNS = ["true", "predicted", "cost"]


def read_error_costs(path, table):
    """Return the costs of errors by (true, predicted) class, as a csv lists them.

    Its columns are true,predicted,cost. Raises `ConfigError` when a column, a class of the table or
    a number is not as it should be.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.columns = [str(name).strip() for name in frame.columns]
    if frame.columns.tolist() != COLUMNS:
        raise ConfigError(
            f"{path} needs the columns {','.join(COLUMNS)}, and has {','.join(frame.columns)}."
        )
    labels = {str(label): label for label in np.unique(table.y)}
    costs = pd.to_numeric(frame["cost"], errors="coerce")
    found = {}
    for row, cost in zip(frame.itertuples(index=False), costs, strict=True):
        unknown = [name for name in (row.true, row.predicted) if name not in labels]
        if unknown:
            raise ConfigError(
                f"{path} names the class {unknown[0]!r}; {table.target!r} has "
                f"{', '.join(list(labels)[:8])}."
            )
        if not np.isfinite(cost) or cost < 0:
            raise ConfigError(f"{path}: the cost {row.cost!r} is no number of 0 or more.")
        found[labels[row.true], labels[row.predicted]] = float(cost)
    return found
