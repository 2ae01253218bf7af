"""Search for the best threshold of one feature at one node, for impurities of class counts.

The search covers all distinct thresholds of the node, but evaluates only a few. For a monotone
impurity F, moving the threshold up makes F of the left side grow and F of the right side fall, so

    max(F(left), F(right)) >= max(F(left) at the start, F(right) at the end)

for all thresholds within a range of codes. A coarse histogram gives these bounds, and only ranges
whose bound can still win are refined. Otherwise codes are sorted, or counted if there are few.

If thresholds are sampled at random, only those that can win are drawn. All samples of m out of M
thresholds are equally likely if each threshold is taken with probability (still wanted) / (left),
in any order, and drawing may end early. So the buckets that can win are drawn before anything is
sorted: first the number of sampled thresholds in each, then, if there are any, their places.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from .class_histogram cimport allows
from .codes cimport Codes, add_up
from .impurity cimport Impurity, Kind, Side, mean_value, quality, shift, value
from .partition cimport Examples
from .random cimport skip_bits
from .search cimport (
    Column, Missing, Sample, Search, draw, n_stumps, offer, sorted_keys, update_limit,
)

cdef enum:
    FEW = 16           # up to this number of examples, sorting beats a histogram
    MAX_BUCKETS = 256
    LANES = 4          # copies of a small histogram: additions need not wait for each other
    MANY = 64          # least number of examples for such copies


cdef inline void copy_side(Side* target, const Side* source, Py_ssize_t n_classes) noexcept nogil:
    target.n, target.sum, target.cubes = source.n, source.sum, source.cubes
    memcpy(target.counts, source.counts, n_classes * sizeof(double))


cdef inline void clear_side(Side* side, Py_ssize_t n_classes) noexcept nogil:
    side.n = side.sum = side.cubes = 0.0
    memset(side.counts, 0, n_classes * sizeof(double))


cdef inline void begin_sides(Search* search) noexcept nogil:
    """Put all examples on the right, except those without a value that go left."""
    cdef Py_ssize_t K = search.n_classes, c
    clear_side(&search.left, K)
    copy_side(&search.right, &search.node, K)
    # In the second search of a feature these stay on the left of every threshold.
    if search.missing == Missing.LEFT:
        for c in range(K):
            shift(&search.rule.impurity, &search.left, <int32_t> c, search.without.counts[c])
            shift(&search.rule.impurity, &search.right, <int32_t> c, -search.without.counts[c])


cdef inline bint is_occupied(const Search* search, Py_ssize_t bucket) noexcept nogil:
    """Return whether a bucket has examples. Weights are not negative, so no sum cancels to 0."""
    cdef Py_ssize_t c, K = search.n_classes
    for c in range(K):
        if search.histogram[bucket * K + c] != 0:
            return True
    return False


cdef inline bint shift_bucket(Search* search, Py_ssize_t bucket) noexcept nogil:
    """Move the examples of a bucket from right to left; return whether there were any."""
    cdef Py_ssize_t K = search.n_classes, c
    cdef double* counts = search.histogram + bucket * K
    cdef bint occupied = False
    for c in range(K):
        if counts[c] != 0:
            occupied = True
            shift(&search.rule.impurity, &search.left, <int32_t> c, counts[c])
            shift(&search.rule.impurity, &search.right, <int32_t> c, -counts[c])
    return occupied


cdef inline void offer_sides(
    Search* search, const Side* left, double left_value, double right_value, int32_t cut
) noexcept nogil:
    """Offer a split, given its left side and F of both sides."""
    # Minimax judges by the worse side (BudgetRF, Algorithm 1, line 12), other rules by the mean.
    cdef double after = max(left_value, right_value), left_share = left.n / search.node.n
    # The classes of a node with two classes are 0 and 1.
    cdef double right_ones = search.node.counts[1] - left.counts[1]
    if not allows(search, left.n, left.counts[1], search.node.n - left.n, right_ones):
        return
    if not search.rule.minimax:
        after = left_share * left_value + (1.0 - left_share) * right_value
    elif search.rule.bounded and after > search.limit:
        return
    offer(search, search.impurity - after, search.impurity, cut, 1)


cdef inline void fill_histogram(
    Search* search,
    const Column* column,
    Codes codes,
    const int32_t* rows,      # IN of the codes; NULL: the codes are in the order of the examples
    uint32_t low,             # IN where the buckets begin
    int bits,
    Py_ssize_t n_buckets,
) noexcept nogil:
    """Sum the weights of each class in each bucket of 2**bits codes."""
    cdef Py_ssize_t K = search.n_classes, size = n_buckets * K, lane = 0, i
    cdef double* h = search.histogram
    # Copies pay off if the cells are few: they are hit in succession, and cleared quickly.
    if column.size >= MANY and size <= K * MAX_BUCKETS // LANES:
        lane = size
    memset(h, 0, (LANES if lane else 1) * size * sizeof(double))
    add_up(
        h, lane, LANES, codes, rows, low, bits, K, column.labels, column.weights, column.size,
        NULL, 0,
    )
    for i in range(lane):
        h[i] += h[lane + i] + h[2 * lane + i] + h[3 * lane + i]


cdef inline double least_quality(const Search* search) noexcept nogil:
    """Return a `quality` below which a gain is certainly worse than the best."""
    cdef double least = search.price - search.best.score - search.best.slack - search.impurity
    # `least` is the least drop that ties, minus F(S). The mean F of the sides is 1 - quality / n
    # (entropy: without the 1). 1e-9 covers all rounding.
    return search.node.n * ((search.rule.impurity.kind == Kind.GINI) + least - 1e-9)


cdef inline bint scan_keys(
    Search* search,
    const Column* column,
    const uint64_t* keys,     # IN code << 32 | position, ascending
    Py_ssize_t n,
    Side* left,               # INOUT the examples below the keys; at the end also those of the keys
    Side* right,
    Sample* sample,           # INOUT of their thresholds; NULL: all are offered
    bint inside,              # IN whether a sample includes the threshold above the last key
) noexcept nogil:
    """Offer thresholds between neighbouring codes; return whether one above the keys may win."""
    cdef uint64_t code
    cdef Py_ssize_t i = 0, position
    cdef double left_value, least = least_quality(search)
    cdef Kind kind = search.rule.impurity.kind
    # With exact sums, most thresholds can be ruled out without a division.
    cdef bint by_sums = search.rule.exact and search.rule.gain and kind == Kind.GINI
    cdef bint by_logs = search.rule.impurity.whole and search.rule.gain and kind == Kind.ENTROPY
    while i < n:
        if sample != NULL and not inside and sample.n_wanted == 0:
            skip_bits(&search.random, sample.n_left)
            return True  # the sides no longer matter
        code = keys[i] >> 32
        while i < n and keys[i] >> 32 == code:
            position = <Py_ssize_t> <uint32_t> keys[i]
            shift(&search.rule.impurity, left, column.labels[position], column.weights[position])
            shift(&search.rule.impurity, right, column.labels[position], -column.weights[position])
            i += 1
        if sample == NULL or not inside:
            if i == n:
                break
        elif sample.n_wanted == 0:
            continue
        if sample != NULL and not draw(search, sample):
            continue
        if by_sums and left.sum * right.n + right.sum * left.n < least * (left.n * right.n):
            continue
        if by_logs and quality(kind, True, left.n, right.n, left.sum, right.sum) < least:
            continue
        left_value = value(&search.rule.impurity, left)
        if search.rule.bounded and left_value > search.limit:
            return False  # the left side only grows
        offer_sides(
            search, left, left_value, value(&search.rule.impurity, right),
            <int32_t> (code + column.low),
        )
        least = least_quality(search)
    return True


cdef inline bint can_win(const Search* search, Py_ssize_t bucket) noexcept nogil:
    """Return whether a threshold inside a bucket may win or tie, by the bounds of `scan_bounds`."""
    return max(search.lefts[bucket], search.rights[bucket + 1]) <= search.limit


cdef inline Py_ssize_t scan_bounds(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Offer the thresholds between buckets, record F at them; return how many buckets matter.

    If thresholds are sampled and buckets have several codes, none is offered.
    """
    cdef bint bounded = search.rule.bounded
    cdef double* lefts = search.lefts
    cdef double* rights = search.rights
    cdef Sample sample = Sample(search.n_sampled, -1)  # no threshold is above the last code
    cdef Py_ssize_t bucket
    if search.n_sampled and bits == 0:
        for bucket in range(n_buckets):
            sample.n_left += is_occupied(search, bucket)
    # F of both sides at every border. A threshold between two borders is no better than F(left) at
    # the lower and F(right) at the upper border, which `can_win` compares with the limit.
    lefts[0] = value(&search.rule.impurity, &search.left)
    rights[0] = value(&search.rule.impurity, &search.right)
    for bucket in range(n_buckets):
        # Invariant: `left`, with F = lefts[bucket], holds the buckets below, `right` the rest.
        if bounded and lefts[bucket] > search.limit:
            return bucket
        lefts[bucket + 1], rights[bucket + 1] = lefts[bucket], rights[bucket]
        if not shift_bucket(search, bucket):
            continue
        if search.n_sampled and not bounded and bucket < n_buckets - 1:
            # Every threshold uses a random number, and F is only needed where one is offered.
            if sample.n_wanted == 0:
                skip_bits(&search.random, sample.n_left)
                return n_buckets
            if not draw(search, &sample):
                continue
        lefts[bucket + 1] = value(&search.rule.impurity, &search.left)
        rights[bucket + 1] = value(&search.rule.impurity, &search.right)
        if bucket == n_buckets - 1 or (search.n_sampled and bits > 0):
            continue
        # Thresholds that cannot win use no random number.
        if search.n_sampled and bounded and (
            max(lefts[bucket + 1], rights[bucket + 1]) > search.limit or not draw(search, &sample)
        ):
            continue
        offer_sides(
            search, &search.left, lefts[bucket + 1], rights[bucket + 1],
            column.low + <int32_t> ((bucket + 1) << bits) - 1,
        )
    return n_buckets


