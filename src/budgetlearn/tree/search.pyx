"""A search for a node's best split: its scratch memory, comparisons, and examples in order."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from .random cimport below

cdef enum:
    FEW = 32           # up to so many keys an insertion sort is faster
    DIGIT_BITS = 8     # of a pass of the radix sort


cdef class Blocks:
    """Blocks of memory that live as long as it does."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            free(self.blocks[i])

    # Blocks are freed together, with the tree's scratch: none is freed alone.
    cdef void* get(self, Py_ssize_t size, bint zero=False) except NULL:
        """Return a block of so many bytes."""
        cdef void* memory = calloc(max(size, 1), 1) if zero else malloc(max(size, 1))
        if memory == NULL:
            raise MemoryError(f"no {size} bytes left to grow a tree")
        self.blocks[self.n_blocks] = memory
        self.n_blocks += 1
        return memory


cdef object allocate(
    Blocks blocks, Search* search, Py_ssize_t n, Py_ssize_t K, Py_ssize_t n_codes
):
    """Give a search its scratch, for n examples of K classes and features of `n_codes` codes."""
    search.inside.codes = <uint32_t*> blocks.get(n * sizeof(uint32_t))
    search.inside.labels = <int32_t*> blocks.get(n * sizeof(int32_t))
    search.inside.weights = <double*> blocks.get(n * sizeof(double))
    search.keys = <uint64_t*> blocks.get(n * sizeof(uint64_t))
    search.spare_keys = <uint64_t*> blocks.get(n * sizeof(uint64_t))
    # Zero between uses: whoever sets bits clears them.
    search.present = <uint64_t*> blocks.get((n_codes // 64 + 1) * sizeof(uint64_t), True)
    search.histogram = <double*> blocks.get(max(2 * n + 64, 256 * K) * sizeof(double))
    search.bounds = <double*> blocks.get(2 * max(n + 65, 257) * sizeof(double))
    search.node.counts = <double*> blocks.get(K * sizeof(double))
    search.left.counts = <double*> blocks.get(K * sizeof(double))
    search.right.counts = <double*> blocks.get(K * sizeof(double))
    search.left_inside.counts = <double*> blocks.get(K * sizeof(double))
    search.right_inside.counts = <double*> blocks.get(K * sizeof(double))
    search.without.counts = <double*> blocks.get(K * sizeof(double))


cdef void begin_node(Search* search, double impurity) noexcept nogil:
    """Forget the previous node's best split. `search.node` holds the node's counts."""
    search.impurity = impurity
    search.best.score = INFINITY
    search.best.slack = 0.0
    search.best.feature = -1
    search.best.n_tied = 0


cdef double least_drop(const Search* search) noexcept nogil:
    """Return the drop at which the present feature's risk, price / drop, is that of the best."""
    if search.best.score < 0:
        # A free feature has scored: others that cost cannot win, free ones need its drop.
        return -search.best.score if search.price <= 0 else INFINITY
    if search.price <= 0 or search.best.score == INFINITY:
        return 0.0
    return search.price / search.best.score


cdef void update_limit(Search* search) noexcept nogil:
    """Find which worse side can still tie with the best: price / (F - worse) <= best score."""
    search.limit = search.impurity * (1 + 1e-12) - least_drop(search) * (1 - 1e-12)


cdef inline bint wins(
    Search* search, double score, int32_t cut, Py_ssize_t n_equal
) noexcept nogil:
    """Say whether a candidate, one of `n_equal`, replaces the best; settle ties by the rule."""
    cdef Best* best = &search.best
    # Scores within the slack are the same split but for rounding: the rule decides, not the bits.
    if score < best.score - best.slack:
        return True
    if score > best.score + best.slack:
        return False
    if search.rule.ties == Ties.FIRST:
        return search.feature < best.feature or (
            search.feature == best.feature and cut < best.cut
        )
    if search.rule.ties == Ties.REUSE and search.rank != best.rank:
        return search.rank < best.rank
    # The k-th of equals replaces the others with a chance of 1 in k: each wins equally often.
    best.n_tied += n_equal
    return below(&search.random, best.n_tied) < n_equal


cdef inline double score_of(Search* search, double drop) noexcept nogil:
    """Score a split by its drop in impurity; lower is better, infinite is no split."""
    if search.rule.gain:
        return search.price - drop if drop - search.price > search.rule.least_gain else INFINITY
    if drop <= search.rule.tolerance * search.impurity:
        return INFINITY
    # Risk c / drop; where it is 0, the larger drop wins (and beats every risk).
    return search.price / drop if search.price > 0 else -drop


cdef void offer(Search* search, double after, int32_t cut, Py_ssize_t n_equal) noexcept nogil:
    """Take one of `n_equal` splits as the node's best if it is, given F `after` it."""
    offer_drop(search, search.impurity - after, search.impurity, cut, n_equal)


cdef void offer_drop(
    Search* search,
    double drop,
    double unit,              # IN drops that differ by less than `equal` of it are equal
    int32_t cut,
    Py_ssize_t n_equal,
) noexcept nogil:
    """Take one of `n_equal` splits as the node's best if it is, given what it lowers F by."""
    cdef double score = score_of(search, drop)
    cdef Best* best = &search.best
    if score == INFINITY or not wins(search, score, cut, n_equal):
        return
    if score < best.score - best.slack or search.rank < best.rank:
        best.n_tied = n_equal
    best.score = min(best.score, score)
    best.feature, best.cut, best.rank = search.feature, cut, search.rank
    best.missing = search.missing
    # A better split rules out more thresholds, of this feature and of those to come.
    if search.rule.bounded:
        update_limit(search)
    if search.rule.equal > 0:
        best.slack = search.rule.equal * unit
        if not search.rule.gain and search.price > 0:
            best.slack *= best.score / drop


cdef void insertion_sort(uint64_t* keys, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint64_t key
    for i in range(1, n):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


cdef void radix_pass(
    const uint64_t* keys, uint64_t* target, Py_ssize_t n, int position, int bits
) noexcept nogil:
    """Sort stably by `bits` <= DIGIT_BITS bits of the keys from bit `position` up."""
    cdef Py_ssize_t starts[1 << DIGIT_BITS]
    cdef Py_ssize_t i, size, total = 0, n_digits = <Py_ssize_t> 1 << bits
    cdef uint64_t digit, mask = (<uint64_t> 1 << bits) - 1
    memset(starts, 0, n_digits * sizeof(Py_ssize_t))
    for i in range(n):
        starts[(keys[i] >> position) & mask] += 1
    # From counts to the places where each digit's keys begin.
    for i in range(n_digits):
        size = starts[i]
        starts[i] = total
        total += size
    for i in range(n):
        digit = (keys[i] >> position) & mask
        target[starts[digit]] = keys[i]
        starts[digit] += 1


cdef uint64_t* sort_keys(
    uint64_t* keys,            # INOUT code << 32 | position; scratch afterwards
    uint64_t* spare,           # OUT as many
    Py_ssize_t n,
    uint32_t largest,          # IN no code exceeds it
) noexcept nogil:
    """Sort stably by code; return where the sorted keys are: `keys` or `spare`."""
    cdef int bits = 1, sorted_bits = 0, n_passes, digit_bits
    if n <= FEW:
        insertion_sort(keys, n)
        return keys
    # As few passes as the bits in use allow, of about equal width.
    while largest >> bits:
        bits += 1
    n_passes = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    while n_passes:
        digit_bits = (bits - sorted_bits) // n_passes
        radix_pass(keys, spare, n, 32 + sorted_bits, digit_bits)
        keys, spare = spare, keys
        sorted_bits += digit_bits
        n_passes -= 1
    return keys


cdef uint64_t* sorted_keys(Search* search, const Column* column) noexcept nogil:
    """Return code << 32 | position of each example, by code."""
    cdef Py_ssize_t i, n = column.size
    cdef uint64_t* keys = search.keys
    for i in range(n):
        keys[i] = <uint64_t> (column.codes[i] - column.low) << 32 | <uint64_t> i
    return sort_keys(keys, search.spare_keys, n, column.high - column.low)
