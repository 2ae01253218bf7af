"""Tables to predict from: checked, with the missing cells that a prediction must not look at."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..exceptions import MissingValueError
from ..features import PerFeature, check_same_columns
from ..validation import ParameterError
from .requests import missing_message

_EXAMPLE = PerFeature("values of the example", "value", ParameterError)


def working_dtype(estimator):
    """Return the type of number that an estimator computes with where it may choose."""
    kinds = estimator._dtype
    return kinds[0] if isinstance(kinds, tuple) else kinds


def checked_table(estimator, X):
    """Return X as an array, and the names of the columns that it lacks, filled with NaN."""
    check_is_fitted(estimator)
    absent, names = [], estimator.feature_costs_.names
    if hasattr(X, "reindex") and hasattr(X, "columns") and names is not None:
        known = set(X.columns)
        absent = [name for name in names if name not in known]
        # Other columns in their stead are a mistake, which scikit-learn's check names.
        if absent and known < set(names):
            X = X.reindex(columns=list(names))
    check_same_columns(X, names)
    kind = {"dtype": estimator._dtype, "ensure_all_finite": "allow-nan"}
    return validate_data(estimator, X, reset=False, **kind), absent


def complete_table(estimator, X):
    """Return X, checked, once it is sure that the default stage looks at no missing cell."""
    X, absent = checked_table(estimator, X)
    missing = missing_cells(estimator, X, estimator._default_stage())
    refuse_missing(estimator, missing, absent)
    return X


def one_row(estimator, x):
    """Return one example, an array, dict, Series or frame, as a checked table of one row."""
    if not hasattr(x, "columns"):
        check_is_fitted(estimator)
        names = estimator.feature_costs_.names
        x = np.atleast_2d(_EXAMPLE.in_order(x, names, estimator.n_features_in_))
    if len(x) != 1:
        raise ValueError(f"explain takes one example, got {len(x)} rows. Pass them one by one.")
    return checked_table(estimator, x)[0]


def missing_cells(estimator, X, index):
    """Return the mask of the missing cells that a stage looks at; None where there are none."""
    # Most tables are complete: then no stage has to say what it looks at.
    missing = np.isnan(X)
    if not missing.any():
        return None
    stage = next(iter(estimator._stages(X, [index], frozenset({"acquired"}))))
    # Where training had missing values, they are values like others to the model.
    missing &= stage.acquired & ~estimator.missing_in_training_
    return missing if missing.any() else None


def refuse_missing(estimator, missing, absent):
    """Raise `MissingValueError` for cells, as from `missing_cells`, and for absent columns."""
    if missing is None:
        return
    # The first cell in reading order is named; the message counts the others.
    rows, features = np.nonzero(missing)
    name = estimator.feature_costs_.labels[features[0]]
    if name not in absent:
        raise MissingValueError(missing_message(rows, name))
    raise MissingValueError(
        "The feature names should match those that were passed during fit.\n"
        f"Feature names seen at fit time, yet now missing:\n- {min(absent, key=str)}\n"
        f"The prediction has to look at {name!r}: add the column, or pass fallback=True "
        "to predict with the next best model that does without."
    )
