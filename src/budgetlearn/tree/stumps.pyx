"""A random sample of a feature's thresholds without sorting those that cannot win.

Each threshold takes one random number, in order, until the left side is too impure. The bounds of
a range of codes (see `splitter`) say whether any of its thresholds can win; if none can, only how
many there are matters.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ._random cimport skip, uniform
from .code_histogram cimport MAX_BUCKETS
from .impurity cimport shift, value
from .splitter cimport (
    Column, Search, Side, begin_sides, copy_side, offer_sides, shift_bucket, sorted_keys,
    stumps_to_draw,
)


# What is still to be drawn: so many of so many thresholds.
cdef struct Sample:
    Py_ssize_t n_wanted, n_left


cdef inline bint draw(Search* search, Sample* sample) noexcept nogil:
    """Say whether the next threshold is in the sample."""
    cdef bint drawn = uniform(&search.random) * sample.n_left < sample.n_wanted
    sample.n_wanted -= drawn
    sample.n_left -= 1
    return drawn


cdef Py_ssize_t count_codes(
    Search* search, const Column* column, int bits, Py_ssize_t* n_codes
) noexcept nogil:
    """Count the distinct codes of each bucket; return how many there are."""
    cdef uint64_t* present = search.present
    cdef uint64_t word, bit
    cdef uint32_t code
    cdef Py_ssize_t i, total = 0
    cdef bint fresh
    memset(present, 0, ((column.high - column.low) // 64 + 1) * sizeof(uint64_t))
    memset(n_codes, 0, MAX_BUCKETS * sizeof(Py_ssize_t))
    for i in range(column.size):
        code = column.codes[i] - column.low
        word, bit = present[code >> 6], <uint64_t> 1 << (code & 63)
        fresh = (word & bit) == 0
        present[code >> 6] = word | bit
        n_codes[code >> bits] += fresh
        total += fresh
    return total


cdef Py_ssize_t take_buckets(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets, uint8_t* taken,
    bint* hopeful
) noexcept nogil:
    """Copy the examples of the buckets in which a threshold can win, or the sample ends.

    Returns how many buckets there are up to that end, and whether a threshold can win at all.
    """
    cdef Column* inside = &search.inside
    cdef Py_ssize_t i, bucket, n = 0, end = n_buckets
    cdef double before, after = 0.0
    cdef bint wins, any_taken = False
    cdef uint32_t code, high = column.low
    memset(taken, 0, MAX_BUCKETS)
    for bucket in range(n_buckets):
        before = after
        if before > search.limit:
            end = bucket
            break
        if shift_bucket(search, bucket):
            after = value(&search.rule.impurity, &search.left)
            wins = value(&search.rule.impurity, &search.right) <= search.limit
            taken[bucket] = wins or after > search.limit
            hopeful[0] |= wins
            any_taken |= taken[bucket]
    for i in range(column.size if any_taken else 0):
        code = column.codes[i]
        inside.codes[n] = code
        inside.labels[n] = column.labels[i]
        inside.weights[n] = column.weights[i]
        if taken[(code - column.low) >> bits]:
            n += 1
            high = max(high, code)
    inside.size, inside.low, inside.high = n, column.low, high
    return end


cdef Py_ssize_t scan_bucket(
    Search* search, const uint64_t* keys, Py_ssize_t i, uint64_t start, uint64_t end,
    Sample* sample,
) noexcept nogil:
    """Offer the sampled thresholds before codes of [start, end); return where these end, -1: stop.

    `keys[i]` is the first of them. Requires the sides as they are below `start`.
    """
    cdef Side* left = &search.left_inside
    cdef Side* right = &search.right_inside
    cdef const Column* inside = &search.inside
    cdef uint64_t code, before = start - 1
    cdef Py_ssize_t position
    cdef double left_value
    copy_side(left, &search.left, search.n_classes)
    copy_side(right, &search.right, search.n_classes)
    while i < inside.size and keys[i] >> 32 < end:
        code = keys[i] >> 32
        if code != before and code > 0:  # no threshold is before the first code
            left_value = value(&search.rule.impurity, left)
            if left_value > search.limit:
                return -1
            if draw(search, sample):
                offer_sides(
                    search, left_value, value(&search.rule.impurity, right),
                    left.n / search.node.n, <int> (before + inside.low),
                )
        before = code
        position = <Py_ssize_t> <uint32_t> keys[i]
        shift(&search.rule.impurity, left, inside.labels[position], inside.weights[position])
        shift(&search.rule.impurity, right, inside.labels[position], -inside.weights[position])
        i += 1
    return i


cdef void scan_stumps(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Offer a random sample of the thresholds of a feature whose histogram is filled.

    Requires exact counts and a monotone impurity.
    """
    cdef uint8_t taken[MAX_BUCKETS]
    cdef Py_ssize_t n_codes[MAX_BUCKETS]
    cdef Py_ssize_t bucket, at = 0, _
    cdef Sample sample
    cdef bint hopeful = False
    cdef uint64_t* keys
    sample.n_wanted = stumps_to_draw(search, column)
    sample.n_left = count_codes(search, column, bits, n_codes) - 1
    n_buckets = take_buckets(search, column, bits, n_buckets, taken, &hopeful)
    if not hopeful:
        sample.n_wanted = 0
    keys = sorted_keys(search, &search.inside)
    begin_sides(search)
    for bucket in range(n_buckets):
        # Invariant: the sides hold the buckets below on the left; keys[:at] are theirs.
        if taken[bucket]:
            at = scan_bucket(
                search, keys, at, <uint64_t> bucket << bits, <uint64_t> (bucket + 1) << bits,
                &sample,
            )
            if at < 0:
                return
        elif sample.n_wanted == 0:
            skip(&search.random, n_codes[bucket] - (bucket == 0))
        else:
            for _ in range(n_codes[bucket] - (bucket == 0)):
                draw(search, &sample)
        shift_bucket(search, bucket)
