"""Scores as means over rows: those of scikit-learn, with the errors that resampling shows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context, metrics

from budgetlearn import AutoBudgetRegressor
from budgetlearn.auto.scores import Objective, check_scoring, decide, error_matrix
from budgetlearn.validation import ParameterError

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 3, 300)
SHARES = RANDOM.dirichlet(np.ones(3), 300) + 0.5 * np.eye(3)[Y]
SHARES /= SHARES.sum(axis=1, keepdims=True)
TWO, TWO_SHARES = Y % 2, np.column_stack([1 - SHARES[:, 1], SHARES[:, 1]])
FREE = np.zeros(300)

SAME = {
    "accuracy": lambda y, p, d: metrics.accuracy_score(y, d),
    "balanced_accuracy": lambda y, p, d: metrics.balanced_accuracy_score(y, d),
    "neg_log_loss": lambda y, p, d: -metrics.log_loss(y, p),
    "roc_auc": lambda y, p, d: (
        metrics.roc_auc_score(y, p[:, 1])
        if p.shape[1] == 2
        else metrics.roc_auc_score(y, p, multi_class="ovr")
    ),
    "f1": lambda y, p, d: (
        metrics.f1_score(y, d) if p.shape[1] == 2 else metrics.f1_score(y, d, average="macro")
    ),
    "f1_macro": lambda y, p, d: metrics.f1_score(y, d, average="macro"),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(("y", "shares"), [(TWO, TWO_SHARES), (Y, SHARES)])
def test_the_mean_of_the_rows_is_the_score(name, y, shares):
    decided = shares.argmax(axis=1)
    rows = Objective(name).rows(y, shares, decided, FREE)
    assert rows.shape == y.shape
    assert rows.mean() == pytest.approx(SAME[name](y, shares, decided))
    if name == "neg_log_loss":  # a row that cannot be is worth no more than one in a million
        impossible = np.eye(shares.shape[1])[(y + 1) % shares.shape[1]]
        assert (Objective(name).rows(y, impossible, None, FREE) == np.log(1e-6)).all()


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("name", SAME)
def test_the_standard_error_is_that_of_resampling(name, share):
    y = (RANDOM.random(800) < share).astype(int)
    shares = np.column_stack([1 - (told := RANDOM.beta(1 + 2 * y, 3 - 2 * y)), told])
    decided, n = (told > share).astype(int), y.size
    error = Objective(name).rows(y, shares, decided, np.zeros(n)).std() / np.sqrt(n)
    drawn = [RANDOM.integers(n, size=n) for _ in range(160)]
    with config_context(skip_parameter_validation=True):
        redrawn = [SAME[name](y[rows], shares[rows], decided[rows]) for rows in drawn]
    assert error == pytest.approx(np.std(redrawn), rel=0.2)


def test_few_rows_of_a_class_say_little_of_its_spread():
    random, y = np.random.default_rng(0), np.repeat([0, 1], [40, 4])
    chances = random.random(44) + 0.3 * y
    shares, decided = np.column_stack([1 - chances, chances]), 1 * (chances > 0.5)
    wins = (chances[y == 1, None] > chances[y == 0]).astype(float)
    parts = {  # of both classes; DeLong's placements are means of wins
        "balanced_accuracy": [(decided == y)[y == k] / 2 for k in (0, 1)],
        "roc_auc": [wins.mean(axis=0), wins.mean(axis=1)],
    }
    for name, both in parts.items():
        rows = Objective(name).rows(y, shares, decided, FREE[:44])
        variance = sum(part.var(ddof=1) / part.size for part in both)
        assert rows.var() / rows.size == pytest.approx(variance)

    # A single row of a class is all that is known of its recall.
    one = Objective("balanced_accuracy").rows(
        np.array([0, 0, 1]), None, np.array([0, 1, 1]), FREE[:3]
    )
    assert one.mean() == pytest.approx(0.75)

    # Of classes that are all right, and of shares, nothing is seen to vary.
    objective, rows = (
        Objective("balanced_accuracy"),
        np.where(y == 1, 0.9, 0.8 + 0.1 * shares[:, 0]),
    )
    assert objective.unseen_error(rows, y) == pytest.approx(np.sqrt(5 / 6 * (1 / 6) / 4) / 2)
    assert objective.unseen_error(rows, y, np.arange(44) // 2) == pytest.approx(
        np.sqrt(3 / 4 * (1 / 4) / 2) / 2
    )
    objective = Objective("accuracy")
    assert objective.unseen_error(np.ones(8), y[:8]) == pytest.approx(np.sqrt(0.9 * 0.1 / 8))
    assert objective.unseen_error(1.0 * (y == 1), y) == 0
    assert Objective("neg_log_loss").unseen_error(np.zeros(44), y) == 0
    # Of total cost, that of one more error in each class: it cannot be seen in any spread.
    objective = Objective("total_cost", np.array([[0.0, 3], [4, 0]]))
    assert objective.unseen_error(np.zeros(44), y) == 5 / 44
    assert objective.unseen_error(np.zeros(44), y, np.arange(44) // 2) == 5 / 22


def test_perfect_scores_are_as_uncertain_as_a_wrong_row_of_each_class_makes_them():
    sizes = ((400, 100), (100, 400), (400, 200, 100))
    for name, n in itertools.product(("roc_auc", "f1", "f1_macro"), map(np.array, sizes)):
        y, objective = np.repeat(np.arange(len(n)), n), Objective(name)
        shares, lost = 0.1 / len(n) + 0.9 * np.eye(len(n))[y], np.zeros(len(n))
        perfect = objective.rows(y, shares, y, None)
        assert perfect.mean() == 1
        for own, other in itertools.permutations(range(len(n)), 2):
            wrong = shares.copy()
            wrong[np.argmax(y == own)] = np.eye(len(n))[other]
            score = objective.rows(y, wrong, wrong.argmax(axis=1), None).mean()
            lost[own] += (1 - score) / (len(n) - 1)
        expected = np.sqrt((lost**2 * n * (n + 1) / (n + 2) ** 2).sum())
        assert objective.unseen_error(perfect, y) == pytest.approx(expected, rel=0.02)


def test_constants_and_areas_of_one_class_are_surely_no_better_than_chance():
    decided = np.zeros(TWO.size, dtype=int)
    rows = Objective("balanced_accuracy").rows(TWO, TWO_SHARES, decided, FREE)
    np.testing.assert_allclose(rows, 0.5)
    for y, shares in ((TWO, TWO_SHARES), (Y, SHARES)):
        rows = Objective("roc_auc").rows(np.ones_like(y), shares, shares.argmax(axis=1), FREE)
        assert rows.tolist() == [0.5] * y.size


def test_f1_is_that_of_the_class_that_was_rarer_in_training():
    decided = TWO_SHARES.argmax(axis=1)
    for kept in (TWO == 0, TWO == 1):  # whichever of them is rarer here
        rows = np.flatnonzero(kept | (np.arange(TWO.size) % 3 == 0))
        score = Objective("f1", positive=1).rows(
            TWO[rows], TWO_SHARES[rows], decided[rows], FREE[rows]
        )
        assert score.mean() == pytest.approx(metrics.f1_score(TWO[rows], decided[rows]))


def test_scores_of_numbers():
    y, told = RANDOM.normal(size=50), RANDOM.normal(size=(50, 1))
    assert Objective("r2").rows(y, told, None, None).mean() == pytest.approx(
        metrics.r2_score(y, told[:, 0])
    )
    assert Objective("neg_mean_absolute_error").rows(y, told, None, None).mean() == pytest.approx(
        -metrics.mean_absolute_error(y, told[:, 0])
    )


def test_total_cost_is_purchases_and_errors():
    errors = np.array([[0.0, 5.0], [50.0, 1.0]])
    decided = np.array([0, 1, 0, 1])
    rows = Objective("total_cost", errors).rows(
        np.array([0, 0, 1, 1]), None, decided, np.array([1.0, 2, 3, 4])
    )
    np.testing.assert_allclose(rows, [-1, -7, -53, -5])


def test_classes_are_decided_by_expected_cost():
    shares = np.array([[0.8, 0.2], [0.95, 0.05]])
    # Missing the second class costs ten times as much: it is taken from a tenth on.
    assert decide(shares, np.array([[0.0, 1.0], [10.0, 0.0]])).tolist() == [1, 0]
    assert decide(shares, None).tolist() == [0, 0]


def test_balanced_accuracy_decides_by_the_shares_of_the_classes():
    y = np.array([0] * 90 + [1] * 10)
    costs = Objective("balanced_accuracy").decision_costs(y, 2)
    # A class is taken where it is likelier than in all data.
    assert decide(np.array([[0.88, 0.12], [0.92, 0.08]]), costs).tolist() == [1, 0]
    assert Objective("accuracy").decision_costs(y, 2) is None
    # For F1, weights are the roots: odds of 1 to 3 are enough for the class that is one of ten.
    for name in ("f1", "f1_macro"):
        costs = Objective(name).decision_costs(y, 2)
        assert decide(np.array([[0.74, 0.26], [0.76, 0.24]]), costs).tolist() == [1, 0]


def test_costs_of_errors_are_checked():
    classes = np.array(["no", "yes"])
    matrix = error_matrix({("yes", "no"): 10, ("no", "yes"): 1}, classes)
    assert matrix.tolist() == [[0, 1], [10, 0]]
    with pytest.raises(
        ParameterError, match=r"not a pair .true, predicted. of the classes in y: .'no', 'yes'"
    ):
        error_matrix({("ja", "no"): 10}, classes)
    with pytest.raises(ParameterError, match="a row and a column for each"):
        error_matrix([[0, 1, 2]], classes)
    for wrong in ([[0, -1], [1, 0]], "expensive", [[0, 1], [1]], {("yes", "no"): "ten"}):
        with pytest.raises(ParameterError, match="finite and >= 0"):
            error_matrix(wrong, classes)
    with pytest.raises(ParameterError, match=r"got \{\('yes', 'no'\): -1\}"):
        error_matrix({("yes", "no"): -1}, classes)
    with pytest.raises(ParameterError, match="some error cost more"):
        error_matrix([[0, 0], [0, 0]], classes)
    for wrong in ({"no": {"yes": 5}}, {("no", "yes", "no"): 1}, {0: 1}):
        with pytest.raises(ParameterError, match="not a pair"):
            error_matrix(wrong, classes)

    # A frame goes by its labels.
    frame = pd.DataFrame([[0, 10], [1, 0]], index=["yes", "no"], columns=["yes", "no"])
    assert error_matrix(frame, classes).tolist() == [[0, 1], [10, 0]]
    # Without names it is in the order of the classes, as an array.
    plain = pd.DataFrame([[0, 1], [10, 0]])
    assert error_matrix(plain, classes).tolist() == [[0, 1], [10, 0]]
    with pytest.raises(ParameterError, match=r"names .0, 'yes'., which is not a pair"):
        error_matrix(frame.reset_index(drop=True), classes)
    with pytest.raises(ParameterError, match=r"names .'yes', 0., which is not a pair"):
        error_matrix(frame.set_axis([0, 1], axis=1), classes)


def test_a_score_of_the_other_task_is_refused():
    assert check_scoring(None, True) == "accuracy"
    assert check_scoring(None, False) == "r2"
    with pytest.raises(ParameterError, match="scoring"):
        check_scoring("r2", True)


@pytest.mark.usefixtures("fast")
def test_what_costs_nothing_is_the_median_by_the_mean_absolute_error():
    X = np.random.default_rng(0).normal(size=(81, 2))
    y = np.exp(2 * X[:, 0])
    made = AutoBudgetRegressor(scoring="neg_mean_absolute_error", random_state=0).fit(X, y)
    assert made.predict(X[:1], budget=0) == np.median(y)
    assert made.operating_points_["score"][0] == pytest.approx(-np.abs(y - np.median(y)).mean())
