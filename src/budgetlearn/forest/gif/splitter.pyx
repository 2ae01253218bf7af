"""Kernel: the random splits of extremely randomized trees, for nodes taken in any order.

Geurts, Ernst and Wehenkel (2006): a few features at random, one threshold each at random between
the least and the largest value of the node, and the best of these by the decrease of impurity. A
globally induced forest opens its nodes in no particular order, so what is constant in a node is
found afresh each time.
"""

import numpy as np

from ...tree._random cimport as_below, as_uniform, next_xorshift
from ...tree.partition cimport Examples, partition

# A node is pure when its variance is below this share of the variance of all targets.
cdef double PURITY = 1e-10


cdef class Splitter:
    """Random splits; the subclasses know the impurity.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_samples, n_features), column-major
        Training features.
    n_visits : int
        Features to visit; more only while all of them were constant in the node.
    seed : int
        Start of the random numbers.
    """

    def __init__(self, X, n_visits, seed):
        self.X = X
        self.n_visits = n_visits
        self.features = np.arange(X.shape[1], dtype=np.int32)
        self.values = np.empty(X.shape[0])
        self.best_values = np.empty(X.shape[0])
        self.moved = np.empty(X.shape[0], dtype=np.int32)
        self.state = <uint64_t> seed * 2 + 1

    cdef void split(self, int32_t* samples, int32_t n, Split* out) noexcept nogil:
        cdef:
            int32_t n_features = <int32_t> self.features.shape[0]
            int32_t n_visited = 0, drawn, feature
            double* values = &self.values[0]
            double* best_values = &self.best_values[0]
            double low, high, threshold, score, best = -1.0
        out.n_left = 0
        if n < 2 or not self.enter(samples, n):
            return
        # Invariant: features[:n_visited] are visited; best >= 0 once one of them was not constant.
        while n_visited < n_features and (n_visited < self.n_visits or best < 0):
            drawn = n_visited + <int32_t> as_below(
                next_xorshift(&self.state), n_features - n_visited
            )
            feature = self.features[drawn]
            self.features[drawn] = self.features[n_visited]
            self.features[n_visited] = feature
            n_visited += 1
            gather(&self.X[0, feature], samples, n, values, &low, &high)
            if low >= high:
                continue
            threshold = between(low, high, as_uniform(next_xorshift(&self.state)))
            score = max(0.0, self.score(values, n, threshold))
            if score > best:
                best = score
                out.feature = feature
                out.threshold = threshold
                values, best_values = best_values, values
        if best >= 0:
            out.decrease = best
            out.n_left = move_left(samples, n, best_values, out.threshold, &self.moved[0])

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        return False

    cdef double score(self, const double* values, int32_t n, double threshold) noexcept nogil:
        return 0.0


cdef inline void gather(
    const double* column, const int32_t* samples, int32_t n, double* values, double* low,
    double* high,
) noexcept nogil:
    """Copy the feature values of the samples; find their least and largest."""
    cdef double value, least = column[samples[0]], largest = least
    cdef int32_t i
    for i in range(n):
        value = column[samples[i]]
        values[i] = value
        least = value if value < least else least
        largest = value if value > largest else largest
    low[0] = least
    high[0] = largest


cdef inline double between(double low, double high, double share) noexcept nogil:
    """Return a threshold in [low, high): neither side of the split is empty."""
    cdef double threshold = low * (1.0 - share) + high * share
    return threshold if low <= threshold < high else low


cdef inline int32_t move_left(
    int32_t* samples, int32_t n, const double* values, double threshold, int32_t* spare
) noexcept nogil:
    """Bring the samples with value <= threshold to the front; return how many they are."""
    cdef Examples examples
    examples.rows = samples
    examples.spare_rows = spare
    return <int32_t> partition(
        &examples, 0, n, values, threshold, True, False, <double*> NULL, <double*> NULL
    )


cdef class VarianceSplitter(Splitter):
    """Impurity = the variance of the targets, summed over the outputs.

    Parameters
    ----------
    X, n_visits, seed
        As for `Splitter`.
    targets : ndarray of float64 of shape (n_samples, n_outputs), C-contiguous
        Their column means must be 0, which keeps the sums of squares accurate.
    """

    def __init__(self, X, n_visits, seed, targets):
        Splitter.__init__(self, X, n_visits, seed)
        self.targets = targets
        self.node_targets = np.empty(targets.shape[::-1])
        self.total = np.empty(targets.shape[1])
        self.left = np.empty(targets.shape[1])
        self.pure_variance = PURITY * np.square(targets).sum() / targets.shape[0]

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k, n_outputs = self.targets.shape[1]
            int32_t i
            double value, total, squares, within = 0.0
            double* gathered
            const double* targets
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
            within += squares - total * total / n
        return within > self.pure_variance * n

    cdef double score(self, const double* values, int32_t n, double threshold) noexcept nogil:
        cdef:
            Py_ssize_t k
            int32_t n_left = 0
            double left, right, total, decrease = 0.0
        for k in range(self.total.shape[0]):
            left = sum_left(&self.node_targets[k, 0], values, n, threshold, &n_left)
            total = self.total[k]
            right = total - left
            decrease += left * left / n_left + right * right / (n - n_left) - total * total / n
        return decrease


