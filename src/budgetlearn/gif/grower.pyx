"""Kernel: grow globally induced forests and choose among their candidates.

Algorithm 1 of Begon, Joly and Geurts (2017). Its steps 8 and 9 take the candidate whose optimal
weight lowers the loss most, either of a uniformly drawn window of candidates or of all.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t

from ..tree.nodes cimport Blocks
from ..tree.random cimport as_below, next_xorshift
from .loss_kernels cimport ExponentialLoss, Loss, SquaredLoss
from .nodes cimport ForestNode, NodeTable, Split, Splitter, fetch_ahead

# Sums and bounds are rounded, so a bound below the largest root by up to this share is searched.
cdef double SLACK = 1e-9
# Gaps that differ by less than this share differ by rounding only, and the oldest node leads.
cdef double TIE = 1e-10
# Smaller gaps count as 0. With targets of size 1, the rounding of residuals leaves 1e-32 again and
# again, and squares below 1e-308 are a hundred times slower on the processor.
cdef double LEAST_GAP = 1e-290
# Sums keep the rounding errors of when they were large. They are recomputed once the largest gap
# falls below the first share of its anchor, or a class error below the second share of its anchor.
cdef double LEAST_REST = 1e-6
cdef double LEAST_ANCHORED = 1e-3
# Marks the gap of a candidate between the two passes of a step.
cdef double TOUCHED = -2.0

cdef enum:
    BLOCK = 64  # number of candidates that are searched together


cdef class Pool(Blocks):
    """The candidates of a forest: nodes that could enter the model."""

    cdef:
        NodeTable table
        Loss loss
        double[::1] weight   # optimal weight, not shrunk, of the node that `find` found
        int32_t found, position  # that node, and its place among the candidates
        int32_t n_candidates
        bint stale           # whether nodes dropped for their charge may now pay off

    def __init__(self, NodeTable table, Loss loss):
        self.table = table
        self.loss = loss
        self.weight = np.zeros(loss.n_outputs)
        self.found = -1

    cdef inline int32_t feature(self, int32_t node) noexcept nogil:
        """Return the feature that separates a node from its sibling."""
        return self.table.nodes[self.table.nodes[node].parent].feature

    cdef bint find(self) noexcept nogil:
        """Find the next node to accept; return False if no candidate improves the loss."""
        return False

    cdef void look_ahead(self) noexcept nogil:
        """Prefetch the memory that the next `find` will probably need."""

    cdef void add(self, int32_t node) noexcept nogil:
        pass

    cdef void remove(self) noexcept nogil:
        """Drop the found node."""

    cdef void replace(self, int32_t child) noexcept nogil:
        """Replace the found node by its children, child and child + 1 (none if -1).

        Call this after the loss was updated.
        """


cdef struct Candidate:
    # The fields of a node that `find` needs, in less memory than the node.
    int32_t* samples  # NULL: not kept
    int32_t size
    int32_t node


cdef class RandomWindow(Pool):
    """A window of candidates, drawn without replacement for each step.

    If the splitter has charges, the gap of a candidate is lowered by the charge of its parent's
    feature times the loss of the constant. If no candidate of the window is worth its charge, the
    split that made the best one is drawn again among the acquired features. This changes no
    accepted node, because a split on a feature that was not acquired has no accepted side.
    """

    cdef:
        Candidate* candidates
        int32_t n_window
        int32_t next         # the candidate that will probably be drawn next
        double[::1] stats, trial
        uint64_t state
        Splitter splitter    # None: without charges

    def __init__(self, NodeTable table, Loss loss, n_window, seed, Splitter splitter=None):
        Pool.__init__(self, table, loss)
        if splitter is not None and splitter.charges is not None:
            self.splitter = splitter
        # There are never more candidates than nodes, and unused memory is not committed.
        self.candidates = <Candidate*> self.get(table.records.shape[0] * sizeof(Candidate))
        self.n_window = min(n_window, table.records.shape[0])
        self.stats = np.empty(loss.width)
        self.trial = np.empty(loss.n_outputs)
        self.state = <uint64_t> seed * 2 + 1  # must not be 0 for xorshift

    cdef bint find(self) noexcept nogil:
        cdef int32_t size, i, drawn, node
        cdef Candidate candidate
        cdef double gap, best
        cdef Py_ssize_t k
        if self.stale:
            self.stale = False
            self.n_candidates = 0
            for node in range(self.table.n_nodes):
                if self.table.nodes[node].parent >= 0 and self.table.nodes[node].step < 0:
                    self.add(node)
        while self.n_candidates > 0:
            size = min(self.n_window, self.n_candidates)
            best = -1.0
            self.position = -1
            # Drawn without replacement, by swapping candidates to the front.
            for i in range(size):
                drawn = i + <int32_t> as_below(next_xorshift(&self.state), self.n_candidates - i)
                candidate = self.candidates[drawn]
                self.candidates[drawn] = self.candidates[i]
                self.candidates[i] = candidate
                if self.splitter is not None:
                    node = candidate.node  # its parent's split may have been drawn again
                    candidate.size = self.table.nodes[node].size
                    candidate.samples = self.table.kept(&self.table.nodes[node])
                if candidate.samples == NULL:
                    candidate.samples = self.table.samples_of(&self.table.nodes[candidate.node])
                self.loss.gather(candidate.samples, candidate.size, &self.stats[0])
                gap = self.loss.solve(&self.stats[0], candidate.size, &self.trial[0])
                if self.splitter is not None:
                    gap -= self.loss.total * self.splitter.charges.share[self.feature(node)]
                if gap > best or self.position < 0:
                    best = gap
                    self.position = i
                    for k in range(self.loss.n_outputs):
                        self.weight[k] = self.trial[k]
            if best > 0.0:
                self.found = self.candidates[self.position].node
                self.foresee()
                return True
            # If the window has all candidates, growth ends. Otherwise its best one is dropped.
            if self.splitter is None and size == self.n_candidates:
                return False
            if self.splitter is None or not self.part_anew(self.candidates[self.position].node):
                self.remove()
        return False

    cdef bint part_anew(self, int32_t node) noexcept nogil:
        """Split a candidate's parent again, on an acquired feature; return whether it changed."""
        cdef int32_t n_left, parent = self.table.nodes[node].parent
        if self.splitter.charges.share[self.feature(node)] == 0.0:
            return False
        self.splitter.frozen = True
        n_left = part(self.table, self.splitter, parent)
        self.splitter.frozen = False
        if n_left > 0:
            self.table.part(parent, n_left)
        return n_left > 0

    cdef void foresee(self) noexcept nogil:
        """Predict the candidate that the next `find` draws first, and prefetch it."""
        # The last candidate will replace the found one, and up to two children are appended.
        cdef int32_t n_left = self.n_candidates - 1
        cdef int32_t n_children = 2 if self.candidates[self.position].size > 1 else 0
        cdef uint64_t state = self.state
        self.next = <int32_t> as_below(next_xorshift(&state), n_left + n_children)
        if self.next == self.position:
            self.next = n_left
        elif self.next >= n_left:
            self.next = self.position  # a child, which is in the cache
        fetch_ahead(&self.candidates[self.next])

    cdef void look_ahead(self) noexcept nogil:
        cdef Candidate candidate = self.candidates[self.next]
        fetch_ahead(candidate.samples)
        fetch_ahead(&self.table.nodes[candidate.node].threshold)
        fetch_ahead(&self.table.nodes[candidate.node].step)  # often on the next cache line

    cdef void add(self, int32_t node) noexcept nogil:
        cdef ForestNode* added = &self.table.nodes[node]
        self.candidates[self.n_candidates] = Candidate(self.table.kept(added), added.size, node)
        self.n_candidates += 1

    cdef void remove(self) noexcept nogil:
        self.n_candidates -= 1
        self.candidates[self.position] = self.candidates[self.n_candidates]  # as `foresee` expects

    cdef void replace(self, int32_t child) noexcept nogil:
        self.remove()
        if child >= 0:
            self.add(child)
            self.add(child + 1)


