"""The coded table as a tree sees it.

A node's examples are strewn over the table: each of their codes is in another line of the cache,
and deep in a tree fetching them takes more time than anything else. So a node that is small enough
gets a copy of its part of the table, and all nodes below it read that.

Where all features are tried at every node, sorting each anew would cost more than all else. So the
first node that is small enough sorts the columns of its examples, and each split below parts every
sorted column in two, stably: what is in order stays in order. That is one pass over keys
that the processor reads ahead, however deep the tree.
"""

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from .codes cimport Codes, add_up, at, gather
from .nodes cimport Blocks
from .partition cimport Examples
from .search cimport Column, Search, sorted_keys

cdef enum:
    # A copy of fewer examples, or of more than this part of the table, gains nothing.
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
        const int32_t[::1] missing    # (n_features,): code of missing values, -1: there are none
        Py_ssize_t n_features, n_rows
        const uint8_t[:, ::1] bytes_of_bundles
        const int32_t[::1] bundle     # (n_features,): -1 is none
        const int32_t[::1] member     # (n_features,): code of the bundle that stands for a one
        Py_ssize_t n_bundles
        Py_ssize_t n_members, n_cells  # most codes of a bundle; cells that a bundle has room for
        int32_t* counted              # (n_bundles,): the last node that each was counted for
        double* cells                 # (n_bundles, n_cells): weights of (code, class)
        uint8_t* copy                 # (n_features + n_bundles, most): of a node's examples
        Py_ssize_t most               # examples that it has room for
        Py_ssize_t start, end         # the node's examples; none: no feature is copied
        # Of the node whose columns are sorted, with all nodes below it: there is room for so many
        # examples, and they are [sorted_start, sorted_end).
        Py_ssize_t most_sorted, sorted_start, sorted_end
        # rank << 16 | label, ascending: of nodes of even depth, and of odd depth
        uint32_t* keys[2]             # (n_features, most_sorted) each
        uint8_t* right                # (most_sorted,): whether the example of a label goes right
        int32_t* rows                 # (most_sorted,): row of the table of each label
        double* targets               # (most_sorted,): target of each label

    cdef inline Py_ssize_t n_codes(self, Py_ssize_t feature) noexcept nogil:
        cdef Py_ssize_t stored = self.columns[feature]
        return self.offsets[stored + 1] - self.offsets[stored]

    cdef inline Py_ssize_t most_codes(self, Py_ssize_t limit) noexcept nogil:
        """Return the most codes of a feature that has no more than `limit`."""
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
        """Return where the copied codes of a feature or a bundle lie."""
        return self.copy + item * self.most * self.width

    cdef inline Codes codes_of(self, Py_ssize_t item) noexcept nogil:
        """Return the codes of a feature or a bundle; rows of a copied node are those of the copy.

        Features of bundles are not copied: they are asked for by the bundle.
        """
        if self.start < self.end:
            return Codes(self.copy_of(item), self.width)
        return self.stored(item)

    cdef inline void leave(self) noexcept nogil:
        """Read the whole table, for another tree."""
        cdef Py_ssize_t i
        self.start = self.end = self.sorted_start = self.sorted_end = 0
        # No node has number -1: at first no bundle is counted.
        for i in range(self.n_bundles):
            self.counted[i] = -1

    cdef inline void enter(
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
                copy_codes(self.stored(features[i]), rows + start, n, self.copy_of(features[i]))
        for i in range(self.n_features, self.n_features + self.n_bundles):
            copy_codes(self.stored(i), rows + start, n, self.copy_of(i))
        # Whoever reads codes by row from here on reads the copy; the rows are not asked for again.
        for i in range(start, end):
            rows[i] = <int32_t> (i - start)
        self.start, self.end = start, end

    cdef inline const double* ones(
        self,
        Py_ssize_t feature,           # IN in a bundle
        int32_t node,
        const int32_t* rows,          # IN of the node's examples, as their labels and weights
        const Column* column,
        Py_ssize_t n_classes,
    ) noexcept nogil:
        """Return how many ones a bundled feature has in each class, among the examples of a node.

        One pass over the codes of the bundle counts the ones of all its members: the first that a
        node asks for pays. Zeros are the rest of the node, exactly, as weights are whole numbers.
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
        """Say whether the columns of a node's examples are kept in order."""
        return self.sorted_start <= start and end <= self.sorted_end

    cdef inline int32_t code(self, Codes codes, uint32_t key) noexcept nogil:
        """Return the code of the example of a key."""
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
        const double* targets,    # IN by the labels as they come
        Search* search,           # its keys are scratch, as are the codes of `column`
        Column* column,
    ) noexcept nogil:
        """Sort the columns of the examples [start, end). Requires at most `most_sorted`."""
        cdef Py_ssize_t i, place, n = end - start
        cdef uint32_t rank
        cdef uint32_t* keys
        cdef uint64_t* ordered
        self.sorted_start, self.sorted_end, column.size = start, end, n
        # Labels name places of small arrays from here on: what the scans look up stays near.
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
            # Ranks leave no gaps, so that 16 bits hold them whatever the codes are.
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
        """Part the columns of a node, as its examples have been parted.

        The children's keys go to the array that the node's own are not in. What they overwrite
        there was their grandparent's, whose children have been read.
        """
        cdef Py_ssize_t i, place, n = end - start, left, right, side
        cdef const uint32_t* keys
        cdef uint32_t* parted
        cdef uint8_t* goes_right = self.right
        cdef uint32_t key
        if n == 2:
            return  # both children are leaves
        # The examples are parted already: a byte for each tells every column where it went.
        for i in range(start, end):
            goes_right[labels[i]] = i >= middle
        for place in range(n_varying):
            keys = self.keys_of(features[place], start, depth)
            parted = self.keys_of(features[place], start, depth + 1)
            left, right = 0, middle - start
            for i in range(n):
                # By masks: processors cannot foresee a branch to either side.
                key = keys[i]
                side = goes_right[key & 0xFFFF]
                parted[left ^ ((left ^ right) & -side)] = key
                left += 1 - side
                right += side


cdef inline void copy_codes(
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
