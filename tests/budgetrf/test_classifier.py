"""BudgetRF: the paper's example, its budget, its charges, and scikit-learn's contract."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file, make_classification

from budgetlearn.budgetrf import BudgetRFClassifier, Growth, Leaves
from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import BudgetError
from budgetlearn.tree.impurity import Powers
from budgetlearn.validation import ParameterError
from tests.looping import check_conventions
from tests.tree.reference import walk_forest


def test_estimator_checks():
    leaves = Leaves(prune=1.0, joint_fit=[1.0, 10.0])
    check_conventions(BudgetRFClassifier(n_estimators=3, alpha=[0.0, 2.0], leaves=leaves))


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        900, 12, n_informative=6, n_classes=3, flip_y=0.02, class_sep=1.5, random_state=0
    )
    return X[:500], y[:500], X[500:700], y[500:700], X[700:], y[700:]


def figure_1():
    """Examples 0 to 1023 as bits; each quarter has one example of the next quarter's class."""
    numbers = np.arange(1024)
    bits = (numbers[:, None] >> np.arange(9, -1, -1)) & 1
    quarter = numbers // 256
    return bits.astype(float), np.where(numbers % 256 == 0, (quarter + 1) % 4, quarter) + 1


@pytest.mark.parametrize(("alpha", "errors", "cost"), [(1.0, 4, 2), (0.0, 0, 10)])
@pytest.mark.parametrize("ties", ["random", "first"])
def test_figures_1_and_2(ties, alpha, errors, cost):
    X, y = figure_1()
    tree = BudgetRFClassifier(
        n_estimators=1, growth=Growth(bootstrap=False, ties=ties), alpha=alpha, random_state=0
    ).fit(X, y)
    assert (tree.predict(X) != y).sum() == errors
    assert tree.acquisition_cost(X).max() == cost
    assert tree.acquired_features(X)[:, :2].all()


def test_charged_for_the_union_of_all_paths(table):
    X, y, _, _, X_test, _ = table
    costs = FeatureCosts(np.arange(12.0), groups=[0] * 4 + [1] * 4 + [-1] * 4, group_costs=[5, 7])
    forest = BudgetRFClassifier(feature_costs=costs, n_estimators=7, alpha=3.0, random_state=0).fit(
        X, y
    )
    values, votes, _, acquired = walk_forest(forest.trees_, X_test)
    np.testing.assert_array_equal(forest.acquired_features(X_test), acquired)
    np.testing.assert_allclose(forest.acquisition_cost(X_test), costs.total(acquired))
    np.testing.assert_array_equal(forest.predict(X_test), votes.argmax(axis=1))
    np.testing.assert_allclose(forest.predict_proba(X_test), votes / 7)
    forest.set_params(leaves__voting="counts").fit(X, y)
    np.testing.assert_array_equal(forest.predict(X_test), values.argmax(axis=1))
    np.testing.assert_allclose(
        forest.predict_proba(X_test), values / values.sum(axis=1, keepdims=True)
    )


def test_stages_are_the_prefixes(table):
    X, y, _, _, X_test, _ = table
    forest = BudgetRFClassifier(n_estimators=6, random_state=0).fit(X, y)
    stages = zip(
        forest.staged_predict(X_test), forest.staged_acquired_features(X_test), strict=True
    )
    for n_trees, (predicted, acquired) in enumerate(stages, start=1):
        _, votes, _, expected = walk_forest(forest.trees_[:n_trees], X_test)
        np.testing.assert_array_equal(predicted, votes.argmax(axis=1))
        np.testing.assert_array_equal(acquired, expected)
    assert n_trees == 6


