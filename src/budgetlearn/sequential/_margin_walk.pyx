"""Kernel: acquire features one by one by partial margins, by Algorithm 1 of Nan et al. (2014).

Each thread has its own `MarginWalker`. It keeps the distance of every training example to the test
point, and each acquisition adds one column to the distances. Nothing is sorted: distances only
grow, so the new distances of the previous K nearest bound the K-th distance, and only the few
examples within this bound are selected from.

Counts are kept, too, in wide tables. An acquisition replaces few neighbours and moves the leads of
the others by a little, so that few features come to make an example right, or cease to.
"""

cimport cython
import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

ctypedef Py_ssize_t index_t

# Distances that differ by less than this factor are ties, as rounding depends on the order of sums.
cdef double TIE = 1.0 + 1e-9
# Losses that differ by a smaller share of 1 + loss differ by rounding only: 0.1 + 0.2 and 0.3.
cdef double EQUAL = 1e-12
# Training examples whose distances are added and compared together, as their distances, column and
# indices (24 bytes each) fit into the first-level cache.
cdef index_t STRIP = 1024


@cython.final
cdef class MarginWalker:
    """The state of one test point's walk over a training set."""

    cdef const double[:, ::1] columns  # (n_features, n_train): standardised, for distances
    # (n_train, n_features, n_rivals): each feature's part of the lead of an example's own class
    # over each rival class; and (n_train, n_rivals): the leads before any acquisition (offsets).
    cdef const double[:, :, ::1] leads
    cdef const double[:, ::1] start
    # (n_train, n_rivals, n_features): an example's features by their part of the lead, ascending;
    # empty: count anew after each acquisition, which is faster in narrow tables
    cdef const int[:, :, ::1] ranked
    cdef const double[::1] weight      # (n_train,): weight of each example, > 0; sums are exact
    # (n_features + 1,): weight of the wrong examples with each single feature, and with none.
    cdef const double[::1] first_wrong
    cdef const index_t[::1] groups
    cdef const index_t[::1] candidates  # features that may be acquired
    cdef bint in_order                 # whether to acquire them in this order, not by value
    cdef const double[::1] entry_prices, member_prices
    cdef index_t n_train, n_features, n_rivals
    cdef index_t n_neighbors           # K; ties at the K-th distance are all included
    # stop above this estimated accuracy; weight of prices; most cost of a walk
    cdef double threshold, cost_weight, max_cost
    # the state of one walk; `near`, `counted` and `scratch` hold up to n_train entries
    cdef double[::1] distance, scratch, prices, wrong_with
    cdef index_t[::1] near, counted, acquired, rest
    # (n_train, n_rivals): the leads with the first acquisitions, and (n_train,): how many these are
    cdef double[:, ::1] lead
    cdef index_t[::1] n_summed
    # (n_train, n_rivals): how many features, the first of `ranked`, leave the lead that is counted
    # in `wrong_with` at 0 or less. Their number is the same for all leads above `low` and up to
    # `high`, which therefore need no new count.
    cdef int[:, ::1] n_behind
    cdef double[:, ::1] low, high
    cdef index_t n_near, n_counted, n_acquired, n_rest
    cdef double mass, wrong, spent     # weight of all neighbours and of the wrong ones; cost

    def __init__(self, columns, leads, start, ranked, weight, first_wrong, prices, candidates, *,
                 in_order, n_neighbors, threshold, cost_weight, max_cost):
        self.columns, self.leads, self.start, self.ranked = columns, leads, start, ranked
        self.weight, self.first_wrong = weight, first_wrong
        self.n_train, self.n_features, self.n_rivals = leads.shape
        self.n_neighbors = min(n_neighbors, self.n_train)
        self.threshold, self.cost_weight, self.max_cost = threshold, cost_weight, max_cost
        self.candidates, self.in_order = candidates.astype(np.intp), in_order
        self.entry_prices = prices.alone
        self.member_prices = prices.costs
        groups = np.full(self.n_features, -1) if prices.groups is None else prices.groups
        self.groups = groups.astype(np.intp)
        self.distance, self.scratch = np.empty(self.n_train), np.empty(self.n_train)
        self.near, self.counted = np.empty((2, self.n_train), dtype=np.intp)
        self.lead = np.empty((self.n_train, self.n_rivals))
        self.n_summed = np.empty(self.n_train, dtype=np.intp)
        self.n_behind = np.empty((self.n_train, self.n_rivals), dtype=np.int32)
        self.low, self.high = np.empty((2, self.n_train, self.n_rivals))
        self.prices, self.wrong_with = np.empty(self.n_features), np.empty(self.n_features)
        self.acquired = np.empty(self.n_features, dtype=np.intp)
        self.rest = np.empty(self.n_features, dtype=np.intp)

    def walk(
        self,
        const double[:, ::1] rows,          # IN: standardised test points (m, n_features)
        index_t[:, ::1] order,              # OUT: acquired features (m, n_features), filled with -1
        double[:, ::1] value,               # OUT: p_i - cost_weight * price (m, n_features)
        double[:, ::1] estimate,            # OUT: p after 0, 1, ... of them (m, n_features + 1)
    ):
        """Walk every row of `rows`; the last estimate is repeated after the last acquisition."""
        cdef index_t row, feature, stage
        with nogil:
            for row in range(rows.shape[0]):
                estimate[row, 0] = self.begin()
                for stage in range(self.n_features):
                    feature = self.next_feature()
                    if feature < 0:
                        # So that walks of any length can be compared.
                        estimate[row, stage + 1:] = estimate[row, stage]
                        break
                    order[row, stage], value[row, stage] = feature, self.value_of(feature)
                    self.take(feature, rows[row, feature])
                    estimate[row, stage + 1] = self.estimate()

    def measure(self, index_t feature, double x):
        """Add a measured feature; return the value it was chosen for, and the new estimate."""
        cdef double value = self.value_of(feature)
        self.take(feature, x)
        return value, self.estimate()

    cdef double estimate(self) noexcept nogil:
        return (self.mass - self.wrong) / self.mass

    cpdef index_t next_feature(self) noexcept nogil:
        """Return the feature to measure next, or -1 if the walk ends."""
        cdef index_t q, i, best = -1
        cdef double share = 1.0 / self.mass, slack
        cdef double wrong, price, loss
        cdef double best_wrong = INFINITY, best_price = INFINITY, best_loss = INFINITY
        # Algorithm 1 measures a first feature before it checks the threshold (lines 3 to 5).
        if self.n_acquired > 0 and self.estimate() > self.threshold:
            return -1
        for q in range(self.n_rest):
            i = self.rest[q]
            wrong, price = self.wrong_with[i], self.prices[i]
            # The loss is 1 - value. Losses that differ by less than the slack are equal.
            loss = wrong * share + self.cost_weight * price
            slack = EQUAL * (1.0 + loss)
            # Most features are worse than the best, or can at best tie and lose.
            if (loss > best_loss + slack) | ((wrong >= best_wrong) & (price >= best_price)):
                continue
            # A feature that exceeds the cap is skipped, but does not end the walk.
            if self.spent + price > self.max_cost:
                continue
            # A control follows a fixed order, with the same threshold and cap.
            if self.in_order:
                return i
            # Ties go to the cheaper feature, then to the lower index, which comes first here.
            if loss < best_loss - slack or price < best_price:
                best, best_loss, best_wrong, best_price = i, loss, wrong, price
        return best

    cdef void take(self, index_t feature, double x) noexcept nogil:
        """Move a measured feature from the rest to the acquired ones, and update all counts."""
        cdef index_t i
        self.spent += self.prices[feature]
        self.leave(feature)
        if self.groups[feature] >= 0:
            # A group's charge is paid with its first member.
            for i in range(self.n_features):
                if self.groups[i] == self.groups[feature]:
                    self.prices[i] = self.member_prices[i]
        self.acquired[self.n_acquired] = feature
        self.n_acquired += 1
        self.find_neighbors(feature, x)
        self.count_wrong()

    cpdef double begin(self) noexcept nogil:
        """Start a walk with all training examples as neighbours; return the first estimate."""
        cdef index_t i
        memset(&self.distance[0], 0, self.n_train * sizeof(double))
        memset(&self.n_summed[0], 0, self.n_train * sizeof(index_t))
        memcpy(&self.lead[0, 0], &self.start[0, 0], self.n_train * self.n_rivals * sizeof(double))
        for i in range(self.n_features):
            self.prices[i], self.wrong_with[i] = self.entry_prices[i], self.first_wrong[i]
        if self.ranked.shape[0]:  # only then are counts kept
            self.n_behind[:, :] = 0
            # No lead is between these bounds, so the first one of each example is counted.
            self.low[:, :] = INFINITY
            self.high[:, :] = INFINITY
        # Any K examples bound the K-th distance in the first step.
        for i in range(self.n_neighbors):
            self.near[i] = i
        # N(empty set) is the whole training set.
        self.mass, self.wrong = 0.0, self.first_wrong[self.n_features]
        for i in range(self.n_train):
            self.mass += self.weight[i]
        self.n_counted = self.n_acquired = 0
        self.n_rest, self.spent = self.candidates.shape[0], 0.0
        self.rest[:self.n_rest] = self.candidates
        return self.estimate()

    cdef double value_of(self, index_t feature) noexcept nogil:
        """Return the one-step-ahead accuracy minus the weighted price (line 13)."""
        return ((self.mass - self.wrong_with[feature]) / self.mass
                - self.cost_weight * self.prices[feature])

    cpdef void leave(self, index_t feature) noexcept nogil:
        """Remove an acquired or refused feature from the rest, so that it is not chosen again."""
        cdef index_t q, kept = 0
        for q in range(self.n_rest):
            self.rest[kept] = self.rest[q]
            # Keep the order of the rest, which the control follows and which resolves ties.
            kept += self.rest[q] != feature
        self.n_rest = kept

    cdef void find_neighbors(self, index_t feature, double x) noexcept nogil:
        """Add one feature to the distances and find the K nearest, with all ties at the K-th."""
        cdef index_t k, start, stop = 0, kept = 0, n_candidates = 0, K = self.n_neighbors
        cdef const double* column = &self.columns[feature, 0]
        cdef double* distance = &self.distance[0]
        cdef double* scratch = &self.scratch[0]
        cdef index_t* near = &self.near[0]
        cdef double bound = 0.0
        for k in range(K):
            # Distances only grow, so the previous K nearest bound the new K-th distance.
            bound = max(bound, distance[near[k]] + (column[near[k]] - x) * (column[near[k]] - x))
        bound *= TIE
        # Strip by strip, so that distances are still in the cache when they are compared.
        while stop < self.n_train:
            start, stop = stop, min(stop + STRIP, self.n_train)
            for k in range(start, stop):
                distance[k] += (column[k] - x) * (column[k] - x)
            for k in range(start, stop):  # without a branch, as the outcome is hard to predict
                near[n_candidates] = k
                n_candidates += distance[k] <= bound
        for k in range(n_candidates):
            scratch[k] = distance[near[k]]
        # The K-th smallest. Distances within rounding of it are ties and are kept.
        bound = select_smallest(scratch, n_candidates, K - 1) * TIE
        for k in range(n_candidates):
            near[kept] = near[k]
            kept += distance[near[k]] <= bound
        self.n_near = kept

    cdef void count_wrong(self) noexcept nogil:
        """Weigh the wrong neighbours now (eqs. 2, 4) and with one more feature (eqs. 3, 5).

        An example is right if its own class leads every rival. A lead of exactly 0 counts as wrong.
        """
        cdef index_t q, k, r, new, worst
        cdef double lead
        cdef bint keeps = self.ranked.shape[0] > 0
        if self.n_acquired == 1 or not keeps:
            # Until the first acquisition all examples are neighbours, not counted one by one.
            memset(&self.wrong_with[0], 0, self.n_features * sizeof(double))
        self.mass = self.wrong = 0.0
        # Eq. 2, the partial margins: mostly only the last acquisition is new to an example. In a
        # loop of its own, as waits for the memory then overlap.
        for q in range(self.n_near):
            k = self.near[q]
            for new in range(self.n_summed[k], self.n_acquired):
                for r in range(self.n_rivals):
                    self.lead[k, r] += self.leads[k, self.acquired[new], r]
            self.n_summed[k] = self.n_acquired
        for q in range(self.n_near):
            k = self.near[q]
            worst = 0
            for r in range(self.n_rivals):
                lead = self.lead[k, r]
                worst = r if lead < self.lead[k, worst] else worst
                if keeps and not (self.low[k, r] < lead) & (lead <= self.high[k, r]):
                    self.recount(k, r, lead)
            if not keeps:
                self.count_behind(k, worst)
            self.mass += self.weight[k]
            self.wrong += 0.0 if self.lead[k, worst] > 0.0 else self.weight[k]
        for q in range(self.n_counted):
            k = self.counted[q]
            # The sums of all neighbours are up to date. With an infinite lead nothing is wrong.
            if self.n_summed[k] < self.n_acquired:
                for r in range(self.n_rivals):
                    self.recount(k, r, INFINITY)
        self.n_counted = self.n_near if keeps else 0
        memcpy(&self.counted[0], &self.near[0], self.n_counted * sizeof(index_t))

    cdef void count_behind(self, index_t k, index_t worst) noexcept nogil:
        """Count the features with which example k does not lead all rivals, the worst one first."""
        cdef index_t q, r
        cdef const double* lead = &self.lead[k, 0]
        cdef const double* share
        for q in range(self.n_rest):
            share = &self.leads[k, self.rest[q], 0]
            if lead[worst] + share[worst] > 0.0:
                for r in range(self.n_rivals):
                    if lead[r] + share[r] <= 0.0:
                        break
                else:
                    continue
            self.wrong_with[self.rest[q]] += self.weight[k]

    cdef void recount(self, index_t k, index_t r, double lead) noexcept nogil:
        """Let `wrong_with` count a new lead of example k over rival r.

        Only features that change sides are looked at, and they are next to each other in `ranked`.
        Sums of weights are exact, so they equal those of a new count, in any order.
        """
        cdef const int* ranked = &self.ranked[k, r, 0]
        cdef const double* share = &self.leads[k, 0, r]
        cdef double* wrong_with = &self.wrong_with[0]
        cdef double weight = self.weight[k]
        cdef index_t n = self.n_behind[k, r], d = self.n_features, n_rivals = self.n_rivals
        while n < d and not lead + share[ranked[n] * n_rivals] > 0.0:
            # A feature with which the example is wrong already is not counted twice.
            wrong_with[ranked[n]] += weight if self.beats_others(k, ranked[n], r) else 0.0
            n += 1
        while n > 0 and lead + share[ranked[n - 1] * n_rivals] > 0.0:
            n -= 1
            wrong_with[ranked[n]] -= weight if self.beats_others(k, ranked[n], r) else 0.0
        self.n_behind[k, r] = n
        # A sum is positive exactly if the lead exceeds minus the share, even after rounding.
        self.low[k, r] = -share[ranked[n] * n_rivals] if n < d else -INFINITY
        self.high[k, r] = -share[ranked[n - 1] * n_rivals] if n > 0 else INFINITY

    cdef inline bint beats_others(self, index_t k, index_t feature, index_t r) noexcept nogil:
        """Return True if example k with a feature leads all rivals but r, as far as counted."""
        cdef index_t other
        for other in range(self.n_rivals):
            if other != r and -self.leads[k, feature, other] > self.low[k, other]:
                return False
        return True


cdef double select_smallest(double* values, index_t n, index_t rank) noexcept nogil:
    """Return the value of a rank (0: the smallest) by quickselect; reorders `values`."""
    cdef index_t i, below, upto
    cdef double pivot, value
    while rank < n:
        # With the middle as pivot, sorted distances (from sorted tables) are not the worst case.
        pivot = values[n // 2]
        # Move smaller values to the front without a branch, as the outcome is hard to predict.
        below = 0
        for i in range(n):
            value = values[i]
            values[i] = values[below]
            values[below] = value
            below += value < pivot
        if rank < below:
            n = below
            continue
        # The same with those that equal the pivot, which ends or at least shortens the search.
        upto = below
        for i in range(below, n):
            value = values[i]
            values[i] = values[upto]
            values[upto] = value
            upto += not value > pivot
        if rank < upto:
            return pivot
        values, n, rank = values + upto, n - upto, rank - upto
    return INFINITY  # no value: distances to a missing one are NaN, and nothing is near
