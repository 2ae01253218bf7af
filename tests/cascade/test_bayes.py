"""Naive Bayes trees, and the gains that they foresee."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from budgetbench.datasets.synthetic import cube, indicator
from budgetlearn.cascade import ScheduleCascadeClassifier, bayes
from budgetlearn.cascade.bayes import N_BINS, Bins, ForeseenGains, NaiveBayesTree
from budgetlearn.cascade.dynamic import (
    BayesTrees,
    Units,
    _beats_rivals,
    foreseen_trace,
    foresees_class,
)
from budgetlearn.cascade.models import Table, assign_folds
from budgetlearn.cascade.pool import Trace
from budgetlearn.costs import FeatureCosts

pytestmark = pytest.mark.usefixtures("quick_cascade")

INFINITE = np.full(1, np.inf)


@pytest.fixture(scope="module")
def by_hand():
    """A tree of two leaves and two classes, with three features of two, three and two values."""
    random = np.random.RandomState(0)
    X = np.column_stack([random.randint(size, size=60) for size in (2, 3, 2)]).astype(float)
    logs = np.zeros((2, 2, 3, N_BINS))
    for leaf, label, (feature, size) in product(range(2), range(2), enumerate((2, 3, 2))):
        logs[leaf, label, feature, :size] = np.log(random.dirichlet(np.full(size, 0.5)) + 1e-3)
        logs[leaf, label, feature, :size] -= np.log(np.exp(logs[leaf, label, feature, :size]).sum())
    prior = random.dirichlet(np.ones(4)).reshape(2, 2)
    return NaiveBayesTree(Bins.of(X), logs, prior, 1.0), X


def gains_of(tree, X, *features, costs=None):
    return ForeseenGains(tree, Units(features, FeatureCosts.of(costs, X.shape[1])), X, 0)


def chance(tree, known):
    """Return the joint probability of leaf, class and known {feature: value}, (2, 2)."""
    found = tree.prior.copy()
    for feature, value in known.items():
        found = found * np.exp(tree.logs[:, :, feature, int(value)])
    return found


def entropy(shares):
    shares = shares / shares.sum()
    return -(shares * np.log(shares)).sum()


def told(tree, known, feature):
    """Return the information about the class in a feature, by its definition."""
    after = [chance(tree, known | {feature: v}) for v in range(tree.bins.sizes[feature])]
    total = sum(each.sum() for each in after)
    left = sum(each.sum() / total * entropy(each.sum(axis=0)) for each in after)
    return entropy(chance(tree, known).sum(axis=0)) - left


def told_by_two(tree, known, first, rest):
    """Return what a feature and the best one after it tell of the class."""
    found, total = told(tree, known, first), chance(tree, known).sum()
    for value in range(tree.bins.sizes[first]):
        then = known | {first: value}
        share = chance(tree, then).sum() / total
        found += share * max(told(tree, then, feature) for feature in rest)
    return found


def beyond_chance(ratio, counts):
    """Return the variance between classes beyond twice that of chance, relative to that within."""
    present, total = counts[counts > 0], counts.sum()
    size = (total - (present**2).sum() / total) / (present.size - 1)
    return max(ratio - 2, 0) / size


def normal_shares(parts, edges):
    """Return each class's probability of the ranges between edges, from pairs (scores, weights)."""
    counts = np.array([weight.sum() for _, weight in parts])
    means = [np.average(each, weights=w) if w.size else np.nan for each, w in parts]
    within = [w @ (each - mean) ** 2 for (each, w), mean in zip(parts, means, strict=True)]
    centre, present = np.nansum(counts * means) / counts.sum(), counts > 0
    pooled = (np.sum(within) + 5 * 0.01) / (counts.sum() - present.sum() + 5)
    between = np.nansum(counts * (means - centre) ** 2) / (present.sum() - 1)
    ratio, found = beyond_chance(between / pooled, counts), []
    for n, mean, square in zip(counts, means, within, strict=True):
        weight = ratio * n / (1 + ratio * n)
        mean = centre + weight * (mean - centre) if n else centre
        spread = np.sqrt((square + 60 * pooled) / (n + 60) if ratio else pooled)
        found.append(np.diff(norm.cdf(edges, mean, spread), prepend=0, append=1))
    return found


def value_shares(parts, size):
    """Return each class's probability of the values, from pairs (codes, weights)."""
    table = np.array([np.bincount(each, w, size) for each, w in parts])
    shares = (table.sum(axis=0) + 0.5) / (table.sum() + 0.5 * size)
    counts = table.sum(axis=1)
    expected = counts[counts > 0, None] * shares
    squares = ((table[counts > 0] - expected) ** 2 / expected).sum()
    ratio = beyond_chance(squares / ((counts > 0).sum() - 1) / (size - 1), counts)
    return (table * ratio + shares) / (counts[:, None] * ratio + 1)