cdef double[2] AS_DOUBLE = [0.0, 1.0]


cdef inline double sum_left(
    const double* targets, const double* values, int32_t n, double threshold, int32_t* n_left
) noexcept nogil:
    """Return the sum of the targets whose value is at most the threshold, and count them."""
    # Multiplied by 0 or 1: a branch could not be predicted. Two sums hide the latency.
    cdef double even = 0.0, odd = 0.0
    cdef int32_t i, left, n_even = 0, n_odd = 0
    for i in range(0, n - 1, 2):
        left = values[i] <= threshold
        even += targets[i] * AS_DOUBLE[left]
        n_even += left
        left = values[i + 1] <= threshold
        odd += targets[i + 1] * AS_DOUBLE[left]
        n_odd += left
    if n % 2:
        left = values[n - 1] <= threshold
        even += targets[n - 1] * AS_DOUBLE[left]
        n_even += left
    n_left[0] = n_even + n_odd
    return even + odd


cdef class WeightedVarianceSplitter(VarianceSplitter):
    """Impurity = the weighted variance of the targets, summed over the outputs.

    With one-hot classes as targets that is Gini's index.

    Parameters
    ----------
    X, n_visits, seed
        As for `Splitter`.
    targets : ndarray of float64 of shape (n_samples, n_outputs), C-contiguous
        Their weighted column means must be 0.
    sample_weight : ndarray of float64 of shape (n_samples,)
        Positive.
    """

    def __init__(self, X, n_visits, seed, targets, sample_weight):
        VarianceSplitter.__init__(self, X, n_visits, seed, targets)
        self.sample_weight = sample_weight
        self.node_weights = np.empty(targets.shape[0])
        variance = (sample_weight @ np.square(targets)).sum() / sample_weight.sum()
        self.pure_variance = PURITY * variance

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        cdef:
            Py_ssize_t k
            int32_t i
            double weight, value, squares, within = 0.0
        self.node_weight = 0.0
        for i in range(n):
            weight = self.sample_weight[samples[i]]
            self.node_weights[i] = weight
            self.node_weight += weight
        for k in range(self.targets.shape[1]):
            squares = self.total[k] = 0.0
            for i in range(n):
                value = self.targets[samples[i], k]
                self.node_targets[k, i] = value * self.node_weights[i]
                self.total[k] += self.node_targets[k, i]
                squares += self.node_targets[k, i] * value
            within += squares - self.total[k] * self.total[k] / self.node_weight
        return within > self.pure_variance * self.node_weight

    cdef double score(self, const double* values, int32_t n, double threshold) noexcept nogil:
        cdef:
            Py_ssize_t k
            int32_t n_left = 0
            double left, right, total, decrease = 0.0
            double below = sum_left(&self.node_weights[0], values, n, threshold, &n_left)
            double above = self.node_weight - below
        if above <= 0.0:  # lost to rounding
            return 0.0
        for k in range(self.total.shape[0]):
            left = sum_left(&self.node_targets[k, 0], values, n, threshold, &n_left)
            total = self.total[k]
            right = total - left
            decrease += left * left / below + right * right / above
            decrease -= total * total / self.node_weight
        return decrease


cdef class GiniSplitter(Splitter):
    """Impurity = Gini's index of the classes.

    Parameters
    ----------
    X, n_visits, seed
        As for `Splitter`.
    codes : ndarray of int32 of shape (n_samples,)
        Class of each sample, in [0, n_classes).
    n_classes : int
        Number of classes.
    """

    def __init__(self, X, n_visits, seed, codes, n_classes):
        Splitter.__init__(self, X, n_visits, seed)
        self.codes = codes
        self.node_codes = np.empty_like(codes)
        self.total = np.empty(n_classes, dtype=np.int64)
        self.left = np.empty(n_classes, dtype=np.int64)

    cdef bint enter(self, const int32_t* samples, int32_t n) noexcept nogil:
        cdef int32_t i, code
        self.total[:] = 0
        for i in range(n):
            code = self.codes[samples[i]]
            self.node_codes[i] = code
            self.total[code] += 1
        return self.total[self.node_codes[0]] < n

    cdef double score(self, const double* values, int32_t n, double threshold) noexcept nogil:
        cdef:
            int64_t* left = &self.left[0]
            const int32_t* codes = &self.node_codes[0]
            int64_t n_left = 0, of_left = 0, of_right = 0, of_all = 0, right, total
            Py_ssize_t k
            int32_t i
        self.left[:] = 0
        for i in range(n):
            left[codes[i]] += values[i] <= threshold
        for k in range(self.left.shape[0]):
            total = self.total[k]
            right = total - left[k]
            n_left += left[k]
            of_left += left[k] * left[k]
            of_right += right * right
            of_all += total * total
        return <double> of_left / n_left + <double> of_right / (n - n_left) - <double> of_all / n
