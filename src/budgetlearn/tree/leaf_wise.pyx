"""Kernel: grow regression trees on gradients, splitting the most promising leaf first."""

import numpy as np

from libc.math cimport INFINITY, rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from .nodes cimport Blocks, GrownNode, begin_leaf, columns_of

cdef extern from *:
    """
    #define ONE ((int64_t) 1 << 40)
    #define MOST_GRADIENT 4611686018427387904.0
    #define ROUNDING 1e10
    #define LEAST_CURVATURE 1e-3
    """
    const int64_t ONE                 # an example; sums of curvatures use the bits below
    const double MOST_GRADIENT        # 2^62
    # A gain below 1 / ROUNDING of the score of both sides is rounding, as for equal gradients.
    const double ROUNDING
    const double LEAST_CURVATURE      # least sum in a leaf, which bounds its value


# Sums of gradients and curvatures as whole numbers, in units in which no sum over all examples
# overflows. So sums are exact in any order, and can be subtracted without error. A processor adds
# two numbers in one instruction; three would take two, so count and curvature share a number.
cdef struct Cell:
    int64_t gradient
    int64_t rest      # examples * ONE + curvature


MOST_ROWS = 1 << 22  # of a tree, because their number and curvatures share the bits of a sum

# A leaf whose examples are [start, end), and its best split so far.
cdef struct Leaf:
    Cell total
    Cell* cells       # of all codes of all features
    Py_ssize_t start, end
    int32_t node
    double gain       # minus the price; -INFINITY: there is no split
    int32_t feature, code
    bint missing_left


cdef inline void add(Cell* to, const Cell* cell) noexcept nogil:
    to.gradient += cell.gradient
    to.rest += cell.rest


cdef inline Cell without(const Cell* whole, const Cell* part) noexcept nogil:
    return Cell(whole.gradient - part.gradient, whole.rest - part.rest)


cdef inline int64_t curvature(const Cell* cell) noexcept nogil:
    return cell.rest & (ONE - 1)


