"""What fewer bits cost in error."""

import numpy as np
import pandas as pd

from .model import FORMATS, REGRESSION


def quantization_errors(model, X, y):
    """Report what each format of a model takes in bytes, and costs in error on given data.

    Parameters
    ----------
    model : estimator with `compact`
        Fitted.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)

    Returns
    -------
    DataFrame
        By format: bytes, the error (share of wrong classes, or mean squared error), what it is more
        than that of the model itself, and the share of predictions that differ from the model's
        (regression: the root mean squared difference).
    """
    y, own = np.asarray(y), model.predict(X)
    rows = []
    for name in FORMATS:
        forest = model.compact(name)
        predicted = forest.predict(X)
        if forest.kind == REGRESSION:
            error, before = (float(np.square(p - y).mean()) for p in (predicted, own))
            differs = float(np.sqrt(np.square(predicted - own).mean()))
        else:
            error, before = (float((p != y).mean()) for p in (predicted, own))
            differs = float((predicted != own).mean())
        rows.append((name, forest.nbytes, error, error - before, differs))
    columns = ["format", "bytes", "error", "increase", "difference"]
    return pd.DataFrame(rows, columns=columns).set_index("format")
