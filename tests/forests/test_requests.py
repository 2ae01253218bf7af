"""Requests of trees: what is acquired, under a cap tree after tree, and what is believed so far."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetlearn.costs import FeatureCosts
from budgetlearn.forests.base import tree_acquisitions
from budgetlearn.peers import FreeConstantClassifier
from budgetlearn.protocol import Answer, Ledger
from budgetlearn.protocol.feature_requests import drive
from budgetlearn.tree.convert import from_sklearn
from budgetlearn.tree.predictor import ForestPredictor

N_TREES = 9
PRICES = FeatureCosts(np.arange(1.0, 9), groups=[0, 0] + [-1] * 6, group_costs=[2.5])


@pytest.fixture(scope="module")
def forest():
    X, y = make_classification(500, 8, n_informative=5, n_classes=3, random_state=0)
    trees = from_sklearn(RandomForestClassifier(N_TREES, random_state=0).fit(X[:300], y[:300]))
    return trees, ForestPredictor(trees, 8), X[300:].astype(np.float32).astype(np.float64)


def estimator(n_classes, dtype=np.float64):
    """Return an estimator that has so many classes, and reads examples in some precision."""
    model = FreeConstantClassifier().fit(np.zeros((n_classes, 8)), np.arange(n_classes))
    model._dtypes = (dtype,)
    return model


def answer(totals, n_counted):
    return totals.argmax(axis=1), totals


def owned(forest, max_cost=None, **options):
    """Return the ledger and the outcome of the trees on the table."""
    _, predictor, X = forest
    ledger = Ledger(PRICES, len(X), max_cost)
    model = predictor, N_TREES
    requests = tree_acquisitions(estimator(3), model, len(X), ledger, answer, **options)
    return ledger, drive(requests, lambda rows, name: X[rows, name], ledger, fallback=True)


@pytest.mark.parametrize("options", [{}, {"votes": True}, {"per_step": 3}])
def test_without_a_cap_it_is_the_walk_of_the_table(forest, options):
    _, predictor, X = forest
    whole = predictor.walk(X, values=True, votes=True, acquired=True)
    ledger, made = owned(forest, **options)
    np.testing.assert_array_equal(ledger.acquired, whole.acquired)
    np.testing.assert_allclose(ledger.cost, PRICES.total(whole.acquired))
    expected = whole.votes if options.get("votes") else whole.values
    np.testing.assert_array_equal(made.probabilities, expected)
    assert made.answered.all()


def tree_by_tree(trees, x, cap, summed):
    """Return what an example acquires and the trees that count, in plain Python."""
    acquired, refused, counted = np.zeros(8, dtype=bool), set(), []
    for tree in trees:
        node = 0
        while (feature := tree.feature[node]) >= 0:
            if not acquired[feature]:
                more = acquired | (np.arange(8) == feature)
                if feature in refused or PRICES.total(more[None])[0] > cap:
                    refused.add(feature)
                    break
                acquired = more
            left = x[feature] <= tree.threshold[node]
            node = (tree.children_left if left else tree.children_right)[node]
        else:
            counted.append(tree.value[node])
            continue
        if summed:
            break
    return acquired, counted


@pytest.mark.parametrize("per_step", [0, 1])
@pytest.mark.parametrize("cap", [0.5, 9.0, 20.0, 100.0])
def test_under_a_cap_an_example_takes_one_tree_after_another(forest, cap, per_step):
    trees, _, X = forest
    ledger, made = owned(forest, cap, per_step=per_step)
    assert (ledger.cost <= cap).all()
    for row, x in enumerate(X):
        acquired, counted = tree_by_tree(trees, x, cap, per_step > 0)
        np.testing.assert_array_equal(ledger.acquired[row], acquired)
        assert made.answered[row] == (len(counted) > 0)
        # Who went through no tree keeps the constant of three equal classes.
        said = sum(counted, np.zeros(3)) if counted else np.full(3, 1 / 3)
        np.testing.assert_array_equal(made.probabilities[row], said)


def test_what_is_believed_is_the_vote_of_the_trees_that_are_through(forest):
    _, predictor, X = forest
    ledger = Ledger(PRICES, 1, None)
    model = predictor, N_TREES
    requests = tree_acquisitions(estimator(3), model, 1, ledger, answer, votes=True)
    n_votes, reply = [], None
    while True:
        try:
            request = requests.send(reply)
        except StopIteration as stop:
            n_votes.append(stop.value.probabilities.sum())
            break
        made = request.estimate()
        n_votes.append(made.probabilities.sum() if made.answered[0] else 0)
        reply = Answer(X[:1, request.feature].copy(), np.zeros(1, dtype=bool))
    assert n_votes == sorted(n_votes)
    assert (n_votes[0], n_votes[-1]) == (0, N_TREES)
    assert len(set(n_votes)) > 2


def test_values_are_compared_in_the_precision_of_the_trees():
    X = np.array([[0.1], [0.2], [0.3], [0.4]])
    trees = from_sklearn(RandomForestClassifier(1, bootstrap=False).fit(X, [0, 0, 1, 1]))
    threshold = trees[0].threshold[0]
    just_above = np.nextafter(threshold, 1)  # equal to the threshold in float32
    for dtype, label in ((np.float64, 1), (np.float32, 0)):
        ledger = Ledger(FeatureCosts([1.0]), 1)
        model = ForestPredictor(trees, 1), 1
        requests = tree_acquisitions(estimator(2, dtype), model, 1, ledger, answer)
        made = drive(requests, lambda rows, name: np.array([just_above]), ledger)
        assert made.output[0] == label


def test_a_source_may_return_numbers_that_do_not_lie_together(forest):
    _, predictor, X = forest
    ledger = Ledger(PRICES, len(X))
    requests = tree_acquisitions(estimator(3), (predictor, N_TREES), len(X), ledger, answer)
    # As the column of a frame, whose rows lie together.
    made = drive(requests, lambda rows, name: np.repeat(X[rows, name], 2)[::2], ledger)
    np.testing.assert_array_equal(made.output, owned(forest)[1].output)
