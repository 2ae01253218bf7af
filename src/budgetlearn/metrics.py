"""Scores that scikit-learn does not have."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .exceptions import BudgetlearnError


class QueryError(BudgetlearnError, ValueError):
    """Ranking data that do not fit together."""


def average_precision_at_5(relevant, scores, queries):
    """Return the mean over queries of the relevant prefix among the first five documents.

    The documents of a query are sorted by score, highest first, equals in the given order. If the
    first five (or all, where there are fewer) are relevant the query scores 1. If the first
    irrelevant one stands at position j it scores (j - 1) / 5. This is "Average Precision@5" as
    section 3 of BudgetRF (Nan, Wang and Saligrama 2015) defines it, not the usual one.

    Parameters
    ----------
    relevant : array-like of shape (n_documents,)
        0 or False: irrelevant; 1 or True: relevant.
    scores : array-like of shape (n_documents,)
        The higher, the more relevant the document is thought to be.
    queries : array-like of shape (n_documents,)
        The query that each document belongs to; documents of a query need not be adjacent.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    QueryError
        When lengths differ, there is no document, a label is not 0 or 1, or a score or query is
        missing.
    """
    try:
        check_consistent_length(relevant, scores, queries)
        relevant, scores, queries = (column_or_1d(part) for part in (relevant, scores, queries))
    except ValueError as error:
        raise QueryError(f"one label, score and query for each document: {error}") from error
    if relevant.size == 0:
        raise QueryError("at least one document is needed, got none.")
    if not np.isin(relevant, (0, 1)).all():
        raise QueryError(f"labels must be 0 or 1, got {np.unique(relevant)[:10].tolist()}.")
    scores = scores.astype(np.float64)  # of whole numbers without a sign the negative is not less
    if np.isnan(scores).any() or pd.isna(queries).any():
        raise QueryError("scores must be numbers, and queries be known, got NaN or None.")
    table = pd.DataFrame({"query": queries, "score": -scores, "relevant": relevant == 1})
    first = table.sort_values(["query", "score"]).groupby("query").head(5)  # stable
    hits = first.groupby("query")["relevant"]
    prefix = hits.cummin().groupby(first["query"]).sum()
    return float(np.where(hits.all(), 1.0, prefix / 5).mean())
