"""The coded table as a tree sees it.

A node's examples are strewn over the table: each of their codes is in another line of the cache,
and deep in a tree fetching them takes more time than anything else. So a node that is small enough
gets a copy of its part of the table, and all nodes below it read that (`Table`).

Where all features are tried at every node, sorting each anew would cost more than all else. So the
first node that is small enough sorts the columns of its examples, and each split below parts every
sorted column in two, stably: what is in order stays in order (`Orders`). That is one pass over keys
that the processor reads ahead, however deep the tree.
"""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from .codes cimport Codes, add_up, at, gather
from .nodes cimport Blocks
from .partition cimport Examples
from .search cimport Column, sort_keys

cdef enum:
    # A copy stays in the second-level cache.
    COPY_BYTES = 1 << 18
    # A copy of fewer examples, or of more than this part of the table, gains nothing.
    LEAST = 32
    PART = 4
    # The keys of a node are read at every level below it: many more would leave the cache.
    KEY_BYTES = 1 << 22
    MOST_LABELS = 1 << 16
    # Larger nodes with so many examples for each code are faster counted code by code.
    PER_CODE = 8


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


@cython.final
cdef class Orders:
    """Sorted columns of one node at a time, and of all nodes below it.

    Within the sorted node examples have labels 0, 1, ..., which no split changes. A key is the rank
    of the value among the node's distinct ones, 16 bits, above the label, 16 bits: half as long as
    a code and a row, so that the columns of twice as many examples stay in the cache.
    """

    def __cinit__(self, Table table, Py_ssize_t n):
        cdef Py_ssize_t p = table.n_features, most_codes = table.most_codes(table.n_rows + 1)
        self.most = min(n, MOST_LABELS, KEY_BYTES // (8 * p), PER_CODE * most_codes)
        self.blocks = Blocks()
        self.keys[0] = <uint32_t*> self.blocks.get(p * self.most * sizeof(uint32_t))
        self.keys[1] = <uint32_t*> self.blocks.get(p * self.most * sizeof(uint32_t))
        self.right = <uint8_t*> self.blocks.get(self.most)
        self.rows = <int32_t*> self.blocks.get(self.most * sizeof(int32_t))
        self.targets = <double*> self.blocks.get(self.most * sizeof(double))

    cdef void enter(
        self,
        Table table,
        Examples* examples,       # INOUT labels become 0, 1, ...
        Py_ssize_t start,
        Py_ssize_t end,
        int32_t depth,            # IN of the node
        const int32_t* features,  # IN the first `n_varying` may vary at or below the node
        Py_ssize_t n_varying,
        const double* targets,    # IN by the labels as they come
        uint64_t* scratch,        # (end - start,) each
        uint64_t* spare_scratch,
        uint32_t* codes,
    ) noexcept nogil:
        """Sort the columns of the examples [start, end). Requires at most `most` of them."""
        cdef Py_ssize_t i, place, n = end - start
        cdef uint32_t low, high, rank
        cdef uint32_t* keys
        cdef uint64_t* ordered
        self.start, self.end = start, end
        # Labels name places of small arrays from here on: what the scans look up stays near.
        for i in range(n):
            self.targets[i] = targets[examples.labels[start + i]]
            self.rows[i] = examples.rows[start + i]
            examples.labels[start + i] = <int32_t> i
        for place in range(n_varying):
            gather(table.codes_of(features[place]), self.rows, n, codes, &low, &high)
            for i in range(n):
                scratch[i] = <uint64_t> (codes[i] - low) << 32 | <uint64_t> i
            ordered = sort_keys(scratch, spare_scratch, n, high - low)
            keys = self.of(features[place], start, depth)
            # Ranks leave no gaps, so that 16 bits hold them whatever the codes are.
            rank = 0
            for i in range(n):
                rank += i > 0 and ordered[i] >> 32 != ordered[i - 1] >> 32
                keys[i] = rank << 16 | <uint32_t> ordered[i]

    cdef void part(
        self,
        const int32_t* labels,    # IN of all examples, in the order of the leaves
        Py_ssize_t start,
        Py_ssize_t middle,        # IN where the right side begins
        Py_ssize_t end,
        int32_t depth,
        const int32_t* features,
        Py_ssize_t n_varying,
    ) noexcept nogil:
        """Part the columns of a node, as its examples have been parted.

        The children's keys go to the array that the node's own are not in. What they overwrite
        there was their grandparent's, whose children have been read.
        """
        cdef Py_ssize_t i, place, n = end - start, left, right
        cdef const uint32_t* keys
        cdef uint32_t* parted
        cdef uint8_t* goes_right = self.right
        cdef uint32_t key
        cdef Py_ssize_t side
        if n == 2:
            return  # both children are leaves
        # The examples are parted already: a byte for each tells every column where it went.
        for i in range(start, end):
            goes_right[labels[i]] = i >= middle
        for place in range(n_varying):
            keys = self.of(features[place], start, depth)
            parted = self.of(features[place], start, depth + 1)
            left, right = 0, middle - start
            for i in range(n):
                # By masks: processors cannot foresee a branch to either side.
                key = keys[i]
                side = goes_right[key & 0xFFFF]
                parted[left ^ ((left ^ right) & -side)] = key
                left += 1 - side
                right += side
