"""`ScheduleCascadeClassifier` and `-Regressor`: buy stage by stage, stop when sure."""

from dataclasses import replace

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from .cascade_base import ScheduleCascade
from .cascade_calibration import fit_temperature, with_temperature
from .cascade_fitting import StageModels
from .cascade_models import Table, as_kind, ascending
from .cascade_pool import calibrated, class_evidence, number_evidence


class ScheduleCascadeClassifier(ClassifierMixin, ScheduleCascade):
    """Buy features stage by stage, and stop as soon as the stage is sure enough of the class.

    An order of purchase (msB's idea: nested sets of variables, cheap to expensive) is cut into
    stages of geometrically growing cost. Each stage has models on all features bought so far; an
    example stops at the first stage whose confidence reaches its threshold (FMCC's idea). The
    thresholds minimise loss + λ · cost, for 40 λ; with "always stop at stage s" and over all
    orders they are the candidates, and those that nothing cheaper equals are the operating points.
    All of that is decided out of fold, and all models are fitted on all data.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. A cost group is bought whole where its charge is more
        than the prices of its members.
    estimators : sequence of str or classifier, default=("forest", "boosting")
        Models of each stage, whose probabilities are averaged: "forest" (100 trees), "boosting"
        (LightGBM or, without it, scikit-learn's histogram boosting), "extra_trees", or any
        scikit-learn classifier with `predict_proba`.
    orders : sequence of str or nested sets, default=("lightgbm", "schedule")
        Orders of purchase: "lightgbm" (as LightGBM's coupled costs buy while prices lose weight),
        "schedule" (msB's removal by importance per price, backwards), "gain_per_cost", or a
        sequence of nested sets of features (names or indices), which then are the stages.
    n_stages : int, default=10
        Most stages of an order.
    cv : int, default=5
        Folds of the out-of-fold predictions; forests take their out-of-bag ones instead.
    dynamic : bool or "auto", default=False
        Whether each example chooses what it buys next, by what that is expected to bring for its
        price; "auto": both kinds of order compete out of fold, which takes up to twice as long to
        fit. Worth trying where a few features are most of the cost.
    budget : float or "one_se", default=None
        Mean cost that `predict` keeps where its call names none; None: the best operating point;
        "one_se": the cheapest one within one standard error of the best.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Models fitted at a time, in threads. The cascade does not depend on it.
    verbose : bool, default=False
        Whether `fit` says what it is doing.

    Attributes
    ----------
    operating_points_ : DataFrame
        Cost, expected `score`, its standard error and the `observed` accuracy of each operating
        point, all out of fold: they are honest, which scores on the training data are not.
    points_ : list of Candidate
        The same with stages and thresholds.
    models_ : StageModels
        The models of the stages.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.

    Notes
    -----
    Validation data given to `fit` are trained on like the rest, as nothing is chosen on data that
    a model was fitted on. Operating points are compared by their expected score: the accuracy of
    the stage that knows most, less the calibrated probability that it sees lost on the labels of
    the others. That depends less on chance than the accuracy observed.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.sequential import ScheduleCascadeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> cascade = ScheduleCascadeClassifier(range(1, 14), estimators="forest", random_state=0)
    >>> cascade = cascade.fit(X, y)
    >>> bool(cascade.acquisition_cost(X, budget=20).mean() < 25)
    True
    """

    score = ScheduleCascade.score  # that of scikit-learn's mixin takes no budget

    def _n_classes(self):
        return self.classes_.size

    def _label(self, predictions):
        return self.classes_[predictions.argmax(axis=1)]

    def _calibrated(self, journey, table):
        temperatures, predictions = calibrated(journey.predictions, table.y)
        route = replace(journey.route, temperatures=temperatures)
        return replace(journey, route=route, predictions=predictions)

    def _losses(self, predictions, table):
        calibrated_ones = with_temperature(predictions, fit_temperature(predictions, table.y))
        return -np.log(calibrated_ones[np.arange(table.y.size), table.y])

    def _evidence(self, journey, reference, table, models, seed):
        told = journey.predictions, table.y, reference
        return class_evidence(*told, journey.spent, journey.n_bought)


class ScheduleCascadeRegressor(RegressorMixin, ScheduleCascade):
    """Buy features stage by stage, and stop where more of them would hardly change the number.

    The cascade of `ScheduleCascadeClassifier` for numbers. How much the last stage would change
    the prediction, (last - own)² in variances of the target, is foretold at each stage by boosted
    trees on the features bought so far; an example stops where that is below the threshold.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each.
    estimators : sequence of str or regressor, default=("forest", "boosting")
        Models of each stage, whose predictions are averaged.
    orders : sequence of str or nested sets, default=("lightgbm", "schedule")
        Orders of purchase, as in `ScheduleCascadeClassifier`.
    n_stages : int, default=10
        Most stages of an order.
    cv : int, default=5
        Folds of the out-of-fold predictions; forests take their out-of-bag ones instead.
    dynamic : bool or "auto", default=False
        Whether each example chooses what it buys next, by what that is expected to bring for its
        price; "auto": both kinds of order compete out of fold, which takes up to twice as long to
        fit. Worth trying where a few features are most of the cost.
    budget : float or "one_se", default=None
        Mean cost that `predict` keeps where its call names none; None: the best operating point;
        "one_se": the cheapest one within one standard error of the best.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Models fitted at a time, in threads. The cascade does not depend on it.
    verbose : bool, default=False
        Whether `fit` says what it is doing.

    Attributes
    ----------
    operating_points_ : DataFrame
        Cost, expected R² (`score`), its standard error and the `observed` R² of each operating
        point, all out of fold.
    points_ : list of Candidate
        The same with stages and thresholds.
    models_ : StageModels
        The models of the stages.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.
    """

    score = ScheduleCascade.score  # that of scikit-learn's mixin takes no budget

    def _n_classes(self):
        return None

    def _label(self, predictions):
        return predictions[:, 0]

    def _calibrated(self, journey, table):
        return journey

    def _losses(self, predictions, table):
        return (predictions[:, 0] - table.y) ** 2

    def _evidence(self, journey, reference, table, models, seed):
        predictions, reference = journey.predictions[:, :, 0], reference[:, 0]
        changes = journey.remaining
        if changes is None:
            self._say(f"what {journey.route.name} can still expect to change")
            squares = (reference - predictions) ** 2
            changes = self._changes(journey.route, squares, table, models, seed)
        told = predictions, changes, table.y, reference
        return number_evidence(*told, journey.spent, journey.n_bought)

    def _changes(self, cascade, squares, table, models, seed):
        """Fit and keep what foretells the change at each stage; return it out of fold."""
        changes, name = np.zeros(squares.shape), cascade.change_kind
        for stage, features in enumerate(cascade.stages):
            about = Table(table.X, squares[stage] / (table.y.var() or 1.0), None, table.folds)
            one = StageModels.fit(about, [features], {name: as_kind("boosting", None)}, seed)
            models.models.update(one.models)
            changes[stage] = one.held_out[name, ascending(features)][:, 0]
        return changes
