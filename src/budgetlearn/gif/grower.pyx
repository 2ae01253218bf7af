"""Kernel: the growing loops of globally induced forests, and the choice among their candidates.

Algorithm 1 (Begon, Joly and Geurts, 2017). Of its steps 8 and 9: of a window of candidates, drawn
uniformly, or of all, the one whose optimal weight lowers the loss most is taken.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint64_t

from ..tree.nodes cimport Blocks
from ..tree.random cimport as_below, next_xorshift
from .loss_kernels cimport ExponentialLoss, Loss, SquaredLoss
from .nodes cimport ForestNode, NodeTable, Split, Splitter, fetch_ahead

# Sums and bounds are rounded: what falls short of the largest by less than this share may be it.
cdef double SLACK = 1e-9
# Gaps that differ by less than this share, as by other roundings, are equal: the oldest node leads.
cdef double TIE = 1e-10
# No gap at all, for targets of size 1: the rounding of residuals leaves 1e-32, over and over again,
# and squares below 1e-308 take the processor a hundred times as long.
cdef double LEAST_GAP = 1e-290
# Once the largest gap has fallen below this share of what it was, all is summed up afresh: sums
# keep rounding errors of when they were large. So is a class error below this share of its anchor.
cdef double LEAST_REST = 1e-6
cdef double LEAST_ANCHORED = 1e-3
# Stands for the gap of a candidate between the two passes of a step.
cdef double TOUCHED = -2.0

cdef enum:
    BLOCK = 64  # candidates that are searched together


cdef class Pool(Blocks):
    """The candidates of a forest: nodes that could enter the model."""

    cdef:
        NodeTable table
        Loss loss
        double[::1] weight   # full optimal weight of the node that `find` found
        int32_t found, position  # that node, and its place among the candidates
        int32_t n_candidates
        bint stale           # whether nodes dropped for their charge may be worth it now

    def __init__(self, NodeTable table, Loss loss):
        self.table = table
        self.loss = loss
        self.weight = np.zeros(loss.n_outputs)
        self.found = -1

    cdef inline int32_t feature(self, int32_t node) noexcept nogil:
        """Return the feature that tells a node from its sibling."""
        return self.table.nodes[self.table.nodes[node].parent].feature

    cdef bint find(self) noexcept nogil:
        """Find the next node to accept; return False where no candidate improves the loss."""
        return False

    cdef void look_ahead(self) noexcept nogil:
        """Fetch what the next `find` will need, as far as can be told before the split."""

    cdef void add(self, int32_t node) noexcept nogil:
        pass

    cdef void remove(self) noexcept nogil:
        """Drop the found node."""

    cdef void replace(self, int32_t child) noexcept nogil:
        """Put the children (child, child + 1; none if -1) in the place of the found node.

        To be called after the loss was updated.
        """


cdef struct Candidate:
    # What `find` needs of a node, in less room than the node takes.
    int32_t* samples  # NULL: not kept
    int32_t size
    int32_t node


cdef class RandomWindow(Pool):
    """A window of candidates, drawn without replacement for each step.

    A splitter with charges makes them count: the gap of a candidate is lowered by the charge of the
    feature that its parent is split on, times the loss of the constant. Where none of the window is
    worth its charge, the split that comes closest is drawn anew among the acquired features. Both
    its sides are candidates then: a split on a feature not acquired has no accepted side.
    """

    cdef:
        Candidate* candidates
        int32_t n_window
        int32_t next         # the candidate that is likely to be drawn next
        double[::1] stats, trial
        uint64_t state
        Splitter splitter    # None: without charges

    def __init__(self, NodeTable table, Loss loss, n_window, seed, Splitter splitter=None):
        Pool.__init__(self, table, loss)
        if splitter is not None and splitter.charges is not None:
            self.splitter = splitter
        # There are never more candidates than nodes; what is not used takes no memory.
        self.candidates = <Candidate*> self.get(table.records.shape[0] * sizeof(Candidate))
        self.n_window = min(n_window, table.records.shape[0])
        self.stats = np.empty(loss.width)
        self.trial = np.empty(loss.n_outputs)
        self.state = <uint64_t> seed * 2 + 1

    cdef bint find(self) noexcept nogil:
        cdef int32_t size, i, drawn, node
        cdef Candidate candidate
        cdef double gap, best
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
            # Without replacement: drawn candidates are swapped to the front.
            for i in range(size):
                drawn = i + <int32_t> as_below(next_xorshift(&self.state), self.n_candidates - i)
                candidate = self.candidates[drawn]
                self.candidates[drawn] = self.candidates[i]
                self.candidates[i] = candidate
                if self.splitter is not None:
                    node = candidate.node  # its split may have been drawn anew
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
                    self.weight, self.trial = self.trial, self.weight  # swapped, not copied
            if best > 0.0:
                self.found = self.candidates[self.position].node
                self.foresee()
                return True
            # Seen all of them: growth ends. Otherwise the best of the window is dropped for good.
            if self.splitter is None and size == self.n_candidates:
                return False
            if self.splitter is None or not self.part_anew(self.candidates[self.position].node):
                self.remove()
        return False

    cdef bint part_anew(self, int32_t node) noexcept nogil:
        """Split a candidate's parent on an acquired feature; return False where it is or cannot."""
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
        """Predict the candidate that the next `find` draws first, and fetch it."""
        # The found one will give way to the last one, and to two children at the end, or none.
        cdef int32_t n_left = self.n_candidates - 1
        cdef int32_t n_children = 2 if self.candidates[self.position].size > 1 else 0
        cdef uint64_t state = self.state
        self.next = <int32_t> as_below(next_xorshift(&state), n_left + n_children)
        if self.next == self.position:
            self.next = n_left
        elif self.next >= n_left:
            self.next = self.position  # a child, which is at hand
        fetch_ahead(&self.candidates[self.next])

    cdef void look_ahead(self) noexcept nogil:
        cdef Candidate candidate = self.candidates[self.next]
        fetch_ahead(candidate.samples)
        fetch_ahead(&self.table.nodes[candidate.node].threshold)
        fetch_ahead(&self.table.nodes[candidate.node].step)  # on the next line, as often as not

    cdef void add(self, int32_t node) noexcept nogil:
        cdef ForestNode* added = &self.table.nodes[node]
        self.candidates[self.n_candidates] = Candidate(self.table.kept(added), added.size, node)
        self.n_candidates += 1

    cdef void remove(self) noexcept nogil:
        self.n_candidates -= 1
        self.candidates[self.position] = self.candidates[self.n_candidates]  # as `foresee` says

    cdef void replace(self, int32_t child) noexcept nogil:
        self.remove()
        if child >= 0:
            self.add(child)
            self.add(child + 1)


