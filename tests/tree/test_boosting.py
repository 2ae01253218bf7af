"""Boosting: against a slow twin, LightGBM, its own predictions, and what must not change it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

from budgetlearn.tree.boosting import Boosting, CodedRows
from budgetlearn.tree.leaf_wise import LeafWise

SIZES = {"n_leaves": 7, "min_leaf": 4, "rate": 0.3}


def table(seed=0, n_classes=2, n=150):
    """Return 4 features of few, many and missing values, targets and weights."""
    random = np.random.RandomState(seed)
    X = random.randn(n, 4)
    X[:, 1] = random.randint(0, 3, n)
    X[random.random_sample(n) < 0.3, 2] = np.nan
    told = X[:, 0] + (X[:, 1] == 1) + 2 * np.isnan(X[:, 2]) + 0.3 * random.randn(n)
    if n_classes is not None:
        told = np.digitize(told, np.quantile(told, np.arange(1, n_classes) / n_classes))
    return X, told, random.uniform(0.5, 3, n)  # no two splits are worth the same


def boosted(X, y, n_classes, rows=None, weight=None, n_rounds=5, prices=0.0, **sizes):
    rows = np.arange(len(y)) if rows is None else rows
    coded = CodedRows.of(X, 20)
    boosting = Boosting(coded, y, n_classes, rows, weight, **SIZES | sizes)
    boosting.prices[:] = prices
    for _ in range(n_rounds):
        boosting.step()
    return boosting


class Twin:
    """Grows one tree as the kernel does, by looking at every split of every leaf each time."""

    def __init__(self, coded, rows, gradients, curvatures, prices, n_leaves, least):
        self.coded, self.g, self.h, self.prices = coded, gradients, curvatures, prices
        self.leaves, self.splits, self.least = [rows], [], least
        self.least_curvature = (least - 0.5) * curvatures[rows].mean()
        while len(self.leaves) < n_leaves:
            offers = [self.best(leaf) for leaf in self.leaves]
            place = max(range(len(offers)), key=lambda each: offers[each][0])
            gain, feature, code, missing_left = offers[place]
            if gain <= 0:
                break
            prices[feature] = 0
            left = self.left(self.leaves[place], feature, code, missing_left)
            self.splits.append((feature, code, missing_left, gain))
            self.leaves.append(self.leaves[place][~left])
            self.leaves[place] = self.leaves[place][left]

    def score(self, rows):
        return self.g[rows].sum() ** 2 / self.h[rows].sum()

    def left(self, rows, feature, code, missing_left):
        codes = self.coded.codes[rows, feature]
        last = np.diff(self.coded.offsets)[feature] - 1
        return (codes <= code) | (missing_left & (codes == last))

    def best(self, rows):
        found = (0.0, -1, -1, False)
        for feature, n_codes in enumerate(np.diff(self.coded.offsets)):
            some = (self.coded.codes[rows, feature] == n_codes - 1).any()
            for missing_left in (False, True)[: 1 + bool(self.coded.missing[feature] and some)]:
                for code in range(n_codes - 1 - missing_left):
                    left = self.left(rows, feature, code, missing_left)
                    if min(left.sum(), (~left).sum()) < self.least:
                        continue
                    curved = min(self.h[rows[left]].sum(), self.h[rows[~left]].sum())
                    if curved < self.least_curvature:
                        continue
                    gain = self.score(rows[left]) + self.score(rows[~left]) - self.score(rows)
                    gain -= self.prices[feature]
                    if gain > found[0] * (1 + 1e-9) + 1e-9:
                        found = gain, feature, code, missing_left
        return found


@pytest.mark.parametrize("prices", [0.0, 3.0])
@pytest.mark.parametrize("n_classes", [2, None])
@pytest.mark.parametrize("seed", range(4))
def test_the_tree_is_that_of_the_twin(seed, n_classes, prices):
    X, y, weight = table(seed, n_classes)
    rows = np.flatnonzero(np.arange(len(y)) % 4)
    boosting = boosted(X, y, n_classes, rows, weight, 0, prices)
    (gradients,), (curvatures,) = boosting._slopes()
    twin = Twin(
        boosting.coded, rows, gradients, curvatures, np.full(4, prices), 7, SIZES["min_leaf"]
    )
    boosting.step()
    # Of two splits that part a leaf alike either may be taken: the leaves tell.
    assert len(twin.splits) > 2
    expected = np.full(len(y), boosting.start[0])
    for leaf in twin.leaves:
        expected[leaf] -= SIZES["rate"] * gradients[leaf].sum() / curvatures[leaf].sum()
    np.testing.assert_allclose(boosting.scores[0, rows], expected[rows], rtol=1e-9)
    np.testing.assert_allclose(boosting.gains.sum(), sum(gain for *_, gain in twin.splits))
    (feature, *_, n_samples, _), _ = boosting.trees[0]
    np.testing.assert_array_equal(
        np.sort(n_samples[feature < 0]), np.sort([*map(len, twin.leaves)])
    )


@pytest.mark.parametrize("n_classes", [2, 4, None])
def test_rows_left_out_are_predicted_as_by_the_model(n_classes):
    X, y, weight = table(1, n_classes)
    rows = np.flatnonzero(np.arange(len(y)) % 3)
    boosting = boosted(X, y, n_classes, rows, weight)
    # Some trees learn from few rows and features only.
    boosting.step(rows[::2].astype(np.int32), np.array([1, 2], dtype=np.int32))
    predictions = boosting.predictions()
    np.testing.assert_allclose(boosting.model().predict(X), predictions, rtol=1e-12)
    assert predictions.shape == (len(y), n_classes or 1)
    loss = (predictions[:, 0] - y) ** 2 if n_classes is None else predictions.argmax(axis=1) != y
    start = (y[rows].mean() - y) ** 2 if n_classes is None else np.full(len(y), 1 - 1 / n_classes)
    outside = np.setdiff1d(np.arange(len(y)), rows)
    assert loss[outside].mean() < 0.6 * start[outside].mean()


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_it_is_lightgbm_where_bins_are_alike(n_classes):
    lightgbm = pytest.importorskip("lightgbm")
    random = np.random.RandomState(0)
    X = random.randint(0, 15, (600, 5)).astype(float)  # a bin for each value, in both
    told = X[:, 0] * X[:, 1] + 5 * (X[:, 2] > 7) + 10 * random.randn(600)
    y = told
    if n_classes is not None:
        y = np.digitize(told, np.quantile(told, np.arange(1, n_classes) / n_classes))
    objective = {None: "regression", 2: "binary", 3: "multiclass"}[n_classes]
    parameters = {
        "objective": objective,
        "num_class": 3 if n_classes == 3 else 1,
        "learning_rate": 0.3,
        "num_leaves": 7,
        "min_data_in_leaf": 4,
        "min_data_in_bin": 1,
        "verbose": -1,
        "num_threads": 1,
    }
    theirs = lightgbm.train(parameters, lightgbm.Dataset(X, y), 6).predict(X)
    ours = boosted(X, y, n_classes, n_rounds=6).predictions()
    ours = ours if n_classes == 3 else ours[:, -1]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_weights_are_repetitions():
    X, y, _ = table(2)
    weight = np.random.RandomState(0).randint(1, 4, len(y)).astype(float)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    once = boosted(X, y, 2, weight=weight, min_leaf=1).predictions()
    coded = CodedRows.of(X, 20)
    coded = CodedRows(coded.codes[repeated], coded.offsets, coded.cuts, coded.missing)
    twice = Boosting(
        coded, y[repeated], 2, np.arange(repeated.size), None, **SIZES | {"min_leaf": 1}
    )
    for _ in range(5):
        twice.step()
    np.testing.assert_allclose(twice.predictions(), once[repeated], rtol=1e-6)


def test_the_unit_and_the_origin_of_numbers_do_not_matter():
    X, y = make_friedman1(200, random_state=0)
    plain = boosted(X, y, None).predictions()
    for unit, origin in ((1e-12, 0), (1e12, 0), (1, 1e8)):
        other = boosted(X, y * unit + origin, None).predictions()
        np.testing.assert_allclose((other - origin) / unit, plain, rtol=1e-6)


def test_a_feature_is_paid_once_and_only_if_it_is_worth_it():
    X, y = make_classification(300, 6, random_state=0)
    free = boosted(X, y, 2)
    costly = boosted(X, y, 2, prices=np.where(free.gains == free.gains.max(), 0, 1e6))
    assert (costly.gains > 0).sum() == 1 < (free.gains > 0).sum()
    nothing = boosted(X, y, 2, prices=1e6)
    assert not nothing.step()
    np.testing.assert_allclose(nothing.predictions()[:, 1], y.mean())


def test_a_class_without_examples_is_never_predicted():
    X, y, _ = table(3)
    found = boosted(X, np.where(y == 1, 2, 0), 3).predictions()
    assert found[:, 1].max() < 1e-12
    one = boosted(X, np.zeros(len(y), dtype=int), 2).predictions()
    assert one[:, 1].max() < 1e-12


def test_new_values_beyond_the_known_ones_are_known():
    """NaN alone goes right where a split parts known values from missing ones."""
    X = np.array([[1.0], [2], [3], [np.nan], [np.nan]] * 10)
    y = np.isnan(X[:, 0]).astype(int)
    model = boosted(X, y, 2).model()
    found = model.predict(np.array([[100.0], [-100], [np.nan]]))[:, 1]
    assert found[0] == found[1] < 0.2 < 0.8 < found[2]


def test_more_rows_than_a_sum_can_count_are_thinned_out_or_refused(monkeypatch):
    X, y, _ = table(0)
    monkeypatch.setattr("budgetlearn.tree.boosting.MOST_ROWS", 60)
    assert boosted(X, y, 2).rows.tolist() == list(range(0, 150, 3))
    coded, n = CodedRows.of(X[:8], 20), 2**22 + 1
    grower, numbers = LeafWise(coded, 2, 1), np.zeros(8)
    with pytest.raises(ValueError, match="at most 4,194,304 rows, got 4,194,305"):
        grower.grow(
            np.zeros(n, np.int32), numbers, numbers, np.arange(4, dtype=np.int32), numbers, numbers
        )


def test_sums_of_two_million_curvatures_that_are_all_rounded_up_do_not_overflow():
    n = 2_000_000
    codes = np.zeros((n, 1), dtype=np.uint8)
    codes[n // 2 :] = 1
    coded = CodedRows(codes, np.int32([0, 2]), np.array([0.5, np.inf]), np.zeros(1, dtype=bool))
    grower, feature, numbers = LeafWise(coded, 2, 1), np.zeros(1, np.int32), np.zeros(1)
    rows, gradients = np.arange(n, dtype=np.int32), -1.0 - codes[:, 0]
    grower.grow(rows, gradients, np.ones(n), feature, numbers, numbers.copy())
    np.testing.assert_allclose(grower.tree()[1], [1.5, 1, 2], rtol=1e-5)
