"""Kernel: grow trees depth first on coded data."""

import numpy as np

from libc.math cimport INFINITY, pow
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from .class_histogram cimport LANES, ClassHistogram, count_classes, n_mark_words, scan_classes
from .codes cimport Codes, gather, midpoint
from .impurity cimport N_TABLED, Kind, Side, shift, value
from .nodes cimport Blocks, GrownNode, Task, begin_leaf, columns_of, make_room
from .regression_splitter cimport Cut, Part, centre, count_numbers, scan_keys, scan_numbers
from .partition cimport Examples, partition_by_codes
from .random cimport below, by_chances
from .search cimport Best, Column, Missing, Search, begin_node, offer, sorted_keys
from .class_splitter cimport clear_side, examine, examine_both_sides, examine_ones, examine_tally
from .table cimport Table

cdef enum:
    # A class histogram of more codes would not stay in the cache.
    MOST_COUNTED = 1 << 16
    COPIES = 4         # of a node's class counts, so that additions need not wait for each other


cdef class NodePrices:
    """Prices of features at the nodes of one tree.

    Without `acquired`, they are the same at all nodes, and 0 once acquired if `pay_once`. With it,
    p × (f + (1 − f) × share of the node's examples that have not paid) is added up over the feature
    and its group's charge, and the sum is raised to a power.
    """

    cdef:
        double[::1] prices            # (n_features,) without group charges; INOUT with `pay_once`
        bint pay_once                 # whether an acquired feature is free for the rest of the tree
        bint shared                   # whether prices depend on the examples' acquisitions
        uint8_t[:, ::1] acquired      # (n_features + n_groups, n_samples)
        const int32_t[::1] groups     # (n_features,): -1 is none
        const double[::1] charges     # (n_groups,)
        double discount, exponent

    def __init__(
        self, prices, pay_once, acquired=None, groups=None, charges=None, double discount=1.0,
        double exponent=1.0,
    ):
        self.prices, self.pay_once, self.shared = prices, pay_once, acquired is not None
        if self.shared:
            self.acquired, self.groups, self.charges = acquired, groups, charges
            self.discount, self.exponent = discount, exponent

    cdef double price(
        self, Py_ssize_t feature, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil:
        """Return the price of a feature at a node, given its examples."""
        cdef double price = self.prices[feature]
        cdef Py_ssize_t group
        if not self.shared:
            return price
        group = self.groups[feature]
        # A free feature stays free, and needs no pass over the examples.
        if price > 0:
            price *= self.kept_share(feature, rows, weights, n)
        if group >= 0:
            price += self.charges[group] * self.kept_share(
                self.prices.shape[0] + group, rows, weights, n
            )
        # pow(0, 0) is 1, which would make a free feature cost something.
        return pow(price, self.exponent) if price > 0 else 0.0

    cdef double kept_share(
        self, Py_ssize_t item, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil:
        """Return the share of a price that remains at a node."""
        cdef const uint8_t* acquired = &self.acquired[item, 0]
        cdef double missing = 0.0, total = 0.0
        cdef Py_ssize_t i
        for i in range(n):
            total += weights[i]
            missing += weights[i] * (acquired[rows[i]] == 0)
        # f + (1 - f) x the share of the weight that has not paid.
        return self.discount + (1.0 - self.discount) * missing / total

    cdef void note(self, Py_ssize_t feature, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Record that the examples of a node acquire a feature, and pay for its group."""
        cdef Py_ssize_t i, group
        # The array belongs to the caller, so the feature is free in a forest's later trees, too.
        if self.pay_once:
            self.prices[feature] = 0.0
        if not self.shared:
            return
        group = self.groups[feature]
        for i in range(n):
            self.acquired[feature, rows[i]] = 1
        # The last rows of `acquired` belong to groups: one member pays for all.
        if group >= 0:
            for i in range(n):
                self.acquired[self.prices.shape[0] + group, rows[i]] = 1


cdef class Grower(Blocks):
    """Grows trees on one table, one after another in the same memory.

    If targets are numbers, there is one class, and the label of a row is its index. `rule` has the
    fields of `Rule`. If sums are exact, the features of a bundle are counted together, which is
    faster and gives the same trees.
    """

    cdef:
        # data, IN
        Table table
        const int32_t[::1] labels     # (n_rows,)
        # settings
        NodePrices prices             # INOUT records the acquisitions of the tree
        const double[::1] odds        # IN, cumulative probabilities of drawing; None: equal
        const int8_t[::1] directions  # IN of each feature: 1, -1 or 0; None: all 0
        bint count_constants
        Py_ssize_t max_features, max_depth
        # the examples in the order of the leaves, and the features with varying ones first
        Py_ssize_t n
        Examples examples
        int32_t* features
        int32_t* places               # position of each feature in `features`
        int32_t* drawn                # last node that drew each feature
        int32_t n_examined, n_varying
        # the growing tree, OUT
        GrownNode* nodes
        double* counts                # (n_nodes, n_classes), or means of numbers
        double* copies                # (COPIES, n_classes): scratch
        Task* tasks                   # stack of the nodes to be split
        Py_ssize_t n_nodes, n_tasks
        bint out_of_memory            # once set, the tree is incomplete
        Search search
        Column column
        ClassHistogram class_histogram
        int32_t* places_of_classes    # (n_classes,): position among the classes of the node
        int32_t* node_labels          # (n,): labels in a node that lacks a class
        bint counts_classes           # whether the rule allows the search by class histogram
        # regression
        const double[::1] given       # owns the memory of `targets`
        const double* targets         # (n,): by label; NULL if there are classes
        Part* parts                   # (n,): of the node's examples

    def __cinit__(
        self, data, const int32_t[::1] labels, int n_classes, const double[::1] targets, rule
    ):
        # Cython converts a dictionary of the fields to the struct.
        self.search.rule = rule
        self.table = Table(data, self.search.rule.exact, n_classes, targets is not None)
        self.search.n_classes = self.search.n_all_classes = n_classes
        self.labels, self.given = labels, targets
        self._allocate(labels.shape[0], self.table.n_features, n_classes)
        if targets is not None:
            self.parts = <Part*> self.get(labels.shape[0] * sizeof(Part))
            self.targets = &targets[0]
        # Class histograms find the best of all thresholds by the mean Gini impurity or entropy.
        self.counts_classes = (
            not self.search.rule.minimax and not self.search.rule.stumps
            and self.search.rule.impurity.kind >= Kind.GINI
        )
        if self.counts_classes or self.targets != NULL:
            # Numbers have two cells for each code, one of weights and one of sums.
            self._allocate_class_histogram(2 if self.targets != NULL else n_classes)

    def _allocate(self, Py_ssize_t n, Py_ssize_t p, Py_ssize_t K):
        cdef Py_ssize_t most_codes = self.table.most_codes(self.table.n_rows + 1)
        cdef Examples* examples = &self.examples
        cdef Search* search = &self.search
        cdef Side* side
        cdef Side* sides[6]
        examples.rows, examples.spare_rows = self.integers(n), self.integers(n)
        examples.labels, examples.spare_labels = self.integers(n), self.integers(n)
        examples.weights, examples.spare_weights = self.numbers(n), self.numbers(n)
        self.features, self.places = self.integers(p), self.integers(p)
        self.drawn, self.copies = self.integers(p), self.numbers(COPIES * K)
        self.places_of_classes, self.node_labels = self.integers(K), self.integers(n)
        self.column.codes = <uint32_t*> self.integers(n)
        # Scratch of the search.
        sides[:] = [
            &search.node, &search.left, &search.right, &search.left_inside, &search.right_inside,
            &search.without,
        ]
        for side in sides:
            side.counts = self.numbers(K)
        search.inside.codes = <uint32_t*> self.integers(n)
        search.inside.labels, search.inside.weights = self.integers(n), self.numbers(n)
        search.keys = <uint64_t*> self.get(n * sizeof(uint64_t))
        search.spare_keys = <uint64_t*> self.get(n * sizeof(uint64_t))
        # Zero between uses: the functions that set bits clear them.
        search.present = <uint64_t*> self.get((most_codes // 64 + 1) * 8, True)
        # `examine` sorts instead if there are more than 2 n + 64 cells, and `fill_histogram` takes
        # copies only if all of them have at most 256 K.
        search.histogram = self.numbers(max(2 * n + 64, 256 * K))
        search.bounds = self.numbers(2 * max(n + 65, 257))

    def _allocate_class_histogram(self, Py_ssize_t K):
        cdef ClassHistogram* histogram = &self.class_histogram
        cdef Py_ssize_t most = self.table.most_codes(MOST_COUNTED), n_cells, n_words
        # A cell is code << bits | class, so the number of classes is rounded up to a power of two.
        while 1 << histogram.bits < K:
            histogram.bits += 1
        n_cells, n_words = most << histogram.bits, n_mark_words(histogram, most)
        histogram.weights = <double*> self.get(LANES * n_cells * sizeof(double), True)
        histogram.marks = <uint64_t*> self.get(LANES * n_words * sizeof(uint64_t), True)
        histogram.left, histogram.right = self.numbers(K), self.numbers(K)

    def __dealloc__(self):
        free(self.nodes)
        free(self.counts)
        free(self.tasks)

    cdef void begin(self, const double[::1] weights) noexcept nogil:
        """Discard the previous tree, and take the examples of positive weight."""
        cdef Py_ssize_t i, f
        self.n_nodes = self.n_tasks = self.out_of_memory = 0  # `make_room` reuses the blocks
        self.table.leave()
        self.n = 0
        # Out-of-bag rows have weight 0 and belong to no node.
        for i in range(weights.shape[0]):
            if weights[i] != 0:
                self.examples.rows[self.n] = <int32_t> i
                self.examples.labels[self.n] = self.labels[i]
                self.examples.weights[self.n] = weights[i]
                self.n += 1
        for f in range(self.table.n_features):
            self.features[f] = self.places[f] = <int32_t> f
            # A mark is the node that set it; -1 is no node, so nothing is marked yet.
            self.drawn[f] = -1

    def grow(
        self, const double[::1] weights, NodePrices prices, const double[::1] odds,
        Py_ssize_t max_features, bint count_constants, Py_ssize_t max_depth,
        const int8_t[::1] directions, uint64_t seed,
    ):
        """Grow a tree; return `columns_of` its nodes, parents first, and their class counts.

        The parameters are those of `TreeGrower` and `GrowthRule`, except that `odds`, if given, are
        cumulative, with at least `max_features` positive probabilities.
        """
        self.prices, self.odds = prices, odds
        self.max_features, self.max_depth = max_features, max_depth
        self.count_constants, self.directions = count_constants, directions
        self.search.ordered = directions is not None
        self.search.random = seed
        self.begin(weights)
        with nogil:
            self.grow_all()
        if self.out_of_memory:
            raise MemoryError(f"out of memory for a tree of {self.n_nodes} nodes")
        # A copy, because the next tree overwrites this one.
        counts = np.empty((self.n_nodes, self.search.n_all_classes))
        cdef double[:, ::1] counts_out = counts
        memcpy(&counts_out[0, 0], self.counts, counts.nbytes)
        return columns_of(self.nodes, self.n_nodes), counts

    cdef void grow_all(self) noexcept nogil:
        cdef Task task
        cdef Py_ssize_t middle
        cdef int32_t left, right
        # Depth first, so the stack holds at most one sibling per level.
        left = self.add_node(-1, 0, self.n)
        # Invariant: the examples of tasks do not overlap, and are still in their original order.
        self.push(Task(0, self.n, left, <int32_t> self.table.n_features, -INFINITY, INFINITY))
        while self.n_tasks and not self.out_of_memory:
            self.n_tasks -= 1
            task = self.tasks[self.n_tasks]
            if self.is_leaf(&task):
                continue
            self.find_split(&task)
            # If no split satisfies the rule, the node stays a leaf.
            if self.search.best.feature < 0:
                continue
            middle = self.split(&task)
            # Siblings get neighbouring ids, the left one first.
            left = self.add_node(task.node, task.start, middle)
            right = self.add_node(task.node, middle, task.end)
            if self.out_of_memory:
                return
            # `add_node` may move `nodes`, so pointers to nodes are only taken after it.
            self.nodes[task.node].left, self.nodes[task.node].right = left, right
            self.push_sides(&task, middle, left, right)

    cdef void push_sides(
        self, const Task* task, Py_ssize_t middle, int32_t left, int32_t right
    ) noexcept nogil:
        """Push the children of a node, to be split later."""
        cdef Task lower = Task(task.start, middle, left, self.n_varying, task.low, task.high)
        cdef Task upper = Task(middle, task.end, right, self.n_varying, task.low, task.high)
        cdef int direction = 0
        cdef double between
        if self.search.ordered:
            direction = self.directions[self.nodes[task.node].feature]
        if direction != 0:
            between = (self.prediction(&lower) + self.prediction(&upper)) / 2
            if direction > 0:
                lower.high = upper.low = between
            else:
                lower.low = upper.high = between
        # The left child and all nodes below it are popped before its sibling.
        self.push(upper)
        self.push(lower)

    cdef double prediction(self, const Task* task) noexcept nogil:
        """Return the share of class 1 among a node's examples, or the mean of their targets."""
        cdef const double* targets = self.targets_of(task)
        cdef double sum = 0.0, total = 0.0, target
        cdef Py_ssize_t i
        for i in range(task.start, task.end):
            target = self.examples.labels[i]
            if targets != NULL:
                target = targets[self.examples.labels[i]]
            sum += self.examples.weights[i] * target
            total += self.examples.weights[i]
        return sum / total

    cdef int32_t add_node(self, int32_t parent, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
        """Append a leaf with its class counts; return its id, or -1 if there is no memory."""
        cdef Py_ssize_t K = self.search.n_all_classes, i
        cdef const int32_t* labels = self.examples.labels
        cdef const double* weights = self.examples.weights
        cdef double* copies = self.copies
        # Without the GIL no error can be raised, so a flag is set, and `grow` raises the error.
        if not (
            make_room(<void**> &self.nodes, self.n_nodes, sizeof(GrownNode))
            and make_room(<void**> &self.counts, self.n_nodes, K * sizeof(double))
        ):
            self.out_of_memory = True
            return -1
        begin_leaf(self.nodes, self.n_nodes, parent, end - start)
        self.n_nodes += 1
        if self.targets == NULL:  # else `begin_numbers` finds their mean
            # Consecutive examples go to different copies, as additions to one cell would wait.
            memset(copies, 0, COPIES * K * sizeof(double))
            for i in range(start, end):
                copies[((i - start) & (COPIES - 1)) * K + labels[i]] += weights[i]
            for i in range(K):
                self.counts[(self.n_nodes - 1) * K + i] = (copies[i] + copies[K + i]) + (
                    copies[2 * K + i] + copies[3 * K + i]
                )  # always in these pairs: the last bits depend on the order
        return <int32_t> (self.n_nodes - 1)

    cdef void push(self, Task task) noexcept nogil:
        """Push a node, to be split later."""
        # Depth first, so that a child's examples are still in the cache.
        if make_room(<void**> &self.tasks, self.n_tasks, sizeof(Task)):
            self.tasks[self.n_tasks] = task
            self.n_tasks += 1
        else:
            self.out_of_memory = True

    cdef bint is_leaf(self, const Task* task) noexcept nogil:
        """Set up the search at a node; return whether the node stays a leaf."""
        cdef Py_ssize_t K = self.search.n_all_classes, c
        cdef int32_t n_present = 0
        cdef double* counts = self.counts + task.node * K
        cdef Side* side = &self.search.node
        cdef double impurity
        if self.targets != NULL:
            return self.begin_numbers(task)
        self.search.low, self.search.high = task.low, task.high
        clear_side(side, K)
        self.search.rule.impurity.whole = False
        # Deep nodes have few of many classes, so loops over classes only run over those present.
        self.search.rule.impurity.n_classes = K
        # F is computed class by class, as in the search; absent classes add nothing.
        for c in range(K):
            if counts[c] != 0:
                shift(&self.search.rule.impurity, side, n_present, counts[c])
                self.places_of_classes[c] = n_present
                n_present += 1
        self.search.n_classes = self.search.rule.impurity.n_classes = n_present
        if n_present < 2 or self.nodes[task.node].depth >= self.max_depth:
            return True
        self.search.rule.impurity.whole = self.search.rule.exact and side.n < N_TABLED
        # Threshold-Pairs is 0 for mixed nodes below its threshold, which count as pure.
        impurity = value(&self.search.rule.impurity, side)
        begin_node(&self.search, impurity)
        return impurity <= 0

    cdef bint begin_numbers(self, const Task* task) noexcept nogil:
        """Set up the search at a node in regression; return whether the node stays a leaf."""
        cdef bint sorted = self.table.is_sorted(task.start, task.end), pure
        centre(
            &self.search, self.targets_of(task),
            self.examples.labels + task.start, self.examples.weights + task.start,
            task.end - task.start, sorted, self.parts, &self.counts[task.node], &pure,
        )
        if pure or self.nodes[task.node].depth >= self.max_depth:
            return True
        begin_node(&self.search, self.search.impurity)
        # Bounds apply to targets, but sums are of targets centred at the node's mean.
        self.search.low = task.low - self.counts[task.node]
        self.search.high = task.high - self.counts[task.node]
        # The first node that fits has its columns sorted, for itself and all nodes below it. This
        # only pays off if every node examines every feature.
        if (
            not sorted and self.max_features >= self.table.n_features
            and task.end - task.start <= self.table.most_sorted
        ):
            self.enter_table(task)
            self.table.sort(
                &self.examples, task.start, task.end,
                self.nodes[task.node].depth, self.features, task.n_varying, self.targets,
                &self.search, &self.column,
            )
        return False

    cdef void find_split(self, const Task* task) noexcept nogil:
        """Find a node's best split; of `features`, only the first `n_varying` may vary here."""
        cdef Py_ssize_t n_features = self.table.n_features, place, _
        cdef Column* column = &self.column
        column.size = task.end - task.start
        column.labels = self.examples.labels + task.start
        if self.search.n_classes < self.search.n_all_classes:
            # Renumber labels among the classes of the node.
            for place in range(column.size):
                self.node_labels[place] = self.places_of_classes[column.labels[place]]
            column.labels = self.node_labels
        column.weights = self.examples.weights + task.start
        # Invariant: features[:n_examined] were examined, features[n_varying:] are constant here.
        self.n_examined, self.n_varying = 0, task.n_varying
        if not self.table.is_sorted(task.start, task.end):  # sorted nodes are copied already
            self.enter_table(task)
        # Either all features, or a draw including constant ones (Breiman), or of varying ones only.
        if self.max_features >= n_features:
            while self.n_examined < self.n_varying:
                self.try_feature(self.n_examined, task)
        elif self.count_constants:
            for _ in range(self.max_features):
                self.try_feature(self.places[self.draw(task.node)], task)
            # A node that drew only constant features continues until one varies.
            while self.n_examined == 0 and self.n_varying > 0:
                self.try_feature(<int32_t> below(&self.search.random, self.n_varying), task)
        else:
            # Fisher-Yates on places [n_examined, n_varying): varying features are equally likely.
            while self.n_examined < min(self.n_varying, self.max_features):
                place = self.n_examined + below(
                    &self.search.random, self.n_varying - self.n_examined
                )
                self.try_feature(<int32_t> place, task)

    cdef inline const double* targets_of(self, const Task* task) noexcept nogil:
        """Return the targets of a node's examples by label; NULL if there are classes."""
        return self.table.targets if self.table.is_sorted(task.start, task.end) else self.targets

    cdef inline void enter_table(self, const Task* task) noexcept nogil:
        """Let the table copy the codes that a small node needs."""
        if not self.prices.shared:  # shared prices need the rows of the table
            self.table.enter(
                self.examples.rows, task.start, task.end, self.features, task.n_varying
            )

    cdef void try_feature(self, int32_t place, const Task* task) noexcept nogil:
        """Examine the feature at `place`, and move it to the examined or the constant ones."""
        # A draw may hit a feature that is known to be constant. It counts, but needs no pass.
        if place >= self.n_varying:
            return
        if self.examine_feature(self.features[place], task):
            self.swap(place, self.n_examined)
            self.n_examined += 1
        else:
            # A constant feature is constant in all nodes below, which will not examine it again.
            self.n_varying -= 1
            self.swap(place, self.n_varying)

    cdef void swap(self, int32_t place, int32_t other) noexcept nogil:
        # Invariant: places[features[i]] == i.
        cdef int32_t feature = self.features[place], moved = self.features[other]
        self.features[place], self.features[other] = moved, feature
        self.places[moved], self.places[feature] = place, other

    cdef int32_t draw(self, int32_t node) noexcept nogil:
        """Draw a feature that this node has not drawn yet. There must be one."""
        cdef Py_ssize_t n_features = self.table.n_features, drawn
        while True:
            if self.odds is None:
                drawn = below(&self.search.random, n_features)
            else:
                drawn = by_chances(&self.search.random, &self.odds[0], n_features)
            # Without replacement. Marks need not be cleared, as every node has its own number.
            if self.drawn[drawn] != node:
                self.drawn[drawn] = node
                return <int32_t> drawn

    cdef bint examine_feature(self, int32_t feature, const Task* task) noexcept nogil:
        """Offer a feature's thresholds to the node's best split; return whether it varies."""
        cdef Search* search = &self.search
        cdef Column* column = &self.column
        cdef Py_ssize_t n_codes = self.table.n_codes(feature)
        cdef Codes codes = self.table.codes_of(feature)
        cdef const int32_t* rows = self.examples.rows + task.start
        cdef ClassHistogram* histogram = &self.class_histogram
        cdef int32_t missing = self.table.missing[feature]
        # `offer` reads the feature from the search.
        search.feature = feature
        search.direction = self.directions[feature] if search.ordered else 0
        # One price per feature, because all its thresholds acquire the same.
        search.price = self.prices.price(feature, rows, column.weights, column.size)
        if self.targets != NULL:
            return self.examine_numbers(feature, codes, task)
        # Zeros and ones have one threshold, and one pass counts the ones of all bundle members.
        if self.table.bundle[feature] >= 0:
            return examine_ones(
                search, self.table.ones(feature, task.node, rows, column, search.n_classes)
            )
        # If a node has both known and missing values, missing ones are tried on both sides.
        if missing >= 0:
            gather(codes, rows, column.size, column.codes, &column.low, &column.high)
            if column.low < column.high == <uint32_t> missing:
                examine_both_sides(search, column, &self.examples, missing)
                return True
        if self.counts_classes and self.counting_pays(n_codes):
            count_classes(histogram, column, codes, rows, n_codes)
            return scan_classes(search, histogram, n_codes)
        # Few codes of many examples are counted without copying the codes.
        if n_codes * search.n_all_classes * 2 <= column.size:
            return examine_tally(search, column, codes, rows, n_codes)
        gather(codes, rows, column.size, column.codes, &column.low, &column.high)
        if column.low < column.high:
            examine(search, column)
        return column.low < column.high

    cdef inline bint counting_pays(self, Py_ssize_t n_codes) noexcept nogil:
        """Return whether cells order a node's examples faster than a sort."""
        # All marks are visited, so there must not be many more of them than examples.
        cdef Py_ssize_t n_words = n_mark_words(&self.class_histogram, n_codes)
        return n_codes <= MOST_COUNTED and n_words <= 8 + self.column.size // 4

    cdef bint examine_numbers(self, int32_t feature, Codes codes, const Task* task) noexcept nogil:
        """Offer a feature's best threshold in regression; return whether the feature varies."""
        cdef const int32_t* rows = self.examples.rows + task.start
        cdef Py_ssize_t n_codes = self.table.n_codes(feature)
        cdef int32_t missing = self.table.missing[feature]
        cdef Column* column = &self.column
        cdef const uint32_t* keys
        cdef const uint64_t* sorted
        cdef double drop
        cdef Cut cut
        if self.table.is_sorted(task.start, task.end):
            # From cheap to expensive: keys that are already sorted, cells, a sort.
            keys = self.table.keys_of(feature, task.start, self.nodes[task.node].depth)
            if not scan_keys(
                &self.search, keys, column.size,
                missing >= 0 and self.table.code(codes, keys[column.size - 1]) == missing,
                self.parts, &cut,
            ):
                return False
        elif not self.search.rule.stumps and self.counting_pays(n_codes):
            count_numbers(&self.class_histogram, column, codes, rows, n_codes, self.parts)
            if not scan_numbers(&self.search, &self.class_histogram, n_codes, missing, &cut):
                return False
        else:
            gather(codes, rows, column.size, column.codes, &column.low, &column.high)
            if column.low == column.high:
                return False
            sorted = sorted_keys(&self.search, column)
            scan_keys(
                &self.search, sorted, column.size, <int32_t> column.high == missing, self.parts,
                &cut,
            )
            # Keys are (code - low) << 32 | position; the cut is the last code on the left.
            if cut.n_tied > 0:
                cut.place = column.low + (sorted[cut.place - 1] >> 32)
        # `cut.place` is the last code on the left or, with sorted columns, the examples there.
        if cut.n_tied > 0:  # otherwise no threshold can win
            drop = cut.numerator / cut.denominator
            self.search.missing = cut.missing
            offer(&self.search, drop, drop, <int32_t> cut.place, cut.n_tied)
            self.search.missing = Missing.NONE
        return True

    cdef Py_ssize_t split(self, const Task* task) noexcept nogil:
        """Store the best split and partition the node's examples by it."""
        cdef Best* best = &self.search.best
        cdef Py_ssize_t offset = self.table.offsets[self.table.columns[best.feature]]
        cdef int32_t left_code, right_code, missing = self.table.missing[best.feature]
        cdef int32_t member = -1
        cdef Codes codes = self.table.codes_of(best.feature)
        cdef GrownNode* node = &self.nodes[task.node]
        cdef Py_ssize_t middle, i
        cdef double heavier = 0.0
        # With sorted columns, `cut` counts examples; convert it to the last code on the left.
        if self.table.is_sorted(task.start, task.end):
            best.cut = self.table.code(
                codes, self.table.keys_of(best.feature, task.start, node.depth)[best.cut - 1]
            )
        # A bundled feature has no column: the split is on its code in the bundle.
        if self.table.bundle[best.feature] >= 0:
            codes = self.table.codes_of(self.table.n_features + self.table.bundle[best.feature])
            member = self.table.member[best.feature]
        middle = partition_by_codes(
            &self.examples, task.start, task.end, codes, best.cut,
            missing if best.missing == Missing.LEFT else -1, member, self.column.codes,
            &left_code, &right_code,
        )
        if best.missing == Missing.LEFT:
            node.missing_left = True
        elif missing >= 0 and best.missing == Missing.NONE:
            # Training shows no side for missing values, so they go to the heavier side.
            for i in range(task.start, task.end):
                heavier += self.examples.weights[i] if i < middle else -self.examples.weights[i]
            node.missing_left = heavier > 0
        node.feature = <int32_t> best.feature
        # Halfway between neighbouring codes of the node. If only missing values go right, infinite.
        node.threshold = INFINITY if right_code == missing else midpoint(
            self.table.highest[offset + left_code], self.table.lowest[offset + right_code]
        )
        if self.table.is_sorted(task.start, task.end):
            self.table.part(
                self.examples.labels, task.start, middle, task.end, node.depth, self.features,
                self.n_varying,
            )
        if self.search.rule.stumps:
            # Examining it earlier below rules out more thresholds of others. Without sampling, the
            # order must not change, as the outcome of ties depends on it.
            self.swap(self.places[best.feature], self.places[best.feature] // 2)
        # After the search, because a node's payment lowers the prices of later nodes only.
        self.prices.note(best.feature, self.examples.rows + task.start, task.end - task.start)
        return middle
