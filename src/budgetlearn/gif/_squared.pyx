"""Kernel: the squared loss of globally induced forests, with or without sample weights.

Begon, Joly and Geurts (2017), section 2. The state of a sample is its residual for each output.
"""

cdef enum:
    ROWS = 64  # that are summed up together, while they are in the cache


cdef class SquaredLoss(Loss):
    """Squared error, summed over the outputs: a node's weight is its mean residual (Eq. L2).

    Parameters
    ----------
    residuals : ndarray of float64 of shape (n_samples, n_outputs), C-contiguous
        Targets minus the intercept; updated in place.
    """

    def __init__(self, residuals):
        self.residuals = residuals
        self.n_outputs = residuals.shape[1]
        self.width = self.n_outputs

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef double even = 0.0, odd = 0.0
        cdef const double* residuals = &self.residuals[0, 0]
        cdef Py_ssize_t k, n_outputs = self.n_outputs
        cdef int32_t i, size, start = 0
        if n_outputs == 1:
            # Two sums: one would wait for itself.
            for i in range(0, n - 1, 2):
                even += residuals[samples[i]]
                odd += residuals[samples[i + 1]]
            if n % 2:
                even += residuals[samples[n - 1]]
            out[0] = even + odd
            return
        for k in range(n_outputs):
            out[k] = 0.0
        while start < n:
            size = min(ROWS, n - start)
            for k in range(0, n_outputs - 3, 4):
                add_rows(residuals + k, samples + start, size, n_outputs, 4, out + k)
            k = n_outputs // 4 * 4
            if n_outputs % 4 >= 2:
                add_rows(residuals + k, samples + start, size, n_outputs, 2, out + k)
                k += 2
            if n_outputs % 2:
                add_rows(residuals + k, samples + start, size, n_outputs, 1, out + k)
            start += ROWS

    cdef double mass(self, const double* stats, int32_t n) noexcept nogil:
        return n

    cdef double weight_of(self, int32_t sample) noexcept nogil:
        return 1.0

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k] / n
            gap += stats[k] * weight[k]
        return gap

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef double* residuals = &self.residuals[0, 0]
        cdef Py_ssize_t k, n_outputs = self.n_outputs
        cdef int32_t size, start = 0
        while start < n:
            size = min(ROWS, n - start)
            for k in range(0, n_outputs - 3, 4):
                subtract(residuals + k, samples + start, size, n_outputs, 4, step + k)
            k = n_outputs // 4 * 4
            if n_outputs % 4 >= 2:
                subtract(residuals + k, samples + start, size, n_outputs, 2, step + k)
                k += 2
            if n_outputs % 2:
                subtract(residuals + k, samples + start, size, n_outputs, 1, step + k)
            start += ROWS


cdef inline void add_rows(
    const double* first, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, int width,
    double* sums,
) noexcept nogil:
    """Add `width` columns of the rows, up to 4 and a constant, to their sums."""
    cdef double[4] total  # in registers: one sum in memory would wait for the next
    cdef const double* row
    cdef int32_t i
    cdef int k
    for k in range(width):
        total[k] = sums[k]
    for i in range(n):
        row = first + samples[i] * n_outputs
        for k in range(width):
            total[k] += row[k]
    for k in range(width):
        sums[k] = total[k]


cdef inline void subtract(
    double* first, const int32_t* samples, int32_t n, Py_ssize_t n_outputs, int width,
    const double* step,
) noexcept nogil:
    """Subtract a step from `width` columns of the rows, up to 4 and a constant."""
    cdef double[4] less
    cdef double* row
    cdef int32_t i
    cdef int k
    for k in range(width):
        less[k] = step[k]
    for i in range(n):
        row = first + samples[i] * n_outputs
        for k in range(width):
            row[k] -= less[k]


cdef class WeightedSquaredLoss(SquaredLoss):
    """Squared error of samples with weights: a node's weight is its weighted mean residual.

    The residuals are kept times the weights of their samples.

    Parameters
    ----------
    residuals : ndarray of float64 of shape (n_samples, n_outputs), C-contiguous
        Targets minus the intercept.
    sample_weight : ndarray of float64 of shape (n_samples,)
        Positive.
    """

    def __init__(self, residuals, sample_weight):
        SquaredLoss.__init__(self, residuals * sample_weight[:, None])
        self.sample_weight = sample_weight
        self.width = self.n_outputs + 1  # behind the sums stands the weight of the node

    cdef void gather(self, const int32_t* samples, int32_t n, double* out) noexcept nogil:
        cdef double total = 0.0
        cdef int32_t i
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            out[k] = 0.0
        for i in range(n):
            total += self.sample_weight[samples[i]]
            for k in range(self.n_outputs):
                out[k] += self.residuals[samples[i], k]
        out[self.n_outputs] = total

    cdef double mass(self, const double* stats, int32_t n) noexcept nogil:
        return stats[self.n_outputs]

    cdef double weight_of(self, int32_t sample) noexcept nogil:
        return self.sample_weight[sample]

    cdef double solve(self, const double* stats, int32_t n, double* weight) noexcept nogil:
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            weight[k] = stats[k] / stats[self.n_outputs]
            gap += stats[k] * weight[k]
        return gap

    cdef void update(self, const int32_t* samples, int32_t n, const double* step) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t i
        for i in range(n):
            for k in range(self.n_outputs):
                self.residuals[samples[i], k] -= step[k] * self.sample_weight[samples[i]]
