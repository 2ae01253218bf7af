"""Methods of forests for devices (bytes, C, ONNX), and a report of what each format costs."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..validation import ParameterError
from .c_code import c_header
from .model import FORMATS, REGRESSION
from .onnx_model import onnx_model


class CompactMethods:
    """Mixin of forests that `_compact(format)` can put into the compact format."""

    def compact(self, format="float32"):
        """Return the fitted forest as a device stores it.

        Parameters
        ----------
        format : {"float32", "float16", "int8"}, default="float32"
            Of the values of the leaves; "int8" stores thresholds in 8 bits too.

        Returns
        -------
        CompactForest
        """
        # Refused, not dropped: without the learned side, NaN would always go right.
        check_is_fitted(self)
        if self.missing_in_training_.any():
            raise ParameterError(
                "the compact format has no place for missing values, and this forest has learned "
                "from some: fit it on a table without NaN."
            )
        return self._compact(format)

    def nbytes(self, format="float32"):
        """Return the bytes that the forest takes in the compact format.

        Parameters
        ----------
        format : {"float32", "float16", "int8"}, default="float32"
            As for `compact`.

        Returns
        -------
        int
        """
        return self.compact(format).nbytes

    def export_c(self, path, format="float32", name="model"):
        """Write the forest as a C99 header without malloc or libm.

        Parameters
        ----------
        path : str or Path
            Where to.
        format : {"float32", "float16", "int8"}, default="float32"
            As for `compact`.
        name : str, default="model"
            What the names in C begin with, as in `int model_predict(const float *x)`.
        """
        Path(path).write_text(c_header(self.compact(format), name))

    def export_onnx(self, path):
        """Write the forest as an ONNX model, which needs the package `onnx`.

        Parameters
        ----------
        path : str or Path
            Where to. The model takes `X`, float32 of shape (n, n_features), and returns
            `prediction`, or `label` and `scores`; sums are taken in float32.

        Raises
        ------
        MissingExtraError
            Without `onnx`: pip install onnx.
        """
        Path(path).write_bytes(onnx_model(self.compact()).SerializeToString())


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
