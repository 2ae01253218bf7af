"""The coded table that trees grow on.

A node's examples are scattered over the table, with codes in different cache lines, and deep in a
tree most of the time would go into fetching them. So a node that is small enough gets a copy of its
part of the table, which all nodes below it read.

If all features are tried at every node, most of the time would go into sorting. So the first node
that is small enough sorts the columns of its examples, and each split below it partitions every
sorted column stably, which keeps both parts sorted. This takes one pass over keys at each level of
the tree, in an order that the processor can read ahead.
"""

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from .codes cimport Codes, add_up, at, gather
from .nodes cimport Blocks
from .partition cimport Examples
from .search cimport Column, Search, sorted_keys

cdef enum:
    # A copy of fewer than LEAST examples, or of more than 1 / PART of the table, is not faster.
    LEAST = 32
    PART = 4


@cython.final
cdef class Table(Blocks):
    cdef:
        const uint8_t[:, ::1] bytes_of_codes  # (n_columns, n_rows * width)
        Py_ssize_t width              # bytes of a code
        const int32_t[::1] columns
        const long long[::1] offsets
        const double[::1] lowest, highest
        const int32_t[::1] missing    # (n_features,): code of missing values; -1: there are none
        Py_ssize_t n_features, n_rows
        const uint8_t[:, ::1] bytes_of_bundles
        const int32_t[::1] bundle     # (n_features,): -1 is none
        const int32_t[::1] member     # (n_features,): code of the bundle that means a one
        Py_ssize_t n_bundles
        Py_ssize_t n_members, n_cells  # most codes of a bundle; cells allocated for a bundle
        int32_t* counted              # (n_bundles,): the last node for which each was counted
        double* cells                 # (n_bundles, n_cells): weights of (code, class)
        uint8_t* copy                 # (n_features + n_bundles, most): of a node's examples
        Py_ssize_t most               # capacity of the copy in examples
        Py_ssize_t start, end         # the node's examples; empty: no feature is copied
        # The node with sorted columns has the examples [sorted_start, sorted_end), and there is
        # room for most_sorted. It shares the memory with all nodes below it.
        Py_ssize_t most_sorted, sorted_start, sorted_end
        # rank << 16 | label, ascending; one array for nodes of even depth, one for odd depth
        uint32_t* keys[2]             # (n_features, most_sorted) each
        uint8_t* right                # (most_sorted,): whether the example of a label goes right
        int32_t* rows                 # (most_sorted,): table row of each label
        double* targets               # (most_sorted,): target of each label

    cdef inline Py_ssize_t n_codes(self, Py_ssize_t feature) noexcept nogil:
        cdef Py_ssize_t stored = self.columns[feature]
        return self.offsets[stored + 1] - self.offsets[stored]

    cdef inline Py_ssize_t most_codes(self, Py_ssize_t limit) noexcept nogil:
        """Return the largest number of codes of a feature that does not exceed `limit`."""
        cdef Py_ssize_t feature, most = 0
        for feature in range(self.n_features):
            if self.n_codes(feature) <= limit:
                most = max(most, self.n_codes(feature))
        return most

    cdef inline Codes stored(self, Py_ssize_t item) noexcept nogil:
        """Return the codes of a feature, or of the bundle item - n_features, in the whole table."""
        if item < self.n_features:
            return Codes(&self.bytes_of_codes[self.columns[item], 0], self.width)
        return Codes(&self.bytes_of_bundles[item - self.n_features, 0], self.width)

    cdef inline uint8_t* copy_of(self, Py_ssize_t item) noexcept nogil:
        """Return the address of the copied codes of a feature or a bundle."""
        return self.copy + item * self.most * self.width

    cdef inline Codes codes_of(self, Py_ssize_t item) noexcept nogil:
        """Return the codes of a feature or a bundle, from the copy if the node has one.

        Features in bundles are not copied; use their bundle instead.
        """
        if self.start < self.end:
            return Codes(self.copy_of(item), self.width)
        return self.stored(item)

    cdef inline void leave(self) noexcept nogil:
        """Go back to the whole table, for another tree."""
        cdef Py_ssize_t i
        self.start = self.end = self.sorted_start = self.sorted_end = 0
        # No node has number -1, so no bundle is counted yet.
        for i in range(self.n_bundles):
            self.counted[i] = -1

    cdef inline void enter(
        self,
        int32_t* rows,                # INOUT of all examples
        Py_ssize_t start,
        Py_ssize_t end,
        const int32_t* features,      # IN the first `n_varying` may be read at or below the node
        Py_ssize_t n_varying,
    ) noexcept nogil:
        """Copy the codes of a node if this pays off; its `rows` then become indices of the copy.

        Call this for each node, depth first.
        """
        cdef Py_ssize_t i, n = end - start
        if self.start <= start and end <= self.end:
            return
        self.start = self.end = 0
        # The whole table is read until a node fits.
        if n > self.most or n < LEAST or n * PART > self.n_rows:
            return
        # Features that are constant here are not read by any node below, and not copied.
        for i in range(n_varying):
            if self.bundle[features[i]] < 0:
                copy_codes(self.stored(features[i]), rows + start, n, self.copy_of(features[i]))
        for i in range(self.n_features, self.n_features + self.n_bundles):
            copy_codes(self.stored(i), rows + start, n, self.copy_of(i))
        # From now on, codes are read from the copy, and the original rows are not needed again.
        for i in range(start, end):
            rows[i] = <int32_t> (i - start)
        self.start, self.end = start, end

    cdef inline const double* ones(
        self,
        Py_ssize_t feature,           # IN in a bundle
        int32_t node,
        const int32_t* rows,          # IN of the node's examples, whose labels are in `column`
        const Column* column,
        Py_ssize_t n_classes,
    ) noexcept nogil:
        """Return the weight of a bundled feature's ones in each class, at a node.

        The first call for a node counts the ones of all members in one pass over the codes of the
        bundle. Zeros are the rest of the node; this is exact, because weights are whole numbers.
        """
        cdef Py_ssize_t bundle = self.bundle[feature]
        cdef double* cells = self.cells + bundle * self.n_cells
        if self.counted[bundle] != node:
            self.counted[bundle] = node
            memset(cells, 0, self.n_members * n_classes * sizeof(double))
            add_up(
                cells, 0, 1, self.codes_of(self.n_features + bundle), rows, 0, 0, n_classes,
                column.labels, column.weights, column.size, NULL, 0,
            )
        return cells + self.member[feature] * n_classes

    cdef inline bint is_sorted(self, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
        """Return whether the columns of a node's examples are sorted."""
        return self.sorted_start <= start and end <= self.sorted_end

    cdef inline int32_t code(self, Codes codes, uint32_t key) noexcept nogil:
        """Return the code of the example that a key refers to."""
        return at(codes, self.rows[key & 0xFFFF])

    cdef inline uint32_t* keys_of(
        self, Py_ssize_t feature, Py_ssize_t start, int32_t depth
    ) noexcept nogil:
        """Return the keys of one feature at the node of some depth that begins at `start`."""
        return self.keys[depth & 1] + feature * self.most_sorted + (start - self.sorted_start)

    cdef inline void sort(
        self,
        Examples* examples,       # INOUT labels become 0, 1, ...
        Py_ssize_t start,
        Py_ssize_t end,
        int32_t depth,            # IN of the node
        const int32_t* features,  # IN the first `n_varying` may vary at or below the node
        Py_ssize_t n_varying,
        const double* targets,    # IN by the labels before the call
        Search* search,           # its keys are scratch, as are the codes of `column`
        Column* column,
    ) noexcept nogil:
        """Sort the columns of the examples [start, end), at most `most_sorted` of them."""
        cdef Py_ssize_t i, place, n = end - start
        cdef uint32_t rank
        cdef uint32_t* keys
        cdef uint64_t* ordered
        self.sorted_start, self.sorted_end, column.size = start, end, n
        # From now on labels are indices of small arrays, so that scans read nearby memory.
        for i in range(n):
            self.targets[i] = targets[examples.labels[start + i]]
            self.rows[i] = examples.rows[start + i]
            examples.labels[start + i] = <int32_t> i
        for place in range(n_varying):
            gather(
                self.codes_of(features[place]), self.rows, n, column.codes, &column.low,
                &column.high,
            )
            ordered = sorted_keys(search, column)
            keys = self.keys_of(features[place], start, depth)
            # Ranks have no gaps, so they fit into 16 bits even if the codes do not.
            rank = 0
            for i in range(n):
                rank += i > 0 and ordered[i] >> 32 != ordered[i - 1] >> 32
                keys[i] = rank << 16 | <uint32_t> ordered[i]

    cdef inline void part(
        self,
        const int32_t* labels,    # IN of all examples, in the order of the leaves
        Py_ssize_t start,
        Py_ssize_t middle,        # IN where the right side begins
        Py_ssize_t end,
        int32_t depth,
        const int32_t* features,
        Py_ssize_t n_varying,
    ) noexcept nogil:
        """Partition the sorted columns of a node in the same way as its examples.

        The children's keys go to the array that does not hold the node's own keys. They overwrite
        the keys of the node's parent, which are not needed any more.
        """
        cdef Py_ssize_t i, place, n = end - start, left, right, side
        cdef const uint32_t* keys
        cdef uint32_t* parted
        cdef uint8_t* goes_right = self.right
        cdef uint32_t key
        if n == 2:
            return  # both children are leaves
        # The examples are partitioned already; one byte each records the side for all columns.
        for i in range(start, end):
            goes_right[labels[i]] = i >= middle
        for place in range(n_varying):
            keys = self.keys_of(features[place], start, depth)
            parted = self.keys_of(features[place], start, depth + 1)
            left, right = 0, middle - start
            for i in range(n):
                # Masks instead of a branch, which the processor could not predict.
                key = keys[i]
                side = goes_right[key & 0xFFFF]
                parted[left ^ ((left ^ right) & -side)] = key
                left += 1 - side
                right += side


cdef inline void copy_codes(
    Codes codes, const int32_t* rows, Py_ssize_t n, uint8_t* target
) noexcept nogil:
    """Copy the codes of some rows to `target`, in the same width."""
    cdef Py_ssize_t i
    for i in range(n):
        if codes.width == 1:
            target[i] = <uint8_t> at(codes, rows[i])
        elif codes.width == 2:
            (<uint16_t*> target)[i] = <uint16_t> at(codes, rows[i])
        else:
            (<uint32_t*> target)[i] = <uint32_t> at(codes, rows[i])
