"""docs/features.md says what forests can do: cells of installed ones are tried, not claimed."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetlearn import (
    BudgetRFClassifier,
    BudgetRFRegressor,
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    FeatureCosts,
    GIFClassifier,
    GIFRegressor,
    ScheduleCascadeClassifier,
    ScheduleCascadeRegressor,
)
from tests.looping import for_each

pytestmark = pytest.mark.usefixtures("quick_cascade")

PAGE = Path(__file__).parents[2] / "docs" / "features.md"
SMALL = {"n_estimators": 8, "random_state": 0}
GIF = SMALL | {"node_budget": 300, "learning_rate": 0.3}
CASCADE = {"orders": ("gain_per_cost",), "n_stages": 3, "cv": 2, "dynamic": False}
CASCADE |= {"random_state": 0}
BOOSTING = SMALL | {"verbose": -1, "min_child_samples": 5, "n_jobs": 1}

# Classifier and regressor of each column; None: there is no regressor.
COLUMNS = {
    "BudgetRF": (BudgetRFClassifier(**SMALL), BudgetRFRegressor(**SMALL)),
    "GIF": (GIFClassifier(**GIF), GIFRegressor(**GIF)),
    "cost-sensitive forest": (CostSensitiveRFClassifier(**SMALL), None),
    "cascade": (
        ScheduleCascadeClassifier(estimators=RandomForestClassifier(**SMALL), **CASCADE),
        ScheduleCascadeRegressor(estimators=RandomForestRegressor(**SMALL), **CASCADE),
    ),
    "scikit-learn": (RandomForestClassifier(**SMALL), RandomForestRegressor(**SMALL)),
    "LightGBM": (LGBMClassifier(**BOOSTING), LGBMRegressor(**BOOSTING)),
}
X, Y = make_classification(200, 5, n_informative=4, n_redundant=0, flip_y=0.2, random_state=1)


LEAF = ("min_samples_leaf", "min_child_samples", "growth__min_samples_leaf")
LEAF += ("estimators__min_samples_leaf",)
MONOTONE = ("monotonic_cst", "growth__monotonic_cst")
DEPTH = ("max_depth", "growth__max_depth", "estimators__max_depth")


def parameter_of(model, names):
    """Return the one of these parameters that a model has; None: it has none."""
    return next((name for name in names if name in model.get_params()), None)


def made(model, X=X, Y=Y, fitting=None, **options):
    """Return a copy of the model with these parameters, fitted."""
    return clone(model).set_params(**options).fit(X, Y, **fitting or {})


def outputs(model):
    """Return what a fitted model predicts on the training rows."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def shallow(model):
    """Return the model with small trees where it has a limit: pure leaves feel no weights."""
    name = parameter_of(model, DEPTH)
    return clone(model).set_params(**{name: 2}) if name else model


def responds(model, names, value):
    """Return True where one of the parameters is there and changes what is predicted."""
    name = parameter_of(model, names)
    if name is None:
        return False
    return not np.array_equal(outputs(made(model)), outputs(made(model, **{name: value})))


def learns_gaps(model):
    gaps = X.copy()
    gaps[::3] = np.nan
    return len(made(model, gaps).predict(gaps)) == len(X)


def weighs_rows(model):
    heavy = {"sample_weight": np.where(Y == 1, 50.0, 1.0)}
    return not np.array_equal(outputs(made(model)), outputs(made(model, fitting=heavy)))


def scores_otherwise(model):
    """Choose by another score, on validation data."""
    if isinstance(model, LGBMClassifier):
        valid = {"eval_set": [(X[150:], Y[150:])], "eval_metric": "auc"}
        return "auc" in made(model, X[:150], Y[:150], valid).best_score_["valid_0"]
    # One estimator chooses nothing; a path of them does.
    if isinstance(model, CostSensitiveRFClassifier):
        model = CostSensitiveRFPathClassifier(cost_weights=[0.0, 0.1], **SMALL)
    valid = {"X_val": X[150:], "y_val": Y[150:]}
    scores = [
        made(model, X[:150], Y[:150], valid, scoring=each).operating_points_["score"].to_numpy()
        for each in ("accuracy", "neg_log_loss")
    ]
    return not np.array_equal(*scores)


def is_monotone(model):
    """Predict no less for more of a feature that has to be monotone."""
    # LightGBM takes it as it takes all parameters of its core, without naming it.
    lightgbm = isinstance(model, LGBMClassifier)
    name = "monotone_constraints" if lightgbm else parameter_of(model, MONOTONE)
    fitted = made(model, **{name or "monotonic_cst": [1, 0, 0, 0, 0]})
    rows = np.tile(X[:20], (15, 1))
    rows[:, 0] = np.repeat(np.linspace(-4, 4, 15), 20)
    shares = fitted.predict_proba(rows)[:, 1].reshape(15, 20)
    return bool((np.diff(shares, axis=0) >= -1e-9).all())


