"""Averages of three kinds of models on subsets of the features, a subset for each budget."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from ..cascade.mixture import origin_and_unit
from ..costs import affords
from ..fit_counts import fit_weighed
from ..protocol import BudgetedEstimator, Stage, WeightedFit
from ..protocol.documenting import documented, estimator_class
from ..validation import INT32_MAX

SHARES = (0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0)
N_TREES = 100


@estimator_class
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

    _takes_missing = True

    kinds: Any = ("boosting", "forest", "linear")
    shares: Any = SHARES
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, train, valid, seeds):
        seed = int(check_random_state(self.random_state).randint(INT32_MAX))
        self.subsets_ = self._subsets(train, seed)
        self.stage_settings_ = [{"features": subset.size} for subset in self.subsets_]
        self.models_ = [
            [self._fitted(kind, train, subset, seed) for kind in self.kinds]
            for subset in self.subsets_
        ]

    def _fitted(self, kind, train, subset, seed):
        # Numbers less their mean: LightGBM holds them in single precision.
        targets = train.targets
        if not is_classifier(self):
            self._unit = origin_and_unit(targets)[1]
            targets = (targets - self.constant_[0]) / self._unit
        return fit_weighed(self._model(kind, seed), train.X[:, subset], targets, train.weight)

    def _model(self, kind, seed):
        """Return an unfitted model: linear, extremely randomised trees, or boosting."""
        classifies, settings = isinstance(self, ClassifierMixin), {"random_state": seed}
        if kind == "linear":
            # The penalty is chosen where that is cheap.
            penalties = np.logspace(-2, 3, 11)
            last = LogisticRegression(max_iter=500) if classifies else RidgeCV(penalties)
            fill = SimpleImputer(strategy="median", keep_empty_features=True)
            return make_pipeline(fill, StandardScaler(), last)
        if kind == "forest":
            # Leaves of a few rows, so that shares are smooth.
            made = ensemble.ExtraTreesClassifier if classifies else ensemble.ExtraTreesRegressor
            return made(N_TREES, min_samples_leaf=3, n_jobs=self.n_jobs, **settings)
        return boosted_trees(classifies, n_jobs=self.n_jobs or 1, **settings)

    def _subsets(self, train, seed):
        """Return the features that each share buys, without those that equal the one before."""
        costs, every = self.feature_costs_, np.arange(train.X.shape[1])
        if tuple(self.shares) == (1.0,):
            return [every]
        worth = self._fitted("forest", train, every, seed).feature_importances_ + 1e-9
        subsets = []
        for share in self.shares:
            chosen = every if share >= 1 else _affordable(worth, costs, share * costs.full)
            # A share that buys nothing more is no model of its own.
            if chosen.size and not (subsets and np.array_equal(subsets[-1], chosen)):
                subsets.append(chosen)
        return subsets

    def fixed_costs(self):
        return [self.feature_costs_.subset(list(subset)) for subset in self.subsets_]

    def _stages(self, X, which, want):
        for index in which:
            subset, stage = self.subsets_[index], Stage(dict(self.stage_settings_[index]))
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
            stage.output = stage.output * self._unit + self.constant_[0]


def has_lightgbm():
    """Return whether LightGBM can be imported."""
    return find_spec("lightgbm") is not None


def boosted_trees(classifies, share=1.0, n_jobs=1, **settings):
    """Return unfitted boosted trees, by LightGBM where it is installed.

    Each tree draws a share of the columns.
    """
    if not has_lightgbm():
        kinds = ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier
        return kinds[classifies](max_features=share, **settings)
    import lightgbm

    kinds = lightgbm.LGBMRegressor, lightgbm.LGBMClassifier
    settings |= {"n_jobs": n_jobs, "deterministic": True, "verbose": -1}
    return kinds[classifies](colsample_bytree=share, **settings)


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
