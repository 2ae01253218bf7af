"""Scores that scikit-learn lacks."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .exceptions import BudgetlearnError


class QueryError(BudgetlearnError, ValueError):
    """Invalid or inconsistent ranking data."""


def average_precision_at_5(relevant, scores, queries):
    """Return the mean over queries of the share of relevant documents before the first irrelevant.

    The documents of a query are sorted by score, highest first; ties keep their order. If the first
    five (or all, if there are fewer) are relevant, the query scores 1. If the first irrelevant one
    is at position j, it scores (j - 1) / 5. This is "Average Precision@5" as defined in section 3
    of BudgetRF (Nan, Wang and Saligrama 2015), which differs from the usual definition.

    Parameters
    ----------
    relevant : array-like of shape (n_documents,)
        0 or False: irrelevant; 1 or True: relevant.
    scores : array-like of shape (n_documents,)
        Predicted relevance of the documents.
    queries : array-like of shape (n_documents,)
        Query of each document; documents of a query need not be adjacent.

    Returns
    -------
    float
        Score in [0, 1].

    Raises
    ------
    QueryError
        When lengths differ, a label is not 0 or 1, or documents, scores or queries are missing.
    """
    try:
        check_consistent_length(relevant, scores, queries)
        relevant, scores, queries = (column_or_1d(part) for part in (relevant, scores, queries))
    except ValueError as error:
        raise QueryError(f"each document needs one label, score and query: {error}") from error
    if relevant.size == 0:
        raise QueryError("at least one document is needed, got none.")
    if not np.isin(relevant, (0, 1)).all():
        raise QueryError(f"labels must be 0 or 1, got {np.unique(relevant)[:10].tolist()}.")
    scores = scores.astype(np.float64)  # as unsigned integers cannot be negated
    if np.isnan(scores).any() or pd.isna(queries).any():
        raise QueryError("scores and queries must not be missing, got NaN or None.")
    table = pd.DataFrame({"query": queries, "score": -scores, "relevant": relevant == 1})
    first = table.sort_values(["query", "score"]).groupby("query").head(5)  # stable
    hits = first.groupby("query")["relevant"]
    prefix = hits.cummin().groupby(first["query"]).sum()
    return float(np.where(hits.all(), 1.0, prefix / 5).mean())
