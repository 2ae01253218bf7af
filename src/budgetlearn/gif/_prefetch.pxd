"""Ask for memory before it is needed; does nothing where the compiler cannot."""

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
        #define fetch_ahead(address) __builtin_prefetch(address)
    #else
        #define fetch_ahead(address) ((void) (address))
    #endif
    """
    void fetch_ahead(const void* address) noexcept nogil