cdef class ExactPool(Pool):
    """All candidates, exactly (algorithm 1 with an unlimited window).

    The candidates of one tree share no sample. So the sums that decide on them are kept, and an
    accepted node changes one candidate in each tree for each of its samples: |Z_j| T additions
    where gathering all anew would take N T.

    Candidate 0 stands for the samples that no candidate of their tree holds.
    """

    cdef:
        int32_t[:, ::1] holder   # (n_samples, n_trees) candidates: a sample changes one row
        int32_t[::1] node        # of each candidate
        double[:, ::1] sums      # (n_candidates, ...)

    def __init__(self, NodeTable table, Loss loss, n_sums):
        Pool.__init__(self, table, loss)
        # There are never more candidates than nodes; what is not used takes no memory.
        room = table.records.shape[0] + 1
        self.holder = np.zeros((table.n_samples, table.n_trees), dtype=np.int32)
        self.node = np.empty(room, dtype=np.int32)
        self.node[0] = -1
        self.sums = np.empty((room, n_sums))
        self.sums[0, :] = 0.0
        self.n_candidates = 1

    cdef void measure(self, int32_t c) noexcept nogil:
        """Sum up a candidate afresh; leave its optimal weight in `weight`."""

    cdef void step(self, ForestNode* node) noexcept nogil:
        """Update the sums of all candidates that hold samples of an accepted node."""

    cdef void hold(self, int32_t j, int32_t c) noexcept nogil:
        """Write down that a candidate holds the samples of node j."""
        cdef ForestNode* node = &self.table.nodes[j]
        cdef const int32_t* samples = self.table.samples_of(node)
        cdef int32_t i
        for i in range(node.size):
            self.holder[samples[i], node.tree] = c

    cdef void fill(self, int32_t c, int32_t j) noexcept nogil:
        """Let candidate c be node j."""
        self.node[c] = j
        self.hold(j, c)
        self.measure(c)

    cdef void add(self, int32_t node) noexcept nogil:
        self.n_candidates += 1
        self.fill(self.n_candidates - 1, node)

    cdef void remove(self) noexcept nogil:
        cdef int32_t last = self.n_candidates - 1
        self.hold(self.found, 0)
        # The last candidate moves into the gap: places stay dense, and blocks full.
        if self.position != last:
            self.fill(self.position, self.node[last])
        self.n_candidates = last

    cdef void replace(self, int32_t child) noexcept nogil:
        # The step goes to the found candidate's own sums too, which its children then overwrite.
        self.step(&self.table.nodes[self.found])
        if child < 0:
            self.remove()
        else:
            self.fill(self.position, child)
            self.add(child + 1)


