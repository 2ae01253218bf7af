"""A random sample of a feature's thresholds, of which only those that can win are drawn.

A sample of m of M thresholds, all samples being equally likely, can be drawn one threshold after
the other, in any order, and for as many of them as matter: the next one is in the sample with the
chance of what is still wanted in what is left. F of the left side only grows with the threshold, F
of the right side only falls, so the thresholds that may win or tie are those of a range of codes;
the others take no random number.

Where a histogram is coarse, its buckets are drawn before anything is sorted: first how many sampled
thresholds each has. One that has any bounds what the feature reaches, so that hardly a bucket is
left in which to look for them.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from .code_histogram cimport MAX_BUCKETS
from .impurity cimport shift, value
from .sorting cimport sort_keys
from .splitter cimport Column, Search, Side, copy_side, offer, offer_sides, shift_bucket


# The buckets in which a threshold may win or tie, and F of both sides at their borders.
cdef struct Range:
    Py_ssize_t first, size
    double* lefts              # (size + 1,): F of the buckets below each border
    double* rights


cdef Py_ssize_t count_occupied(const Search* search, Py_ssize_t n_codes) noexcept nogil:
    """Return how many codes of a histogram have examples."""
    cdef Py_ssize_t i, n_occupied = 0
    for i in range(n_codes):
        n_occupied += is_occupied(search, i)
    return n_occupied


cdef inline bint is_occupied(const Search* search, Py_ssize_t code) noexcept nogil:
    cdef Py_ssize_t c, K = search.n_classes
    for c in range(K):
        if search.histogram[code * K + c] != 0:
            return True
    return False


cdef inline void shift_right_side(
    Search* search, Py_ssize_t bucket, double sign
) noexcept nogil:
    """Add the examples of a bucket to the right side, or, with the sign -1, take them away."""
    cdef Py_ssize_t K = search.n_classes, c
    cdef double* counts = search.histogram + bucket * K
    for c in range(K):
        if counts[c] != 0:
            shift(&search.rule.impurity, &search.right, <int32_t> c, sign * counts[c])


cdef Range find_range(Search* search, Py_ssize_t n_buckets) noexcept nogil:
    """Find the buckets in which a threshold may win; both sides become what they are below them.

    The sides are to be those below the first bucket of all.
    """
    cdef Range found = Range(0, 0, search.bounds, search.bounds + n_buckets + 1)
    cdef Side* left = &search.left
    cdef Side* right = &search.right
    cdef Py_ssize_t c, bucket = 0
    if search.limit < 0:
        return found
    while bucket < n_buckets:
        shift_right_side(search, bucket, -1.0)
        if value(&search.rule.impurity, right) <= search.limit:
            break
        bucket += 1
    if bucket == n_buckets:
        return found
    shift_right_side(search, bucket, 1.0)
    for c in range(search.n_classes):
        shift(
            &search.rule.impurity, left, <int32_t> c,
            search.node.counts[c] - right.counts[c] - left.counts[c],
        )
    found.first = bucket
    found.lefts[0], found.rights[0] = (
        value(&search.rule.impurity, left), value(&search.rule.impurity, right)
    )
    copy_side(&search.left_inside, left, search.n_classes)
    copy_side(&search.right_inside, right, search.n_classes)
    while bucket < n_buckets and found.lefts[found.size] <= search.limit:
        shift_bucket(search, bucket)
        found.size += 1
        found.lefts[found.size] = value(&search.rule.impurity, left)
        found.rights[found.size] = value(&search.rule.impurity, right)
        bucket += 1
    copy_side(left, &search.left_inside, search.n_classes)
    copy_side(right, &search.right_inside, search.n_classes)
    return found


cdef void offer_codes(
    Search* search, const Column* column, const Range* found, Py_ssize_t n_codes
) noexcept nogil:
    """Offer a sample of the thresholds in a range of codes."""
    cdef Sample sample = Sample(search.n_sampled, count_occupied(search, n_codes) - 1)
    cdef Py_ssize_t i, code
    cdef double worse
    for i in range(found.size):
        code = found.first + i
        worse = max(found.lefts[i + 1], found.rights[i + 1])
        if (
            worse <= search.limit and code < n_codes - 1 and is_occupied(search, code)
            and draw(search, &sample)
        ):
            offer(search, worse, <int32_t> (column.low + code), 1)


cdef inline bint mark(uint64_t* present, uint32_t code) noexcept nogil:
    """Set the bit of a code; say whether it was not set before."""
    cdef uint64_t word = present[code >> 6], bit = <uint64_t> 1 << (code & 63)
    present[code >> 6] = word | bit
    return (word & bit) == 0


cdef Py_ssize_t count_codes(Search* search, const Column* column) noexcept nogil:
    """Return how many distinct codes a column has. `present` is zero, and is left so."""
    cdef uint64_t* present = search.present
    cdef Py_ssize_t i, total = 0, n_words = (column.high - column.low) // 64 + 1
    if search.distinct:
        return column.size
    for i in range(column.size):
        total += mark(present, column.codes[i] - column.low)
    if n_words <= column.size:
        memset(present, 0, n_words * sizeof(uint64_t))
    else:
        for i in range(column.size):
            present[(column.codes[i] - column.low) >> 6] = 0
    return total


cdef Py_ssize_t take_keys(
    Search* search, const Column* column, int bits, const Range* found, Sample* samples
) noexcept nogil:
    """Make keys of the examples in a range of buckets; return how many there are.

    A key is (code, less the first one of the range) << 32 | position. Each bucket's sample learns
    how many codes the bucket has.
    """
    cdef uint32_t code, base = column.low + (<uint32_t> found.first << bits)
    cdef uint32_t size = <uint32_t> found.size << bits
    cdef Py_ssize_t i, n = 0
    for i in range(column.size):
        # Each is written, and counted where it belongs: no branch to mispredict.
        code = column.codes[i] - base  # a large number where it is below the base
        search.keys[n] = <uint64_t> code << 32 | <uint64_t> i
        n += code < size
    memset(samples, 0, found.size * sizeof(Sample))
    for i in range(n):
        code = <uint32_t> (search.keys[i] >> 32)
        samples[code >> bits].n_left += mark(search.present, code)
    for i in range(n):
        search.present[search.keys[i] >> 38] = 0
    return n


cdef void draw_buckets(
    Search* search, const Column* column, const Range* found, Py_ssize_t n_buckets,
    Sample* samples,
) noexcept nogil:
    """Draw how many of a sample's thresholds each bucket of a range has."""
    cdef Sample sample = Sample(search.n_sampled, count_codes(search, column) - 1)
    cdef Py_ssize_t i, _
    if found.first + found.size == n_buckets:
        samples[found.size - 1].n_left -= 1  # no threshold is after the last code
    for i in range(found.size):
        for _ in range(samples[i].n_left):
            samples[i].n_wanted += draw(search, &sample)
        if samples[i].n_wanted and search.rule.exact:
            search.limit = min(
                search.limit,
                max(found.lefts[i + 1], found.rights[i]) + 1e-12 * search.impurity,
            )


