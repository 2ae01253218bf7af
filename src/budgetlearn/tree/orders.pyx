"""Columns that are sorted once and stay sorted below.

Where all features are tried at every node, sorting each anew would cost more than all else. So the
first node that is small enough sorts the columns of its examples, and each split below parts every
sorted column in two, stably: what is in order stays in order. That is one pass over keys that the
processor reads ahead, however deep the tree.

Within the sorted node examples have labels 0, 1, ..., which no split changes. A key is the rank of
the value among the node's distinct ones, 16 bits, above the label, 16 bits: half as long as a code
and a row, so that the columns of twice as many examples stay in the cache.
"""

cimport cython

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from .codes cimport gather
from .partition cimport Examples
from .search cimport Blocks, sort_keys
from .table cimport Table

cdef enum:
    # The keys of a node are read at every level below it: many more would leave the cache.
    KEY_BYTES = 1 << 22
    MOST_LABELS = 1 << 16
    # Larger nodes with so many examples for each code are faster counted code by code.
    PER_CODE = 8


@cython.final
cdef class Orders:
    """Sorted columns of one node at a time, and of all nodes below it."""

    def __cinit__(self, Table table, Py_ssize_t n):
        cdef Py_ssize_t p = table.n_features
        self.most = min(n, MOST_LABELS, KEY_BYTES // (8 * p), PER_CODE * table.most_codes())
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
