"""Kernel: the prices of features at a node, given what its examples have acquired already."""

from libc.math cimport pow


cdef class NodePrices:
    """Prices of features at the nodes of one tree.

    They are the same at all nodes, 0 once acquired with `pay_once`. Or, with `acquired`, they are
    p × (f + (1 − f) × share of the node's examples that have not paid).
    """

    def __init__(
        self, prices, *, pay_once=False, acquired=None, groups=None, charges=None, discount=1.0,
        exponent=1.0,
    ):
        self.prices, self.pay_once, self.shared = prices, pay_once, acquired is not None
        if self.shared:
            self.acquired, self.groups, self.charges = acquired, groups, charges
            self.discount, self.exponent = discount, exponent

    cdef double price(
        self, Py_ssize_t feature, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil:
        """Return the price of a feature at a node, given its examples."""
        cdef double price = self.prices[feature]
        cdef Py_ssize_t group
        if not self.shared:
            return price
        group = self.groups[feature]
        # A free feature stays free: no pass over who owns it.
        if price > 0:
            price *= self.kept_share(feature, rows, weights, n)
        if group >= 0:
            price += self.charges[group] * self.kept_share(
                self.prices.shape[0] + group, rows, weights, n
            )
        # pow(0, 0) is 1: a free feature would cost something.
        return pow(price, self.exponent) if price > 0 else 0.0

    cdef double kept_share(
        self, Py_ssize_t item, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil:
        """Return the share of a price that stays."""
        cdef const uint8_t* acquired = &self.acquired[item, 0]
        cdef double missing = 0.0, total = 0.0
        cdef Py_ssize_t i
        for i in range(n):
            total += weights[i]
            missing += weights[i] * (acquired[rows[i]] == 0)
        # f + (1 - f) x share of the weight that has not paid.
        return self.discount + (1.0 - self.discount) * missing / total

    cdef void note(self, Py_ssize_t feature, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Note that the examples of a node acquire a feature, and pay for its group."""
        cdef Py_ssize_t i, group
        # The array is the caller's: a forest's later trees find the feature free, too.
        if self.pay_once:
            self.prices[feature] = 0.0
        if not self.shared:
            return
        group = self.groups[feature]
        for i in range(n):
            self.acquired[feature, rows[i]] = 1
        # Rows of `acquired` behind the features' are those of groups: one member pays for all.
        if group >= 0:
            for i in range(n):
                self.acquired[self.prices.shape[0] + group, rows[i]] = 1