def test_densities_are_those_of_their_definition_one_by_one():
    random, y = np.random.RandomState(0), np.arange(240) % 4
    X = random.normal(size=(240, 4)) + np.outer(y, [1, 0.1, 0, 0])
    X[:, 2:] = random.randint(3, size=(240, 2)) * [1, 0] + (random.rand(240, 2) < y[:, None] / 5)
    X[random.rand(240, 4) < 0.1] = np.nan
    examples = bayes._Examples(Table(X, y, 4, weight=random.uniform(0.5, 1.5, 240)))
    bins, some = examples.bins, random.rand(240) < 0.8
    assert bins.few.tolist() == [False, False, True, True]
    for n_classes, (feature, size) in product((2, 3), enumerate(bins.sizes)):
        rows = np.flatnonzero((y < n_classes) & some)  # a leaf without the other classes
        source = examples.codes if bins.few[feature] else examples.scores
        parts = []
        for label in range(4):
            known = rows[(y[rows] == label) & ~np.isnan(X[rows, feature])]
            parts.append((source[known, feature], examples.weight[known]))
        if bins.few[feature]:
            shares = value_shares(parts, size)
        else:
            shares = normal_shares(parts, bins.scores[feature, : size - 1])
        found = np.exp(examples.densities(rows))[:, feature, :size]
        expected = 0.99 * np.array(shares) + 0.01 / size
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_cuts_are_tried_that_make_normals_of_a_class_likelier_in_other_features():
    random, y = np.random.RandomState(0), np.arange(300) % 2
    X = random.normal(size=(300, 5))
    X[:, 4] = random.randint(3, size=300)
    X[:, 1] += 2 * (X[:, 0] > 0)
    X[:, 2] += 3 * (X[:, 4] > 0)
    growth = bayes._Growth(examples := bayes._Examples(Table(X, y, 2)), 0)
    assert [list(growth._places(feature)) for feature in (0, 4)] == [[2, 7, 12], [0, 1]]
    rows, gains = np.arange(0, 300, 3), []

    def cost(part):
        return len(part) * np.log(part.var(axis=0) + 0.05)

    for feature, last in growth._cuts:
        low = examples.codes[rows, feature] <= last
        parts = [(examples.scores[rows[y[rows] == k]], low[y[rows] == k]) for k in (0, 1)]
        gain = sum(cost(each) - cost(each[some]) - cost(each[~some]) for each, some in parts)
        others = np.arange(5) != feature
        enough = min(low.sum(), (~low).sum()) >= growth._fewest
        gains.append(np.maximum(gain[others] - 4, 0).sum() if enough else -1)
    assert min(gains) < 0
    np.testing.assert_array_equal(growth._promising(rows), np.argsort(gains)[::-1][:4])


def test_features_that_say_the_same_count_less():
    random, y = np.random.RandomState(0), np.arange(600) % 2
    X = y[:, None] + random.normal(size=(600, 6))
    same = X[:, :1] + 0.01 * random.normal(size=(600, 6))
    found = [NaiveBayesTree.fit(Table(each, y, 2), 0).evidence for each in (X, same)]
    assert found[0] >= 0.8
    assert found[1] <= 0.3
    # Half of the rows to judge by know any number of features.
    n_known = np.diff(bayes._Growth(bayes._Examples(Table(X, y, 2)), 0)._bins.indptr)
    assert set(n_known[:200]) == {6}
    assert (np.bincount(n_known[200:], minlength=7) > 10).all()


def test_unknown_features_drop_out(by_hand):
    tree, X = by_hand
    for row, hidden in product(X[:10], product([False, True], repeat=3)):
        known = {f: row[f] for f in range(3) if not hidden[f]}
        joint = chance(tree, known).sum(axis=0)
        found = tree.predict(np.where(hidden, np.nan, row)[None])
        np.testing.assert_allclose(found[0], joint / joint.sum())


def test_gains_are_information_of_one_or_of_two(by_hand):
    tree, X = by_hand
    gains = gains_of(tree, X, (0,), (1,), (2,))
    for feature, value in [(None, np.nan), (0, 0.0), (1, 2.0)]:
        row, known = np.full((1, 3), np.nan), {}
        if feature is not None:
            row[0, feature], known = value, {feature: value}
        owned = ~np.isnan(row)
        rates = gains.rates(row, owned, np.ones((1, 3)), INFINITE)[0]
        poor = gains.rates(row, owned, np.ones((1, 3)), np.ones(1))[0]
        for unit in np.flatnonzero(~owned[0]):
            alone = told(tree, known, unit)
            assert poor[unit] == pytest.approx(alone, abs=1e-5)  # only one can be paid
            rest = [k for k in range(3) if not owned[0, k] and k != unit]
            both = told_by_two(tree, known, unit, rest) / 2
            # Units are looked beyond only where they tell most of the leaf.
            assert min(abs(rates[unit] - alone), abs(rates[unit] - max(alone, both))) < 1e-5
        assert rates[owned[0]].sum() == 0


