"""The cost-sensitive forest: each split's F, what is free once acquired, who pays, and its path."""

import pickle

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import make_classification

from budgetbench.datasets import load_dataset, split
from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import BudgetError, CostError, MissingValueError
from budgetlearn.forests import (
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    RandomForestClassifier,
)
from budgetlearn.forests.cost_sensitive import FLOOR, ComplementarySampling, cost_weight_grid
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.bootstrap import bootstrap_weights
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions
from tests.tree.reference import best_splits, impurity, walk

COSTS = np.linspace(0.5, 3, 12)


@pytest.mark.parametrize(
    "estimator",
    [
        CostSensitiveRFClassifier(n_estimators=5, cost_weight=0.05),
        CostSensitiveRFClassifier(n_estimators=5, max_features="sqrt", complementary=True),
        CostSensitiveRFPathClassifier(n_estimators=4, cost_weights=[0.02, 0.0]),
    ],
    ids=type,
)
def test_estimator_checks(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        600, 12, n_informative=6, n_classes=3, flip_y=0.05, class_sep=1.5, random_state=0
    )
    return X[:300], y[:300], X[300:], y[300:]


def grow(table, cost_weight, seed=0, **parameters):
    forest = CostSensitiveRFClassifier(
        feature_costs=COSTS, cost_weight=cost_weight, random_state=seed
    )
    return forest.set_params(**{"n_estimators": 6, **parameters}).fit(*table[:2])


def entropy(counts):
    return impurity("entropy", counts)


def check_node(tree, node, rows, data, penalties):
    """Check F of a node, zero the penalty of what it acquires, and go on below, left side first."""
    X, y, counts = data
    F = best_splits(X[rows], y[rows], counts[rows], 3, entropy, "expected", "gain", penalties)
    if tree.children_left[node] < 0:
        assert not F or -min(F.values()) < 1e-9 or np.count_nonzero(tree.value[node]) == 1
        return
    feature, threshold = tree.feature[node], tree.threshold[node]
    values = X[rows & (counts > 0), feature]
    chosen = F[feature, values[values <= threshold].max(), values[values > threshold].min()]
    assert chosen == pytest.approx(min(F.values()), abs=1e-12)
    assert chosen < 0
    penalties[feature] = 0
    left = X[:, feature] <= threshold
    check_node(tree, tree.children_left[node], rows & left, data, penalties)
    check_node(tree, tree.children_right[node], rows & ~left, data, penalties)


@pytest.mark.parametrize("cost_weight", [0.0, 0.05, 0.2])
def test_every_split_has_the_largest_f_and_acquired_features_are_free(table, cost_weight):
    X, y = table[0][:120], table[1][:120]
    forest = CostSensitiveRFClassifier(
        feature_costs=COSTS, cost_weight=cost_weight, n_estimators=4, random_state=1
    ).fit(X, y)
    seeds = np.random.RandomState(1).randint(2**31 - 1, size=4)
    penalties = cost_weight * COSTS
    for tree, seed in zip(forest.trees_, seeds, strict=True):
        data = X, y, bootstrap_weights(len(y), seed)
        check_node(tree, 0, np.ones(len(y), dtype=bool), data, penalties)
    assert (cost_weight == 0) or set(np.flatnonzero(penalties == 0)) == set(forest.features_)


@pytest.mark.parametrize("max_features", [None, "sqrt"])
def test_without_penalty_it_is_the_plain_forest(table, max_features):
    X, y, X_test, _ = table
    ours = grow(table, 0.0, max_features=max_features)
    plain = RandomForestClassifier(
        n_estimators=6, criterion="entropy", max_features=max_features, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X_test), plain.predict_proba(X_test))


def test_free_features_are_like_no_penalty(table):
    free = clone(grow(table, 0.3)).set_params(feature_costs=np.zeros(12)).fit(*table[:2])
    plain = grow(table, 0.0)
    np.testing.assert_array_equal(free.predict_proba(table[2]), plain.predict_proba(table[2]))
    assert free.cost_ == 0


def test_unit_of_the_costs_does_not_matter(table):
    dollars = grow(table, 0.25)
    cents = clone(dollars).set_params(feature_costs=64 * COSTS, cost_weight=0.25 / 64)
    np.testing.assert_array_equal(dollars.features_, cents.fit(*table[:2]).features_)


def test_a_bit_is_the_most_that_a_split_gains(table):
    forest = grow(table, 0.6, n_estimators=100, complementary=True)
    assert not (COSTS[forest.features_] >= 1 / 0.6).any()


