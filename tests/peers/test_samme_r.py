"""SAMME.R: the paper's algorithm, and its place among ensembles that are charged."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.tree import DecisionTreeClassifier

from budgetbench.datasets.synthetic import ringnorm
from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.peers import BoostingNodeShares, ForestStages
from budgetlearn.peers.ensembles import SAMMERClassifier
from tests.looping import check_conventions


@pytest.mark.parametrize("estimator", [SAMMERClassifier(n_estimators=10)], ids=type)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


def algorithm_4(X, y, n_estimators, rate, max_depth):
    """Return the sums of h_k on the training data, line by line as the paper prints them."""
    n, K = len(y), y.max() + 1
    coded = np.where(np.eye(K)[y] == 1, 1.0, -1 / (K - 1))
    w, total = np.full(n, 1 / n), np.zeros((n, K))
    for _ in range(n_estimators):
        tree = DecisionTreeClassifier(max_depth=max_depth, random_state=0).fit(X, y, w)
        log_p = np.log(np.clip(tree.predict_proba(X), np.finfo(float).eps, None))
        total += (K - 1) * (log_p - log_p.sum(axis=1, keepdims=True) / K)
        w = w * np.exp(-rate * (K - 1) / K * (coded * log_p).sum(axis=1))
        w = w / w.sum()
    return total


@pytest.mark.parametrize(("n_classes", "max_depth"), [(2, 1), (3, 1), (4, 2)])
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_votes_are_those_of_the_paper(n_classes, max_depth, rate):
    X, y = make_classification(
        150, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    X = X.astype(np.float32)
    base = DecisionTreeClassifier(max_depth=max_depth)
    model = SAMMERClassifier(base, n_estimators=12, learning_rate=rate, random_state=0).fit(X, y)
    expected = algorithm_4(X, y, 12, rate, max_depth)
    votes = model.decision_function(X)
    np.testing.assert_allclose(votes, expected[:, 1] if n_classes == 2 else expected, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


def test_labels_are_given_back():
    X, y = load_wine(return_X_y=True)
    names = np.array(["a", "c", "b"])[y]
    model = SAMMERClassifier(n_estimators=20).fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, names) > 0.95


def test_it_ends_with_a_tree_that_makes_no_error():
    X, y = load_wine(return_X_y=True)
    model = SAMMERClassifier(DecisionTreeClassifier(), n_estimators=5).fit(X, y)
    assert len(model.estimators_) == 1
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_stages_are_the_models_of_fewer_trees(load):
    X, y = load(return_X_y=True)
    model = ForestStages(SAMMERClassifier(), n_trees=(1, 7, 25), random_state=0).fit(X, y)
    for n_trees, predicted in zip(model.n_trees, model.staged_predict(X), strict=True):
        alone = SAMMERClassifier(n_estimators=n_trees, random_state=0).fit(X, y)
        np.testing.assert_array_equal(predicted, alone.predict(X))
    assert [stage.nodes for stage in model.stages(X)] == [3, 21, 75]


def test_it_holds_a_node_budget_and_comes_near_the_printed_error():
    # Table 9 of the GIF paper: Ringnorm 5.48 ± 0.55 at 10 % of the nodes; SAMME has about 8.
    X, y = ringnorm(3300, 0)
    base = SAMMERClassifier(learning_rate=10**-1.5)
    model = BoostingNodeShares(base, percents=(5,), random_state=0).fit(X[:300], y[:300])
    n_nodes = next(model.stages(X)).nodes
    assert n_nodes == model.node_budgets_[0] // 3 * 3
    assert (model.predict(X[300:]) != y[300:]).mean() < 0.068


@pytest.mark.parametrize("options", [{"n_estimators": 0}, {"learning_rate": 0.0}])
def test_bad_parameters_are_refused(options):
    with pytest.raises(BudgetlearnError, match=next(iter(options))):
        SAMMERClassifier(**options).fit([[0.0], [1.0]], [0, 1])
