"""C99 code of a compact model: one loop over tables, or straight-line code of a forest.

A mispredicted branch makes the processor wait. So straight-line code evaluates all tests of a small
tree, and computes the stop from their results, 0 or 1, by arithmetic. Larger trees branch until
such a small subtree is left. The order of a subtree's stops is chosen to keep the arithmetic short.
"""

import re
import textwrap
from pathlib import Path

import numpy as np

from ..tree.predictor import LEAF
from ..validation import ParameterError
from .serialization import REGRESSION, SCORES, VOTES, arrays_of, rebuilt

LAYOUTS = ("small", "fast")
TEMPLATE = Path(__file__).with_name("template.h").read_text()
WIDTH = 98
THRESHOLD = (
    "@name@_threshold[at]",
    "@name@_low[@name@_feature[at]] + @name@_step[@name@_feature[at]] * (float)@name@_bin[at]",
)
ABOUT = "a forest of @n_trees@ trees in the format @format@, "
MISSING = " || (x[@feature@] != x[@feature@] && (@name@_missing[at >> 3] & (1u << (at & 7u))))"
FEATURE = ("@name@_feature[at]", "@name@_used[@name@_feature[at]]")
# Trees whose stops are found before their values are added, so that the processor overlaps both.
TOGETHER = 16
MOST_TESTED = 4  # tests of a subtree without branches; measured: with more, a branch is faster
MOST_NESTED = 120  # C99 guarantees 127 nested blocks, of which the function needs some
PRINT = ('printf("%d", @name@_predict(x));', 'printf("%.9g", (double)@name@_predict(x));')


def c_header(model, name="model", layout="small"):
    """Return the text of a C99 header that predicts like a compact forest or network."""
    # The name becomes part of identifiers; no other text of the user goes into the code.
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ParameterError(
            f"name must start with a letter, then letters, digits or underscores, got {name!r}."
        )
    predict = "sign" if model.kind == SCORES and model.n_columns == 1 else "argmax"
    predict = "first" if model.kind == REGRESSION else predict
    network, n_trees = hasattr(model, "bias"), getattr(model, "n_splits", np.empty(0)).size
    # A constant model has no trees to unroll.
    make = _network if network else _fast if layout == "fast" and n_trees else _small
    # The order matters, because the first parts contain names and sizes themselves.
    parts = make(model) | {
        "predict": _block(predict),
        "print": PRINT[model.kind == REGRESSION],
        "guard": f"{name.upper()}_H",
        "n_features": model.n_features,
        "n_columns": model.n_columns,
        "format": model.format,
        "n_trees": n_trees,
        # Every identifier begins with the model's name, so a program can have two models.
        "name": name,
        "NAME": name.upper(),
    }
    text = _block("model")
    for key, value in parts.items():
        text = text.replace(f"@{key}@", str(value))
    return re.sub(r"\n{3,}", "\n\n", text)


def _network(network):
    return {
        "function": _block("network"),
        "about": f"a perceptron of {network.bias.size} hidden units, {network.nbytes} bytes",
        "tables": "\n".join(_table(name, getattr(network, name)) for name in network.arrays),
        "half": "",
        "n_hidden": network.bias.size,
    }


def _small(forest):
    """Return the parts of a loop over the tables of the compact format."""
    sum_type, add, scores = _sums(forest)
    return {
        "function": _block("small"),
        "about": ABOUT + f"{forest.nbytes} bytes of tables",
        "tables": "\n".join(_tables(forest)),
        "half": _block("half") if "@name@_half(" in add else "",
        "missing": MISSING if forest.missing_left.any() else "",
        "threshold": THRESHOLD[forest.format == "int8"],
        "feature": FEATURE[forest.format == "int8"],
        "add": add,
        "scores": scores,
        "sum_type": sum_type,
    }


