from libc.stdint cimport int32_t, uint32_t

from .partition cimport Examples
from .splitter cimport Column
from .table cimport Table


cdef class BundleCounts:
    # The class counts of a node in each code of its bundles, counted when they are asked for.
    cdef:
        Table table
        int32_t* counted              # (n_bundles,): the last node that each was counted for
        double* cells                 # (n_bundles, n_codes, n_classes)
        Py_ssize_t n_codes, n_classes

    # Return the class counts of the ones of a bundled feature among the examples of a node.
    cdef const double* ones(
        self, Py_ssize_t feature, int32_t node, const int32_t* rows, const Column* column,
        Py_ssize_t n_classes,
    ) noexcept nogil


cdef Py_ssize_t partition_by_member(
    Table table, Examples* examples, Py_ssize_t start, Py_ssize_t end, Py_ssize_t feature,
    uint32_t* scratch,
) noexcept nogil
