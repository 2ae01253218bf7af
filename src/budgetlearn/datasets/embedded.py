"""Data sets that come with scikit-learn, so that a study can run without a network."""

import numpy as np

from .tables import Table


def read_embedded(name):
    """Return one of scikit-learn's copies of UCI data.

    Parameters
    ----------
    name : {"wine", "breast_cancer", "digits"}
        Which.

    Returns
    -------
    Table
        Its raw target holds the names of the classes, as words.
    """
    # Imported here: jobs that split or price data start in half the time without scikit-learn.
    from sklearn import datasets as bundled

    bunch = getattr(bundled, f"load_{name}")()
    names = tuple(str(feature).replace(" ", "_") for feature in bunch.feature_names)
    return Table(bunch.data, np.asarray(bunch.target_names).astype(str)[bunch.target], names)
