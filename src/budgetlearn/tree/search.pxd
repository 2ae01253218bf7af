"""Types of the search for a node's best split, and steps that all searches share."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from .impurity cimport Impurity, Side
from .random cimport below, uniform

cdef enum:
    FEW = 32           # up to this number of keys an insertion sort is faster
    DIGIT_BITS = 8     # most bits of a pass of the radix sort


cdef struct Rule:
    Impurity impurity
    bint minimax           # judge a split by its worse side, else by the mean of both
    bint gain              # score by drop - price, else by risk = price / drop
    bint bounded           # whole ranges can be skipped: F is monotone and the split minimax
    bint exact             # all sums are exact, so their order does not matter
    Py_ssize_t stumps      # most thresholds in a random sample of them; 0: try all
    bint first             # the lowest feature and threshold win ties, else one at random
    double least_gain      # a gain must exceed it
    double least_weight    # of each side of a split; -infinity: any
    double tolerance       # a drop must exceed this share of F(S)
    # Drops that differ by less than this share of F(S) (in regression: of the drop) are equal.
    double equal


# One column's values at a node, in the order of the node's examples.
cdef struct Column:
    Py_ssize_t size
    uint32_t* codes
    int32_t* labels
    double* weights
    uint32_t low, high     # smallest and largest code


# The side of a node's examples without a value of the feature.
cdef enum Missing:
    NONE = 0       # there are none
    RIGHT = 1      # as if their value were the largest
    LEFT = 2


# The best split of a node so far.
cdef struct Best:
    double score           # lower is better; infinite: none
    double slack           # scores that differ by less are equal
    Py_ssize_t feature
    int32_t cut            # codes <= cut go left
    Missing missing
    Py_ssize_t n_tied


# The state of the search for splits, for one tree in one thread.
cdef struct Search:
    Rule rule
    uint64_t random
    Py_ssize_t n_all_classes
    # the node
    Py_ssize_t n_classes   # classes present at the node, renumbered 0, 1, ...
    Side node
    double impurity
    Best best
    bint ordered           # whether some feature has a direction
    double low, high       # then the bounds of a side's share of class 1, or of its mean
    # the feature under examination
    Py_ssize_t feature
    double price           # cost, or penalty of a gain
    Missing missing
    int direction          # 1: predictions must not fall as it rises; -1: must not rise; 0: free
    Side without           # with LEFT: the examples without a value, not in the column
    Py_ssize_t n_sampled   # number of its thresholds that are tried, drawn at random; 0: all
    double limit           # with `bounded`, a side of larger impurity cannot win or tie
    # scratch
    Side left, right, left_inside, right_inside
    double* histogram
    double* bounds         # memory of the next two
    double* lefts          # (n_buckets + 1,): F of the buckets below each border
    double* rights         # (n_buckets + 1,): F of the buckets above each border
    uint64_t* keys
    uint64_t* spare_keys
    uint64_t* present      # a bit for each code, zero between features
    Column inside          # the examples of the buckets that can win


# A sample that is being drawn: `n_wanted` of the `n_left` thresholds that are left.
cdef struct Sample:
    Py_ssize_t n_wanted, n_left


cdef inline Py_ssize_t n_stumps(const Search* search, Py_ssize_t n_examples) noexcept nogil:
    """Return the number of random stumps for a node: the paper's 80, 40 or 20, or the rule's."""
    return min(search.rule.stumps, 80 if n_examples > 2000 else 40 if n_examples > 500 else 20)


cdef inline bint draw(Search* search, Sample* sample) noexcept nogil:
    """Return whether the next threshold is in the sample."""
    # With this probability, n_wanted / n_left, all samples are equally likely.
    cdef bint drawn = uniform(&search.random) * sample.n_left < sample.n_wanted
    sample.n_wanted -= drawn
    sample.n_left -= 1
    return drawn


cdef inline bint breaks_order(
    const Search* search, double left_weight, double left_sum, double right_weight, double right_sum
) noexcept nogil:
    """Return whether the predictions of two sides are in the wrong order or out of bounds.

    The bounds of a node keep all predictions below one side of a split on a feature with a
    direction from passing those below the other side.
    """
    cdef double left = left_sum / left_weight, right = right_sum / right_weight
    return (
        (right - left) * search.direction < 0
        or min(left, right) < search.low or max(left, right) > search.high
    )


cdef inline void begin_node(Search* search, double impurity) noexcept nogil:
    """Discard the previous node's best split. `search.node` holds the new node's counts."""
    search.impurity = impurity
    search.best.score, search.best.slack = INFINITY, 0.0
    search.best.feature, search.best.n_tied = -1, 0


cdef inline double least_drop(const Search* search) noexcept nogil:
    """Return the drop at which the current feature's risk, price / drop, equals the best risk."""
    if search.best.score < 0:
        # A free feature leads: features with a price cannot win, free ones need the same drop.
        return -search.best.score if search.price <= 0 else INFINITY
    if search.price <= 0 or search.best.score == INFINITY:
        return 0.0
    return search.price / search.best.score


