"""Kernels: what a forest would predict were one feature of an example another example's.

Only the paths that test a feature can change with it. So each example goes down each tree once,
noting which features its path tests and between which values of each the path stays the same. A
value from outside is sent down from the first node that tests the feature, and the stretch of
values that would take the same way is noted too: other values in it need no walk of their own.
As soon as the trees left that test a feature cannot turn the vote, it is not asked again.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from .nodes cimport Blocks, Node

cdef enum:
    # Rows that go down a tree before the next tree has its turn: its nodes stay in the cache.
    BLOCK = 128

# Sums of class shares closer than this are equal, in whatever order their trees came.
cdef double EQUAL = 1e-9


# While low < value <= high of a feature, and nothing else changes, an example ends at `leaf`.
cdef struct Stretch:
    double low, high
    int32_t leaf


cdef class Walker(Blocks):
    """Trees to walk, and scratch for one example."""

    cdef:
        const Node[::1] nodes
        int32_t leaf             # where the example ends as it is
        Py_ssize_t n_distinct    # features on its path
        int32_t* features        # (n_distinct,): which
        int32_t* first           # (n_features,): the first node that tests each, or -1
        Stretch* own             # (n_features,): the stretch that leads to `leaf`
        Stretch* stretches       # (n_repeats,): those met beside it, of one feature
        Py_ssize_t n_features, n_stretches

    def __cinit__(self, const Node[::1] nodes, Py_ssize_t n_features, Py_ssize_t n_repeats):
        cdef Py_ssize_t feature
        self.nodes, self.n_features = nodes, n_features
        self.features, self.first = self.integers(n_features), self.integers(n_features)
        self.own = <Stretch*> self.get(n_features * sizeof(Stretch))
        self.stretches = <Stretch*> self.get(n_repeats * sizeof(Stretch))
        for feature in range(n_features):
            self.first[feature] = -1

    cdef void follow(self, int32_t root, const double* x) noexcept nogil:
        """Walk an example down a tree and note what its path tests."""
        cdef const Node* nodes = &self.nodes[0]
        cdef int32_t at = root, feature = nodes[at].feature
        cdef Py_ssize_t place
        for place in range(self.n_distinct):
            self.first[self.features[place]] = -1
        self.n_distinct = 0
        while feature >= 0:
            if self.first[feature] < 0:
                self.first[feature] = at
                self.own[feature] = Stretch(-INFINITY, INFINITY, -1)
                self.features[self.n_distinct] = feature
                self.n_distinct += 1
            at = step(nodes + at, x[feature], self.own + feature)
            feature = nodes[at].feature
        self.leaf = at

    cdef inline int32_t leaf_with(
        self, const double* x, int32_t feature, double value
    ) noexcept nogil:
        """Return where the example ends with another value of a feature of its path.

        Requires that `n_stretches` is 0 when a feature has its turn.
        """
        cdef const Node* nodes = &self.nodes[0]
        cdef Py_ssize_t i
        cdef int32_t at, tested
        cdef Stretch* fresh = self.stretches + self.n_stretches
        if holds(self.own + feature, value):
            return self.leaf
        for i in range(self.n_stretches):
            if holds(self.stretches + i, value):
                return self.stretches[i].leaf
        fresh.low, fresh.high = -INFINITY, INFINITY
        at = self.first[feature]
        tested = feature
        while tested >= 0:
            if tested == feature:
                at = step(nodes + at, value, fresh)
            else:
                at = nodes[at].child + (not x[tested] <= nodes[at].threshold)
            tested = nodes[at].feature
        fresh.leaf = at
        self.n_stretches += 1
        return at

    def count_hits(
        self,
        const int32_t[::1] roots,           # IN (n_trees,)
        const double[:, ::1] leaf_votes,    # IN (n_nodes, n_classes): what a leaf adds to a vote
        const double[:, ::1] X,             # IN (n_samples, n_features)
        const int32_t[::1] labels,          # IN (n_samples,)
        const int32_t[:, ::1] partners,     # IN (n_repeats, n_samples): whose value a row gets
        Py_ssize_t start,
        Py_ssize_t stop,
    ):
        """Count the rows of [start, stop) that are predicted rightly, as they are and exchanged."""
        cdef Py_ssize_t p = self.n_features, R = partners.shape[0], K = leaf_votes.shape[1]
        cdef Py_ssize_t block, first, size, tree, row, place, feature, k, r, label, hit, hits = 0
        # Refitted leaves hold log-odds, of either sign.
        cdef double swing = 2 * np.ptp(leaf_votes)
        cdef double[:, ::1] votes = np.empty((BLOCK, K))
        cdef double[:, :, :, ::1] changes = np.empty((BLOCK, p, R, K))
        cdef double[:, :, ::1] others = np.empty((BLOCK, p, R))
        cdef int32_t[:, ::1] left = np.empty((BLOCK, p), dtype=np.int32)
        permuted = np.zeros((p, R), dtype=np.int64)
        cdef long long[:, ::1] permuted_view = permuted
        with nogil:
            for block in range((stop - start + BLOCK - 1) // BLOCK):
                first = start + block * BLOCK
                size = min(BLOCK, stop - first)
                votes[:] = 0
                changes[:] = 0
                left[:] = 0
                # The votes of all trees, and in how many of them a row's path tests a feature.
                for tree in range(roots.shape[0]):
                    for row in range(size):
                        self.follow(roots[tree], &X[first + row, 0])
                        for k in range(K):
                            votes[row, k] += leaf_votes[self.leaf, k]
                        for place in range(self.n_distinct):
                            left[row, self.features[place]] += 1
                for row in range(size):
                    for feature in range(p):
                        if left[row, feature]:
                            for r in range(R):
                                others[row, feature, r] = X[partners[r, first + row], feature]
                self.revote(
                    roots, leaf_votes, X[first:first + size], others, votes, swing, left, changes
                )
                for row in range(size):
                    label = labels[first + row]
                    hit = winner(&votes[row, 0], NULL, K) == label
                    hits += hit
                    for feature in range(p):
                        for r in range(R):
                            permuted_view[feature, r] += hit if left[row, feature] < 0 else (
                                winner(&votes[row, 0], &changes[row, feature, r, 0], K) == label
                            )
        return hits, permuted

    cdef void revote(
        self, const int32_t[::1] roots, const double[:, ::1] leaf_votes,
        const double[:, ::1] X,             # IN (n_rows, n_features), n_rows <= BLOCK
        const double[:, :, ::1] others,     # IN (BLOCK, n_features, n_repeats): exchanged values
        const double[:, ::1] votes,         # IN (BLOCK, n_classes): of all trees
        double swing,                       # IN how much a tree moves a lead at most
        int32_t[:, ::1] left,               # INOUT (BLOCK, n_features): trees that test it; then
                                            # -1 where exchanged values turn no vote
        double[:, :, :, ::1] changes,       # OUT (BLOCK, n_features, n_repeats, n_classes)
    ) noexcept nogil:
        """Add up how the votes change with each exchanged value, until it cannot matter."""
        cdef Py_ssize_t tree, row, place, r, k, K = leaf_votes.shape[1]
        cdef int32_t feature, leaf
        cdef const double* x
        for tree in range(roots.shape[0]):
            for row in range(X.shape[0]):
                x = &X[row, 0]
                self.follow(roots[tree], x)
                for place in range(self.n_distinct):
                    feature = self.features[place]
                    if left[row, feature] < 0:
                        continue
                    if least_lead(
                        &votes[row, 0], &changes[row, feature, 0, 0], others.shape[2], K
                    ) > swing * left[row, feature] + 4 * EQUAL:
                        left[row, feature] = -1
                        continue
                    self.n_stretches = 0
                    for r in range(others.shape[2]):
                        leaf = self.leaf_with(x, feature, others[row, feature, r])
                        if leaf != self.leaf:
                            for k in range(K):
                                changes[row, feature, r, k] += (
                                    leaf_votes[leaf, k] - leaf_votes[self.leaf, k]
                                )
                    left[row, feature] -= 1

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
        """Count the right votes of a tree that are lost when a feature's values are exchanged."""
        cdef Py_ssize_t i, place
        cdef int32_t feature, leaf, label
        cdef const double* x
        with nogil:
            for i in range(rows.shape[0]):
                x = &X[rows[i], 0]
                label = labels[rows[i]]
                self.follow(root, x)
                for place in range(self.n_distinct):
                    feature = self.features[place]
                    self.n_stretches = 0
                    leaf = self.leaf_with(x, feature, X[partners[i], feature])
                    lost[feature] += (choices[self.leaf] == label) - (choices[leaf] == label)


