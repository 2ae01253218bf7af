"""Kernels: predict examples with the value of one feature taken from another example.

A feature can only change the paths that test it. So each example goes down each tree once, and the
walk records the features on its path and the range of each in which the path stays the same. Values
outside this range start at the first node that tests the feature, and record the range that leads
to the same leaf, so that other values in it need no walk. A feature is dropped once the remaining
trees that test it cannot change the winning class.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from .nodes cimport Blocks, Node

cdef enum:
    # Rows that go down a tree before the next tree, so that its nodes stay in the cache.
    BLOCK = 128

# Sums of class shares closer than this are equal, whatever the order of the trees.
cdef double EQUAL = 1e-9


# An example ends at `leaf` if low < value <= high for one feature, and the others do not change.
cdef struct Stretch:
    double low, high
    int32_t leaf


cdef class Walker(Blocks):
    """Trees to walk, and scratch for one example."""

    cdef:
        const Node[::1] nodes
        int32_t leaf             # of the unchanged example
        Py_ssize_t n_distinct    # number of features on its path
        int32_t* features        # (n_distinct,): the features on its path
        int32_t* first           # (n_features,): the first node that tests each, or -1
        Stretch* own             # (n_features,): the stretch that leads to `leaf`
        Stretch* stretches       # (n_repeats,): the other stretches found, of one feature
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
        """Walk an example down a tree and record the tests on its path."""
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
        """Return the leaf of the example with another value of a feature on its path.

        Set `n_stretches` to 0 before the first call for a feature.
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
        const double[:, ::1] leaf_votes,    # IN (n_nodes, n_classes): the votes of each leaf
        const double[:, ::1] X,             # IN (n_samples, n_features)
        const int32_t[::1] labels,          # IN (n_samples,)
        const int32_t[:, ::1] partners,     # IN (n_repeats, n_samples): the row to copy from
        Py_ssize_t start,
        Py_ssize_t stop,
    ):
        """Count the correctly predicted rows of [start, stop), unchanged and with each feature."""
        cdef Py_ssize_t p = self.n_features, R = partners.shape[0], K = leaf_votes.shape[1]
        cdef Py_ssize_t block, first, size, tree, row, place, feature, k, r, label, hit, hits = 0
        # A tree changes the votes of two classes, each by at most the range of all leaves. (Leaves
        # that were refitted hold log-odds, which may be negative.)
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
                # The votes of all trees, and the number of trees in which a path tests a feature.
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
        double swing,                       # IN the most that a tree can change a lead
        int32_t[:, ::1] left,               # INOUT (BLOCK, n_features): trees that test it; then
                                            # -1 if exchanged values cannot change the winner
        double[:, :, :, ::1] changes,       # OUT (BLOCK, n_features, n_repeats, n_classes)
    ) noexcept nogil:
        """Sum the changes of the votes by each exchanged value, until it cannot matter."""
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
        const int32_t[::1] choices,         # IN (n_nodes,): the class of each leaf's vote
        const double[:, ::1] X,             # IN (n_samples, n_features)
        const int32_t[::1] labels,          # IN (n_samples,)
        const int32_t[::1] rows,            # IN the examples that count
        const int32_t[::1] partners,        # IN as `rows`: the row to copy from
        long long[::1] lost,                # OUT (n_features,): added to
    ):
        """Count the correct votes of a tree that are lost when a feature's values are exchanged."""
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
    """Return the winner's lead after the change that is worst for it."""
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
    """Return the class with the most votes, after a change if given; ties go to the first class."""
    cdef Py_ssize_t k, best = 0
    cdef double own, most = votes[0] + (change[0] if change else 0.0)
    for k in range(1, n_classes):
        own = votes[k] + (change[k] if change else 0.0)
        if own > most + EQUAL:
            best, most = k, own
    return best