@pytest.mark.parametrize("ties", ["random", "first"])
def test_n_jobs_does_not_matter(table, ties):
    X, y, X_val, y_val, *_ = table
    one, two = (
        BudgetRFClassifier(
            budget=5,
            alpha=[2, 5],
            growth=Growth(ties=ties),
            n_estimators=12,
            n_jobs=n_jobs,
            random_state=3,
        ).fit(X, y, X_val, y_val)
        for n_jobs in (1, 2)
    )
    assert one.alpha_ == two.alpha_
    assert len(one.trees_) == len(two.trees_)
    np.testing.assert_array_equal(one.validation_costs_, two.validation_costs_)
    for first, second in zip(one.trees_, two.trees_, strict=True):
        np.testing.assert_array_equal(first.threshold, second.threshold)


def test_the_budget_holds_and_the_next_tree_breaks_it(table):
    X, y, X_val, y_val, _, _ = table
    settings = {"alpha": 5.0, "n_estimators": 30, "random_state": 0}
    free = BudgetRFClassifier(**settings).fit(X, y, X_val, y_val)
    budget = 7.0
    forest = BudgetRFClassifier(budget=budget, **settings).fit(X, y, X_val, y_val)
    n_trees = len(forest.trees_)
    assert 1 < n_trees < 30
    assert forest.acquisition_cost(X_val).mean() == pytest.approx(forest.validation_costs_[-1])
    assert forest.validation_costs_[-1] <= budget < free.validation_costs_[n_trees]
    np.testing.assert_array_equal(forest.validation_costs_, free.validation_costs_[:n_trees])
    errors = [(stage != y_val).mean() for stage in forest.staged_predict(X_val)]
    np.testing.assert_allclose(forest.validation_errors_, errors)


def test_alpha_is_the_best_affordable_one(table):
    X, y, X_val, y_val, _, _ = table
    alphas, settings = [0.0, 4.0, 15.0, 400.0], {"budget": 6.0, "random_state": 0}
    errors = {}
    for alpha in alphas:
        try:
            one = BudgetRFClassifier(alpha=alpha, **settings).fit(X, y, X_val, y_val)
        except BudgetError:
            continue
        errors[alpha] = one.validation_errors_[-1]
    chosen = BudgetRFClassifier(alpha=alphas, **settings).fit(X, y, X_val, y_val)
    assert chosen.validation_errors_[-1] == min(errors.values()) == errors[chosen.alpha_]


def test_a_budget_below_the_first_tree_is_refused(table):
    X, y, X_val, y_val, _, _ = table
    with pytest.raises(BudgetError, match="No first tree costs at most") as caught:
        BudgetRFClassifier(budget=0.5, random_state=0).fit(X, y, X_val, y_val)
    one = BudgetRFClassifier(n_estimators=1, random_state=0).fit(X, y, X_val, y_val)
    assert caught.value.cheapest == one.validation_costs_[0]
    BudgetRFClassifier(budget=caught.value.cheapest, random_state=0).fit(X, y, X_val, y_val)


def test_validation_data_are_held_out_where_needed(table):
    X, y, *_ = table
    assert BudgetRFClassifier(n_estimators=2).fit(X, y).validation_costs_ is None
    forest = BudgetRFClassifier(budget=9, n_estimators=3, validation_fraction=0.2).fit(X, y)
    assert forest.trees_[0].value[0].sum() == pytest.approx(400, abs=2)  # rounded in each class
    assert forest.validation_costs_.size == len(forest.trees_)


def test_unseen_validation_classes_count_as_errors(table):
    X, y, *_ = table
    forest = BudgetRFClassifier(n_estimators=3, random_state=0)
    forest.fit(X, y, X[:50], np.where(np.arange(50) < 20, 77, y[:50]))
    known = (forest.validation_errors_ * 50 - 20) / 30
    assert (known >= 0).all()
    assert (known < 0.3).all()


def test_expensive_features_are_avoided():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    cheap = y[:, None] + rng.normal(scale=0.2, size=(400, 1))
    X = np.hstack([cheap, cheap, rng.normal(size=(400, 2))])
    forest = BudgetRFClassifier(
        feature_costs=[50.0, 1.0, 1.0, 1.0], n_estimators=5, random_state=0
    ).fit(X, y)
    acquired = forest.acquired_features(X)
    assert not acquired[:, 0].any()
    assert acquired[:, 1].all()