def test_if_nothing_is_worth_its_price_the_majority_class_is_free(table):
    forest = grow(table, 1e6)
    assert forest.cost_ == 0
    assert not forest.acquired_features(table[2]).any()
    assert np.unique(forest.predict(table[2])).size == 1


@pytest.mark.parametrize(
    "variant", [{}, {"max_features": "sqrt"}, {"complementary": True}, {"thresholds": "random"}]
)
def test_costs_fall_as_the_weight_grows(table, variant):
    weights = np.geomspace(0.04, 0.4, 10)
    variant = {"n_estimators": 3} | variant  # more trees acquire everything at the smaller weights
    costs = [np.mean([grow(table, w, seed, **variant).cost_ for seed in range(8)]) for w in weights]
    assert spearmanr(weights, costs).statistic <= -0.9


def test_every_example_pays_for_what_the_forest_uses(table):
    forest, X_test = grow(table, 0.2), table[2]
    used = np.zeros(12, dtype=bool)
    stages = list(forest.staged_acquired_features(X_test))
    for tree, acquired in zip(forest.trees_, stages, strict=True):
        used[tree.feature[tree.feature >= 0]] = True
        np.testing.assert_array_equal(acquired, np.tile(used, (len(X_test), 1)))
    np.testing.assert_array_equal(stages[-1], forest.acquired_features(X_test))
    np.testing.assert_array_equal(forest.features_, np.flatnonzero(used))
    np.testing.assert_allclose(forest.acquisition_cost(X_test), COSTS[used].sum())
    assert forest.cost_ == pytest.approx(COSTS[used].sum())


def test_the_charge_of_a_group_is_paid_once(table):
    groups = FeatureCosts(np.full(12, 0.1), groups=[0] * 6 + [1] * 6, group_costs=[0.5, 100.0])
    forest = clone(grow(table, 0.2)).set_params(feature_costs=groups).fit(*table[:2])
    assert forest.features_.size > 1
    assert forest.features_.max() < 6
    assert forest.cost_ == pytest.approx(0.5 + 0.1 * forest.features_.size)


@pytest.mark.parametrize("literal", [False, True])
def test_weights_follow_the_share_of_trees_that_are_right(table, literal):
    X, y = table[:2]
    forest = grow(table, 0.1, complementary="literal" if literal else True)
    sampling = ComplementarySampling(X, y.astype(np.int32), literal)
    right = np.zeros(len(y))
    for n_trees, tree in enumerate(forest.trees_, start=1):
        sampling.learn(tree)
        right += [
            tree.value[walk(tree, x)[0]].argmax() == label for x, label in zip(X, y, strict=True)
        ]
        share = right / n_trees
        expected = share if literal else np.maximum(1 - share, FLOOR)
        np.testing.assert_allclose(sampling.weights, expected)
    drawn = np.mean([sampling.draw(seed) for seed in range(400)], axis=0)
    chances = sampling.weights * len(y) / sampling.weights.sum()
    assert np.corrcoef(drawn, chances)[0, 1] > 0.95
    assert drawn[sampling.weights == 0].sum() == 0


def test_true_and_false_may_be_those_of_numpy(table):
    """As a search over np.array([True, False]) sets them."""
    for choice in (np.True_, np.False_):
        ours, same = (
            grow(table, 0.0, n_estimators=3, complementary=c).trees_ for c in (choice, bool(choice))
        )
        assert all((a.feature == b.feature).all() for a, b in zip(ours, same, strict=True))


def test_the_first_of_complementary_trees_is_not_weighted_yet(table):
    first = [grow(table, 0.0, 3, complementary=c, n_estimators=2) for c in (True, "literal")]
    np.testing.assert_array_equal(*(forest.trees_[0].value for forest in first))
    assert first[0].trees_[1].node_count != first[1].trees_[1].node_count


@pytest.mark.parametrize("complementary", [False, True])
def test_n_jobs_and_pickling_do_not_matter(table, complementary):
    X, y, X_test, _ = table
    paths = [
        CostSensitiveRFPathClassifier(
            feature_costs=COSTS,
            n_estimators=5,
            complementary=complementary,
            random_state=2,
            n_jobs=n_jobs,
        ).fit(X, y)
        for n_jobs in (1, 2)
    ]
    paths.append(pickle.loads(pickle.dumps(paths[0])))
    for other in paths[1:]:
        for one, two in zip(
            paths[0].staged_predict(X_test), other.staged_predict(X_test), strict=True
        ):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(paths[0].costs_, other.costs_)


