"""The constructor of `Table`, which allocates its memory; `table.pxd` has the methods."""

cimport cython
import numpy as np

from libc.stdint cimport uint8_t, uint32_t

from .nodes cimport Blocks

cdef enum:
    # A copy stays in the second-level cache.
    COPY_BYTES = 1 << 18
    # The keys of a node are read at every level below it, and should stay in the cache.
    KEY_BYTES = 1 << 22
    MOST_LABELS = 1 << 16
    # Nodes with more examples than this for each code are faster counted than sorted.
    PER_CODE = 8


@cython.final
cdef class Table(Blocks):
    """Codes and their meaning; with `bundled`, features in bundles are read from the bundle.

    With `sorts`, there is memory for the sorted columns of one node at a time and of the nodes
    below it. Within this node examples have labels 0, 1, ..., which splits do not change. A key has
    the rank among the node's distinct values in 16 bits, above the label in 16 bits. This is half
    the size of a code and a row, so the cache holds the columns of twice as many examples.
    """

    def __cinit__(self, data, bint bundled, Py_ssize_t n_classes, bint sorts):
        cdef Py_ssize_t i
        self.bytes_of_codes = data.codes.view(np.uint8)
        self.width = data.codes.itemsize
        self.columns, self.offsets = data.columns, data.offsets
        self.missing = np.where(data.missing, data.n_codes - 1, -1).astype(np.int32)
        self.lowest, self.highest = data.lowest, data.highest
        self.n_features, self.n_rows = data.n_features, data.n_samples
        if bundled:
            codes, self.bundle, self.member = data.bundles
            self.n_bundles = len(codes)
        if self.n_bundles:  # often there are none, and this would slow down small trees
            self.bytes_of_bundles, self.n_members = codes.view(np.uint8), 1 + np.max(self.member)
        elif not bundled:
            self.bundle = np.full(self.n_features, -1, dtype=np.int32)
        # The number of examples for which the codes of all features and bundles fit.
        self.most = COPY_BYTES // (self.width * (self.n_features + self.n_bundles))
        self.copy = <uint8_t*> self.get(COPY_BYTES)
        self.n_cells = self.n_members * n_classes
        self.counted = self.integers(self.n_bundles)
        self.cells = self.numbers(self.n_bundles * self.n_cells)
        if not sorts:
            return
        self.most_sorted = PER_CODE * self.most_codes(self.n_rows + 1)
        self.most_sorted = min(
            self.most_sorted, self.n_rows, MOST_LABELS, KEY_BYTES // (8 * self.n_features)
        )
        for i in range(2):
            self.keys[i] = <uint32_t*> self.integers(self.n_features * self.most_sorted)
        self.right = <uint8_t*> self.get(self.most_sorted)
        self.rows, self.targets = self.integers(self.most_sorted), self.numbers(self.most_sorted)