def test_free_features_and_constant_features():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = np.c_[y + rng.normal(scale=0.8, size=300), np.zeros(300), y + rng.normal(size=300)]
    forest = BudgetRFClassifier(feature_costs=[0.0, 1.0, 5.0], n_estimators=5, random_state=0).fit(
        X, y
    )
    assert forest.acquired_features(X)[:, 0].all()
    assert not forest.acquired_features(X)[:, 1].any()
    assert (forest.acquisition_cost(X) <= 5).all()


def test_only_constant_features_make_a_lone_leaf():
    forest = BudgetRFClassifier(n_estimators=2).fit(np.ones((6, 2)), [0, 0, 0, 0, 0, 1])
    assert [tree.node_count for tree in forest.trees_] == [1, 1]
    assert (forest.acquisition_cost(np.ones((2, 2))) == 0).all()


def test_a_class_of_one_example():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.r_[np.zeros(15), np.ones(14), 2]
    forest = BudgetRFClassifier(budget=3, n_estimators=3, random_state=0).fit(X, y)
    assert forest.predict_proba(X).shape == (30, 3)


@pytest.fixture(scope="module")
def plain(table):
    return BudgetRFClassifier(n_estimators=20, random_state=0).fit(*table[:2])


@pytest.mark.parametrize(
    ("parameters", "accuracy"),
    [  # .03 below the worst of four seeds
        ({"growth__impurity": "powers"}, 0.84),
        ({"growth__impurity": Powers(4)}, 0.845),
        ({"growth__impurity": "polynomial"}, 0.85),
        ({"growth__impurity": "gini", "growth__split": "expected"}, 0.845),
        ({"growth__impurity": "entropy", "growth__split": "expected"}, 0.845),
        ({"growth__split": "expected", "alpha": 2}, 0.8),
        ({"growth__thresholds": "random"}, 0.855),
        ({"growth__max_features": "sqrt"}, 0.86),
        ({"growth__max_bins": 255}, 0.84),
        ({"growth__max_depth": 4, "growth__bootstrap": False}, 0.755),
        ({"growth__max_depth": 4}, 0.8),
        ({"growth__bootstrap": False}, 0.8),
        ({"growth__split": "expected"}, 0.845),
        ({"alpha": 2}, 0.78),
    ],
)
def test_options_learn_and_change_the_trees(table, plain, parameters, accuracy):
    X, y, _, _, X_test, y_test = table
    forest = BudgetRFClassifier(n_estimators=20, random_state=0)
    forest.set_params(**parameters).fit(X, y)
    assert forest.score(X_test, y_test) > accuracy
    assert not np.array_equal(forest.predict_proba(X_test), plain.predict_proba(X_test))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": -1}, "budget"),
        ({"n_estimators": 1.5}, "n_estimators"),
        ({"alpha": []}, "alpha must be a list of at least one number"),
        ({"alpha": [0, -1]}, "alpha"),
        ({"alpha": 2, "growth__impurity": "powers"}, "threshold_pairs"),
        ({"growth__impurity": "gini"}, "admissible"),
        ({"growth__impurity": np.array(["mse", "gini"])}, "impurity"),
        ({"growth__split": "best"}, "split"),
        ({"growth__thresholds": "some"}, "thresholds"),
        ({"growth__ties": "last"}, "ties"),
        ({"leaves__voting": np.array(["soft", "counts"])}, "voting"),
        ({"growth__max_bins": 1}, "max_bins"),
        ({"growth__max_depth": 0}, "max_depth"),
        ({"budget": 5, "validation_fraction": 0}, "validation_fraction"),
    ],
)
def test_bad_parameters(table, parameters, message):
    X, y, *_ = table
    with pytest.raises(ParameterError, match=message):
        BudgetRFClassifier().set_params(**parameters).fit(X, y)


