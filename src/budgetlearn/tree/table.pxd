"""The coded table as a tree sees it, and near copies of the parts that a small node needs."""

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from .codes cimport Codes, at
from .nodes cimport Blocks
from .partition cimport Examples
from .search cimport Column


@cython.final
cdef class Table:
    cdef:
        const uint8_t[:, ::1] bytes_of_codes  # owns what `codes` points to
        const uint8_t* codes          # (n_columns, n_rows), of `width` bytes each
        Py_ssize_t width, stride      # bytes of a code, and of a column
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
        Blocks blocks                 # own all that pointers point to
        uint8_t* copy                 # (n_features + n_bundles, most): of a node's examples
        Py_ssize_t most               # examples that it has room for
        Py_ssize_t start, end         # the node's examples; none: no feature is copied

    cdef void enter(
        self, int32_t* rows, Py_ssize_t start, Py_ssize_t end, const int32_t* features,
        Py_ssize_t n_varying,
    ) noexcept nogil

    cdef const double* ones(
        self, Py_ssize_t feature, int32_t node, const int32_t* rows, const Column* column,
        Py_ssize_t n_classes,
    ) noexcept nogil

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

    cdef inline Codes stored(self, Py_ssize_t feature) noexcept nogil:
        """Return the codes of a feature in the whole table."""
        return Codes(self.codes + self.columns[feature] * self.stride, self.width)

    cdef inline Codes codes_of(self, Py_ssize_t feature) noexcept nogil:
        """Return the codes of a feature; rows of a copied node are indices of the copy.

        Requires that the feature is not in a bundle.
        """
        if self.start < self.end:
            return Codes(self.copy + feature * self.most * self.width, self.width)
        return self.stored(feature)

    cdef inline Codes stored_bundle(self, Py_ssize_t bundle) noexcept nogil:
        """Return the codes of a bundle in the whole table."""
        return Codes(&self.bytes_of_bundles[bundle, 0], self.width)

    cdef inline Codes codes_of_bundle(self, Py_ssize_t bundle) noexcept nogil:
        """Return the codes of a bundle as `codes_of` does."""
        if self.start < self.end:
            bundle += self.n_features
            return Codes(self.copy + bundle * self.most * self.width, self.width)
        return self.stored_bundle(bundle)


@cython.final
cdef class Orders:
    cdef:
        Py_ssize_t most               # examples that there is room for; 0: no node is sorted
        Py_ssize_t start, end         # the sorted node's examples
        # rank << 16 | label, ascending: of nodes of even depth, and of odd depth
        uint32_t* keys[2]             # (n_features, most) each
        uint8_t* right                # (most,): whether the example of a label goes right
        int32_t* rows                 # (most,): row of the table of each label
        double* targets               # (most,): target of each label
        Blocks blocks                 # own all that pointers point to

    cdef void enter(
        self, Table table, Examples* examples, Py_ssize_t start, Py_ssize_t end, int32_t depth,
        const int32_t* features, Py_ssize_t n_varying, const double* targets, uint64_t* scratch,
        uint64_t* spare_scratch, uint32_t* codes,
    ) noexcept nogil
    cdef void part(
        self, const int32_t* labels, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t end,
        int32_t depth, const int32_t* features, Py_ssize_t n_varying,
    ) noexcept nogil

    cdef inline int32_t code(self, Codes codes, uint32_t key) noexcept nogil:
        """Return the code of the example of a key."""
        return at(codes, self.rows[key & 0xFFFF])

    cdef inline bint hold(self, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
        """Say whether a node's examples are among the sorted ones."""
        return self.start <= start and end <= self.end

    cdef inline uint32_t* of(
        self, Py_ssize_t feature, Py_ssize_t start, int32_t depth
    ) noexcept nogil:
        """Return the keys of one feature at the node of some depth that begins at `start`."""
        return self.keys[depth & 1] + feature * self.most + (start - self.start)
