"""Kernel: walk down trees until a feature is needed that is not known yet, and wait for it.

Examples at the same node of a tree go down together, and each node partitions them in one pass over
its column. They wait at the node that needs a feature, so no test is repeated.
"""

import numpy as np

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from .nodes cimport Node, make_room
from .partition cimport Examples, partition, value_t

cdef enum:
    # Examples that start together. Their part of a column stays in the second-level cache.
    BLOCK = 16384
    # Fewer examples than these go down from a node one by one.
    FEW = 3
    LONE = -1

cdef enum Cell:
    # KNOWN is the least, so that a partition by cells <= KNOWN moves known ones to the front.
    KNOWN = 0
    UNKNOWN = 1
    REFUSED = 2


cdef struct Part:
    # Examples at a node: order[tree, start:end], or only the example `start` if `end` is LONE.
    # `following` is the next part of the same list.
    int32_t tree, node, start, end, following


cdef class WaitingTrees:
    """Examples on their way down the trees of a forest, each at a node of each tree.

    With `one_by_one`, an example starts a tree only after it has finished the previous one. If a
    feature is refused, the tree that needs it is void; with `until_refused`, for models that are
    sums of trees, all later trees are void, too. Nodes test columns: one for each feature, then the
    second columns of the features in `second`, in order (see `SecondColumns`).
    """

    cdef:
        const Node[::1] nodes
        const int32_t[::1] roots
        Py_ssize_t n_samples, n_trees
        bint one_by_one, until_refused
        const int32_t[::1] owner      # (n_columns,): the feature of each column
        int32_t[::1] second           # (n_features,): the second column of each, or -1
        double[:, ::1] X              # (n_columns, n_samples)
        uint8_t[:, ::1] cells         # (n_features, n_samples): a `Cell` each
        long long[::1] n_known, n_refused, counts  # (n_features,)
        int32_t[::1] stop             # (n_samples,): the first void tree; later ones are void, too
        int32_t[:, ::1] order         # (n_trees, n_samples): examples, in slices by part
        int32_t[::1] n_started        # (n_trees,): number of examples in `order`
        int32_t[:, ::1] leaves        # (n_trees, n_samples): the leaf reached, or -1
        int32_t[::1] spare            # (n_samples,)
        int32_t[::1] lists            # (n_features,): first part that waits for the feature, or -1
        Part* parts
        int32_t n_parts, unused, to_do  # `unused` and `to_do` are lists too
        bint any_stopped, out_of_memory
        readonly object waiting

    def __init__(
        self, nodes, roots, Py_ssize_t n_samples, Py_ssize_t n_features, second, bint one_by_one,
        bint until_refused,
    ):
        n_trees, places = len(roots), np.full(n_features, -1, dtype=np.int32)
        places[second] = n_features + np.arange(len(second))
        self.owner = np.append(np.arange(n_features), second).astype(np.int32)
        self.second = places
        self.nodes, self.roots = nodes, roots
        self.n_samples, self.n_trees = n_samples, n_trees
        self.one_by_one, self.until_refused = one_by_one, until_refused
        self.X = np.empty((n_features + len(second), n_samples))
        self.cells = np.full((n_features, n_samples), <int> Cell.UNKNOWN, dtype=np.uint8)
        self.n_known, self.n_refused = np.zeros((2, n_features), dtype=np.int64)
        self.counts = self.waiting = np.zeros(n_features, dtype=np.int64)
        every = np.arange(n_samples, dtype=np.int32)
        self.stop = np.full(n_samples, n_trees, dtype=np.int32)
        self.order, self.spare = np.tile(every, (n_trees, 1)), every
        self.leaves = np.full((n_trees, n_samples), -1, dtype=np.int32)
        self.n_started = np.zeros(n_trees, dtype=np.int32)
        self.lists = np.full(n_features, -1, dtype=np.int32)
        self.unused = self.to_do = -1
        cdef int32_t block, start, tree
        with nogil:
            # `to_do` is a stack, so a block goes down all its trees before the next block starts.
            for block in range(<int32_t> ((n_samples + BLOCK - 1) // BLOCK)):
                start = block * BLOCK
                for tree in range(1 if one_by_one else <int32_t> self.n_trees):
                    self.start_tree(tree, start, <int32_t> min(start + BLOCK, n_samples))
            self.walk()
        self.check_memory()

    def __dealloc__(self):
        free(self.parts)

    cdef object check_memory(self):
        if self.out_of_memory:
            raise MemoryError(f"out of memory for {self.n_parts} groups of waiting examples")

    cdef void put(
        self, int32_t* chain, int32_t tree, int32_t node, int32_t start, int32_t end
    ) noexcept nogil:
        """Add a part to a list."""
        # Reuse freed places first, so that memory only grows with the parts that still exist.
        cdef int32_t place = self.unused
        if place >= 0:
            self.unused = self.parts[place].following
        else:
            place = self.n_parts
            if not make_room(<void**> &self.parts, place, sizeof(Part)):
                self.out_of_memory = True
                return
            self.n_parts += 1
        self.parts[place] = Part(tree, node, start, end, chain[0])
        chain[0] = place

    cdef inline Part take(self, int32_t* chain) noexcept nogil:
        """Remove the last part that was added to a list, which must not be empty."""
        cdef int32_t place = chain[0]
        cdef Part part = self.parts[place]
        chain[0] = part.following
        self.parts[place].following = self.unused
        self.unused = place
        return part

    cdef inline void start_tree(self, int32_t tree, int32_t start, int32_t end) noexcept nogil:
        """Put examples of order[tree] at the root."""
        self.n_started[tree] += end - start
        self.put(&self.to_do, tree, self.roots[tree], start, end)

    cdef void walk(self) noexcept nogil:
        """Walk on until all examples wait or have finished their trees."""
        cdef Part part
        cdef int32_t i, column
        cdef int32_t* rows
        cdef int32_t* leaves
        while self.to_do >= 0 and not self.out_of_memory:
            part = self.take(&self.to_do)
            # Partitioning one or two examples costs more than it saves.
            if part.end - part.start < FEW:
                self.walk_each(&part)
                continue
            column = self.nodes[part.node].feature
            if column < 0:
                rows, leaves = self.rows_of(part.tree), &self.leaves[part.tree, 0]
                for i in range(part.start, part.end):
                    leaves[rows[i]] = part.node
                self.leave_tree(part.tree, part.start, part.end)
                continue
            # Examples without the feature stay behind and wait; it is known for the others.
            part.end = self.hold_back(&part, self.owner[column])
            if part.start < part.end:
                self.split(&part)

    cdef inline void split(self, const Part* part) noexcept nogil:
        """Partition a part by the test of its node, and put both sides at the children."""
        cdef const Node* node = &self.nodes[part.node]
        cdef int32_t middle = self.move_up(part, &self.X[node.feature, 0], node.threshold)
        if middle < part.end:
            self.put(&self.to_do, part.tree, node.child + 1, middle, part.end)
        if part.start < middle:
            self.put(&self.to_do, part.tree, node.child, part.start, middle)

    cdef inline int32_t move_up(
        self, const Part* part, const value_t* column, value_t cut
    ) noexcept nogil:
        """Move the examples with value <= cut to the front; return where the others begin."""
        cdef Examples examples
        examples.rows, examples.spare_rows = self.rows_of(part.tree), &self.spare[0]
        return <int32_t> partition(
            &examples, part.start, part.end, column, cut, False, False, <value_t*> NULL,
            <value_t*> NULL,
        )

    cdef int32_t hold_back(self, const Part* part, int32_t feature) noexcept nogil:
        """Let the examples without a node's feature wait; return where the others end."""
        cdef int32_t left = part.start, kept = part.end
        # By the counts, a feature that is known for all or no examples needs no pass.
        if self.n_known[feature] == self.n_samples:
            return part.end
        if self.n_known[feature] > 0:
            left = self.move_up(part, &self.cells[feature, 0], Cell.KNOWN)
        if self.n_refused[feature] or self.any_stopped:
            kept = self.give_up(part.tree, left, part.end, feature)
        if left < kept:
            self.counts[feature] += kept - left
            self.put(&self.lists[feature], part.tree, part.node, left, kept)
        return left

    cdef int32_t give_up(
        self, int32_t tree, int32_t start, int32_t end, int32_t feature
    ) noexcept nogil:
        """Drop the examples of a tree that need not wait; return where the others end."""
        cdef int32_t* rows = self.rows_of(tree)
        cdef int32_t i, row, kept = start, n_refused = 0
        for i in range(start, end):
            row = rows[i]
            if self.cells[feature, row] == Cell.REFUSED:
                self.refuse(tree, row)
                self.spare[n_refused] = row
                n_refused += 1
            # An example whose sum ended before this tree does not need the feature any more.
            elif self.stop[row] > tree:
                rows[kept] = row
                kept += 1
        # A mean continues without this tree, so these examples move on to the next one.
        if not self.until_refused:
            memcpy(rows + end - n_refused, &self.spare[0], n_refused * sizeof(int32_t))
            self.leave_tree(tree, end - n_refused, end)
        return kept

    cdef inline void refuse(self, int32_t tree, int32_t row) noexcept nogil:
        """Record that an example was refused a feature that a tree needs."""
        if self.until_refused:
            self.stop[row] = min(self.stop[row], tree)
            self.any_stopped = True

    cdef void leave_tree(self, int32_t tree, int32_t start, int32_t end) noexcept nogil:
        """Send examples on to the next tree, if they go down one tree after another."""
        cdef int32_t first
        if not self.one_by_one or tree + 1 == self.n_trees or start == end:
            return
        # Append them to the next tree's order, whose parts never overlap.
        first = self.n_started[tree + 1]
        memcpy(
            self.rows_of(tree + 1) + first, self.rows_of(tree) + start,
            (end - start) * sizeof(int32_t),
        )
        self.start_tree(tree + 1, first, first + end - start)

    cdef inline void walk_each(self, const Part* part) noexcept nogil:
        """Walk the few examples of a part one by one."""
        cdef int32_t i
        if part.end == LONE:
            self.walk_one(part.tree, part.node, part.start)
        else:
            for i in range(part.start, part.end):
                self.walk_one(part.tree, part.node, self.rows_of(part.tree)[i])

    cdef void walk_one(self, int32_t tree, int32_t node, int32_t row) noexcept nogil:
        """Walk one example from a node until it waits or has finished."""
        cdef Py_ssize_t column, feature, n = self.n_samples
        cdef const int32_t* owner = &self.owner[0]
        cdef const Node* nodes = &self.nodes[0]
        cdef const uint8_t* cells = &self.cells[0, row]
        cdef const double* values = &self.X[0, row]
        # Invariant: the example is at `node` of `tree`, which is not void for it.
        while self.stop[row] > tree:
            column = nodes[node].feature
            while column >= 0 and cells[owner[column] * n] == Cell.KNOWN:
                node = nodes[node].child + (not values[column * n] <= nodes[node].threshold)
                column = nodes[node].feature
            if column < 0:
                self.leaves[tree, row] = node
            elif cells[owner[column] * n] == Cell.REFUSED:
                self.refuse(tree, row)
            else:
                feature = owner[column]
                self.counts[feature] += 1
                self.put(&self.lists[feature], tree, node, row, LONE)
                return
            tree += 1
            if not self.one_by_one or tree == self.n_trees:
                return
            node = self.roots[tree]

    cdef inline int32_t* rows_of(self, Py_ssize_t tree) noexcept nogil:
        return &self.order[tree, 0]

    def rows(self, int32_t feature):
        """Return the examples that wait for a feature in some tree, ascending."""
        wanted = np.zeros(self.n_samples, dtype=bool)
        cdef unsigned char[::1] marks = wanted.view(np.uint8)
        cdef int32_t place = self.lists[feature], i, row
        cdef Part part
        with nogil:
            while place >= 0:
                part = self.parts[place]
                if part.end == LONE:
                    marks[part.start] |= self.stop[part.start] > part.tree
                for i in range(part.start, part.end):
                    row = self.rows_of(part.tree)[i]
                    marks[row] |= self.stop[row] > part.tree
                place = self.parts[place].following
        return np.flatnonzero(wanted)

    def supply(
        self, int32_t feature, const Py_ssize_t[::1] rows, const double[::1] values,
        const unsigned char[::1] refused,
    ):
        """Supply a feature's values or refusals to the examples of `rows`, and walk on."""
        cdef Py_ssize_t i
        cdef int32_t waiting, second = self.second[feature]
        cdef Part part
        cdef uint8_t* cells = &self.cells[feature, 0]
        with nogil:
            for i in range(rows.shape[0]):
                self.X[feature, rows[i]] = values[i]
                if second >= 0:
                    self.X[second, rows[i]] = -INFINITY if isnan(values[i]) else values[i]
                cells[rows[i]] = Cell.REFUSED if refused[i] else Cell.KNOWN
                self.n_refused[feature] += refused[i]
                self.n_known[feature] += not refused[i]
            # Emptied before the walk, during which other examples may start to wait for it.
            self.counts[feature] = 0
            waiting, self.lists[feature] = self.lists[feature], -1
            while waiting >= 0 and not self.out_of_memory:
                part = self.take(&waiting)
                # Without refusals, all examples of the part know the feature now.
                if part.end - part.start < FEW:
                    self.walk_each(&part)
                    continue
                if self.n_refused[feature] or self.any_stopped:
                    self.put(&self.to_do, part.tree, part.node, part.start, part.end)
                else:
                    self.split(&part)
                self.walk()
        self.check_memory()

    def add_leaves(
        self, const double[:, ::1] node_values, const int32_t[::1] labels, Py_ssize_t per_step,
        double[:, ::1] totals, int32_t[::1] finished,
    ):
        """Sum the values or votes of the reached leaves, for `ForestPredictor.leaf_totals`."""
        cdef Py_ssize_t row, tree, k
        cdef int32_t leaf
        cdef int32_t[::1] end = np.full(self.n_samples, self.n_trees, dtype=np.int32)
        with nogil:
            # A sum ends with the last whole step before the first unfinished tree.
            if per_step > 0:
                for tree in range(self.n_trees - 1, -1, -1):
                    for row in range(self.n_samples):
                        if self.leaves[tree, row] < 0:
                            end[row] = <int32_t> (tree - tree % per_step)
            for tree in range(self.n_trees):
                for row in range(self.n_samples):
                    leaf = self.leaves[tree, row]
                    if leaf < 0 or tree >= end[row]:
                        continue
                    finished[row] += 1
                    if labels is not None:
                        totals[row, labels[leaf]] += 1
                    else:
                        for k in range(totals.shape[1]):
                            totals[row, k] += node_values[leaf, k]
