"""The tables that scikit-learn ships: classes by name, numbers in their own units."""

import numpy as np
import pytest

from budgetbench.datasets.synthetic import read_embedded


@pytest.mark.parametrize(
    ("name", "shape", "classes"), [("iris", (150, 4), 3), ("wine", (178, 13), 3)]
)
def test_classes_have_their_names(name, shape, classes):
    table = read_embedded(name)
    assert table.X.shape == shape
    assert len(set(table.y)) == classes
    assert table.y.dtype.kind == "U"


def test_a_target_of_numbers_stays_and_features_keep_their_units():
    table = read_embedded("diabetes")
    assert table.y.dtype == np.float64
    ages = table.X[:, table.feature_names.index("age")]
    assert (ages.min(), ages.max()) == (19, 79)
