"""Kernel: the nodes of a growing forest, and the random splits of extremely randomized trees.

Geurts, Ernst and Wehenkel (2006): draw a few features, draw one threshold for each between the
least and the largest value of the node, and take the split that decreases impurity most. Nodes are
split in no particular order, so constant features are found anew at each node.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, isnan
from libc.stdint cimport INT32_MAX
from libc.string cimport memchr, memcpy, memset

from ..tree.binning import bin_features
from ..tree.codes cimport first_above
from ..tree.random cimport as_below, as_uniform, next_xorshift
from ..tree.partition cimport Examples, partition

cdef enum:
    # If the samples of all nodes do not fit, nodes with at most 1 / SHARE of all samples keep
    # theirs, up to a total of MOST_FOR_EACH entries per sample.
    SHARE = 32
    MOST_FOR_EACH = 16
    OUTERMOST = 128  # outermost samples of a column, tried for a node's least or largest value
    LAST_CODE = 255  # NaN has the code after those of the values
    LEAST_IN_BYTES = 256  # samples of a node for which reading codes and some values pays off

cdef ForestNode record

FOREST_NODE_DTYPE = np.asarray(<ForestNode[:1]> &record).dtype


def byte_codes(X, n_jobs=None, ordered=True):
    """Return `BinnedData` with one-byte codes; a threshold may lie among the values of one code."""
    n_bins = None if X.dtype == np.uint8 else LAST_CODE
    return bin_features(X, n_bins, n_jobs, np.isnan(X).any(axis=0), ordered=ordered)


cdef int32_t[256][8] PLACES  # places of the ones among eight marks, by the pattern of the marks


cdef inline uint8_t pattern_of(uint64_t eight) noexcept nogil:
    """Return the pattern of eight marks, 0 or 1, which collects a bit from each byte."""
    return <uint8_t> (eight * <uint64_t> 0x0102040810204080 >> 56)


cdef inline void places_of_marks(const uint8_t* marks, int32_t n, int32_t* places) noexcept nogil:
    """Write the place of each of n marks that is 1; up to seven more marks, all 0, may be read.

    Eight at once without a branch, which may overwrite up to eight further places.
    """
    cdef int32_t[8] found  # in registers, where they are added together
    cdef int32_t i, n_places = 0
    cdef uint64_t eight
    cdef int k
    for i in range(0, n, 8):
        memcpy(&eight, marks + i, 8)
        for k in range(8):
            found[k] = i + PLACES[pattern_of(eight)][k]
        memcpy(places + n_places, found, sizeof(found))
        n_places += <int32_t> (eight * <uint64_t> 0x0101010101010101 >> 56)  # the sum of the bytes


def _fill_places():
    for marks in np.ndindex((2,) * 8):  # as bytes in memory, for either byte order
        pattern = pattern_of(np.array(marks, dtype=np.uint8).view(np.uint64)[0])
        for k, place in enumerate(np.flatnonzero(marks)):
            PLACES[pattern][k] = place


_fill_places()


cdef class NodeTable:
    """Nodes of a growing forest in order of creation, the roots first, and their samples.

    Given the features X and their `byte_codes`, only small nodes keep their samples. The samples of
    other nodes are found when needed, by the splits above the node.
    """

    def __init__(self, n_trees, n_samples, max_nodes, max_depth=INT32_MAX, X=None, bins=None):
        # Filled from the front and never moved, so that pointers to nodes stay valid.
        self.max_depth = max_depth
        self.records = np.empty(max_nodes, dtype=FOREST_NODE_DTYPE)
        self.nodes = self.records
        self.n_trees, self.n_samples, self.n_nodes = n_trees, n_samples, 0
        self.n_kept, self.most_kept, self.found_node = 0, n_samples // SHARE, -1
        self.order = np.empty(min(n_trees, MOST_FOR_EACH) * n_samples, dtype=np.int32)
        self.found = np.empty(n_samples + 8, np.int32)  # 8 more, which may be overwritten
        self.marked = np.zeros(n_samples + 8, np.uint8)
        if X is None:
            self.codes = None
            self.order, self.most_kept = np.empty(n_trees * n_samples, dtype=np.int32), n_samples
        else:
            # Bytes have a code for each value, so no code is in doubt, and no value is read.
            self.columns = None if X.dtype == np.uint8 else X
            self.codes, self.offsets, self.by_value = bins.codes, bins.offsets, bins.by_value
            self.lowest, self.highest = bins.lowest, bins.highest
        for tree in range(n_trees):
            self.add(tree, -1, n_samples)

    def accepted(self):
        """Return the accepted nodes in the order of acceptance."""
        steps = self.records["step"][: self.n_nodes]
        nodes = np.flatnonzero(steps >= 0).astype(np.int32)
        return nodes[np.argsort(steps[nodes])]

    def samples(self, int32_t j):
        """Return the samples of a node, ascending."""
        return np.array(<int32_t[:self.nodes[j].size]> self.samples_of(&self.nodes[j]))

    cdef void part(self, int32_t j, int32_t n_left) noexcept nogil:
        cdef ForestNode* node = &self.nodes[j]
        cdef ForestNode* child = &self.nodes[node.child]
        cdef int32_t side, size, start = node.start
        child[0].size, child[1].size = n_left, node.size - n_left
        for side in range(2):
            child[side].start = start + side * n_left if start >= 0 else -1
            size = child[side].size
            if start < 0 and size <= min(self.most_kept, self.order.shape[0] - self.n_kept):
                self.find(node.child + side)
                child[side].start = self.n_kept
                memcpy(&self.order[self.n_kept], &self.found[0], size * sizeof(int32_t))
                self.n_kept += size

    cdef void find(self, int32_t j) noexcept nogil:
        cdef ForestNode* node = &self.nodes[j]
        cdef int32_t child = j
        # All roots have the same samples and come first.
        if self.found_node != j and not (0 <= self.found_node < self.n_trees and j < self.n_trees):
            if self.found_node >= 0 and self.found_node == node.parent:
                self.unmark(j)
            else:
                # Each split on the path to the root unmarks the samples of the other side.
                memset(&self.marked[0], 1, self.n_samples)
                while self.nodes[child].parent >= 0:
                    self.unmark(child)
                    child = self.nodes[child].parent
            self.found_node = j
            places_of_marks(&self.marked[0], self.n_samples, &self.found[0])
        if self.codes is None:  # a root, whose tree has its own part of `order`
            node.start = node.tree * self.n_samples
            memcpy(&self.order[node.start], &self.found[0], node.size * sizeof(int32_t))

    cdef void unmark(self, int32_t child) noexcept nogil:
        """Unmark the samples that go to the sibling of a node."""
        cdef const ForestNode* node = &self.nodes[self.nodes[child].parent]
        cdef const uint8_t* codes = &self.codes[node.feature, 0]
        cdef const uint8_t* at
        cdef uint8_t* marked = &self.marked[0]  # a local pointer: the loop handles 16 at once
        cdef Py_ssize_t first = self.offsets[node.feature], last = self.offsets[node.feature + 1]
        # Codes before this one go left, codes after it go right.
        cdef Py_ssize_t place = first_above(&self.highest[0], first, last - 1, node.threshold)
        # The values of the code `cut` lie on both sides (`doubted`), or all on the right.
        cdef uint8_t cut = <uint8_t> (place - first), doubted = self.lowest[place] <= node.threshold
        # Codes from `start` on stay, up to `width` more, counted modulo 256, so that the last one,
        # of missing values, may come before the first.
        cdef uint8_t start = <uint8_t> (last - first - 1) if node.missing_left else 0
        cdef uint8_t width = cut - start - (not doubted)
        cdef int32_t i, right = child != node.child
        if right:
            width, start = <uint8_t> (start - cut - 1), cut
        for i in range(self.n_samples):
            marked[i] &= <uint8_t> (codes[i] - start) <= width
        if doubted and self.by_value is None:
            at = <const uint8_t*> memchr(codes, cut, self.n_samples)
            while at != NULL:
                i = <int32_t> (at - codes)
                if marked[i]:
                    marked[i] = (self.columns[i, node.feature] > node.threshold) == right
                at = <const uint8_t*> memchr(at + 1, cut, self.n_samples - i - 1)
            return
        # In the order of values, samples with the code `cut` are next to the threshold.
        i = place_above(self, node.feature, node.threshold) - right if doubted else -1
        while 0 <= i < self.n_samples and codes[self.by_value[node.feature, i]] == cut:
            marked[self.by_value[node.feature, i]] = 0
            i += 1 - 2 * right

    cdef int32_t add(self, int32_t tree, int32_t parent, int32_t size) noexcept nogil:
        """Append a leaf outside the model; return its id."""
        self.nodes[self.n_nodes] = ForestNode(
            tree=tree, parent=parent, size=size, start=-1, feature=-1, child=-1, step=-1,
            threshold=0.0, decrease=0.0, missing_left=False,
        )
        self.n_nodes += 1
        return self.n_nodes - 1


def compact(const ForestNode[::1] nodes, int32_t n_trees):
    """Return the nodes of the splits that the model uses, tree by tree, and each tree's number.

    A split is used if one of its children was accepted, and then both children are kept, side by
    side. An empty model keeps a single root. A root counts once a node of its tree was accepted.
    """
    cdef int32_t[::1] place = np.full(nodes.shape[0], -1, dtype=np.int32)
    cdef int32_t[::1] sizes = np.zeros(n_trees, dtype=np.int32)
    cdef int64_t[::1] counts = np.zeros(n_trees, dtype=np.int64)
    cdef Py_ssize_t j
    cdef int32_t parent, tree, n_accepted, side
    cdef ForestNode* new
    with nogil:
        for j in range(nodes.shape[0] - 1):
            parent, tree = nodes[j].parent, nodes[j].tree
            n_accepted = (nodes[j].step >= 0) + (nodes[j + 1].step >= 0)
            # Only siblings have the same parent, and the left one comes first.
            if parent < 0 or parent != nodes[j + 1].parent or n_accepted == 0:
                continue
            if sizes[tree] == 0:  # the first split of a tree is that of its root
                place[parent], sizes[tree], counts[tree] = 0, 1, 1
            place[j], place[j + 1] = 0, 1  # left and right, until they have a place
            sizes[tree] += 2
            counts[tree] += n_accepted
    if not np.any(sizes):
        place[0], sizes[nodes[0].tree] = 0, 1
    # The next free place of each tree, which is its start at first.
    cdef int32_t[::1] free = np.cumsum(sizes, dtype=np.int32) - np.asarray(sizes)
    kept = np.empty(np.sum(sizes), dtype=FOREST_NODE_DTYPE)
    cdef ForestNode[::1] out = kept
    with nogil:
        for j in range(nodes.shape[0]):
            if place[j] < 0:
                continue
            parent, tree, side = nodes[j].parent, nodes[j].tree, place[j]
            place[j] = free[tree]
            free[tree] += 1
            new = &out[place[j]]
            new[0] = nodes[j]
            new.child = -1
            if parent >= 0:  # it has its place, as parents come before children
                new.parent = place[parent]
                out[new.parent].child = place[j] - side
    return kept, np.asarray(counts)


def path_sums(nodes, weights):
    """Return for each node of a compact forest the sum of the weights on its path.

    Weights, (n_accepted, n_outputs), are in the order of acceptance.
    """
    accepted = nodes["step"] >= 0
    sums = np.zeros((len(nodes), weights.shape[1]))
    sums[accepted] = weights[nodes["step"][accepted]]
    # s_j = s_parent + w_j, level by level from the children of the roots.
    level = nodes["child"][nodes["parent"] < 0]
    while (level := level[level >= 0]).size:
        level = np.concatenate([level, level + 1])
        sums[level] = sums[nodes["parent"][level]] + sums[level]
        level = nodes["child"][level]
    return sums


cdef class Charges:
    """The charge for each feature while a forest grows; 0 once the forest has acquired it.

    Let C(A) be the price of a set of features, and C(F) the price of all. Growth lowers
    loss / loss of the constant + weight * C(acquired) / C(F). So acquiring feature i must lower the
    first term by weight * (C(A + i) - C(A)) / C(F), and weights do not depend on units.
    """

    def __init__(self, costs, weight):
        self.costs, self.acquired = costs, np.zeros(costs.n_features, dtype=bool)
        self.weight = weight / costs.full if costs.full > 0 else 0.0
        self.share = self.weight * costs.marginal(self.acquired)

    cdef bint acquire(self, int32_t feature) noexcept nogil:
        if self.share[feature] == 0.0:
            return False
        with gil:  # at most once for each feature
            self.acquired[feature] = True
            self.share = self.weight * self.costs.marginal(self.acquired)
        return True


cdef class Splitter:
    """Random splits; subclasses define the impurity.

    The value of a split is its decrease of impurity minus the charge of its feature. Features with
    a charge and no value above 0 are skipped like constant ones, and do not count as visits.
    """

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed):
        self.X, self.width, self.column_bytes = X, X.itemsize, X.strides[1]
        self.cells, self.step = <const uint8_t*> <size_t> X.ctypes.data, X.strides[0] // X.itemsize
        self.feature_codes = None
        self.offsets = np.arange(X.shape[1] + 1) * (LAST_CODE + 1)
        self.lowest, self.highest = np.array([X.min(axis=0), X.max(axis=0)], dtype=np.float64)
        self.gaps = np.isnan(self.lowest).view(np.uint8)
        self.n_visits, self.n_thresholds, self.min_leaf = n_visits, n_thresholds, min_leaf
        self.features = np.arange(X.shape[1], dtype=np.int32)
        self.values = np.empty(len(X) * self.width, dtype=np.uint8)  # scratch for the largest node
        self.moved = np.empty(len(X), dtype=np.int32)
        self.state = <uint64_t> seed * 2 + 1  # must not be 0 for xorshift

    def look_at(self, bins, table=None):
        """Read features of large nodes from `byte_codes`, and values only if a code is in doubt.

        This reads an eighth of the bytes, and compares many at once.
        """
        self.feature_codes, self.offsets = bins.codes, bins.offsets
        self.code_lowest, self.code_highest = bins.lowest, bins.highest
        # Thresholds can be drawn ahead if no score decides what is drawn.
        if self.charges is None and self.n_thresholds == self.min_leaf == 1:
            self.table = None if np.any(self.gaps) else table

    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil:
        cdef:
            int32_t n_features = <int32_t> self.features.shape[0]
            int32_t n_visited = 0, n_refused = 0, n_drawn = 0, place, feature, _trial, k
            double low, high, charge, score, best = -1.0
            bint pays, again
            Split* drawn
        out.n_left = 0
        # All roots have the same samples, so the last `enter` holds for the next root, too, as long
        # as the targets do not change.
        again = self.whole and self.fixed and n == self.moved.shape[0]
        self.whole = False
        self.ahead = self.found and self.table is not None
        if n < 2 * self.min_leaf or n < 2 or not (again or self.enter(samples, n)):
            return
        # A root has all samples in the table's order, unless charges made it split again.
        self.whole = n == self.moved.shape[0] and self.charges is None and not self.ahead
        # Drawn without replacement, by swapping to the front; no reset is needed for the next node.
        # Invariant: features[:n_visited] are visited, n_refused of them were too expensive, and
        # best >= 0 once one was neither constant nor too expensive.
        while n_visited < n_features and (n_visited - n_refused < self.n_visits or best < 0):
            place = n_visited + <int32_t> as_below(
                next_xorshift(&self.state), n_features - n_visited
            )
            feature = self.features[place]
            self.features[place] = self.features[n_visited]
            self.features[n_visited] = feature
            n_visited += 1
            charge = 0.0 if self.charges is None else self.charges.share[feature] * self.spread
            pays = charge == 0.0
            if self.frozen and not pays:
                n_refused += 1
                continue
            look_up(self, feature, samples if self.sorted == NULL else self.sorted, n, &low, &high)
            if low >= high and n_drawn == 0:  # constant; the search goes on while best < 0
                continue
            for _trial in range(self.n_thresholds):
                drawn = &self.drawn[n_drawn]
                if low < high:
                    drawn.feature, drawn.place, drawn.end = feature, 0, 0
                    drawn.threshold = between(low, high, as_uniform(next_xorshift(&self.state)))
                    if self.ahead or self.in_bytes and self.feature_codes is not None:
                        drawn.cut = code_cut(self, drawn, n)
                    else:
                        drawn.cut = drawn.threshold  # for bytes, only its integer part matters
                    n_drawn += 1
                if not self.ahead:
                    drawn.decrease, drawn.n_left = self.score(n), self.n_left
                elif n_drawn < TOGETHER and n_visited < self.n_visits:
                    continue
                else:
                    self.score_drawn(samples, n, n_drawn)
                for k in range(n_drawn):
                    drawn = &self.drawn[k]
                    score = max(0.0, drawn.decrease)  # rounding may take it below 0
                    if charge > 0.0 and score <= charge:
                        continue
                    pays = True
                    if score - charge > best and self.min_leaf <= drawn.n_left <= n - self.min_leaf:
                        best = score - charge
                        out[0] = drawn[0]
                        out.decrease = score
                n_drawn = 0
            n_refused += not pays
        if best < 0:
            return
        if not self.found:
            move_left(self, out, samples, n)
        # If no sample of the node lacks a value, examples without one go to the larger side.
        if self.gaps[out.feature] and out.n_missing == 0:
            out.missing_left = 2 * out.n_left > n

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        return False

    cdef double score(self, int32_t n) noexcept nogil:
        return 0.0

    cdef void score_drawn(self, const int32_t* samples, int32_t n, int n_drawn) noexcept nogil:
        pass


cdef bint outermost(NodeTable table, int32_t feature, double* low, double* high) noexcept nogil:
    """Look for the least and largest value of the found node among the outermost of all."""
    cdef const int32_t* order = &table.by_value[feature, 0]
    cdef int32_t n = table.n_samples, first = 0, last = n - 1
    while first < OUTERMOST and not table.marked[order[first]]:
        first += 1
    while last > n - OUTERMOST and not table.marked[order[last]]:
        last -= 1
    low[0], high[0] = table.columns[order[first], feature], table.columns[order[last], feature]
    return table.marked[order[first]] and table.marked[order[last]]


cdef inline void look_up(
    Splitter splitter, int32_t feature, const int32_t* order, int32_t n, double* low, double* high
) noexcept nogil:
    """Look up the cells of a feature, usually by gathering; find the least and largest value."""
    cdef const uint8_t* column = column_of(splitter, feature)
    cdef void* values = &splitter.values[0]
    if splitter.ahead and outermost(splitter.table, feature, low, high):
        return
    splitter.drawn[0].n_missing = 0
    splitter.drawn[0].missing_left = False
    splitter.feature = feature
    splitter.looked_up = &splitter.values[0]
    splitter.in_bytes = splitter.width == 1
    if splitter.gaps[feature]:
        look_up_with_gaps(splitter, feature, order, n, low, high)
        return
    if n >= LEAST_IN_BYTES and splitter.feature_codes is not None:
        splitter.in_bytes = look_up_codes(splitter, order, n, low, high)
        if splitter.in_bytes:
            return
    if splitter.whole and (splitter.tabled or splitter.sorted == NULL) and splitter.step == 1:
        # A root's cells are the whole column, and their extremes are those of the table.
        splitter.looked_up = column
        low[0], high[0] = splitter.lowest[feature], splitter.highest[feature]
    elif splitter.in_bytes:
        gather_bytes(column, order, n, <uint8_t*> values, low, high)
    else:
        gather_numbers(
            <const double*> column, splitter.step, order, n, <double*> values, low, high
        )


cdef inline const uint8_t* column_of(Splitter splitter, int32_t feature) noexcept nogil:
    return splitter.cells + feature * splitter.column_bytes


cdef bint look_up_codes(
    Splitter splitter, const int32_t* order, int32_t n, double* low, double* high
) noexcept nogil:
    """Look up one-byte codes; return False if all cells of the node are in doubt."""
    cdef Py_ssize_t feature = splitter.feature, first = splitter.offsets[feature], place
    cdef const uint8_t* codes = &splitter.feature_codes[feature, 0]
    splitter.n_beyond = 0
    if splitter.whole and (splitter.tabled or splitter.sorted == NULL):
        splitter.order = NULL
        low[0], high[0] = splitter.lowest[feature], splitter.highest[feature]
        if splitter.tabled:
            splitter.looked_up = codes
        else:  # a copy, in which cells in doubt may be changed
            memcpy(&splitter.values[0], codes, n)
        return True
    splitter.order = order
    gather_bytes(codes, order, n, &splitter.values[0], low, high)
    place = first + <Py_ssize_t> low[0]
    if low[0] == high[0] and splitter.code_lowest[place] < splitter.code_highest[place]:
        return False
    low[0] = end_of_code(splitter, <uint8_t> low[0], n, -1.0)
    high[0] = end_of_code(splitter, <uint8_t> high[0], n, 1.0)
    return True


cdef inline const double* numbers_at(Splitter splitter, int32_t place) noexcept nogil:
    cdef int32_t row = place if splitter.order == NULL else splitter.order[place]
    return <const double*> column_of(splitter, splitter.feature) + row * splitter.step


cdef int32_t places_of(Splitter splitter, uint8_t code, int32_t n) noexcept nogil:
    """Find the places of the looked-up cells that have a code; return how many there are."""
    cdef const uint8_t* cells = splitter.looked_up
    cdef const uint8_t* at = <const uint8_t*> memchr(cells, code, n)
    cdef int32_t place, n_found = 0
    while at != NULL:
        place = <int32_t> (at - cells)
        fetch_ahead(numbers_at(splitter, place))  # values are far apart in memory
        splitter.moved[n_found] = place
        n_found += 1
        at = <const uint8_t*> memchr(at + 1, code, n - place - 1)
    return n_found


cdef double end_of_code(Splitter splitter, uint8_t code, int32_t n, double sign) noexcept nogil:
    """Return the least (sign -1) or largest (sign 1) value of the looked-up cells with a code."""
    cdef Py_ssize_t place = splitter.offsets[splitter.feature] + code
    cdef double found = -INFINITY
    cdef int32_t i
    if splitter.code_lowest[place] == splitter.code_highest[place]:
        return splitter.code_lowest[place]
    for i in range(places_of(splitter, code, n)):
        found = max(found, sign * numbers_at(splitter, splitter.moved[i])[0])
    return sign * found


cdef int32_t place_above(NodeTable table, int32_t feature, double threshold) noexcept nogil:
    """Return the place of the first sample above a threshold in the order of values."""
    cdef int32_t first = 0, last = table.n_samples, middle
    # Invariant: values before `first` are not above it, those from `last` on are; NaN is above.
    while first < last:
        middle = first + (last - first) // 2
        if table.columns[table.by_value[feature, middle], feature] <= threshold:
            first = middle + 1
        else:
            last = middle
    return first


cdef double code_cut(Splitter splitter, Split* drawn, int32_t n) noexcept nogil:
    """Return the largest code that goes left; its cells above the threshold get the next code.

    In a root with counted cells, these keep their code, and `moved` has their places.
    """
    cdef Py_ssize_t first = splitter.offsets[drawn.feature], place
    cdef Py_ssize_t last = splitter.offsets[drawn.feature + 1] - 1
    cdef uint8_t* cells = &splitter.values[0]
    cdef bint writes = splitter.looked_up == cells
    cdef const int32_t* order
    cdef uint8_t code
    cdef int32_t i, n_beyond = 0
    for i in range(splitter.n_beyond if writes else 0):  # undo the previous threshold
        cells[splitter.moved[i]] = <uint8_t> drawn.cut
    splitter.n_beyond = 0
    # Codes before this one go left, codes after it go right.
    place = first_above(&splitter.code_highest[0], first, last, drawn.threshold)
    code = <uint8_t> (place - first)
    if splitter.code_lowest[place] > drawn.threshold:  # not the first code, as some value goes left
        return code - 1.0
    if splitter.ahead:
        # All cells above it get the next code, in the node or not, until the threshold is scored.
        cells = &splitter.table.codes[drawn.feature, 0]
        drawn.place = drawn.end = place_above(splitter.table, drawn.feature, drawn.threshold)
        order = &splitter.table.by_value[drawn.feature, 0]
        while drawn.end < splitter.moved.shape[0] and cells[order[drawn.end]] == code:
            cells[order[drawn.end]] += 1
            drawn.end += 1
        return code
    for i in range(places_of(splitter, code, n)):
        splitter.moved[n_beyond] = splitter.moved[i]
        n_beyond += numbers_at(splitter, splitter.moved[i])[0] > drawn.threshold
    splitter.n_beyond = n_beyond
    for i in range(n_beyond if writes else 0):
        cells[splitter.moved[i]] = code + 1
    return code


cdef void look_up_with_gaps(
    Splitter splitter, int32_t feature, const int32_t* order, int32_t n, double* low, double* high
) noexcept nogil:
    """Look up cells, with missing ones below or above all others, on a side drawn at random."""
    cdef double* values = <double*> &splitter.values[0]
    cdef const double* column = <const double*> column_of(splitter, feature)
    cdef double value, beyond
    cdef int32_t i, n_missing = 0  # in a register, unlike a field of the splitter
    low[0], high[0] = INFINITY, -INFINITY
    for i in range(n):
        value = values[i] = column[order[i] * splitter.step]
        n_missing += isnan(value)
        low[0] = value if value < low[0] else low[0]
        high[0] = value if value > high[0] else high[0]
    splitter.drawn[0].n_missing = n_missing
    if n_missing == 0 or n_missing == n:
        return
    splitter.drawn[0].missing_left = as_below(next_xorshift(&splitter.state), 2) == 0
    if low[0] == high[0]:
        # One known value: the only threshold puts all known values on the left.
        splitter.drawn[0].missing_left = False
        low[0], high[0] = DBL_MAX, INFINITY
    # Infinite values are on the right side of every threshold, so sums need no check for NaN.
    beyond = -INFINITY if splitter.drawn[0].missing_left else INFINITY
    for i in range(n):
        values[i] = beyond if isnan(values[i]) else values[i]


cdef inline void move_left(
    Splitter splitter, const Split* found, int32_t* samples, int32_t n
) noexcept nogil:
    """Move the samples that go left in a split to the front."""
    cdef Examples examples
    cdef const uint8_t* column = column_of(splitter, found.feature)
    cdef const double* numbers = <const double*> column
    cdef double* values = <double*> &splitter.values[0]
    cdef uint8_t* no_byte = NULL
    cdef double* no_number = NULL
    cdef double value, cut = found.threshold
    cdef int32_t i
    # Stable, so that a node's samples stay ascending, and columns are read forwards.
    examples.rows = samples
    examples.spare_rows = &splitter.moved[0]
    if splitter.width == 1:
        partition(&examples, 0, n, column, <uint8_t> cut, False, False, no_byte, no_byte)
    elif found.missing_left or splitter.step != 1:
        # NaN is not below any threshold, so missing values go right unless they are replaced.
        for i in range(n):
            value = numbers[samples[i] * splitter.step]
            values[i] = -INFINITY if found.missing_left and isnan(value) else value
        partition(&examples, 0, n, values, cut, True, False, no_number, no_number)
    else:
        partition(&examples, 0, n, numbers, cut, False, False, no_number, no_number)


cdef inline void gather_bytes(
    const uint8_t* column, const int32_t* samples, int32_t n, uint8_t* values, double* low,
    double* high,
) noexcept nogil:
    """Gather bytes as `gather_numbers`, with least and largest found for many at once."""
    cdef uint8_t least = column[samples[n - 1]], largest = least
    cdef int32_t i
    values[n - 1] = least
    for i in range(0, n - 1, 2):
        values[i] = column[samples[i]]
        values[i + 1] = column[samples[i + 1]]
    for i in range(n):
        least = min(least, values[i])
        largest = max(largest, values[i])
    low[0], high[0] = least, largest


cdef inline void gather_numbers(
    const double* column, Py_ssize_t step, const int32_t* samples, int32_t n, double* values,
    double* low, double* high,
) noexcept nogil:
    """Copy the cells of some samples; find the least and the largest."""
    cdef double value, least = column[samples[0] * step], largest = least
    cdef int32_t i
    for i in range(n):
        value = values[i] = column[samples[i] * step]
        least = value if value < least else least
        largest = value if value > largest else largest
    low[0], high[0] = least, largest


cdef inline double between(double low, double high, double share) noexcept nogil:
    """Return a threshold in [low, high), for which neither side of the split is empty."""
    cdef double threshold = low * (1.0 - share) + high * share
    # Rounding may give `high`, for which no sample would go right. NaN becomes `low`, too.
    return threshold if low <= threshold < high else low
