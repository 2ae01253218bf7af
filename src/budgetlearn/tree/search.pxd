"""The types of a search for a node's best split, and the steps that all searches share."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from .impurity cimport Impurity, Side
from .random cimport below, uniform

cdef enum:
    FEW = 32           # up to so many keys an insertion sort is faster
    DIGIT_BITS = 8     # of a pass of the radix sort


cdef struct Rule:
    Impurity impurity
    bint minimax           # judge a split by its worse side, else by the mean of both
    bint gain              # score by drop - price, else by risk = price / drop
    bint bounded           # F is monotone and the split minimax: whole ranges can be skipped
    bint exact             # all sums are, so that their order makes no difference
    bint stumps            # the paper's random sample of the thresholds, else all
    bint first             # of equals the lowest feature and threshold win, else one at random
    double least_gain      # a gain must exceed it
    double least_weight    # of each side of a split; -infinity: any
    double tolerance       # a drop must exceed this share of F(S)
    # Drops that differ by less than this share of F(S) are equal; in regression, of the drop.
    double equal


# One column's values at a node, in the order of the node's examples.
cdef struct Column:
    Py_ssize_t size
    uint32_t* codes
    int32_t* labels
    double* weights
    uint32_t low, high     # smallest and largest code


# Where the examples of a node without a value of the feature go.
cdef enum Missing:
    NONE = 0       # there are none
    RIGHT = 1      # as if their value were larger than any
    LEFT = 2


# The best split of a node so far.
cdef struct Best:
    double score           # lower is better; infinite: none
    double slack           # scores that differ by less are equal
    Py_ssize_t feature
    int32_t cut            # codes <= cut go left
    Missing missing
    Py_ssize_t n_tied


# Everything the search for a split needs, for one tree in one thread.
cdef struct Search:
    Rule rule
    uint64_t random
    Py_ssize_t n_all_classes
    # the node
    Py_ssize_t n_classes   # that it has; they are its classes 0, 1, ...
    Side node
    double impurity
    Best best
    bint ordered           # whether some feature has a direction
    double low, high       # what sides must keep to then: the share of class 1, or the mean
    # the feature under examination
    Py_ssize_t feature
    double price           # cost, or penalty of a gain
    Missing missing
    int direction          # 1: predictions must not fall as it rises; -1: nor rise; 0: as they like
    Side without           # with LEFT: the examples without a value, not in the column
    Py_ssize_t n_sampled   # so many of its thresholds are tried, drawn at random; 0: all
    double limit           # with `bounded`: an impurity above it cannot win or tie
    # scratch
    Side left, right, left_inside, right_inside
    double* histogram
    double* bounds         # room for the next two
    double* lefts          # (n_buckets + 1,): F of the buckets below each border
    double* rights         # and of those above it
    uint64_t* keys
    uint64_t* spare_keys
    uint64_t* present      # a bit for each code, zero between features
    Column inside          # the examples of some buckets


# What is still to be drawn: so many of so many thresholds.
cdef struct Sample:
    Py_ssize_t n_wanted, n_left


cdef inline Py_ssize_t n_stumps(Py_ssize_t n_examples) noexcept nogil:
    """Return the paper's number of random stumps for a node: 80, 40 or 20."""
    return 80 if n_examples > 2000 else 40 if n_examples > 500 else 20


cdef inline bint draw(Search* search, Sample* sample) noexcept nogil:
    """Say whether the next threshold is in the sample, which each is equally likely to be."""
    # The chance of what is still wanted in what is left: all samples are equally likely so.
    cdef bint drawn = uniform(&search.random) * sample.n_left < sample.n_wanted
    sample.n_wanted -= drawn
    sample.n_left -= 1
    return drawn


cdef inline bint breaks_order(
    const Search* search, double left_weight, double left_sum, double right_weight, double right_sum
) noexcept nogil:
    """Say whether sides, with these sums of what is predicted, are in the wrong order.

    Or out of the bounds of their node: what is below one side of a split along a feature with a
    direction must not pass what is below the other.
    """
    cdef double left = left_sum / left_weight, right = right_sum / right_weight
    return (
        (right - left) * search.direction < 0
        or min(left, right) < search.low or max(left, right) > search.high
    )


cdef inline void begin_node(Search* search, double impurity) noexcept nogil:
    """Forget the previous node's best split. `search.node` holds the node's counts."""
    search.impurity = impurity
    search.best.score, search.best.slack = INFINITY, 0.0
    search.best.feature, search.best.n_tied = -1, 0


cdef inline double least_drop(const Search* search) noexcept nogil:
    """Return the drop at which the present feature's risk, price / drop, is that of the best."""
    if search.best.score < 0:
        # A free feature has scored: others that cost cannot win, free ones need its drop.
        return -search.best.score if search.price <= 0 else INFINITY
    if search.price <= 0 or search.best.score == INFINITY:
        return 0.0
    return search.price / search.best.score


