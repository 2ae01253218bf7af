"""An example of weight k counts in the cascade as k such examples do, in every step of its fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.neighbors import KNeighborsClassifier

from budgetlearn import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.cascade import pool
from budgetlearn.cascade.mixture import Mixture
from budgetlearn.cascade.models import Table, as_kind
from budgetlearn.cascade.pool import (
    Trace,
    candidates,
    class_evidence,
    mean_and_error,
    number_evidence,
)
from budgetlearn.cascade.smooth_models import PENALTIES, KernelFit, LinearKind
from budgetlearn.validation import ParameterError

pytestmark = pytest.mark.usefixtures("quick_cascade")

N = 150
X, Y = make_classification(N, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=3)
TIMES = np.random.default_rng(0).integers(1, 4, N)
TARGETS = X @ [1.0, 2.0, 0.0, -1.0] + Y
SMALL = {"estimators": ("linear", "kernel"), "orders": "gain_per_cost", "n_stages": 3, "cv": 3}


def copied(values):
    return values.repeat(TIMES, axis=0)


@pytest.mark.parametrize(("y", "n_classes"), [(Y, 2), (TARGETS, None)])
def test_linear_models_learn_from_weights_as_from_rows(y, n_classes):
    kind = LinearKind()
    weighted = kind.fit(Table(X, y, n_classes, weight=TIMES), 0)
    repeated = kind.fit(Table(copied(X), copied(y), n_classes), 0)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, None])
@pytest.mark.parametrize("kind", ["boosting", "forest"])
def test_trees_lean_to_what_weighs_more(kind, n_classes):
    # Few different rows, so that leaves are not pure, and chance alone: what is expected of unseen
    # examples is what is frequent, or weighs more.
    random = np.random.default_rng(4)
    y = random.integers(0, 2, N) if n_classes else random.normal(size=N)
    folds = np.arange(N) % 3
    plain, heavy = (
        as_kind(kind, n_classes).fit_both(
            Table(np.sign(X), y, n_classes, folds, weight), [0, 1, 2], 0
        )[0]
        for weight in (None, np.where(y > 0.5, 30.0, 1.0))
    )
    assert heavy[:, -1].mean() > plain[:, -1].mean() + 0.1


def test_kernels_leave_out_weights_as_rows():
    targets = (TARGETS - np.average(TARGETS, weights=TIMES))[:, None]
    apart = ((X[:, None] - X[:40]) ** 2).sum(axis=2)
    kernel, first = np.exp(-0.2 * apart), np.cumsum(TIMES) - TIMES
    weighted = KernelFit(kernel, np.arange(40), targets, TIMES.astype(float))
    repeated = KernelFit(copied(kernel), first[:40], copied(targets))
    out = np.arange(N) % 3 == 0
    for penalty in PENALTIES[[4, 8]]:
        np.testing.assert_allclose(weighted.weights(penalty), repeated.weights(penalty), rtol=1e-6)
        np.testing.assert_allclose(
            copied_rows(weighted.left_out(out, penalty), out),
            repeated.left_out(copied(out), penalty),
            rtol=1e-6,
        )


def copied_rows(values, rows):
    return values.repeat(TIMES[rows], axis=0)


@pytest.mark.parametrize("n_classes", [2, None])
def test_mixtures_weigh_kinds_by_weights_as_by_rows(n_classes):
    random = np.random.default_rng(1)
    y, held_out = (Y, {}) if n_classes else (TARGETS, {})
    for kind, known in (("one", TIMES == 3), ("other", TIMES < 3)):
        noise = np.where(known, 0.1, 1.0) * random.normal(size=N)
        shares = np.clip(0.5 + 0.8 * (Y - 0.5) + 0.3 * noise, 0.05, 0.95)
        numbers = (TARGETS + 2 * noise)[:, None]
        held_out[kind] = np.column_stack([1 - shares, shares]) if n_classes else numbers
    weighted = Mixture.fit(held_out, y, n_classes, TIMES.astype(float))
    repeated = Mixture.fit({k: copied(v) for k, v in held_out.items()}, copied(y), n_classes)
    plain = Mixture.fit(held_out, y, n_classes)
    # The few imagined examples that pull the weights together are fewer beside copies.
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=0.02)
    assert np.abs(plain.weights - repeated.weights).max() > 0.03


@pytest.mark.parametrize("classifies", [True, False])
def test_operating_points_are_those_of_so_many_rows(classifies, monkeypatch):
    # As far as labels say it: weights are no more evidence, and repeated rows are.
    monkeypatch.setattr(pool, "CLAIM_ERROR", 1e6)
    random = np.random.default_rng(2)
    bill = np.array([[1.0], [3.0], [10.0]]), np.array([[1], [2], [3]])
    y, n_classes = (Y, 2) if classifies else (TARGETS, None)
    weighted = Table(None, y, n_classes, weight=TIMES, counted=TIMES)
    repeated = Table(None, copied(y), n_classes)
    if classifies:
        shares = np.clip(random.uniform(size=(3, N)) * 0.5 + 0.4 * Y, 0, 1)
        found = np.stack([1 - shares, shares], axis=2)
        reference = np.column_stack([1 - Y, Y]) * 0.8 + 0.1
        evidence = class_evidence(Trace(None, found, *bill), weighted, reference)
        trace = Trace(None, found.repeat(TIMES, axis=1), *bill)
        rows = class_evidence(trace, repeated, copied(reference))
    else:
        found = (TARGETS + random.normal(size=(3, N)) * [[4], [2], [1]])[:, :, None]
        changes, reference = np.abs(random.normal(size=(3, N))), found[-1, :, 0]
        evidence = number_evidence(Trace(None, found, *bill), changes, weighted, reference)
        trace = Trace(None, found.repeat(TIMES, axis=1), *bill)
        many = changes.repeat(TIMES, axis=1), repeated, copied(reference)
        rows = number_evidence(trace, *many)
    pairs = zip(candidates(evidence, 10.0), candidates(rows, 10.0), strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(one.thresholds, other.thresholds)
        for name in ("cost", "score", "observed", "n_features"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9)


def test_the_constant_and_the_error_of_a_weighted_mean_are_those_of_so_many_rows():
    shares = Table(None, np.array([0, 0, 1]), 2, weight=np.array([1.0, 1, 4])).constant
    assert shares == pytest.approx([1 / 3, 2 / 3])
    numbers = Table(None, np.array([1.0, 4.0]), None, weight=np.array([3.0, 1.0]))
    assert numbers.constant.tolist() == [1.75]
    assert numbers.losses(np.array([[3.0], [4.5]])).tolist() == [4, 0.25]
    values, weight = np.arange(10.0), np.where(np.arange(10) < 5, 1.0, 1e-9)
    np.testing.assert_allclose(
        mean_and_error(values, weight), mean_and_error(values[:5]), rtol=1e-5
    )


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_class_that_weighs_more_is_found_more_often(dynamic):
    rows, y = make_classification(
        500, 4, n_informative=3, n_redundant=0, weights=[0.85], flip_y=0.15, random_state=0
    )
    cascade = ScheduleCascadeClassifier(dynamic=dynamic, random_state=0, **SMALL)
    plain = clone(cascade).fit(rows[:250], y[:250])
    balanced = clone(cascade).set_params(class_weight="balanced").fit(rows[:250], y[:250])
    recalls = [recall_score(y[250:], each.predict(rows[250:])) for each in (plain, balanced)]
    assert recalls[1] > recalls[0] + 0.1
    # Costs are averages over the examples as they come, whatever their classes weigh.
    told = balanced.operating_points_["cost"].to_numpy()
    assert told[-1] == pytest.approx(balanced.acquisition_cost(rows[250:]).mean(), rel=0.15)
    if dynamic:  # those of the final trees, on the rows that they know
        paid = [each.cost.mean() for each in balanced.stages(rows[:250])]
        np.testing.assert_allclose(told, paid)


def test_numbers_that_weigh_more_are_met_better():
    y = np.where(X[:, 0] > 0, X[:, 1], -X[:, 1])
    cascade = ScheduleCascadeRegressor(random_state=0, **SMALL | {"estimators": "linear"})
    heavy = X[:, 0] > 0
    weighted = clone(cascade).fit(X, y, sample_weight=np.where(heavy, 50.0, 1.0))
    errors = [((each.predict(X) - y)[heavy] ** 2).mean() for each in (cascade.fit(X, y), weighted)]
    assert errors[1] < 0.3 * errors[0]


def test_models_that_take_no_weights_are_refused():
    cascade = ScheduleCascadeClassifier(
        random_state=0, **SMALL | {"estimators": KNeighborsClassifier()}
    )
    with pytest.raises(ParameterError, match="need estimators whose fit takes sample_weight"):
        cascade.fit(X, Y, sample_weight=TIMES)
