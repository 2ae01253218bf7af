from libc.math cimport log2
from libc.stdint cimport int32_t


cdef enum Kind:
    PAIRS = 0             # sum over i != j of n_i n_j: threshold-Pairs at alpha = 0
    THRESHOLD_PAIRS = 1   # [[n_i - alpha]+ [n_j - alpha]+ - alpha^2]+ over i != j
    POWERS = 2            # (sum n_i)^l - sum n_i^l
    POLYNOMIAL = 3        # sum over i != j of n_i^2 n_j
    GINI = 4
    ENTROPY = 5
    VARIANCE = 6          # of numbers instead of classes: see `regression_splitter`


cdef struct Impurity:
    Kind kind
    double parameter      # alpha, or the exponent l
    Py_ssize_t n_classes
    bint whole            # counts are whole numbers below N_TABLED: logarithms are looked up


# The class counts of a set of examples, with the sums that give its impurity in O(1).
cdef struct Side:
    double n              # examples, with their weights
    double sum            # over classes of a function of the count, see `shift`
    double cubes          # of n_i^3, POLYNOMIAL only
    double* counts        # (n_classes,)


cdef inline double power(double x, int exponent) noexcept nogil:
    cdef double result = x
    cdef int _i
    for _i in range(1, exponent):
        result *= x
    return result


cdef enum:
    N_TABLED = 1 << 14

# Tables for whole numbers below N_TABLED. Logarithms would dominate the time of a threshold.
cdef double LOGS[N_TABLED]        # log2 x
cdef double X_LOGS[N_TABLED]      # x log2 x


cdef inline double x_log_x(double x, bint whole) noexcept nogil:
    # Even checking whether a number is in the table takes longer than looking it up.
    if not whole:
        if x <= 0:
            return 0.0
        if x >= N_TABLED or <int32_t> x != x:
            return x * log2(x)
    return X_LOGS[<int32_t> x]


cdef inline double shift_pairs(
    double alpha, const double* counts, Py_ssize_t n_classes, int32_t moved, double count
) noexcept nogil:
    """Return the change of threshold-Pairs if the count of class `moved` becomes `count`. O(K)."""
    cdef double before = max(counts[moved] - alpha, 0.0), after = max(count - alpha, 0.0)
    cdef double other, change = 0.0, square = alpha * alpha
    cdef Py_ssize_t c
    if before == after:
        return 0.0
    for c in range(n_classes):
        other = counts[c] - alpha
        if c != moved and other > 0:
            change += max(after * other - square, 0.0) - max(before * other - square, 0.0)
    return 2.0 * change


cdef inline double term_change(Kind kind, bint whole, double before, double weight) noexcept nogil:
    """Return the change of a class's term of `sum` when its count grows by `weight`.

    The term is n log2 n for entropy, and n^2 for the other impurities that call this.
    """
    if kind == ENTROPY:
        return x_log_x(before + weight, whole) - x_log_x(before, whole)
    return weight * (2 * before + weight)  # after^2 - before^2


cdef inline void shift(const Impurity* f, Side* side, int32_t moved, double weight) noexcept nogil:
    """Add examples of class `moved`, or remove them (negative weight). O(1), or O(K)."""
    cdef double before = side.counts[moved], after = before + weight
    cdef int exponent
    side.n += weight
    if f.kind == THRESHOLD_PAIRS:
        side.sum += shift_pairs(f.parameter, side.counts, f.n_classes, moved, after)
    elif f.kind == POWERS:
        exponent = <int> f.parameter
        side.sum += power(after, exponent) - power(before, exponent)
    else:
        side.sum += term_change(f.kind, f.whole, before, weight)
        if f.kind == POLYNOMIAL:
            side.cubes += power(after, 3) - power(before, 3)
    side.counts[moved] = after


cdef inline double value(const Impurity* f, const Side* side) noexcept nogil:
    """Return F of a set of examples; Gini and entropy of an empty set are 0."""
    if f.kind == PAIRS:
        return side.n * side.n - side.sum
    if f.kind == THRESHOLD_PAIRS:
        return side.sum
    if f.kind == POWERS:
        return power(side.n, <int> f.parameter) - side.sum
    if f.kind == POLYNOMIAL:
        return side.n * side.sum - side.cubes
    if side.n <= 0:
        return 0.0
    if f.kind == GINI:
        return 1.0 - side.sum / (side.n * side.n)
    return (LOGS[<int32_t> side.n] if f.whole else log2(side.n)) - side.sum / side.n


# For Gini and entropy only: the mean of F over both sides, without a division for each side.
cdef inline double quality(
    Kind kind, bint whole, double n_left, double n_right, double sum_left, double sum_right
) noexcept nogil:
    """Return a number that grows as the mean impurity of the sides falls.

    For Gini it is the sum of Σ n_i² / n over the sides, with one division, so that rounding keeps
    equal splits equal. For entropy it is -n times the mean.
    """
    if kind == GINI:
        return (sum_left * n_right + sum_right * n_left) / (n_left * n_right)
    return sum_left + sum_right - x_log_x(n_left, whole) - x_log_x(n_right, whole)


cdef inline double mean_value(Kind kind, double found, double n) noexcept nogil:
    """Return the mean of F over the sides of a split of n examples, given its `quality`."""
    return 1.0 - found / n if kind == GINI else -found / n
