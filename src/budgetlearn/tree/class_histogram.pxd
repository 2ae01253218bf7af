"""Search for the best threshold of one feature by counting, for Gini and entropy.

The mean impurity of both sides needs no order of the examples, only how much of each class each
code holds. A node adds its weights up in cells (code, class) and sets a bit for each cell that it
uses; the set bits, lowest first, then visit the cells in the order of the codes. So a feature costs
one pass over the node's examples and one over the cells in use, however small the node, and neither
a sort nor a histogram to be cleared.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset

from .codes cimport Codes, add_up
from .impurity cimport Kind, mean_value, quality, term_change
from .random cimport below
from .search cimport Column, Search, breaks_order, offer

cdef extern from *:
    int trailing_zeros "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    LANES = 2              # copies of the cells, so that sums do not wait for each other


# Where the examples of a node are counted: a cell for each (code, class) of a feature.
cdef struct ClassHistogram:
    double* weights        # (LANES, n_codes << bits): zero between uses
    uint64_t* marks        # (LANES, n_words): a bit for each cell in use; zero between uses
    int bits               # cell = code << bits | class
    double* left           # (n_classes,): scratch
    double* right


cdef inline Py_ssize_t n_mark_words(
    const ClassHistogram* histogram, Py_ssize_t n_codes
) noexcept nogil:
    """Return how many words hold the marks of a feature that has `n_codes` codes."""
    return ((n_codes << histogram.bits) + 63) // 64


cdef inline uint64_t take_marks(
    ClassHistogram* histogram, Py_ssize_t word, Py_ssize_t n_words
) noexcept nogil:
    """Return the marks of a word over all copies, and clear them.

    Set bits, lowest first, are the cells in use, ascending: no sort, and no empty cell is visited.
    """
    cdef uint64_t marks = 0
    cdef Py_ssize_t lane
    for lane in range(LANES):
        marks |= histogram.marks[lane * n_words + word]
        histogram.marks[lane * n_words + word] = 0
    return marks


cdef inline double take_cell(
    ClassHistogram* histogram, Py_ssize_t cell, Py_ssize_t n_cells
) noexcept nogil:
    """Return the sum of a cell over all copies, and clear it."""
    cdef double sum = 0.0
    cdef Py_ssize_t lane
    for lane in range(LANES):
        sum += histogram.weights[lane * n_cells + cell]
        histogram.weights[lane * n_cells + cell] = 0.0
    return sum


cdef inline void count_classes(
    ClassHistogram* histogram, const Column* column, Codes codes, const int32_t* rows,
    Py_ssize_t n_codes,
) noexcept nogil:
    """Add the examples to their cells, in copies, and mark the cells that are in use."""
    cdef Py_ssize_t n_cells = n_codes << histogram.bits
    cdef Py_ssize_t n_words = n_mark_words(histogram, n_codes), i
    cdef uint64_t* marks = histogram.marks
    # Where cells are many, most stay empty: their bits spare visiting them.
    cdef bint sparse = 2 * n_cells > column.size
    add_up(
        histogram.weights, n_cells, LANES, codes, rows, 0, 0, 1 << histogram.bits, column.labels,
        column.weights, column.size, marks if sparse else NULL, n_words,
    )
    if sparse:
        return
    # Nearly all of few cells are in use: to visit them all is cheaper than to note which are.
    for i in range(n_words):
        marks[i] = ~(<uint64_t> 0)
    if n_cells & 63:
        marks[n_words - 1] = (<uint64_t> 1 << (n_cells & 63)) - 1


cdef inline bint allows(
    const Search* search, double n_left, double left_sum, double n_right, double right_sum
) noexcept nogil:
    """Say whether a split has sides that the rule allows, given the sums of class 1 of two."""
    return min(n_left, n_right) >= search.rule.least_weight and not (
        search.ordered and breaks_order(search, n_left, left_sum, n_right, right_sum)
    )


cdef inline bint scan_classes(
    Search* search, ClassHistogram* histogram, Py_ssize_t n_codes
) noexcept nogil:
    """Offer the feature's best threshold, clear the cells; say whether the feature varies."""
    cdef:
        Kind kind = search.rule.impurity.kind
        bint whole = search.rule.impurity.whole
        bint first = search.rule.first
        int bits = histogram.bits
        Py_ssize_t word, cell, code, before = -1, cut = -1, n_used = 0, n_tied = 0
        Py_ssize_t n_cells = n_codes << bits, n_words = n_mark_words(histogram, n_codes)
        uint64_t marks, lowest_class = (<uint64_t> 1 << bits) - 1
        double* left = histogram.left
        double* right = histogram.right
        double n_left = 0.0, n_right = search.node.n, sum_left = 0.0, sum_right = search.node.sum
        double weight, found, best = -INFINITY
        double slack = search.rule.equal * search.impurity * search.node.n
    # Sides by class, and the sums over classes that both impurities are made of.
    memset(left, 0, search.n_classes * sizeof(double))
    memcpy(right, search.node.counts, search.n_classes * sizeof(double))
    for word in range(n_words):
        marks = take_marks(histogram, word, n_words)
        while marks:
            # Invariant: `left` holds the cells below, `right` the rest of the node.
            cell = (word << 6) | trailing_zeros(marks)
            # Take the lowest set bit away.
            marks &= marks - 1
            weight = take_cell(histogram, cell, n_cells)
            # Where all cells are marked some are empty; a code without examples is no border.
            if weight == 0:
                continue
            code = cell >> bits
            if code != before:
                # The first cell of another code: a threshold lies between it and the code before.
                if n_used and allows(search, n_left, left[1], n_right, right[1]):
                    found = quality(kind, whole, n_left, n_right, sum_left, sum_right)
                    if found >= best - slack:
                        # Better by more than rounding; else one of the equals is drawn.
                        if found > best + slack:
                            best, cut, n_tied = found, before, 1
                        elif not first:
                            best = max(best, found)
                            n_tied += 1
                            if below(&search.random, n_tied) == 0:
                                cut = before
                n_used += 1
                before = code
            cell = <Py_ssize_t> (<uint64_t> cell & lowest_class)
            sum_left += term_change(kind, whole, left[cell], weight)
            sum_right += term_change(kind, whole, right[cell], -weight)
            left[cell] += weight
            right[cell] -= weight
            n_left += weight
            n_right -= weight
    # The other features' best split is compared once for each feature, not for each threshold.
    if cut >= 0:
        found = mean_value(kind, best, search.node.n)
        offer(search, search.impurity - found, search.impurity, <int32_t> cut, n_tied)
    return n_used > 1