cdef class LeafWise(Blocks):
    """Grows trees on a table of codes, one after another in the same memory.

    Second-order boosting (Chen and Guestrin 2016, equations 5 to 7, without their penalty), leaf by
    leaf (Ke et al. 2017): of all leaves, the one with the largest G_L² / H_L + G_R² / H_R − G² / H
    minus price is split next. Only the smaller child is counted; its counts are then subtracted
    from the parent's.
    """

    cdef:
        const uint8_t[:, ::1] codes       # (n_samples, n_features)
        const int32_t[::1] offsets        # (n_features + 1,): where each feature's codes begin
        const double[::1] cuts            # (offsets[-1],): the threshold above each code
        const uint8_t[::1] missing        # (n_features,): whether the last code means no value
        Py_ssize_t n_leaves, least        # most leaves of a tree; fewest examples of a leaf
        int32_t max_depth                 # -1: limited by the leaves only
        GrownNode* nodes
        double* values
        int32_t* split                    # the largest code that goes left at each node
        int32_t* order                    # the training rows, those of a leaf side by side
        int32_t* right                    # scratch
        Leaf* leaves
        Cell* cells
        Cell* slopes                      # (n_samples,): the summands of each example
        double gradient_unit, curvature_unit, least_curvature
        Py_ssize_t n_nodes, n_grown
        const int32_t[::1] tested         # the features that the current tree may test
        double[::1] prices                # of the first split on a feature; later ones cost 0

    def __init__(self, coded, Py_ssize_t n_leaves, Py_ssize_t min_leaf, int32_t max_depth=-1):
        self.codes, self.offsets, self.cuts = coded.codes, coded.offsets, coded.cuts
        self.missing = coded.missing.view(np.uint8)
        self.n_leaves, self.least, self.max_depth = n_leaves, min_leaf, max_depth
        cdef Py_ssize_t n_nodes = 2 * n_leaves - 1, n = self.codes.shape[0]
        self.nodes = <GrownNode*> self.get(n_nodes * sizeof(GrownNode))
        self.values, self.split = self.numbers(n_nodes), self.integers(n_nodes)
        self.order, self.right = self.integers(n), self.integers(n)
        self.slopes = <Cell*> self.get(n * sizeof(Cell))
        self.leaves = <Leaf*> self.get(n_leaves * sizeof(Leaf))
        self.cells = <Cell*> self.get(n_leaves * self.cuts.shape[0] * sizeof(Cell))

    def grow(
        self,
        const int32_t[::1] rows,          # IN the examples to learn from
        const double[::1] gradients,      # IN (n_samples,)
        const double[::1] curvatures,     # IN (n_samples,)
        const int32_t[::1] tested,        # IN features to choose from
        double[::1] prices,               # INOUT (n_features,): in units of the gain
        double[::1] gains,                # INOUT (n_features,): the gain of each split is added
    ):
        """Grow a tree, and return the number of its leaves."""
        cdef Py_ssize_t i, n_grown = 1, best, n = rows.shape[0]
        cdef Leaf* leaf
        if n > MOST_ROWS:
            raise ValueError(f"a tree learns from at most {MOST_ROWS:,} rows, got {n:,}.")
        self.tested, self.prices = tested, prices
        with nogil:
            self.take(rows, gradients, curvatures)
            leaf = self.leaves
            leaf.start, leaf.end, leaf.cells, self.n_nodes = 0, n, self.cells, 0
            leaf.total = Cell(0, 0)
            for i in range(n):
                add(&leaf.total, self.slopes + self.order[i])
            # LightGBM estimates a leaf's number of examples from its curvature. Leaves here need
            # both, as otherwise values of leaves of confidently predicted examples have no bound.
            self.least_curvature = max(
                LEAST_CURVATURE,
                self.curvature_unit * curvature(&leaf.total) * (self.least - 0.5) / max(n, 1),
            ) if self.least > 1 else LEAST_CURVATURE
            self.begin(leaf, -1)
            if self.may_split(leaf):
                self.count(leaf)
                self.search(leaf, NULL)
            while n_grown < self.n_leaves:
                best = 0
                for i in range(1, n_grown):
                    if self.leaves[i].gain > self.leaves[best].gain:
                        best = i
                leaf = self.leaves + best
                if leaf.gain <= 0:
                    break
                gains[leaf.feature] += leaf.gain
                self.divide(leaf, n_grown)
                n_grown += 1
            self.n_grown = n_grown
        return n_grown

    cdef void take(
        self, const int32_t[::1] rows, const double[::1] gradients, const double[::1] curvatures
    ) noexcept nogil:
        """Store the examples to learn from, and their slopes in whole units."""
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef int32_t row
        cdef double steepest = 0, most_curved = 0
        for i in range(n):
            row = self.order[i] = rows[i]
            steepest = max(steepest, abs(gradients[row]))
            most_curved = max(most_curved, curvatures[row])
        # The 1 of n + 1 is room for rounding each summand up. Beyond a million examples, rounding
        # adds up to more, for which the second term leaves room.
        self.gradient_unit = steepest * (n + 1) / MOST_GRADIENT or 1.0
        self.curvature_unit = most_curved * max((n + 1.0) / ONE, <double> n / (ONE - n)) or 1.0
        for i in range(n):
            row = rows[i]
            self.slopes[row] = Cell(
                <int64_t> rint(gradients[row] / self.gradient_unit),
                ONE + <int64_t> rint(curvatures[row] / self.curvature_unit),
            )

    cdef void begin(self, Leaf* leaf, int32_t parent) noexcept nogil:
        """Append the node of a leaf whose examples and sums are known."""
        begin_leaf(self.nodes, self.n_nodes, parent, leaf.end - leaf.start)
        leaf.node, leaf.gain = <int32_t> self.n_nodes, -INFINITY
        self.values[self.n_nodes] = -self.gradient_unit * leaf.total.gradient / max(
            self.curvature_unit * curvature(&leaf.total), LEAST_CURVATURE
        )
        self.n_nodes += 1

    cdef bint may_split(self, const Leaf* leaf) noexcept nogil:
        cdef bint deepest = self.nodes[leaf.node].depth == self.max_depth
        return leaf.end - leaf.start >= 2 * self.least and not deepest

    cdef void count(self, Leaf* leaf) noexcept nogil:
        """Sum the slopes of a leaf's examples by feature and code."""
        cdef:
            Py_ssize_t i, k, n_tested = self.tested.shape[0], n_features = self.codes.shape[1]
            const int32_t* tested = &self.tested[0]
            const int32_t* offsets = &self.offsets[0]
            const uint8_t* codes
            Cell* cells = leaf.cells
            Cell slopes
        memset(cells, 0, self.cuts.shape[0] * sizeof(Cell))
        for i in range(leaf.start, leaf.end):
            slopes = self.slopes[self.order[i]]
            codes = &self.codes[0, 0] + self.order[i] * n_features
            for k in range(n_tested):
                add(cells + offsets[tested[k]] + codes[tested[k]], &slopes)

    cdef void search(self, Leaf* leaf, const Cell* sibling) noexcept nogil:
        """Find the best split of a leaf, after subtracting the cells of its `sibling` if given."""
        cdef Py_ssize_t k, i
        cdef int32_t feature
        for k in range(self.tested.shape[0]):
            feature = self.tested[k]
            if sibling != NULL:  # feature by feature, while the cells are in the cache
                for i in range(self.offsets[feature], self.offsets[feature + 1]):
                    leaf.cells[i] = without(leaf.cells + i, sibling + i)
            self.search_feature(leaf, feature)

    cdef void search_feature(self, Leaf* leaf, int32_t feature) noexcept nogil:
        cdef Py_ssize_t first = self.offsets[feature]
        cdef Py_ssize_t n_codes = self.offsets[feature + 1] - first
        cdef const Cell* cells = leaf.cells + first
        cdef Cell none = Cell(0, 0)
        # The last cut separates all known values from missing ones, whose code is the last.
        self.scan(leaf, feature, cells, n_codes - 1, none, False)
        if self.missing[feature] and cells[n_codes - 1].rest > 0:
            self.scan(leaf, feature, cells, n_codes - 2, cells[n_codes - 1], True)

    cdef void scan(
        self, Leaf* leaf, int32_t feature, const Cell* cells, Py_ssize_t n_cuts, Cell left,
        bint missing_left,
    ) noexcept nogil:
        """Offer the leaf all splits of a feature; the sums `left` always go left."""
        cdef Py_ssize_t code, best = -1
        cdef Cell total = leaf.total, right
        cdef int64_t least = self.least
        cdef double u = self.gradient_unit, v = self.curvature_unit
        cdef double g, G, h, H, both, area, g_all = u * total.gradient, price = self.prices[feature]
        cdef double whole = g_all * g_all / (v * curvature(&total))
        # The score of both sides together must exceed this.
        cdef double bar = max(leaf.gain + price, 0.0) + whole
        for code in range(n_cuts):
            add(&left, cells + code)
            right = without(&total, &left)
            if right.rest // ONE < least:
                break
            if left.rest // ONE < least:
                continue
            g, G = u * left.gradient, u * right.gradient
            h, H = v * curvature(&left), v * curvature(&right)
            if min(h, H) < self.least_curvature:
                continue
            both, area = g * g * H + G * G * h, h * H
            if both > bar * area:  # divisions are slow, so only candidates that are better divide
                both /= area
                if both > bar and (both - whole) * ROUNDING > both:
                    bar, best = both, code
        if best >= 0:
            leaf.gain, leaf.feature, leaf.code = bar - whole - price, feature, <int32_t> best
            leaf.missing_left = missing_left

    cdef void divide(self, Leaf* leaf, Py_ssize_t place) noexcept nogil:
        """Split a leaf: the left side replaces it, the right side becomes leaf number `place`."""
        cdef Leaf* other = self.leaves + place
        cdef Leaf* small
        cdef Leaf* large
        cdef Leaf parent = leaf[0]
        cdef GrownNode* node = self.nodes + parent.node
        cdef Py_ssize_t i, middle = self.send(leaf)
        cdef bint charged
        node.feature, node.missing_left = parent.feature, parent.missing_left
        node.threshold = self.cuts[self.offsets[parent.feature] + parent.code]
        self.split[parent.node] = parent.code
        leaf.end, other.start, other.end = middle, middle, parent.end
        leaf.total = Cell(0, 0)
        for i in range(leaf.start, middle):
            add(&leaf.total, self.slopes + self.order[i])
        other.total = without(&parent.total, &leaf.total)
        other.cells = self.cells + place * self.cuts.shape[0]
        self.begin(leaf, parent.node)
        self.begin(other, parent.node)
        node.left, node.right = leaf.node, other.node
        if place + 1 < self.n_leaves:
            small, large = leaf, other
            if leaf.end - leaf.start > other.end - other.start:
                small, large = other, leaf
            small.cells, large.cells = other.cells, parent.cells
            if self.may_split(large):
                self.count(small)
                self.search(large, small.cells)
                if self.may_split(small):
                    self.search(small, NULL)
        # The feature is free from now on, so leaves that were searched before are searched again.
        charged, self.prices[parent.feature] = self.prices[parent.feature] > 0, 0.0
        if charged and place + 1 < self.n_leaves:
            for i in range(place + 1):
                if self.may_split(self.leaves + i):
                    self.search_feature(self.leaves + i, parent.feature)

    cdef Py_ssize_t send(self, const Leaf* leaf) noexcept nogil:
        """Partition a leaf's examples stably by side; return where the right side begins."""
        cdef Py_ssize_t i, n_right = 0, to = leaf.start, n_features = self.codes.shape[1]
        cdef const uint8_t* column = &self.codes[0, leaf.feature]
        cdef int32_t* order = self.order
        cdef int32_t* right = self.right
        cdef int32_t row, own, code = leaf.code, absent = self.absent(leaf.feature)
        cdef bint missing_left = leaf.missing_left, left
        for i in range(leaf.start, leaf.end):
            row = order[i]
            own = column[row * n_features]
            left = own <= code or (missing_left and own == absent)
            # Written to both sides and counted on one: no branch to mispredict.
            order[to], right[n_right] = row, row
            to += left
            n_right += not left
        memcpy(order + to, right, n_right * sizeof(int32_t))
        return to

    cdef int32_t absent(self, int32_t feature) noexcept nogil:
        """Return the last code of a feature, which means no value if values can be missing."""
        return self.offsets[feature + 1] - self.offsets[feature] - 1

    def add_to(self, double[::1] scores, double rate, const int32_t[::1] others):
        """Add `rate` times the leaf value to the scores of the tree's rows and of other rows."""
        cdef Py_ssize_t i, k
        cdef int32_t own, at
        cdef const GrownNode* node
        cdef const uint8_t* codes
        cdef const Leaf* leaf
        with nogil:
            for k in range(self.n_grown):
                leaf = self.leaves + k
                for i in range(leaf.start, leaf.end):
                    scores[self.order[i]] += rate * self.values[leaf.node]
            for i in range(others.shape[0]):
                codes, at, node = &self.codes[others[i], 0], 0, self.nodes
                while node.feature >= 0:
                    own = codes[node.feature]
                    if own <= self.split[at] or (
                        node.missing_left and own == self.absent(node.feature)
                    ):
                        at = node.left
                    else:
                        at = node.right
                    node = self.nodes + at
                scores[others[i]] += rate * self.values[at]

    def tree(self):
        """Return `columns_of` the nodes of the tree, and the value of each."""
        values = np.empty(self.n_nodes)
        cdef double[::1] out = values
        memcpy(&out[0], self.values, self.n_nodes * sizeof(double))
        return columns_of(self.nodes, self.n_nodes), values
