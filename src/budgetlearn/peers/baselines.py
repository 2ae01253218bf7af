"""Simple alternatives: free or all-features controls, filters, and sparse linear models."""

from dataclasses import field, replace
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn import ensemble
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import mutual_info_classif
from sklearn.utils import get_tags

from ..cascade.mixture import origin_and_unit
from ..fit_counts import fit_weighed
from ..forests import RandomForestClassifier
from ..msb.l1_path import LogitPathClassifier, fit_l1_path
from ..parallel import progress
from ..protocol import BudgetedEstimator, Stage, WeightedFit
from ..protocol.documenting import estimator_class
from ..tree.binning import bin_features
from ..tree.convert import on_the_whole_table
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX, ParameterError, check_number, check_numbers
from .cost_boosting import LightGBMCostClassifier
from .staged import TreeStages, TreeSum, check_increasing

# A free feature is penalised as if it cost this share of the mean price. Without a penalty it would
# be in every model, and separable classes would have no finite solution.
LEAST_SHARE = 0.01


class _Control(WeightedFit, BudgetedEstimator):
    """Base of controls that acquire all features (`_acquires`) or none, and predict by `_model`."""

    _acquires = False

    def _fit(self, train, valid, seeds):
        self.model_ = fit_weighed(self._model(), train.X, train.targets, train.weight)

    def fixed_costs(self):
        return [self.feature_costs_.full if self._acquires else 0.0]

    @property
    def _takes_missing(self):
        return get_tags(self._model()).input_tags.allow_nan

    def _can_predict_proba(self):
        return hasattr(self._model(), "predict_proba")

    def _stages(self, X, which, want):
        stage = Stage({}, acquired=np.full(X.shape, self._acquires))
        # A free model must not see any feature, so it gets zeros.
        known = X if self._acquires else np.zeros(X.shape)
        if "output" in want:
            stage.output = self.model_.predict(known)
        if "probabilities" in want and hasattr(self.model_, "predict_proba"):
            stage.probabilities = self.model_.predict_proba(known)
        # The only stage, as often as it is requested.
        yield from (stage for _ in which)


@estimator_class
class FreeConstantClassifier(ClassifierMixin, _Control):
    """Predict the most frequent class, with class shares as probabilities; acquire nothing."""

    scoring: Any = None
    class_weight: Any = None

    def _model(self):
        # "prior" predicts class shares; probabilities of 0 and 1 would have an infinite log loss.
        return DummyClassifier(strategy="prior")


@estimator_class
class FreeConstantRegressor(RegressorMixin, _Control):
    """Predict the mean of the targets, or the median if the score is the mean absolute error."""

    scoring: Any = None

    def _model(self):
        if not isinstance(self.scoring, str) or self.scoring != "neg_mean_absolute_error":
            return DummyRegressor(strategy="mean")
        return DummyRegressor(strategy="constant", constant=getattr(self, "constant_", None))


@estimator_class
class AllFeatures(_Control):
    """Acquire every feature and pass them to any other estimator.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The estimator that predicts. None: a random forest of 100 trees.
    random_state : int, RandomState instance or None, default=None
        Passed to the estimator if it has this parameter. None: the estimator keeps its own.
    """

    _acquires = True

    estimator: Any = field(default=None, kw_only=False)
    scoring: Any = None
    random_state: Any = None

    def _model(self):
        model = self._forest() if self.estimator is None else clone(self.estimator)
        # Some models are not random.
        if self.random_state is not None and "random_state" in model.get_params():
            model.set_params(random_state=self.random_state)
        return model


@estimator_class
class AllFeaturesClassifier(ClassifierMixin, AllFeatures):
    """Acquire every feature and pass them to any classifier."""

    _forest = ensemble.RandomForestClassifier

    class_weight: Any = None


@estimator_class
class AllFeaturesRegressor(RegressorMixin, AllFeatures):
    """Acquire every feature and pass them to any regressor."""

    _forest = ensemble.RandomForestRegressor


