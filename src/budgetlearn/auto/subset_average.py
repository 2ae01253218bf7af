"""Averages of three kinds of models on subsets of the features, a subset for each budget."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from ..costs import affords
from ..counting import fit_counted
from ..exceptions import MissingExtraError, extra
from ..protocol import BudgetedEstimator, Stage, WeightedFit
from ..protocol.documenting import documented
from ..validation import INT32_MAX

SHARES = (0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0)
N_TREES = 100


def boosting(classifies, seed, n_jobs):
    """Return LightGBM with its default settings, or without it scikit-learn's boosting."""
    try:
        with extra("peers", "boosting"):
            import lightgbm
    except MissingExtraError:
        kind = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
        return kind(random_state=seed)
    kind = lightgbm.LGBMClassifier if classifies else lightgbm.LGBMRegressor
    return kind(random_state=seed, n_jobs=n_jobs or 1, deterministic=True, verbose=-1)


def linear(classifies):
    """Return a linear model of scaled features, with its penalty chosen where that is cheap."""
    model = LogisticRegression(max_iter=500) if classifies else RidgeCV(np.logspace(-2, 3, 11))
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(fill, StandardScaler(), model)


def forest(classifies, seed, n_jobs):
    """Return extremely randomised trees with leaves of a few rows, so that shares are smooth."""
    kind = ExtraTreesClassifier if classifies else ExtraTreesRegressor
    return kind(N_TREES, min_samples_leaf=3, random_state=seed, n_jobs=n_jobs)


KINDS = ("boosting", "forest", "linear")


@documented
class SubsetModels(WeightedFit, BudgetedEstimator):
    """The mean of some kinds of models, on the features with the most importance per price.

    Parameters
    ----------
    kinds : sequence of str, default=("boosting", "forest", "linear")
        Which models are averaged.
    shares : sequence of float
        A subset is chosen for each of these shares of the full cost, ascending. At 1 it has all.

    Attributes
    ----------
    subsets_ : list of ndarray
        The features of each stage.
    """

    def __init__(
        self, feature_costs=None, *, kinds=KINDS, shares=SHARES, random_state=None, n_jobs=None
    ):
        self.feature_costs = feature_costs
        self.kinds = kinds
        self.shares = shares
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, train, valid, seeds):
        seed = int(check_random_state(self.random_state).randint(INT32_MAX))
        self.subsets_ = self._subsets(train, seed)
        self.models_ = [
            [self._fitted(kind, train, subset, seed) for kind in self.kinds]
            for subset in self.subsets_
        ]

    def _fitted(self, kind, train, subset, seed):
        model = self._model(kind, seed)
        # A pipeline takes weights by the name of the step.
        name = f"{model.steps[-1][0]}__sample_weight" if kind == "linear" else "sample_weight"
        weights = {} if train.weight is None else {name: train.weight}
        return fit_counted(model, train.X[:, subset], train.targets, **weights)

    def _takes_missing(self):
        return True

    def _model(self, kind, seed):
        classifies = isinstance(self, ClassifierMixin)
        if kind == "linear":
            return linear(classifies)
        make = boosting if kind == "boosting" else forest
        return make(classifies, seed, self.n_jobs)

    def _subsets(self, train, seed):
        """Return the features that each share buys, without those that equal the one before."""
        costs, every = self.feature_costs_, np.arange(train.X.shape[1])
        if tuple(self.shares) == (1.0,):
            return [every]
        rater = self._fitted("forest", train, every, seed)
        worth = rater.feature_importances_ + 1e-9
        subsets = []
        for share in self.shares:
            chosen = every if share >= 1 else _affordable(worth, costs, share * costs.full)
            # A share that buys nothing more is no model of its own.
            if chosen.size and not (subsets and np.array_equal(subsets[-1], chosen)):
                subsets.append(chosen)
        return subsets

    @property
    def n_stages_(self):
        """Number of subsets."""
        return len(self.subsets_)

    def fixed_costs(self):
        return [self.feature_costs_.subset(list(subset)) for subset in self.subsets_]

    def _stages(self, X, which, want):
        for index in which:
            subset, stage = self.subsets_[index], Stage({"features": self.subsets_[index].size})
            if want & {"output", "probabilities"}:
                self._predict(stage, X[:, subset], self.models_[index])
            stage.acquired = np.zeros(X.shape, dtype=bool)
            stage.acquired[:, subset] = True
            yield stage

    def _predict(self, stage, X, models):
        if isinstance(self, ClassifierMixin):
            stage.probabilities = np.mean([model.predict_proba(X) for model in models], axis=0)
            stage.output = self.classes_[stage.probabilities.argmax(axis=1)]
        else:
            stage.output = np.mean([model.predict(X) for model in models], axis=0)


def _affordable(worth, costs, budget):
    """Return the features by worth per price, each taken where the budget still allows it."""
    prices = np.maximum(costs.alone, 1e-12)
    chosen = []
    for feature in np.argsort(-worth / prices, kind="stable").tolist():
        if affords(budget, costs.subset([*chosen, feature])):
            chosen.append(feature)
    return np.sort(np.array(chosen, dtype=np.intp))


@documented
class SubsetClassifier(ClassifierMixin, SubsetModels):
    """The mean of some kinds of classifiers on the features with the most importance per price."""


@documented
class SubsetRegressor(RegressorMixin, SubsetModels):
    """The mean of some kinds of regressors on the features with the most importance per price."""
