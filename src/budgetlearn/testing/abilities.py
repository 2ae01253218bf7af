"""Abilities of an estimator under a budget: tried, not claimed."""

import numpy as np
from sklearn.base import clone, is_classifier

from ..costs import FeatureCosts
from ..exceptions import BudgetError
from ..metrics import average_precision_at_5
from .checks import check_acquiring, check_budgets, check_caps, check_untouched_cells, example_data

ABILITIES = (
    "mean budget",
    "hard cap",
    "acquires while predicting",
    "shared charges",
    "weighs shared charges",
    "probabilities",
    "ranking",
    "regression",
    "sample weights",
    "missing cells",
    "missing values",
    "scoring",
    "refit",
)
GROUPS = [0, 0, -1, -1, 1, 1]


def abilities(estimator):
    """Try what an estimator can do under a budget, on small made-up data.

    Parameters
    ----------
    estimator : BudgetedEstimator
        Unfitted.

    Returns
    -------
    dict of str to bool
        For each of `ABILITIES` whether it was tried and worked: keep a mean budget, or a cap for
        every example; ask for features when they are needed; charge what features share once, and
        acquire otherwise where that charge is high; give probabilities, by which documents can be
        ranked; predict numbers; weigh examples; predict where cells that are not looked at are
        missing; learn from missing values; choose by another score; learn the chosen models again
        from all data.
    """
    parts, costs = example_data(estimator)
    train, valid, (X, y) = parts
    groups = FeatureCosts(costs, GROUPS, group_costs=[3.0, 5.0])
    model = clone(estimator).set_params(feature_costs=groups).fit(*train, *valid)
    tried = {
        "mean budget": lambda: check_budgets(model, X),
        "hard cap": lambda: check_caps(model, X, groups.alone),
        "acquires while predicting": lambda: check_acquiring(model, X),
        "shared charges": lambda: _charges_once(model, X, groups),
        "weighs shared charges": lambda: _weighs_charges(estimator, parts, costs),
        "probabilities": lambda: _probabilities(model, X),
        "ranking": lambda: _ranks(model, X, y),
        "regression": lambda: model.predict(X) + 0.5,
        "sample weights": lambda: _weighs(estimator, train, X),
        "missing cells": lambda: check_untouched_cells(model, X),
        "missing values": lambda: _learns_from_missing(estimator, train, X),
        "scoring": lambda: _scores(model, parts),
        "refit": lambda: _refits(model, parts),
    }
    can = {name: _works(tried[name]) for name in ABILITIES}
    return can | {"regression": can["regression"] and not is_classifier(model)}


def _works(check):
    """Return True if a check passes; a refusal or a method that is not there is no ability."""
    try:
        return check() is not False
    except (AttributeError, BudgetError, NotImplementedError, TypeError, ValueError):
        return False


def _charges_once(model, X, costs):
    """A charge that acquired features share is on the bill once."""
    acquired = model.acquired_features(X)
    shared = np.array(GROUPS)[:, None] == np.arange(2)
    charges = (acquired @ shared).astype(bool) @ np.asarray(costs.group_costs)
    np.testing.assert_allclose(model.acquisition_cost(X), acquired @ costs.costs + charges)


def _weighs_charges(estimator, parts, costs):
    """With a high charge on some features others are acquired."""
    train, valid, (X, _) = parts
    owned = []
    # So high a charge that whoever heeds it avoids the first two features altogether.
    for charge in (0.0, 1e4):
        shared = FeatureCosts(costs, GROUPS, group_costs=[charge, 0.0])
        model = clone(estimator).set_params(feature_costs=shared).fit(*train, *valid)
        owned.append(np.array([stage.acquired for stage in model.stages(X, {"acquired"})]))
    return not np.array_equal(*owned)


def _probabilities(model, X):
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def _ranks(model, X, y):
    """The probability of relevance ranks the documents of queries, better than in reverse."""
    queries, shares = np.arange(len(X)) % 8, model.predict_proba(X)[:, 1]
    relevant = y == model.classes_[1]
    # Better than in reverse is all that small data can show.
    best, worst = (average_precision_at_5(relevant, by, queries) for by in (shares, -shares))
    assert best >= worst


def _weighs(estimator, train, X):
    """`fit` takes weights: equal ones change nothing, others do."""
    X_train, y_train = train
    plain = clone(estimator).fit(X_train, y_train)
    equal = clone(estimator).fit(X_train, y_train, sample_weight=np.ones(len(y_train)))
    np.testing.assert_array_equal(plain.predict(X), equal.predict(X))


def _learns_from_missing(estimator, train, X):
    """Missing values of a feature that had some in training are values like others."""
    X_train, y_train = train[0].copy(), train[1]
    # Whole rows: whichever feature a model takes first, it meets gaps.
    X_train[::3] = np.nan
    model = clone(estimator).fit(X_train, y_train)
    assert len(model.predict(np.full_like(X, np.nan))) == len(X)


def _scores(model, parts):
    """Operating points are compared by the score that is asked for."""
    train, valid, _ = parts
    scoring = "balanced_accuracy" if is_classifier(model) else "neg_mean_absolute_error"
    other = clone(model).set_params(scoring=scoring).fit(*train, *valid)
    by_other, plain = other.operating_points_["score"], model.operating_points_["score"]
    return not np.array_equal(by_other, plain)


def _refits(model, parts):
    """The operating points stay, the models learn from the validation data too."""
    train, valid, _ = parts
    again = clone(model).set_params(refit=True).fit(*train, *valid)
    np.testing.assert_array_equal(
        again.operating_points_["score"], model.operating_points_["score"]
    )
    outputs = [list(each.staged_predict(valid[0])) for each in (model, again)]
    return not np.array_equal(*outputs)
