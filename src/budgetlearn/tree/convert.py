"""Conversion of scikit-learn's and LightGBM's trees to `Tree`, so that one code charges all."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.special import logit
from sklearn.tree import BaseDecisionTree

from .predictor import LEAF, Tree

_ZERO = float(np.float32(1e-35))  # LightGBM reads numbers up to this size as 0
# Flags of a split in LightGBM's model text.
_CATEGORICAL = 1
_MISSING_LEFT, _MISSING, _ZERO_IS_MISSING, _NAN_IS_MISSING = 2, 12, 4, 8
READABLE = (
    "decision tree, random forest, extra trees, bagging of decision trees, gradient boosting or "
    "AdaBoostClassifier over decision trees of scikit-learn"
)
NOT_CONSTANT = 'gradient boosting must start from a constant, init=None or "zero"'


def _from_arrays(source, value):
    """Return one scikit-learn `tree_` as `Tree` with the given node values."""
    leaf = source.children_left == LEAF
    feature, threshold = np.where(leaf, LEAF, source.feature), np.where(leaf, 0.0, source.threshold)
    left, right = source.children_left, source.children_right
    return Tree(feature, threshold, left, right, value, source.n_node_samples)


def _boosted(estimator):
    """Return the trees of gradient boosting; their values plus the init sum to the raw score."""
    n_outputs = estimator.estimators_.shape[1]
    trees = []
    for stage in estimator.estimators_:
        for output, fitted in enumerate(stage):
            value = np.zeros((fitted.tree_.node_count, n_outputs))
            value[:, output] = estimator.learning_rate * fitted.tree_.value[:, 0, 0]
            trees.append(_from_arrays(fitted.tree_, value))
    return trees


def _adaptively_boosted(estimator):
    """Return the trees of AdaBoost (SAMME), which vote with their weight against other classes."""
    against = -1 / (estimator.n_classes_ - 1)
    trees = []
    for fitted, weight in zip(estimator.estimators_, estimator.estimator_weights_, strict=False):
        shares = fitted.tree_.value[:, 0, :]
        value = np.full(shares.shape, against * weight)
        value[np.arange(len(shares)), shares.argmax(axis=1)] = weight
        trees.append(_from_arrays(fitted.tree_, value))
    return trees


def from_sklearn(estimator):
    """Return the trees of a fitted scikit-learn estimator, as a list of `Tree`.

    `READABLE` lists the estimators. They must have one target; only regression trees and forests
    may have several. Others raise `TypeError`. scikit-learn compares float32 features, so pass X as
    float32 to follow the same paths. X must not contain NaN, which these trees send right.

    Node values are those of scikit-learn:

    - classification trees, forests and bagging: class shares, whose mean over the trees is
      `predict_proba`; in regression, means;
    - gradient boosting: learning rate times leaf value, in the column of the class;
    - AdaBoost: the tree's weight for the class of the leaf's vote, and −1/(K − 1) times the weight
      for the others. The sum is `decision_function` up to its scale.
    """
    if not holds_trees(estimator):
        member = getattr(estimator, "estimator", None)
        own = type(estimator).__name__ + ("" if member is None else f" of {type(member).__name__}")
        raise TypeError(f"from_sklearn takes a fitted {READABLE}, got {own}.")
    members = [estimator] if hasattr(estimator, "tree_") else estimator.estimators_
    if isinstance(members, np.ndarray):
        return _boosted(estimator)
    if hasattr(estimator, "estimator_weights_"):
        return _adaptively_boosted(estimator)
    one = members[0].n_outputs_ == 1
    if not one and hasattr(members[0], "classes_"):
        raise TypeError(f"from_sklearn takes one target, got {members[0].n_outputs_}.")
    # Values have shape (node_count, n_outputs, n_classes); columns are classes or several outputs.
    grown = [member.tree_ for member in members]
    values = (tree.value[:, 0, :] if one else tree.value[:, :, 0] for tree in grown)
    trees = list(map(_from_arrays, grown, values))
    drawn = getattr(estimator, "estimators_features_", None)  # the features of bagging's trees
    return trees if drawn is None else list(map(on_the_whole_table, trees, drawn))


def holds_trees(estimator):
    """Return whether `from_sklearn` accepts a scikit-learn estimator, once it is fitted.

    Other estimators have trees but combine them differently (isolation forests, embeddings, the
    weighted median of AdaBoostRegressor, stacking).
    """
    from sklearn import ensemble  # a slow import that is not needed for LightGBM's trees

    averaging = (
        *(ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
        *(ensemble.ExtraTreesClassifier, ensemble.ExtraTreesRegressor),
    )
    boosting = (ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor)
    if isinstance(estimator, (BaseDecisionTree, *averaging, *boosting)):
        return True
    meta = (ensemble.BaggingClassifier, ensemble.BaggingRegressor, ensemble.AdaBoostClassifier)
    base = getattr(estimator, "estimator", None)
    return isinstance(estimator, meta) and isinstance(base, (BaseDecisionTree, type(None)))


def on_the_whole_table(tree, features):
    """Return a tree grown on some features, with features numbered as in the whole table."""
    return replace(tree, feature=np.where(tree.is_leaf, LEAF, np.asarray(features)[tree.feature]))


def sklearn_intercept(estimator):
    """Return the scores of a fitted scikit-learn ensemble before any tree, float or (n_outputs,).

    In gradient boosting this is the constant that fits the training targets best: their mean (or
    quantile), the log-odds of the second of two classes (half of them with the exponential loss),
    or the centred log shares of more classes. Otherwise it is 0. Gradient boosting with another
    `init` raises `TypeError` (see `starts_constant`).
    """
    if not starts_constant(estimator):
        raise TypeError(f"{NOT_CONSTANT}, got {estimator.init!r}.")
    start = getattr(estimator, "init_", "zero")
    if isinstance(start, str):
        return 0.0
    row = np.zeros((1, estimator.n_features_in_))
    if not hasattr(estimator, "classes_"):
        return start.predict(row)[0]
    least = np.finfo(np.float64).eps  # scikit-learn clips shares and computes log-odds like this
    shares = np.clip(start.predict_proba(row)[0], least, 1 - least)
    if shares.size > 2:
        return np.log(shares) - np.log(shares).mean()
    return logit(shares[1]) / score_scale(estimator)


def starts_constant(estimator):
    """Return whether the scores of an ensemble start from the same number for every example.

    They do without `init`, or if it is None or "zero". Other models would read unacquired features.
    """
    start = getattr(estimator, "init", None)
    return start is None or isinstance(start, str)


def score_scale(estimator):
    """Return the factor that turns a binary score of gradient boosting into log-odds."""
    # Scores of the exponential loss are half the log-odds.
    return 2.0 if getattr(estimator, "loss", None) == "exponential" else 1.0


def _fields(section):
    """Return the lines `name=numbers` of a section of LightGBM's model text as a dictionary."""
    return dict(line.split("=", 1) for line in section.splitlines() if "=" in line)