def test_path_holds_the_forest_of_each_weight(table):
    X, y, X_test, _ = table
    path = CostSensitiveRFPathClassifier(
        feature_costs=COSTS, cost_weights=[0.0, 0.3, 0.1, 0.1], n_estimators=5, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(path.cost_weights_, [0.3, 0.1, 0.0])
    assert [each["cost_weight"] for each in path.stage_settings_] == ["0.3", "0.1", "0"]
    stages = zip(path.staged_predict(X_test), path.staged_acquired_features(X_test), strict=True)
    for forest, weight, (predicted, acquired) in zip(
        path.forests_, path.cost_weights_, stages, strict=True
    ):
        own = clone(forest).set_params(cost_weight=weight).fit(X, y)
        np.testing.assert_array_equal(own.predict(X_test), predicted)
        np.testing.assert_array_equal(own.acquired_features(X_test), acquired)


def test_budget_takes_the_best_forest_within_it(table):
    X, y, X_test, _ = table
    path = CostSensitiveRFPathClassifier(feature_costs=COSTS, n_estimators=5, random_state=0).fit(
        X, y
    )
    chosen = set()
    for stage, (cost, predicted) in enumerate(
        zip(path.costs_, path.staged_predict(X_test), strict=True)
    ):
        # Of the forests within a budget, the one that does best on rows that refits left out.
        if path.choose(cost) == stage:
            np.testing.assert_array_equal(path.predict(X_test, budget=cost), predicted)
            chosen.add(stage)
        assert path.acquired_features(X_test, budget=cost)[0] @ COSTS < cost + 1e-9
    assert len(chosen) > 1
    np.testing.assert_array_equal(path.predict(X_test), path.forests_[-1].predict(X_test))
    cheapest = path.costs_.min()
    own = clone(path).set_params(budget=cheapest).fit(X, y)
    assert (own.acquisition_cost(X_test) < cheapest + 1e-9).all()
    assert own.predict_proba(X_test).shape == (len(X_test), 3)
    expensive = clone(path).set_params(cost_weights=[0.0]).fit(X, y)
    with pytest.raises(BudgetError, match="cheapest one costs") as caught:
        expensive.predict(X_test, budget=1)
    assert caught.value.cheapest == expensive.costs_[0]


def test_default_weights_reach_from_nothing_to_everything(table):
    X, y, _, _ = table
    path = CostSensitiveRFPathClassifier(feature_costs=COSTS, n_estimators=5, random_state=0).fit(
        X, y
    )
    assert path.costs_[0] == 0
    assert path.costs_[9] > 0
    assert path.costs_[-1] == COSTS.sum()
    assert path.cost_weights_[-1] == 0
    assert (np.diff(path.cost_weights_) < 0).all()
    free = clone(path).set_params(feature_costs=np.zeros(12)).fit(X, y)
    np.testing.assert_array_equal(free.cost_weights_, [0.0])


def test_pima_can_do_without_the_insulin_test(data_dir, tmp_path):
    pima = load_dataset("pima", folder=tmp_path, data_dir=data_dir)
    prices = np.array([1, 17.61, 1, 1, 22.78, 1, 1, 1])
    losses = []
    for seed in range(4):
        test = split(pima, seed, (0.7, 0.1, 0.2)) == 2
        path = CostSensitiveRFPathClassifier(
            feature_costs=prices, cost_weights=[0.035, 0.0], n_estimators=40, random_state=seed
        ).fit(pima.X[~test], pima.y[~test])
        cheap, expensive = (np.mean(p == pima.y[test]) for p in path.staged_predict(pima.X[test]))
        losses.append((expensive - cheap, 1 - path.costs_[0] / path.costs_[1]))
    lost, saved = np.mean(losses, axis=0)
    assert lost <= 0.02
    assert saved >= 0.45


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost_weight": -0.1}, "cost_weight"),
        ({"cost_weight": np.nan}, "cost_weight"),
        ({"cost_weight": np.inf}, "cost_weight"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": "log2"}, "max_features"),
        ({"complementary": "yes"}, "complementary"),
        ({"complementary": 1}, "complementary"),
        ({"thresholds": "some"}, "thresholds"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        CostSensitiveRFClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("highest", "smallest"), [(40, 0.1 * 0.05), (500, 0.3 / 500)])
def test_default_grid_spans_what_acquires_nothing_to_what_acquires_much(highest, smallest):
    """Feature 1 tells the class: a gain of 1 bit for a price of 20, or .05 bits a unit."""
    y = np.arange(16) % 2
    data = bin_features(np.c_[np.arange(16) // 8, y, np.zeros(16)].astype(float))
    costs = FeatureCosts([highest, 20, 1])
    grid = cost_weight_grid(data, y.astype(np.int32), 2, costs, np.ones(16))
    np.testing.assert_allclose(grid, [*np.geomspace(2 * 0.05, smallest, 20), 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost_weights": []}, "at least one"),
        ({"cost_weights": 0.1}, "cost_weights"),
        ({"cost_weights": [0.1, -1]}, "cost_weights"),
        ({"cost_weights": [0.1, "a"]}, "cost_weights"),
        ({"budget": -1}, "budget"),
        ({"n_estimators": 1.5}, "n_estimators"),
    ],
)
def test_bad_parameters_of_the_path(parameters, message):
    with pytest.raises(ParameterError, match=message):
        CostSensitiveRFPathClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


KINDS = [
    CostSensitiveRFClassifier(cost_weight=0.02, n_estimators=5, random_state=0),
    CostSensitiveRFClassifier(cost_weight=0.02, n_estimators=5, complementary=True, random_state=0),
    CostSensitiveRFPathClassifier(cost_weights=[0.02], n_estimators=5, random_state=0),
]


@pytest.mark.parametrize("model", KINDS)
def test_no_tree_is_deeper_than_allowed(model, table):
    X, y, *_ = table
    forest = clone(model).set_params(max_depth=2).fit(X, y)
    for tree in getattr(forest, "forests_", [forest])[0].trees_:
        depth = np.zeros(tree.node_count, dtype=int)
        for node in np.flatnonzero(~tree.is_leaf):
            depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
        assert depth.max() == 2
    with pytest.raises(ParameterError, match="max_depth"):
        clone(model).set_params(max_depth=0).fit(X, y)


@pytest.mark.parametrize("model", KINDS)
def test_what_is_missing_says_something(model):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    X = random.normal(size=(400, 3))
    # Only that the second feature is missing tells the class.
    X[y == 1, 1] = np.nan
    X_test, y_test = X[200:], y[200:]
    forest = clone(model).set_params(feature_costs=[1, 2, 1]).fit(X[:200], y[:200])
    np.testing.assert_array_equal(forest.predict(X_test), y_test)
    # Where training lacked none, a gap that is looked at is refused.
    gap = X_test.copy()
    gap[0, 0] = np.nan
    full = clone(model).set_params(cost_weight=0) if hasattr(model, "cost_weight") else clone(model)
    full.fit(np.nan_to_num(X[:200]), X[:200, 0] > 0)
    with pytest.raises(MissingValueError):
        full.predict(gap)
    with pytest.raises(MissingValueError, match="X_val has no value"):
        clone(model).fit(X[:200], y[:200], gap, y_test)


@pytest.mark.parametrize("model", KINDS)
def test_a_class_that_weighs_more_is_predicted_more(model, table):
    X, y, X_test, _ = table
    shares = [
        clone(model).set_params(max_depth=2, class_weight=weight).fit(X, y).predict_proba(X_test)
        for weight in ({0: 1, 1: 1, 2: 1}, {0: 1, 1: 20, 2: 1})
    ]
    assert shares[1][:, 1].mean() > shares[0][:, 1].mean() + 0.2


@pytest.mark.parametrize("kind", [CostSensitiveRFClassifier, CostSensitiveRFPathClassifier])
def test_bad_data(kind):
    with pytest.raises(ParameterError, match="one class"):
        kind().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="is not a finite number"):
        kind().fit([[0.0], [np.inf]], [0, 1])
    with pytest.raises(CostError, match=">= 0"):
        kind(feature_costs=[-1.0]).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(CostError, match="one entry"):
        kind(feature_costs=[1.0, 1.0]).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("complementary", [False, True, "literal"])
def test_a_warm_start_ends_where_a_cold_one_does(table, complementary):
    X, y, X_test, _ = table
    settings = {"cost_weight": 0.05, "complementary": complementary, "random_state": 0}
    settings |= {"feature_costs": COSTS[: X.shape[1]], "max_features": "sqrt"}
    warm = CostSensitiveRFClassifier(n_estimators=3, warm_start=True, **settings).fit(X, y)
    first = warm.trees_
    warm.set_params(n_estimators=7).fit(X, y)
    cold = CostSensitiveRFClassifier(n_estimators=7, **settings).fit(X, y)
    np.testing.assert_array_equal(warm.predict_proba(X_test), cold.predict_proba(X_test))
    np.testing.assert_array_equal(warm.fixed_costs(), cold.fixed_costs())
    assert all(kept is tree for kept, tree in zip(warm.trees_, first, strict=False))


def test_a_warm_start_needs_the_same_rows_and_no_fewer_trees(table):
    X, y, *_ = table
    forest = CostSensitiveRFClassifier(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="at least 3, got 2"):
        forest.set_params(n_estimators=2).fit(X, y)
    forest = CostSensitiveRFClassifier(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="grown on other rows"):
        forest.fit(X[:-1], y[:-1])
