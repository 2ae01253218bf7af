cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from .codes cimport Codes, at
from .partition cimport Examples
from .search cimport Blocks
from .table cimport Table


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
