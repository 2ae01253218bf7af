"""Kernel: the growing loops of globally induced forests, and the choice among their candidates.

Algorithm 1 (Begon, Joly and Geurts, 2017). Of its steps 8 and 9: a window of candidates is drawn
uniformly at random, and the one whose optimal weight lowers the loss most is taken.
"""

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint64_t

from ..tree.random cimport as_below, next_xorshift
from .loss_kernels cimport Loss
from .nodes cimport ForestNode, NodeTable, fetch_ahead
from .splitter cimport Split, Splitter


cdef class Pool:
    """Candidates of a forest; see `grower.pxd` for the contract."""

    def __init__(self, NodeTable table, Loss loss):
        self.table = table
        self.loss = loss
        self.weight = np.zeros(loss.n_outputs)
        self.found = -1

    cdef bint find(self) noexcept nogil:
        return False

    cdef void look_ahead(self) noexcept nogil:
        pass

    cdef int add(self, int32_t node) except -1 nogil:
        return 0

    cdef void remove(self) noexcept nogil:
        pass

    cdef int replace(self, int32_t child) except -1 nogil:
        return 0


cdef struct Candidate:
    # What `find` needs of a node, in less room than the node takes.
    int32_t* samples
    int32_t size
    int32_t node


cdef class RandomWindow(Pool):
    """A window of candidates, drawn without replacement for each step."""

    cdef:
        Candidate* candidates
        object memory
        int32_t n_candidates, n_window, position
        int32_t next         # the candidate that is likely to be drawn next
        double[::1] stats, trial
        uint64_t state

    def __init__(self, NodeTable table, Loss loss, n_window, seed):
        Pool.__init__(self, table, loss)
        # There are never more candidates than nodes; what is not used takes no memory.
        self.memory = np.empty(table.records.shape[0] * sizeof(Candidate), dtype=np.uint8)
        cdef uint8_t[::1] memory = self.memory
        self.candidates = <Candidate*> &memory[0]
        self.n_candidates = 0
        self.n_window = min(n_window, table.records.shape[0])
        self.stats = np.empty(loss.width)
        self.trial = np.empty(loss.n_outputs)
        self.state = <uint64_t> seed * 2 + 1

    cdef bint find(self) noexcept nogil:
        cdef int32_t size, i, drawn
        cdef Candidate candidate
        cdef double gap, best
        while self.n_candidates > 0:
            size = min(self.n_window, self.n_candidates)
            best = -1.0
            self.position = -1
            # Without replacement: drawn candidates are swapped to the front.
            for i in range(size):
                drawn = i + <int32_t> as_below(
                    next_xorshift(&self.state), self.n_candidates - i
                )
                candidate = self.candidates[drawn]
                self.candidates[drawn] = self.candidates[i]
                self.candidates[i] = candidate
                self.loss.gather(candidate.samples, candidate.size, &self.stats[0])
                gap = self.loss.solve(&self.stats[0], candidate.size, &self.trial[0])
                if gap > best or self.position < 0:
                    best = gap
                    self.position = i
                    self.weight, self.trial = self.trial, self.weight  # swapped, not copied
            if best > 0.0:
                self.found = self.candidates[self.position].node
                self.foresee()
                return True
            # Seen all of them: growth ends. Otherwise the best of the window is dropped for good.
            if size == self.n_candidates:
                return False
            self.remove()
        return False

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

    cdef int add(self, int32_t node) except -1 nogil:
        cdef ForestNode* added = &self.table.nodes[node]
        cdef Candidate* candidate = &self.candidates[self.n_candidates]
        candidate.samples = &self.table.order[added.tree, added.start]
        candidate.size = added.size
        candidate.node = node
        self.n_candidates += 1
        return 0

    cdef void remove(self) noexcept nogil:
        self.n_candidates -= 1
        self.candidates[self.position] = self.candidates[self.n_candidates]  # as `foresee` says

    cdef int replace(self, int32_t child) except -1 nogil:
        self.remove()
        if child >= 0:
            self.add(child)
            self.add(child + 1)
        return 0


