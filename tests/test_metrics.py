"""Average precision at 5, as the paper of BudgetRF defines it, and R² row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from budgetlearn.metrics import QueryError, average_precision_at_5, r2_rows


def slow(relevant, scores, queries):
    """The paper's words, query by query."""
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
        ([1, 1, 1, 1, 1, 0], 1.0),
        ([1, 1, 0, 1, 1], 0.4),
        ([0, 1, 1, 1, 1], 0.0),
        ([1, 1], 1.0),
        ([1, 0], 0.2),
    ],
)
def test_one_query(relevant, expected):
    scores = -np.arange(len(relevant))
    assert average_precision_at_5(relevant, scores, np.zeros(len(relevant))) == expected


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
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(QueryError, match=message):
        average_precision_at_5(*arguments)


@pytest.mark.parametrize("noise", [0.3, 3.0])
@pytest.mark.parametrize("weighed", [False, True])
def test_r2_row_by_row_has_its_mean_and_its_standard_error(noise, weighed):
    random, n = np.random.default_rng(0), 500
    y = random.exponential(size=n)
    said = y + noise * random.standard_normal(n)
    weight = random.integers(1, 4, n).astype(float) if weighed else None
    rows = r2_rows((said - y) ** 2, y, weight)
    assert np.average(rows, weights=weight) == pytest.approx(
        r2_score(y, said, sample_weight=weight)
    )
    if weighed:
        copies = np.repeat(np.arange(n), weight.astype(int))
        np.testing.assert_allclose(r2_rows((said - y)[copies] ** 2, y[copies]), rows[copies])
        return
    drawn = random.integers(n, size=(600, n))
    redrawn = [r2_score(y[rows], said[rows]) for rows in drawn]
    assert rows.std() / np.sqrt(n) == pytest.approx(np.std(redrawn), rel=0.15)


def test_the_mean_surely_has_no_r2():
    y = np.arange(5.0)
    np.testing.assert_allclose(r2_rows((y - y.mean()) ** 2, y), 0, atol=1e-12)
    np.testing.assert_array_equal(r2_rows(np.array([0.0, 4.0]), np.ones(2)), [1, -3])
