"""Export of forests to devices and to ONNX, and the errors of each format.

`ImportedForest` provides the export of forests of scikit-learn and LightGBM.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..exceptions import BudgetlearnWarning, extra
from ..protocol.checked_data import checked_table
from ..tree import convert
from ..validation import ParameterError
from .compact_models import CompactForest
from .formats import FORMATS
from .serialization import REGRESSION, VOTES

# Versions of operators and of the file, old enough for the runtimes of recent years.
OPSETS, IR_VERSION = (("", 15), ("ai.onnx.ml", 3)), 8


class CompactMethods:
    """Mixin for forests that define `_compact(format)`, their conversion to the compact format."""

    def compact(self, format="float32"):
        """Return the fitted forest in the compact format that devices store.

        Parameters
        ----------
        format : {"float32", "float16", "int8"}, default="float32"
            Format of the leaf values; "int8" also stores thresholds in 8 bits.

        Returns
        -------
        CompactForest
        """
        check_is_fitted(self)
        return self._compact(format)

    def nbytes(self, format="float32"):
        """Return the size of the forest in the compact format, in bytes.

        Parameters
        ----------
        format : {"float32", "float16", "int8"}, default="float32"
            As for `compact`.

        Returns
        -------
        int
        """
        return self.compact(format).nbytes

    def export_c(self, path, format="float32", name="model", layout="small"):
        """Write the forest as a C99 header without malloc or libm.

        Parameters
        ----------
        path : str or Path
            The file to write.
        format : {"float32", "float16", "int8"}, default="float32"
            As for `compact`.
        name : str, default="model"
            Prefix of the names in C, as in `int model_predict(const float *x)`.
        layout : {"small", "fast"}, default="small"
            "small" is one loop over tables. "fast" is straight-line code, which takes up to five
            times as much flash. Both predict the same, bit for bit.
        """
        self.compact(format).export_c(path, name, layout)

    def export_onnx(self, path):
        """Write the forest as an ONNX model, which needs the package `onnx`.

        Parameters
        ----------
        path : str or Path
            The file to write. The model takes `X`, float32 of shape (n, n_features), and returns
            `prediction`, or `label` and `scores`. It adds in float32.

        Raises
        ------
        MissingExtraError
            If `onnx` is not installed (pip install onnx).
        """
        Path(path).write_bytes(onnx_model(self.compact()).SerializeToString())


class ImportedForest(CompactMethods):
    """A fitted forest of scikit-learn or LightGBM, to be exported unchanged to bytes, C or ONNX.

    `GIFClassifier` and `GIFRegressor` can prune such a forest to a budget (`forest`).

    Parameters
    ----------
    model : estimator or lightgbm.Booster
        scikit-learn's decision tree, random forest, extra trees, bagging of trees, gradient
        boosting or AdaBoostClassifier, or any LightGBM model that predicts numbers or classes. All
        splits must be numerical. Missing values go the same way as in the model, except for
        features without missing values in training: they go right, but LightGBM treats them as 0.

    Raises
    ------
    TypeError
        If the model is another one, or does not predict the sum of its trees.
    ParameterError
        If scikit-learn's model knows a single class.
    """

    def __init__(self, model):
        booster = getattr(model, "booster_", model)
        if hasattr(booster, "model_to_string"):
            trees, self.n_features = convert.from_lightgbm(booster), booster.num_feature()
            start = np.zeros(trees[0].value.shape[1])
            self.classes, averages = _about_lightgbm(model, booster, len(trees), start.size)
            votes = False
        else:
            check_is_fitted(model, msg="the forest, a %(name)s, must be fitted; clones are not.")
            trees, self.n_features = convert.from_sklearn(model), model.n_features_in_
            start = convert.sklearn_intercept(model) + np.zeros(trees[0].value.shape[1])
            if get_tags(model).input_tags.allow_nan:
                members = getattr(model, "estimators_", [model])
                ways = (member.tree_.missing_go_to_left for member in members)
                trees = [replace(t, missing_left=way) for t, way in zip(trees, ways, strict=True)]
            self.classes = getattr(model, "classes_", None)
            if self.classes is not None and len(self.classes) == 1:
                only = self.classes.tolist()[0]
                raise ParameterError(f"a forest must know two classes or more, got {only!r} only.")
            averages = not hasattr(model, "learning_rate")
            votes = averages and self.classes is not None
        # A single score of two classes is the second class's score minus the first's.
        pad = self.classes is not None and start.size == 1
        self.trees, self.intercept = [], np.insert(start, 0, 0.0) if pad else start
        # Sums of class shares are not divided by the number of trees: the largest sum decides.
        divisor = len(trees) if averages and self.classes is None else 1
        for tree in trees:
            value = tree.value / divisor
            value = np.insert(value, 0, 0.0, axis=1) if pad else value
            leaves = value[tree.is_leaf]
            # Subtract the middle of the leaf values, to save the few digits of small formats.
            # Class shares are unchanged, so that classes that tie also tie on a device.
            common = 0.0 if votes else (leaves.min(axis=0) + leaves.max(axis=0)) / 2
            self.intercept = self.intercept + common
            self.trees.append(replace(tree, value=value - common))

    def compact(self, format="float32"):
        """Return the forest in the compact format, see `CompactMethods.compact`."""
        about = {"intercept": self.intercept, "classes": self.classes, "format": format}
        return CompactForest.of(self.trees, self.n_features, **about)


def _about_lightgbm(model, booster, n_trees, n_columns):
    """Return the classes of a booster (None: it predicts numbers), and whether it averages trees.

    Raises `TypeError` if it predicts neither classes nor the sum or the mean of its trees.
    """
    head = booster.model_to_string(num_iteration=1)
    named = n_columns > 1 or "objective=binary" in head
    classes = getattr(model, "classes_", np.arange(max(n_columns, 2)) if named else None)
    averages = "\naverage_output\n" in head  # boosting="rf"
    if classes is None:
        # Three rows, because a transformation may leave a single sum (0 or 1) unchanged.
        rows = np.array([[-1e30], [0.0], [1e30]]) + np.zeros(booster.num_feature())
        raw, made = booster.predict(rows, raw_score=True), booster.predict(rows)
        if not np.allclose(made * (n_trees if averages else 1), raw, rtol=1e-9, atol=0):
            raise TypeError(
                "a forest must predict the sum of its trees, but this LightGBM objective "
                "transforms the sum: train on the transformed target instead."
            )
    return classes, averages


def quantization_errors(model, X, y):
    """Return a frame of the size and the error of a fitted model in each format.

    Columns are the bytes, the error on the given data (share of wrong classes, or mean squared
    error), its increase over the model's own error, and the share of predictions that differ from
    the model's (in regression, the root mean squared difference). They are NaN for a format that
    cannot hold the model, and a `BudgetlearnWarning` says why.
    """
    own, rows = model.predict(X), []
    X, _ = checked_table(model, X)  # devices take text as codes
    y = np.reshape(y, own.shape)  # a column would broadcast against a row of predictions

    def error_of(made, truth):
        return float(np.mean((made - truth) ** 2 if numbers else made != truth))

    for name in FORMATS:
        try:
            forest = model.compact(name)
        except ParameterError as cannot:
            warnings.warn(f"{name}: {cannot}", BudgetlearnWarning, stacklevel=2)
            rows.append((name, *4 * [np.nan]))
            continue
        made, numbers = forest.predict(X), forest.kind == REGRESSION
        error, differs = error_of(made, y), error_of(made, own)
        differs = differs**0.5 if numbers else differs
        rows.append((name, forest.nbytes, error, error - error_of(own, y), differs))
    columns = ["format", "bytes", "error", "increase", "difference"]
    return pd.DataFrame(rows, columns=columns).set_index("format")


def onnx_model(forest):
    """Return a forest as an ONNX model; classes that are not integers become strings."""
    with extra(None, "export_onnx"):
        from onnx import TensorProto, helper
    regression = forest.kind == REGRESSION
    scores = "prediction" if regression else "scores"
    how = {"domain": "ai.onnx.ml", **ensemble(forest)}
    nodes = [helper.make_node("TreeEnsembleRegressor", ["X"], [scores], **how)]
    outputs = [helper.make_tensor_value_info(scores, TensorProto.FLOAT, ["n", forest.n_columns])]
    constants = []
    if not regression:
        # Ties go to the first class in ArgMax, as in `predict`. With one column, the sign decides.
        columns = "scores"
        if forest.n_columns == 1:
            columns = "both"
            nodes.append(helper.make_node("Neg", ["scores"], ["first"]))
            nodes.append(helper.make_node("Concat", ["first", "scores"], ["both"], axis=1))
        nodes.append(helper.make_node("ArgMax", [columns], ["code"], axis=1, keepdims=0))
        nodes.append(helper.make_node("Gather", ["labels", "code"], ["label"]))
        labels = np.arange(forest.n_classes) if forest.classes is None else forest.classes
        whole = np.issubdtype(labels.dtype, np.integer)
        kind = TensorProto.INT64 if whole else TensorProto.STRING
        labels = labels.tolist() if whole else list(map(str, labels.tolist()))
        constants = [helper.make_tensor("labels", kind, [len(labels)], labels)]
        outputs = [helper.make_tensor_value_info("label", kind, ["n"]), *outputs]
    # The number of rows is symbolic, so the model takes any number of rows.
    X = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", forest.n_features])
    graph = helper.make_graph(nodes, "forest", [X], outputs, constants)
    opsets = [helper.make_opsetid(*opset) for opset in OPSETS]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="budgetlearn"
    )


def ensemble(forest):
    """Return the attributes of the operator TreeEnsembleRegressor for a forest in "float32".

    Nodes are those of `rebuilt`, tree by tree. A leaf adds its values or its vote.
    """
    trees = forest.trees()
    numbers, leaves = [], []
    for place, (tree, values) in enumerate(zip(trees, forest.stop_values(), strict=True)):
        node, ends = np.arange(tree.node_count), np.flatnonzero(tree.is_leaf)
        parts = tree.feature, tree.threshold, tree.children_left, tree.children_right
        # For a leaf, only mode and weights matter, but ONNX requires the other numbers, too.
        split = [np.where(tree.is_leaf, 0, part) for part in (*parts, tree.missing_left)]
        numbers.append(np.array([np.full(node.size, place), node, *split]))
        weights = np.eye(forest.n_columns)[values[:, 0]] if forest.kind == VOTES else values
        end, column = (part.ravel() for part in np.indices(weights.shape))
        leaves.append(np.array([0 * end + place, ends[end], column, weights.ravel()]))
    if not trees:  # runtimes require a tree, so add a leaf that adds 0 to each column
        numbers, leaves = [np.zeros((7, 1))], [np.outer([0.0, 0, 1, 0], range(forest.n_columns))]
    tree, node, feature, threshold, left, right, missing_left = np.hstack(numbers)
    of_tree, of_node, column, weight = np.hstack(leaves)
    modes = np.where(left > 0, "BRANCH_LEQ", "LEAF")  # a child is never node 0, the root
    whole = {
        "nodes_treeids": tree,
        "nodes_nodeids": node,
        "nodes_featureids": feature,
        "nodes_truenodeids": left,
        "nodes_falsenodeids": right,
        "nodes_missing_value_tracks_true": missing_left,
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