cdef Py_ssize_t keep_keys(
    Search* search, int bits, const Range* found, Sample* samples, Py_ssize_t n
) noexcept nogil:
    """Keep the keys of buckets of which a sampled threshold can win; return how many these are.

    The other buckets want no threshold any more.
    """
    cdef Py_ssize_t i, n_kept = 0
    for i in range(found.size):
        if max(found.lefts[i], found.rights[i + 1]) > search.limit:
            samples[i].n_wanted = 0
    for i in range(n):
        search.keys[n_kept] = search.keys[i]
        n_kept += samples[search.keys[i] >> (32 + bits)].n_wanted > 0
    return n_kept


cdef bint scan_bucket(
    Search* search, const Column* column, const uint64_t* keys, Py_ssize_t n, uint32_t base,
    Sample* sample,
) noexcept nogil:
    """Offer a sample of a bucket's thresholds; say whether any above it may win.

    The examples of the bucket are moved from right to left.
    """
    cdef uint64_t code
    cdef Py_ssize_t i = 0, position
    cdef double left_value
    while i < n:
        code = keys[i] >> 32
        while i < n and keys[i] >> 32 == code:
            position = <Py_ssize_t> <uint32_t> keys[i]
            shift(
                &search.rule.impurity, &search.left, column.labels[position],
                column.weights[position],
            )
            shift(
                &search.rule.impurity, &search.right, column.labels[position],
                -column.weights[position],
            )
            i += 1
        if sample.n_wanted > 0 and draw(search, sample):
            left_value = value(&search.rule.impurity, &search.left)
            if left_value > search.limit:
                return False
            offer_sides(
                search, left_value, value(&search.rule.impurity, &search.right),
                search.left.n / search.node.n, <int32_t> (code + base),
            )
    return True


cdef void scan_stumps(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Offer a random sample of the thresholds of a feature whose histogram is filled.

    Requires a monotone impurity.
    """
    cdef Sample samples[MAX_BUCKETS]
    cdef Range found = find_range(search, n_buckets)
    cdef Py_ssize_t i, n, start = 0, beyond
    cdef uint32_t base = column.low + (<uint32_t> found.first << bits)
    cdef uint64_t* keys
    if found.size == 0:
        return
    if bits == 0:
        offer_codes(search, column, &found, n_buckets)
        return
    n = take_keys(search, column, bits, &found, samples)
    draw_buckets(search, column, &found, n_buckets, samples)
    n = keep_keys(search, bits, &found, samples, n)
    if n == 0:
        return
    keys = sort_keys(search.keys, search.spare_keys, n, (<uint32_t> found.size << bits) - 1)
    for i in range(found.size):
        # Invariant: the sides hold the buckets below on the left; keys[:start] are theirs.
        if samples[i].n_wanted == 0:
            shift_bucket(search, found.first + i)
            continue
        beyond = start
        while beyond < n and keys[beyond] >> (32 + bits) == <uint64_t> i:
            beyond += 1
        if not scan_bucket(search, column, keys + start, beyond - start, base, &samples[i]):
            return
        start = beyond