cdef class SquaredCandidates(ExactPool):
    """All candidates of a forest under the squared loss.

    Which gap is now the largest is found without looking at all of them. The root of a gap is the
    length of the projection of the residuals on the node's indicator, so it changes by no more than
    the length of the step that the residuals make. A block of candidates is therefore looked at
    again only when its largest root plus the lengths of all steps since reaches the largest found.
    """

    cdef:
        SquaredLoss squared         # the loss
        double[::1] inverse         # 1 / weight of the samples
        double[::1] bound           # of each block, on the root of its largest gap
        double[::1] stats, less
        double learning_rate, gap
        double anchor               # largest gap accepted since all was summed up afresh

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
            # The last step put new candidates there, a good place to begin.
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
        """Find the largest gap, and whose it is (0: there is none), beginning with a block."""
        cdef int32_t block
        self.position = 0
        self.gap = LEAST_GAP
        self.look_at(first)
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            if block != first and self.bound[block] >= (1.0 - SLACK) * sqrt(self.gap):
                self.look_at(block)

    cdef void look_at(self, int32_t block) noexcept nogil:
        """Look at all candidates of a block; remember the one that leads."""
        cdef int32_t start = block * BLOCK, end = min(self.n_candidates, start + BLOCK), c
        cdef double gap, largest = 0.0
        for c in range(start, end):
            gap = self.gap_of(c)
            largest = gap if gap > largest else largest
        self.bound[block] = sqrt(largest)
        # The first pass has no branch; the second one, for the place, is seldom needed.
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
            # With one output the compiler knows the length of the inner loop: a quarter faster.
            if n_outputs == 1:
                subtract(&self.sums[0, 0], &self.holder[samples[i], 0], n_trees, less, 1)
            else:
                subtract(&self.sums[0, 0], &self.holder[samples[i], 0], n_trees, less, n_outputs)
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            self.bound[block] += length

    cdef void refresh(self) noexcept nogil:
        """Sum up all candidates afresh."""
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
    """Subtract the same from rows of a table."""
    cdef double* row
    cdef Py_ssize_t i, k
    for i in range(n_rows):
        row = sums + rows[i] * n_outputs
        for k in range(n_outputs):
            row[k] -= less[k]