def test_bad_data(table):
    X, y, X_val, y_val, _, _ = table
    broken = X.copy()
    broken[3, 2] = np.inf
    with pytest.raises(ValueError, match="is not a finite number"):
        BudgetRFClassifier().fit(broken, y)
    with pytest.raises(ValueError, match="NaN"):
        BudgetRFClassifier().fit(X, y, np.full_like(X_val, np.nan), y_val)
    with pytest.raises(ParameterError, match="belong together"):
        BudgetRFClassifier().fit(X, y, X_val)
    with pytest.raises(ValueError, match="12 features"):
        BudgetRFClassifier().fit(X, y, X_val[:, :3], y_val)
    with pytest.raises(ParameterError, match="one class"):
        BudgetRFClassifier().fit(X, np.ones(500))


def test_miniboone_agrees_with_the_authors_code(data_dir):
    """Mean of 3 seeds, unit costs, α = 0: 1 tree .159 @ 5.3 features, 40 trees .094 @ 34.3."""
    (X, y), (X_test, y_test) = (
        load_svmlight_file(data_dir / "miniboone_tiny" / f"mbne_tiny_{part}", n_features=50)
        for part in ("tr", "te")
    )
    X, X_test = X.toarray(), X_test.toarray()
    results = []
    for seed in range(3):
        forest = BudgetRFClassifier(growth=Growth(ties="first"), random_state=seed).fit(X, y)
        stages = zip(
            forest.staged_predict(X_test), forest.staged_acquired_features(X_test), strict=True
        )
        stages = list(itertools.islice(stages, 40))
        results.append(
            [
                (np.mean(stages[n - 1][0] != y_test), stages[n - 1][1].sum(axis=1).mean())
                for n in (1, 40)
            ]
        )
    (first_error, first_cost), (error, cost) = np.mean(results, axis=0)
    assert first_error == pytest.approx(0.16, abs=0.02)
    assert first_cost == pytest.approx(5.3, abs=0.5)
    assert error == pytest.approx(0.094, abs=0.01)
    assert cost == pytest.approx(34.3, abs=2)


@pytest.mark.usefixtures("quick_scores")
def test_alphas_are_compared_by_what_scoring_names():
    X, y = make_classification(600, 8, n_informative=3, weights=[0.9], flip_y=0.1, random_state=0)
    parts, alphas = (X[:300], y[:300], X[300:], y[300:]), [0, 4, 16, 64]
    shared = {"n_estimators": 5, "scoring": "balanced_accuracy", "random_state": 0}
    chosen = BudgetRFClassifier(alpha=alphas, **shared).fit(*parts)
    scores = {
        alpha: BudgetRFClassifier(alpha=alpha, **shared).fit(*parts).score(*parts[2:])
        for alpha in alphas
    }
    assert scores[chosen.alpha_] == max(scores.values()) > min(scores.values())
    assert chosen.operating_points_["score"].iloc[-1] == scores[chosen.alpha_]
    by_accuracy = BudgetRFClassifier(alpha=alphas, **shared | {"scoring": None}).fit(*parts)
    assert by_accuracy.alpha_ != chosen.alpha_


def test_codes_in_a_file_grow_the_same_forest(table, tmp_path):
    X, y, *_ = table
    forests = [
        BudgetRFClassifier(n_estimators=3, growth=Growth(codes_folder=folder), random_state=0).fit(
            X, y
        )
        for folder in (None, tmp_path)
    ]
    for ours, other in zip(*(forest.trees_ for forest in forests), strict=True):
        np.testing.assert_array_equal(ours.threshold, other.threshold)
        np.testing.assert_array_equal(ours.value, other.value)
    with pytest.raises(FileNotFoundError):
        BudgetRFClassifier(growth=Growth(codes_folder=tmp_path / "none")).fit(X, y)
    # A number would be the descriptor of an open file, as 1 is that of the output.
    with pytest.raises(ParameterError, match=r"growth\.codes_folder must be a path or None, got 1"):
        BudgetRFClassifier(growth=Growth(codes_folder=1)).fit(X, y)
