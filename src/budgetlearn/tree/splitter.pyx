"""Search for the best threshold of one feature at one node.

Every distinct threshold of the node counts, yet few are looked at. For a monotone impurity F the
left side's F grows and the right side's falls as the threshold moves up, so that

    max(F(left), F(right)) >= max(F(left) at the start, F(right) at the end)

for all thresholds within a range of codes. A coarse histogram gives these bounds; only ranges whose
bound can still win are refined. Without that bound the codes are sorted, or counted one by one
where they are few.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ._random cimport below
from .code_histogram cimport MAX_BUCKETS, fill_histogram
from .impurity cimport Impurity, Side, shift, value
from .sorting cimport sort_keys
from .stumps cimport Sample, count_occupied, draw, n_stumps, scan_stumps

cdef enum:
    FEW = 16           # up to so many examples sorting beats a histogram


cdef void begin_node(Search* search, double impurity) noexcept nogil:
    """Forget the previous node's best split. `search.node` holds the node's counts."""
    search.impurity = impurity
    search.best.score = INFINITY
    search.best.slack = 0.0
    search.best.feature = -1
    search.best.n_tied = 0


cdef void copy_side(Side* target, const Side* source, Py_ssize_t n_classes) noexcept nogil:
    target.n, target.sum, target.cubes = source.n, source.sum, source.cubes
    memcpy(target.counts, source.counts, n_classes * sizeof(double))


cdef inline void clear_side(Side* side, Py_ssize_t n_classes) noexcept nogil:
    side.n = side.sum = side.cubes = 0.0
    memset(side.counts, 0, n_classes * sizeof(double))


cdef void begin_sides(Search* search) noexcept nogil:
    """Put all examples on the right, but those without a value that go left."""
    cdef Py_ssize_t K = search.n_classes, c
    clear_side(&search.left, K)
    copy_side(&search.right, &search.node, K)
    if search.missing == Missing.LEFT:
        for c in range(K):
            shift(&search.rule.impurity, &search.left, <int32_t> c, search.without.counts[c])
            shift(&search.rule.impurity, &search.right, <int32_t> c, -search.without.counts[c])


cdef double least_drop(const Search* search) noexcept nogil:
    """Return the drop at which the present feature's risk, price / drop, is that of the best."""
    if search.best.score < 0:
        # A free feature has scored: others that cost cannot win, free ones need its drop.
        return -search.best.score if search.price <= 0 else INFINITY
    if search.price <= 0 or search.best.score == INFINITY:
        return 0.0
    return search.price / search.best.score


cdef inline void update_limit(Search* search) noexcept nogil:
    """Find which worse side can still tie with the best: price / (F - worse) <= best score."""
    search.limit = search.impurity * (1 + 1e-12) - least_drop(search) * (1 - 1e-12)


cdef inline bint wins(
    Search* search, double score, int32_t cut, Py_ssize_t n_equal
) noexcept nogil:
    """Say whether a candidate, one of `n_equal`, replaces the best; settle ties by the rule."""
    cdef Best* best = &search.best
    if score < best.score - best.slack:
        return True
    if score > best.score + best.slack:
        return False
    if search.rule.ties == FIRST:
        return search.feature < best.feature or (
            search.feature == best.feature and cut < best.cut
        )
    if search.rule.ties == REUSE and search.rank != best.rank:
        return search.rank < best.rank
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
    if search.rule.bounded:
        update_limit(search)
    if search.rule.equal > 0:
        best.slack = search.rule.equal * unit
        if not search.rule.gain and search.price > 0:
            best.slack *= best.score / drop


cdef void offer_sides(
    Search* search, double left_value, double right_value, double left_share, int32_t cut
) noexcept nogil:
    """Offer a split, given F of its sides and the left one's share."""
    cdef double worse = max(left_value, right_value)
    if not search.rule.minimax:
        offer(search, left_share * left_value + (1.0 - left_share) * right_value, cut, 1)
    elif not search.rule.bounded or worse <= search.limit:
        offer(search, worse, cut, 1)


cdef uint64_t* sorted_keys(Search* search, const Column* column) noexcept nogil:
    """Return code << 32 | position of each example, by code."""
    cdef Py_ssize_t i, n = column.size
    cdef uint64_t* keys = search.keys
    for i in range(n):
        keys[i] = <uint64_t> (column.codes[i] - column.low) << 32 | <uint64_t> i
    return sort_keys(keys, search.spare_keys, n, column.high - column.low)


