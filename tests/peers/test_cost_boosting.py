"""Boosting with prices: LightGBM's own model, paths that acquire more and more, alike charges."""

import lightgbm
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.peers import (
    GreedyMiserClassifier,
    LightGBMCostClassifier,
    LightGBMCostRegressor,
)
from tests.looping import check_conventions
from tests.peers.reference import greedy_miser_tree
from tests.tree.reference import walk_forest

PATHS = [
    LightGBMCostClassifier(penalty="coupled", cost_weights=(3, 0.1, 0), n_trees=(5, 20)),
    LightGBMCostClassifier(penalty="lazy", cost_weights=(3, 0.1, 0), n_trees=(5, 20)),
    GreedyMiserClassifier(cost_weights=(3, 0.1, 0), n_trees=(5, 20)),
]
every_path = pytest.mark.parametrize("path", PATHS, ids=["coupled", "lazy", "greedy miser"])


@pytest.mark.parametrize("estimator", [*PATHS[1:], LightGBMCostRegressor()], ids=type)
def test_scikit_learn_conventions(estimator):
    check_conventions(clone(estimator).set_params(n_trees=(2, 5)))


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


PRICES = np.random.default_rng(0).integers(1, 101, 30).astype(float)


def fitted(path, table, **parameters):
    X, y = table
    parameters = {"feature_costs": PRICES[: X.shape[1]], **parameters}
    return type(path)(**{**path.get_params(), **parameters}).fit(X, y)


def lightgbm_itself(table, penalty, tradeoff, rounds):
    """Train LightGBM as its users would, with the penalties that the class documents."""
    X, y = table
    K = np.unique(y).size
    share = PRICES[: X.shape[1]] / PRICES[: X.shape[1]].sum()
    parameters = {
        "objective": "multiclass" if K > 2 else "binary",
        "num_class": K if K > 2 else 1,
        "learning_rate": 0.2,
        "num_leaves": 8,
        "min_data_in_leaf": 5,
        "cegb_tradeoff": tradeoff,
        f"cegb_penalty_feature_{penalty}": list(share * (len(X) if penalty == "coupled" else 1)),
        "verbose": -1,
        "num_threads": 1,
    }
    return lightgbm.train(parameters, lightgbm.Dataset(X, y), rounds)


