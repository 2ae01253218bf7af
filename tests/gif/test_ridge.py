"""Ridge regression on the nodes of a forest, and pruning by it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import cho_factor
from scipy.sparse import csc_array
from scipy.special import softmax
from sklearn.datasets import load_wine, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.utils import get_tags

from budgetlearn.gif import GIFClassifier, GIFRegressor, fitting, pruning
from budgetlearn.gif import weights as logit
from budgetlearn.gif import weights as ridge
from budgetlearn.gif.pruning import SIZES
from budgetlearn.gif.weights import NodeLogit, NodeRidge
from budgetlearn.testing import check_budgeted_estimator
from budgetlearn.validation import ParameterError
from tests.gif.test_estimators import reached
from tests.looping import check_conventions

SHAPES = {"one equation an example": (30, 50), "one equation a node": (50, 30)}


def problem(n_samples, n_nodes):
    random = np.random.default_rng(0)
    Z = random.random((n_samples, n_nodes)) < 0.3
    Y = random.normal(3, 1, (n_samples, 2))
    return csc_array(Z.astype(np.float64)), Y, random.integers(1, 4, n_samples).astype(float)


@pytest.mark.parametrize("largest", [0, 3000])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_scikit_learn(monkeypatch, shape, largest, weighted):
    monkeypatch.setattr(NodeRidge, "largest_dense", largest)
    monkeypatch.setattr(ridge, "TOLERANCE", 1e-12)
    Z, Y, weight = problem(*shape)
    weight = weight if weighted else None
    fitted = NodeRidge(Z, Y, weight)
    kept = np.arange(shape[1]) % 3 > 0
    for _ in range(2):
        peer = Ridge(0.7).fit(Z.toarray(), Y, weight)
        weights, intercept = fitted.solve(0.7)
        np.testing.assert_allclose(weights, peer.coef_.T, atol=1e-6)
        np.testing.assert_allclose(intercept, peer.intercept_, atol=1e-6)
        solutions, _ = fitted.path([3.0, 0.7])
        np.testing.assert_allclose(solutions[1][0], peer.coef_.T, atol=1e-6)
        fitted.keep(kept)
        Z = Z[:, kept]
        kept = np.arange(Z.shape[1]) % 4 > 0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_logistic_weights_are_those_of_scikit_learn(monkeypatch, shape, n_classes):
    monkeypatch.setattr(logit, "STEPS", 400)
    Z, Y, weight = problem(*shape)
    y = np.arange(len(Y)) % n_classes
    weights, intercept = NodeLogit(Z, np.eye(n_classes)[y], weight).solve(0.7)
    # With two classes scikit-learn has one column of weights, the difference of ours.
    peer = LogisticRegression(C={2: 4, 3: 2}[n_classes] / 0.7, tol=1e-8, max_iter=1000)
    expected = peer.fit(Z.toarray(), y, weight).predict_proba(Z.toarray())
    np.testing.assert_allclose(softmax(Z @ weights + intercept, axis=1), expected, atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_generalised_cross_validation(shape):
    Z, Y, _ = problem(*shape)
    penalties = [0.1, 10.0]
    _, scores = NodeRidge(Z, Y).path(penalties)
    n_samples = shape[0]
    for penalty, score in zip(penalties, scores, strict=True):
        fits = np.eye(n_samples)  # the hat matrix, column by column
        hat = Ridge(penalty).fit(Z.toarray(), fits).predict(Z.toarray())
        rest = np.square(Y - hat @ Y).sum()
        assert score == pytest.approx(rest / (n_samples - np.trace(hat)) ** 2)


def test_cross_validation_by_a_probe_orders_the_penalties(monkeypatch):
    Z, Y, _ = problem(400, 60)
    Y[:] = Z[:, :10] @ np.ones((10, 2)) + np.random.default_rng(1).normal(0, 1, Y.shape)
    penalties = [1e-3, 10.0, 1e4]
    _, exact = NodeRidge(Z, Y).path(penalties)
    monkeypatch.setattr(NodeRidge, "largest_dense", 0)
    _, probed = NodeRidge(Z, Y).path(penalties)
    np.testing.assert_allclose(probed, exact, rtol=0.1)
    assert np.argmin(probed) == np.argmin(exact) == 1


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(1200, noise=1.0, random_state=0)
    return X[:200], y[:200], X[200:], y[200:]


def test_pruned_forest_is_ridge_regression_on_its_own_nodes(friedman):
    X, y, X_test, _ = friedman
    options = {"n_estimators": 20, "joint_fit": "ridge", "prune_factor": 4, "random_state": 0}
    model = GIFRegressor(61, ridge=0.2, **options).fit(X, 1000 * y)
    assert 59 <= model.n_nodes_ <= 61
    train, test = [], []
    for tree in model.trees_:
        at, at_test = reached(tree, X), reached(tree, X_test)
        for node in range(1, tree.node_count):
            parent = np.flatnonzero(
                (tree.children_left == node) | (tree.children_right == node)
            ).item()
            if (tree.value[node] != tree.value[parent]).any():
                train.append(np.isin(np.arange(len(X)), at[node]))
                test.append(np.isin(np.arange(len(X_test)), at_test[node]))
    train, test = np.array(train, dtype=float).T, np.array(test, dtype=float).T
    assert train.shape[1] == model.n_nodes_ - len(model.trees_)
    peer = Ridge(0.2 * train.sum(axis=1).mean()).fit(train, 1000 * y)
    np.testing.assert_allclose(model.predict(X_test), peer.predict(test))


@pytest.mark.parametrize("kind", ["ridge", "logistic"])
def test_of_large_tables_a_sample_tells_what_is_dropped(monkeypatch, kind):
    X, y = make_friedman1(900, noise=1.0, random_state=0)
    y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    options = {"n_estimators": 20, "joint_fit": kind, "prune_factor": 6, "random_state": 0}

    def fitted():
        return GIFClassifier(60, **options).fit(X[:600], y[:600])

    by_all = fitted()
    monkeypatch.setattr(pruning, "MOST_ROWS", 500)
    monkeypatch.setattr(pruning, "MOST_PAIRS", 600 * 400)
    monkeypatch.setattr(pruning, "LEAST_JUDGES", 100)
    model = fitted()
    assert all(58 <= each.n_nodes_ <= 60 for each in (model, by_all))
    thresholds = [np.concatenate([tree.threshold for tree in m.trees_]) for m in (model, by_all)]
    assert not np.array_equal(*thresholds)
    assert model.score(X[600:], y[600:]) > by_all.score(X[600:], y[600:]) - 0.08
    # All rows fit the last weights.
    records = []
    regress = fitting.REGRESSIONS[kind]

    def recorded(matrix, targets, weight, share):
        records.append((matrix.shape, share))
        return regress(matrix, targets, weight, share=share)

    monkeypatch.setitem(fitting.REGRESSIONS, kind, recorded)
    fitted()
    assert [share for _, share in records] == [pytest.approx(2 / 3), 1.0]
    assert records[0][0][0] == 400
    assert records[1][0][0] == 600


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_share_of_the_rows_is_shrunk_as_all_are(shape, weighted):
    # Each row three times is the whole of which one copy is a third.
    Z, Y, weight = problem(*shape)
    weight = weight if weighted else None
    tripled = csc_array(np.tile(Z.toarray(), (3, 1))), np.tile(Y, (3, 1))
    whole = NodeRidge(*tripled, np.tile(weight, 3) if weighted else None)
    part = NodeRidge(Z, Y, weight, share=1 / 3)
    for found, expected in zip(part.solve(part.scale), whole.solve(whole.scale), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_rounding_does_not_choose_among_leaves_of_the_same_examples():
    # Two pairs of nodes with the same examples: in theory their weights are equal.
    ids = np.arange(4)
    nodes = SimpleNamespace(ids=ids, parent=np.full(4, -1), tree=ids)
    for rounding in (1e-15, -1e-15):
        weights = np.array([[0.3], [0.3 + rounding], [0.1 + rounding], [0.1]])
        stays = pruning._without_small_leaves(nodes, ids, weights, np.ones(4), excess=2)
        assert stays.tolist() == [True, True, False, True]


def test_pruning_beats_growing_at_the_same_small_budget(friedman):
    X, y, X_test, y_test = friedman

    def error(**options):
        model = GIFRegressor(100, n_estimators="auto", random_state=0, **options).fit(X, y)
        assert model.n_nodes_ <= 100
        return np.square(model.predict(X_test) - y_test).mean()

    grown, fitted, pruned = (
        error(learning_rate=0.3),
        error(joint_fit="ridge"),
        error(joint_fit="ridge", prune_factor=8),
    )
    assert pruned < 0.8 * fitted
    assert pruned < 0.7 * grown


def test_alpha_is_chosen_by_validation_data(friedman):
    X, y, X_valid, y_valid = friedman
    options = {"n_estimators": 20, "joint_fit": "ridge", "random_state": 0}
    chosen = GIFRegressor(200, ridge="auto", **options).fit(X, y, X_valid, y_valid)
    errors = [
        np.square(GIFRegressor(200, ridge=a, **options).fit(X, y).predict(X_valid) - y_valid).mean()
        for a in ridge.ALPHAS
    ]
    assert chosen.ridge_ == ridge.ALPHAS[np.argmin(errors)]
    alone = GIFRegressor(200, ridge=chosen.ridge_, **options).fit(X, y)
    np.testing.assert_allclose(chosen.predict(X_valid), alone.predict(X_valid))


def test_logistic_refit_errs_less_and_knows_its_probabilities():
    X, y = load_wine(return_X_y=True)
    options = {"n_estimators": "auto", "prune_factor": 8, "random_state": 0}
    fitted = [
        GIFClassifier(30, joint_fit="logistic", ridge=0.01, **options).fit(X[::2], y[::2]),
        GIFClassifier(30, joint_fit="ridge", ridge=0.1, **options).fit(X[::2], y[::2]),
    ]
    losses = [log_loss(y[1::2], model.predict_proba(X[1::2])) for model in fitted]
    assert losses[0] < 0.8 * losses[1]
    model = fitted[0]
    assert 28 <= model.n_nodes_ <= 30
    shares = softmax(model.decision_function(X), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)
    chosen = GIFClassifier(30, joint_fit="logistic", ridge="auto", **options).fit(X[::2], y[::2])
    assert chosen.ridge_ in ridge.ALPHAS
    assert chosen.score(X[1::2], y[1::2]) > 0.8
    constant = GIFClassifier(1, joint_fit="logistic", n_estimators="auto").fit(X, y)
    np.testing.assert_allclose(constant.predict_proba(X[:1])[0], np.bincount(y) / len(y))


def test_early_stopping_keeps_the_best_of_the_smaller_budgets():
    X, y = load_wine(return_X_y=True)
    options = {"n_estimators": 50, "learning_rate": 1.0, "random_state": 0}
    model = GIFClassifier(4000, **options).fit(X[::2], y[::2])
    stopped = GIFClassifier(4000, early_stopping=True, **options).fit(
        X[::2], y[::2], X[1::2], y[1::2]
    )
    assert 0 < stopped.n_nodes_ < model.n_nodes_
    assert [get_tags(each).chooses_on_validation for each in (stopped, model)] == [True, False]
    one_hot = np.eye(3)[y[1::2]]

    def error(forest):
        return np.square(forest.predict_proba(X[1::2]) - one_hot).sum()

    for size in SIZES[model.n_nodes_ >= SIZES]:
        assert error(stopped) <= error(model.within(size))
    held_out = GIFClassifier(400, early_stopping=True, **options).fit(X, y)
    assert len(held_out.operating_points_) == held_out.n_stages_


def test_choices_that_follow_from_the_data():
    X, y = load_wine(return_X_y=True)
    assert GIFClassifier(100, n_estimators="auto", loss="auto").fit(X, y).loss_ == "squared"
    two = GIFClassifier(100, n_estimators="auto", loss="auto").fit(X, y > 0)
    assert two.loss_ == "trimmed_exponential"
    assert two.node_distribution_.shape == (20,)
    ridged = GIFClassifier(100, n_estimators="auto", loss="auto", joint_fit="ridge").fit(X, y > 0)
    assert ridged.loss_ == "squared"
    np.testing.assert_allclose(ridged.predict_proba(X).sum(axis=1), 1)


def test_decision_function():
    X, y = load_wine(return_X_y=True)
    model = GIFClassifier(200, n_estimators=20, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
    two = GIFClassifier(200, n_estimators=20, random_state=0).fit(X, y > 1)
    np.testing.assert_array_equal(two.decision_function(X) > 0, two.predict(X))
    assert two.decision_function(X).shape == (len(X),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"joint_fit": "lasso"}, "joint_fit must be one of 'ridge', 'logistic', got 'lasso'"),
        ({"joint_fit": np.ones(3)}, "joint_fit must be an integer"),
        ({"prune_factor": 2}, "set joint_fit='ridge', got joint_fit=0"),
        ({"prune_factor": 0.5, "joint_fit": "ridge"}, "prune_factor must be a number >= 1"),
        ({"prune_factor": np.inf, "joint_fit": "ridge"}, "prune_factor must be a number >= 1 and"),
        ({"ridge": 0}, "ridge must be a number > 0"),
        ({"ridge": "gcv"}, "ridge must be one of 'auto'"),
        ({"n_estimators": "many"}, "n_estimators must be one of 'auto'"),
        ({"n_estimators": 2**40}, "n_estimators must be an integer >= 1 and <= 2147483647"),
        ({"early_stopping": True, "joint_fit": 3}, "set joint_fit=0 or 'ridge', got joint_fit=3"),
        (
            {"joint_fit": "ridge", "loss": "exponential"},
            "set loss='squared', got loss='exponential'",
        ),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        GIFClassifier(**{"n_estimators": 20} | options).fit(*load_wine(return_X_y=True))


def test_a_penalty_that_rounding_outweighs_is_refused(friedman, monkeypatch):
    # Whether such a matrix is positive definite depends on the processor.
    monkeypatch.setattr(ridge, "cho_factor", lambda *_, **how: cho_factor([[-1.0]]))
    with pytest.raises(ParameterError, match="ridge is so small"):
        GIFRegressor(20, n_estimators=5, joint_fit="ridge", ridge=1e-300).fit(*friedman[:2])


@pytest.mark.parametrize("node_budget", [1, 2, 3])
def test_the_smallest_budgets(friedman, node_budget):
    X, y, *_ = friedman
    model = GIFRegressor(
        node_budget, n_estimators="auto", joint_fit="ridge", prune_factor=5, random_state=0
    ).fit(X, y)
    assert model.n_nodes_ <= node_budget
    assert np.isfinite(model.predict(X)).all()


LOGISTIC = {"joint_fit": "logistic", "n_estimators": 10}
PRUNED = {
    "n_estimators": "auto",
    "joint_fit": "ridge",
    "prune_factor": 3,
    "ridge": "auto",
    "random_state": 0,
}


@pytest.mark.parametrize(
    "estimator",
    [
        GIFRegressor(30, **PRUNED),
        GIFClassifier(10, **PRUNED | LOGISTIC | {"n_estimators": 4}),
    ],
    ids=type,
)
def test_scikit_learn_contract(estimator, monkeypatch):
    monkeypatch.setattr(logit, "STEPS", 5)  # as good a model as any, for what is asked here
    check_conventions(estimator)


@pytest.mark.parametrize("kind", [GIFRegressor, GIFClassifier])
@pytest.mark.parametrize("options", [PRUNED, {"early_stopping": True, "n_estimators": 20}])
def test_protocol(kind, options):
    check_budgeted_estimator(kind(300, **options))
