"""Kernel: the random splits of extremely randomized trees, for nodes taken in any order.

Geurts, Ernst and Wehenkel (2006): a few features at random, one threshold each at random between
the least and the largest value of the node, and the best of these by the decrease of impurity. A
globally induced forest opens its nodes in no particular order, so what is constant in a node is
found afresh each time.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, isnan
from libc.string cimport memcpy

from ..tree.random cimport as_below, as_uniform, next_xorshift
from ..tree.partition cimport Examples, partition

# A node is pure when its variance is below this share of the variance of all targets.
cdef double PURITY = 1e-10

# What a threshold is looked up in: whole numbers of 0 to 255 as bytes, others as they are.
ctypedef fused cell_t:
    uint8_t
    double


cdef class Splitter:
    """Random splits; the subclasses know the impurity."""

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed):
        if X.dtype == np.uint8:
            self.small = X
        else:
            self.large = X
        self.in_bytes = X.dtype == np.uint8
        gaps = False if self.in_bytes else [np.isnan(column).any() for column in X.T]
        self.gaps = np.full(X.shape[1], gaps).view(np.uint8)
        self.n_visits = n_visits
        self.n_thresholds = n_thresholds
        self.min_leaf = min_leaf
        self.features = np.arange(X.shape[1], dtype=np.int32)
        # Scratch of the largest node, the root, in bytes: both kinds of cells fit.
        self.values = np.empty(X.shape[0] * X.itemsize, dtype=np.uint8)
        self.moved = np.empty(X.shape[0], dtype=np.int32)
        self.state = <uint64_t> seed * 2 + 1  # not 0, as xorshift needs

    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil:
        cdef:
            int32_t n_features = <int32_t> self.features.shape[0]
            int32_t n_visited = 0, drawn, feature, _trial
            const int32_t* order = samples
            int32_t n_missing = 0
            double low, high, threshold, score, best = -1.0
        out.n_left = 0
        out.missing_left = False
        if n < 2 * self.min_leaf or n < 2 or not self.enter(samples, n, &order):
            return
        # Drawn without replacement, by swapping to the front; no reset is needed for the next node.
        # Invariant: features[:n_visited] are visited; best >= 0 once one of them was not constant.
        while n_visited < n_features and (n_visited < self.n_visits or best < 0):
            drawn = n_visited + <int32_t> as_below(
                next_xorshift(&self.state), n_features - n_visited
            )
            feature = self.features[drawn]
            self.features[drawn] = self.features[n_visited]
            self.features[n_visited] = feature
            n_visited += 1
            self.look_up(feature, order, n, &low, &high)
            if low >= high:  # constant in this node: does not end the search, see the invariant
                continue
            for _trial in range(self.n_thresholds):
                threshold = between(low, high, as_uniform(next_xorshift(&self.state)))
                score = max(0.0, self.score(threshold, n))  # rounding may take it below 0
                if score > best and (self.min_leaf == 1 or leaves_enough(self, threshold, n)):
                    best = score
                    out.feature = feature
                    out.threshold = threshold
                    out.missing_left = self.missing_left
                    n_missing = self.n_missing
        if best < 0:
            return
        out.decrease = best
        out.n_left = self.move_left(out.feature, samples, n, out.threshold, out.missing_left)
        # Examples without a value may come where no sample was without: they go with most.
        if self.gaps[out.feature] and n_missing == 0:
            out.missing_left = 2 * out.n_left > n

    cdef inline void look_up(
        self, int32_t feature, const int32_t* order, int32_t n, double* low, double* high
    ) noexcept nogil:
        """Gather the values of a feature; find the least and the largest."""
        self.n_missing = 0
        self.missing_left = False
        if self.in_bytes:
            gather(&self.small[0, feature], order, n, &self.values[0], low, high)
        elif self.gaps[feature]:
            self.look_up_with_gaps(feature, order, n, low, high)
        else:
            gather(&self.large[0, feature], order, n, <double*> &self.values[0], low, high)

    cdef void look_up_with_gaps(
        self, int32_t feature, const int32_t* order, int32_t n, double* low, double* high
    ) noexcept nogil:
        """As `look_up`, samples without a value beyond all others, on a side drawn at random."""
        cdef double* values = <double*> &self.values[0]
        cdef const double* column = &self.large[0, feature]
        cdef double value, beyond
        cdef int32_t i
        low[0], high[0] = INFINITY, -INFINITY
        for i in range(n):
            value = values[i] = column[order[i]]
            self.n_missing += isnan(value)
            low[0] = value if value < low[0] else low[0]
            high[0] = value if value > high[0] else high[0]
        if self.n_missing == 0 or self.n_missing == n:
            return
        self.missing_left = as_below(next_xorshift(&self.state), 2) == 0
        if low[0] == high[0]:
            # One value, or none: the one threshold that leaves whatever has a value on the left.
            self.missing_left = False
            low[0], high[0] = DBL_MAX, INFINITY
        beyond = -INFINITY if self.missing_left else INFINITY
        for i in range(n):
            values[i] = beyond if isnan(values[i]) else values[i]

    cdef inline int32_t move_left(
        self, int32_t feature, int32_t* samples, int32_t n, double threshold, bint missing_left
    ) noexcept nogil:
        """Bring the samples with value <= threshold to the front; return how many they are."""
        cdef Examples examples
        # Stable, so that the samples of every node stay ascending and columns are read forwards.
        examples.rows = samples
        examples.spare_rows = &self.moved[0]
        if self.in_bytes:
            return <int32_t> partition(
                &examples, 0, n, &self.small[0, feature], <uint8_t> threshold, False, False,
                <uint8_t*> NULL, <uint8_t*> NULL,
            )
        if missing_left:
            return left_or_missing(&examples, n, &self.large[0, feature], threshold)
        # No value is not below a threshold: missing ones go right.
        return <int32_t> partition(
            &examples, 0, n, &self.large[0, feature], threshold, False, False,
            <double*> NULL, <double*> NULL,
        )

    cdef bint enter(
        self, const int32_t* samples, int32_t n, const int32_t** order
    ) noexcept nogil:
        return False

    cdef double score(self, double threshold, int32_t n) noexcept nogil:
        return 0.0

    cdef inline double sum_left(
        self, const double* targets, double threshold, int32_t n, int32_t* n_left
    ) noexcept nogil:
        """Return the sum of the targets whose values are not above the threshold; count them."""
        if self.in_bytes:
            return sum_below(targets, &self.values[0], <uint8_t> threshold, n, n_left)
        return sum_below(targets, <double*> &self.values[0], threshold, n, n_left)

    cdef inline int64_t count_right(
        self, double threshold, int32_t start, int32_t end
    ) noexcept nogil:
        """Count the values above the threshold in a part of those gathered."""
        if self.in_bytes:
            return count_above(&self.values[start], <uint8_t> threshold, end - start)
        return count_above(<double*> &self.values[0] + start, threshold, end - start)


cdef int32_t left_or_missing(
    Examples* examples, int32_t n, const double* column, double threshold
) noexcept nogil:
    """Partition as `partition` does, but bring samples without a value to the front, too."""
    cdef int32_t i, row, middle = 0, moved = 0
    for i in range(n):
        row = examples.rows[i]
        if column[row] > threshold:
            examples.spare_rows[moved] = row
            moved += 1
        else:
            examples.rows[middle] = row
            middle += 1
    memcpy(examples.rows + middle, examples.spare_rows, moved * sizeof(int32_t))
    return middle


cdef bint leaves_enough(Splitter splitter, double threshold, int32_t n) noexcept nogil:
    """Return whether both sides of a threshold keep `min_leaf` samples."""
    # A loop of its own: `count_right` is inlined in Gini's index as long as nobody else calls it.
    cdef const double* values = <double*> &splitter.values[0]
    cdef int32_t i, n_right = 0
    for i in range(n):
        n_right += (splitter.values[i] if splitter.in_bytes else values[i]) > threshold
    return splitter.min_leaf <= n_right <= n - splitter.min_leaf


cdef inline void gather(
    const cell_t* column, const int32_t* samples, int32_t n, cell_t* values, double* low,
    double* high,
) noexcept nogil:
    """Copy the feature values of the samples, two or more; find their least and largest."""
    cdef cell_t even = column[samples[0]], odd = column[samples[n - 1]]
    cdef cell_t even_least = even, odd_least = odd, even_largest = even, odd_largest = odd
    cdef int32_t i
    if cell_t is uint8_t:
        for i in range(n):
            values[i] = column[samples[i]]
        for i in range(n):  # many bytes at once
            even_least = min(even_least, values[i])
            even_largest = max(even_largest, values[i])
    else:
        # Two of each: one would wait for itself.
        values[n - 1] = odd
        for i in range(0, n - 1, 2):
            even = values[i] = column[samples[i]]
            odd = values[i + 1] = column[samples[i + 1]]
            even_least = even if even < even_least else even_least
            odd_least = odd if odd < odd_least else odd_least
            even_largest = even if even > even_largest else even_largest
            odd_largest = odd if odd > odd_largest else odd_largest
    low[0] = odd_least if odd_least < even_least else even_least
    high[0] = odd_largest if odd_largest > even_largest else even_largest


cdef double[2] AS_DOUBLE = [1.0, 0.0]


cdef inline double sum_below(
    const double* targets, const cell_t* values, cell_t threshold, int32_t n, int32_t* n_left
) noexcept nogil:
    # Multiplied by 0 or 1: a branch could not be predicted. Two sums hide the latency.
    cdef double even = 0.0, odd = 0.0
    cdef int32_t i, first, second, n_above = 0
    for i in range(0, n - 1, 2):
        first = values[i] > threshold
        second = values[i + 1] > threshold
        n_above += first + second
        even += targets[i] * AS_DOUBLE[first]
        odd += targets[i + 1] * AS_DOUBLE[second]
    if n % 2:
        first = values[n - 1] > threshold
        n_above += first
        even += targets[n - 1] * AS_DOUBLE[first]
    n_left[0] = n - n_above
    return even + odd


cdef inline int64_t count_above(
    const cell_t* values, cell_t threshold, int32_t n
) noexcept nogil:
    # Without a branch, so that the compiler compares many values at once.
    cdef int64_t count = 0
    cdef int32_t i
    for i in range(n):
        count += values[i] > threshold
    return count


cdef inline double between(double low, double high, double share) noexcept nogil:
    """Return a threshold in [low, high): neither side of the split is empty."""
    cdef double threshold = low * (1.0 - share) + high * share
    # Rounding may reach `high`, beyond which no sample would go right; of no number it is `low`.
    return threshold if low <= threshold < high else low


cdef class VarianceSplitter(Splitter):
    """Impurity = the variance of the targets, summed over the outputs.

    Targets are looked up anew at each split, so they may change, as residuals do. Their column
    means must be about 0, which keeps the sums of squares accurate.
    """

    cdef:
        const double[:, ::1] targets
        double[:, ::1] node_targets
        double[::1] total, left
        double pure_variance

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, targets):
        Splitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed)
        self.targets = targets
        self.node_targets = np.empty(targets.shape[::-1])
        self.total = np.empty(targets.shape[1])
        self.left = np.empty(targets.shape[1])
        self.pure_variance = PURITY * np.square(targets).sum() / targets.shape[0]

    cdef bint enter(
        self, const int32_t* samples, int32_t n, const int32_t** order
    ) noexcept nogil:
        cdef:
            Py_ssize_t k, n_outputs = self.targets.shape[1]
            int32_t i
            double value, total, squares, within = 0.0
            double* gathered
            const double* targets
        # Output by output: each threshold then sums up neighbours.
        for k in range(n_outputs):
            targets = &self.targets[0, k]
            gathered = &self.node_targets[k, 0]
            total = squares = 0.0
            for i in range(n):
                value = targets[samples[i] * n_outputs]
                gathered[i] = value
                total += value
                squares += value * value
            self.total[k] = total
            # n times the variance; precise as the targets' means are about 0.
            within += squares - total * total / n
        return within > self.pure_variance * n

    cdef double score(self, double threshold, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k
            int32_t n_left = 0
            double left, right, total, decrease = 0.0
        for k in range(self.total.shape[0]):
            # n var - n_l var_l - n_r var_r: the sums of squares cancel.
            left = self.sum_left(&self.node_targets[k, 0], threshold, n, &n_left)
            total = self.total[k]
            right = total - left
            decrease += left * left / n_left + right * right / (n - n_left) - total * total / n
        return decrease


cdef class WeightedVarianceSplitter(VarianceSplitter):
    """Impurity = the weighted variance of the targets, summed over the outputs.

    With one-hot classes as targets that is Gini's index. Targets come times the weights of their
    samples, as the squared loss keeps its residuals; their columns must add up to about 0.
    """

    cdef:
        const double[::1] sample_weight
        double[::1] node_weights
        double node_weight

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, targets, sample_weight):
        VarianceSplitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed, targets)
        self.sample_weight = sample_weight
        self.node_weights = np.empty(targets.shape[0])
        squares = targets / np.sqrt(sample_weight)[:, None]
        self.pure_variance = PURITY * np.square(squares).sum() / sample_weight.sum()

    cdef bint enter(
        self, const int32_t* samples, int32_t n, const int32_t** order
    ) noexcept nogil:
        cdef:
            Py_ssize_t k
            int32_t i
            double value, squares, within = 0.0
        self.node_weight = 0.0
        # Targets come times their weights w: sum (w y)^2 / w is the sum of w y^2.
        for i in range(n):
            self.node_weights[i] = self.sample_weight[samples[i]]
            self.node_weight += self.node_weights[i]
        for k in range(self.targets.shape[1]):
            squares = self.total[k] = 0.0
            for i in range(n):
                value = self.targets[samples[i], k]
                self.node_targets[k, i] = value
                self.total[k] += value
                squares += value * (value / self.node_weights[i])
            within += squares - self.total[k] * self.total[k] / self.node_weight
        return within > self.pure_variance * self.node_weight

    cdef double score(self, double threshold, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k
            int32_t n_left = 0
            double left, right, total, decrease = 0.0
            double left_weight = self.sum_left(&self.node_weights[0], threshold, n, &n_left)
            double right_weight = self.node_weight - left_weight
        if right_weight <= 0.0:  # lost to rounding
            return 0.0
        for k in range(self.total.shape[0]):
            # As without weights, these in the place of counts: s_l^2 / w_l + s_r^2 / w_r - s^2 / w.
            left = self.sum_left(&self.node_targets[k, 0], threshold, n, &n_left)
            total = self.total[k]
            right = total - left
            decrease += left * left / left_weight + right * right / right_weight
            decrease -= total * total / self.node_weight
        return decrease


cdef class GiniSplitter(Splitter):
    """Impurity = Gini's index of the classes."""

    cdef:
        const int32_t[::1] codes
        int32_t[::1] by_class  # the samples of a node, one class after the other
        int32_t[::1] ends      # where each class ends there

    def __init__(self, X, n_visits, n_thresholds, min_leaf, seed, codes, n_classes):
        Splitter.__init__(self, X, n_visits, n_thresholds, min_leaf, seed)
        self.codes = codes
        self.by_class = np.empty_like(codes)
        self.ends = np.empty(n_classes, dtype=np.int32)

    cdef bint enter(
        self, const int32_t* samples, int32_t n, const int32_t** order
    ) noexcept nogil:
        # Class by class: counts are then sums of neighbours, many at once.
        order[0] = &self.by_class[0]
        # Two classes are parted in one pass, without counting first.
        if self.ends.shape[0] == 2:
            self.ends[0] = part_classes(&self.codes[0], samples, n, &self.by_class[0])
            self.ends[1] = n
            return 0 < self.ends[0] < n
        return sort_classes(
            &self.codes[0], samples, n, &self.by_class[0], &self.ends[0], self.ends.shape[0]
        )

    cdef double score(self, double threshold, int32_t n) noexcept nogil:
        cdef:
            int64_t n_left = 0, of_left = 0, of_right = 0, of_all = 0, left, right, total
            int32_t start = 0
            Py_ssize_t k
        # n times Gini's index is n - sum of squared counts / n; whole numbers are exact.
        for k in range(self.ends.shape[0]):
            total = self.ends[k] - start
            right = self.count_right(threshold, start, self.ends[k])
            left = total - right
            n_left += left
            of_left += left * left
            of_right += right * right
            of_all += total * total
            start = self.ends[k]
        return <double> of_left / n_left + <double> of_right / (n - n_left) - <double> of_all / n


