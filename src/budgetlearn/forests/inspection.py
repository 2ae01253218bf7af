"""Leaves, paths, importances and single trees of a forest, as users look at them."""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import is_classifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from ..protocol.tables import complete_table
from ..tree.convert import to_sklearn
from ..validation import check_number


def gini_importance(trees, n_features):
    """Return the drop in Gini impurity by the splits on each feature, mean over the trees.

    Parameters
    ----------
    trees : list of Tree
        Their values are class counts.
    n_features : int
        How many features there are.

    Returns
    -------
    ndarray of shape (n_features,)
    """
    total = np.zeros(n_features)
    for tree in trees:
        size = tree.value.sum(axis=1)
        impurity = size - (tree.value**2).sum(axis=1) / size
        inner = ~tree.is_leaf
        left, right = tree.children_left[inner], tree.children_right[inner]
        drop = impurity[inner] - impurity[left] - impurity[right]
        total += np.bincount(tree.feature[inner], drop, minlength=n_features) / size[0]
    return total / len(trees)


def variance_importance(trees, n_features):
    """Return the drop in variance by the splits on each feature, mean over the trees.

    Parameters
    ----------
    trees : list of Tree
        Their values are means of the target.
    n_features : int
        How many features there are.

    Returns
    -------
    ndarray of shape (n_features,)
    """
    total = np.zeros(n_features)
    for tree in trees:
        weight, mean = np.ones(tree.node_count), tree.value[:, 0]
        for node in np.flatnonzero(~tree.is_leaf):  # parents come before their children
            left, right = tree.children_left[node], tree.children_right[node]
            # A node's mean lies between its sides' in proportion to their weights.
            apart = mean[right] - mean[left]
            share = (mean[right] - mean[node]) / apart if apart else 0.5
            weight[left], weight[right] = share * weight[node], (1 - share) * weight[node]
            total[tree.feature[node]] += weight[node] * share * (1 - share) * apart**2
    return total / len(trees)


class InspectedForest:
    """Mixin of forests of `trees_` whose values are class counts, or means in regression."""

    @property
    def feature_importances_(self):
        """Decrease of impurity by the splits on each feature; sums to 1, or is all 0.

        The impurity is Gini's, in regression the variance.
        """
        check_is_fitted(self)
        decrease = gini_importance if is_classifier(self) else variance_importance
        importance = decrease(self.trees_, self.n_features_in_)
        total = importance.sum()
        return importance / total if total > 0 else importance

    def apply(self, X):
        """Return the leaf of each tree that each example reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.

        Returns
        -------
        ndarray of int32 of shape (n_samples, n_trees)
            Node ids in the numbering of each of `trees_`.
        """
        X = complete_table(self, X)
        return self._predictor.walk(X, leaves=True, n_jobs=self.n_jobs).leaves

    def decision_path(self, X):
        """Return the nodes that each example goes through.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.

        Returns
        -------
        indicator : csr_matrix of bool of shape (n_samples, n_nodes)
            The nodes of all trees side by side.
        n_nodes_ptr : ndarray of int of shape (n_trees + 1,)
            Columns of tree i: from n_nodes_ptr[i] up to n_nodes_ptr[i + 1].
        """
        leaves = self.apply(X)
        starts = np.cumsum([0, *(tree.node_count for tree in self.trees_)])
        rows, columns = [], []
        for at, tree, start in zip(leaves.T, self.trees_, starts[:-1], strict=True):
            parent = tree.parents()
            going = np.arange(len(at))
            while going.size:
                rows.append(going)
                columns.append(start + at)
                at = parent[at]
                going, at = going[at >= 0], at[at >= 0]
        rows, columns = np.concatenate(rows), np.concatenate(columns)
        shape = len(leaves), starts[-1]
        indicator = csr_matrix((np.ones(rows.size, dtype=bool), (rows, columns)), shape=shape)
        indicator.sort_indices()
        return indicator, starts

    def decision_tree(self, index):
        """Return a tree of the forest as scikit-learn's, to print, draw or export.

        `sklearn.tree.export_text(forest.decision_tree(0))` and `plot_tree` show it. It compares
        float32 values, as all trees of scikit-learn do.

        Parameters
        ----------
        index : int
            Which one of `trees_`.

        Returns
        -------
        DecisionTreeClassifier or DecisionTreeRegressor
            Fitted, with the values that the tree grew with. Impurities are Gini's; NaN in
            regression.
        """
        check_is_fitted(self)
        check_number(index, "index", low=0, high=len(self.trees_) - 1, integer=True)
        classifies = is_classifier(self)
        fitted = DecisionTreeClassifier() if classifies else DecisionTreeRegressor()
        fitted.tree_ = to_sklearn(self.trees_[index], self.n_features_in_, classifies)
        if classifies:
            fitted.classes_, fitted.n_classes_ = self.classes_, self.classes_.size
        fitted.n_outputs_, fitted.n_features_in_ = 1, self.n_features_in_
        fitted.max_features_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            fitted.feature_names_in_ = self.feature_names_in_
        return fitted
