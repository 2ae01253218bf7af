"""Label rules."""

import numpy as np
import pytest

from budgetbench.datasets.dataset import Table
from budgetbench.datasets.preparing import make_target
from budgetlearn.exceptions import DatasetError


def target(raw, task="classification", **rules):
    raw = None if raw is None else np.asarray(raw)
    rows = 6 if raw is None else len(raw)
    table, names = make_target(Table(np.zeros((rows, 1)), raw, ("a",)), task, rules)
    return np.asarray(table.y).astype(float).tolist(), names


def test_classes_are_sorted_as_numbers_or_words():
    assert target([10, 9, 10]) == ([1, 0, 1], ("9", "10"))
    assert target([1.0, 0.0]) == ([1, 0], ("0", "1"))
    assert target(np.array(["b ", "a"], object)) == ([1, 0], ("a", "b"))


def test_first_classes_against_the_others():
    assert target(["C", "A", "B", "D"], first_classes=2) == ([1, 0, 0, 1], ("A-B", "C-D"))
    assert target([0, 3, 1], first_classes=1) == ([0, 1, 1], ("0", "1-3"))
    with pytest.raises(
        DatasetError, match="first_classes must be less than 2, the number of classes"
    ):
        target([0, 1], first_classes=3)


def test_keep_then_code():
    table = Table(np.arange(4.0)[:, None], np.array([8, 3, 9, 8]), ("a",), np.array([0, 0, 2, 2]))
    kept, names = make_target(table, "classification", {"keep": [8, 9]})
    assert kept.y.tolist() == [0, 1, 0]
    assert kept.X[:, 0].tolist() == [0, 2, 3]
    assert kept.part.tolist() == [0, 2, 2]
    assert names == ("8", "9")


def test_quantiles_fill_equally_and_ties_go_down():
    codes, names = target(np.arange(100.0), quantiles=4)
    assert np.bincount(np.array(codes, int)).tolist() == [25, 25, 25, 25]
    assert names == ("q1", "q2", "q3", "q4")
    assert target([1.0, 2.0, 2.0, 3.0, 9.0], quantiles=2)[0] == [0, 0, 0, 1, 1]


def test_both_above_median():
    raw = [[1.0, 9.0], [2.0, 1.0], [3.0, 8.0], [2.5, 5.0], [0.0, 0.0]]
    assert target(raw, both_above_median=True) == ([0, 0, 1, 0, 0], ("no", "yes"))


def test_one_hot():
    assert target([[0, 1], [1, 0]], one_hot=["a", "b"]) == ([1, 0], ("a", "b"))
    with pytest.raises(DatasetError, match="exactly one of the 2 indicators"):
        target([[1, 1]], one_hot=["a", "b"])


def test_blocks():
    assert target(None, blocks={"s": 2, "b": 4}) == ([0, 0, 1, 1, 1, 1], ("s", "b"))
    with pytest.raises(DatasetError, match="The blocks have 5 rows, but the data 6"):
        target(None, blocks={"s": 2, "b": 3})


def test_ranking_and_regression():
    assert target([0, 3, 4], "ranking") == ([0, 3, 4], ())
    assert target([0, 3, 4], "ranking", at_least=3) == ([0, 1, 1], ())
    assert target([5e4], "regression", unit=1e5) == ([0.5], ())
    with pytest.raises(DatasetError, match="whole numbers"):
        target([0.5], "ranking")
    with pytest.raises(DatasetError, match="must be numbers"):
        target(["high"], "regression")


def test_bad_targets():
    with pytest.raises(DatasetError, match="missing in 1 rows"):
        target([1.0, np.nan])
    for rules in ({"at_least": 1}, {"quantiles": 2}, {"unit": 2}):
        for task in ("classification", "ranking", "regression"):
            with pytest.raises(DatasetError, match="missing in 1 rows"):
                target([1.0, np.nan, 0.0], task, **rules)
        with pytest.raises(DatasetError, match="must be numbers"):
            target(np.array(["1,5", "2", "3"]), **rules)
    with pytest.raises(DatasetError, match=r"The classes: 'a' and 'a ' differ only in blanks"):
        target(np.array(["a", "a ", "b"], object))
    with pytest.raises(DatasetError, match="mixes text and numbers"):
        target(np.array(["a", 1], object))