def _check_splits(trees, features, decisions):
    """Raise `TypeError` unless all splits are x <= threshold and all leaves are constant."""
    if any(fields.get("is_linear", "0") != "0" for fields in trees):
        raise TypeError("from_lightgbm cannot represent linear trees (linear_tree=True).")
    categorical = features[decisions & _CATEGORICAL > 0]
    if categorical.size:
        raise TypeError(
            "from_lightgbm takes numerical splits only, got a categorical one on feature "
            f"{categorical[0]}: encode categories as numbers before training."
        )
    if (decisions & _MISSING == _ZERO_IS_MISSING).any():
        raise TypeError(
            "from_lightgbm cannot represent zero_as_missing=True, which treats zeros separately "
            "from other numbers: train without it."
        )


def from_lightgbm(booster):
    """Return the trees of a LightGBM booster up to its best iteration, as a list of `Tree`.

    The sum of their values is LightGBM's `raw_score`, also with `boosting="rf"`, which predicts
    averages. Inner nodes have LightGBM's `internal_value`, with the six digits of its text. If a
    feature had missing values in training, NaN goes to the side that training found. Other features
    must not be NaN: LightGBM treats it as 0, while these trees send it right.
    """
    head, *sections = booster.model_to_string().split("\nTree=")
    sections[-1] = sections[-1].split("\nend of trees")[0]
    trees, n_outputs = list(map(_fields, sections)), int(_fields(head)["num_tree_per_iteration"])

    def numbers(name, dtype=np.int32):
        # For all trees at once: separate arrays would take most of the time of packing a model.
        words = filter(None, (fields.get(name) for fields in trees))
        return np.fromstring(" ".join(words), dtype=dtype, sep=" ")

    features, decisions, n_leaves = map(numbers, ("split_feature", "decision_type", "num_leaves"))
    _check_splits(trees, features, decisions)
    n_inner = n_leaves - 1
    # In each tree, inner nodes come before leaves.
    is_leaf = np.arange(2 * len(trees)) % 2 == 1
    is_leaf = np.repeat(is_leaf, np.column_stack([n_inner, n_leaves]).ravel())

    def nodes(inner, leaves):
        found = np.empty(is_leaf.size, dtype=inner.dtype)
        found[~is_leaf], found[is_leaf] = inner, leaves
        return found

    def children(name):
        child = numbers(name)
        return nodes(np.where(child < 0, np.repeat(n_inner, n_inner) + ~child, child), LEAF)

    value = np.zeros((is_leaf.size, n_outputs))
    output = np.repeat(np.arange(len(trees)) % n_outputs, n_inner + n_leaves)
    sums = nodes(numbers("internal_value", float), numbers("leaf_value", float))
    value[np.arange(is_leaf.size), output] = sums
    # The bit of the default side has no meaning for features without missing values in training.
    missing_left = (decisions & _MISSING == _NAN_IS_MISSING) & (decisions & _MISSING_LEFT > 0)
    threshold = numbers("threshold", float)
    threshold[threshold == -_ZERO] = np.nextafter(-_ZERO, -1)  # zeros are above it
    feature, threshold = nodes(features, LEAF), nodes(threshold, 0.0)
    gaps = nodes(missing_left, False)
    left, right = children("left_child"), children("right_child")
    samples = nodes(numbers("internal_count"), numbers("leaf_count"))
    ends = np.cumsum(n_inner + n_leaves).tolist()
    return [
        Tree(
            *(each[start:end] for each in (feature, threshold, left, right, value, samples)),
            missing_left=gaps[start:end] if gaps[start:end].any() else None,
        )
        for start, end in pairwise([0, *ends])
    ]