def _fast(forest):
    """Return the parts of straight-line code, which adds trees in the order of `scores`."""
    used, code, values = unrolled(forest)
    total_type, add, scores = _sums(forest)
    sum_type, lanes, constant = total_type, forest.n_columns, forest.constant
    # Converting float16 at each prediction would be slow, so it is stored as float32.
    values = values.astype(np.float32) if values.dtype == np.float16 else values
    start, together = "", forest.kind != VOTES and lanes > 1
    if forest.kind == VOTES:
        constant = constant.astype(np.uint32)
    elif together:
        # Sums of int8 take two bytes if they fit, as a vector unit then adds twice as many at once.
        # Columns are padded to whole vectors.
        most = sum(np.abs(own.astype(float)).max() for own in forest.stop_values())
        narrow = values.dtype == np.int8 and most <= np.iinfo(np.int16).max
        sum_type = "int16_t" if narrow else total_type
        lanes += -lanes % (8 if narrow else 4) if lanes > 2 else 0
        add = "stops[{place}] = stop;"
        values = np.append(values, np.zeros(lanes - forest.n_columns, dtype=values.dtype))
    else:
        add = "sums[0] += @name@_value[stop];"
    if total_type == "float":  # the result depends on the order of additions
        start = "for (k = 0; k < @NAME@_N_SCORES; ++k) { sums[k] = @name@_constant[k]; }"
    else:  # start from 0, so that the sums need fewer bits
        scores = scores.replace("sums[k]", "(@name@_constant[k] + sums[k])")
    # If NaN goes left, its key is below all thresholds.
    n_above = int((used < forest.n_features).sum())
    nan = "UINT32_MAX" if n_above else "0"
    nan = f"k < {n_above} ? UINT32_MAX : 0" if 0 < n_above < used.size else nan
    columns = (used % forest.n_features).astype(np.uint16)
    tables = {"used": columns, "value": values, "constant": constant}
    if forest.scale.size:
        tables["scale"] = forest.scale
    statement = "        sum[{0}] = (@sum_type@)(sum[{0}] + value[{0}]);"
    return {
        "function": _block("fast"),
        "about": ABOUT + "straight code",
        "tables": "\n".join(map(_table, tables, tables.values())),
        "half": _block("adder") if together else "",
        "adds": "\n".join(map(statement.format, range(lanes))),
        "trees": _statements(code, add, together),
        "start": start,
        "scores": scores,
        "rows": f", stops[{TOGETHER}]" if together else "",
        "lanes": lanes,
        "n_used": used.size,
        "nan": nan,
        "value_type": _type(values),
        "sum_type": sum_type,
    }


def _statements(code, add, together):
    """Return the code of the trees, each followed by the statement that adds its stop."""
    lines = []
    for tree, text in enumerate(code):
        place = tree % TOGETHER
        lines.append(f"    {{\n{text}        {add.format(place=place)}\n    }}\n")
        if together and (place == TOGETHER - 1 or tree == len(code) - 1):
            lines.append(f"    @name@_add(stops, {place + 1}, sums);\n")
    return "".join(lines)


def _block(key):
    return re.search(rf"^//= {key}\n(.*?)(?=^//= |\Z)", TEMPLATE, re.S | re.M)[1]


def _sums(forest):
    """Return the C type of the sums, the statement that adds a stop, and the formula of score k."""
    # Integers add exactly in any order; the result of floats depends on it.
    if forest.kind == VOTES:
        return "uint32_t", "sums[@name@_value[stop]] += 1u;", "(float)sums[k]"
    value = "@name@_value[stop * @NAME@_N_SCORES + k]"
    if forest.format == "float16":
        value = f"@name@_half({value})"
    add = f"for (k = 0; k < @NAME@_N_SCORES; ++k) {{ sums[k] += {value}; }}"
    if forest.format == "int8":
        return "int32_t", add, "(float)sums[k] * @name@_scale[k]"
    return "float", add, "sums[k]"


def _tables(forest):
    arrays, int8 = arrays_of(forest), forest.format == "int8"
    if forest.kind == VOTES:  # votes are counted as integers
        arrays["constant"] = arrays["constant"].astype(np.uint32)
    grid = ("used", "low", "step") if int8 else ()
    scale = ("scale",) if forest.scale.size else ()
    called = {"n_left": "left"} | ({"threshold": "bin"} if int8 else {})
    gaps = ("missing",) if arrays["missing"].size else ()
    named = "head", "feature", "n_left", *gaps, "threshold", *grid, *scale, "value", "constant"
    for name in named:
        yield _table(called.get(name, name), arrays[name])