@estimator_class
class FilterForestClassifier(ClassifierMixin, WeightedFit, TreeStages):
    """Random forests on the k features with the most mutual information per price.

    Features are rated one by one, before any model is fitted, by their mutual information with the
    class divided by their price. Weights of examples are ignored. Free features come first.

    Parameters
    ----------
    n_selected : sequence of int, default=None
        Numbers k of features, increasing, one model each. None: 1, 2, 3, 5, 8, 13, … and all.
    cost_exponent : float, default=1.0
        Features are rated by information / price^exponent; with 0, prices are ignored.
    n_estimators : int, default=100
        Number of trees of each forest.

    Attributes
    ----------
    mutual_information_ : ndarray of shape (n_features,)
        Estimated mutual information of each feature with the class, in nats.
    order_ : ndarray of int of shape (n_features,)
        Features, best rating first.
    stage_settings_ : list of dict
        Setting that identifies each stage: {"features": k}.

    References
    ----------
    B. C. Ross. Mutual information between discrete and continuous data sets. PLoS ONE 9(2), 2014:
    the estimator implemented in scikit-learn.
    """

    _groups = True
    _caps_mean = True

    n_selected: Any = None
    cost_exponent: float = 1.0
    n_estimators: int = 100
    scoring: Any = None
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, train, valid, seeds):
        X = train.X
        check_number(self.n_estimators, "n_estimators", low=1, integer=True)
        check_number(self.cost_exponent, "cost_exponent", low=0)
        sizes = self._sizes(X.shape[1])
        # A seed for the rating, and one for each model, so that more sizes do not change the first.
        rating_seed, *model_seeds = seeds.randint(INT32_MAX, size=1 + len(sizes))
        self.mutual_information_ = np.zeros(X.shape[1])
        if np.bincount(train.y).max() > 1:  # the estimate compares rows of the same class
            # Scaled, as scikit-learn adds noise that would hide small differences.
            origin, unit = origin_and_unit(X)
            with parallel_config("threading"):  # processes would be slow to start
                self.mutual_information_ = mutual_info_classif(
                    (X - origin) / unit, train.y, random_state=rating_seed, n_jobs=self.n_jobs
                )
        power, prices = self.cost_exponent, self.feature_costs_.alone
        per_price = self.mutual_information_ / np.where(prices > 0, prices, 1.0) ** power
        # By free features, then information per price, then information (the last key is first).
        self.order_ = np.lexsort((-self.mutual_information_, -per_price, prices > 0))
        data = bin_features(X, n_jobs=self.n_jobs)
        self._models = [
            self._forest(train, data, np.sort(self.order_[:size]), seed)
            for size, seed in progress(list(zip(sizes, model_seeds, strict=True)), "forests")
        ]
        self.stage_settings_ = [{"features": size} for size in sizes]

    def _sizes(self, n_features):
        if self.n_selected is None:
            # Fibonacci numbers, because one feature more matters most in small sets.
            sizes = [1, 2]
            while sizes[-1] < n_features:
                sizes.append(sizes[-2] + sizes[-1])
            return [size for size in sizes if size < n_features] + [n_features]
        sizes = check_increasing(self.n_selected, "n_selected", integer=True)
        if sizes[-1] > n_features:
            raise ParameterError(
                f"n_selected must be at most the number of features, {n_features}, got {sizes[-1]}."
            )
        return sizes

    def _forest(self, train, data, selected, seed):
        """Return a forest on the selected features as a `TreeSum` on the whole table."""
        forest = RandomForestClassifier(
            n_estimators=self.n_estimators, random_state=seed, n_jobs=self.n_jobs
        ).fit(train.X[:, selected], train.y, sample_weight=train.weight, binned=data.take(selected))
        # Features are renumbered for the original table and its feature costs.
        trees = [on_the_whole_table(tree, selected) for tree in forest.trees_]
        return TreeSum(ForestPredictor(trees, train.X.shape[1], shares=True), len(trees))


@estimator_class
class FilterBoostingClassifier(FilterForestClassifier):
    """LightGBM on the k features with the most mutual information per price.

    Like `FilterForestClassifier`, with boosting instead of a forest.

    Parameters
    ----------
    n_estimators : int, default=40
        Number of boosting iterations of each model.
    """

    n_estimators: int = 40
    learning_rate: float = 0.2
    num_leaves: int = 8
    min_child_samples: int = 5

    def _forest(self, train, data, selected, seed):
        """Return LightGBM's trees on the selected features as a `TreeSum` on the whole table."""
        shared = ("learning_rate", "num_leaves", "min_child_samples", "n_jobs")
        own = {name: getattr(self, name) for name in shared} | {"random_state": seed}
        boosting = LightGBMCostClassifier(cost_weights=(0,), n_trees=(self.n_estimators,), **own)
        boosting.fit(train.X[:, selected], train.y, sample_weight=train.weight)
        trees = [on_the_whole_table(tree, selected) for tree in boosting.trees_]
        predictor = ForestPredictor(trees, train.X.shape[1])
        # The trees of an iteration are used together or not at all.
        return TreeSum(predictor, len(trees), per_step=boosting._n_outputs)


@estimator_class
class SparseLinearClassifier(LogitPathClassifier):
    """Logistic regression with an L1 penalty of λ · price^γ for the weight of each feature.

    Unlike logitB's path, which ignores prices, a cheap feature enters before an expensive one that
    is equally informative. A path is fitted for each γ. The cost of a model is that of its features
    with non-zero weights. The models of all paths are compressed into one schedule on validation
    data, from which the budget selects.

    Parameters
    ----------
    cost_exponents : sequence of float, default=(0, 0.5, 1)
        The exponents γ >= 0; 0 gives logitB's path.

    Attributes
    ----------
    path_ : L1Path
        The models of all paths, one path after another.

    References
    ----------
    H. Zou. The adaptive lasso and its oracle properties. Journal of the American Statistical
    Association 101, 2006: L1 penalties with a factor for each weight.
    """

    _groups = True  # unlike logitB's path, this one depends on prices

    cost_exponents: Any = (0, 0.5, 1)

    def _path(self, train):
        data, prices = (train.X, train.y, self.n_lambda), self.feature_costs_.alone
        powers = check_numbers(self.cost_exponents, "cost_exponents", low=0)
        factors = [penalty_factors(prices, power) for power in powers]
        paths = [fit_l1_path(*data, weight=train.weight, penalty_factors=each) for each in factors]
        # All paths have the same data and scaling, so they can be joined to one list of models.
        joined = {
            name: np.concatenate([getattr(path, name) for path in paths])
            for name in ("coef", "intercept", "penalties")
        }
        return replace(paths[0], complete=all(path.complete for path in paths), **joined)


def penalty_factors(prices, power):
    """Return the factor of λ for each feature: (price / mean price)^power, bounded below."""
    mean = prices.mean()
    shares = prices / mean if mean > 0 else np.ones_like(prices)
    return np.maximum(shares, LEAST_SHARE) ** power
