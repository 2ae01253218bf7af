"""Forests regrown on sets of features, chosen out of bag."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import log_loss

from budgetlearn.budgetrf import BudgetRFClassifier, BudgetRFRegressor, Growth, Leaves
from budgetlearn.budgetrf import feature_sets as module
from budgetlearn.budgetrf.feature_sets import (
    LEAF_SIZES,
    LEAST_SHARES,
    SLACK,
    Regrowth,
    drops,
    first_forests,
    found_sets,
    near_front,
)
from budgetlearn.budgetrf.leaf_refit import prefix_sizes
from budgetlearn.curves import pareto_indices
from budgetlearn.protocol.calibration import FLOOR
from budgetlearn.protocol.checked_data import Examples
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError

X, Y = make_classification(
    300, 8, n_informative=5, n_redundant=2, n_classes=3, flip_y=0.1, random_state=0
)
PRICES = np.array([1.0, 50, 3, 8, 20, 2, 30, 5])
TRAIN, TEST = slice(None, 200), slice(200, None)


def regrowing(kind=BudgetRFClassifier, **settings):
    judged = {"growth__impurity": "entropy", "growth__split": "expected"}
    estimator = kind(feature_costs=PRICES, n_estimators=6, cost_exponent=[0.5, 1], random_state=0)
    if kind is BudgetRFClassifier:
        estimator.set_params(**judged)
    return estimator.set_params(**{"growth__regrow": 12, "growth__max_depth": 4} | settings)


@pytest.fixture(scope="module")
def forest():
    return regrowing(oob_score=True).fit(X[TRAIN], Y[TRAIN])


def test_sets_are_what_enough_examples_acquire():
    trees = BudgetRFClassifier(feature_costs=PRICES, n_estimators=6, random_state=0).fit(X, Y)
    found = list(found_sets(trees.trees_, Examples(X, Y, Y)))
    expected = []
    for index, acquired in enumerate(trees.staged_acquired_features(X)):
        if index + 1 in prefix_sizes(6):
            share = acquired.mean(axis=0)
            expected += [[f for f in range(8) if share[f] > least] for least in LEAST_SHARES]
    assert [features.tolist() for features in found] == expected
    assert any(len(a) > len(b) for a, b in zip(found[::2], found[1::2], strict=True))


def test_a_row_of_weight_nine_acquires_like_nine_rows():
    trees = BudgetRFClassifier(feature_costs=PRICES, n_estimators=6, random_state=0).fit(X, Y)
    weight = np.where(X[:, 0] > 0, 9, 1)
    rows = np.repeat(np.arange(len(X)), weight)
    plain, written, weighed = (
        [features.tolist() for features in found_sets(trees.trees_, examples)]
        for examples in (
            Examples(X, Y, Y),
            Examples(X[rows], Y[rows], Y[rows]),
            Examples(X, Y, Y, weight / weight.mean()),
        )
    )
    assert weighed == written != plain


def calibrated_loss(grower, forest, weight=None):
    """Return the least out-of-bag log loss of shares to a power."""
    logs = np.log(np.maximum(grower.out_of_bag(forest), FLOOR))
    labels, weight = grower.target.argmax(axis=1), None if weight is None else weight[grower.judged]
    return min(
        log_loss(labels, softmax(logs * power, axis=1), sample_weight=weight)
        for power in np.geomspace(0.2, 5, 600)
    )


@pytest.mark.parametrize("kind", [BudgetRFClassifier, BudgetRFRegressor])
def test_what_elimination_judges_by_knows_the_weights(kind):
    classifies = kind is BudgetRFClassifier
    y = Y if classifies else X[:, 0] + X[:, 1] ** 2
    weight = np.where(X[:, 1] > 0, 9.0, 1.0)
    grower = regrowth(y, 4, weight / weight.mean(), kind)
    forest = grower.begun(np.arange(8))
    expected, target = np.zeros(8), np.eye(3)[y] if classifies else y[:, None]
    for tree, seed in zip(forest.predictor.trees, grower.seeds, strict=True):
        counts = grower.source.draw(seed)

        def impurity(rows, counts=counts):
            spread = (target[rows] - np.average(target[rows], axis=0, weights=counts[rows])) ** 2
            return counts[rows] @ spread.sum(axis=1) / counts.sum()

        nodes = {0: np.flatnonzero(counts)}
        for node in np.flatnonzero(~tree.is_leaf):
            left = X[nodes[node], tree.feature[node]] <= tree.threshold[node]
            sides = nodes[node][left], nodes[node][~left]
            nodes[tree.children_left[node]], nodes[tree.children_right[node]] = sides
            expected[tree.feature[node]] += impurity(nodes[node]) - sum(map(impurity, sides))
    np.testing.assert_allclose(grower.drops(forest), expected / 4, rtol=1e-5)
    losses = ((grower.out_of_bag(forest) - grower.target) ** 2).sum(axis=1)
    assert forest.loss == pytest.approx(np.average(losses, weights=weight[grower.judged]))
    chosen_by = calibrated_loss(grower, forest, weight) if classifies else forest.loss
    assert grower._loss(forest) == pytest.approx(chosen_by, rel=1e-4)


def test_drops_are_those_of_gini_and_variance():
    for kind, y in ((BudgetRFClassifier, Y), (BudgetRFRegressor, X[:, 0] + X[:, 1] ** 2)):
        growth = Growth(bootstrap=False, max_depth=4)
        (tree,) = kind(n_estimators=1, growth=growth, random_state=0).fit(X, y).trees_
        target = np.eye(3)[y] if kind is BudgetRFClassifier else y[:, None]
        expected, rows = np.zeros(8), {0: np.arange(len(X))}
        for node in np.flatnonzero(~tree.is_leaf):
            left = X[rows[node], tree.feature[node]] <= tree.threshold[node]
            sides = rows[node][left], rows[node][~left]
            rows[tree.children_left[node]], rows[tree.children_right[node]] = sides
            whole, *parts = (target[each].var(axis=0).sum() * len(each)
                             for each in (rows[node], *sides))  # fmt: skip
            expected[tree.feature[node]] += whole - sum(parts)
        np.testing.assert_allclose(drops([tree], 8), expected)


def test_stages_are_the_forests_that_nothing_cheaper_equals(forest):
    points = forest.operating_points_
    assert len(points) == forest.n_stages_ > 1
    np.testing.assert_array_equal(
        pareto_indices(points["cost"], points["score"]), np.arange(len(points))
    )


@pytest.fixture(scope="module")
def sampled():
    # Sets are judged on fewer rows than the forests that stay have.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ROWS", 120)
        return regrowing(oob_score=True).fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("which", ["forest", "sampled"])
def test_points_are_measured_out_of_bag(which, request):
    # Row by row from the trees whose sample left the row out.
    forest, scores = request.getfixturevalue(which), []
    assert all(regrown.predictor.n_trees == 12 for regrown in forest._replacing)
    for regrown in forest._replacing:
        shares = np.zeros((200, 3))
        for tree, seed in zip(regrown.predictor.trees, forest.tree_seeds_, strict=True):
            drawn = np.random.default_rng(seed).integers(200, size=200)
            out = np.setdiff1d(np.arange(200), drawn)
            for row in out:
                node = 0
                while tree.children_left[node] >= 0:
                    goes_left = X[row, tree.feature[node]] <= tree.threshold[node]
                    node = (tree.children_left if goes_left else tree.children_right)[node]
                shares[row] += tree.value[node] / tree.value[node].sum()
        seen = shares.sum(axis=1) > 0
        scores.append((shares.argmax(axis=1) == Y[TRAIN])[seen].mean())
    assert scores[-1] == pytest.approx(forest.oob_score_)
    # The same share of each gain over the most frequent class is promised.
    least = np.bincount(Y[TRAIN][seen]).max() / seen.sum()
    shares_left = (forest.operating_points_["score"] - least) / (np.array(scores) - least)
    np.testing.assert_allclose(shares_left, shares_left[0])
    assert 0.7 < shares_left[0] < 1
    found = forest.oob_decision_function_[seen]
    np.testing.assert_allclose(found, shares[seen] / shares[seen].sum(axis=1, keepdims=True))


def test_trees_keep_to_their_features_and_average_class_shares(forest):
    for regrown, acquired, shares in zip(
        forest._replacing,
        forest.staged_acquired_features(X[TEST]),
        forest.staged_predict_proba(X[TEST]),
        strict=True,
    ):
        assert set(np.flatnonzero(acquired.any(axis=0))) <= set(regrown.features)
        leaves = regrown.predictor.walk(X[TEST], leaves=True).leaves
        each = [tree.value[at] for tree, at in zip(regrown.predictor.trees, leaves.T, strict=True)]
        mean = np.mean([value / value.sum(axis=1, keepdims=True) for value in each], axis=0)
        np.testing.assert_allclose(shares, mean)


def regrowth(y=Y, n_trees=12, weight=None, kind=BudgetRFClassifier):
    estimator = regrowing(kind, cost_exponent=1).fit(X, y)
    examples = Examples(X, y, y, weight)
    ((_, rule),) = estimator._rules(8)
    return Regrowth(estimator._grower(examples), rule, n_trees, seed=0)


def eliminated(prices):
    """Return the forests in the order in which they grow, by their features."""
    grown = list(first_forests(regrowth(), prices, [], [1.0]))
    by_set = {tuple(forest.features.tolist()): forest for forest in grown}
    assert len(by_set) == len(grown)
    return by_set


def test_what_is_a_fit_to_chance_is_not_promised():
    noise = np.random.RandomState(0).normal(size=(200, 20))
    rule = (noise[:, 3] > 0).astype(int)
    for kind, y in ((BudgetRFClassifier, rule), (BudgetRFRegressor, rule * 1e9)):
        grown = regrowing(kind, feature_costs=None, oob_score=True).fit(noise, y)
        assert grown.operating_points_["score"].iloc[-1] == pytest.approx(
            grown.oob_score_, abs=0.01
        )
    for seed in range(3):
        coins = np.random.RandomState(seed).randint(2, size=200)
        grown = regrowing(feature_costs=None, oob_score=True, growth__regrow=40).fit(noise, coins)
        least = np.bincount(coins).max() / 200
        assert grown.oob_score_ > least + 0.03
        assert grown.operating_points_["score"].tolist() == pytest.approx([least])
    # Halves of a few examples may have none of a tree's sample, and a constant has no precision.
    few = regrowing(feature_costs=None, scoring="precision").fit(noise[:4], [0, 1, 0, 1])
    assert few.operating_points_["score"].between(0, 1).all()
    # A half learns from its own examples only.
    half, whole = np.arange(300) < 150, regrowth()
    pilot = whole.of(half)
    for tree, seed in zip(pilot.begun(np.arange(8)).predictor.trees, pilot.seeds, strict=True):
        assert tree.value[0].sum() == whole.source.draw(seed)[half].sum()


def test_sets_are_judged_on_a_sample_of_many_rows(sampled, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 120)
    assert module.judging_rows(120, 0) is None
    rows = module.judging_rows(200, 0)
    assert rows.size == 120
    assert (np.diff(rows) > 0).all()
    assert rows[-1] < 200
    # Forests that stay have a bootstrap sample of all rows in every root.
    for regrown in sampled._replacing:
        assert all(tree.value[0].sum() == 200 for tree in regrown.predictor.trees)


def test_a_finished_forest_is_the_best_of_three(monkeypatch):
    monkeypatch.setattr(module, "FIRST_TREES", 5)
    grower, features, tried = regrowth(), np.array([0, 2, 3, 6]), []
    begun, loss = grower.begun(features), grower._loss
    assert begun.predictor.n_trees == 5
    monkeypatch.setattr(grower, "_loss", lambda forest: tried.append(forest) or loss(forest))
    best = grower.finished(begun)
    whole, mixed, random = (forest.predictor.trees for forest in tried)
    assert whole[:5] == begun.predictor.trees  # the very same
    assert mixed == whole[:6] + random[6:]
    assert len(whole) == len(random) == 12
    # Random thresholds separate the classes less, so pure leaves need more of them.
    pure = (grower._trees(features, 1, grower.seeds, each) for each in ("one", "all"))
    assert np.greater(*(sum(tree.node_count for tree in trees) for trees in pure))
    assert random[0].threshold[0] not in whole[0].threshold
    losses = [calibrated_loss(grower, forest) for forest in tried]
    np.testing.assert_allclose([loss(forest) for forest in tried], losses, rtol=1e-3)
    assert best is tried[np.argmin(losses)]
    for forest in tried:
        again = grower.again(forest)
        np.testing.assert_allclose(grower.out_of_bag(again), grower.out_of_bag(forest))
        np.testing.assert_array_equal(
            again.predictor.walk(X, values=True).values,
            forest.predictor.walk(X, values=True).values,
        )


def test_noise_gets_large_leaves_and_a_rule_small_ones():
    noise = np.random.RandomState(0).randint(2, size=300)
    assert regrowth(noise).begun(np.array([1])).leaf_size == LEAF_SIZES[-1]
    rule = (X[:, 1] > 0).astype(int)
    assert regrowth(rule).begun(np.array([1])).leaf_size == LEAF_SIZES[0]


def test_sets_stay_that_no_cheaper_one_beats_by_the_slack():
    points = pd.DataFrame(
        {"cost": [4.0, 1, 2, 2, 3], "score": [0.6, 0.5, 0.7, 0.69, 0.6], "score_se": 0.1 / SLACK}
    )
    assert near_front(points).tolist() == [1, 2, 3, 4, 0]
    assert near_front(points.assign(score_se=0.05 / SLACK)).tolist() == [1, 2, 3]
    assert near_front(points.assign(score_se=0.0)).tolist() == [1, 2]
    # A score of one example has no error.
    assert near_front(points.assign(score_se=np.nan)).tolist() == [1, 2]


def test_elimination_leaves_out_what_is_worth_least():
    grown = eliminated(PRICES)
    sets = list(grown)
    assert [len(each) for each in sets] == [8, 6, 5, 4, 3, 2, 1]
    for before, after in pairwise(sets):
        worth = drops(grown[before].predictor.trees, 8) / PRICES
        gone = sorted(set(before) - set(after))
        assert worth[gone].max() <= worth[list(after)].min()
    # Free features stay.
    sets = list(eliminated(np.where(np.arange(8) < 3, 0.0, PRICES)))
    assert sets[-1] == (0, 1, 2)
    assert all({0, 1, 2} <= set(each) for each in sets)


def test_validation_data_are_learned_from_and_threads_change_nothing(forest):
    both = regrowing(n_jobs=2).fit(X[:120], Y[:120], X[120:200], Y[120:200])
    for one, two in zip(forest.staged_predict_proba(X), both.staged_predict_proba(X), strict=True):
        np.testing.assert_array_equal(one, two)


def test_compact_forest_predicts_the_same(forest):
    # Weighed by the sizes of their leaves trees would say something else in places.
    table = X[TEST].astype(np.float32)
    np.testing.assert_array_equal(forest.compact().predict(table), forest.predict(table))


def test_it_is_a_budgeted_estimator():
    check_budgeted_estimator(regrowing())


def test_numbers():
    A, b = make_regression(300, 8, n_informative=5, noise=5.0, random_state=0)
    forest = regrowing(BudgetRFRegressor).fit(A[TRAIN], b[TRAIN])
    assert forest.n_stages_ > 2
    assert forest.operating_points_["score"].iloc[-1] > 0.5
    assert forest.score(A[TEST], b[TEST]) > 0.5


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"budget": 10.0}, "leave out budget"),
        ({"refit": True, "alpha": [0.0, 8.0]}, "leave out refit, a list of alpha"),
        ({"warm_start": True}, "leave out warm_start"),
        ({"leaves": Leaves(joint_fit=3.0)}, "leave out leaves.joint_fit"),
        ({"growth__bootstrap": False}, "leave out growth.bootstrap"),
        ({"growth__regrow": 0}, "growth.regrow"),
    ],
)
def test_what_has_no_meaning_is_refused(wrong, named):
    with pytest.raises(ParameterError, match=named):
        regrowing(**wrong).fit(X, Y)


def test_too_few_left_out_rows_for_a_score_are_told():
    forest = BudgetRFRegressor(n_estimators=4, growth=Growth(regrow=4), random_state=0)
    with pytest.raises(ParameterError, match=r"scoring is NaN for the 1 held-out"):
        forest.fit([[0.0], [1.0]], [0.0, 1.0])
