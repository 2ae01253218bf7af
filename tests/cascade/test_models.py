"""Models of the stages of a cascade: out-of-fold predictions are of unseen examples."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from budgetlearn.cascade import models
from budgetlearn.cascade.models import (
    KINDS,
    ROUNDS_AT_ONCE,
    BoostingKind,
    Table,
    as_kind,
    assign_folds,
    boosting_rounds,
)
from budgetlearn.validation import ParameterError

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def few_extra_trees(monkeypatch):
    """Let forests of extra trees be small: what is asked here, they do with few trees, too."""
    of_trees = models._extra_trees
    monkeypatch.setattr(models, "_extra_trees", lambda n_classes: of_trees(n_classes, 20))


def table(n_classes, n_samples=300, noise=False, seed=0):
    """Return a table of five features; noise: the target has nothing to do with them."""
    random = np.random.RandomState(seed)
    X, y = make_classification(
        n_samples, 5, n_informative=4, n_redundant=0, n_classes=n_classes or 2, random_state=random
    )
    if n_classes is None:
        y = X[:, 0] - X[:, 1]
    if noise:
        y = random.permutation(y)
    return Table(X, y, n_classes, assign_folds(y, n_classes, 5, random))


def test_folds_hold_each_class_in_its_share():
    y = np.repeat([0, 1, 2], [50, 27, 3])
    folds = assign_folds(y, 3, 5, np.random.RandomState(0))
    assert np.ptp(np.bincount(folds)) <= 1
    for label in range(3):
        assert np.ptp(np.bincount(folds[y == label], minlength=5)) <= 1


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_unseen_examples(kind, n_classes):
    data = table(n_classes)
    held_out, model = as_kind(kind, n_classes).fit_both(data, [0, 2, 3, 4], 0)
    found = model.predict(np.ascontiguousarray(data.X[:, [0, 2, 3, 4]]))
    for probabilities in (held_out, found):
        assert probabilities.shape == (300, n_classes)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    seen, unseen = ((each.argmax(axis=1) == data.y).mean() for each in (found, held_out))
    assert 1 / n_classes + 0.1 < unseen < seen


@every_kind
def test_numbers_of_unseen_examples(kind):
    data = table(None)
    held_out, model = as_kind(kind, None).fit_both(data, [0, 1, 2], 0)
    assert held_out.shape == model.predict(data.X[:, :3]).shape == (300, 1)
    assert np.mean((held_out[:, 0] - data.y) ** 2) < 0.3 * data.y.var()
    # The same seed gives the same.
    np.testing.assert_array_equal(as_kind(kind, None).fit_both(data, [0, 1, 2], 0)[0], held_out)


@every_kind
def test_of_noise_nothing_is_learned_out_of_fold(kind):
    data = table(2, 600, noise=True)
    held_out, _ = as_kind(kind, 2).fit_both(data, [0, 1, 2], 0)
    assert abs((held_out.argmax(axis=1) == data.y).mean() - 0.5) < 0.08


@every_kind
def test_a_class_that_a_fold_lacks_has_its_column(kind):
    X, y = np.random.default_rng(0).standard_normal((60, 2)), np.repeat([0, 1, 2], [30, 29, 1])
    data = Table(X, y, 3, assign_folds(y, 3, 5, np.random.RandomState(0)))
    held_out, model = as_kind(kind, 3).fit_both(data, [0, 1], 0)
    assert held_out.shape == model.predict(X).shape == (60, 3)


@every_kind
def test_of_a_large_table_a_part_is_predicted(kind):
    data = table(2)

    def fitted(share):
        part = replace(data, folds=np.where(np.arange(300) % share, -1, 0))
        held_out, model = as_kind(kind, 2).fit_both(part, [0, 1, 2, 3, 4], 0)
        judged = part.judged
        assert held_out.shape == (300 // share, 2)
        assert (held_out.argmax(axis=1) == judged.y).mean() > 0.7
        return np.allclose(model.predict(judged.X), held_out, atol=1e-9)

    # Boosting that learned from nine tenths is final, from two thirds it is fitted again.
    assert [fitted(10), fitted(3)] == [kind == "boosting", False]


def test_choices_on_a_large_table_are_made_on_a_part(monkeypatch):
    y, groups = np.repeat([0, 1], [9000, 1000]), np.arange(10_000) // 4

    def folds(*given, n_classes=2):
        return models.judged_folds(y, n_classes, 5, np.random.RandomState(0), *given)

    assert np.bincount(folds()).tolist() == 5 * [2000]
    monkeypatch.setattr(models, "MANY_CLASSED", 9_999)
    assert folds(n_classes=None).min() == 0
    for least, most, n_judged in (500, 900, 910), (500, 2000, 1000), (2500, 3000, 2500):
        monkeypatch.setattr(models, "LEAST_JUDGED", least)
        monkeypatch.setattr(models, "MOST_JUDGED", most)
        judged = folds() == 0
        assert (folds()[~judged] == -1).all()
        assert judged.sum() == n_judged
        assert abs(y[judged].mean() - 0.1) < 0.001
    assert np.ptp(folds(groups).reshape(-1, 4), axis=1).max() == 0


def test_boosting_takes_as_many_rounds_as_predict_best_out_of_fold(monkeypatch):
    learned_from, boosting = [], models.Boosting

    def counted(coded, y, n_classes, rows, *given, **sizes):
        learned_from.append(len(rows))
        return boosting(coded, y, n_classes, rows, *given, **sizes)

    monkeypatch.setattr(models, "Boosting", counted)

    def fitted(noise):
        data = table(2, noise=noise)
        return as_kind("boosting", 2).fit_both(data, [0, 1, 2, 3, 4], 0)

    # More classes have fewer and larger steps, as each round has a tree for each of them.
    steps = [boosting_rounds(n_classes) for n_classes in (None, 2, 5, 20)]
    assert steps == [(60, 1 / 6), (60, 1 / 6), (40, 0.25), (20, 0.3)]
    (_, learned), (held_out, of_noise) = fitted(False), fitted(True)
    assert learned_from == 2 * [*5 * [240], 300]  # all but a fifth, five times, and then all
    assert of_noise.trees.n_trees == ROUNDS_AT_ONCE < learned.trees.n_trees
    # What is predicted out of fold is of that round, not of the worse one after it.
    fewest = ROUNDS_AT_ONCE, boosting_rounds(2)[1]
    monkeypatch.setattr(models, "boosting_rounds", lambda n_classes: fewest)
    np.testing.assert_array_equal(held_out, fitted(True)[0])


def test_what_takes_more_rounds_of_boosting_gets_them(monkeypatch):
    fewest = ROUNDS_AT_ONCE, boosting_rounds(None)[1]
    monkeypatch.setattr(models, "boosting_rounds", lambda n_classes: fewest)
    X = np.random.default_rng(0).uniform(size=(2500, 2))
    y = np.sin(20 * X[:, 0]) * np.sin(20 * X[:, 1])  # too much for ten trees of 15 leaves
    data = Table(X, y, None, np.arange(2500) % 2)
    found = as_kind("boosting", None).fit_both(data, [0, 1], 0)[1].trees.n_trees
    assert found == models.MOST_TIMES * ROUNDS_AT_ONCE


def test_steps_and_bins_are_finer_in_large_tables(monkeypatch):
    monkeypatch.setattr(models, "MANY_ROWS", 1500)
    X = np.random.default_rng(0).uniform(size=(1500, 2))
    hard = np.sin(12 * X[:, 0]) * np.sin(12 * X[:, 1])
    noise = np.random.default_rng(1).normal(size=1500)

    def chosen(y, n):
        return BoostingKind.chosen(Table(X[:n], y[:n], None, np.arange(n) % 2)).finer

    assert chosen(hard, 1500) == models.FINER
    assert chosen(hard, 1499) == chosen(X[:, 0] + noise, 1500) == 1
    monkeypatch.setattr(models, "FINER_LESS", 0.1)  # where they are not that much better
    assert chosen(hard, 1500) == 1
    monkeypatch.setattr(models, "FINER_LESS", 2.0)
    folds = np.arange(1500) % 3
    of_all, of_part = (Table(X, hard, None, each) for each in (folds, np.minimum(folds - 1, 0)))
    kinds = [BoostingKind.chosen(each) for each in (of_all, of_part)]
    assert [each.n_leaves for each in kinds] == [models.MORE_LEAVES, models.LARGE[-1]]
    # What was tried on all features is not fitted again; anything else is.
    assert kinds[0].held_out(of_all, [0, 1]) is kinds[0].whole[1]
    for features, each in (([0], of_all), ([0, 1], of_part)):
        anew = replace(kinds[0], whole=(None, None)).held_out(each, features)[0]
        np.testing.assert_array_equal(kinds[0].held_out(each, features)[0], anew)
    table = Table(X, hard, None)
    usual, finer = (BoostingKind(finer=each).fit(table, 0).trees for each in (1, 2))
    assert finer.n_trees == 2 * usual.n_trees
    tables = [Table(X[:n], (hard[:n] > 0) * 1, 2) for n in (1499, 1500)]
    n_bins = [np.diff(each.coded.offsets).max() for each in tables]
    assert n_bins == [models.N_CLASS_BINS, models.MAX_BINS]


def test_leaves_are_small_where_that_predicts_clearly_better():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 60, 1200), random.normal(size=1200)])
    folds = np.arange(1200) % 5

    def chosen(y):
        return BoostingKind.chosen(Table(X.astype(float), y, None, folds)).min_leaf

    levels = random.normal(size=60)[X[:, 0].astype(int)]  # each of 60 values has its own number
    assert chosen(9 * levels + random.normal(size=1200)) == models.SMALL_LEAF
    assert chosen(X[:, 1] + random.normal(size=1200)) == models.LARGE_LEAF
    # In a small table they all are: six of 60 rows may have one of their own.
    few = np.arange(60.0)[:, None]
    rare = BoostingKind().fit(Table(few, np.arange(60) // 54, 2), 0).predict(few)
    assert rare[-6:, 1].min() > 0.8


def test_own_estimators_are_not_changed():
    own = KNeighborsClassifier(3)
    held_out, _ = as_kind(own, 2).fit_both(table(2), [0, 1, 2, 3], 0)
    assert held_out.shape == (300, 2)
    assert not hasattr(own, "classes_")


@pytest.mark.parametrize(
    ("estimator", "n_classes", "message"),
    [
        ("forests", 2, "'forest', 'boosting', 'linear', 'kernel'"),
        (3, 2, "scikit-learn estimator"),
        (Ridge(), 2, "must be a classifier"),
        (GaussianNB(), None, "must be a regressor"),
        (Perceptron(), 2, "predict_proba"),
    ],
)
def test_what_cannot_be_a_model_is_refused(estimator, n_classes, message):
    with pytest.raises(ParameterError, match=message):
        as_kind(estimator, n_classes)
