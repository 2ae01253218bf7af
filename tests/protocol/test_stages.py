"""Stages of small estimators: their parts, their costs, missing cells, and what measures them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.utils import get_tags

from budgetlearn.exceptions import MissingValueError
from budgetlearn.protocol import BudgetedTags, Stage
from budgetlearn.protocol.operating_points import cost_and_error
from budgetlearn.validation import ParameterError
from tests.protocol.conftest import COSTS, fit
from tests.protocol.estimators import OneByOne, SignOfFirst, SumOfFirst


def test_stages_share_no_facts():
    one, other = Stage({}), Stage({})
    one.facts["seconds"] = 1
    assert other.facts == {}


@pytest.mark.parametrize("name", ["first", "single", "whole", "summed"])
def test_each_stage_costs_what_it_acquires(name, table, request):
    model = request.getfixturevalue(name)
    stages = list(model.stages(table[0]))
    assert len(stages) == model.n_stages_ == len(model.operating_points_)
    for stage in stages:
        np.testing.assert_array_equal(stage.cost, stage.acquired @ COSTS)


def test_a_cost_comes_with_what_was_acquired(first, table):
    class Sparing(SignOfFirst):
        def _stages(self, X, which, want):
            for stage in super()._stages(X, which, want):
                stage.acquired = stage.acquired if "acquired" in want else None
                yield stage

    model = fit(Sparing, table)
    assert [stage.cost for stage in model.stages(table[0], {"output"})] == [None] * 3
    assert all(stage.cost is not None for stage in model.stages(table[0], {"acquired"}))


@pytest.mark.parametrize("parts", [{"outputs"}, "output"])
def test_parts_that_no_stage_has_are_refused(single, table, parts):
    with pytest.raises(ParameterError, match=r"parts \(each\) must be one of 'acquired', "):
        next(single.stages(table[0], parts))


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("staged_predict", "output"),
        ("staged_predict_proba", "probabilities"),
        ("staged_acquired_features", "acquired"),
    ],
)
def test_staged_methods_yield_a_part_of_each_stage(single, table, method, part):
    made = list(getattr(single, method)(table[0]))
    for one, stage in zip(made, single.stages(table[0]), strict=True):
        np.testing.assert_array_equal(one, getattr(stage, part))


def test_without_probabilities_there_are_no_such_methods(whole, summed):
    for model in (whole, summed):
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "staged_predict_proba")
        assert not get_tags(model).ranking


def test_a_missing_cell_of_any_stage_is_refused_before_the_first(single, table):
    X = table[0].copy()
    X.iloc[4] = [0.5, 0.5, np.nan, 0.5]
    with pytest.raises(MissingValueError, match=r"'gammagt'.* in row 5"):
        next(single.stages(X))
    X.iloc[4] = [3.0, np.nan, np.nan, np.nan]  # decided by the first
    assert len(list(single.stages(X))) == 4


def test_the_whole_table_may_be_missing_where_nothing_is_looked_at(first, table):
    nothing = table[0][:3] * np.nan
    assert first.acquisition_cost(nothing, budget=0).tolist() == [0, 0, 0]
    with pytest.raises(MissingValueError):
        first.predict(nothing)


def test_missing_values_are_refused_in_training(table):
    X, y = table
    X = X.copy()
    X.iloc[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SignOfFirst().fit(X, y)


def test_values_missing_in_training_are_values_in_prediction(table):
    class Taking(SignOfFirst):
        _takes_missing = True

        def _stages(self, X, which, want):
            return super()._stages(np.nan_to_num(X), which, want)

    X, y = table
    X = X.copy()
    X.iloc[0, 0] = np.nan
    model = fit(Taking, (X, y))
    assert model.missing_in_training_.tolist() == [True, False, False, False]
    assert get_tags(model).input_tags.allow_nan
    X.iloc[5, 0] = np.nan
    assert model.decisions(X[5:6]).acquired.tolist() == [[True, True, False, False]]
    X.iloc[5, 1] = np.nan
    with pytest.raises(MissingValueError, match="'mcv'"):
        model.predict(X[5:6])


@pytest.mark.parametrize("takes", [False, True])
def test_validation_rows_may_lack_only_what_training_lacked(takes, table):
    class Taking(SignOfFirst):
        _takes_missing = takes

    X, y = table
    X_val = X[50:].copy()
    X_val.iloc[2, 1] = np.nan
    with pytest.raises(
        MissingValueError, match=r"X_val has no value .NaN. of feature 'mcv' in row 3 "
    ):
        Taking(COSTS).fit(X[:50], y[:50], X_val, y[50:])


def test_dates_beside_numbers_are_refused_by_name(table):
    X, y = table
    dated = X.assign(mcv=pd.Timestamp("2024-03-01"))
    with pytest.raises(ParameterError, match="'mcv' is '2024-03-01 00:00:00' in row 1 "):
        SignOfFirst().fit(dated, y)


def test_infinite_cells_are_refused(first, table):
    X = table[0].copy()
    X.iloc[0, 3] = np.inf
    with pytest.raises(ValueError, match="'drinks' is 'inf' in row 1 "):
        first.predict(X)


@pytest.mark.parametrize("name", ["first", "single", "summed"])
def test_measuring_the_validation_data_gives_the_operating_points(name, request, table, numbers):
    model = request.getfixturevalue(name)
    X, y = numbers if name == "summed" else table
    pd.testing.assert_frame_equal(model.measure(X[50:], y[50:]), model.operating_points_)


def test_measuring_other_examples_leaves_the_operating_points(first, table):
    X, y = table
    before = first.operating_points_.copy()
    points = first.measure(X[:50], y[:50])
    assert points["score"].tolist() != before["score"].tolist()
    pd.testing.assert_frame_equal(first.operating_points_, before)
    for k, stage in enumerate(first.stages(X[:50])):
        assert points["score"][k] == np.mean(stage.output == y[:50])


def test_measuring_needs_a_target_for_each_row(first, table):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        first.measure(X, y[:5])


def test_labels_that_training_lacks_are_errors(first, table):
    assert first.measure(table[0], np.full(90, "strange"))["score"].tolist() == [0, 0, 0]


def test_points_tell_costs_features_and_names(single, table):
    points, X = single.operating_points_, table[0][50:]
    for (_, row), stage in zip(points.iterrows(), single.stages(X), strict=True):
        assert row["cost"] == pytest.approx(stage.cost.mean())
        assert row["cost_se"] == pytest.approx(stage.cost.std() / np.sqrt(len(X)))
        assert row["n_features"] == pytest.approx(stage.acquired.sum(axis=1).mean())
        used = X.columns[stage.acquired.any(axis=0)]
        assert row["variables"] == tuple(used)
    assert points["setting"].tolist() == [{"most": k} for k in (1, 2, 3, 4)]


def test_equal_costs_have_no_error_not_what_summing_them_leaves():
    assert np.full(7, 0.1).std() > 0
    assert cost_and_error(np.full(7, 0.1))[1] == 0


def test_accuracy_has_the_standard_error_of_a_share(single):
    points = single.operating_points_
    expected = np.sqrt(points["score"] * (1 - points["score"]) / 40)
    np.testing.assert_allclose(points["score_se"], expected)


def test_numbers_are_scored_by_r2_and_a_change_of_unit_is_of_no_effect(summed, numbers):
    X, y = numbers
    points = summed.operating_points_
    for k, stage in enumerate(summed.stages(X[50:])):
        assert points["score"][k] == pytest.approx(r2_score(y[50:], stage.output))
    scaled = SumOfFirst(COSTS).fit(1e3 * X[:50], 1e3 * y[:50], 1e3 * X[50:], 1e3 * y[50:])
    for name in ("score", "score_se"):
        np.testing.assert_allclose(scaled.operating_points_[name], points[name])


def test_scoring_orders_the_points_and_its_error_comes_from_resampling(numbers):
    X, y = numbers
    model = fit(SumOfFirst, numbers, scoring="neg_mean_absolute_error")
    points = model.operating_points_
    for k, stage in enumerate(model.stages(X[50:])):
        errors = np.abs(stage.output - y[50:])
        assert points["score"][k] == pytest.approx(-errors.mean())
        assert points["score_se"][k] == pytest.approx(errors.std() / np.sqrt(40), rel=0.3)
    assert model.score(X[50:], y[50:]) == pytest.approx(points["score"][2])


def test_weights_count_in_the_score(first, summed, table, numbers):
    weight = np.arange(90.0)
    for model, (X, y) in ((first, table), (summed, numbers)):
        times = weight.astype(int)
        repeated = model.score(X.loc[np.repeat(X.index, times)], np.repeat(y, times))
        assert model.score(X, y, weight) == pytest.approx(repeated)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (SignOfFirst, {"lazy": True, "ranking": True}),
        (OneByOne, {"lazy": True, "ranking": True}),
        (SumOfFirst, {"lazy": True, "ranking": False}),
    ],
)
def test_tags_follow_from_what_is_defined(kind, expected):
    tags = get_tags(kind())
    assert isinstance(tags, BudgetedTags)
    assert {name: getattr(tags, name) for name in expected} == expected
    assert not tags.groups
    assert not tags.sample_weight


def test_a_method_that_cannot_acquire_says_so(whole):
    assert not get_tags(whole).lazy
    with pytest.raises(NotImplementedError, match="WholeTable cannot acquire"):
        whole.session()