def grow(
    NodeTable table,
    Splitter splitter,
    Loss loss,
    Pool pool,
    int64_t node_budget,
    double learning_rate,
    double[:, ::1] weights,   # OUT (>= accepted nodes, n_outputs): shrunk weights by rank
    int64_t[::1] nodes_after,  # OUT nodes in the model after each acceptance, roots included
):
    """Accept nodes until the budget is spent or no candidate improves the loss; return how many.

    Roots are never candidates; a root is charged with
    the first accepted node of its tree, so that node is refused when one node is left.
    """
    cdef:
        uint8_t[::1] rooted = np.zeros(table.n_nodes, dtype=np.uint8)
        int32_t root, node, tree, n_accepted = 0
        int64_t n_nodes = 0, price
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
            if n_nodes + price > node_budget:
                pool.remove()
                continue
            # Steps 10 to 12. The found node is split after its step and before the next draw, and
            # memory for that draw is asked for before the split, which takes longest.
            accept(table, loss, pool, learning_rate, n_accepted, &weights[n_accepted, 0])
            pool.look_ahead()
            pool.replace(open_node(table, splitter, pool.found))
            rooted[tree] = 1
            n_nodes += price
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
):
    """Draw a leaf at random, split it and accept both sides, until the budget is spent.

    A leaf is split when it is drawn, by what the forest misses at that moment. A root is charged
    with its first split; a leaf whose split costs more than is left is dropped, as is one that
    cannot be split.
    """
    cdef:
        int32_t[::1] leaves = np.empty(table.nodes.shape[0], dtype=np.int32)
        double[::1] stats = np.empty(loss.width)
        uint64_t state = 2 * seed + 1
        int32_t n_leaves = table.n_nodes, n_accepted = 0, drawn, node, child
        int32_t* samples
        int64_t n_nodes = 0, price
    for node in range(n_leaves):
        leaves[node] = node
    with nogil:
        while n_nodes + 2 <= node_budget and n_leaves > 0:
            drawn = <int32_t> as_below(next_xorshift(&state), n_leaves)
            node = leaves[drawn]
            n_leaves -= 1
            leaves[drawn] = leaves[n_leaves]  # the order of leaves is of no matter
            price = 3 if table.nodes[node].parent < 0 else 2
            if n_nodes + price > node_budget:
                continue
            child = open_node(table, splitter, node)
            if child < 0:
                continue
            n_nodes += price
            # Both sides count at once, so that `within` never cuts a split in two.
            for node in range(child, child + 2):
                samples = &table.order[table.nodes[node].tree, table.nodes[node].start]
                weigh(
                    loss, samples, table.nodes[node].size, learning_rate, &stats[0],
                    &weights[n_accepted, 0],
                )
                loss.update(samples, table.nodes[node].size, &weights[n_accepted, 0])
                table.nodes[node].step = n_accepted
                nodes_after[n_accepted] = n_nodes
                n_accepted += 1
                leaves[n_leaves] = node
                n_leaves += 1
    return n_accepted


cdef inline double weigh(
    Loss loss, const int32_t* samples, int32_t n, double learning_rate, double* stats, double* step
) noexcept nogil:
    """Write the shrunk weight of a node; return how much the loss falls at full weight."""
    cdef double gap
    cdef Py_ssize_t k
    # The gap is that of the full step; the step itself is shrunk by the learning rate.
    loss.gather(samples, n, stats)
    gap = loss.solve(stats, n, step)
    for k in range(loss.n_outputs):
        step[k] *= learning_rate
    return gap


cdef inline void accept(
    NodeTable table, Loss loss, Pool pool, double learning_rate, int32_t rank, double* step
) noexcept nogil:
    """Give the found node its shrunk weight and update the predictions of its samples."""
    cdef ForestNode* node = &table.nodes[pool.found]
    cdef Py_ssize_t k
    for k in range(loss.n_outputs):
        step[k] = learning_rate * pool.weight[k]
    node.step = rank
    loss.update(&table.order[node.tree, node.start], node.size, step)


cdef inline int32_t open_node(NodeTable table, Splitter splitter, int32_t j) noexcept nogil:
    """Split a node; return its left child, the right one being the next, or -1."""
    cdef ForestNode* node = &table.nodes[j]
    cdef Split split
    if table.max_depth < INT32_MAX and table.is_deepest(j):
        return -1
    splitter.split(&table.order[node.tree, node.start], node.size, &split)
    if split.n_left == 0:
        return -1
    node.feature = split.feature
    node.threshold = split.threshold
    node.missing_left = split.missing_left
    node.decrease = split.decrease
    node.child = table.add(node.tree, j, node.start, split.n_left)
    table.add(node.tree, j, node.start + split.n_left, node.size - split.n_left)
    return node.child


def refit(
    NodeTable table,
    Loss loss,
    int32_t n_passes,
    double learning_rate,
    double[:, ::1] weights,   # IN OUT (n_accepted, n_outputs) by rank
):
    """Go over the accepted nodes again, in order, and give each what then improves the loss most.

    The refitting that the paper's conclusion proposes. A pass costs what accepting the nodes cost,
    without the splits.
    """
    cdef:
        int32_t[::1] accepted = np.empty(weights.shape[0], dtype=np.int32)
        double[::1] stats = np.empty(loss.width)
        double[::1] step = np.empty(loss.n_outputs)
        ForestNode* node
        int32_t* samples
        int32_t j, rank, _n_pass
        Py_ssize_t k
    with nogil:
        # By rank, not by id: the order of acceptance, in which the first pass had weighed them.
        for j in range(table.n_nodes):
            if table.nodes[j].step >= 0:
                accepted[table.nodes[j].step] = j
        for _n_pass in range(n_passes):
            for rank in range(accepted.shape[0]):
                node = &table.nodes[accepted[rank]]
                samples = &table.order[node.tree, node.start]
                if weigh(loss, samples, node.size, learning_rate, &stats[0], &step[0]) <= 0.0:
                    continue
                for k in range(loss.n_outputs):
                    weights[rank, k] += step[k]
                loss.update(samples, node.size, &step[0])
