"""Kernel: charge examples for a feature, and note who acquired what when."""

from libc.stdint cimport uint8_t


def charge(
    const Py_ssize_t[::1] rows,       # IN
    Py_ssize_t feature,               # IN
    double price,                     # IN its own
    const Py_ssize_t[::1] members,    # IN features of its group
    double group_price,               # IN shared by them
    uint8_t[::1, :] acquired,         # IN, OUT (n_samples, n_features)
    Py_ssize_t[:, ::1] order,         # OUT (n_samples, n_features): features as they were acquired
    Py_ssize_t[::1] n_acquired,       # IN, OUT (n_samples,)
    double[::1] cost,                 # IN, OUT (n_samples,)
):
    """Let the rows that have not acquired a feature acquire it."""
    cdef Py_ssize_t i, row, member
    cdef bint paid
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            # Each feature is charged once for an example, however often it is asked for.
            if acquired[row, feature]:
                continue
            paid = False
            for member in range(members.shape[0]):
                paid |= acquired[row, members[member]] != 0
            # The first member of a group that an example acquires pays the charge for all.
            cost[row] += price if paid else price + group_price
            acquired[row, feature] = 1
            # order[row, :n_acquired[row]] are the features so far; -1 follows.
            order[row, n_acquired[row]] = feature
            n_acquired[row] += 1