def learns_words(model):
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["e"] = pd.Categorical(np.where(X[:, 4] > 0, "yes", "no"))
    return len(made(model, frame).predict(frame)) == len(X)


def learns_sparse(model):
    return len(made(model, csr_array(np.maximum(X, 0))).predict(X)) == len(X)


def predicts_two(regressor):
    """Predict two numbers at once."""
    both = np.column_stack([X[:, 0], Y])
    return regressor is not None and made(regressor, X, both).predict(X).shape == both.shape


def grows_on(model):
    """Keep what was fitted, and add trees."""
    if "warm_start" in model.get_params():
        first = made(model, warm_start=True)
        again = outputs(first.set_params(n_estimators=16).fit(X, Y))
        return not np.array_equal(again, outputs(made(model)))
    first = made(model)
    again = made(model, fitting={"init_model": first})
    return again.booster_.num_trees() > first.booster_.num_trees()


def heeds_prices(model):
    """Acquire a feature less often where it costs more; LightGBM: split on it less."""
    if isinstance(model, LGBMClassifier):
        priced = made(model, cegb_penalty_feature_coupled=[1e6, 0, 0, 0, 0])
        return priced.feature_importances_[0] < made(model).feature_importances_[0]
    # In bits per unit of price, and as a share of the loss.
    weights = {CostSensitiveRFClassifier: 0.01, GIFClassifier: 0.3}
    options = {"cost_weight": weights[type(model)]} if type(model) in weights else {}
    fitted = [made(model, feature_costs=[price, 1, 1, 1, 1], **options) for price in (1, 1e4)]
    taken = [
        np.mean([stage.acquired[:, 0] for stage in each.stages(X, {"acquired"})]) for each in fitted
    ]
    return taken[1] < taken[0]


def shares_charges(model):
    costs = FeatureCosts(np.ones(5), [0, 0, -1, -1, -1], group_costs=[7.0])
    fitted = made(model, feature_costs=costs)
    acquired = fitted.acquired_features(X)
    bill = acquired.sum(axis=1) + 7.0 * acquired[:, :2].any(axis=1)
    return np.allclose(fitted.acquisition_cost(X), bill)


def exports(model, folder):
    """Write the model as a file that others than Python read."""
    fitted = made(model)
    if isinstance(model, LGBMClassifier):
        fitted.booster_.save_model(folder / "model.txt")
        return (folder / "model.txt").stat().st_size > 0
    fitted.export_c(folder / "model.h")
    return "model" in (folder / "model.h").read_text(encoding="utf-8")


TRIED = {
    "min_samples_leaf": lambda model, *_: responds(model, LEAF, 40),
    "max_depth": lambda model, *_: responds(model, DEPTH, 1),
    "NaN": lambda model, *_: learns_gaps(model),
    "class_weight": lambda model, *_: responds(shallow(model), ("class_weight",), {0: 1, 1: 50}),
    "sample_weight": lambda model, *_: weighs_rows(shallow(model)),
    "scoring": lambda model, *_: scores_otherwise(model),
    "monotone": lambda model, *_: is_monotone(model),
    "categories": lambda model, *_: learns_words(model),
    "sparse X": lambda model, *_: learns_sparse(model),
    "multi-output": lambda _, regressor, __: predicts_two(regressor),
    "warm_start": lambda model, *_: grows_on(model),
    "feature costs": lambda model, *_: heeds_prices(model),
    "cost groups": lambda model, *_: shares_charges(model),
    "export": lambda model, _, folder: exports(model, folder),
}
REFUSALS = AttributeError, NotImplementedError, TypeError, ValueError


def works(row, column, folder):
    """Return True where what the row names was tried on a column's estimators, and worked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(TRIED[row](*COLUMNS[column], folder))
        except REFUSALS:
            return False


def page_table():
    """Return the cells of the page: row -> column -> text."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(cells[0][1:], row[1:], strict=True)) for row in cells[2:]}


@pytest.mark.usefixtures("quick_scores")
@for_each("row", TRIED)
def test_the_table_says_what_was_tried(row, tmp_path):
    told = {column: page_table()[row][column] for column in COLUMNS}
    assert told == {column: "yes" if works(row, column, tmp_path) else "no" for column in COLUMNS}


def test_the_table_has_every_row_and_column():
    table = page_table()
    assert list(table) == list(TRIED)
    assert all(list(row) == [*COLUMNS, "authors' codes"] for row in table.values())
    assert {row["authors' codes"] for row in table.values()} == {"yes", "no"}
