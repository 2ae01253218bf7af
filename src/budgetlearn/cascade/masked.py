"""Masked models: one model that predicts from whatever features of an example are known."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from ..counting import fit_counted
from ..preprocessing.column_encoders import APART
from ..tree.convert import from_sklearn
from ..tree.predictor import ForestPredictor
from .models import BoostedModel, SklearnModel, boosting_rounds
from .orders import has_lightgbm

# Rows that a masked model learns from: each example several times, each time less of it hidden.
MOST_COPIES, FEWEST_ROWS, MOST_ROWS = 24, 20_000, 60_000
N_EXTRA_TREES = 60
# A unit's place in the order of acquisition counts as much as this many units of chance.
NOISE = 0.25


@dataclass(frozen=True, eq=False)
class Units:
    """Features that are acquired together, and what they cost.

    Attributes
    ----------
    features : tuple of tuple of int
        Of each unit, in the order of acquisition that they came from.
    costs : FeatureCosts
        Prices.
    """

    features: tuple
    costs: object

    @classmethod
    def of_stages(cls, stages, costs):
        """Return what each stage of an order adds to the one before, as units."""
        bounds = [0, *map(len, stages)]
        found = [tuple(stages[-1][start:end]) for start, end in pairwise(bounds)]
        return cls(tuple(found), costs)

    @property
    def n_units(self):
        """Number of units."""
        return len(self.features)

    def columns(self, acquired):
        """Return which features are acquired, (n_samples, n_features), given which units are."""
        columns = np.zeros((len(acquired), self.costs.n_features), dtype=bool)
        for unit, features in enumerate(self.features):
            columns[:, list(features)] = acquired[:, [unit]]
        return columns

    def prices(self, acquired):
        """Return what each unit would add to the bill of each row, (n_samples, n_units)."""
        own = np.array([self.costs.costs[list(features)].sum() for features in self.features])
        prices = np.tile(own, (len(acquired), 1))
        if self.costs.groups is not None:
            groups = np.arange(self.costs.group_costs.size)
            members = [np.isin(groups, self.costs.groups[list(each)]) for each in self.features]
            needs = np.array(members)
            unpaid = (acquired.astype(np.intp) @ needs.astype(np.intp)) == 0
            prices += (unpaid * self.costs.group_costs) @ needs.T
        return prices

    def hidden(self, X, acquired):
        """Return X with NaN in all features that are not acquired."""
        return np.where(self.columns(acquired), X, np.nan)

    def drawn(self, n_rows, random):
        """Draw which units are acquired: beginnings of the order of any length, much disturbed."""
        places = np.arange(self.n_units) / max(self.n_units, 1)
        places = places + NOISE * random.gumbel(size=(n_rows, self.n_units))
        ranks = places.argsort(axis=1).argsort(axis=1)
        return ranks < random.randint(0, self.n_units + 1, size=n_rows)[:, None]


class MaskedTrees:
    """The mean of extra trees that learned a hidden value as one below all others.

    Parameters
    ----------
    forest : ExtraTreesClassifier or ExtraTreesRegressor
        Not yet fitted.
    X : ndarray of shape (n_samples, n_features)
        NaN where a value is hidden.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class indices, or numbers.
    n_classes : int or None
        None in regression.
    """

    def __init__(self, forest, X, y, n_classes):
        below = np.nanmin(X, axis=0, initial=np.inf)
        below = np.where(np.isfinite(below), below, 0.0)
        # Trees read float32, in which 1 less than a large number is the same number.
        self._below = below - np.maximum(1.0, APART * np.abs(below))
        self._n_classes = n_classes
        fit_counted(forest, self._coded(X), y)
        self._classes = getattr(forest, "classes_", None)
        # Packed for our predictor: scikit-learn takes a millisecond for each tree and call.
        self._trees = ForestPredictor(from_sklearn(forest), X.shape[1])

    def _coded(self, X):
        return np.where(np.isnan(X), self._below, X).astype(np.float32)

    def predict(self, X):
        """Return the mean of the trees, (n_samples, n_outputs)."""
        found = self._trees.walk(self._coded(X), values=True).values / self._trees.n_trees
        if self._classes is None or self._classes.size == self._n_classes:
            return found
        every = np.zeros((len(X), self._n_classes))
        every[:, self._classes] = found
        return every


class MaskedModel:
    """Boosting and extra trees that learned from examples of which parts were hidden.

    Parameters
    ----------
    boosted, trees : object
        With `predict`, from examples with NaN.
    """

    def __init__(self, boosted, trees):
        self.boosted, self.trees = boosted, trees

    @classmethod
    def fit(cls, X, y, n_classes, units, seed, n_trees=N_EXTRA_TREES):
        """Fit on examples that come several times, each time with other units hidden.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Examples.
        y : ndarray of shape (n_samples,)
            Class indices, or numbers.
        n_classes : int or None
            None in regression.
        units : Units
            What is hidden together.
        seed : int
            Source of randomness.
        n_trees : int, default=60
            Extra trees.

        Returns
        -------
        MaskedModel
        """
        random = np.random.RandomState(seed)
        n_rows = min(MOST_COPIES * len(X), max(FEWEST_ROWS, min(4 * len(X), MOST_ROWS)))
        rows = np.resize(random.permutation(len(X)), n_rows)
        hidden = units.hidden(X[rows], units.drawn(n_rows, random))
        copies = max(n_rows // len(X), 1)
        boosted = _boosted(hidden, y[rows], n_classes, len(X), copies, seed)
        kind = ExtraTreesRegressor if n_classes is None else ExtraTreesClassifier
        forest = kind(n_trees, min_samples_leaf=max(2, copies // 2), random_state=seed)
        return cls(boosted, MaskedTrees(forest, hidden, y[rows], n_classes))

    def predict(self, X):
        """Return what is predicted from the known cells.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            NaN where a value is not known.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Probabilities of the classes, or numbers.
        """
        return (self.boosted.predict(X) + self.trees.predict(X)) / 2


def _boosted(X, y, n_classes, n_examples, copies, seed):
    """Return boosted trees that take NaN; a leaf holds several examples, not copies of one."""
    n_rounds, rate = boosting_rounds(n_classes)
    in_leaf = max(5, min(20, n_examples // 30) * copies // 2)
    n_leaves = 8 if n_examples < 1500 else 15
    if not has_lightgbm():
        kind = (
            HistGradientBoostingRegressor if n_classes is None else HistGradientBoostingClassifier
        )
        model = kind(
            max_iter=n_rounds,
            learning_rate=rate,
            max_leaf_nodes=n_leaves,
            min_samples_leaf=in_leaf,
            early_stopping=False,
            random_state=seed,
        )
        return SklearnModel(fit_counted(model, X, y), n_classes)
    return BoostedModel.trained(
        *(X, y, n_classes, n_rounds, seed),
        learning_rate=rate,
        num_leaves=n_leaves,
        min_data_in_leaf=in_leaf,
        feature_fraction=0.8,
        bagging_fraction=0.7,
        bagging_freq=1,
    )
