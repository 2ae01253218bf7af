from libc.stdint cimport int32_t

from ._node cimport GrownNode


# A node whose examples are [start, end) and whose first n_varying features may vary.
cdef struct Task:
    Py_ssize_t start
    Py_ssize_t end
    int32_t node
    int32_t n_varying


cdef class Builder:
    cdef:
        GrownNode* nodes
        double* counts                # (capacity, n_classes), or the means of numbers
        double* lanes                 # (LANES, n_classes): scratch
        Py_ssize_t n_nodes, capacity, n_classes
        Task* tasks
        Py_ssize_t n_tasks, task_capacity
        bint out_of_memory            # once set, what was asked for was not done

    cdef int32_t append(self, int32_t parent, Py_ssize_t size) noexcept nogil
    cdef int32_t add_node(
        self, int32_t parent, const int32_t* labels, const double* weights, Py_ssize_t size
    ) noexcept nogil
    cdef void push(
        self, Py_ssize_t start, Py_ssize_t end, int32_t node, int32_t n_varying
    ) noexcept nogil
    cdef Task pop(self) noexcept nogil
