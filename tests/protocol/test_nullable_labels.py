"""Labels in pandas' nullable types: classes and predictions keep their kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from budgetlearn.forests import RandomForestClassifier

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("kind", "expected"), [("Int64", np.int64), ("UInt8", np.uint8), ("boolean", bool)]
)
def test_labels_stay_whole(kind, expected):
    labels = pd.Series(Y > 0 if kind == "boolean" else Y).astype(kind)
    model = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, labels)
    assert model.classes_.dtype == expected
    assert model.predict(X).dtype == expected
    plain = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, labels.to_numpy(expected))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_a_missing_label_is_refused():
    labels = pd.Series(Y).astype("Int64").where(Y > 0)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        RandomForestClassifier(n_estimators=3).fit(X, labels)
