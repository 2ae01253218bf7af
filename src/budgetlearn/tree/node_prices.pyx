"""Kernel: prices that fall with what the examples of a node have acquired already."""

from libc.math cimport pow


cdef class NodePrices:
    """Prices of features at a node: p × (f + (1 − f) × share of its examples that have not paid).

    Parameters
    ----------
    prices : ndarray of float64 of shape (n_features,)
        Of each feature alone, without the charge of its group.
    groups : ndarray of int32 of shape (n_features,)
        Group of each feature, -1 for none.
    charges : ndarray of float64 of shape (n_groups,)
        What the first member costs besides its price; it falls with the share that acquired none.
    acquired : ndarray of uint8 of shape (n_features + n_groups, n_samples)
        1 where an example acquired the feature, or a member of the group; changed in place.
    discount : float
        Share f of a price that stays where all have paid, in [0, 1].
    exponent : float
        Power of what comes of it, in [0, 1]; what is free stays free.
    """

    def __init__(self, prices, groups, charges, acquired, discount, exponent):
        self.prices, self.groups, self.charges = prices, groups, charges
        self.acquired, self.discount, self.exponent = acquired, discount, exponent

    cdef double price(
        self, Py_ssize_t feature, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil:
        cdef double price = self.prices[feature]
        cdef Py_ssize_t group = self.groups[feature]
        if price > 0:
            price *= self.kept_share(feature, rows, weights, n)
        if group >= 0:
            price += self.charges[group] * self.kept_share(
                self.prices.shape[0] + group, rows, weights, n
            )
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
        return self.discount + (1.0 - self.discount) * missing / total

    cdef void note(self, Py_ssize_t feature, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, group = self.groups[feature]
        for i in range(n):
            self.acquired[feature, rows[i]] = 1
        if group >= 0:
            for i in range(n):
                self.acquired[self.prices.shape[0] + group, rows[i]] = 1
