"""Kernel: charge examples for a feature, and record the order of acquisition."""

from libc.stdint cimport uint8_t


def charge(
    const Py_ssize_t[::1] rows,       # IN
    Py_ssize_t feature,               # IN
    double price,                     # IN price of the feature itself
    const Py_ssize_t[::1] members,    # IN features of its group
    double group_price,               # IN charge of the group
    uint8_t[::1, :] acquired,         # IN, OUT (n_samples, n_features)
    Py_ssize_t[:, ::1] order,         # OUT (n_samples, n_features): features, first to last
    Py_ssize_t[::1] n_acquired,       # IN, OUT (n_samples,)
    double[::1] cost,                 # IN, OUT (n_samples,)
):
    """Acquire a feature for the rows that have not acquired it yet."""
    cdef Py_ssize_t i, row, member
    cdef bint paid
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            # Each feature is charged once for an example, even if it is requested again.
            if acquired[row, feature]:
                continue
            paid = False
            for member in range(members.shape[0]):
                paid |= acquired[row, members[member]] != 0
            # The first member of a group that an example acquires pays the charge for all.
            cost[row] += price if paid else price + group_price
            acquired[row, feature] = 1
            # Invariant: order[row, :n_acquired[row]] holds the acquired features, then -1 follows.
            order[row, n_acquired[row]] = feature
            n_acquired[row] += 1
