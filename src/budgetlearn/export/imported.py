"""Forests of scikit-learn and LightGBM, on the way that our own take to a device."""

from dataclasses import replace

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..tree import convert
from .compact_forest import CompactForest
from .exporting import CompactMethods


class ImportedForest(CompactMethods):
    """A fitted forest of scikit-learn or LightGBM, to be put into bytes, C or ONNX as it is.

    `GIFClassifier` and `GIFRegressor` prune such a forest to a budget (`forest`).

    Parameters
    ----------
    model : estimator or lightgbm.Booster
        Decision tree, random forest, extra trees, bagging of trees, gradient boosting or
        AdaBoostClassifier of scikit-learn, or any model of LightGBM that predicts numbers or
        classes; with numerical splits. Missing values take the model's own way; of features that
        lacked none in training they go right, where LightGBM takes them for 0.

    Raises
    ------
    TypeError
        If the model is another one, or does not predict what its trees add up to.
    """

    def __init__(self, model):
        booster = getattr(model, "booster_", model)
        if hasattr(booster, "model_to_string"):
            trees, self.n_features = convert.from_lightgbm(booster), booster.num_feature()
            head = booster.model_to_string(num_iteration=1)
            start = np.zeros(trees[0].value.shape[1])
            named = start.size > 1 or "objective=binary" in head
            classes = getattr(model, "classes_", np.arange(max(start.size, 2)) if named else None)
            n_trees = len(trees) if classes is None and "\naverage_output\n" in head else 1  # "rf"
            shares = False
            if classes is None:
                # Not one row alone, whose sum may be 0 or 1: what a transformation leaves as it is.
                rows = np.array([[-1e30], [0.0], [1e30]]) + np.zeros(self.n_features)
                raw, mean = booster.predict(rows, raw_score=True), booster.predict(rows)
                if not np.allclose(mean * n_trees, raw, rtol=1e-9, atol=0):
                    raise TypeError(
                        "a forest must predict what its trees add up to, and this objective of "
                        "LightGBM transforms the sum: train on the transformed target instead."
                    )
        else:
            check_is_fitted(model, msg="the forest, a %(name)s, must be fitted; copies are not.")
            self.n_features, classes = model.n_features_in_, getattr(model, "classes_", None)
            trees = convert.from_sklearn(model)
            start = convert.sklearn_intercept(model) + np.zeros(trees[0].value.shape[1])
            if get_tags(model).input_tags.allow_nan:
                members = getattr(model, "estimators_", [model])
                ways = (member.tree_.missing_go_to_left for member in members)
                trees = [replace(t, missing_left=way) for t, way in zip(trees, ways, strict=True)]
            n_trees = 1 if hasattr(model, "learning_rate") else len(trees)
            shares = classes is not None and not hasattr(model, "learning_rate")
        # The one score of two classes is what the second has more than the first.
        pad = classes is not None and start.size == 1
        self.classes, self.trees, self.intercept = classes, [], np.insert(start, 0, [0.0] * pad)
        for tree in trees:
            value = tree.value if classes is not None else tree.value / n_trees
            value = np.insert(value, [0] * pad, 0.0, axis=1)
            leaves = value[tree.is_leaf]
            # What all leaves have in common would take the few digits of small formats. Class
            # shares are left as they are: where classes tie, they tie on a device as well.
            common = 0.0 if shares else (leaves.min(axis=0) + leaves.max(axis=0)) / 2
            self.intercept = self.intercept + common
            self.trees.append(replace(tree, value=value - common))

    def compact(self, format="float32"):
        """Return the forest as a device stores it, see `CompactMethods.compact`."""
        about = {"intercept": self.intercept, "classes": self.classes, "format": format}
        return CompactForest.of(self.trees, self.n_features, **about)
