"""Trees of scikit-learn and LightGBM as `Tree`, so that all are charged by the same code."""

import numpy as np

from .structure import LEAF, Tree


def _from_arrays(source, value):
    """Return one scikit-learn `tree_` as `Tree` with the given node values."""
    leaf = source.children_left == LEAF
    return Tree(
        feature=np.where(leaf, LEAF, source.feature),
        threshold=np.where(leaf, 0.0, source.threshold),
        children_left=source.children_left,
        children_right=source.children_right,
        value=value,
        n_node_samples=source.n_node_samples,
    )


def _boosted(estimator):
    """Trees of gradient boosting: the sum of their values, plus the init, is the raw score."""
    n_outputs = estimator.estimators_.shape[1]
    trees = []
    for stage in estimator.estimators_:
        for output, fitted in enumerate(stage):
            value = np.zeros((fitted.tree_.node_count, n_outputs))
            value[:, output] = estimator.learning_rate * fitted.tree_.value[:, 0, 0]
            trees.append(_from_arrays(fitted.tree_, value))
    return trees


def from_sklearn(estimator):
    """Return the trees of a fitted scikit-learn estimator.

    scikit-learn compares float32 features: pass X as float32 to walk exactly its paths.

    Parameters
    ----------
    estimator : fitted estimator
        A decision tree, a forest (random forest, extra trees) or gradient boosting, with one
        target.

    Returns
    -------
    list of Tree
        Node values are those of scikit-learn: class shares in classification trees and forests
        (the mean over the trees is `predict_proba`), means in regression trees and forests,
        learning rate times leaf value in boosting, in the column of its class.

    Raises
    ------
    TypeError
        For an estimator that does not hold trees of that kind.
    """
    if hasattr(estimator, "tree_"):
        members = [estimator]
    else:
        members = getattr(estimator, "estimators_", None)
    if isinstance(members, np.ndarray) and members.ndim == 2:
        return _boosted(estimator)
    plain = isinstance(members, list) and all(hasattr(member, "tree_") for member in members)
    if not plain or hasattr(estimator, "estimator_weights_"):
        raise TypeError(
            "from_sklearn takes a fitted decision tree, random forest, extra trees or gradient "
            f"boosting of scikit-learn, got {type(estimator).__name__}."
        )
    if members[0].n_outputs_ != 1:
        raise TypeError(f"from_sklearn takes one target, got {members[0].n_outputs_}.")
    return [_from_arrays(member.tree_, member.tree_.value[:, 0, :]) for member in members]


def _check_split(node):
    """Refuse the splits of LightGBM that are not of the form x <= threshold."""
    if node["decision_type"] != "<=":
        raise TypeError(
            "from_lightgbm takes numerical splits only, got a categorical one on feature "
            f"{node['split_feature']}: encode categories as numbers before training."
        )
    if node["missing_type"] == "Zero":
        raise TypeError(
            "from_lightgbm cannot represent zero_as_missing=True, where zeros leave the order of "
            "the numbers: train without it."
        )


def _flatten(structure):
    """Return the nodes of a dumped tree, parents before children, as rows of `Tree` fields."""
    rows, todo = [], [(structure, None, None)]
    while todo:
        node, parent, side = todo.pop()
        row = {"left": LEAF, "right": LEAF, "feature": LEAF, "threshold": 0.0}
        if "split_feature" in node:
            _check_split(node)
            row.update(feature=node["split_feature"], threshold=float(node["threshold"]))
            row.update(value=node["internal_value"], samples=node["internal_count"])
            todo += [(node["right_child"], row, "right"), (node["left_child"], row, "left")]
        else:
            if "leaf_coeff" in node:
                raise TypeError("from_lightgbm cannot represent linear trees (linear_tree=True).")
            row.update(value=node["leaf_value"], samples=node.get("leaf_count", 0))
        if parent is not None:
            parent[side] = len(rows)
        rows.append(row)
    return rows


def from_lightgbm(booster):
    """Return the trees of a LightGBM model.

    Parameters
    ----------
    booster : lightgbm.Booster
        With numerical splits. The data that walk the trees must hold no NaN; what LightGBM does
        with missing values has no counterpart here.

    Returns
    -------
    list of Tree
        Up to the best iteration. The sum of their values is LightGBM's `raw_score`, shape
        (n_samples, number of classes, or 1), also with `boosting="rf"`, whose predictions
        average. Inner nodes carry LightGBM's `internal_value`.

    Raises
    ------
    TypeError
        For categorical splits, `zero_as_missing` and linear trees.
    """
    model = booster.dump_model()
    n_outputs = model["num_tree_per_iteration"]
    trees = []
    for index, info in enumerate(model["tree_info"]):
        rows = _flatten(info["tree_structure"])
        value = np.zeros((len(rows), n_outputs))
        value[:, index % n_outputs] = [row["value"] for row in rows]
        trees.append(
            Tree(
                feature=[row["feature"] for row in rows],
                threshold=[row["threshold"] for row in rows],
                children_left=[row["left"] for row in rows],
                children_right=[row["right"] for row in rows],
                value=value,
                n_node_samples=[row["samples"] for row in rows],
            )
        )
    return trees