cdef inline void draw_buckets(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets, Sample* samples
) noexcept nogil:
    """Draw how many sampled thresholds lie in each bucket that can win, and rule out the others.

    Requires the bounds of `scan_bounds`. `present` is zero before and after.
    """
    cdef Py_ssize_t i, bucket, _, first = 0, last = (column.high - column.low) >> bits
    cdef Sample sample = Sample(search.n_sampled, 0)
    cdef uint32_t code
    cdef uint64_t* word
    cdef uint64_t bit
    # Below `first` the right side is too impure at every threshold: no random number is drawn.
    while first < n_buckets and search.rights[first + 1] > search.limit:
        search.lefts[first] = INFINITY
        first += 1
    if first == n_buckets:
        return  # most features have no threshold that can win
    # Count the distinct codes of each bucket, which are the thresholds to draw from.
    memset(samples, 0, (last + 1) * sizeof(Sample))
    for i in range(column.size):
        code = column.codes[i] - column.low
        word, bit = &search.present[code >> 6], <uint64_t> 1 << (code & 63)
        samples[code >> bits].n_left += (word[0] & bit) == 0
        word[0] |= bit
    for i in range(column.size):
        search.present[(column.codes[i] - column.low) >> 6] = 0
    samples[last].n_left -= 1  # no threshold is above the last code
    # The sample is drawn from all thresholds, including those below and above the range.
    for bucket in range(last + 1):
        sample.n_left += samples[bucket].n_left
    for bucket in range(first, n_buckets):
        for _ in range(samples[bucket].n_left):
            samples[bucket].n_wanted += draw(search, &sample)
        # With an infinite bound, `take_candidates` does not copy the bucket's examples.
        if samples[bucket].n_wanted == 0:
            search.lefts[bucket] = INFINITY
        elif search.rule.exact and search.rule.least_weight <= 0 and not search.ordered:
            # All thresholds inside are at least this good, and one is sampled: worse cannot win.
            search.limit = min(
                search.limit,
                max(search.lefts[bucket + 1], search.rights[bucket]) + 1e-12 * search.impurity,
            )