cdef void scan_keys(
    Search* search, const Column* column, const uint64_t* keys, Py_ssize_t n, Side* left,
    Side* right,
) noexcept nogil:
    """Offer every threshold between neighbouring codes, or a random sample of them."""
    cdef uint64_t before = keys[0] >> 32, code
    cdef Py_ssize_t i, position
    cdef Sample sample = Sample(search.n_sampled, 0)
    cdef double left_value
    if search.n_sampled:
        for i in range(1, n):
            sample.n_left += (keys[i] >> 32) != (keys[i - 1] >> 32)
    for i in range(n):
        code = keys[i] >> 32
        position = <Py_ssize_t> <uint32_t> keys[i]
        if code != before:
            if not search.n_sampled or draw(search, &sample):
                left_value = value(&search.rule.impurity, left)
                if search.rule.bounded and left_value > search.limit:
                    return  # the left side only grows
                offer_sides(
                    search, left_value, value(&search.rule.impurity, right),
                    left.n / search.node.n, <int32_t> (before + column.low),
                )
            before = code
        shift(&search.rule.impurity, left, column.labels[position], column.weights[position])
        shift(&search.rule.impurity, right, column.labels[position], -column.weights[position])


cdef inline bint can_win(const Search* search, Py_ssize_t bucket) noexcept nogil:
    """Say whether a threshold inside a bucket may win or tie, by what `scan_bounds` noted."""
    return max(search.bounds[2 * bucket], search.bounds[2 * bucket + 1]) <= search.limit


