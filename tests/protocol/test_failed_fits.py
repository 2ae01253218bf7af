"""A fit that fails leaves what was fitted before, and data that cannot judge are refused."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB

from budgetlearn import (
    BudgetPreprocessor,
    BudgetRFClassifier,
    BudgetRFRegressor,
    ExhaustiveSearch,
    FreeConstantClassifier,
    FreeConstantRegressor,
    GIFRegressor,
    LogitPathClassifier,
    ModelScheduleSearch,
    ScheduleCascadeClassifier,
    ScheduleCascadeRegressor,
)
from budgetlearn.budgetrf import Leaves
from budgetlearn.exceptions import DatasetError
from budgetlearn.peers.ensembles import SAMMERClassifier
from budgetlearn.testing import example_data
from budgetlearn.validation import ParameterError
from tests.auto.conftest import limit_methods
from tests.looping import for_each

pytestmark = pytest.mark.usefixtures("quick_cascade")

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "write_api.py"))
EXAMPLES = [each for estimators in SCRIPT["examples"]().values() for each in estimators]


@pytest.fixture(autouse=True)
def few_methods(monkeypatch):
    """Let `auto` compare its fast methods only."""
    limit_methods(monkeypatch)


class LateError(Exception):
    """What a fit fails with once it has learned all."""


def other_targets(model, y):
    """Return targets of other names, or of another unit, that give another model."""
    if is_classifier(model):
        return np.array(["no", "yes", "?"])[np.where(np.arange(y.size) % 5, y, 2)]
    return 10 * y[::-1] + 3


def breaking(kind):
    """Return a method that does its work, and then fails."""

    def broken(self, *data):
        kind(self, *data)
        raise LateError

    return broken


@pytest.mark.filterwarnings("ignore::budgetlearn.exceptions.BudgetlearnWarning")
@for_each("estimator", EXAMPLES)
def test_a_second_fit_that_fails_leaves_the_first(estimator, monkeypatch):
    ((X, y), (X_val, y_val), _), _ = example_data(estimator, n_samples=120)
    model = clone(estimator).fit(X, y)
    before, said = dict(vars(model)), model.predict(X_val)
    other = other_targets(model, y)
    with pytest.raises(ValueError, match="features"):
        model.fit(X, other, X_val[:, :3], other_targets(model, y_val))
    with monkeypatch.context() as patch:
        patch.setattr(type(model), "_fit", breaking(type(model)._fit))
        with pytest.raises(LateError):
            model.fit(X[:, ::-1][:, :4], other)
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    np.testing.assert_array_equal(model.predict(X_val), said)
    assert model.fit(X[:, :4], other).n_features_in_ == 4


def test_a_second_preparation_that_fails_leaves_the_first():
    table = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.0, None, 3.0]})
    encoder = BudgetPreprocessor().fit(table)
    first = encoder.transform(table)
    with pytest.raises(DatasetError, match="there is no smaller number"):
        encoder.fit(table.assign(size=[-np.finfo(float).max, None, 3.0], colour="green"))
    pd.testing.assert_frame_equal(encoder.transform(table), first)


def test_boosting_that_fails_leaves_what_it_was():
    ((X, y), *_), _ = example_data(FreeConstantClassifier())
    model = SAMMERClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="at least two classes"):
        model.fit(X[:, :3], np.zeros(len(X)))
    assert model.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(model.classes_, [0, 1])


@pytest.mark.parametrize("n_rows", [1, 5])
@pytest.mark.parametrize("model", [BudgetRFRegressor(), GIFRegressor(50, n_estimators=10)])
def test_numbers_that_are_all_alike_do_not_judge(model, n_rows):
    ((X, y), (X_val, y_val), _), _ = example_data(model)
    with pytest.raises(ParameterError, match=f"two different ones: got {n_rows} row"):
        model.fit(X, y, X_val[:n_rows], np.full(n_rows, y_val[0]))
    assert not hasattr(model, "operating_points_")


def test_held_out_numbers_are_not_all_alike():
    X, y = np.arange(100.0)[:, None], np.zeros(100)
    y[40:42] = 5.0
    for seed in range(10):
        model = BudgetRFRegressor(
            n_estimators=2, leaves=Leaves(prune=[0, 1]), random_state=seed
        ).fit(X, y)
        assert (model.operating_points_["score"] != 0).any()
    with pytest.raises(ParameterError, match="two different ones: got 1 row"):
        model.set_params(validation_fraction=0.01).fit(X, y)


def test_one_row_judges_by_a_score_of_one_row():
    ((X, y), (X_val, y_val), _), _ = example_data(BudgetRFRegressor())
    model = BudgetRFRegressor(n_estimators=3, scoring="neg_mean_absolute_error", random_state=0)
    points = model.fit(X, y, X_val[:1], y_val[:1]).operating_points_
    assert np.isfinite(points["score"]).all()


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_a_score_that_is_no_number_chooses_nothing():
    ((X, y), (X_val, y_val), _), _ = example_data(BudgetRFClassifier())
    forest = BudgetRFClassifier(n_estimators=3)
    searches = ModelScheduleSearch(GaussianNB()), ExhaustiveSearch(GaussianNB())
    for model in (forest, *searches, LogitPathClassifier(n_lambda=5)):
        model.set_params(scoring="roc_auc", random_state=0)
        with pytest.raises(ParameterError, match="scoring is NaN for the"):
            model.fit(X, y, X_val[y_val == 1], y_val[y_val == 1])


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_validation_targets_that_are_no_numbers_are_refused_before_the_fit(gap, monkeypatch):
    ((X, y), (X_val, y_val), _), _ = example_data(BudgetRFRegressor())
    monkeypatch.setattr(BudgetRFRegressor, "_fit", breaking(BudgetRFRegressor._fit))
    with pytest.raises(ValueError, match="y_val contains"):
        BudgetRFRegressor().fit(X, y, X_val, np.append(y_val[1:], gap))


@pytest.mark.parametrize(
    ("kind", "step"), [(BudgetRFClassifier, "_fit"), (ScheduleCascadeClassifier, "_models")]
)
def test_a_wrong_score_or_number_of_threads_is_refused_before_the_fit(kind, step, monkeypatch):
    ((X, y), *_), _ = example_data(kind())
    monkeypatch.setattr(kind, step, lambda *_: pytest.fail("models were fitted"))
    with pytest.raises(ValueError, match="scoring"):
        kind(scoring="acuracy").fit(X, y)
    for wrong in ("all", 1.5, np.nan):
        with pytest.raises(ParameterError, match="n_jobs must be an integer"):
            kind(n_jobs=wrong).fit(X, y)


@pytest.mark.parametrize("gap", [np.nan, None])
@pytest.mark.parametrize("labels", [np.array([0.0, 1.0]), np.array(["no", "yes"], dtype=object)])
def test_a_missing_label_is_refused_and_counts_as_no_error(labels, gap):
    ((X, y), (X_val, y_val), _), _ = example_data(BudgetRFClassifier())
    y, y_val = labels[y], np.append(labels[y_val[1:]], gap)
    model = BudgetRFClassifier(n_estimators=3, random_state=0)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(X, y, X_val, y_val)
    model.fit(X, y)
    for asked in (model.measure, model.score):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            asked(X_val, y_val)
    with pytest.raises(ValueError, match="y_cal contains NaN"):
        model.certify(X_val, y_val, error=0.9)


@pytest.mark.parametrize("unit", [1e-160, 1e160])
def test_numbers_whose_squares_are_none_are_refused(unit):
    X = np.arange(40.0)[:, None]
    y = X[:, 0]
    model = BudgetRFRegressor(n_estimators=2, random_state=0)
    said = r"must be at most 1e\+100 and differ by 1e-100 or more to be scored, got 0 to 3.9e"
    for measured in (
        lambda: model.fit(X, y * unit).operating_points_,
        lambda: model.fit(X, y, X, y * unit),
        lambda: ScheduleCascadeRegressor(scoring="neg_mean_absolute_error").fit(X, y * unit),
    ):
        with pytest.raises(ParameterError, match=said):
            measured()
    flat = FreeConstantRegressor().fit(X, np.full(40, 1e-160))  # alike is no mistake
    assert flat.predict(X[:1]) == 1e-160