cdef inline Py_ssize_t take_candidates(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Copy the examples of the buckets that can win; return the end of the last such bucket."""
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
            # Every example is written, and kept by counting it: no branch to mispredict.
            code = column.codes[i]
            inside.codes[n] = code
            inside.labels[n] = column.labels[i]
            inside.weights[n] = column.weights[i]
            if candidate[(code - column.low) >> bits]:
                n += 1
                high = max(high, code)
    inside.size, inside.low, inside.high = n, column.low, high
    return end


cdef inline void refine(
    Search* search,
    const Column* column,
    int bits,
    Py_ssize_t n_buckets,
    Sample* samples,          # INOUT (n_buckets,) of the thresholds of each; NULL: all
) noexcept nogil:
    """Search inside the buckets whose bound lets them win or tie."""
    cdef Py_ssize_t bucket, start = 0, end, K = search.n_classes
    cdef Column* inside = &search.inside
    cdef uint64_t* keys
    cdef uint64_t beyond
    n_buckets = take_candidates(search, column, bits, n_buckets)
    if n_buckets == 0:
        return
    # Only examples of buckets that can win are sorted, mostly a small part of a large node.
    keys = sorted_keys(search, inside)
    begin_sides(search)
    for bucket in range(n_buckets):
        # Invariant: keys[:start] belong to the buckets below, whose examples are in `left`.
        beyond = <uint64_t> (bucket + 1) << (bits + 32)
        end = start
        while end < inside.size and keys[end] < beyond:
            end += 1
        # The threshold above a bucket was offered already, unless thresholds are sampled.
        if end > start and (
            samples != NULL
            or keys[start] >> 32 < keys[end - 1] >> 32 and can_win(search, bucket)
        ):
            copy_side(&search.left_inside, &search.left, K)
            copy_side(&search.right_inside, &search.right, K)
            if not scan_keys(
                search, inside, keys + start, end - start, &search.left_inside,
                &search.right_inside, samples + bucket if samples != NULL else NULL, True,
            ):
                return
        shift_bucket(search, bucket)
        start = end


cdef inline void begin_feature(Search* search, const Column* column) noexcept nogil:
    # An upper bound of the number of thresholds: a sample of this size would try all.
    cdef Py_ssize_t most = min(<Py_ssize_t> (column.high - column.low), column.size - 1)
    search.n_sampled = n_stumps(search, column.size)
    if not search.rule.stumps or search.n_sampled >= most:
        search.n_sampled = 0
    begin_sides(search)
    if search.rule.bounded:
        update_limit(search)


cdef inline void scan_histogram(
    Search* search, const Column* column, int bits, Py_ssize_t n_buckets
) noexcept nogil:
    """Offer the thresholds of a feature whose histogram is filled."""
    cdef Sample samples[MAX_BUCKETS]
    search.lefts, search.rights = search.bounds, search.bounds + n_buckets + 1
    n_buckets = scan_bounds(search, column, bits, n_buckets)
    if bits == 0:
        return
    if search.n_sampled:
        draw_buckets(search, column, bits, n_buckets, samples)
    refine(search, column, bits, n_buckets, samples if search.n_sampled else NULL)


cdef inline void examine(Search* search, Column* column) noexcept nogil:
    """Offer the thresholds of one feature, which is not constant, to the node's best split."""
    cdef Py_ssize_t spread = column.high - column.low, n_buckets, wanted = 8, i
    cdef Sample sample = Sample(0, 0)
    cdef uint64_t* keys
    cdef int bits = 0  # codes that differ only in the lowest `bits` bits share a bucket
    if search.rule.bounded:
        # Buckets take a pass, and a bucket's examples a sort; both number about sqrt(size).
        while wanted < MAX_BUCKETS and wanted * wanted < 4 * column.size:
            wanted *= 2
        while spread >> bits >= wanted:
            bits += 1
    begin_feature(search, column)
    n_buckets = (spread >> bits) + 1
    # For few examples, clearing and visiting many cells takes longer than sorting.
    if (
        (column.size <= FEW and n_buckets > 2)
        or n_buckets * search.n_all_classes > 2 * column.size + 64
    ):
        keys, sample.n_wanted = sorted_keys(search, column), search.n_sampled
        # Count the thresholds that the sample is drawn from.
        for i in range(1, column.size if search.n_sampled else 0):
            sample.n_left += (keys[i] >> 32) != (keys[i - 1] >> 32)
        scan_keys(
            search, column, keys, column.size, &search.left, &search.right,
            &sample if search.n_sampled else NULL, False,
        )
        return
    fill_histogram(
        search, column, Codes(column.codes, sizeof(uint32_t)), NULL, column.low, bits, n_buckets
    )
    scan_histogram(search, column, bits, n_buckets)


cdef inline bint examine_tally(
    Search* search, Column* column, Codes codes, const int32_t* rows, Py_ssize_t n_codes
) noexcept nogil:
    """Offer the thresholds of a feature with few codes; return whether the feature varies.

    The codes are counted in one pass over the table, without a copy in `column.codes`.
    """
    cdef Py_ssize_t K = search.n_classes, first = 0, last = n_codes * K - 1
    fill_histogram(search, column, codes, rows, 0, 0, n_codes)
    # The node has examples, so both loops end.
    while search.histogram[first] == 0:
        first += 1
    while search.histogram[last] == 0:
        last -= 1
    column.low, column.high = <uint32_t> (first // K), <uint32_t> (last // K)
    if column.low == column.high:
        return False
    begin_feature(search, column)
    # The scans start at the smallest code in the node.
    search.histogram += column.low * K
    scan_histogram(search, column, 0, column.high - column.low + 1)
    search.histogram -= column.low * K
    return True


cdef inline bint examine_ones(Search* search, const double* ones) noexcept nogil:
    """Offer the threshold of a feature of zeros and ones, given the class counts of its ones.

    Returns whether the feature varies. Counts are whole numbers.
    """
    cdef Impurity* impurity = &search.rule.impurity
    cdef Side* left = &search.left
    cdef Side* right = &search.right
    cdef Py_ssize_t c
    cdef double zeros, n_ones = 0.0, found
    for c in range(search.n_classes):
        n_ones += ones[c]
    # Exact, because counts are whole numbers and are not rounded.
    if n_ones == 0 or n_ones == search.node.n:
        return False
    begin_sides(search)
    if search.rule.bounded:
        update_limit(search)
    for c in range(search.n_classes):
        zeros = search.node.counts[c] - ones[c]
        if zeros != 0:
            shift(impurity, left, <int32_t> c, zeros)
            shift(impurity, right, <int32_t> c, -zeros)
    # Scored as by `scan_classes`, which scores single columns under these rules.
    if not search.rule.minimax and impurity.kind >= Kind.GINI:
        if allows(search, left.n, left.counts[1], right.n, right.counts[1]):
            found = quality(impurity.kind, impurity.whole, left.n, right.n, left.sum, right.sum)
            found = mean_value(impurity.kind, found, search.node.n)
            offer(search, search.impurity - found, search.impurity, 0, 1)
        return True
    offer_sides(search, left, value(impurity, left), value(impurity, right), 0)
    return True


cdef inline void examine_both_sides(
    Search* search,
    Column* column,           # IN with missing values; its codes are scratch afterwards
    Examples* examples,       # its spare arrays are scratch
    uint32_t missing,         # IN the code of missing values
) noexcept nogil:
    """Offer the thresholds of a feature twice: with missing values on the right, and on the left.

    Missing values have a code of their own, the largest of their feature. So in the first search
    they are on the right of every threshold, and alone there at the last threshold. The second
    search covers the other examples and starts with the missing ones on the left.
    """
    cdef Column known = Column(
        0, column.codes, examples.spare_labels, examples.spare_weights, missing, 0
    )
    cdef Py_ssize_t i
    cdef uint32_t code
    search.missing = Missing.RIGHT
    examine(search, column)
    memset(search.without.counts, 0, search.n_classes * sizeof(double))
    for i in range(column.size):
        code = column.codes[i]
        if code == missing:
            search.without.counts[column.labels[i]] += column.weights[i]
            continue
        known.codes[known.size] = code
        known.labels[known.size] = column.labels[i]
        known.weights[known.size] = column.weights[i]
        known.size += 1
        known.low, known.high = min(known.low, code), max(known.high, code)
    if known.low < known.high:
        search.missing = Missing.LEFT
        examine(search, &known)
    search.missing = Missing.NONE
