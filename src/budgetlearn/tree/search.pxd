"""The types of a search for a node's best split, and the steps that all searches share."""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from .impurity cimport Impurity, Side
from .random cimport uniform


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


cdef class Blocks:
    cdef:
        void* blocks[40]
        Py_ssize_t n_blocks

    cdef void* get(self, Py_ssize_t size, bint zero=*) except NULL


cdef object allocate(
    Blocks blocks, Search* search, Py_ssize_t n, Py_ssize_t K, Py_ssize_t n_codes
)
cdef void begin_node(Search* search, double impurity) noexcept nogil
cdef double least_drop(const Search* search) noexcept nogil
cdef void update_limit(Search* search) noexcept nogil
cdef void offer(Search* search, double after, int32_t cut, Py_ssize_t n_equal) noexcept nogil
cdef void offer_drop(
    Search* search, double drop, double unit, int32_t cut, Py_ssize_t n_equal
) noexcept nogil
cdef uint64_t* sorted_keys(Search* search, const Column* column) noexcept nogil
cdef uint64_t* sort_keys(
    uint64_t* keys, uint64_t* spare, Py_ssize_t n, uint32_t largest
) noexcept nogil
