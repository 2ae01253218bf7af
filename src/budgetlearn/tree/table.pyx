"""The coded table as a tree sees it.

A node's examples are strewn over the table: each of their codes is in another line of the cache,
and deep in a tree fetching them takes more time than anything else. So a node that is small enough
gets a copy of its part of the table, and all nodes below it read that.
"""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from .codes cimport Codes, add_up, at
from .search cimport Blocks, Column

cdef enum:
    # A copy stays in the second-level cache.
    COPY_BYTES = 1 << 18
    # A copy of fewer examples, or of more than this part of the table, gains nothing.
    LEAST = 32
    PART = 4


@cython.final
cdef class Table:
    """Codes, and what they mean; with `bundled` the features of bundles are asked for by those."""

    def __cinit__(self, data, bint bundled, Py_ssize_t n_classes):
        cdef Py_ssize_t i
        self.blocks = Blocks()
        self.bytes_of_codes = data.codes.view(np.uint8)
        self.codes = &self.bytes_of_codes[0, 0]
        self.width, self.stride = data.codes.itemsize, self.bytes_of_codes.shape[1]
        self.columns, self.offsets = data.columns, data.offsets
        self.missing = np.where(data.missing, data.n_codes - 1, -1).astype(np.int32)
        self.lowest, self.highest = data.lowest, data.highest
        self.n_features, self.n_rows = data.n_features, data.n_samples
        if bundled:
            codes, self.bundle, self.member = data.bundles
            self.bytes_of_bundles, self.n_bundles = codes.view(np.uint8), len(codes)
        else:
            self.bundle = np.full(self.n_features, -1, dtype=np.int32)
        # So many examples' codes fit, of all features and bundles.
        self.most = COPY_BYTES // (self.width * (self.n_features + self.n_bundles))
        self.copy = <uint8_t*> self.blocks.get(COPY_BYTES)
        self.n_members = 1 + np.max(self.member) if bundled else 0
        self.n_cells = self.n_members * n_classes
        self.counted = <int32_t*> self.blocks.get(self.n_bundles * sizeof(int32_t))
        self.cells = <double*> self.blocks.get(self.n_bundles * self.n_cells * sizeof(double))
        for i in range(self.n_bundles):
            self.counted[i] = -1

    cdef void enter(
        self,
        int32_t* rows,                # INOUT: of all examples
        Py_ssize_t start,
        Py_ssize_t end,
        const int32_t* features,      # IN the first `n_varying` may be asked for at or below it
        Py_ssize_t n_varying,
    ) noexcept nogil:
        """Copy the codes of a node if it pays; `rows` of the node are indices of the copy then.

        To be called for each node, depth first.
        """
        cdef Py_ssize_t i, n = end - start
        if self.start <= start and end <= self.end:
            return
        self.start = self.end = 0
        # Until a smaller node comes that fits, the whole table is read.
        if n > self.most or n < LEAST or n * PART > self.n_rows:
            return
        # What is constant here is asked for by no node below: it is left out.
        for i in range(n_varying):
            if self.bundle[features[i]] < 0:
                copy_codes(
                    self.stored(features[i]), rows + start, n,
                    self.copy + features[i] * self.most * self.width,
                )
        for i in range(self.n_bundles):
            copy_codes(
                self.stored_bundle(i), rows + start, n,
                self.copy + (self.n_features + i) * self.most * self.width,
            )
        # Whoever reads codes by row from here on reads the copy; the rows are not asked for again.
        for i in range(start, end):
            rows[i] = <int32_t> (i - start)
        self.start, self.end = start, end

    cdef const double* ones(
        self,
        Py_ssize_t feature,           # IN in a bundle
        int32_t node,
        const int32_t* rows,          # IN of the node's examples, as their labels and weights
        const Column* column,
        Py_ssize_t n_classes,
    ) noexcept nogil:
        """Return the class counts of the ones of a bundled feature among the examples of a node.

        One pass over the codes of the bundle counts the ones of all its members: the first that a
        node asks for pays, the others find their counts. The zeros are the rest of the node, to the
        last bit, as weights are whole numbers there.
        """
        cdef Py_ssize_t bundle = self.bundle[feature]
        cdef double* cells = self.cells + bundle * self.n_cells
        if self.counted[bundle] != node:
            self.counted[bundle] = node
            memset(cells, 0, self.n_members * n_classes * sizeof(double))
            add_up(
                cells, 0, 1, self.codes_of_bundle(bundle), rows, 0, 0, n_classes, column.labels,
                column.weights, column.size, NULL, 0,
            )
        return cells + self.member[feature] * n_classes


cdef void copy_codes(
    Codes codes, const int32_t* rows, Py_ssize_t n, uint8_t* target
) noexcept nogil:
    """Copy the codes of some rows to `target`, in the width that they have."""
    cdef Py_ssize_t i
    for i in range(n):
        if codes.width == 1:
            target[i] = <uint8_t> at(codes, rows[i])
        elif codes.width == 2:
            (<uint16_t*> target)[i] = <uint16_t> at(codes, rows[i])
        else:
            (<uint32_t*> target)[i] = <uint32_t> at(codes, rows[i])
