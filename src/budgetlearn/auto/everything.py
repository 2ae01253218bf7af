"""Models on all features of every row: the choice for a full budget, and a reference for others."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
from sklearn import ensemble
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..cascade.mixture import origin_and_unit
from ..peers import AllFeaturesRegressor
from ..protocol.documenting import estimator_class


def has_lightgbm():
    """Return whether LightGBM can be imported."""
    return find_spec("lightgbm") is not None


def boosted_trees(classifies, share=1.0, **settings):
    """Return unfitted boosted trees, LightGBM's if installed, which draw a share of the columns."""
    if not has_lightgbm():
        kinds = ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier
        return kinds[classifies](max_features=share, **settings)
    import lightgbm

    kinds = lightgbm.LGBMRegressor, lightgbm.LGBMClassifier
    settings |= {"n_jobs": 1, "deterministic": True, "verbose": -1}
    return kinds[classifies](colsample_bytree=share, **settings)


def linear_model(classifies):
    """Return an unfitted linear model of standardised columns, with medians for missing values."""
    # Only ridge regression can choose its penalty cheaply.
    last = LogisticRegression(max_iter=500) if classifies else RidgeCV(np.logspace(-2, 3, 11))
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(fill, StandardScaler(), last)


@estimator_class
class CentredRegressor(AllFeaturesRegressor):
    """Acquire every feature, for a model that is fitted to shifted and scaled targets."""

    # LightGBM stores targets in single precision, which is inexact for numbers far from zero.
    def _fit(self, train, valid, seeds):
        self._unit = origin_and_unit(train.targets)[1]
        targets = (train.targets - self.constant_[0]) / self._unit
        super()._fit(replace(train, targets=targets), valid, seeds)

    def _stages(self, X, which, want):
        for stage in super()._stages(X, which, want):
            known = stage.output is not None
            output = stage.output * self._unit + self.constant_[0] if known else None
            yield replace(stage, output=output)
