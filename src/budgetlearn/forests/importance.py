"""Permutation importance of the features of our forests, on held-out or out-of-bag examples."""

import numpy as np
from sklearn.utils import Bunch, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..exceptions import MissingValueError
from ..parallel import thread_map
from ..protocol.checked_data import checked_table
from ..tree.bootstrap import bootstrap_weights
from ..validation import INT32_MAX, ParameterError, check_number, in_row
from .base import ForestClassifier


def permutation_importance(forest, X, y, *, n_repeats=5, random_state=None, n_jobs=None):
    """Return the accuracy that a forest loses when the values of a feature are permuted.

    This is `sklearn.inspection.permutation_importance` with accuracy as score, except that each
    repeat permutes all features alike, and only what a feature can affect is computed again. Here,
    classes tie if the sums of their trees' shares differ by at most 1e-9, and the first class wins,
    but `predict` takes the larger share even if only rounding makes it so.

    Parameters
    ----------
    forest : ForestClassifier
        A fitted forest.
    X, y : array-like
        Examples that the forest has not seen, and their labels.
    n_repeats : int, default=5
        Number of permutations.
    random_state : int, RandomState instance or None, default=None
        Source of the permutations.
    n_jobs : int, default=None
        Number of threads, as in joblib; the result does not depend on it.

    Returns
    -------
    Bunch
        `importances` of shape (n_features, n_repeats), the falls in accuracy;
        `importances_mean` and `importances_std` of shape (n_features,).

    References
    ----------
    L. Breiman. Random forests. Machine Learning 45, 2001, section 10.
    """
    check_number(n_repeats, "n_repeats", low=1, integer=True)
    X, labels = _check_table(forest, X, y)
    random = check_random_state(random_state)
    # The same permutations for all features make their differences less random.
    partners = [random.permutation(len(X)) for _ in range(n_repeats)]
    partners, votes = np.array(partners, dtype=np.int32), forest._vote_kind == "votes"
    hits, permuted = forest._predictor.permuted_hits(
        X, labels, partners, votes=votes, n_jobs=n_jobs
    )
    lost = (hits - permuted) / len(X)
    means, deviations = lost.mean(axis=1), lost.std(axis=1)
    return Bunch(importances=lost, importances_mean=means, importances_std=deviations)


def oob_permutation_importance(forest, X, y, *, random_state=None, n_jobs=None):
    """Return the mean out-of-bag accuracy that trees lose when a feature is permuted.

    The result has shape (n_features,). It is the mean over the trees of (right votes - right votes
    with the feature permuted) / examples, all on the examples that the tree's bootstrap sample left
    out. X and y are the examples on which the trees grew, in their order: without examples of
    weight 0, and without those that `fit` held out.
    """
    X, labels = _check_table(forest, X, y)
    if not hasattr(forest, "tree_seeds_"):
        raise ParameterError(
            "out-of-bag importance draws samples again from tree_seeds_, which a "
            f"{type(forest).__name__} lacks: use permutation_importance on other examples."
        )
    if not forest._growth.bootstrap:
        raise ParameterError("out-of-bag importance needs bootstrap=True to leave examples out.")
    seeds = check_random_state(random_state).randint(INT32_MAX, size=len(forest.trees_)).tolist()

    def loss(item):
        tree, seed = item
        # The tree's seed draws its sample again; examples with count 0 are out of bag.
        weights = bootstrap_weights(len(X), forest.tree_seeds_[tree])
        if not _grew_on(forest.trees_[tree], X, weights > 0):
            # With other rows, some that seem out of bag would be in the tree.
            raise ParameterError(
                "X must hold the rows that the forest grew on, in their order: leave out those of "
                "weight 0, and give fit X_val and y_val if it would hold out rows of X."
            )
        rows = np.flatnonzero(weights == 0).astype(np.int32)
        partners = np.random.default_rng(seed).permutation(rows)
        return forest._predictor.lost_hits(tree, X, labels, rows, partners) / max(rows.size, 1)

    return np.mean(thread_map(loss, enumerate(seeds), n_jobs), axis=0)


def _grew_on(tree, X, drawn):
    """Return whether a tree has as many rows at its root and left of it as were drawn."""
    if np.count_nonzero(drawn) != tree.n_node_samples[0]:
        return False
    n_left = np.count_nonzero(X[drawn, tree.feature[0]] <= tree.threshold[0])
    return tree.is_leaf[0] or n_left == tree.n_node_samples[tree.children_left[0]]


def _check_table(forest, X, y):
    """Return a checked table, and the class index of each label (-1 for unknown labels)."""
    check_is_fitted(forest)
    if not isinstance(forest, ForestClassifier):
        raise ParameterError(
            f"expected a forest whose trees vote for classes, got a {type(forest).__name__}: use "
            "permutation_importance of sklearn.inspection."
        )
    X = np.ascontiguousarray(checked_table(forest, X)[0], dtype=np.float64)
    if forest.missing_in_training_.any():
        raise ParameterError(
            "this forest has learned from missing values: use permutation_importance of "
            "sklearn.inspection, which predicts anew for each permutation."
        )
    if (rows := np.flatnonzero(np.isnan(X).any(axis=1))).size:
        raise MissingValueError(
            f"X lacks values (NaN) {in_row(rows)}, which would be exchanged with those of other "
            "rows: fill them in, or leave such rows out."
        )
    y = column_or_1d(y)
    check_consistent_length(X, y)
    known = np.isin(y, forest.classes_)
    # Predictions never match classes that are unknown to the forest.
    labels = np.full(y.size, -1, dtype=np.int32)
    labels[known] = np.searchsorted(forest.classes_, y[known])
    return X, labels