@pytest.mark.parametrize("penalty", ["coupled", "lazy"])
@pytest.mark.parametrize("table", ["wine", "cancer"])
def test_stages_are_the_models_of_lightgbm(request, table, penalty):
    table = request.getfixturevalue(table)
    model = fitted(PATHS[0], table, penalty=penalty)
    X, _ = table
    assert model.stage_settings_[1] == {"tradeoff": 3, "trees": 20}
    stages = zip(
        model.stage_settings_, model.staged_predict(X), model.staged_predict_proba(X), strict=True
    )
    for setting, predicted, shares in stages:
        booster = lightgbm_itself(table, penalty, setting["tradeoff"], setting["trees"])
        own = booster.predict(X)
        own = own if own.ndim == 2 else np.c_[1 - own, own]
        # LightGBM adds up in its own order: equal but for rounding.
        np.testing.assert_allclose(shares, own, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(predicted, own.argmax(axis=1))
    np.testing.assert_array_equal(model.predict_proba(X), shares)


@pytest.mark.parametrize("penalty", ["coupled", "lazy"])
def test_numbers_are_those_of_lightgbm_in_standard_deviations(penalty):
    X, y = load_diabetes(return_X_y=True)
    paths = {"cost_weights": (1, 0.1), "n_trees": (5, 20), "penalty": penalty}
    model = fitted(LightGBMCostRegressor(), (X, y), **paths)
    share = PRICES[:10] / PRICES[:10].sum()
    own = {
        "objective": "regression",
        "learning_rate": 0.2,
        "num_leaves": 8,
        "min_data_in_leaf": 5,
        f"cegb_penalty_feature_{penalty}": list(share * (442 if penalty == "coupled" else 1)),
        "verbose": -1,
    }
    for setting, predicted in zip(model.stage_settings_, model.staged_predict(X), strict=True):
        data = lightgbm.Dataset(X, (y - y.mean()) / y.std())
        own["cegb_tradeoff"] = setting["tradeoff"]
        booster = lightgbm.train(own, data, setting["trees"])
        np.testing.assert_allclose(predicted, y.mean() + y.std() * booster.predict(X), rtol=1e-6)
    costs = [model.feature_costs_.total(a).mean() for a in model.staged_acquired_features(X)]
    assert 0 < costs[0] < costs[-1] < PRICES[:10].sum()


def test_the_unit_of_the_targets_does_not_matter():
    X, y = load_diabetes(return_X_y=True)
    model = fitted(LightGBMCostRegressor(), (X, y))
    for scale, origin in ((1e-200, 0.0), (1.0, 1e9), (1e150, -1e150)):
        other = fitted(LightGBMCostRegressor(), (X, scale * y + origin))
        np.testing.assert_array_equal(other.acquired_features(X), model.acquired_features(X))
        away = (other.predict(X) - origin) / scale
        np.testing.assert_allclose(away, model.predict(X), rtol=1e-6)
    assert (fitted(LightGBMCostRegressor(), (X, np.full(442, 7.0))).predict(X) == 7).all()


@every_path
@pytest.mark.parametrize("table", ["wine", "cancer"])
def test_scores_and_charges_are_those_of_the_paths(request, path, table):
    X, y = request.getfixturevalue(table)
    model = fitted(path, (X, y), cost_weights=(1,), n_trees=(2, 4))
    scores, _, _, acquired = walk_forest(model.trees_, X)
    best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])
    np.testing.assert_array_equal(model.acquired_features(X), acquired)
    np.testing.assert_allclose(model.acquisition_cost(X), acquired @ PRICES[: X.shape[1]])
    assert [stage.nodes for stage in model.stages(X)][-1] == sum(
        tree.node_count for tree in model.trees_
    )


@every_path
def test_a_smaller_tradeoff_acquires_more(path, cancer):
    X, _ = cancer
    model = fitted(path, cancer, cost_weights=(1e4, 3, 0.1, 0), n_trees=(20,))
    costs = [model.feature_costs_.total(a).mean() for a in model.staged_acquired_features(X)]
    assert costs[0] == 0
    assert costs == sorted(costs)
    assert costs[1] < costs[2] < costs[3]
    first = next(model.staged_predict(X))
    assert np.unique(first).tolist() == [1]  # the larger class


@every_path
def test_more_trees_acquire_no_less(path, cancer):
    X, _ = cancer
    model = fitted(path, cancer)
    few, many = list(model.staged_acquired_features(X))[2:4]
    assert (few <= many).all()
    sizes = [stage.nodes for stage in model.stages(X)]
    assert sizes[2] < sizes[3]


