"""Second columns of a table, in which missing values go left.

The kernels that walk trees send NaN right at every node. A feature whose missing values go left at
some nodes gets a second column, in which they are -inf; those nodes test that column. So the
kernels need not know of missing values, and forests without any lose no time.
"""

import numpy as np


class SecondColumns:
    """The features of a forest that have a second column, behind those of the table."""

    def __init__(self, trees, n_features):
        flagged = [tree.feature[tree.missing_left] for tree in trees if _sends_left(tree)]
        self.features = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *flagged]))
        self.n_features, self.n_columns = n_features, n_features + self.features.size

    def tested(self, tree):
        """Return the column that each node of a tree tests, int32."""
        if not _sends_left(tree):
            return tree.feature
        second = self.n_features + np.searchsorted(self.features, tree.feature)
        return np.where(tree.missing_left, second, tree.feature).astype(np.int32)

    def added(self, X):
        """Return a table with the second columns."""
        if not self.features.size:
            return X
        second = X[:, self.features]
        second[np.isnan(second)] = -np.inf
        return np.hstack([X, second])

    def fold(self, acquired):
        """Return the mask of acquired features, given that of columns."""
        features = acquired[:, : self.n_features].copy()
        features[:, self.features] |= acquired[:, self.n_features :]
        return features


def _sends_left(tree):
    return tree.missing_left is not None


class WaitingColumns:
    """Trees that wait for columns, as trees that wait for features."""

    def __init__(self, walking, second):
        self._walking, self._second = walking, second
        self._column = dict(
            zip(second.features.tolist(), range(second.n_features, second.n_columns), strict=True)
        )
        self.add_leaves = walking.add_leaves

    @property
    def waiting(self):
        """Number of pairs of an example and a tree that wait for each feature."""
        counts = np.array(self._walking.waiting)
        waiting = counts[: self._second.n_features]
        waiting[self._second.features] += counts[self._second.n_features :]
        return waiting

    def rows(self, feature):
        """Return the examples of which some tree waits for a feature, ascending."""
        rows = self._walking.rows(feature)
        second = self._column.get(feature)
        return rows if second is None else np.union1d(rows, self._walking.rows(second))

    def supply(self, feature, rows, values, refused):
        """Give what came of a feature, as to `WaitingTrees`."""
        self._walking.supply(feature, rows, values, refused)
        if feature in self._column:
            values = np.where(np.isnan(values), -np.inf, values)
            self._walking.supply(self._column[feature], rows, values, refused)
