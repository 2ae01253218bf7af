from libc.stdint cimport int32_t

from ._squared cimport SquaredLoss
from .nodes cimport ForestNode
from .pool cimport Pool


cdef class SquaredCandidates(Pool):
    # Candidate 0 stands for the samples that no candidate of their tree holds; its gap counts as 0.
    cdef:
        SquaredLoss squared         # the loss
        int32_t[:, ::1] holder      # (n_samples, n_trees): the candidate that holds a sample
        int32_t[::1] node           # of each candidate
        double[:, ::1] sums         # (n_candidates, n_outputs)
        double[::1] inverse         # 1 / weight of the samples
        double[::1] bound           # of each block, on the root of its largest gap
        double[::1] stats, less
        double learning_rate, gap
        double anchor               # largest gap accepted since all was summed up afresh
        int32_t n_candidates, position

    cdef void search(self, int32_t first) noexcept nogil
    cdef void look_at(self, int32_t block) noexcept nogil
    cdef double gap_of(self, int32_t c) noexcept nogil
    cdef void fill(self, int32_t c, int32_t j) noexcept nogil
    cdef void measure(self, int32_t c) noexcept nogil
    cdef void hold(self, ForestNode* node, int32_t c) noexcept nogil
    cdef void step(self, ForestNode* node) noexcept nogil
    cdef void refresh(self) noexcept nogil
