"""ONNX models of compact forests: one tree ensemble, whose leaves hold the sums of their paths."""

import numpy as np

from ..exceptions import MissingExtraError
from .model import REGRESSION, VOTES
from .trees import rebuilt

# Of operators and of the file: old enough for the runtimes of the last years.
OPSETS, IR_VERSION = (("", 15), ("ai.onnx.ml", 3)), 8


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

    Nodes are in preorder, tree after tree; a leaf adds its values, or its vote.
    """
    trees = rebuilt(forest.n_splits, forest.features(), forest.thresholds(), forest.n_left)
    numbers, leaves = [np.empty((6, 0))], [np.empty((4, 0))]
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
        where = tree.value[ends, 0].argsort()  # leaves in the order of their stops
        leaves.append(np.array([0 * end + place, ends[where][end], column, weights.ravel()]))
    if not trees:  # a runtime wants one: a leaf that adds nothing
        numbers, leaves = [np.zeros((6, 1))], [np.zeros((4, 1))]
    tree, node, feature, threshold, left, right = np.hstack(numbers)
    of_tree, of_node, column, weight = np.hstack(leaves)
    modes = np.where(left > 0, "BRANCH_LEQ", "LEAF")  # no child is a root
    return {
        "n_targets": forest.n_columns,
        "base_values": forest.constant.tolist(),
        "nodes_treeids": _whole(tree),
        "nodes_nodeids": _whole(node),
        "nodes_featureids": _whole(feature),
        "nodes_modes": modes.tolist(),
        "nodes_values": threshold.tolist(),
        "nodes_truenodeids": _whole(left),
        "nodes_falsenodeids": _whole(right),
        "target_treeids": _whole(of_tree),
        "target_nodeids": _whole(of_node),
        "target_ids": _whole(column),
        "target_weights": weight.tolist(),
    }


def _whole(numbers):
    return numbers.astype(int).tolist()


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
    """Return the type of the labels and the labels, one for each class."""
    classes = np.arange(forest.n_classes) if forest.classes is None else forest.classes
    if np.issubdtype(classes.dtype, np.integer):
        return "INT64", classes.tolist()
    return "STRING", [str(name) for name in classes.tolist()]
