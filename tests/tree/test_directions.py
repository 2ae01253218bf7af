"""`monotonic_cst`: predictions keep the directions, and no split is lost that keeps them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from budgetlearn import (
    BudgetRFClassifier,
    BudgetRFRegressor,
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    CostWeightedRFClassifier,
    RandomForestClassifier,
)
from budgetlearn.budgetrf import Growth, Leaves
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import GrowthRule
from budgetlearn.tree.impurity import Entropy, Gini, ThresholdPairs, Variance
from budgetlearn.validation import ParameterError
from tests.tree.growing import grow_tree

DIRECTIONS = [0, 0, 1, -1, 1]
BY_NAME = {"c": 1, "d": -1, "e": 1}
FEW = {"n_estimators": 8, "random_state": 0}


def table(n=500, gaps=False):
    """Return a table whose columns 2 to 4 have a direction in the mean, but not everywhere."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 5))
    X[:, 4] = X[:, 4] > 0  # zeros and ones are counted together
    truth = X[:, 0] * X[:, 1] + X[:, 2] + 1.5 * np.sin(6 * X[:, 2]) - X[:, 3] + X[:, 4]
    y = truth + rng.normal(0, 0.7, n)
    if gaps:
        X[rng.random(n) < 0.2, 2] = np.nan
    return X, y


def worst(predict, X):
    """Return by how much a prediction goes most against its direction."""
    found, values = 0.0, np.linspace(-1.2, 1.2, 40)
    for column, direction in enumerate(DIRECTIONS):
        if direction:
            rows = np.repeat(X[:40], values.size, axis=0)
            rows[:, column] = np.tile(values, 40)
            steps = np.diff(predict(rows).reshape(40, values.size), axis=1)
            found = max(found, (-direction * steps).max())
    return found


def grown(**growth):
    return Growth(max_depth=6, **growth)


CLASSIFIERS = {
    "random forest": RandomForestClassifier(**FEW),
    "entropy of bins": RandomForestClassifier(criterion="entropy", max_bins=16, **FEW),
    "rfB": CostWeightedRFClassifier(subset="above_mean", **FEW),
    "cost-sensitive": CostSensitiveRFClassifier(complementary=True, **FEW),
    "its random thresholds": CostSensitiveRFClassifier(thresholds="random", **FEW),
    "BudgetRF": BudgetRFClassifier(**FEW),
    "its random stumps": BudgetRFClassifier(growth=grown(thresholds="random"), **FEW),
    "pruned": BudgetRFClassifier(leaves=Leaves(prune=0.3), **FEW),
    "expected": BudgetRFClassifier(growth=grown(impurity="gini", split="expected"), **FEW),
    "reusing": BudgetRFClassifier(growth=grown(reuse_discount=0.3), cost_exponent=1, **FEW),
    "regrown": BudgetRFClassifier(growth=Growth(regrow=8), **FEW),
}
REGRESSORS = {
    "exact": BudgetRFRegressor(**FEW),
    "drawn features": BudgetRFRegressor(growth=grown(max_features=2), **FEW),
    "bins": BudgetRFRegressor(growth=grown(max_bins=16, max_features=3), **FEW),
    "random thresholds": BudgetRFRegressor(growth=grown(thresholds="random"), **FEW),
    "regrown": BudgetRFRegressor(growth=Growth(regrow=8), **FEW),
}


def directed(forest, directions=DIRECTIONS):
    name = "growth__monotonic_cst" if hasattr(forest, "growth") else "monotonic_cst"
    return clone(forest).set_params(**{name: directions})


WITH_GAPS = "BudgetRF", "pruned", "expected", "regrown", "cost-sensitive"


@pytest.mark.parametrize(
    ("name", "gaps"), [*((name, False) for name in CLASSIFIERS), *((n, True) for n in WITH_GAPS)]
)
def test_probabilities_keep_the_directions(name, gaps):
    X, y = table(gaps=gaps)
    labels, forest = np.where(y > 0, "yes", "no"), CLASSIFIERS[name]

    def against(fitted):
        return worst(lambda rows: fitted.predict_proba(rows)[:, 1], X)

    assert against(clone(forest).fit(X, labels)) > 0.05
    kept = directed(forest).fit(X, labels)
    assert against(kept) <= 1e-12
    assert kept.score(X, labels) > 0.6


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_keep_the_directions(name, gaps):
    X, y = table(gaps=gaps)
    # Far from 0, where bounds and centred sums must not be mixed up.
    kept = directed(REGRESSORS[name]).fit(X, y + 1e4)
    assert worst(clone(REGRESSORS[name]).fit(X, y).predict, X) > 0.05
    assert worst(kept.predict, X) <= 1e-8
    assert kept.score(X, y + 1e4) > 0.25


