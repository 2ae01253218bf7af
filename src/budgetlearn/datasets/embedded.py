"""Data sets that come with scikit-learn, so that a study can run without a network."""

import numpy as np

from .tables import Table


def read_embedded(name):
    """Return one of the tables that scikit-learn ships.

    Parameters
    ----------
    name : {"wine", "breast_cancer", "digits", "iris", "diabetes"}
        Which.

    Returns
    -------
    Table
        Features in their own units; the raw target holds the names of the classes, or numbers.
    """
    # Imported here: jobs that split or price data start in half the time without scikit-learn.
    from sklearn import datasets as bundled

    # Diabetes comes standardised unless told otherwise.
    bunch = getattr(bundled, f"load_{name}")(**({"scaled": False} if name == "diabetes" else {}))
    names = tuple(str(feature).replace(" ", "_") for feature in bunch.feature_names)
    classes = bunch.get("target_names")
    target = bunch.target if classes is None else np.asarray(classes).astype(str)[bunch.target]
    return Table(bunch.data, target, names)
