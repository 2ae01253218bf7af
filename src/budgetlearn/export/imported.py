"""Forests of scikit-learn and LightGBM, on the way that our own take to a device."""

from dataclasses import replace

import numpy as np
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
        classes with numerical splits. Without missing values.

    Attributes
    ----------
    trees : list of Tree
        Its trees; scores are `intercept` plus the sum of their values.
    intercept : ndarray of shape (n_scores,)
        What the scores start from.
    classes : ndarray or None
        Labels; numbers from 0 if a Booster predicts classes. None in regression.
    n_features : int
        Columns of X.

    Raises
    ------
    TypeError
        If the model is another one, or does not predict what its trees add up to.
    """

    def __init__(self, model):
        self.model = model
        booster = getattr(model, "booster_", model)
        if hasattr(booster, "model_to_string"):
            trees, shares = convert.from_lightgbm(booster), 1
            n_outputs, self.n_features = trees[0].value.shape[1], booster.num_feature()
            named = n_outputs > 1 or "objective=binary" in booster.model_to_string(num_iteration=1)
            classes = getattr(model, "classes_", np.arange(max(n_outputs, 2)) if named else None)
            start = np.zeros(n_outputs)
            if classes is None:
                shares = _averaged(booster)
        else:
            check_is_fitted(model)
            trees, classes = convert.from_sklearn(model), getattr(model, "classes_", None)
            self.n_features = model.n_features_in_
            start = convert.sklearn_intercept(model) + np.zeros(trees[0].value.shape[1])
            shares = 1 if hasattr(model, "learning_rate") else len(trees)
        # Sums of class shares, undivided: where pure leaves tie, they tie here as well.
        votes, shares = classes is not None and shares > 1, 1 if classes is not None else shares
        self.classes = classes
        # The one score of two classes is what the second has more than the first.
        pad = classes is not None and start.size == 1
        self.trees, self.intercept = [], np.insert(start, 0, 0.0) if pad else start
        for tree in trees:
            value = tree.value / shares
            value = np.insert(value, 0, 0.0, axis=1) if pad else value
            # What all leaves have in common would take the few digits of small formats.
            leaves = value[tree.is_leaf]
            common = 0.0 if votes else (leaves.min(axis=0) + leaves.max(axis=0)) / 2
            self.intercept = self.intercept + common
            self.trees.append(replace(tree, value=value - common))

    def compact(self, format="float32"):
        """As of our forests: `CompactMethods.compact`."""
        about = {"intercept": self.intercept, "classes": self.classes, "format": format}
        return CompactForest.of(self.trees, self.n_features, **about)

    def predict(self, X):
        """Return what the model itself predicts: labels or numbers, of shape (n_samples,)."""
        predicted = self.model.predict(X)
        if self.classes is None or hasattr(self.model, "classes_"):
            return predicted
        one = predicted.ndim == 1  # the probability of the second of two classes
        return (predicted > 0.5).astype(int) if one else predicted.argmax(axis=1)


def _averaged(booster):
    """Return by what the sum of a LightGBM model's trees is divided to get the number predicted."""
    row = np.zeros((1, booster.num_feature()))
    total, number = booster.predict(row, raw_score=True)[0], booster.predict(row)[0]
    for divisor in (1, booster.num_trees()):  # the latter of boosting="rf"
        if np.isclose(number * divisor, total, rtol=1e-9):
            return divisor
    raise TypeError(
        "an imported forest must predict what its trees add up to; this objective of LightGBM "
        "transforms the sum: train it on the transformed target with objective='regression'."
    )
