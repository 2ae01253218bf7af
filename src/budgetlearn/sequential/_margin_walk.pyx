"""Kernel: acquire features one by one by partial margins, by Algorithm 1 of Nan et al. (2014).

Each thread has its own `MarginWalker`. It keeps the distance of every training example to the test
point, and each acquisition adds one column to the distances. Nothing is sorted: distances only
grow, so the new distances of the previous K nearest bound the K-th distance, and only the few
examples within this bound are selected from.
"""

cimport cython
import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

ctypedef Py_ssize_t index_t

# Distances that differ by less than this factor are ties, as rounding depends on the order of sums.
cdef double TIE = 1.0 + 1e-9
# Training examples per pass over the distances, which stay in the first-level cache.
cdef index_t STRIP = 1024


@cython.final
cdef class MarginWalker:
    """The state of one test point's walk over a training set."""

    cdef const double[:, ::1] columns  # (n_features, n_train): standardised, for distances
    # (n_train, n_features, n_rivals): each feature's part of the lead of an example's own class
    # over each rival class; and (n_train, n_rivals): the leads before any acquisition (offsets).
    cdef const double[:, :, ::1] leads
    cdef const double[:, ::1] start
    cdef const double[::1] weight      # (n_train,): weight of each example, > 0
    # (n_features + 1,): weight of the correct examples with each single feature, and with none.
    cdef const double[::1] first_right
    cdef const index_t[::1] groups
    cdef const index_t[::1] forced     # a fixed order of acquisition; empty: choose by value
    cdef const double[::1] entry_prices, member_prices
    cdef index_t n_train, n_features, n_rivals
    cdef index_t n_neighbors           # K; ties at the K-th distance are all included
    # stop above this estimated accuracy; weight of prices; most cost of a walk
    cdef double threshold, cost_weight, max_cost
    # the state of one walk; `near` and `scratch` hold up to n_train entries
    cdef double[::1] distance, scratch, prices, right_with
    cdef index_t[::1] near, acquired, rest
    # (n_train, n_rivals): the leads with the first acquisitions, and (n_train,): how many these are
    cdef double[:, ::1] lead
    cdef index_t[::1] n_summed
    cdef index_t n_near, n_acquired, n_rest
    cdef double mass, right, spent     # weight of all neighbours and of the correct ones; cost

    def __init__(self, columns, leads, start, weight, first_right, prices, forced, *, n_neighbors,
                 threshold, cost_weight, max_cost):
        self.columns, self.leads, self.start = columns, leads, start
        self.weight, self.first_right = weight, first_right
        self.n_train, self.n_features, self.n_rivals = leads.shape
        self.n_neighbors = min(n_neighbors, self.n_train)
        self.threshold, self.cost_weight, self.max_cost = threshold, cost_weight, max_cost
        self.forced = forced.astype(np.intp)
        self.entry_prices = prices.alone
        self.member_prices = prices.costs
        groups = np.full(self.n_features, -1) if prices.groups is None else prices.groups
        self.groups = groups.astype(np.intp)
        self.distance, self.scratch = np.empty(self.n_train), np.empty(self.n_train)
        self.near = np.empty(self.n_train, dtype=np.intp)
        self.lead = np.empty((self.n_train, self.n_rivals))
        self.n_summed = np.empty(self.n_train, dtype=np.intp)
        self.prices, self.right_with = np.empty(self.n_features), np.empty(self.n_features)
        self.acquired = np.empty(self.n_features, dtype=np.intp)
        self.rest = np.empty(self.n_features, dtype=np.intp)

    def walk(
        self,
        const double[:, ::1] rows,          # IN: standardised test points (m, n_features)
        index_t[:, ::1] order,              # OUT: acquired features, then -1 (m, n_features)
        double[:, ::1] value,               # OUT: p_i - cost_weight * price (m, n_features)
        double[:, ::1] estimate,            # OUT: p after 0, 1, ... of them (m, n_features + 1)
    ):
        """Walk every row of `rows`; the last estimate is repeated after the last acquisition."""
        cdef index_t row
        with nogil:
            for row in range(rows.shape[0]):
                self.walk_one(rows[row], order[row], value[row], estimate[row])

    def measure(self, index_t feature, double x):
        """Add a measured feature; return the value it was chosen for, and the new estimate."""
        cdef double value = self.value_of(feature)
        self.take(feature, x)
        return value, self.estimate()

    cdef void walk_one(self, const double[::1] point, index_t[::1] order, double[::1] value,
                       double[::1] estimate) noexcept nogil:
        cdef index_t feature, stage
        estimate[0] = self.begin()
        for stage in range(self.n_features):
            feature = self.next_feature()
            if feature < 0:
                # Repeat the last estimate, so that walks of any length can be compared.
                order[stage:] = -1
                value[stage:] = 0.0
                estimate[stage + 1:] = estimate[stage]
                return
            order[stage], value[stage] = feature, self.value_of(feature)
            self.take(feature, point[feature])
            estimate[stage + 1] = self.estimate()

    cdef double estimate(self) noexcept nogil:
        return self.right / self.mass

    cpdef index_t next_feature(self) noexcept nogil:
        """Return the feature to measure next, or -1 if the walk ends."""
        cdef index_t q, i, best = -1
        cdef double worth, best_worth = -INFINITY
        # Algorithm 1 measures a first feature before it checks the threshold (lines 3 to 5).
        if self.n_acquired > 0 and self.estimate() > self.threshold:
            return -1
        for q in range(self.n_rest):
            i = self.rest[q]
            # A feature that exceeds the cap is skipped, but does not end the walk.
            if self.spent + self.prices[i] > self.max_cost:
                continue
            # A control follows a fixed order, with the same threshold and cap.
            if self.forced.shape[0]:
                return i
            worth = self.value_of(i)
            # Ties go to the cheaper feature, then to the lower index, which comes first here.
            if worth > best_worth or (worth == best_worth and self.prices[i] < self.prices[best]):
                best, best_worth = i, worth
        return best

    cdef void take(self, index_t feature, double x) noexcept nogil:
        """Move a measured feature from the rest to the acquired ones, and update all counts."""
        cdef index_t q, i
        self.spent += self.prices[feature]
        self.leave(feature)
        for q in range(self.n_rest):
            i = self.rest[q]
            # A group's charge is paid with its first member.
            if self.groups[feature] >= 0 and self.groups[i] == self.groups[feature]:
                self.prices[i] = self.member_prices[i]
        self.acquired[self.n_acquired] = feature
        self.n_acquired += 1
        self.find_neighbors(feature, x)
        self.count_right()

    cpdef double begin(self) noexcept nogil:
        """Start a walk with all training examples as neighbours; return the first estimate."""
        cdef index_t i
        memset(&self.distance[0], 0, self.n_train * sizeof(double))
        memset(&self.n_summed[0], 0, self.n_train * sizeof(index_t))
        memcpy(&self.lead[0, 0], &self.start[0, 0], self.n_train * self.n_rivals * sizeof(double))
        for i in range(self.n_features):
            self.rest[i] = self.forced[i] if self.forced.shape[0] else i
            self.prices[i], self.right_with[i] = self.entry_prices[i], self.first_right[i]
        # Any K examples bound the K-th distance in the first step.
        for i in range(self.n_neighbors):
            self.near[i] = i
        # N(empty set) is the whole training set.
        self.mass, self.right = 0.0, self.first_right[self.n_features]
        for i in range(self.n_train):
            self.mass += self.weight[i]
        self.n_acquired, self.n_rest, self.spent = 0, self.n_features, 0.0
        return self.estimate()

    cdef double value_of(self, index_t feature) noexcept nogil:
        """Return the one-step-ahead accuracy minus the weighted price (line 13)."""
        return (self.right_with[feature] / self.mass
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
        cdef index_t k, start, stop, kept, n_candidates, K = self.n_neighbors
        cdef const double* column = &self.columns[feature, 0]
        cdef double* distance = &self.distance[0]
        cdef double* scratch = &self.scratch[0]
        cdef index_t* near = &self.near[0]
        cdef double bound = 0.0
        for k in range(K):
            # Distances only grow, so the previous K nearest bound the new K-th distance.
            bound = max(bound, distance[near[k]] + (column[near[k]] - x) * (column[near[k]] - x))
        bound *= TIE
        n_candidates = start = 0
        while start < self.n_train:
            # Add and collect strip by strip, so that distances stay in the cache.
            stop = min(start + STRIP, self.n_train)
            for k in range(start, stop):
                distance[k] += (column[k] - x) * (column[k] - x)
            for k in range(start, stop):  # without a branch, as the outcome is hard to predict
                near[n_candidates] = k
                n_candidates += distance[k] <= bound
            start = stop
        for k in range(n_candidates):
            scratch[k] = distance[near[k]]
        # The K-th smallest. Distances within rounding of it are ties and are kept.
        bound = select_smallest(scratch, n_candidates, K - 1) * TIE
        kept = 0
        for k in range(n_candidates):
            near[kept] = near[k]
            kept += distance[near[k]] <= bound
        self.n_near = kept

    cdef void count_right(self) noexcept nogil:
        """Weigh the correct neighbours now (eqs. 2, 4) and with one more feature (eqs. 3, 5)."""
        cdef index_t k
        cdef bint right
        cdef double* right_with = &self.right_with[0]
        self.mass = self.right = 0.0
        memset(right_with, 0, self.n_features * sizeof(double))
        # Eq. 4 with the acquired features and eq. 5 with each further feature, in one pass.
        for k in range(self.n_near):
            right = self.votes(self.near[k], self.weight[self.near[k]], right_with)
            self.mass += self.weight[self.near[k]]
            self.right += self.weight[self.near[k]] if right else 0.0

    cdef bint votes(self, index_t k, double weight, double* right_with) noexcept nogil:
        """Return whether example k is right; add its weight where one more feature makes it so.

        It is right if its own class leads every rival. A lead of exactly 0 counts as wrong.
        """
        cdef index_t q, r, n_rivals = self.n_rivals
        cdef double* lead = &self.lead[k, 0]
        cdef const double* share
        cdef bint right, ahead = True
        # Eq. 2: the partial margin. Neighbours change little from step to step, so few acquisitions
        # are new to an example.
        for q in range(self.n_summed[k], self.n_acquired):
            share = &self.leads[k, self.acquired[q], 0]
            for r in range(n_rivals):
                lead[r] += share[r]
        self.n_summed[k] = self.n_acquired
        if n_rivals == 1:
            add_where_ahead(&self.leads[k, 0, 0], lead[0], weight, self.n_features, right_with)
            return lead[0] > 0.0
        for r in range(n_rivals):
            ahead = ahead and lead[r] > 0.0
        for q in range(self.n_rest):
            share = &self.leads[k, self.rest[q], 0]
            right = True
            for r in range(n_rivals):
                if lead[r] + share[r] <= 0.0:
                    right = False
                    break
            right_with[self.rest[q]] += weight if right else 0.0
        return ahead


cdef inline void add_where_ahead(
    const double* share, double lead, double weight, index_t n_features, double* right_with
) noexcept nogil:
    """Add an example's weight to each feature that makes its margin positive.

    Acquired features are counted needlessly, because a loop without an index is vectorised.
    """
    cdef index_t i
    for i in range(n_features):
        right_with[i] += weight if lead + share[i] > 0.0 else 0.0


cdef double select_smallest(double* values, index_t n, index_t rank) noexcept nogil:
    """Return the value of a rank (0: the smallest) by Hoare's selection; reorders `values`."""
    cdef index_t low = 0, high = n - 1, i, j
    cdef double pivot
    while low < high:
        # With the middle as pivot, sorted distances (from sorted tables) are not the worst case.
        pivot = values[(low + high) // 2]
        i, j = low, high
        # Invariant: values left of i are <= pivot, values right of j are >= pivot.
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        # Continue only with the side that contains the rank: about n steps on average.
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]