def test_prices_divide_both_gains(by_hand):
    tree, X = by_hand
    gains, nothing = gains_of(tree, X, (0,), (1,), (2,)), np.full((1, 3), np.nan)
    none = np.zeros((1, 3), dtype=bool)
    one, ten = (gains.rates(nothing, none, np.full((1, 3), p), INFINITE) for p in (1.0, 10.0))
    np.testing.assert_allclose(one, 10 * ten, rtol=1e-5)


def test_a_unit_of_several_features_tells_what_they_do_together(by_hand, monkeypatch):
    monkeypatch.setattr(bayes, "N_OUTCOMES", 200)
    tree, _ = by_hand
    random = np.random.RandomState(1)
    # Its outcomes are training examples: these come as often as the tree says.
    cells = random.choice(4, 4000, p=tree.prior.ravel())
    drawn = np.empty((4000, 3))
    for feature, size in enumerate(tree.bins.sizes):
        shares = np.exp(tree.logs[:, :, feature, :size]).reshape(4, size)[cells]
        drawn[:, feature] = (random.uniform(size=(4000, 1)) > shares.cumsum(axis=1)).sum(axis=1)
    found = [
        ForeseenGains(tree, Units(((0, 1), (2,)), FeatureCosts.of(None, 3)), drawn, seed).rates(
            np.full((1, 3), np.nan), np.zeros((1, 2), bool), np.ones((1, 2)), np.ones(1)
        )[0, 0]
        for seed in range(10)
    ]
    after = [(a, b) for a in range(2) for b in range(3)]
    left = sum(
        chance(tree, {0: a, 1: b}).sum() * entropy(chance(tree, {0: a, 1: b}).sum(axis=0))
        for a, b in after
    )
    expected = entropy(tree.prior.sum(axis=0)) - left
    assert np.mean(found) == pytest.approx(expected, abs=0.01)


def test_what_says_nothing_is_alike_in_all_cells():
    X, y = cube(800, 0)
    tree = NaiveBayesTree.fit(Table(X, y, 8), 0)
    assert len(tree.prior) == 1
    spread = np.exp(tree.logs[0]).std(axis=0).max(axis=1)  # (n_features,)
    assert spread[:10].min() > 0.05
    assert np.sum(spread[10:] < 1e-6) >= 8


def test_few_values_and_many_are_learned():
    X, y = load_iris(return_X_y=True)
    tree = NaiveBayesTree.fit(Table(X[::2], y[::2], 3), 0)
    assert (tree.predict(X[1::2]).argmax(axis=1) == y[1::2]).mean() > 0.9
    words = np.column_stack([y, np.zeros(150)])  # the class itself, and a constant
    assert (NaiveBayesTree.fit(Table(words, y, 3), 0).predict(words).argmax(axis=1) == y).all()


def test_missing_values_are_unknown_in_the_fit_too():
    X, y = load_iris(return_X_y=True)
    gaps = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.2, np.nan, X)
    found = NaiveBayesTree.fit(Table(gaps, y, 3), 0).predict(gaps)
    assert (found.argmax(axis=1) == y).mean() > 0.85
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_only_ratios_of_weights_count():
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 0, 3.0, 1.0)
    one, other, none = (
        NaiveBayesTree.fit(Table(X, y, 3, weight=w), 0).predict(X)
        for w in (weight, 1e9 * weight, None)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9)
    assert np.abs(one - none).max() > 1e-3


def parity(n_samples):
    """Four signs whose product is the class: no tree of naive Bayes sees what each tells."""
    X = np.random.RandomState(0).choice([-1.0, 1.0], size=(n_samples, 6))
    return X, (X[:, :4].prod(axis=1) > 0).astype(int)


def test_trees_foresee_classes_where_they_tell_nearly_as_much_as_the_reference():
    tables = [
        Table(X, y, 2, assign_folds(y, 2, 5, np.random.RandomState(0)))
        for X, y in (indicator(600, 0), parity(600))
    ]
    sure, unsure = (np.eye(2) * sureness + (1 - sureness) / 2 for sureness in (0.999, 0.0))
    by_table = [
        [foresees_class(t, known[t.y], BayesTrees(t, 0)) for known in (sure, unsure)]
        for t in tables
    ]
    assert by_table == [[True, True], [False, True]]


