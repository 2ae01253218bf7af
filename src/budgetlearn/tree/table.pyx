"""The coded table as a tree sees it.

A node's examples are strewn over the table: each of their codes is in another line of the cache,
and deep in a tree fetching them takes more time than anything else. So a node that is small enough
gets a copy of its part of the table, and all nodes below it read that.
"""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

from ._codes cimport Codes, code_t

cdef enum:
    # A copy stays in the second-level cache.
    COPY_BYTES = 1 << 18
    # A copy of fewer examples, or of more than this part of the table, gains nothing.
    LEAST = 32
    PART = 4


@cython.final
cdef class Table:
    """Codes, and what they mean.

    Parameters
    ----------
    data : BinnedData
        Coded table.
    bundled : bool
        Whether the features of its bundles are asked for by their bundle alone.
    """

    def __cinit__(self, data, bint bundled):
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
        self.most = COPY_BYTES // (self.width * (self.n_features + self.n_bundles))
        self.copy = <uint8_t*> malloc(COPY_BYTES)
        if self.copy == NULL:
            raise MemoryError(f"no {COPY_BYTES} bytes left to grow a tree")

    def __dealloc__(self):
        free(self.copy)

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
        if n > self.most or n < LEAST or n * PART > self.n_rows:
            return
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
        for i in range(start, end):
            rows[i] = <int32_t> (i - start)
        self.start, self.end = start, end


cdef inline void pick(
    const code_t* codes, const int32_t* rows, Py_ssize_t n, code_t* picked
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        picked[i] = codes[rows[i]]


cdef void copy_codes(
    Codes codes, const int32_t* rows, Py_ssize_t n, uint8_t* target
) noexcept nogil:
    if codes.codes8 != NULL:
        pick(codes.codes8, rows, n, target)
    elif codes.codes16 != NULL:
        pick(codes.codes16, rows, n, <uint16_t*> target)
    else:
        pick(codes.codes32, rows, n, <uint32_t*> target)
