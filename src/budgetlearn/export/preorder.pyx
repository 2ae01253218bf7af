"""Kernel: the order in which a device stores the splits and stops of a tree."""

import numpy as np

from libc.stdint cimport int32_t


def preorder(const int32_t[::1] children_left, const int32_t[::1] children_right):
    """Return the splits in preorder, how many lie left of each, and the stops left to right."""
    cdef:
        Py_ssize_t n_splits = (len(children_left) - 1) // 2
        int32_t[::1] splits = np.empty(n_splits, dtype=np.int32)
        int32_t[::1] n_left = np.empty(n_splits, dtype=np.int32)
        int32_t[::1] stops = np.empty(n_splits + 1, dtype=np.int32)
        # A level of the tree leaves two entries at most: ~split once its left side is complete,
        # and its right child.
        int32_t[::1] waiting = np.empty(len(children_left) + 2, dtype=np.int32)
        int32_t node, split = 0
        Py_ssize_t n_waiting = 1, n_stops = 0
    waiting[0] = 0
    with nogil:
        while n_waiting:
            n_waiting -= 1
            node = waiting[n_waiting]
            if node < 0:  # all splits since then lie left of it
                n_left[~node] = split - ~node - 1
            elif children_left[node] < 0:
                stops[n_stops] = node
                n_stops += 1
            else:
                splits[split] = node
                # Last in, first out: the left side comes next, then ~split, then the right side.
                waiting[n_waiting] = children_right[node]
                waiting[n_waiting + 1] = ~split
                waiting[n_waiting + 2] = children_left[node]
                n_waiting += 3
                split += 1
    return np.asarray(splits), np.asarray(n_left), np.asarray(stops)
