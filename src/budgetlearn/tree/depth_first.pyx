"""Kernel: grow one tree, depth first, on coded data."""

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
    COPIES = 4         # of the class counts of a node, so that sums do not wait for each other


cdef class NodePrices:
    """Prices of features at the nodes of one tree.

    They are the same at all nodes, 0 once acquired with `pay_once`. Or, with `acquired`, they are
    p × (f + (1 − f) × share of the node's examples that have not paid).
    """

    cdef:
        double[::1] prices            # (n_features,) each feature alone; INOUT with `pay_once`
        bint pay_once                 # whether a feature is free for the rest of the tree
        bint shared                   # whether prices fall with what examples have acquired
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
        # A free feature stays free: no pass over who owns it.
        if price > 0:
            price *= self.kept_share(feature, rows, weights, n)
        if group >= 0:
            price += self.charges[group] * self.kept_share(
                self.prices.shape[0] + group, rows, weights, n
            )
        # pow(0, 0) is 1: a free feature would cost something.
        return pow(price, self.exponent) if price > 0 else 0.0

    cdef double kept_share(
        self, Py_ssize_t item, const int32_t* rows, const double* weights, Py_ssize_t n
    ) noexcept nogil:
        """Return the share of a price that stays."""
        cdef const uint8_t* acquired = &self.acquired[item, 0]
        cdef double missing = 0.0, total = 0.0
        cdef Py_ssize_t i
        for i in range(n):
            total += weights[i]
            missing += weights[i] * (acquired[rows[i]] == 0)
        # f + (1 - f) x share of the weight that has not paid.
        return self.discount + (1.0 - self.discount) * missing / total

    cdef void note(self, Py_ssize_t feature, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Note that the examples of a node acquire a feature, and pay for its group."""
        cdef Py_ssize_t i, group
        # The array is the caller's: a forest's later trees find the feature free, too.
        if self.pay_once:
            self.prices[feature] = 0.0
        if not self.shared:
            return
        group = self.groups[feature]
        for i in range(n):
            self.acquired[feature, rows[i]] = 1
        # Rows of `acquired` behind the features' are those of groups: one member pays for all.
        if group >= 0:
            for i in range(n):
                self.acquired[self.prices.shape[0] + group, rows[i]] = 1


cdef class Grower(Blocks):
    """Grows trees on one table, one after another in the same memory.

    Where targets are numbers, the label of each row is the row itself, of one class. `rule` has the
    fields of `Rule`. Where sums are exact, the features of a bundle are counted together, which
    then makes no difference but in speed.
    """

    cdef:
        # data, IN
        Table table
        const int32_t[::1] labels     # (n_rows,)
        # settings
        NodePrices prices             # IN, OUT what the tree tests
        const double[::1] odds        # IN, cumulative chances of drawing; None: equal
        const int8_t[::1] directions  # IN of each feature: 1, -1 or 0; None: all 0
        bint count_constants
        Py_ssize_t max_features, max_depth
        # the examples in the order of the leaves, and the features, varying ones first
        Py_ssize_t n
        Examples examples
        int32_t* features
        int32_t* places               # where each feature stands in `features`
        int32_t* drawn                # last node that drew each feature
        int32_t n_examined, n_varying
        # the tree in the making, OUT
        GrownNode* nodes
        double* counts                # (n_nodes, n_classes), or the means of numbers
        double* copies                # (COPIES, n_classes): scratch
        Task* tasks                   # to be split later, the last one first
        Py_ssize_t n_nodes, n_tasks
        bint out_of_memory            # once set, what was asked for was not done
        Search search
        Column column
        ClassHistogram class_histogram
        int32_t* places_of_classes    # (n_classes,): of those that a node has
        int32_t* node_labels          # (n,): labels of a node that lacks a class
        bint counts_classes           # whether the rule lets it find the best threshold
        # regression
        const double[::1] given       # keeps what `targets` points to
        const double* targets         # (n,): by label; NULL: there are classes
        Part* parts                   # (n,): of the node's examples

    def __cinit__(
        self, data, const int32_t[::1] labels, int n_classes, const double[::1] targets, rule
    ):
        # Cython makes the struct of a dictionary of its fields.
        self.search.rule = rule
        self.table = Table(data, self.search.rule.exact, n_classes, targets is not None)
        self.search.n_classes = self.search.n_all_classes = n_classes
        self.labels, self.given = labels, targets
        self._allocate(labels.shape[0], self.table.n_features, n_classes)
        if targets is not None:
            self.parts = <Part*> self.get(labels.shape[0] * sizeof(Part))
            self.targets = &targets[0]
        # Cells by code and class: for the mean of Gini's impurity or of entropy, all thresholds.
        self.counts_classes = (
            not self.search.rule.minimax and not self.search.rule.stumps
            and self.search.rule.impurity.kind >= Kind.GINI
        )
        if self.counts_classes or self.targets != NULL:
            # Numbers have two cells for each code: of weights and of sums.
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
        # The scratch of the search.
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
        # Zero between uses: whoever sets bits clears them.
        search.present = <uint64_t*> self.get((most_codes // 64 + 1) * 8, True)
        search.histogram = self.numbers(max(2 * n + 64, 256 * K))
        search.bounds = self.numbers(2 * max(n + 65, 257))

    def _allocate_class_histogram(self, Py_ssize_t K):
        cdef ClassHistogram* histogram = &self.class_histogram
        cdef Py_ssize_t most = self.table.most_codes(MOST_COUNTED), n_cells, n_words
        # A cell is code << bits | class: classes are rounded up to a power of two.
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
        """Forget the tree before, and take the examples that weigh anything."""
        cdef Py_ssize_t i, f
        self.n_nodes = self.n_tasks = self.out_of_memory = 0  # what is allocated is kept
        self.table.leave()
        self.n = 0
        # Out-of-bag rows have weight 0: no node sees them.
        for i in range(weights.shape[0]):
            if weights[i] != 0:
                self.examples.rows[self.n] = <int32_t> i
                self.examples.labels[self.n] = self.labels[i]
                self.examples.weights[self.n] = weights[i]
                self.n += 1
        for f in range(self.table.n_features):
            self.features[f] = self.places[f] = <int32_t> f
            # Marks hold the node that set them; -1 is no node, so nothing is marked yet.
            self.drawn[f] = -1

    def grow(
        self, const double[::1] weights, NodePrices prices, const double[::1] odds,
        Py_ssize_t max_features, bint count_constants, Py_ssize_t max_depth,
        const int8_t[::1] directions, uint64_t seed,
    ):
        """Grow a tree; return `columns_of` its nodes, parents first, and their class counts.

        The parameters are those of `TreeGrower` and `GrowthRule`, but that `odds`, where given, are
        cumulative, with at least `max_features` positive chances.
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
            raise MemoryError(f"no memory left for a tree of {self.n_nodes} nodes")
        # A copy: the next tree overwrites ours.
        counts = np.empty((self.n_nodes, self.search.n_all_classes))
        cdef double[:, ::1] counts_out = counts
        memcpy(&counts_out[0, 0], self.counts, counts.nbytes)
        return columns_of(self.nodes, self.n_nodes), counts

    cdef void grow_all(self) noexcept nogil:
        cdef Task task
        cdef Py_ssize_t middle
        cdef int32_t left, right
        # Depth first: on the stack waits at most one sibling for each level.
        left = self.add_node(-1, 0, self.n)
        # Invariant: the tasks' examples do not overlap, and each task's are still in their order.
        self.push(Task(0, self.n, left, <int32_t> self.table.n_features, -INFINITY, INFINITY))
        while self.n_tasks and not self.out_of_memory:
            self.n_tasks -= 1
            task = self.tasks[self.n_tasks]
            if self.is_leaf(&task):
                continue
            self.find_split(&task)
            # No split satisfies the rule: the node stays a leaf, as it was appended.
            if self.search.best.feature < 0:
                continue
            middle = self.split(&task)
            # Siblings get neighbouring ids, the left one first.
            left = self.add_node(task.node, task.start, middle)
            right = self.add_node(task.node, middle, task.end)
            if self.out_of_memory:
                return
            # Only now: `add_node` may have moved `nodes`, so no pointer into it was kept.
            self.nodes[task.node].left, self.nodes[task.node].right = left, right
            self.push_sides(&task, middle, left, right)

    cdef void push_sides(
        self, const Task* task, Py_ssize_t middle, int32_t left, int32_t right
    ) noexcept nogil:
        """Note the children of a node to be split later."""
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
        # The left child is popped first, and all below it before its sibling.
        self.push(upper)
        self.push(lower)

    cdef double prediction(self, const Task* task) noexcept nogil:
        """Return the share of class 1 among a node's examples, or the mean of their numbers."""
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
        """Append a leaf with the class counts of its examples; return its id, -1: no memory."""
        cdef Py_ssize_t K = self.search.n_all_classes, i
        cdef const int32_t* labels = self.examples.labels
        cdef const double* weights = self.examples.weights
        cdef double* copies = self.copies
        # Without the GIL no error can be raised, so it is noted, and `grow` raises it.
        if not (
            make_room(<void**> &self.nodes, self.n_nodes, sizeof(GrownNode))
            and make_room(<void**> &self.counts, self.n_nodes, K * sizeof(double))
        ):
            self.out_of_memory = True
            return -1
        begin_leaf(self.nodes, self.n_nodes, parent, end - start)
        self.n_nodes += 1
        if self.targets == NULL:  # else `begin_numbers` finds their mean
            # Additions to one cell wait for each other; neighbours go to different copies.
            memset(copies, 0, COPIES * K * sizeof(double))
            for i in range(start, end):
                copies[((i - start) & (COPIES - 1)) * K + labels[i]] += weights[i]
            for i in range(K):
                self.counts[(self.n_nodes - 1) * K + i] = (copies[i] + copies[K + i]) + (
                    copies[2 * K + i] + copies[3 * K + i]
                )  # always in these pairs: the last bits depend on the order
        return <int32_t> (self.n_nodes - 1)

    cdef void push(self, Task task) noexcept nogil:
        """Note a node to be split later."""
        # A stack: depth first, so that a child's examples are still in the cache.
        if make_room(<void**> &self.tasks, self.n_tasks, sizeof(Task)):
            self.tasks[self.n_tasks] = task
            self.n_tasks += 1
        else:
            self.out_of_memory = True

    cdef bint is_leaf(self, const Task* task) noexcept nogil:
        """Set up the search for a node; say whether it is not to be split."""
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
        # Deep nodes have few of many classes: what loops over classes then loops over those alone.
        self.search.rule.impurity.n_classes = K
        # `side` gathers F class by class, as the search does: an absent class adds nothing.
        for c in range(K):
            if counts[c] != 0:
                shift(&self.search.rule.impurity, side, n_present, counts[c])
                self.places_of_classes[c] = n_present
                n_present += 1
        self.search.n_classes = self.search.rule.impurity.n_classes = n_present
        if n_present < 2 or self.nodes[task.node].depth >= self.max_depth:
            return True
        self.search.rule.impurity.whole = self.search.rule.exact and side.n < N_TABLED
        # Threshold-Pairs is 0 for mixed nodes below its threshold: they count as pure.
        impurity = value(&self.search.rule.impurity, side)
        begin_node(&self.search, impurity)
        return impurity <= 0

    cdef bint begin_numbers(self, const Task* task) noexcept nogil:
        """Set up the search for a node of numbers; say whether it is not to be split."""
        cdef bint sorted = self.table.is_sorted(task.start, task.end), pure
        centre(
            &self.search, self.targets_of(task),
            self.examples.labels + task.start, self.examples.weights + task.start,
            task.end - task.start, sorted, self.parts, &self.counts[task.node], &pure,
        )
        if pure or self.nodes[task.node].depth >= self.max_depth:
            return True
        begin_node(&self.search, self.search.impurity)
        # Bounds are about the numbers, sums about those centred at the node's mean.
        self.search.low = task.low - self.counts[task.node]
        self.search.high = task.high - self.counts[task.node]
        # The first node that fits has its columns sorted, for all nodes below it; which pays only
        # where every node looks at every feature.
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
        """Examine features; `n_varying` of the first ones may vary below this node."""
        cdef Py_ssize_t n_features = self.table.n_features, place, _
        cdef Column* column = &self.column
        column.size = task.end - task.start
        column.labels = self.examples.labels + task.start
        if self.search.n_classes < self.search.n_all_classes:
            # Numbered among those that the node has.
            for place in range(column.size):
                self.node_labels[place] = self.places_of_classes[column.labels[place]]
            column.labels = self.node_labels
        column.weights = self.examples.weights + task.start
        # Invariant: features[:n_examined] were examined, features[n_varying:] are constant here.
        self.n_examined, self.n_varying = 0, task.n_varying
        if not self.table.is_sorted(task.start, task.end):  # else all is copied and sorted
            self.enter_table(task)
        # Three draws: all features; at random, constant ones included (Breiman); varying ones only.
        if self.max_features >= n_features:
            while self.n_examined < self.n_varying:
                self.try_feature(self.n_examined, task)
        elif self.count_constants:
            for _ in range(self.max_features):
                self.try_feature(self.places[self.draw(task.node)], task)
            # A node that drew constant features only goes on until one varies.
            while self.n_examined == 0 and self.n_varying > 0:
                self.try_feature(<int32_t> below(&self.search.random, self.n_varying), task)
        else:
            # Fisher-Yates among places [n_examined, n_varying): each varying feature is as likely.
            while self.n_examined < min(self.n_varying, self.max_features):
                place = self.n_examined + below(
                    &self.search.random, self.n_varying - self.n_examined
                )
                self.try_feature(<int32_t> place, task)

    cdef inline const double* targets_of(self, const Task* task) noexcept nogil:
        """Return the numbers of a node's examples by label; NULL: there are classes."""
        return self.table.targets if self.table.is_sorted(task.start, task.end) else self.targets

    cdef inline void enter_table(self, const Task* task) noexcept nogil:
        """Let the table copy what a small node needs of it."""
        if not self.prices.shared:  # they ask who acquired what, by rows of the table
            self.table.enter(
                self.examples.rows, task.start, task.end, self.features, task.n_varying
            )

    cdef void try_feature(self, int32_t place, const Task* task) noexcept nogil:
        """Examine the feature at a place of `features`, and put it where it belongs."""
        # A draw may hit a feature that is known to be constant: it counts, and costs no pass.
        if place >= self.n_varying:
            return
        if self.examine_feature(self.features[place], task):
            self.swap(place, self.n_examined)
            self.n_examined += 1
        else:
            # What is constant here is constant in all nodes below: none of them looks at it again.
            self.n_varying -= 1
            self.swap(place, self.n_varying)

    cdef void swap(self, int32_t place, int32_t other) noexcept nogil:
        # Invariant: places[features[i]] == i.
        cdef int32_t feature = self.features[place], moved = self.features[other]
        self.features[place], self.features[other] = moved, feature
        self.places[moved], self.places[feature] = place, other

    cdef int32_t draw(self, int32_t node) noexcept nogil:
        """Draw a feature that this node has not drawn yet. Requires that there is one."""
        cdef Py_ssize_t n_features = self.table.n_features, drawn
        while True:
            if self.odds is None:
                drawn = below(&self.search.random, n_features)
            else:
                drawn = by_chances(&self.search.random, &self.odds[0], n_features)
            # Without replacement: marks of nodes, ascending, need not be cleared.
            if self.drawn[drawn] != node:
                self.drawn[drawn] = node
                return <int32_t> drawn

    cdef bint examine_feature(self, int32_t feature, const Task* task) noexcept nogil:
        """Offer a feature's thresholds to the node's best split; say whether it varies."""
        cdef Search* search = &self.search
        cdef Column* column = &self.column
        cdef Py_ssize_t n_codes = self.table.n_codes(feature)
        cdef Codes codes = self.table.codes_of(feature)
        cdef const int32_t* rows = self.examples.rows + task.start
        cdef ClassHistogram* histogram = &self.class_histogram
        cdef int32_t missing = self.table.missing[feature]
        # `offer` reads from the search whose thresholds these are.
        search.feature = feature
        search.direction = self.directions[feature] if search.ordered else 0
        # Priced once a feature: all its thresholds acquire the same.
        search.price = self.prices.price(feature, rows, column.weights, column.size)
        if self.targets != NULL:
            return self.examine_numbers(feature, codes, task)
        # Zeros and ones have one threshold; one pass counts the ones of a bundle's members.
        if self.table.bundle[feature] >= 0:
            return examine_ones(
                search, self.table.ones(feature, task.node, rows, column, search.n_classes)
            )
        # Only a node with values and gaps has two places for the gaps: both are offered.
        if missing >= 0:
            gather(codes, rows, column.size, column.codes, &column.low, &column.high)
            if column.low < column.high == <uint32_t> missing:
                examine_both_sides(search, column, &self.examples, missing)
                return True
        if self.counts_classes and self.counting_pays(n_codes):
            count_classes(histogram, column, codes, rows, n_codes)
            return scan_classes(search, histogram, n_codes)
        # Few codes, many examples: counted in place, without a copy of the codes.
        if n_codes * search.n_all_classes * 2 <= column.size:
            return examine_tally(search, column, codes, rows, n_codes)
        gather(codes, rows, column.size, column.codes, &column.low, &column.high)
        if column.low < column.high:
            examine(search, column)
        return column.low < column.high

    cdef inline bint counting_pays(self, Py_ssize_t n_codes) noexcept nogil:
        """Say whether cells are a faster way to order a node's examples than a sort."""
        # Marks are visited whatever the node: there must not be many more than examples.
        cdef Py_ssize_t n_words = n_mark_words(&self.class_histogram, n_codes)
        return n_codes <= MOST_COUNTED and n_words <= 8 + self.column.size // 4

    cdef bint examine_numbers(self, int32_t feature, Codes codes, const Task* task) noexcept nogil:
        """Offer a feature's best threshold for numbers; say whether it varies."""
        cdef const int32_t* rows = self.examples.rows + task.start
        cdef Py_ssize_t n_codes = self.table.n_codes(feature)
        cdef int32_t missing = self.table.missing[feature]
        cdef Column* column = &self.column
        cdef const uint32_t* keys
        cdef const uint64_t* sorted
        cdef double drop
        cdef Cut cut
        if self.table.is_sorted(task.start, task.end):
            # Cheapest first: keys that are in order already, cells, a sort.
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
        # The last code on the left; where columns are kept in order, how many keys are.
        if cut.n_tied > 0:  # else there are thresholds, of which none can win
            drop = cut.numerator / cut.denominator
            self.search.missing = cut.missing
            offer(&self.search, drop, drop, <int32_t> cut.place, cut.n_tied)
            self.search.missing = Missing.NONE
        return True

    cdef Py_ssize_t split(self, const Task* task) noexcept nogil:
        """Record the best split and partition the node's examples by it."""
        cdef Best* best = &self.search.best
        cdef Py_ssize_t offset = self.table.offsets[self.table.columns[best.feature]]
        cdef int32_t left_code, right_code, missing = self.table.missing[best.feature]
        cdef int32_t member = -1
        cdef Codes codes = self.table.codes_of(best.feature)
        cdef GrownNode* node = &self.nodes[task.node]
        cdef Py_ssize_t middle, i
        cdef double heavier = 0.0
        # With kept orders `cut` counts examples: the code of the last one on the left is the cut.
        if self.table.is_sorted(task.start, task.end):
            best.cut = self.table.code(
                codes, self.table.keys_of(best.feature, task.start, node.depth)[best.cut - 1]
            )
        # A bundled feature has no column: its examples are parted by its code of the bundle.
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
            # Nobody has shown where they belong: they follow the side that weighs more.
            for i in range(task.start, task.end):
                heavier += self.examples.weights[i] if i < middle else -self.examples.weights[i]
            node.missing_left = heavier > 0
        node.feature = <int32_t> best.feature
        # Between neighbouring codes that the node has; values against gaps: all numbers go left.
        node.threshold = INFINITY if right_code == missing else midpoint(
            self.table.highest[offset + left_code], self.table.lowest[offset + right_code]
        )
        if self.table.is_sorted(task.start, task.end):
            self.table.part(
                self.examples.labels, task.start, middle, task.end, node.depth, self.features,
                self.n_varying,
            )
        if self.search.rule.stumps:
            # Examined sooner, it rules out more of what others offer. All thresholds keep to the
            # old order, on which depends which of equals a seed takes.
            self.swap(self.places[best.feature], self.places[best.feature] // 2)
        # After the search: what a node pays lowers the prices of later nodes, not its own.
        self.prices.note(best.feature, self.examples.rows + task.start, task.end - task.start)
        return middle