cdef inline void update_limit(Search* search) noexcept nogil:
    """Set the largest F of the worse side that can tie: price / (F - worse) <= best score."""
    # Slack on both terms, so that rounding rules out no tie.
    search.limit = search.impurity * (1 + 1e-12) - least_drop(search) * (1 - 1e-12)


cdef inline bint wins(Search* search, double score, int32_t cut, Py_ssize_t n_equal) noexcept nogil:
    """Return whether a candidate, one of `n_equal`, replaces the best; resolve ties by the rule."""
    cdef Best* best = &search.best
    # Scores within the slack differ only by rounding, so the rule for ties decides.
    if score < best.score - best.slack:
        return True
    if score > best.score + best.slack:
        return False
    if search.rule.first:
        return search.feature < best.feature or (search.feature == best.feature and cut < best.cut)
    # The k-th of tied splits replaces the others with probability 1 / k: all are equally likely.
    best.n_tied += n_equal
    return below(&search.random, best.n_tied) < n_equal


cdef inline void offer(
    Search* search,
    double drop,
    double unit,              # IN drops that differ by less than `equal` times this are equal
    int32_t cut,
    Py_ssize_t n_equal,
) noexcept nogil:
    """Keep one of `n_equal` tied splits if it is the node's best, given its drop in F."""
    cdef double score = INFINITY  # lower is better, infinite means no split
    cdef Best* best = &search.best
    if search.rule.gain:
        if drop - search.price > search.rule.least_gain:
            score = search.price - drop
    elif drop > search.rule.tolerance * search.impurity:
        # Risk price / drop. Of free features the larger drop wins, and beats every positive risk.
        score = search.price / drop if search.price > 0 else -drop
    if score == INFINITY or not wins(search, score, cut, n_equal):
        return
    if score < best.score - best.slack:
        best.n_tied = n_equal
    best.score = min(best.score, score)
    best.feature, best.cut, best.missing = search.feature, cut, search.missing
    # A better split rules out more thresholds of this feature and of later ones.
    if search.rule.bounded:
        update_limit(search)
    if search.rule.equal > 0:
        best.slack = search.rule.equal * unit
        # A risk price / drop changes by risk / drop times a change of the drop.
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
    # Turn counts into the places where each digit's keys begin.
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
    uint64_t* spare,           # OUT of the same size
    Py_ssize_t n,
    uint32_t largest,          # IN an upper bound of the codes
) noexcept nogil:
    """Sort stably by code; return the array with the sorted keys, `keys` or `spare`."""
    cdef int bits = 1, sorted_bits = 0, n_passes, digit_bits
    if n <= FEW:
        insertion_sort(keys, n)
        return keys
    # The fewest passes for the bits in use, of about equal width.
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
    """Return (code - low) << 32 | position of each example, sorted by code."""
    cdef Py_ssize_t i, n = column.size
    cdef uint64_t* keys = search.keys
    for i in range(n):
        keys[i] = <uint64_t> (column.codes[i] - column.low) << 32 | <uint64_t> i
    return sort_keys(keys, search.spare_keys, n, column.high - column.low)