cdef class ExactPool(Pool):
    """The exact choice among all candidates (algorithm 1 with an unlimited window).

    The sums that determine the gaps are kept. The candidates of one tree share no sample, so an
    accepted node changes one candidate in each tree for each of its samples. This takes |Z_j| T
    additions, where recomputing all sums would take N T.

    Candidate 0 holds the samples that no candidate of their tree holds.
    """

    cdef:
        int32_t[:, ::1] holder   # (n_samples, n_trees): the candidate that holds each sample
        int32_t[::1] node        # of each candidate
        double[:, ::1] sums      # (n_candidates, ...)

    def __init__(self, NodeTable table, Loss loss, n_sums):
        Pool.__init__(self, table, loss)
        # There are never more candidates than nodes, and unused memory is not committed.
        room = table.records.shape[0] + 1
        self.holder = np.zeros((table.n_samples, table.n_trees), dtype=np.int32)
        self.node = np.empty(room, dtype=np.int32)
        self.node[0] = -1
        self.sums = np.empty((room, n_sums))
        self.sums[0, :] = 0.0
        self.n_candidates = 1

    cdef void measure(self, int32_t c) noexcept nogil:
        """Recompute a candidate's sums; leave its optimal weight in `weight`."""

    cdef void step(self, ForestNode* node) noexcept nogil:
        """Update the sums of all candidates that hold samples of an accepted node."""

    cdef void hold(self, int32_t j, int32_t c) noexcept nogil:
        """Record that a candidate holds the samples of node j."""
        cdef ForestNode* node = &self.table.nodes[j]
        cdef const int32_t* samples = self.table.samples_of(node)
        cdef int32_t i
        for i in range(node.size):
            self.holder[samples[i], node.tree] = c

    cdef void fill(self, int32_t c, int32_t j) noexcept nogil:
        """Make node j candidate c."""
        self.node[c] = j
        self.hold(j, c)
        self.measure(c)

    cdef void add(self, int32_t node) noexcept nogil:
        self.n_candidates += 1
        self.fill(self.n_candidates - 1, node)

    cdef void remove(self) noexcept nogil:
        cdef int32_t last = self.n_candidates - 1
        self.hold(self.found, 0)
        # The last candidate fills the free place, so that blocks stay full.
        if self.position != last:
            self.fill(self.position, self.node[last])
        self.n_candidates = last

    cdef void replace(self, int32_t child) noexcept nogil:
        # The step also changes the found candidate's own sums, which its children then overwrite.
        self.step(&self.table.nodes[self.found])
        if child < 0:
            self.remove()
        else:
            self.fill(self.position, child)
            self.add(child + 1)


