from libc.stdint cimport int32_t, uint8_t, uint16_t

cdef enum:
    MISSING = 65534  # the code of no value; 0, below all codes, where it counts as the least


cdef class CodedColumns:
    # Features in codes of 16 bits, and what tells apart the values of one code.
    cdef:
        readonly tuple shape
        readonly object gaps        # of each feature: whether some sample has no value
        object given                # the features as they came, kept alive for `cells`
        const char* cells
        Py_ssize_t row, column      # bytes from cell to cell
        bint single                 # whether cells are float32
        uint16_t[::1, :] codes
        double[:, ::1] least, largest  # of the values of each code, by feature and code / 2
        double[::1] scale, offset

    cdef void encode(self, uint8_t[::1] gaps)
    cdef int32_t place(self, Py_ssize_t feature, double value) noexcept nogil
    cdef double extreme(
        self, int32_t feature, const int32_t* order, int32_t n, const uint16_t* codes,
        uint16_t code, double sign,
    ) noexcept nogil
    cdef double cell(self, Py_ssize_t i, Py_ssize_t feature) noexcept nogil
    # Gather the codes of samples, and find their least and largest value; count those without.
    cdef int32_t look_up(
        self, int32_t feature, const int32_t* order, int32_t n, uint16_t* codes, double* low,
        double* high,
    ) noexcept nogil
    # Return the largest of the gathered codes that goes left at a threshold; codes that it cuts
    # become odd where they go left.
    cdef uint16_t cut(
        self, int32_t feature, double threshold, const int32_t* order, int32_t n, uint16_t* codes
    ) noexcept nogil
    # Of the samples from `start` on unmark those that go to the other side of a split.
    cdef void narrow(
        self, int32_t feature, double threshold, bint missing_left, bint left, int32_t start,
        int32_t n, uint8_t* marked,
    ) noexcept nogil
