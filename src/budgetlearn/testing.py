"""Checks that budgeted estimators, including users' own, follow the protocol."""

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.utils import get_tags

from .costs import FeatureCosts, affords
from .exceptions import BudgetError, MissingValueError
from .protocol import BudgetedEstimator, BudgetedTags
from .protocol.checked_data import checked_table, stage_of

__all__ = ["check_budgeted_estimator", "example_data", "expected_failed_checks"]

# Checks of scikit-learn that are expected to fail, and the reasons.
NAN_CHECK = {"check_estimators_nan_inf": "cells that a prediction does not acquire may be missing"}
WEIGHT_CHECKS = dict.fromkeys(
    [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
    "rows are drawn and held out one by one, and rounding breaks ties of splits",
)
CLASS_WEIGHT_CHECK = {
    "check_class_weight_classifiers": "leaves of grown trees are pure, whatever the weights"
}
POISONS = (np.nan, 1e30)  # both are valid in float32, which some estimators use


def expected_failed_checks(estimator):
    """Return the checks of scikit-learn that are expected to fail, with reasons.

    Parameters
    ----------
    estimator : BudgetedEstimator
        The estimator to check.

    Returns
    -------
    dict of str to str
        Reason by name of the check.
    """
    if not isinstance(estimator, BudgetedEstimator):
        return {}
    drawn = get_tags(estimator).sample_weight
    weighed = "class_weight" in estimator.get_params()
    return NAN_CHECK | (WEIGHT_CHECKS if drawn else {}) | (CLASS_WEIGHT_CHECK if weighed else {})


def example_data(estimator, n_samples=240):
    """Return training, validation and test data for the estimator's task, and different prices."""
    if is_classifier(estimator):
        X, y = make_classification(n_samples, 6, n_informative=3, n_redundant=1, random_state=0)
    else:
        X, y = make_regression(n_samples, 6, n_informative=3, random_state=0)
    thirds = np.array_split(np.arange(n_samples), 3)
    return [(X[rows], y[rows]) for rows in thirds], np.arange(1.0, 7)


def check_budgeted_estimator(estimator):
    """Check that an estimator follows the protocol of budgeted estimators.

    The estimator is fitted to small artificial data. Costs must be those of the acquired features,
    and the data must not be modified. Stages, sessions, explanations and predictions from a source
    must agree with `predict`, which may depend on acquired cells of the row only. Prices are
    aligned by name, and columns that are not acquired may be absent. Budgets and caps are kept, or
    raise an error. Operating points have the cost and score of the stages on validation data.

    Parameters
    ----------
    estimator : estimator
        Unfitted `BudgetedEstimator`. For any other estimator with `fit`, `predict` and
        `acquired_features`, only costs are checked.

    Raises
    ------
    AssertionError
        When a check fails; the message names it.
    """
    (train, valid, (X, _)), costs = example_data(estimator)
    prices = FeatureCosts(costs, groups=[-1, 0, 0, -1, -1, -1], group_costs=[2])
    model = clone(estimator).set_params(feature_costs=prices)
    if not isinstance(model, BudgetedEstimator):
        model.fit(*train)
        _check_charges(model, X, prices)
        return
    model.fit(*train, *valid)
    tags = get_tags(model)
    assert isinstance(tags, BudgetedTags), "__sklearn_tags__ must call super().__sklearn_tags__()"
    _check_charges(model, X, prices)
    _check_stages(model, X)
    if not (model.trains_on_validation or getattr(model, "refit", False)):
        columns, again = ["cost", "score"], model.measure(*valid)
        said = "operating points must be those of the validation data"
        np.testing.assert_allclose(model.operating_points_[columns], again[columns], err_msg=said)
    _check_names(estimator, train, valid, X, costs)
    check_budgets(model, X)
    check_untouched_cells(model, X)
    if tags.lazy:
        check_caps(model, X, costs)
        for budget in (None, *np.unique(model.operating_points_["cost"])):
            check_acquiring(model, X, budget)
        _check_session(model, X)


def _check_charges(model, X, prices):
    """Check that costs are those of acquired features, and that rows do not affect each other."""
    before = X.copy()
    acquired = model.acquired_features(X)
    assert acquired.shape == X.shape, "acquired_features must have the shape of X"
    assert acquired.dtype == bool, "acquired_features must be boolean"
    if hasattr(model, "acquisition_cost"):
        np.testing.assert_allclose(model.acquisition_cost(X), prices.total(acquired), rtol=1e-12)
    parts = [model.predict(part) for part in np.array_split(X, 8)]
    np.testing.assert_allclose(np.concatenate(parts), model.predict(X), err_msg="rows interact")
    np.testing.assert_array_equal(X, before, "X must not be modified")


def _check_stages(model, X):
    """Check that each stage has an operating point and agrees with predictions."""
    stages = list(model.stages(X))
    points = model.operating_points_
    assert len(stages) == model.n_stages_ == len(points), "one operating point for each stage"
    assert points["cost"].between(0, model.feature_costs_.full + 1e-9).all()
    fixed = model.fixed_costs()
    for place, (stage, output) in enumerate(zip(stages, model.staged_predict(X), strict=True)):
        cost = model.feature_costs_.total(stage.acquired)
        np.testing.assert_allclose(stage.cost, cost)
        np.testing.assert_allclose(cost if fixed is None else fixed[place], cost, err_msg="fixed")
        np.testing.assert_array_equal(stage.output, output)
        for poison in POISONS:
            poisoned, _ = checked_table(model, np.where(stage.acquired, X, poison))
            alone = stage_of(model, poisoned, place, {"output", "acquired"})
            said = f"stage {place} depends on cells not acquired ({poison}), or on other stages"
            np.testing.assert_array_equal(alone.output, output, said)
            np.testing.assert_array_equal(alone.acquired, stage.acquired, said)
    output, cost = model.predict_with_cost(X)
    np.testing.assert_array_equal(output, model.predict(X))
    np.testing.assert_array_equal(cost, model.acquisition_cost(X))


def _check_names(estimator, train, valid, X, costs):
    """Check that a table with names gives the same results, with features by name."""
    # Prices are in reverse order, so that they must be aligned by name.
    names = [f"test {place}" for place in range(X.shape[1])]
    prices = dict(zip(names[::-1], costs[::-1], strict=True))
    X, X_train, X_val = (pd.DataFrame(part, columns=names) for part in (X, train[0], valid[0]))
    model = clone(estimator).set_params(feature_costs=prices)
    model.fit(X_train, train[1], X_val, valid[1])
    acquired = model.acquired_features(X)
    np.testing.assert_allclose(model.acquisition_cost(X), acquired @ costs, rtol=1e-12)
    found = {name for variables in model.operating_points_["variables"] for name in variables}
    assert found <= set(names), f"operating points must name variables, not {found}"
    owned = [name for name, used in zip(names, acquired.any(axis=0), strict=True) if used]
    np.testing.assert_array_equal(model.predict(X[owned]), model.predict(X))
    if owned and get_tags(model).lazy:
        without = X.drop(columns=owned[0])
        np.testing.assert_raises(MissingValueError, model.predict, without)
        assert not model.acquired_features(without, fallback=True)[:, names.index(owned[0])].any()
        explained = set(model.explain(X.iloc[[0]])["feature"])
        assert explained <= set(names), f"explain must name features, not {explained}"


def check_budgets(model, X):
    """Check that larger budgets do not lower the score, and that too small ones raise."""
    points, best = model.operating_points_, -np.inf
    outputs = list(model.staged_predict(X))
    for budget in np.unique(points["cost"]):
        chosen = points.loc[model.choose(budget)]
        assert affords(budget, chosen["cost"]), "the operating point must keep the budget"
        assert chosen["score"] >= best, "a larger budget must not take a worse operating point"
        best = chosen["score"]
        output = outputs[model.choose(budget)]
        np.testing.assert_array_equal(model.predict(X, budget=budget), output, "not by choose()")
    cheapest = points["cost"].min()
    if cheapest > 0:
        np.testing.assert_raises(BudgetError, model.predict, X, budget=cheapest / 2)
        assert len(model.predict(X, budget=cheapest / 2, fallback=True)) == len(X)
        assert not model.acquired_features(X, budget=cheapest / 2, fallback=True).any()


def check_untouched_cells(model, X):
    """Check that predictions depend on acquired cells only, and raise if one is missing."""
    acquired, predicted = model.acquired_features(X), model.predict(X)
    for poison in POISONS:
        poisoned = np.where(acquired, X, poison)
        said = f"predictions depend on cells not acquired ({poison})"
        np.testing.assert_array_equal(model.predict(poisoned), predicted, said)
        np.testing.assert_array_equal(model.acquired_features(poisoned), acquired)
    if acquired.any():  # the training data had no missing values
        row, feature = np.argwhere(acquired)[0]
        holed = X.copy()
        holed[row, feature] = np.nan
        np.testing.assert_raises(MissingValueError, model.predict, holed)


def check_caps(model, X, costs):
    """Check that no example pays more than the cap."""
    # From too little for most features to enough for all.
    for cap in (costs.min(), costs.sum() / 3, costs.sum()):
        spent = model.acquisition_cost(X, max_cost=cap, fallback=True)
        assert affords(cap, spent).all(), f"max_cost={cap} was exceeded: {spent.max()}"
        model.predict(X, max_cost=cap, fallback=True)


def check_acquiring(model, X, budget=None):
    """Check that predicting from a source acquires the same as predicting from the table."""
    acquired = model.acquired_features(X, budget)
    # The source keeps its own record, independent of the ledger.
    asked = np.zeros(X.shape, dtype=bool)

    def source(rows, feature):
        assert not asked[rows, feature].any(), "a value must be requested only once"
        asked[rows, feature] = True
        return X[rows, feature]

    made = model.predict_acquiring(source, len(X), budget)
    np.testing.assert_array_equal(made.prediction, model.predict(X, budget))
    np.testing.assert_array_equal(made.acquired, acquired)
    assert not (asked & ~acquired).any(), "requested features must be acquired"
    np.testing.assert_allclose(made.cost, model.acquisition_cost(X, budget))
    if made.probabilities is not None:
        np.testing.assert_allclose(made.probabilities, model.predict_proba(X, budget), rtol=1e-12)
    np.testing.assert_array_equal((made.order >= 0).sum(axis=1), acquired.sum(axis=1))


def _check_session(model, X):
    """Check that a session acquires the same as a prediction, and has the same result."""
    for row in range(3):
        session = model.session()
        while not session.done:
            name, price, _ = session.wanted[0]
            assert price >= 0
            session.give({name: X[row, name]})
        np.testing.assert_array_equal(session.prediction, model.predict(X[row : row + 1])[0])
        np.testing.assert_allclose(session.cost, model.acquisition_cost(X[row : row + 1])[0])
        explained = model.explain(X[row])
        assert len(explained) == model.acquired_features(X[row : row + 1]).sum()
        if len(explained):
            np.testing.assert_allclose(explained["spent"].iloc[-1], session.cost)
