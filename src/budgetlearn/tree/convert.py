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


def _adaptively_boosted(estimator):
    """Trees of AdaBoost (SAMME): a tree votes with its weight, against all other classes alike."""
    against = -1 / (estimator.n_classes_ - 1)
    trees = []
    for fitted, weight in zip(estimator.estimators_, estimator.estimator_weights_, strict=False):
        shares = fitted.tree_.value[:, 0, :]
        value = np.full(shares.shape, against * weight)
        value[np.arange(len(shares)), shares.argmax(axis=1)] = weight
        trees.append(_from_arrays(fitted.tree_, value))
    return trees


def from_sklearn(estimator):
    """Return the trees of a fitted scikit-learn estimator.

    scikit-learn compares float32 features: pass X as float32 to walk exactly its paths.

    Parameters
    ----------
    estimator : fitted estimator
        A decision tree, a forest (random forest, extra trees), gradient boosting or
        AdaBoostClassifier over decision trees, with one target.

    Returns
    -------
    list of Tree
        Node values are those of scikit-learn: class shares in classification trees and forests
        (the mean over the trees is `predict_proba`), means in regression trees and forests,
        learning rate times leaf value in gradient boosting, in the column of its class; in
        AdaBoost the tree's weight for the class that the leaf votes for and −1/(K − 1) times
        the weight for the others, so that the sum is `decision_function` but for its scale.

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
    weighted = hasattr(estimator, "estimator_weights_")
    if not plain or (weighted and not hasattr(estimator, "n_classes_")):
        raise TypeError(
            "from_sklearn takes a fitted decision tree, random forest, extra trees, gradient "
            "boosting or AdaBoostClassifier over decision trees of scikit-learn, got "
            f"{type(estimator).__name__}."
        )
    if weighted:
        return _adaptively_boosted(estimator)
    if members[0].n_outputs_ != 1:
        raise TypeError(f"from_sklearn takes one target, got {members[0].n_outputs_}.")
    return [_from_arrays(member.tree_, member.tree_.value[:, 0, :]) for member in members]


def sklearn_intercept(estimator):
    """Return what the scores of a fitted scikit-learn ensemble start from, before any tree.

    Parameters
    ----------
    estimator : fitted estimator
        One that `from_sklearn` takes; gradient boosting with its default `init` or "zero".

    Returns
    -------
    float or ndarray of shape (n_outputs,)
        In gradient boosting the constant that fits the training targets best: their mean (or
        quantile), the log-odds of the second of two classes, or the centred log shares of more.
        Else 0.
    """
    start = getattr(estimator, "init_", "zero")
    if isinstance(start, str):
        return 0.0
    row = np.zeros((1, estimator.n_features_in_))
    if not hasattr(estimator, "classes_"):
        return start.predict(row)[0]
    logs = np.log(start.predict_proba(row)[0])
    return logs[1] - logs[0] if logs.size == 2 else logs - logs.mean()


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