cdef class ExponentialCandidates(ExactPool):
    """All candidates of a forest under an exponential loss.

    Gaps take logarithms, so only changed ones are found again, and each block's largest is kept.
    """

    cdef:
        ExponentialLoss exponential  # the loss
        double[::1] gaps     # of each candidate; negative: to be summed up afresh
        int32_t[::1] best    # candidate of each block with the largest gap; -1: not known
        double[::1] trial

    def __init__(self, NodeTable table, ExponentialLoss loss):
        ExactPool.__init__(self, table, loss, loss.width)
        self.exponential = loss
        self.gaps = np.zeros(self.node.shape[0])
        self.best = np.full(self.node.shape[0] // BLOCK + 1, -1, dtype=np.int32)
        self.trial = np.empty(loss.n_outputs)

    cdef bint find(self) noexcept nogil:
        # The kept sums only nominate: the leader is summed up afresh, and taken if it still leads.
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
        """Return the candidate of the largest gap as far as it is known, 0: none is positive."""
        cdef int32_t block, c, leader = 0
        for block in range((self.n_candidates + BLOCK - 1) // BLOCK):
            if self.best[block] < 0:
                self.rank(block)
            c = self.best[block]
            if self.leads(c, leader):
                leader = c
        return leader

    cdef void rank(self, int32_t block) noexcept nogil:
        """Find the largest gap of a block, after summing up afresh what lost its precision."""
        cdef double* gaps = &self.gaps[0]
        cdef int32_t c, leader = 0
        for c in range(block * BLOCK, min(self.n_candidates, (block + 1) * BLOCK)):
            if gaps[c] < 0.0:
                self.measure(c)
            if gaps[c] > 0.0 and self.leads(c, leader):
                leader = c
        self.best[block] = leader

    cdef inline bint leads(self, int32_t c, int32_t leader) noexcept nogil:
        """Return whether a gap is larger than that of the leader, or equal in an earlier tree."""
        cdef double ahead = self.gaps[c] - self.gaps[leader]
        if ahead != 0.0 or leader == 0:
            return ahead > 0.0
        return self.table.nodes[self.node[c]].tree < self.table.nodes[self.node[leader]].tree

    cdef void remove(self) noexcept nogil:
        ExactPool.remove(self)
        self.best[self.n_candidates // BLOCK] = -1  # it may have been the one that has moved

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
        # First pass: the loss multiplied each error by its class's factor, so what the sum of a
        # candidate gained is the new one times (1 - 1 / factor). Old ones need not be kept for it.
        for i in range(node.size):
            code = self.exponential.codes[samples[i]]
            change = self.exponential.errors[samples[i]] * (1.0 - 1.0 / factor[code])
            holders = &self.holder[samples[i], 0]
            for t in range(n_trees):
                self.sums[holders[t], code] += change
                self.gaps[holders[t]] = TOUCHED
        # Second pass: one that holds many of the samples is solved once, its mark then gone.
        self.gaps[0] = 0.0
        for i in range(node.size):
            holders = &self.holder[samples[i], 0]
            for t in range(n_trees):
                c = holders[t]
                if self.gaps[c] == TOUCHED:
                    self.gaps[c] = self.shifted_gap(&self.sums[c, 0])
                    self.best[c // BLOCK] = -1

    cdef double shifted_gap(self, const double* sums) noexcept nogil:
        """Return the gap of updated sums, -1 where cancellation has eaten a class error."""
        # Differences of large sums have few digits left where they are small; these would decide.
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
    int64_t[::1] nodes_after,  # OUT nodes in the model after each acceptance, roots included
    double most_tests=INFINITY,  # that all samples together may take
):
    """Accept nodes until the budget is spent or no candidate improves the loss; return how many.

    Roots are never candidates; a root is charged with the first accepted node of its tree, so that
    node is refused when one node is left. A split is tested by its samples once a side is accepted.
    """
    cdef:
        uint8_t[::1] rooted = np.zeros(table.n_nodes, dtype=np.uint8)
        int32_t root, node, tree, n_accepted = 0
        int64_t n_nodes = 0, price, n_tests = 0, tests
        ForestNode* parent
    with nogil:
        # Step 6 of algorithm 1: the first candidates are the children of the roots.
        for root in range(table.n_nodes):
            node = open_node(table, splitter, root)
            if node >= 0:
                pool.add(node)
                pool.add(node + 1)
        while n_nodes < node_budget and pool.find():
            tree = table.nodes[pool.found].tree
            price = 1 if rooted[tree] else 2  # the root counts with its tree's first node
            parent = &table.nodes[table.nodes[pool.found].parent]
            node = 2 * parent.child + 1 - pool.found  # the other side
            tests = 0 if table.nodes[node].step >= 0 else parent.size
            if n_nodes + price > node_budget or n_tests + tests > most_tests:
                pool.remove()
                continue
            # Steps 10 to 12. The found node is split after its step and before the next draw, and
            # memory for that draw is asked for before the split, which takes longest.
            accept(
                table, loss, pool.found, n_accepted, learning_rate, &pool.weight[0],
                &weights[n_accepted, 0],
            )
            if splitter.charges is not None and splitter.charges.acquire(pool.feature(pool.found)):
                pool.stale = True
            pool.look_ahead()
            pool.replace(open_node(table, splitter, pool.found))
            rooted[tree] = 1
            n_nodes += price
            n_tests += tests
            nodes_after[n_accepted] = n_nodes
            n_accepted += 1
    return n_accepted


def grow_on_residuals(
    NodeTable table,
    Splitter splitter,  # of the residuals of the loss
    Loss loss,
    int64_t node_budget,
    double learning_rate,
    uint64_t seed,
    double[:, ::1] weights,    # OUT as in `grow`
    int64_t[::1] nodes_after,  # OUT
    double most_tests=INFINITY,
):
    """Draw a leaf at random, split it and accept both sides, until the budget is spent.

    A leaf is split when it is drawn, by what the forest misses at that moment. A root is charged
    with its first split; a leaf that cannot be split, or not for what is left, is dropped.
    """
    cdef:
        int32_t[::1] leaves = np.empty(table.nodes.shape[0], dtype=np.int32)
        double[::1] stats = np.empty(loss.width)
        uint64_t state = 2 * seed + 1
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
            leaves[drawn] = leaves[n_leaves]  # the order of leaves is of no matter
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
            # Both sides count at once, so that `within` never cuts a split in two.
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
    """Give a node its optimal weight, shrunk, and update the predictions of its samples."""
    cdef ForestNode* node = &table.nodes[j]
    cdef Py_ssize_t k
    for k in range(loss.n_outputs):
        step[k] = learning_rate * weight[k]
    node.step = rank
    loss.update(table.samples_of(node), node.size, step)


cdef inline int32_t open_node(NodeTable table, Splitter splitter, int32_t j) noexcept nogil:
    """Split a node; return its left child, the right one being the next, or -1."""
    cdef ForestNode* node = &table.nodes[j]
    cdef int32_t n_left, depth = 0, above = node.parent
    # Counted upwards: a field for the depth would cost every forest its memory.
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
    """Find the split of a node and order its samples; return how many go left, 0: no split."""
    cdef ForestNode* node = &table.nodes[j]
    cdef Split split
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
    """Go over the accepted nodes again, in order, and add what improves the loss most to each.

    The refitting that the paper's conclusion proposes. A pass costs what accepting the nodes cost,
    without the splits.
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
