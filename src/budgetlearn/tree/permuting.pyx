"""Kernels: what a forest would predict were one feature of an example another example's.

Only the paths that test a feature can change with it. So each example goes down each tree once,
noting where its path tests which feature; then, for each feature on the path, only the nodes that
test it are asked again, and only from where the answer differs is there a new way to walk.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from .traversal cimport Node

cdef enum:
    # Rows that go down a tree before the next tree has its turn: its nodes stay in the cache.
    BLOCK = 128

# Sums of class shares closer than this are equal, in whatever order their trees came.
cdef double EQUAL = 1e-9


# The path of one example through one tree.
cdef struct Path:
    int32_t* nodes           # (longest path,): the nodes that test, from the root on
    int32_t* deeper          # (longest path,): place of the next one with the same feature, or -1
    int32_t* features        # (n_features,): the distinct ones, in the order of their first test
    int32_t* first           # (n_features,): place of the first node that tests each feature
    int32_t* last            # (n_features,): of the last one; -1 between uses
    int32_t n_distinct
    int32_t leaf


cdef class Walker:
    """Trees to walk, and scratch for one path.

    Parameters
    ----------
    nodes : structured ndarray of shape (n_nodes,)
        All trees, as `PackedForest` lays them out.
    n_features : int
        Columns of the tables that will be walked.
    longest : int
        No path has more nodes that test.
    """

    cdef:
        const Node[::1] nodes
        Path path
        Py_ssize_t n_features

    def __cinit__(self, const Node[::1] nodes, Py_ssize_t n_features, Py_ssize_t longest):
        cdef Py_ssize_t feature
        self.nodes, self.n_features = nodes, n_features
        self.path.nodes = <int32_t*> malloc((2 * longest + 3 * n_features + 1) * sizeof(int32_t))
        if self.path.nodes == NULL:
            raise MemoryError(f"no memory left for paths of {longest} nodes")
        self.path.deeper = self.path.nodes + longest
        self.path.features = self.path.deeper + longest
        self.path.first = self.path.features + n_features
        self.path.last = self.path.first + n_features
        for feature in range(n_features):
            self.path.last[feature] = -1

    def __dealloc__(self):
        free(self.path.nodes)

    cdef void follow(self, int32_t root, const double* x) noexcept nogil:
        """Walk an example down a tree and note its path."""
        cdef const Node* nodes = &self.nodes[0]
        cdef Path* path = &self.path
        cdef int32_t at = root, place = 0, feature = nodes[at].feature
        path.n_distinct = 0
        while feature >= 0:
            path.nodes[place] = at
            path.deeper[place] = -1
            if path.last[feature] < 0:
                path.first[feature] = place
                path.features[path.n_distinct] = feature
                path.n_distinct += 1
            else:
                path.deeper[path.last[feature]] = place
            path.last[feature] = place
            place += 1
            at = nodes[at].child + goes_right(nodes + at, x[feature])
            feature = nodes[at].feature
        path.leaf = at
        for place in range(path.n_distinct):
            path.last[path.features[place]] = -1

    cdef int32_t leaf_with(self, const double* x, int32_t feature, double value) noexcept nogil:
        """Return where the example followed last ends with another value of a path's feature."""
        cdef const Node* nodes = &self.nodes[0]
        cdef int32_t place = self.path.first[feature], at, tested
        while place >= 0:
            at = self.path.nodes[place]
            if goes_right(nodes + at, value) != goes_right(nodes + at, x[feature]):
                tested = feature
                while tested >= 0:
                    at = nodes[at].child + goes_right(
                        nodes + at, value if tested == feature else x[tested]
                    )
                    tested = nodes[at].feature
                return at
            place = self.path.deeper[place]
        return self.path.leaf

    def count_hits(
        self,
        const int32_t[::1] roots,           # IN (n_trees,)
        const double[:, ::1] ballots,       # IN (n_nodes, n_classes): what a leaf adds to a vote
        const double[:, ::1] X,             # IN (n_samples, n_features)
        const int32_t[::1] labels,          # IN (n_samples,)
        const int32_t[:, ::1] partners,     # IN (n_repeats, n_samples): whose value a row gets
        Py_ssize_t start,
        Py_ssize_t stop,
    ):
        """Count the rows of [start, stop) that the forest tells rightly.

        Returns
        -------
        hits : int
            With the rows as they are.
        permuted : ndarray of int64 of shape (n_features, n_repeats)
            With the values of one feature exchanged.
        """
        cdef Py_ssize_t p = self.n_features, R = partners.shape[0], K = ballots.shape[1]
        cdef Py_ssize_t block, first, size, row, feature, r, hits = 0
        cdef double[:, ::1] votes = np.empty((BLOCK, K))
        cdef double[:, :, :, ::1] changes = np.empty((BLOCK, p, R, K))
        permuted = np.zeros((p, R), dtype=np.int64)
        cdef long long[:, ::1] permuted_view = permuted
        cdef double[::1] nothing = np.zeros(K)
        with nogil:
            for block in range((stop - start + BLOCK - 1) // BLOCK):
                first = start + block * BLOCK
                size = min(BLOCK, stop - first)
                votes[:] = 0
                changes[:] = 0
                self.vote(roots, ballots, X, partners, first, size, votes, changes)
                for row in range(size):
                    hits += winner(&votes[row, 0], &nothing[0], K) == labels[first + row]
                    for feature in range(p):
                        for r in range(R):
                            permuted_view[feature, r] += labels[first + row] == winner(
                                &votes[row, 0], &changes[row, feature, r, 0], K
                            )
        return hits, permuted

    cdef void vote(
        self, const int32_t[::1] roots, const double[:, ::1] ballots, const double[:, ::1] X,
        const int32_t[:, ::1] partners, Py_ssize_t first, Py_ssize_t size,
        double[:, ::1] votes,               # OUT (BLOCK, n_classes)
        double[:, :, :, ::1] changes,       # OUT (BLOCK, n_features, n_repeats, n_classes)
    ) noexcept nogil:
        """Add up the votes of all trees, and how they change with each exchanged value."""
        cdef Py_ssize_t tree, row, place, r, k, K = ballots.shape[1]
        cdef int32_t feature, leaf
        cdef const double* x
        for tree in range(roots.shape[0]):
            for row in range(size):
                x = &X[first + row, 0]
                self.follow(roots[tree], x)
                for k in range(K):
                    votes[row, k] += ballots[self.path.leaf, k]
                for place in range(self.path.n_distinct):
                    feature = self.path.features[place]
                    for r in range(partners.shape[0]):
                        leaf = self.leaf_with(x, feature, X[partners[r, first + row], feature])
                        if leaf != self.path.leaf:
                            for k in range(K):
                                changes[row, feature, r, k] += (
                                    ballots[leaf, k] - ballots[self.path.leaf, k]
                                )

    def lost_hits(
        self,
        int32_t root,
        const int32_t[::1] choices,         # IN (n_nodes,): the class that a leaf votes for
        const double[:, ::1] X,             # IN (n_samples, n_features)
        const int32_t[::1] labels,          # IN (n_samples,)
        const int32_t[::1] rows,            # IN the examples that count
        const int32_t[::1] partners,        # IN as `rows`: whose value each of them gets
        long long[::1] lost,                # OUT (n_features,): added to
    ):
        """Count how many rows more a tree tells rightly than with a feature's values exchanged."""
        cdef Py_ssize_t i, place
        cdef int32_t feature, leaf, label
        cdef const double* x
        with nogil:
            for i in range(rows.shape[0]):
                x = &X[rows[i], 0]
                label = labels[rows[i]]
                self.follow(root, x)
                for place in range(self.path.n_distinct):
                    feature = self.path.features[place]
                    leaf = self.leaf_with(x, feature, X[partners[i], feature])
                    lost[feature] += (choices[self.path.leaf] == label) - (choices[leaf] == label)


cdef inline bint goes_right(const Node* node, double value) noexcept nogil:
    return not value <= node.threshold


cdef inline Py_ssize_t winner(
    const double* votes, const double* change, Py_ssize_t n_classes
) noexcept nogil:
    """Return the class with the most votes after a change; equals go to the first class."""
    cdef Py_ssize_t k, best = 0
    for k in range(1, n_classes):
        if votes[k] + change[k] > votes[best] + change[best] + EQUAL:
            best = k
    return best
