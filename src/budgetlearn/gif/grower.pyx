"""Kernel: the growing loops of globally induced forests."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from ..tree.random cimport as_below, next_xorshift
from .loss_kernels cimport Loss
from .nodes cimport ForestNode, NodeTable
from .pool cimport Pool
from .splitter cimport Split, Splitter


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
    """Accept nodes until the budget is spent or no candidate improves the loss.

    Algorithm 1 (Begon, Joly and Geurts, 2017). Roots are never candidates; a root is charged with
    the first accepted node of its tree, so that node is refused when one node is left.

    Returns
    -------
    int
        Number of accepted nodes.
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

    Returns
    -------
    int
        Number of accepted nodes.
    """
    cdef:
        int32_t[::1] leaves = np.empty(table.nodes.shape[0], dtype=np.int32)
        double[::1] stats = np.empty(loss.width)
        uint64_t state = 2 * seed + 1
        int32_t n_leaves = table.n_nodes, n_accepted = 0, drawn, node, child
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
                adjust(table, loss, node, learning_rate, &stats[0], &weights[n_accepted, 0])
                table.nodes[node].step = n_accepted
                nodes_after[n_accepted] = n_nodes
                n_accepted += 1
                leaves[n_leaves] = node
                n_leaves += 1
    return n_accepted


cdef inline void adjust(
    NodeTable table, Loss loss, int32_t j, double learning_rate, double* stats, double* step
) noexcept nogil:
    """Write the shrunk weight of a node and update the predictions of its samples."""
    cdef ForestNode* node = &table.nodes[j]
    cdef int32_t* samples = &table.order[node.tree, node.start]
    cdef Py_ssize_t k
    loss.gather(samples, node.size, stats)
    loss.solve(stats, node.size, step)
    for k in range(loss.n_outputs):
        step[k] *= learning_rate
    loss.update(samples, node.size, step)


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
    splitter.split(&table.order[node.tree, node.start], node.size, &split)
    if split.n_left == 0:
        return -1
    node.feature = split.feature
    node.threshold = split.threshold
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
                loss.gather(samples, node.size, &stats[0])
                if loss.solve(&stats[0], node.size, &step[0]) <= 0.0:
                    continue
                for k in range(loss.n_outputs):
                    step[k] *= learning_rate
                    weights[rank, k] += step[k]
                loss.update(samples, node.size, &step[0])
