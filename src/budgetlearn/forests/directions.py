"""`monotonic_cst` of forests: along which features predictions must not fall, or not rise."""

from collections.abc import Mapping

import numpy as np

from ..per_feature import PerFeature
from ..validation import ParameterError

_DIRECTIONS = PerFeature("monotonic_cst", "direction", ParameterError)


def directions_of(monotonic_cst, estimator):
    """Return scikit-learn's `monotonic_cst` as int8 of shape (n_features,), None where all is 0.

    1, -1 or 0 for each feature, in order or by name; a dict may leave out those of 0.
    """
    if monotonic_cst is None:
        return None
    n_features, names, given = (
        estimator.n_features_in_,
        estimator.feature_costs_.names,
        monotonic_cst,
    )
    if isinstance(given, Mapping):
        given = dict.fromkeys(range(n_features) if names is None else names, 0) | dict(given)
    given = np.asarray(_DIRECTIONS.in_order(given, names, n_features), dtype=object).ravel()
    if given.size != n_features or not all(each in (-1, 0, 1) for each in given):
        raise ParameterError(
            f"monotonic_cst must hold 1, -1 or 0 for each of {n_features} features, or be a dict "
            f"of such numbers by column name, got {monotonic_cst!r}."
        )
    n_classes = len(getattr(estimator, "classes_", (0, 1)))
    if n_classes != 2:
        raise ParameterError(
            "monotonic_cst needs numbers or two classes, the second of which grows likelier with "
            f"the feature, got {n_classes} classes."
        )
    return given.astype(np.int8) if given.any() else None