RULES = {
    "minimax": GrowthRule(ThresholdPairs(0), split="minimax", score="risk"),
    "gini": GrowthRule(Gini(), score="risk"),
    "entropy": GrowthRule(Entropy(), score="gain"),
    "variance": GrowthRule(Variance(), score="risk"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RULES)
def test_what_keeps_its_direction_grows_as_if_it_had_none(name, weighted):
    # One column, targets that rise with it: no split is against the direction.
    rng = np.random.default_rng(1)
    x = rng.permutation(np.repeat(np.arange(80.0), 3))[:, None]
    weights = rng.integers(1, 4, len(x)).astype(float) if weighted else np.ones(len(x))
    y = np.floor(x[:, 0] / 9) if name == "variance" else (x[:, 0] > 30).astype(np.int32)
    how = bin_features(x), y, weights, 1 if name == "variance" else 2
    free, kept, against = (
        grow_tree(*how, RULES[name].__class__(**{**vars(RULES[name]), "directions": each}), p, 0)
        for each, p in (
            (None, np.ones(1)),
            (np.ones(1, dtype=np.int8), np.ones(1)),
            (-np.ones(1, dtype=np.int8), np.ones(1)),
        )
    )
    if name == "entropy":  # a price of one bit is never worth it
        free, kept, against = (
            grow_tree(*how, GrowthRule(Entropy(), directions=each), np.zeros(1), 0)
            for each in (None, np.ones(1, dtype=np.int8), -np.ones(1, dtype=np.int8))
        )
    assert free.node_count > 1
    np.testing.assert_array_equal(kept.threshold, free.threshold)
    np.testing.assert_array_equal(kept.value, free.value)
    assert against.node_count == 1


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("seed", range(4))
def test_the_root_is_the_best_split_that_keeps_the_direction(seed, direction):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 3)).round(1), rng.normal(size=150)
    directions = np.full(3, direction, dtype=np.int8)
    rule = GrowthRule(Variance(), score="risk", max_depth=1, directions=directions)
    tree = grow_tree(bin_features(X), y, np.ones(150), 1, rule, np.ones(3), 0)
    best = 0.0
    for x in X.T:
        for border in np.unique(x)[:-1]:
            low, high = y[x <= border], y[x > border]
            if direction * (high.mean() - low.mean()) >= 0:
                best = max(best, low.size * high.size * (high.mean() - low.mean()) ** 2)
    (low, high), sizes = tree.value[1:, 0], tree.n_node_samples[1:]
    assert direction * (high - low) > 0
    assert np.prod(sizes, dtype=float) * (high - low) ** 2 == pytest.approx(best)


def test_directions_by_name():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    by_name = directed(RandomForestClassifier(**FEW), BY_NAME).fit(frame, y > 0)
    in_order = directed(RandomForestClassifier(**FEW)).fit(X, y > 0)
    np.testing.assert_array_equal(by_name.predict_proba(frame), in_order.predict_proba(X))


def test_a_path_of_forests_keeps_the_directions():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    for given, rows in ((DIRECTIONS, X), (BY_NAME, frame)):
        path = CostSensitiveRFPathClassifier(cost_weights=[0.0, 0.01], monotonic_cst=given, **FEW)
        path.fit(rows[:300], y[:300] > 0, rows[300:], y[300:] > 0)
        last = path.forests_[-1]  # of arrays
        assert worst(lambda rows, last=last: last.predict_proba(rows)[:, 1], X) <= 1e-12


@pytest.mark.parametrize(
    ("forest", "message"),
    [
        (directed(RandomForestClassifier(**FEW), [1, 0]), "for each of 5 features"),
        (directed(RandomForestClassifier(**FEW), [2, 0, 0, 0, 0]), "must hold 1, -1 or 0"),
        (directed(RandomForestClassifier(**FEW), {"z": 1}), "unknown features: z"),
        (directed(BudgetRFClassifier(leaves=Leaves(joint_fit=10), **FEW)), "leaves.joint_fit"),
        (directed(BudgetRFClassifier(leaves=Leaves(voting="counts"), **FEW)), "leaves.voting"),
    ],
)
def test_what_cannot_be_kept_is_refused(forest, message):
    X, y = table(60)
    with pytest.raises(ParameterError, match=message):
        forest.fit(X, y > 0)


def test_three_classes_have_no_direction():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ParameterError, match="got 3 classes"):
        directed(RandomForestClassifier(**FEW), [1] + 12 * [0]).fit(X, y)


def test_forbidden_thresholds_of_a_sample_rule_out_no_allowed_ones():
    # Below .9 the classes part well, the wrong way; above it they part worse, the right way.
    rng = np.random.default_rng(0)
    x = rng.permutation(np.linspace(0, 1, 3000))[:, None]
    y = ((x[:, 0] < 0.45) | (x[:, 0] > 0.9)).astype(np.int32)
    rule = GrowthRule(
        ThresholdPairs(0),
        split="minimax",
        score="risk",
        thresholds="random",
        max_depth=1,
        directions=np.ones(1, dtype=np.int8),
    )
    data = bin_features(x)
    trees = [grow_tree(data, y, np.ones(3000), 2, rule, np.ones(1), seed) for seed in range(10)]
    assert all(tree.node_count == 3 and tree.threshold[0] > 0.8 for tree in trees)
