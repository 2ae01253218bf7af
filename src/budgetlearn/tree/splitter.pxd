from libc.stdint cimport int32_t, uint32_t, uint64_t

from .impurity cimport Impurity, Side, shift


cdef enum Ties:
    FIRST = 0      # the lowest feature, then the lowest threshold
    RANDOM = 1     # uniform among the equals
    REUSE = 2      # a feature of the path, then the forest's most used, then random


cdef struct Rule:
    Impurity impurity
    bint minimax           # judge a split by its worse side, else by the mean of both
    bint gain              # score by drop - price, else by risk = price / drop
    bint bounded           # F is monotone and the split minimax: whole ranges can be skipped
    bint exact             # all sums are, so that their order makes no difference
    bint stumps            # the paper's random sample of the thresholds, else all
    Ties ties
    double least_gain      # a gain must exceed it
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
    double rank            # of equals the lower wins; REUSE only
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
    # the feature under examination
    Py_ssize_t feature
    double price           # cost, or penalty of a gain
    double rank
    bint distinct          # no two examples of a node share a code, as far as it is known
    Missing missing
    Side without           # with LEFT: the examples without a value, not in the column
    Py_ssize_t n_sampled   # so many of its thresholds are tried, drawn at random; 0: all
    double limit           # with `bounded`: an impurity above it cannot win or tie
    # scratch
    Side left, right, left_inside, right_inside
    double* histogram
    double* bounds         # (2, n_buckets): impurities before and after each bucket
    uint64_t* keys
    uint64_t* spare_keys
    uint64_t* present      # a bit for each code, zero between features
    Column inside          # the examples of some buckets


cdef void begin_node(Search* search, double impurity) noexcept nogil
cdef void offer(Search* search, double after, int32_t cut, Py_ssize_t n_equal) noexcept nogil
cdef void offer_drop(
    Search* search, double drop, double unit, int32_t cut, Py_ssize_t n_equal
) noexcept nogil
cdef void examine(
    Search* search, Column* column, Py_ssize_t feature, double price, double rank
) noexcept nogil
cdef void examine_tally(
    Search* search, Column* column, Py_ssize_t feature, double price, double rank
) noexcept nogil
cdef bint examine_ones(
    Search* search, const double* ones, Py_ssize_t feature, double price, double rank
) noexcept nogil

# For `numbers`.
cdef double least_drop(const Search* search) noexcept nogil
cdef uint64_t* sorted_keys(Search* search, const Column* column) noexcept nogil

# For `stumps`.
cdef void copy_side(Side* target, const Side* source, Py_ssize_t n_classes) noexcept nogil
cdef void offer_sides(
    Search* search, double left_value, double right_value, double left_share, int32_t cut
) noexcept nogil


cdef inline bint shift_bucket(Search* search, Py_ssize_t bucket) noexcept nogil:
    """Move the examples of a bucket from right to left; say whether there were any."""
    cdef Py_ssize_t K = search.n_classes, c
    cdef double* counts = search.histogram + bucket * K
    cdef bint occupied = False
    for c in range(K):
        if counts[c] != 0:
            occupied = True
            shift(&search.rule.impurity, &search.left, <int32_t> c, counts[c])
            shift(&search.rule.impurity, &search.right, <int32_t> c, -counts[c])
    return occupied