cdef inline bint holds(const Stretch* stretch, double value) noexcept nogil:
    return (stretch.low < value) & (value <= stretch.high)


cdef inline int32_t step(const Node* node, double value, Stretch* stretch) noexcept nogil:
    """Return the child for a value of the node's feature, and shorten the stretch to its side."""
    if value <= node.threshold:
        stretch.high = min(stretch.high, node.threshold)
        return node.child
    stretch.low = max(stretch.low, node.threshold)
    return node.child + 1


cdef inline double least_lead(
    const double* votes, const double* changes, Py_ssize_t n_repeats, Py_ssize_t n_classes
) noexcept nogil:
    """Return by how much the winner leads after the change that is worst for it."""
    cdef Py_ssize_t k, best = winner(votes, NULL, n_classes)
    cdef double least = INFINITY
    for _ in range(n_repeats):
        for k in range(n_classes):
            if k != best:
                least = min(least, votes[best] + changes[best] - votes[k] - changes[k])
        changes += n_classes
    return least


cdef inline Py_ssize_t winner(
    const double* votes, const double* change, Py_ssize_t n_classes
) noexcept nogil:
    """Return the class with the most votes after a change, if any; equals go to the first class."""
    cdef Py_ssize_t k, best = 0
    cdef double own, most = votes[0] + (change[0] if change else 0.0)
    for k in range(1, n_classes):
        own = votes[k] + (change[k] if change else 0.0)
        if own > most + EQUAL:
            best, most = k, own
    return best