cdef Py_ssize_t scan_bounds(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Offer the thresholds between buckets; keep each bucket's bounds; return how many matter.

    Where thresholds are sampled a bucket is to be a code.
    """
    cdef Sample sample = Sample(search.n_sampled, 0)
    cdef Py_ssize_t bucket
    cdef double left_value = 0.0, right_value
    cdef int32_t cut
    if search.n_sampled:
        sample.n_left = count_occupied(search, n_buckets) - 1
    for bucket in range(n_buckets):
        # Invariant: `left`, with F = left_value, holds the buckets below, `right` the rest.
        if search.rule.bounded and left_value > search.limit:
            return bucket
        search.bounds[2 * bucket] = left_value
        if shift_bucket(search, bucket):
            left_value = value(&search.rule.impurity, &search.left)
            right_value = value(&search.rule.impurity, &search.right)
            if bucket < n_buckets - 1 and (not search.n_sampled or draw(search, &sample)):
                cut = column.low + <int32_t> ((bucket + 1) << bits) - 1
                offer_sides(
                    search, left_value, right_value, search.left.n / search.node.n, cut
                )
            search.bounds[2 * bucket + 1] = right_value
        else:
            search.bounds[2 * bucket + 1] = INFINITY  # nothing to refine
    return n_buckets


cdef Py_ssize_t take_candidates(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Copy the examples of the buckets that can win; return where the last of these ends."""
    cdef Column* inside = &search.inside
    cdef Py_ssize_t i, bucket, end = 0, n = 0
    cdef uint8_t candidate[MAX_BUCKETS]
    cdef uint32_t code, high = column.low
    for bucket in range(n_buckets):
        candidate[bucket] = can_win(search, bucket)
        if candidate[bucket]:
            end = bucket + 1
    memset(candidate + n_buckets, 0, MAX_BUCKETS - n_buckets)
    if end > 0:
        for i in range(column.size):
            # Each is written, and counted where it belongs: no branch to mispredict.
            code = column.codes[i]
            inside.codes[n] = code
            inside.labels[n] = column.labels[i]
            inside.weights[n] = column.weights[i]
            if candidate[(code - column.low) >> bits]:
                n += 1
                high = max(high, code)
    inside.size, inside.low, inside.high = n, column.low, high
    return end


cdef void refine(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Look inside the buckets whose bound lets them win or tie."""
    cdef Py_ssize_t bucket, start = 0, end, K = search.n_classes
    cdef Column* inside = &search.inside
    cdef uint64_t* keys
    cdef uint64_t beyond
    n_buckets = take_candidates(search, column, bits, n_buckets)
    if n_buckets == 0:
        return
    keys = sorted_keys(search, inside)
    begin_sides(search)
    for bucket in range(n_buckets):
        # Invariant: keys[:start] are those of the buckets below.
        beyond = <uint64_t> (bucket + 1) << (bits + 32)
        end = start
        while end < inside.size and keys[end] < beyond:
            end += 1
        if end > start and keys[start] >> 32 < keys[end - 1] >> 32 and can_win(search, bucket):
            copy_side(&search.left_inside, &search.left, K)
            copy_side(&search.right_inside, &search.right, K)
            scan_keys(
                search, inside, keys + start, end - start, &search.left_inside,
                &search.right_inside,
            )
        shift_bucket(search, bucket)
        start = end


cdef int coarseness(Search* search, const Column* column) noexcept nogil:
    """Return the bits of codes that share a bucket: about sqrt(size) buckets are best."""
    cdef int bits = 0
    cdef Py_ssize_t wanted = 8, spread = column.high - column.low
    while wanted < MAX_BUCKETS and wanted * wanted < 4 * column.size:
        wanted *= 2
    while spread >> bits >= wanted:
        bits += 1
    return bits


cdef inline void begin_feature(
    Search* search, Py_ssize_t feature, double price, double rank
) noexcept nogil:
    search.feature, search.price, search.rank = feature, price, rank
    search.n_sampled = 0
    begin_sides(search)
    if search.rule.bounded:
        update_limit(search)


cdef inline void begin_sample(Search* search, const Column* column) noexcept nogil:
    """Settle how many thresholds are sampled: 0, all, where there are no more than that."""
    cdef Py_ssize_t most = min(<Py_ssize_t> (column.high - column.low), column.size - 1)
    if search.rule.stumps and n_stumps(column.size) < most:
        search.n_sampled = n_stumps(column.size)


cdef void examine(
    Search* search, Column* column, Py_ssize_t feature, double price, double rank
) noexcept nogil:
    """Offer the thresholds of one feature, that is not constant, to the node's best split."""
    cdef Py_ssize_t spread = column.high - column.low, n_buckets
    cdef int bits = coarseness(search, column) if search.rule.bounded else 0
    begin_feature(search, feature, price, rank)
    begin_sample(search, column)
    n_buckets = (spread >> bits) + 1
    if (
        (column.size <= FEW and n_buckets > 2)
        or n_buckets * search.n_all_classes > 2 * column.size + 64
    ):
        scan_keys(
            search, column, sorted_keys(search, column), column.size, &search.left, &search.right
        )
        return
    fill_histogram(search, column, bits, n_buckets)
    if search.n_sampled and search.rule.bounded:
        scan_stumps(search, column, bits, n_buckets)
    else:
        n_buckets = scan_bounds(search, column, bits, n_buckets)
        if bits > 0:
            refine(search, column, bits, n_buckets)


cdef void examine_tally(
    Search* search, Column* column, Py_ssize_t feature, double price, double rank
) noexcept nogil:
    """Offer the thresholds of a feature whose histogram `tally` has filled, code by code."""
    cdef Py_ssize_t n_codes = column.high - column.low + 1
    begin_feature(search, feature, price, rank)
    begin_sample(search, column)
    search.histogram += column.low * search.n_classes
    if search.n_sampled and search.rule.bounded:
        scan_stumps(search, column, 0, n_codes)
    else:
        scan_bounds(search, column, 0, n_codes)
    search.histogram -= column.low * search.n_classes


cdef bint examine_ones(
    Search* search, const double* ones, Py_ssize_t feature, double price, double rank
) noexcept nogil:
    """Offer the threshold of a feature of zeros and ones, given the class counts of its ones.

    Says whether the feature varies. Counts are whole numbers.
    """
    cdef Impurity* impurity = &search.rule.impurity
    cdef Py_ssize_t c
    cdef double zeros, n_ones = 0.0, left_value, right_value
    for c in range(search.n_classes):
        n_ones += ones[c]
    if n_ones == 0 or n_ones == search.node.n:
        return False
    begin_feature(search, feature, price, rank)
    for c in range(search.n_classes):
        zeros = search.node.counts[c] - ones[c]
        if zeros != 0:
            shift(impurity, &search.left, <int32_t> c, zeros)
            shift(impurity, &search.right, <int32_t> c, -zeros)
    left_value, right_value = value(impurity, &search.left), value(impurity, &search.right)
    if not search.rule.bounded or left_value <= search.limit:
        offer_sides(search, left_value, right_value, search.left.n / search.node.n, 0)
    return True
