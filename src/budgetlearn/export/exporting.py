"""Forests for devices: the methods that export one, what each format costs, ONNX and C99 code."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..exceptions import MissingExtraError
from ..validation import ParameterError
from .compact_forest import FORMATS, REGRESSION, SCORES, VOTES
from .serialization import rebuilt, widths

# Of operators and of the file: old enough for the runtimes of the last years.
OPSETS, IR_VERSION = (("", 15), ("ai.onnx.ml", 3)), 8
TEMPLATE = Path(__file__).with_name("template.h").read_text()
C_TYPES = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}
WIDTH = 98
THRESHOLD = (
    "@name@_threshold[at]",
    "@name@_low[@name@_feature[at]] + @name@_step[@name@_feature[at]] * (float)@name@_bin[at]",
)
FEATURE = ("@name@_feature[at]", "@name@_used[@name@_feature[at]]")
PRINT = ('printf("%d", @name@_predict(x));', 'printf("%.9g", (double)@name@_predict(x));')


class CompactMethods:
    """Mixin of forests that `_compact(format)` can put into the compact format."""

    def compact(self, format="float32"):
        """Return the fitted forest as a device stores it.

        Parameters
        ----------
        format : {"float32", "float16", "int8"}, default="float32"
            Of the values of the leaves; "int8" stores thresholds in 8 bits too.

        Returns
        -------
        CompactForest
        """
        # Refused, not dropped: without the learned side, NaN would always go right.
        check_is_fitted(self)
        if self.missing_in_training_.any():
            raise ParameterError(
                "the compact format has no place for missing values, and this forest has learned "
                "from some: fit it on a table without NaN."
            )
        return self._compact(format)

    def nbytes(self, format="float32"):
        """Return the bytes that the forest takes in the compact format.

        Parameters
        ----------
        format : {"float32", "float16", "int8"}, default="float32"
            As for `compact`.

        Returns
        -------
        int
        """
        return self.compact(format).nbytes

    def export_c(self, path, format="float32", name="model"):
        """Write the forest as a C99 header without malloc or libm.

        Parameters
        ----------
        path : str or Path
            Where to.
        format : {"float32", "float16", "int8"}, default="float32"
            As for `compact`.
        name : str, default="model"
            What the names in C begin with, as in `int model_predict(const float *x)`.
        """
        Path(path).write_text(c_header(self.compact(format), name))

    def export_onnx(self, path):
        """Write the forest as an ONNX model, which needs the package `onnx`.

        Parameters
        ----------
        path : str or Path
            Where to. The model takes `X`, float32 of shape (n, n_features), and returns
            `prediction`, or `label` and `scores`; sums are taken in float32.

        Raises
        ------
        MissingExtraError
            Without `onnx`: pip install onnx.
        """
        Path(path).write_bytes(onnx_model(self.compact()).SerializeToString())


def quantization_errors(model, X, y):
    """Return a frame of what each format of a fitted model takes in bytes and costs in error.

    By format: bytes, the error on the given data (share of wrong classes, or mean squared error),
    what it is more than that of the model itself, and the share of predictions that differ from the
    model's (regression: the root mean squared difference).
    """
    y, own = np.asarray(y), model.predict(X)
    rows = []
    for name in FORMATS:
        forest = model.compact(name)
        predicted = forest.predict(X)
        if forest.kind == REGRESSION:
            error, before = (float(np.square(p - y).mean()) for p in (predicted, own))
            differs = float(np.sqrt(np.square(predicted - own).mean()))
        else:
            error, before = (float((p != y).mean()) for p in (predicted, own))
            differs = float((predicted != own).mean())
        rows.append((name, forest.nbytes, error, error - before, differs))
    columns = ["format", "bytes", "error", "increase", "difference"]
    return pd.DataFrame(rows, columns=columns).set_index("format")


def onnx_model(forest):
    """Return a forest as an ONNX model; classes that are not whole numbers become strings."""
    try:
        from onnx import TensorProto, helper
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "ONNX models need the package 'onnx', which is not installed. Install it with: "
            "pip install onnx"
        ) from error
    regression = forest.kind == REGRESSION
    scores = "prediction" if regression else "scores"
    nodes = [
        helper.make_node(
            "TreeEnsembleRegressor", ["X"], [scores], domain="ai.onnx.ml", **ensemble(forest)
        )
    ]
    shape = ["n", forest.n_columns]
    outputs = [helper.make_tensor_value_info(scores, TensorProto.FLOAT, shape)]
    constants = []
    if not regression:
        nodes += _decision(helper, forest.n_columns)
        kind, labels = _labels(forest)
        kind = getattr(TensorProto, kind)
        constants = [
            helper.make_tensor("labels", kind, [len(labels)], labels),
            helper.make_tensor("zero", TensorProto.FLOAT, [1], [0.0]),
            helper.make_tensor("last", TensorProto.INT64, [1], [1]),
        ]
        outputs = [helper.make_tensor_value_info("label", kind, ["n"]), *outputs]
    # Rows are a symbol: the model takes any number of them.
    X = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", forest.n_features])
    graph = helper.make_graph(nodes, "forest", [X], outputs, constants)
    opsets = [helper.make_opsetid(*opset) for opset in OPSETS]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="budgetlearn"
    )


def ensemble(forest):
    """Return the attributes of the operator TreeEnsembleRegressor for a forest in "float32".

    Nodes are those of `rebuilt`, tree after tree; a leaf adds its values, or its vote.
    """
    trees = rebuilt(forest.n_splits, forest.features(), forest.thresholds(), forest.n_left)
    numbers, leaves = [], []
    for place, (tree, values) in enumerate(zip(trees, forest.stop_values(), strict=True)):
        node = np.arange(tree.node_count)
        ends = np.flatnonzero(tree.is_leaf)
        # Of a leaf only its mode and weights count; ONNX wants numbers all the same.
        split = [
            np.where(tree.is_leaf, 0, of_node)
            for of_node in (tree.feature, tree.threshold, tree.children_left, tree.children_right)
        ]
        numbers.append(np.array([np.full(node.size, place), node, *split]))
        weights = np.eye(forest.n_columns)[values[:, 0]] if forest.kind == VOTES else values
        end, column = (part.ravel() for part in np.indices(weights.shape))
        leaves.append(np.array([0 * end + place, ends[end], column, weights.ravel()]))
    if not trees:  # a runtime wants one: a leaf that adds nothing
        numbers, leaves = [np.zeros((6, 1))], [np.zeros((4, 1))]
    tree, node, feature, threshold, left, right = np.hstack(numbers)
    of_tree, of_node, column, weight = np.hstack(leaves)
    modes = np.where(left > 0, "BRANCH_LEQ", "LEAF")  # no child is a root
    whole = {
        "nodes_treeids": tree,
        "nodes_nodeids": node,
        "nodes_featureids": feature,
        "nodes_truenodeids": left,
        "nodes_falsenodeids": right,
        "target_treeids": of_tree,
        "target_nodeids": of_node,
        "target_ids": column,
    }
    return {
        "n_targets": forest.n_columns,
        "base_values": forest.constant.tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_values": threshold.tolist(),
        "target_weights": weight.tolist(),
    } | {name: numbers.astype(int).tolist() for name, numbers in whole.items()}


def _decision(helper, n_columns):
    """Return the nodes that make a label of scores."""
    # Of equals ArgMax takes the first, as `predict` does; one column's sign decides by itself.
    if n_columns > 1:
        code = [helper.make_node("ArgMax", ["scores"], ["code"], axis=1, keepdims=0)]
    else:
        code = [
            helper.make_node("Greater", ["scores", "zero"], ["second"]),
            helper.make_node("Cast", ["second"], ["codes"], to=7),  # whole numbers
            helper.make_node("Squeeze", ["codes", "last"], ["code"]),
        ]
    return [*code, helper.make_node("Gather", ["labels", "code"], ["label"])]


def _labels(forest):
    classes = np.arange(forest.n_classes) if forest.classes is None else forest.classes
    if np.issubdtype(classes.dtype, np.integer):
        return "INT64", classes.tolist()
    return "STRING", [str(name) for name in classes.tolist()]


def c_header(forest, name="model"):
    """Return the text of a C99 header that predicts what a compact forest predicts."""
    # The name goes into identifiers, and nothing else of the user's into code.
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ParameterError(
            f"name must be letters, digits and underscores, a letter first, got {name!r}."
        )
    sum_type, add, scores = _sums(forest)
    one = forest.n_columns == 1
    predict = "sign" if forest.kind == SCORES and one else "argmax"
    if forest.kind == REGRESSION:
        predict = "regression" if one else "outputs"
    # In this order: the first ones contain names and sizes themselves.
    parts = {
        "tables": "\n".join(_tables(forest, sum_type)),
        "half": _block("half") if "@name@_half(" in add else "",
        "threshold": THRESHOLD[forest.format == "int8"],
        "feature": FEATURE[forest.format == "int8"],
        "add": add,
        "scores": scores,
        "predict": _block(predict),
        "print": PRINT[forest.kind == REGRESSION],
        "sum_type": sum_type,
        "guard": f"{name.upper()}_H",
        "n_features": forest.n_features,
        "n_columns": forest.n_columns,
        "n_trees": forest.n_splits.size,
        "nbytes": forest.nbytes,
        "format": forest.format,
        # Every name begins with the model's, so that two models fit into one program.
        "name": name,
        "NAME": name.upper(),
    }
    text = _block("model")
    for key, value in parts.items():
        text = text.replace(f"@{key}@", str(value))
    return re.sub(r"\n{3,}", "\n\n", text)


def _block(key):
    return re.search(rf"^//= {key}\n(.*?)(?=^//= |\Z)", TEMPLATE, re.S | re.M)[1]


def _sums(forest):
    """Return what C does with sums: their type, the statement that adds a stop, score k of them."""
    # Whole numbers add up exactly in any order; the bits of floats depend on it.
    if forest.kind == VOTES:
        return "uint32_t", "sums[@name@_value[stop]] += 1u;", "(float)sums[k]"
    value = "@name@_value[stop * @NAME@_N_SCORES + k]"
    if forest.format == "float16":
        value = f"@name@_half({value})"
    add = f"for (k = 0; k < @NAME@_N_SCORES; ++k) {{ sums[k] += {value}; }}"
    if forest.format == "int8":
        return "int32_t", add, "(float)sums[k] * @name@_scale[k]"
    return "float", add, "sums[k]"


def _tables(forest, sum_type):
    # In int8 splits name a place in `used`, mostly a byte where columns would take two.
    int8 = forest.format == "int8"
    n_features = forest.used.size if int8 else forest.n_features
    feature, offset, head = (C_TYPES[n] for n in widths(n_features, forest.n_splits, forest.n_left))
    yield _table(head, "head", forest.n_splits * 4 + forest.empty)
    yield _table(feature, "feature", forest.feature)
    yield _table(offset, "left", forest.n_left)
    if int8:
        yield _table("uint8_t", "bin", forest.threshold)
        yield _table("uint16_t", "used", forest.used)
        yield _table("float", "low", forest.low)
        yield _table("float", "step", forest.step)
    else:
        yield _table("float", "threshold", forest.threshold)
    if forest.scale.size:
        yield _table("float", "scale", forest.scale)
    if forest.kind == VOTES:
        yield _table("uint8_t", "value", forest.value)
        yield _table("uint32_t", "constant", forest.constant.astype(np.uint32))
        return
    kind, bits = {
        "float32": ("float", np.float32),
        "float16": ("uint16_t", np.uint16),
        "int8": ("int8_t", np.int8),
    }[forest.format]
    yield _table(kind, "value", forest.value.view(bits))
    yield _table(sum_type, "constant", forest.constant)


def _table(kind, name, values):
    """Return a constant array; C has none of length 0."""
    values = values.ravel() if values.size else np.zeros(1, dtype=values.dtype)
    words = [_float(value) for value in values] if kind == "float" else map(str, values.tolist())
    wrapper = textwrap.TextWrapper(WIDTH, break_on_hyphens=False)
    wrapper.initial_indent = wrapper.subsequent_indent = 4 * " "
    body = wrapper.fill(" ".join(f"{word}," for word in words))
    return f"static const {kind} @name@_{name}[{values.size}] = {{\n{body}\n}};"


def _float(value):
    """Return a float32 as a literal that every compiler reads as that very number."""
    text = f"{value:.9g}"  # nine digits tell all float32 apart
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
