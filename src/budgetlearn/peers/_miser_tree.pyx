"""Regression trees whose splits pay for features that were not acquired before (GreedyMiser).

The leaf and feature with the largest net gain are split next: the fall of the weighted squared
error minus the price of the feature. Gains are kept before prices, so that an acquisition makes the
feature free in all other leaves at once.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from ..tree.codes cimport midpoint
from ..tree.nodes cimport GrownNode, columns_of
from ..tree.partition cimport Examples, partition

from ..tree.nodes import GROWN_NODE_DTYPE

cdef enum:
    N_CODES = 256


# A leaf in the making: its rows are [start, end), node is its id.
cdef struct Leaf:
    Py_ssize_t start
    Py_ssize_t end
    int32_t node


# The best threshold of one feature in one leaf; gain <= 0 where there is none.
cdef struct Cut:
    double gain
    int32_t below
    int32_t above


cdef Leaf leaf_record
cdef Cut cut_record

LEAF_DTYPE = np.asarray(<Leaf[:1]> &leaf_record).dtype
CUT_DTYPE = np.asarray(<Cut[:1]> &cut_record).dtype


cdef class MiserGrower:
    """Grows trees on one coded table, one after another.

    Parameters
    ----------
    data : BinnedData
        Coded table, of one byte a code.
    weight : ndarray of shape (n_samples,)
        How much the squared error of each example counts, > 0.
    max_depth : int
        Greatest depth, the root being 0.
    """

    cdef:
        const uint8_t[:, ::1] codes
        const int32_t[::1] columns
        const long long[::1] offsets
        const double[::1] lowest, highest
        Py_ssize_t n_samples, n_features, max_leaves, n_nodes, n_leaves
        int32_t max_depth
        double least_gain
        int32_t[::1] rows
        int32_t[::1] spare
        const double[::1] weight      # of each example, > 0
        double[::1] ordered           # weighted residuals in the order of `rows`
        double[::1] mass              # weights in the order of `rows`
        Cut[:, ::1] cuts              # (max_leaves, n_features)
        Leaf[::1] leaves
        GrownNode[::1] nodes
        double[::1] values            # of each node: the weighted mean residual

    def __init__(self, data, weight, max_depth):
        self.codes, self.columns, self.offsets = data.codes, data.columns, data.offsets
        self.lowest, self.highest = data.lowest, data.highest
        self.n_features, self.n_samples = data.n_features, data.n_samples
        self.max_depth = max_depth
        self.max_leaves = min(2**max_depth, self.n_samples)
        self.rows = np.empty(self.n_samples, dtype=np.int32)
        self.spare = np.empty(self.n_samples, dtype=np.int32)
        self.weight = weight
        self.ordered, self.mass = np.empty(self.n_samples), np.empty(self.n_samples)
        self.cuts = np.empty((self.max_leaves, self.n_features), dtype=CUT_DTYPE)
        self.leaves = np.empty(self.max_leaves, dtype=LEAF_DTYPE)
        self.nodes = np.empty(2 * self.max_leaves, dtype=GROWN_NODE_DTYPE)
        self.values = np.empty(2 * self.max_leaves)

    def grow(
        self,
        const double[::1] residual,   # IN: (n_samples,)
        const double[::1] prices,     # IN: (n_features,), in squared error
        uint8_t[::1] acquired,          # IN OUT: (n_features,), features that are free
        double[::1] fitted,           # OUT: (n_samples,), the value of each example's leaf
    ):
        """Grow a tree; return `columns_of` its nodes and their values, parents before children."""
        cdef Py_ssize_t i, leaf, feature
        with nogil:
            self.begin(residual)
            while self.choose(prices, acquired, &leaf, &feature):
                acquired[feature] = True
                self.split(leaf, feature, residual)
            for leaf in range(self.n_leaves):
                for i in range(self.leaves[leaf].start, self.leaves[leaf].end):
                    fitted[self.rows[i]] = self.values[self.leaves[leaf].node]
        values = np.asarray(self.values[: self.n_nodes]).copy()
        return columns_of(&self.nodes[0], self.n_nodes), values

    cdef void begin(self, const double[::1] residual) noexcept nogil:
        """Start with the root as the only leaf."""
        cdef Py_ssize_t i
        cdef double squares = 0.0
        for i in range(self.n_samples):
            self.rows[i] = <int32_t> i
            squares += self.weight[i] * residual[i] * residual[i]
        self.least_gain = 1e-10 * squares  # below that a gain is rounding
        self.n_nodes, self.n_leaves = 0, 1
        self.set_leaf(0, 0, self.n_samples, -1, residual)

    cdef int32_t set_leaf(
        self, Py_ssize_t leaf, Py_ssize_t start, Py_ssize_t end, int32_t parent,
        const double[::1] residual,
    ) noexcept nogil:
        """Give a leaf the rows [start, end), look for its cuts, return its node."""
        cdef Py_ssize_t i, feature
        cdef int32_t id = <int32_t> self.n_nodes
        cdef int32_t depth = 0 if parent < 0 else self.nodes[parent].depth + 1
        cdef double total = 0.0, mass = 0.0
        self.n_nodes += 1
        self.leaves[leaf] = Leaf(start, end, id)
        for i in range(start, end):
            # Gathered once for all features of the leaf.
            self.mass[i] = self.weight[self.rows[i]]
            self.ordered[i] = self.mass[i] * residual[self.rows[i]]
            total += self.ordered[i]
            mass += self.mass[i]
        self.values[id] = total / mass
        self.nodes[id] = GrownNode(
            0.0, -1, -1, -1, parent, <int32_t> (end - start), depth, False
        )
        for feature in range(self.n_features):
            # No cut, so that `choose` never takes this leaf.
            if depth == self.max_depth:
                self.cuts[leaf, feature].gain = 0.0
            else:
                self.cuts[leaf, feature] = self.best_cut(start, end, feature, total, mass)
        return id

    cdef Cut best_cut(
        self, Py_ssize_t start, Py_ssize_t end, Py_ssize_t feature, double total, double mass
    ) noexcept nogil:
        """Return the threshold that lowers the squared error of the rows [start, end) most."""
        cdef double sums[N_CODES]
        cdef double masses[N_CODES]
        cdef const uint8_t* codes = &self.codes[self.columns[feature], 0]
        cdef Py_ssize_t i
        cdef int32_t code, last = -1
        cdef double left = 0.0, mass_left = 0.0, gain, base = total * total / mass
        cdef Cut best = Cut(0.0, 0, 0)
        memset(sums, 0, sizeof(sums))
        memset(masses, 0, sizeof(masses))
        for i in range(start, end):
            code = codes[self.rows[i]]
            sums[code] += self.ordered[i]
            masses[code] += self.mass[i]
        for code in range(N_CODES):
            # A cut between codes that no row has is the one before it.
            if masses[code] == 0:
                continue
            if last >= 0:
                # Fall of the squared error by two means in place of one.
                gain = left * left / mass_left
                gain += (total - left) * (total - left) / (mass - mass_left)
                gain -= base
                if gain > best.gain:
                    best = Cut(gain, last, code)
            # Invariant: left and mass_left cover the codes up to `last`.
            left += sums[code]
            mass_left += masses[code]
            last = code
        return best

    cdef bint choose(
        self, const double[::1] prices, const uint8_t[::1] acquired,
        Py_ssize_t* chosen_leaf, Py_ssize_t* chosen_feature,
    ) noexcept nogil:
        """Find the largest net gain over all leaves and features; say whether there is one."""
        cdef Py_ssize_t leaf, feature
        cdef double net, best = self.least_gain
        cdef bint found = False
        # 2^depth leaves, or one for each row: nothing is left to split.
        if self.n_leaves == self.max_leaves:
            return False
        for leaf in range(self.n_leaves):
            for feature in range(self.n_features):
                # Gains are kept before prices: an acquisition frees the feature everywhere.
                net = self.cuts[leaf, feature].gain
                if not acquired[feature]:
                    net -= prices[feature]
                # Strictly: of equal gains the first leaf and the lowest feature.
                if net > best:
                    best, found = net, True
                    chosen_leaf[0], chosen_feature[0] = leaf, feature
        return found

    cdef void split(
        self, Py_ssize_t leaf, Py_ssize_t feature, const double[::1] residual
    ) noexcept nogil:
        """Split a leaf at its cut of a feature: its left side stays there, the right is new."""
        cdef Leaf parent = self.leaves[leaf]
        cdef Cut cut = self.cuts[leaf, feature]
        cdef const uint8_t* codes = &self.codes[self.columns[feature], 0]
        cdef Py_ssize_t offset = self.offsets[self.columns[feature]], middle
        cdef Examples examples
        cdef GrownNode* node = &self.nodes[parent.node]
        examples.rows, examples.spare_rows = &self.rows[0], &self.spare[0]
        middle = partition(
            &examples, parent.start, parent.end, codes, <uint8_t> cut.below, False, False,
            NULL, NULL,
        )
        node.feature = <int32_t> feature
        node.threshold = midpoint(
            self.highest[offset + cut.below], self.lowest[offset + cut.above]
        )
        # The left child takes its parent's slot, the right one a new one: no leaf is ever removed.
        node.left = self.set_leaf(leaf, parent.start, middle, parent.node, residual)
        node.right = self.set_leaf(self.n_leaves, middle, parent.end, parent.node, residual)
        self.n_leaves += 1