def _type(values):
    return "float" if values.dtype == np.float32 else f"{values.dtype.name}_t"


def _table(name, values):
    """Return a constant array in C; an empty one gets one entry, as C requires."""
    values = values.ravel() if values.size else np.zeros(1, dtype=values.dtype)
    values = values.astype(values.dtype.newbyteorder("="))  # the arrays of bytes are little-endian
    # C has no float16, so its bits are stored.
    values = values.view(np.uint16) if values.dtype == np.float16 else values
    kind = _type(values)
    words = map(str, values.tolist())
    if kind == "float":  # nine digits identify a float32; literals need a point or an exponent
        words = (f"{value:.9g}" for value in values)
        words = [f"{word}f" if "." in word or "e" in word else f"{word}.0f" for word in words]
    wrapper = textwrap.TextWrapper(WIDTH, break_on_hyphens=False)
    wrapper.initial_indent = wrapper.subsequent_indent = 4 * " "
    body = wrapper.fill(" ".join(f"{word}," for word in words))
    return f"static const {kind} @name@_{name}[{values.size}] = {{\n{body}\n}};"


def unrolled(forest):
    """Return the features of the keys, the C code that sets `stop` for each tree, and all values.

    Keys in which NaN is above all numbers come first. For keys in which NaN is below all numbers,
    `n_features` is added to the feature.
    """
    second = np.where(forest.missing_left, forest.n_features, 0)
    used, place = np.unique(forest.features() + second, return_inverse=True)
    thresholds = ordered(forest.thresholds()).astype(np.int64)
    trees = rebuilt(forest.n_splits, place, thresholds, forest.n_left)
    code, values, n_stops = [], [], 0
    for tree, own in zip(trees, forest.stop_values(), strict=True):
        writer = _Writer(tree, n_stops)
        code.append(writer.branches(0, 0))
        values.append(own[writer.stops])
        n_stops += len(own)
    return used, code, np.concatenate(values)


def ordered(numbers):
    """Convert float32 numbers to integers in the same order, as `key` does in C."""
    # -0.0 equals 0.0. As thresholds, both become 0.0, and -0.0 is below it in this order, too.
    bits = (numbers.astype(np.float32) + np.float32(0)).view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))


class _Writer:
    """Writes the code of one tree; `stops` are the stops so far, in the order of their values."""

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
        """Return the lines that set `stop` in the subtree of a node, inside `depth` blocks."""
        if depth > MOST_NESTED:
            raise ParameterError(
                f"layout='fast' nests at most {MOST_NESTED} blocks, but a tree of this forest is "
                "deeper: use layout='small'."
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
        """Return the test of a split, which is 1 for left with `<=` and for right with `>`."""
        return f"keys[{self.feature[node]}] {sign} {int(self.threshold[node])}u"

    def index(self, node, lines):
        """Return the C index of the stop reached below a node (None: only one), and its stops."""
        if self.left[node] == LEAF:
            return None, [self.stop[node]]
        left, before = self.index(self.left[node], lines)
        right, after = self.index(self.right[node], lines)
        if left is None and right is None:
            return f"({self.test(node, '>')})", before + after
        if left is None or right is None:
            # A stop and a subtree: the stop comes first in the order, whichever side it is on.
            test = self.named(self.test(node, "<=" if right is None else ">"), lines)
            side = right if left is None else left
            stops = before + after if left is None else after + before
            if len(stops) == 3:  # the subtree's index is one bit, which saves an operation
                return f"({test} + ({test} & {side}))", stops
            return f"((0u - {test}) & (1u + {side}))", stops
        # Two subtrees: take the left index, or the right one by a mask of the test.
        test, left = self.named(self.test(node, ">"), lines), self.named(left, lines)
        change = f"({left} ^ ({len(before)}u + {right}))"
        return f"({left} ^ ({change} & (0u - {test})))", before + after

    def named(self, value, lines):
        """Declare a new variable with this value, and return its name."""
        self.n_names += 1
        lines.append(f"const uint32_t v{self.n_names} = {value};")
        return f"v{self.n_names}"
