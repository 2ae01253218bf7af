"""Search for the best threshold of one feature in regression.

Let W be the weight of a node, a the weight of one side of a split, and s the sum of w (y - mean) on
that side. The sum on the other side is -s, so the split lowers the variance by

    drop = s^2 / (a (W - a)),

and a threshold only needs two running sums of the left side. Targets are centred at the mean of
their own node, and no squares of targets are subtracted from each other. So neither an offset nor
a few extreme values (once a split has separated them) cost the drop any digits.

Drops are compared by cross-multiplication of numerators and denominators, without a division.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from .class_histogram cimport (
    LANES, ClassHistogram, n_mark_words, take_cell, take_marks, trailing_zeros,
)
from .codes cimport Codes, at
from .random cimport below
from .search cimport (
    Column, Missing, Sample, Search, breaks_order, draw, least_drop, n_stumps,
)

# The upper bits of a sorted key are the rank of a value, the lower bits an index into `parts`.
ctypedef fused key_t:
    uint32_t           # 16 bits each, see `table`
    uint64_t           # 32 bits each, see `sort_keys`


# The contribution of an example to its side of a split.
cdef struct Part:
    double weight
    double sum             # weight times (target - mean of the node)


# The best threshold of a feature at a node.
cdef struct Cut:
    double numerator       # the drop is numerator / denominator
    double denominator
    double least           # numerator of the least drop that still ties
    Py_ssize_t place       # the first key on the right or, with cells, the last code on the left
    Missing missing
    Py_ssize_t n_tied


cdef inline void centre(
    Search* search,           # OUT weight and variance of the node
    const double* targets,    # IN by label
    const int32_t* labels,    # IN of the node's examples
    const double* weights,
    Py_ssize_t size,
    bint by_label,            # IN whether parts are indexed by label, else by example
    Part* parts,              # OUT
    double* mean,             # OUT
    bint* pure,               # OUT whether all targets are equal
) noexcept nogil:
    """Centre the targets of a node.

    The mean of numbers far from 0 is rounded, and with a large offset the error exceeds their
    spread. The residuals are small, so their mean is accurate and corrects the first mean. The
    corrected residuals sum to 0 up to rounding of the spread, as the equation of the drop requires.
    """
    cdef double total = 0.0, sum = 0.0, rest = 0.0, square = 0.0, target, about
    cdef double low = targets[labels[0]], high = low
    cdef Py_ssize_t i, place
    # First pass: the plain mean. Pure nodes keep their target without rounding.
    for i in range(size):
        target = targets[labels[i]]
        total += weights[i]
        sum += weights[i] * target
        low, high = min(low, target), max(high, target)
    search.node.n, pure[0] = total, low == high
    if pure[0]:
        mean[0] = low
        return
    # Second pass: the mean of the residuals of the first one.
    about = sum / total
    for i in range(size):
        rest += weights[i] * (targets[labels[i]] - about)
    rest /= total
    mean[0] = about + rest
    # Third pass: subtract both in turn, as their sum would be rounded at the scale of the offset.
    for i in range(size):
        target = (targets[labels[i]] - about) - rest
        place = labels[i] if by_label else i
        parts[place].weight, parts[place].sum = weights[i], weights[i] * target
        square += weights[i] * target * target
    search.impurity = square / total


cdef inline void consider(
    Search* search, Cut* cut, double total, double weight, double sum, Py_ssize_t place,
    Missing missing,
) noexcept nogil:
    """Keep a threshold if its drop is the largest so far; `weight` and `sum` are of its left side.

    Drops that differ only by rounding are equal. `total` is the node's weight, in a register.
    """
    cdef double numerator = sum * sum, denominator = weight * (total - weight)
    cdef double ours = numerator * cut.denominator, theirs
    cdef bint takes
    if ours < cut.least * denominator:
        return  # most thresholds end here
    if denominator <= 0:
        return  # the weight of the right side is only rounding
    if min(weight, total - weight) < search.rule.least_weight:
        return
    # Targets are centred, so the right side has the opposite sum.
    if search.ordered and breaks_order(search, weight, sum, total - weight, -sum):
        return
    theirs = cut.numerator * denominator
    takes = cut.n_tied == 0 or ours > theirs * (1 + search.rule.equal)
    if takes:
        cut.n_tied = 1
    elif not search.rule.first:
        cut.n_tied += 1
        takes = below(&search.random, cut.n_tied) == 0
    if takes:
        cut.place, cut.missing = place, missing
    if cut.n_tied == 1 and takes or ours > theirs:
        cut.numerator, cut.denominator = numerator, denominator
        cut.least = numerator * (1 - search.rule.equal)


cdef inline void consider_sides(
    Search* search, Cut* cut, double total, const Part* left, const Part* absent, bint has_missing,
    Py_ssize_t place, bint any_right,
) noexcept nogil:
    """Consider a threshold with missing values on the right and, if there are any, on the left.

    Missing values come last, so with them on the left, some known value must be on the right.
    """
    cdef Missing missing = Missing.RIGHT if has_missing else Missing.NONE
    consider(search, cut, total, left.weight, left.sum, place, missing)
    if has_missing and any_right:
        consider(
            search, cut, total, left.weight + absent.weight, left.sum + absent.sum, place,
            Missing.LEFT,
        )


cdef inline Cut no_cut(const Search* search) noexcept nogil:
    """Return the drop that a threshold must reach, as a cut without a threshold.

    By risk it is the drop that ties with the best split of other features, so for most features no
    threshold is kept, and no branch is mispredicted. By gain it is 0.
    """
    cdef double drop = 0.0 if search.rule.gain else least_drop(search)
    return Cut(drop, 1.0, drop * (1 - 2 * search.rule.equal), 0, Missing.NONE, 0)


cdef inline Py_ssize_t place_of(key_t key) noexcept nogil:
    if key_t is uint32_t:
        return key & 0xFFFF
    else:
        return <Py_ssize_t> <uint32_t> key


cdef inline bint scan_keys(
    Search* search,
    const key_t* keys,        # IN ascending
    Py_ssize_t n,
    bint has_missing,         # IN whether the last rank means a missing value
    const Part* parts,        # IN by the place in a key
    Cut* cut,                 # OUT
) noexcept nogil:
    """Find the best threshold of sorted examples; return whether the feature varies."""
    cdef int shift = 16 if key_t is uint32_t else 32
    cdef Py_ssize_t i, n_known = n, n_thresholds = 0
    cdef Cut best = no_cut(search)
    cdef double total = search.node.n
    cdef Part left = Part(0.0, 0.0), absent = Part(0.0, 0.0)
    cdef Sample sample = Sample(0, 0)
    cdef const Part* part
    if keys[0] >> shift == keys[n - 1] >> shift:
        return False
    if has_missing:
        # Missing values have the largest code and come last, so one scan tries both sides.
        while keys[n_known - 1] >> shift == keys[n - 1] >> shift:
            n_known -= 1
            absent.weight += parts[place_of(keys[n_known])].weight
            absent.sum += parts[place_of(keys[n_known])].sum
    if search.rule.stumps:
        # Count the thresholds that the sample is drawn from.
        for i in range(1, n):
            n_thresholds += keys[i] >> shift != keys[i - 1] >> shift
        if n_stumps(search, n) < n_thresholds:
            sample = Sample(n_stumps(search, n), n_thresholds)
    for i in range(1, n):
        # Invariant: `left` holds the examples of keys[:i].
        part = parts + place_of(keys[i - 1])
        left.weight += part.weight
        left.sum += part.sum
        if keys[i] >> shift == keys[i - 1] >> shift:
            continue  # no threshold separates equal values
        if sample.n_left and not draw(search, &sample):
            continue
        consider_sides(search, &best, total, &left, &absent, has_missing, i, i < n_known)
    cut[0] = best
    return True


cdef inline void count_numbers(
    ClassHistogram* histogram, const Column* column, Codes codes, const int32_t* rows,
    Py_ssize_t n_codes, const Part* parts,
) noexcept nogil:
    """Add the examples to the copies of their codes' cells, and mark the cells in use.

    Each code has two cells, as with two classes: the first holds weights, the second sums.
    """
    cdef Py_ssize_t i, cell, lane, n_cells = n_codes << 1
    cdef Py_ssize_t n_words = n_mark_words(histogram, n_codes)
    for i in range(column.size):
        # Consecutive examples go to different copies, so additions need not wait for each other.
        cell = <Py_ssize_t> at(codes, rows[i]) << 1
        lane = i & (LANES - 1)
        histogram.weights[lane * n_cells + cell] += parts[i].weight
        histogram.weights[lane * n_cells + cell + 1] += parts[i].sum
        histogram.marks[lane * n_words + (cell >> 6)] |= <uint64_t> 1 << (cell & 63)


cdef inline bint scan_numbers(
    Search* search, ClassHistogram* histogram, Py_ssize_t n_codes, int32_t missing, Cut* cut
) noexcept nogil:
    """Find the best threshold of counted examples, clear the cells; return whether it varies."""
    cdef Py_ssize_t word, cell, before = -1, n_cells = n_codes << 1
    cdef Py_ssize_t n_words = n_mark_words(histogram, n_codes)
    cdef Cut best = no_cut(search)
    cdef double total = search.node.n
    cdef Part left = Part(0.0, 0.0), absent = Part(0.0, 0.0)
    cdef bint has_missing = False, varies = False
    cdef uint64_t marks
    if missing >= 0:
        # Every threshold needs their sums, so they are taken first. Their mark still comes last.
        cell = <Py_ssize_t> missing << 1
        absent.weight = take_cell(histogram, cell, n_cells)
        absent.sum = take_cell(histogram, cell + 1, n_cells)
        has_missing = absent.weight > 0
    for word in range(n_words):
        marks = take_marks(histogram, word, n_words)
        while marks:
            # Invariant: `left` holds the examples of the cells below.
            cell = (word << 6) | trailing_zeros(marks)
            marks &= marks - 1
            if before >= 0:
                varies = True
                consider_sides(
                    search, &best, total, &left, &absent, has_missing, before, cell >> 1 != missing
                )
            before = cell >> 1
            left.weight += take_cell(histogram, cell, n_cells)
            left.sum += take_cell(histogram, cell + 1, n_cells)
    cut[0] = best
    return varies