cdef inline int32_t part_classes(
    const int32_t* codes, const int32_t* samples, int32_t n, int32_t* by_class
) noexcept nogil:
    """Copy the samples, class 0 to the front and class 1 to the back; count class 0."""
    cdef int32_t i, code, front = 0, back = n - 1
    for i in range(n):
        # Each is written to both ends and counted at one: no branch to mispredict.
        by_class[front] = by_class[back] = samples[i]
        code = codes[samples[i]]
        front += 1 - code
        back -= code
    return front


cdef inline bint sort_classes(
    const int32_t* codes, const int32_t* samples, int32_t n, int32_t* by_class, int32_t* ends,
    Py_ssize_t n_classes,
) noexcept nogil:
    """Copy the samples, one class after the other; return False where there is one class only."""
    cdef int32_t i, code, total, start = 0
    cdef Py_ssize_t k
    for k in range(n_classes):
        ends[k] = 0
    # A counting sort: sizes, then starts, which placing turns into ends.
    for i in range(n):
        ends[codes[samples[i]]] += 1
    if ends[codes[samples[0]]] == n:  # pure: not worth sorting
        return False
    for k in range(n_classes):
        total = ends[k]
        ends[k] = start
        start += total
    for i in range(n):
        code = codes[samples[i]]
        by_class[ends[code]] = samples[i]
        ends[code] += 1
    return True
