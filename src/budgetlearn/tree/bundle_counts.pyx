"""Kernel: columns of zeros and ones that are counted, and parted, as one column of their bundle.

A pass over the codes of a bundle counts the classes of all its members' ones; the zeros are the
rest of the node. Weights are whole numbers there, so that it is the same rest to the last bit.
"""

from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ._codes cimport Codes, code_t, gather
from .partition cimport Examples, partition
from .splitter cimport Column
from .table cimport Table


cdef class BundleCounts:
    """Class counts of the bundles of a table at one node after the other.

    Parameters
    ----------
    table : Table
        Coded table with its bundles.
    n_codes : int
        Most codes that a bundle has.
    n_classes : int
        Most classes that a node has.
    """

    def __cinit__(self, Table table, Py_ssize_t n_codes, Py_ssize_t n_classes):
        cdef Py_ssize_t i, n_cells = table.n_bundles * n_codes * n_classes
        self.table, self.n_codes, self.n_classes = table, n_codes, n_classes
        self.counted = <int32_t*> malloc(max(table.n_bundles, 1) * sizeof(int32_t))
        self.cells = <double*> malloc(max(n_cells, 1) * sizeof(double))
        if self.counted == NULL or self.cells == NULL:
            raise MemoryError(f"no memory left to count {n_cells} cells")
        for i in range(table.n_bundles):
            self.counted[i] = -1

    def __dealloc__(self):
        free(self.counted)
        free(self.cells)

    cdef const double* ones(
        self, Py_ssize_t feature, int32_t node, const int32_t* rows, const Column* column,
        Py_ssize_t n_classes,
    ) noexcept nogil:
        cdef Py_ssize_t bundle = self.table.bundle[feature]
        cdef double* cells = self.cells + bundle * self.n_codes * self.n_classes
        cdef Codes codes
        if self.counted[bundle] != node:
            self.counted[bundle] = node
            memset(cells, 0, self.n_codes * n_classes * sizeof(double))
            codes = self.table.codes_of_bundle(bundle)
            if codes.codes8 != NULL:
                count(cells, codes.codes8, rows, column, n_classes)
            elif codes.codes16 != NULL:
                count(cells, codes.codes16, rows, column, n_classes)
            else:
                count(cells, codes.codes32, rows, column, n_classes)
        return cells + self.table.member[feature] * n_classes


cdef inline void count(
    double* cells, const code_t* codes, const int32_t* rows, const Column* column,
    Py_ssize_t n_classes,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(column.size):
        cells[codes[rows[i]] * n_classes + column.labels[i]] += column.weights[i]


cdef Py_ssize_t partition_by_member(
    Table table, Examples* examples, Py_ssize_t start, Py_ssize_t end, Py_ssize_t feature,
    uint32_t* scratch,        # (end - start,)
) noexcept nogil:
    """Bring the examples with a zero to the front; return where those with a one begin."""
    cdef uint32_t low, high, member = table.member[feature]
    cdef Py_ssize_t i
    gather(
        table.codes_of_bundle(table.bundle[feature]), examples.rows + start, end - start, scratch,
        &low, &high,
    )
    for i in range(end - start):
        scratch[i] = scratch[i] == member
    return partition(
        examples, start, end, scratch, <uint32_t> 0, True, True, <uint32_t*> NULL,
        <uint32_t*> NULL,
    )