@every_path
def test_the_unit_of_prices_does_not_matter(path, wine):
    X, _ = wine
    cents = fitted(path, wine, feature_costs=100 * PRICES[:13])
    for a, b in zip(
        cents.staged_acquired_features(X),
        fitted(path, wine).staged_acquired_features(X),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@every_path
def test_free_features_are_all_alike(path, wine):
    X, _ = wine
    model = fitted(path, wine, feature_costs=np.zeros(13))
    assert (model.acquisition_cost(X) == 0).all()
    stages = list(model.staged_acquired_features(X))
    np.testing.assert_array_equal(stages[1], stages[5])  # the largest and the least tradeoff


@every_path
def test_groups_are_penalised_whole_and_charged_once(path, wine):
    X, _ = wine
    costs = FeatureCosts(np.ones(13), groups=[0] * 6 + [-1] * 7, group_costs=[50])
    model = fitted(path, wine, feature_costs=costs)
    cheap = list(model.staged_acquired_features(X))[1]
    assert not cheap[:, :6].any()
    assert model.acquisition_cost(X).max() <= costs.full


@every_path
def test_threads_change_nothing(path, cancer):
    X, _ = cancer
    one, two = (fitted(path, cancer, n_jobs=n_jobs) for n_jobs in (1, 2))
    for a, b in zip(one._models, two._models, strict=True):
        walks = (
            model.forest.walk(X, trees=(0, model.n_trees), values=True, n_jobs=n_jobs).values
            for model, n_jobs in ((a, 1), (b, 2))
        )
        np.testing.assert_array_equal(*walks)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost_weights": ()}, "cost_weights must be a list of at least one number"),
        ({"cost_weights": (0.1, 1)}, "cost_weights must be one or more decreasing"),
        ({"cost_weights": (-1,)}, "cost_weights"),
        ({"n_trees": (5, 5)}, "n_trees"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"penalty": "split"}, "penalty must be one of"),
        ({"num_leaves": 1}, "num_leaves"),
        ({"min_child_samples": 0}, "min_child_samples"),
        ({"feature_costs": [1, 2]}, "13"),
    ],
)
def test_bad_parameters_are_refused(wine, parameters, message):
    with pytest.raises(BudgetlearnError, match=message):
        fitted(PATHS[0], wine, **parameters)


def test_a_depth_beyond_any_tree_is_refused(wine):
    with pytest.raises(BudgetlearnError, match="max_depth"):
        fitted(PATHS[2], wine, max_depth=17)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tradeoff", [1.0, 0.3, 0.1, 0.03, 0])
def test_greedy_miser_grows_the_trees_of_its_definition(tradeoff, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=120) > 0).astype(int)
    prices = rng.integers(1, 101, 6).astype(float)
    model = GreedyMiserClassifier(
        feature_costs=prices,
        cost_weights=(tradeoff,),
        n_trees=(1, 3),
        learning_rate=0.5,
        max_depth=3,
    ).fit(X, y)
    penalties = tradeoff * 120 * prices / prices.sum()
    target, scores, owned = np.where(y == 1, 1.0, -1.0), np.zeros(120), set()
    sums = []
    for _ in range(3):
        scores = scores + 0.5 * greedy_miser_tree(X, target - scores, penalties, owned, 3)
        sums.append(scores)
    np.testing.assert_allclose(walk_forest(model.trees_, X)[0][:, 0], sums[2], atol=1e-9)
    np.testing.assert_allclose(walk_forest(model.trees_[:1], X)[0][:, 0], sums[0], atol=1e-9)
    assert {feature for tree in model.trees_ for feature in tree.feature if feature >= 0} == owned


def test_greedy_miser_splits_codes_that_stand_for_several_values():
    X = np.arange(1000.0)[:, None]
    y = (X[:, 0] > 499.5).astype(int)
    model = GreedyMiserClassifier(n_trees=(1,), cost_weights=(0,), max_depth=1).fit(X, y)
    wrong = model.predict(X) != y
    assert 0 < wrong.mean() <= 1 / 255 or not wrong.any()
    assert model.trees_[0].node_count == 3


def test_greedy_miser_pays_the_charge_of_a_group_once():
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] + 0.2 * X[:, 2] > 0).astype(int)
    costs = FeatureCosts([1, 1, 50], groups=[0, 0, -1], group_costs=[40])
    # Stumps: once one member is bought, only the price of the other one keeps it out.
    parameters = {"cost_weights": (0.5,), "n_trees": (1, 10), "max_depth": 1}
    model = GreedyMiserClassifier(feature_costs=costs, **parameters).fit(X, y)
    few, many = (acquired.any(axis=0).tolist() for acquired in model.staged_acquired_features(X))
    assert sum(few[:2]) == 1
    assert many == [True, True, False]