cdef class SquaredCandidates(ExactPool):
    """All candidates of a forest under the squared loss.

    The largest gap is found without computing all gaps. The root of a gap is the length of the
    projection of the residuals on the node's indicator, so it changes by no more than the length of
    the residuals' step. So a block of candidates is searched again only if its largest root plus
    the lengths of all later steps reaches the largest root found.
    """

    cdef:
        SquaredLoss squared         # the loss
        double[::1] inverse         # of each candidate, 1 / weight of its samples
        double[::1] bound           # of each block, an upper bound of the root of its largest gap
        double[::1] stats, less
        double learning_rate, gap
        double anchor               # largest gap accepted since all sums were recomputed

    def __init__(self, NodeTable table, SquaredLoss loss, learning_rate):
        ExactPool.__init__(self, table, loss, loss.n_outputs)
        self.squared = loss
        self.learning_rate = learning_rate
        self.inverse = np.empty(self.node.shape[0])
        self.inverse[0] = 0.0  # the gap of candidate 0 counts as 0
        self.bound = np.zeros(self.node.shape[0] // BLOCK + 1)
        self.stats = np.empty(loss.width)
        self.less = np.empty(loss.n_outputs)

    cdef bint find(self) noexcept nogil:
        while True:
            # Begin with the block that got new candidates in the last step.
            self.search(self.position // BLOCK)
            if self.position > 0 and self.gap > LEAST_REST * self.anchor:
                self.found = self.node[self.position]
                self.anchor = max(self.anchor, self.gap)
                self.measure(self.position)
                return True
            if self.anchor == 0.0:
                return False
            self.refresh()

    cdef void search(self, int32_t first) noexcept nogil:
        """Find the largest gap and its candidate (0: there is none), starting with one block."""
        cdef int32_t block
        self.position = 0
        self.gap = LEAST_GAP
        self.look_at(first)
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            if block != first and self.bound[block] >= (1.0 - SLACK) * sqrt(self.gap):
                self.look_at(block)

    cdef void look_at(self, int32_t block) noexcept nogil:
        """Compute all gaps of a block, and update the leading candidate."""
        cdef int32_t start = block * BLOCK, end = min(self.n_candidates, start + BLOCK), c
        cdef double gap, largest = 0.0
        for c in range(start, end):
            gap = self.gap_of(c)
            largest = gap if gap > largest else largest
        self.bound[block] = sqrt(largest)
        # The first pass has no branch. The second one, which finds the place, is rarely needed.
        if largest < (1.0 - TIE) * self.gap:
            return
        for c in range(start, end):
            gap = self.gap_of(c)
            if gap > (1.0 + TIE) * self.gap or (
                gap >= (1.0 - TIE) * self.gap and self.node[c] < self.node[self.position]
            ):
                self.position = c
            self.gap = max(gap, self.gap)

    cdef inline double gap_of(self, int32_t c) noexcept nogil:
        cdef const double* sums = &self.sums[c, 0]
        cdef double squares = 0.0
        cdef Py_ssize_t k
        for k in range(self.sums.shape[1]):
            squares += sums[k] * sums[k]
        return squares * self.inverse[c]

    cdef void measure(self, int32_t c) noexcept nogil:
        cdef ForestNode* node = &self.table.nodes[self.node[c]]
        cdef Py_ssize_t k
        self.loss.gather(self.table.samples_of(node), node.size, &self.stats[0])
        self.loss.solve(&self.stats[0], node.size, &self.weight[0])
        for k in range(self.sums.shape[1]):
            self.sums[c, k] = self.stats[k]
        self.inverse[c] = 1.0 / self.squared.mass(&self.stats[0], node.size)
        self.bound[c // BLOCK] = max(self.bound[c // BLOCK], sqrt(self.gap_of(c)))

    cdef void step(self, ForestNode* node) noexcept nogil:
        cdef const int32_t* samples = self.table.samples_of(node)
        cdef double* less = &self.less[0]
        cdef double weight, length = self.learning_rate * sqrt(self.gap)
        cdef Py_ssize_t k, n_outputs = self.sums.shape[1], n_trees = self.holder.shape[1]
        cdef int32_t i, block
        for i in range(node.size):
            weight = self.squared.weight_of(samples[i])
            for k in range(n_outputs):
                less[k] = self.learning_rate * self.weight[k] * weight
            # A constant length of the inner loop makes the case of one output a quarter faster.
            if n_outputs == 1:
                subtract(&self.sums[0, 0], &self.holder[samples[i], 0], n_trees, less, 1)
            else:
                subtract(&self.sums[0, 0], &self.holder[samples[i], 0], n_trees, less, n_outputs)
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            self.bound[block] += length

    cdef void refresh(self) noexcept nogil:
        """Recompute the sums of all candidates."""
        # `measure` only raises bounds, so they start from 0 here.
        cdef int32_t c
        self.anchor = 0.0
        for c in range(self.n_candidates):
            if c % BLOCK == 0:
                self.bound[c // BLOCK] = 0.0
            if c > 0:
                self.measure(c)


cdef inline void subtract(
    double* sums, const int32_t* rows, Py_ssize_t n_rows, const double* less, Py_ssize_t n_outputs
) noexcept nogil:
    """Subtract the same values from some rows of a table."""
    cdef double* row
    cdef Py_ssize_t i, k
    for i in range(n_rows):
        row = sums + rows[i] * n_outputs
        for k in range(n_outputs):
            row[k] -= less[k]


cdef class ExponentialCandidates(ExactPool):
    """All candidates of a forest under an exponential loss.

    Gaps need logarithms, so only changed ones are recomputed, and each block's largest is kept.
    """

    cdef:
        ExponentialLoss exponential  # the loss
        double[::1] gaps     # of each candidate; negative: sums must be recomputed
        int32_t[::1] best    # candidate of each block with the largest gap; -1: unknown
        double[::1] trial

    def __init__(self, NodeTable table, ExponentialLoss loss):
        ExactPool.__init__(self, table, loss, loss.width)
        self.exponential = loss
        self.gaps = np.zeros(self.node.shape[0])
        self.best = np.full(self.node.shape[0] // BLOCK + 1, -1, dtype=np.int32)
        self.trial = np.empty(loss.n_outputs)

    cdef bint find(self) noexcept nogil:
        # Kept sums are inexact: the leader's are recomputed, and it is taken if it still leads.
        cdef double kept = 0.0
        cdef int32_t leader = self.leading()
        self.position = 0
        while self.gaps[leader] > 0.0 and leader != self.position:
            self.position = leader
            kept = self.gaps[leader]
            self.measure(leader)
            if self.gaps[leader] < kept:
                leader = self.leading()
        self.found = self.node[self.position]
        return self.gaps[leader] > 0.0

    cdef int32_t leading(self) noexcept nogil:
        """Return the candidate with the largest kept gap, or 0 if none is positive."""
        cdef int32_t block, c, leader = 0
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            if self.best[block] < 0:
                self.rank(block)
            c = self.best[block]
            if self.leads(c, leader):
                leader = c
        return leader

    cdef void rank(self, int32_t block) noexcept nogil:
        """Find the largest gap of a block, after recomputing sums that lost precision."""
        cdef double* gaps = &self.gaps[0]
        cdef int32_t c, leader = 0
        for c in range(block * BLOCK, min(self.n_candidates, (block + 1) * BLOCK)):
            if gaps[c] < 0.0:
                self.measure(c)
            if gaps[c] > 0.0 and self.leads(c, leader):
                leader = c
        self.best[block] = leader

    cdef inline bint leads(self, int32_t c, int32_t leader) noexcept nogil:
        """Return whether a gap is larger than the leader's, or equal and in an earlier tree."""
        cdef double ahead = self.gaps[c] - self.gaps[leader]
        if ahead != 0.0 or leader == 0:
            return ahead > 0.0
        return self.table.nodes[self.node[c]].tree < self.table.nodes[self.node[leader]].tree

    cdef void remove(self) noexcept nogil:
        ExactPool.remove(self)
        self.best[self.n_candidates // BLOCK] = -1  # its best may have moved

    cdef void measure(self, int32_t c) noexcept nogil:
        cdef ForestNode* node = &self.table.nodes[self.node[c]]
        cdef double* sums = &self.sums[c, 0]
        self.loss.gather(self.table.samples_of(node), node.size, sums)
        self.gaps[c] = max(0.0, self.loss.solve(sums, node.size, &self.weight[0]))
        self.best[c // BLOCK] = -1

    cdef void step(self, ForestNode* node) noexcept nogil:
        cdef const int32_t* samples = self.table.samples_of(node)
        cdef const int32_t* holders
        cdef const double* factor = &self.exponential.factor[0]
        cdef int32_t i, t, c, code, n_trees = <int32_t> self.holder.shape[1]
        cdef double change
        # First pass: the loss multiplied each error by its class's factor, so a sum changes by the
        # new error times (1 - 1 / factor), and the old errors need not be kept.
        for i in range(node.size):
            code = self.exponential.codes[samples[i]]
            change = self.exponential.errors[samples[i]] * (1.0 - 1.0 / factor[code])
            holders = &self.holder[samples[i], 0]
            for t in range(n_trees):
                self.sums[holders[t], code] += change
                self.gaps[holders[t]] = TOUCHED
        # Second pass: each marked candidate is solved once, which clears its mark.
        self.gaps[0] = 0.0
        for i in range(node.size):
            holders = &self.holder[samples[i], 0]
            for t in range(n_trees):
                c = holders[t]
                if self.gaps[c] == TOUCHED:
                    self.gaps[c] = self.shifted_gap(&self.sums[c, 0])
                    self.best[c // BLOCK] = -1

    cdef double shifted_gap(self, const double* sums) noexcept nogil:
        """Return the gap of updated sums, or -1 if cancellation has ruined a class error."""
        # Small differences of large sums have few correct digits, but would determine the gap.
        cdef Py_ssize_t k, n_classes = self.loss.n_outputs
        for k in range(n_classes):
            if sums[k] < LEAST_ANCHORED * sums[n_classes + k]:  # its anchor
                return -1.0
        return max(0.0, self.loss.solve(sums, 0, &self.trial[0]))


def grow(
    NodeTable table,
    Splitter splitter,
    Loss loss,
    Pool pool,
    int64_t node_budget,
    double learning_rate,
    double[:, ::1] weights,   # OUT (>= accepted nodes, n_outputs): shrunk weights by rank
    int64_t[::1] nodes_after,  # OUT nodes in the model after each acceptance, with roots
    double most_tests=INFINITY,  # most tests of all samples together
):
    """Accept nodes until the budget is spent or no candidate improves the loss; return how many.

    Roots are never candidates. The first accepted node of a tree also pays for the root, so it is
    refused if only one node is left. A split counts as tested once one of its sides is accepted.
    """
    cdef:
        int32_t root, node, n_accepted = 0
        int64_t n_nodes = 0, price, n_tests = 0, tests
    with nogil:
        # Step 6 of algorithm 1: the first candidates are the children of the roots.
        for root in range(table.n_nodes):
            node = open_node(table, splitter, root)
            if node >= 0:
                pool.add(node)
                pool.add(node + 1)
        while n_nodes < node_budget and pool.find():
            # The other side, without fetching the parent: siblings are pairs after the roots.
            node = (pool.found - table.n_trees ^ 1) + table.n_trees
            price, tests = 1, 0
            if table.nodes[node].step < 0:
                tests = table.nodes[node].size + table.nodes[pool.found].size
                price += table.nodes[pool.found].parent < table.n_trees  # a root, not paid yet
            if n_nodes + price > node_budget or n_tests + tests > most_tests:
                pool.remove()
                continue
            # Steps 10 to 12. The found node is split after its step and before the next draw. The
            # memory for that draw is prefetched before the split, which takes longest.
            accept(
                table, loss, pool.found, n_accepted, learning_rate, &pool.weight[0],
                &weights[n_accepted, 0],
            )
            if splitter.charges is not None and splitter.charges.acquire(pool.feature(pool.found)):
                pool.stale = True
            pool.look_ahead()
            pool.replace(open_node(table, splitter, pool.found))
            n_nodes += price
            n_tests += tests
            nodes_after[n_accepted] = n_nodes
            n_accepted += 1
    return n_accepted


def grow_on_residuals(
    NodeTable table,
    Splitter splitter,  # whose targets are the residuals of the loss
    Loss loss,
    int64_t node_budget,
    double learning_rate,
    uint64_t seed,
    double[:, ::1] weights,    # OUT as in `grow`
    int64_t[::1] nodes_after,  # OUT
    double most_tests=INFINITY,
):
    """Draw a leaf at random, split it and accept both sides, until the budget is spent.

    A leaf is split when it is drawn, by the residuals at that moment. The first split of a tree
    also pays for the root. A leaf that cannot be split, or not within the budget, is dropped.
    """
    cdef:
        int32_t[::1] leaves = np.empty(table.nodes.shape[0], dtype=np.int32)
        double[::1] stats = np.empty(loss.width)
        uint64_t state = 2 * seed + 1  # must not be 0 for xorshift
        int32_t n_leaves = table.n_nodes, n_accepted = 0, drawn, node, child, size
        double* step
        int64_t n_nodes = 0, price, n_tests = 0
    for node in range(n_leaves):
        leaves[node] = node
    with nogil:
        while n_nodes + 2 <= node_budget and n_leaves > 0:
            drawn = <int32_t> as_below(next_xorshift(&state), n_leaves)
            node = leaves[drawn]
            n_leaves -= 1
            leaves[drawn] = leaves[n_leaves]  # the order of leaves does not matter
            price = 3 if table.nodes[node].parent < 0 else 2
            size = table.nodes[node].size
            if n_nodes + price > node_budget or n_tests + size > most_tests:
                continue
            child = open_node(table, splitter, node)
            if child < 0:
                continue
            n_tests += size
            if splitter.charges is not None:
                splitter.charges.acquire(table.nodes[node].feature)
            n_nodes += price
            # Both sides count together, so that `within` never keeps only one side of a split.
            for node in range(child, child + 2):
                step = &weights[n_accepted, 0]
                size = table.nodes[node].size
                loss.gather(table.samples_of(&table.nodes[node]), size, &stats[0])
                loss.solve(&stats[0], size, step)
                accept(table, loss, node, n_accepted, learning_rate, step, step)
                nodes_after[n_accepted] = n_nodes
                n_accepted += 1
                leaves[n_leaves] = node
                n_leaves += 1
    return n_accepted


cdef inline void accept(
    NodeTable table, Loss loss, int32_t j, int32_t rank, double learning_rate,
    const double* weight, double* step,
) noexcept nogil:
    """Give a node its shrunk optimal weight, and update the predictions of its samples."""
    cdef ForestNode* node = &table.nodes[j]
    cdef Py_ssize_t k
    for k in range(loss.n_outputs):
        step[k] = learning_rate * weight[k]
    node.step = rank
    loss.update(table.samples_of(node), node.size, step)


cdef inline int32_t open_node(NodeTable table, Splitter splitter, int32_t j) noexcept nogil:
    """Split a node; return its left child (the right one is the next node), or -1."""
    cdef ForestNode* node = &table.nodes[j]
    cdef int32_t n_left, depth = 0, above = node.parent
    # The depth is counted up the path, because a field would take memory in every forest.
    while above >= 0 and depth < table.max_depth < INT32_MAX:
        above = table.nodes[above].parent
        depth += 1
    n_left = 0 if depth >= table.max_depth else part(table, splitter, j)
    if n_left == 0:
        return -1
    node.child = table.add(node.tree, j, 0)
    table.add(node.tree, j, 0)
    table.part(j, n_left)
    return node.child


cdef inline int32_t part(NodeTable table, Splitter splitter, int32_t j) noexcept nogil:
    """Find the split of a node and partition its samples; return how many go left, 0: no split."""
    cdef ForestNode* node = &table.nodes[j]
    cdef Split split
    splitter.found = node.start < 0 and table.codes is not None
    splitter.split(table.samples_of(node), node.size, &split)
    if split.n_left > 0:
        node.feature = split.feature
        node.threshold = split.threshold
        node.missing_left = split.missing_left
        node.decrease = split.decrease
    return split.n_left


def refit(
    NodeTable table,
    Loss loss,
    int32_t n_passes,
    double learning_rate,
    double[:, ::1] weights,   # IN OUT (n_accepted, n_outputs) by rank
):
    """Go over the accepted nodes again, in order, and add the optimal step to each weight.

    The paper's conclusion proposes this refitting. A pass takes as long as accepting the nodes did,
    without splitting.
    """
    cdef:
        int32_t[::1] accepted = table.accepted()
        double[::1] stats = np.empty(loss.width)
        double[::1] step = np.empty(loss.n_outputs)
        ForestNode* node
        int32_t rank, _n_pass
        Py_ssize_t k
    with nogil:
        for _n_pass in range(n_passes):
            for rank in range(accepted.shape[0]):
                node = &table.nodes[accepted[rank]]
                loss.gather(table.samples_of(node), node.size, &stats[0])
                if loss.solve(&stats[0], node.size, &step[0]) <= 0.0:
                    continue
                accept(table, loss, accepted[rank], rank, learning_rate, &step[0], &step[0])
                for k in range(loss.n_outputs):
                    weights[rank, k] += step[k]
