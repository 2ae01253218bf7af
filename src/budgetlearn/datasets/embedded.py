"""Data sets that come with scikit-learn, so that a study can run without a network."""

import numpy as np
from sklearn import datasets as bundled

from .tables import Table

_LOADERS = {
    "wine": bundled.load_wine,
    "breast_cancer": bundled.load_breast_cancer,
    "digits": bundled.load_digits,
}


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
    bunch = _LOADERS[name]()
    names = tuple(str(feature).replace(" ", "_") for feature in bunch.feature_names)
    return Table(bunch.data, np.asarray(bunch.target_names).astype(str)[bunch.target], names)
