"""The trees of a forest as straight C code: a processor waits where a branch surprises it.

In small trees all tests are made, and their outcomes, 0 or 1, lead to the stop by arithmetic.
Larger trees branch down to such small ones. The order of a part's stops keeps its arithmetic short.
"""

import numpy as np

from ..tree.predictor import LEAF
from ..validation import ParameterError
from .serialization import rebuilt

MOST_TESTED = 4  # measured: with more tests, a branch is the cheaper way
MOST_NESTED = 120  # C99 promises 127 blocks in each other, and the function takes some


def unrolled(forest):
    """Return for each tree the C that sets `stop`, and the values of all stops in this order."""
    _, place = keys(forest)
    thresholds = ordered(forest.thresholds()).astype(np.int64)
    trees = rebuilt(forest.n_splits, place, thresholds, forest.n_left)
    code, values = [], [np.empty((0, forest.value.shape[1]), dtype=forest.value.dtype)]
    n_stops = 0
    for tree, own in zip(trees, forest.stop_values(), strict=True):
        writer = _Writer(tree, n_stops)
        code.append(writer.branches(0, 0))
        values.append(own[writer.stops])
        n_stops += len(own)
    return code, np.concatenate(values)


def keys(forest):
    """Return the feature of each key, after all of them once more where NaN is least; their places.

    The first ones are those in which NaN is above all numbers.
    """
    second = np.where(forest.missing_left, forest.n_features, 0)
    return np.unique(forest.features() + second, return_inverse=True)


def ordered(numbers):
    """Return float32 numbers as whole numbers in the same order, as `key` in C does."""
    # -0.0 equals 0.0: as thresholds both become 0.0, below which -0.0 lies in this order too.
    bits = (numbers.astype(np.float32) + np.float32(0)).view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))


class _Writer:
    """Writes one tree; `stops` are its stops so far, in the order of their values."""

    def __init__(self, tree, n_before):
        self.left, self.right = tree.children_left.tolist(), tree.children_right.tolist()
        self.feature, self.threshold = tree.feature.tolist(), tree.threshold.tolist()
        self.stop = tree.value[:, 0].astype(int).tolist()
        self.stops, self.n_before, self.n_names = [], n_before, 0
        self.n_splits = [0] * len(self.left)
        for node in reversed(range(len(self.left))):  # children come after their parent
            if self.left[node] != LEAF:
                sides = self.n_splits[self.left[node]] + self.n_splits[self.right[node]]
                self.n_splits[node] = 1 + sides

    def branches(self, node, depth):
        """Return the lines that set `stop` below a node, `depth` blocks deep."""
        if depth > MOST_NESTED:
            raise ParameterError(
                f"layout='fast' nests at most {MOST_NESTED} blocks, and trees of this forest are "
                "deeper: take layout='small'."
            )
        pad = "    " * (depth + 1)
        if self.n_splits[node] <= MOST_TESTED:
            lines, first = [], self.n_before + len(self.stops)
            index, stops = self.index(node, lines)
            self.stops += stops
            lines.append(f"stop = {first}u + {index or '0u'};")
            return "".join(f"{pad}{line}\n" for line in lines)
        left, right = (self.branches(side[node], depth + 1) for side in (self.left, self.right))
        return f"{pad}if ({self.test(node, '<=')}) {{\n{left}{pad}}} else {{\n{right}{pad}}}\n"

    def test(self, node, sign):
        """Return the test of a split: 1 to the left with `<=`, to the right with `>`."""
        return f"keys[{self.feature[node]}] {sign} {int(self.threshold[node])}u"

    def index(self, node, lines):
        """Return which stop below a node is reached, None if there is but one, and these stops."""
        if self.left[node] == LEAF:
            return None, [self.stop[node]]
        left, before = self.index(self.left[node], lines)
        right, after = self.index(self.right[node], lines)
        if left is None and right is None:
            return f"({self.test(node, '>')})", before + after
        if left is None or right is None:
            # A stop and a side: the stop comes first, whichever side it is on.
            test = self.named(self.test(node, "<=" if right is None else ">"), lines)
            side = right if left is None else left
            stops = before + after if left is None else after + before
            if len(stops) == 3:  # a bit as well: one operation less
                return f"({test} + ({test} & {side}))", stops
            return f"((0u - {test}) & (1u + {side}))", stops
        # Both: the left one, unless all bits of the test are set.
        test, left = self.named(self.test(node, ">"), lines), self.named(left, lines)
        change = f"({left} ^ ({len(before)}u + {right}))"
        return f"({left} ^ ({change} & (0u - {test})))", before + after

    def named(self, value, lines):
        """Return the name of a new variable with this value."""
        self.n_names += 1
        lines.append(f"const uint32_t v{self.n_names} = {value};")
        return f"v{self.n_names}"
