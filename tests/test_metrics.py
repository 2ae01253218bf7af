"""Average precision at 5, as the paper of BudgetRF defines it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.metrics import QueryError, average_precision_at_5


def slow(relevant, scores, queries):
    """The paper's definition, query by query."""
    total, names = 0.0, sorted(set(queries))
    for name in names:
        documents = [i for i, query in enumerate(queries) if query == name]
        documents.sort(key=lambda i: -scores[i])
        top = [relevant[i] for i in documents[:5]]
        total += 1 if all(top) else top.index(0) / 5
    return total / len(names)


DOCUMENT = st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.5, 1.0, 2.5]), st.integers(0, 4))


@given(st.lists(DOCUMENT, min_size=1, max_size=40))
def test_equals_the_definition(documents):
    relevant, scores, queries = zip(*documents, strict=True)
    assert average_precision_at_5(relevant, scores, queries) == pytest.approx(
        slow(relevant, scores, queries)
    )


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        ([1, 1, 1, 1, 1, 1, 0], 1.0),
        ([1, 1, 0, 1, 1], 0.4),
        ([0, 1, 1, 1, 1], 0.0),
        ([1, 1], 1.0),
        ([1, 0], 0.2),
    ],
)
def test_one_query(relevant, expected):
    scores = -np.arange(len(relevant))
    assert average_precision_at_5(relevant, scores, np.zeros(len(relevant))) == expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
def test_scores_of_any_type_rank_alike(dtype):
    assert average_precision_at_5([1, 0, 0], np.array([1, 0, 0], dtype=dtype), [0, 0, 0]) == 0.2


def test_a_perfect_ranking_of_real_queries(data_dir):
    sizes = np.loadtxt(data_dir / "lambdarank_sample" / "rank.test.query", dtype=int)
    with open(data_dir / "lambdarank_sample" / "rank.test") as file:
        relevant = np.array([int(line.split()[0]) > 0 for line in file])
    queries = np.repeat(np.arange(sizes.size), sizes)
    enough = np.bincount(queries, relevant) >= np.minimum(5, sizes)
    best = average_precision_at_5(relevant, relevant.astype(float), queries)
    assert best >= enough.mean()
    assert average_precision_at_5(relevant, -relevant.astype(float), queries) < 0.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], []), "none"),
        (([1, 0], [1.0], [0, 0]), "one label"),
        (([1, 2], [1.0, 2.0], [0, 0]), "0 or 1"),
        (([1, 0], [1.0, np.nan], [0, 0]), "NaN"),
        (([1, 0], [1.0, 0.0], [0, np.nan]), "NaN"),
        (([1, 0], [1.0, 0.0], ["a", None]), "None"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(QueryError, match=message):
        average_precision_at_5(*arguments)
