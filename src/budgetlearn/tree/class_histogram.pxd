"""Search for the best threshold of one feature by counting, for Gini and entropy.

The mean impurity of both sides depends on the weight of each class at each code, and not on the
order of the examples. A node adds its weights to cells (code, class) and sets a bit for each cell
in use. Reading the set bits from the lowest up visits the cells in the order of the codes. So a
feature takes one pass over the node's examples and one over the cells in use, however small the
node is, and needs no sort and no histogram to clear.
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
    LANES = 2              # copies of the cells, so that an addition need not wait for the last one


# The counts of a node's examples, in a cell for each (code, class) of a feature.
cdef struct ClassHistogram:
    double* weights        # (LANES, n_codes << bits): zero between uses
    uint64_t* marks        # (LANES, n_words): a bit for each cell in use; zero between uses
    int bits               # cell = code << bits | class
    double* left           # (n_classes,): scratch
    double* right


cdef inline Py_ssize_t n_mark_words(
    const ClassHistogram* histogram, Py_ssize_t n_codes
) noexcept nogil:
    """Return the number of words that hold the marks of a feature with `n_codes` codes."""
    return ((n_codes << histogram.bits) + 63) // 64


cdef inline uint64_t take_marks(
    ClassHistogram* histogram, Py_ssize_t word, Py_ssize_t n_words
) noexcept nogil:
    """Return the marks of a word over all copies, and clear them.

    The set bits from the lowest up are the cells in use, so no sort is needed.
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
    """Add the examples to the copies of their cells, and mark the cells in use."""
    cdef Py_ssize_t n_cells = n_codes << histogram.bits
    cdef Py_ssize_t n_words = n_mark_words(histogram, n_codes), i
    cdef uint64_t* marks = histogram.marks
    # Of many cells, most stay empty, and the marks avoid visiting them.
    cdef bint sparse = 2 * n_cells > column.size
    add_up(
        histogram.weights, n_cells, LANES, codes, rows, 0, 0, 1 << histogram.bits, column.labels,
        column.weights, column.size, marks if sparse else NULL, n_words,
    )
    if sparse:
        return
    # Of few cells, nearly all are in use: visiting all is cheaper than marking those in use.
    for i in range(n_words):
        marks[i] = ~(<uint64_t> 0)
    if n_cells & 63:
        marks[n_words - 1] = (<uint64_t> 1 << (n_cells & 63)) - 1


cdef inline bint allows(
    const Search* search, double n_left, double left_sum, double n_right, double right_sum
) noexcept nogil:
    """Return whether the rule allows the sides of a split; sums are of class 1 of two classes."""
    return min(n_left, n_right) >= search.rule.least_weight and not (
        search.ordered and breaks_order(search, n_left, left_sum, n_right, right_sum)
    )


cdef inline bint scan_classes(
    Search* search, ClassHistogram* histogram, Py_ssize_t n_codes
) noexcept nogil:
    """Offer the feature's best threshold and clear the cells; return whether the feature varies."""
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
    # The class counts of both sides, and the sums over classes that define both impurities.
    memset(left, 0, search.n_classes * sizeof(double))
    memcpy(right, search.node.counts, search.n_classes * sizeof(double))
    for word in range(n_words):
        marks = take_marks(histogram, word, n_words)
        while marks:
            # Invariant: `left` holds the cells below, `right` the rest of the node.
            cell = (word << 6) | trailing_zeros(marks)
            # Clear the lowest set bit.
            marks &= marks - 1
            weight = take_cell(histogram, cell, n_cells)
            # If all cells are marked, some are empty; a code without examples adds no threshold.
            if weight == 0:
                continue
            code = cell >> bits
            if code != before:
                # The first cell of a new code: a threshold separates it from the previous code.
                if n_used and allows(search, n_left, left[1], n_right, right[1]):
                    found = quality(kind, whole, n_left, n_right, sum_left, sum_right)
                    if found >= best - slack:
                        # Better by more than rounding; otherwise a tie, which the first threshold
                        # wins, or one at random.
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
    # The best split of other features is compared once per feature, not once per threshold.
    if cut >= 0:
        found = mean_value(kind, best, search.node.n)
        offer(search, search.impurity - found, search.impurity, <int32_t> cut, n_tied)
    return n_used > 1