cdef inline void update_limit(Search* search) noexcept nogil:
    """Find which worse side can still tie with the best: price / (F - worse) <= best score."""
    search.limit = search.impurity * (1 + 1e-12) - least_drop(search) * (1 - 1e-12)


cdef inline bint wins(Search* search, double score, int32_t cut, Py_ssize_t n_equal) noexcept nogil:
    """Say whether a candidate, one of `n_equal`, replaces the best; settle ties by the rule."""
    cdef Best* best = &search.best
    # Scores within the slack are the same split but for rounding: the rule decides, not the bits.
    if score < best.score - best.slack:
        return True
    if score > best.score + best.slack:
        return False
    if search.rule.first:
        return search.feature < best.feature or (search.feature == best.feature and cut < best.cut)
    # The k-th of equals replaces the others with a chance of 1 in k: each wins equally often.
    best.n_tied += n_equal
    return below(&search.random, best.n_tied) < n_equal


cdef inline void offer(
    Search* search,
    double drop,
    double unit,              # IN drops that differ by less than `equal` of it are equal
    int32_t cut,
    Py_ssize_t n_equal,
) noexcept nogil:
    """Take one of `n_equal` splits as the node's best if it is, given what it lowers F by."""
    cdef double score = INFINITY  # lower is better, infinite is no split
    cdef Best* best = &search.best
    if search.rule.gain:
        if drop - search.price > search.rule.least_gain:
            score = search.price - drop
    elif drop > search.rule.tolerance * search.impurity:
        # Risk c / drop; where it is 0, the larger drop wins (and beats every risk).
        score = search.price / drop if search.price > 0 else -drop
    if score == INFINITY or not wins(search, score, cut, n_equal):
        return
    if score < best.score - best.slack:
        best.n_tied = n_equal
    best.score = min(best.score, score)
    best.feature, best.cut, best.missing = search.feature, cut, search.missing
    # A better split rules out more thresholds, of this feature and of those to come.
    if search.rule.bounded:
        update_limit(search)
    if search.rule.equal > 0:
        best.slack = search.rule.equal * unit
        if not search.rule.gain and search.price > 0:
            best.slack *= best.score / drop


cdef inline void insertion_sort(uint64_t* keys, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint64_t key
    for i in range(1, n):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


cdef inline void radix_pass(
    const uint64_t* keys, uint64_t* target, Py_ssize_t n, int position, int bits
) noexcept nogil:
    """Sort stably by `bits` <= DIGIT_BITS bits of the keys from bit `position` up."""
    cdef Py_ssize_t starts[1 << DIGIT_BITS]
    cdef Py_ssize_t i, size, total = 0, n_digits = <Py_ssize_t> 1 << bits
    cdef uint64_t digit, mask = (<uint64_t> 1 << bits) - 1
    memset(starts, 0, n_digits * sizeof(Py_ssize_t))
    for i in range(n):
        starts[(keys[i] >> position) & mask] += 1
    # From counts to the places where each digit's keys begin.
    for i in range(n_digits):
        size = starts[i]
        starts[i] = total
        total += size
    for i in range(n):
        digit = (keys[i] >> position) & mask
        target[starts[digit]] = keys[i]
        starts[digit] += 1


cdef inline uint64_t* sort_keys(
    uint64_t* keys,            # INOUT code << 32 | position; scratch afterwards
    uint64_t* spare,           # OUT as many
    Py_ssize_t n,
    uint32_t largest,          # IN no code exceeds it
) noexcept nogil:
    """Sort stably by code; return where the sorted keys are: `keys` or `spare`."""
    cdef int bits = 1, sorted_bits = 0, n_passes, digit_bits
    if n <= FEW:
        insertion_sort(keys, n)
        return keys
    # As few passes as the bits in use allow, of about equal width.
    while largest >> bits:
        bits += 1
    n_passes = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    while n_passes:
        digit_bits = (bits - sorted_bits) // n_passes
        radix_pass(keys, spare, n, 32 + sorted_bits, digit_bits)
        keys, spare = spare, keys
        sorted_bits += digit_bits
        n_passes -= 1
    return keys


cdef inline uint64_t* sorted_keys(Search* search, const Column* column) noexcept nogil:
    """Return code << 32 | position of each example, by code."""
    cdef Py_ssize_t i, n = column.size
    cdef uint64_t* keys = search.keys
    for i in range(n):
        keys[i] = <uint64_t> (column.codes[i] - column.low) << 32 | <uint64_t> i
    return sort_keys(keys, search.spare_keys, n, column.high - column.low)