@pytest.mark.parametrize("n_leaves", [1, 2])
def test_trees_that_all_have_contexts_may_tell_less(n_leaves):
    X = np.arange(1000.0)[:, None]
    y = np.arange(1000) // 50 % 2
    table = Table(X, y, 2, np.arange(1000) % 5)

    def known(n_right):
        """Return probabilities that name the class of so many in 50, and know how often."""
        named = np.where(np.arange(1000) % 50 < n_right, y, 1 - y)
        return np.where(np.arange(2) == named[:, None], n_right / 50, 1 - n_right / 50)

    # They tell .693 − .325 of the class, which is .89 of .693 − .279.
    told = known(45)
    tree = SimpleNamespace(
        prior=np.ones((n_leaves, 2)), predict=lambda X: told[X[:, 0].astype(int)]
    )
    trees = SimpleNamespace(without=lambda *_: (tree, 0))
    assert foresees_class(table, known(46), trees) is (n_leaves > 1)


@pytest.mark.parametrize("right", [0.5, 0.999])
def test_one_fold_shows_where_fixed_orders_tell_more_for_their_cost(right):
    X, y = indicator(300, 0)
    table = Table(X, y, 2, assign_folds(y, 2, 5, np.random.RandomState(0)))
    units = Units(
        tuple((feature,) for feature in range(X.shape[1])), FeatureCosts.of(None, X.shape[1])
    )
    known = np.where(np.eye(2, dtype=bool)[y], right, 1 - right)
    rival = Trace(None, np.array([known, known]), np.array([[0.0], [9.0]]), None)
    trees = BayesTrees(table, 0)
    found = foreseen_trace(table, units, trees, [rival])
    assert (found is None) is (right > 0.9)
    # What is left undone takes the time: the trees of all other folds, and the final one.
    assert len(trees._known) == (1 if found is None else 6)


def test_fixed_orders_are_beaten_between_their_stages():
    y = np.arange(1000) % 2

    def told(n_right, sure=0.7):
        """Return probabilities that name the class of so many in 100, however sure they are."""
        named = np.where(np.arange(1000) // 2 % 100 < n_right, y, 1 - y)
        return np.where(np.arange(2) == named[:, None], sure, 1 - sure)

    def rival(costs, *predictions):
        rows = np.tile(predictions, (1, 2, 1))
        return Trace(None, rows, np.array(costs)[:, None], None)

    # Calibrated, they lose .697 at no cost, .325 at 10 and, as nobody has to pay 12, there too.
    rivals = [rival([0.0, 12.0], told(50), told(70)), rival([10.0], told(90))]
    table, here = Table(np.zeros((2000, 1)), np.tile(y, 2), 2), np.arange(2000) < 1000
    spent = np.where(np.arange(1000) < 500, 0.0, 10.0)  # 5 on average, in the middle: .511
    for n_right, more, beaten in ((80, 0, True), (79, 0, False), (88, 7, False), (91, 7, True)):
        walked = np.array([told(50), told(n_right)]), np.array([0 * spent, spent + more])
        assert _beats_rivals(table, here, *walked, rivals) == beaten


def test_where_trees_do_not_foresee_classes_orders_stay_fixed():
    X, y = parity(300)
    auto, fixed = (
        ScheduleCascadeClassifier(
            estimators="forest", orders="gain_per_cost", n_stages=2, dynamic=dynamic, random_state=0
        ).fit(X, y)
        for dynamic in ("auto", False)
    )
    assert auto.n_stages_ > 1
    pd.testing.assert_frame_equal(auto.operating_points_, fixed.operating_points_)
    np.testing.assert_array_equal(auto.predict_proba(X), fixed.predict_proba(X))


@pytest.mark.parametrize("dynamic", [True, "auto"])
def test_a_feature_that_only_tells_which_others_matter_is_acquired_first(dynamic):
    """Two features suffice; one feature ahead, none is worth anything."""
    X, y = indicator(1400, 3)
    X = X[:, [0, *range(1, 12)]]
    model = ScheduleCascadeClassifier(
        estimators=GaussianNB(), orders="gain_per_cost", n_stages=4, cv=2, dynamic=dynamic,
        random_state=0,
    ).fit(X[:700], y[:700])  # fmt: skip
    made = model.decisions(X[700:], max_cost=2)
    assert (made.prediction == y[700:]).mean() > 0.97
    assert made.acquired[:, 0].all()
    assert model.score(X[700:], y[700:], budget=2) > 0.97
