"""The schedule: nothing below the constant, and no budget left unspent but for a good reason."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import r2_score

from budgetlearn.auto import evidence
from budgetlearn.auto.evidence import (
    Comparison,
    Field,
    best_at_budgets,
    everything,
    optimism,
    quoted_scores,
    surely_better,
)
from budgetlearn.auto.methods import Method
from budgetlearn.auto.scores import Objective
from budgetlearn.exceptions import BudgetlearnError

N = 400


def field(*policies):
    """Return a field of (name, place, accuracy) whose rows overlap as much as they can."""
    rows = np.array([(np.arange(N) < share * N).astype(float) for _, _, share in policies])
    return Field(
        rows,
        [name for name, _, _ in policies],
        np.array([place for _, place, _ in policies]),
        np.array([name == "LightGBM" for name, _, _ in policies]),
    )


def test_what_the_constant_or_a_cheaper_one_equals_is_not_bought():
    bad = field(("constant", 0, 0.7), ("cascade", 0, 0.65), ("cascade", 1, 0.7))
    assert best_at_budgets(bad) == [0, 0]
    flat = field(("constant", 0, 0.5), ("cascade", 0, 0.8), ("cascade", 1, 0.8), ("msB", 2, 0.9))
    assert best_at_budgets(flat) == [1, 1, 3]


def test_the_cascade_stays_unless_another_is_surely_better():
    random = np.random.default_rng(0)
    rows = np.zeros((3, N))
    # Independent of each other: a difference of two rows is chance.
    rows[1, random.permutation(N)[:300]] = 1
    rows[2, random.permutation(N)[:302]] = 1
    near = Field(rows, ["constant", "cascade", "msB"], np.zeros(3, dtype=int), np.zeros(3, bool))
    assert rows[2].mean() > rows[1].mean()
    assert best_at_budgets(near) == [1]
    # Sums of the same scores in two orders differ by rounding, which must not choose.
    scores = np.random.default_rng(0).random(99)
    for order in (1, -1):
        rows = np.array([np.zeros(99), scores[::order], scores[::-order]])
        twins = Field(rows, ["constant", "msB", "filter"], np.zeros(3, int), np.arange(3) > 0)
        assert best_at_budgets(twins) == [everything(twins)] == [1]
    sure = field(("constant", 0, 0.5), ("cascade", 0, 0.7), ("msB", 0, 0.8))
    assert best_at_budgets(sure) == [2]
    # One and a half standard errors are between 8 and 10 rows more, of 40 that differ.
    for n_won, chosen in ((8, [1]), (10, [2])):
        names, places = ["constant", "cascade", "msB"], np.zeros(3, dtype=int)
        assert best_at_budgets(Field(drawn(-n_won).rows, names, places, places > 0)) == chosen


def test_a_budget_is_spent_on_what_is_better_at_all_but_no_more_is_recommended():
    made = field(("constant", 0, 0.5), ("cascade", 0, 0.8), ("cascade", 1, 0.8025), ("msB", 2, 0.9))
    # One row of 400 is a difference of one standard error: of two that contradict, a third.
    made.rows[2, [0, 1, 2, 3]], made.rows[2, [330, 331, 332, 333]] = 0, 1
    chosen = best_at_budgets(made)
    assert chosen == [1, 2, 3]
    quotes = quoted_scores(made, chosen, [0.0, 0.0, 0.0])
    assert surely_better(made, chosen, quotes) == [0, 1, 3]
    assert surely_better(made, chosen[:2], quotes) == [0, 1]
    # What the choice flatters a score by is no gain.
    assert surely_better(made, chosen, quoted_scores(made, chosen, [0.0, 0.0, 0.1])) == [0, 1]
    assert surely_better(made, [1], quoted_scores(made, [1], [0.31])) == [0]
    # One standard error, and where purchases are scored none.
    error = (made.rows[2] - made.rows[1]).std() / np.sqrt(N)
    paid = Field(made.rows, made.names, made.places, made.everything, spends=False)
    for errors, one, kept in ((0.9, made, 1), (1.1, made, 2), (0.1, paid, 2), (-0.1, paid, 1)):
        known = {0: 0.5, 1: 0.8, 2: 0.8 + errors * error}
        assert surely_better(one, [1, 2], known)[-1] == kept


def drawn(n_lost, spends=True):
    """Return a field of two purchases, which differ in 40 rows and lose so many."""
    made = field(("constant", 0, 0.5), ("cascade", 0, 0.8), ("cascade", 1, 0.8))
    lost = 20 + n_lost // 2
    made.rows[2, 320 - lost : 320], made.rows[2, 320 : 360 - lost] = 0, 1
    return Field(made.rows, made.names, made.places, made.everything, spends)


def test_a_budget_is_spent_unless_that_is_surely_worse():
    # Of 40 rows that differ, 4 more are lost than won: two thirds of a standard error.
    for n_lost, spends, chosen in ((4, True, [1, 2]), (4, False, [1, 1]), (20, True, [1, 1])):
        made = drawn(n_lost, spends)
        assert best_at_budgets(made) == chosen
    # Losses must not add up: each step loses 1.3 standard errors, both together 1.8.
    steps = drawn(8)
    last = steps.rows[2].copy()
    last[270:294], last[340:356] = 0, 1
    rows = np.vstack([steps.rows, last])
    falling = Field(rows, [*steps.names, "cascade"], np.array([0, 0, 1, 2]), np.zeros(4, bool))
    assert best_at_budgets(falling) == [1, 2, 2]


def test_what_is_not_better_than_the_constant_is_not_bought_for_having_a_budget():
    made = drawn(4)
    made.rows[0, :] = made.rows[2].mean() + 0.001
    made.rows[1, :] = made.rows[0] + 0.001
    assert best_at_budgets(made) == [1, 1]


def test_the_first_purchase_must_be_better_by_half_a_standard_error():
    random = np.random.default_rng(0)
    rows = np.zeros((2, N))
    rows[0, random.permutation(N)[:300]] = 1
    rows[1, random.permutation(N)[:302]] = 1
    near = Field(rows, ["constant", "cascade"], np.zeros(2, dtype=int), np.zeros(2, bool))
    assert best_at_budgets(near) == [0]
    for n_won, chosen in ((2, [0]), (4, [1])):  # .32 and .63 of an error
        near.rows[:] = drawn(-n_won).rows[1:]
        assert best_at_budgets(near) == chosen


def test_the_choice_among_many_equals_is_corrected():
    random = np.random.default_rng(0)
    rows = np.vstack([np.full(N, 0.5), random.random((60, N))])
    names = ["constant", *(f"noise {k}" for k in range(60))]
    many = Field(rows, names, np.zeros(61, dtype=int), np.zeros(61, dtype=bool))
    (chosen,) = best_at_budgets(many)
    flattered = rows[chosen].mean() - 0.5
    assert flattered > 0.02
    # At least half of what the choice flatters is taken off; a single policy flatters by nothing.
    assert optimism(many, 0)[0] > flattered / 2
    one = field(("constant", 0, 0.5), ("cascade", 0, 0.8))
    assert all(0 <= optimism(one, seed)[0] < 0.01 for seed in range(5))


def test_policies_that_score_less_than_cheaper_ones_share_their_mean():
    made = field(("constant", 0, 0.5), ("a", 0, 0.7), ("b", 1, 0.8), ("c", 2, 0.75), ("d", 3, 0.9))
    bias = np.array([0.0, 0.01, 0.02, 0.03])
    scores = quoted_scores(made, [1, 2, 3, 4], bias)
    assert scores == pytest.approx({0: 0.5, 1: 0.7, 2: 0.76, 3: 0.76, 4: 0.87})
    # A policy that serves several budgets is flattered as at the first of them.
    assert quoted_scores(made, [0, 2, 2, 2], bias) == pytest.approx({0: 0.5, 2: 0.79})
    # Where purchases are scored nothing is spent for its own sake.
    paid = Field(made.rows, made.names, made.places, made.everything, spends=False)
    assert quoted_scores(paid, [1, 2, 3, 4], bias)[3] == pytest.approx(0.73)


def test_folds_without_a_model_within_the_budget_do_not_count_in_the_quoted_score():
    random, n = np.random.default_rng(0), 200
    y = random.normal(size=n)
    seen = np.ones((2, n))
    seen[0, :100] = seen[1, 150:] = 0  # folds whose models have no stage within the budget
    found = np.where(seen, y + 0.5 * random.normal(size=(2, n)), y.mean())[..., None]
    for weight, groups in ((None, None), (1 + random.random(n), None), (None, np.arange(n) // 2)):
        train = SimpleNamespace(y=y, weight=weight, groups=groups)
        data = {"train": train, "classes": None, "constant": y.mean(), "fill": None}
        plan = {"costs": None, "budgets": [1.0], "seed": 0, "n_jobs": None, "deadline": None}
        comparison = Comparison(objective=Objective("r2"), **data, **plan)
        made = comparison._policy(Method("BudgetRF", None, {}), 0, found, seen, seen)
        kept, shares = seen.ravel() > 0, None if weight is None else np.tile(weight, 2)
        right = np.tile(y, 2)[kept], found.ravel()[kept], None if weight is None else shares[kept]
        score = r2_score(right[0], right[1], sample_weight=right[2])
        assert made.score == pytest.approx(score)
        assert made.score > made.rows.mean() + 0.1
        # As many rows as there are, though some were predicted twice.
        assert 0.5 < made.score_se / (0.25 * np.sqrt(2 / n)) < 2
        whole = comparison._policy(Method("BudgetRF", None, {}), 0, found, seen, seen + 1)
        error = whole.rows.std() / np.sqrt(whole.rows.size)
        assert (whole.score, whole.score_se) == pytest.approx((whole.rows.mean(), error))


def test_everything_is_the_first_model_on_all_features_unless_another_is_surely_better():
    made = field(("constant", 0, 0.5), ("LightGBM", 1, 0.8), ("LightGBM", 1, 0.8))
    assert everything(made) == 1
    made = field(("constant", 0, 0.5), ("LightGBM", 1, 0.8), ("LightGBM", 1, 0.9))
    assert everything(made) == 2
    for n_won, chosen in ((6, 1), (8, 2)):  # .95 and 1.27 standard errors
        made.rows[:] = drawn(-n_won).rows
        assert everything(made) == chosen
    assert everything(field(("constant", 0, 0.5), ("cascade", 0, 0.8))) is None


def test_the_correction_is_the_same_for_the_same_seed():
    made = field(("constant", 0, 0.5), ("cascade", 0, 0.6), ("msB", 1, 0.65))
    for seed in (0, 1):
        np.testing.assert_array_equal(optimism(made, seed), optimism(made, seed))


def test_a_method_is_left_out_if_its_folds_and_its_last_fit_would_take_too_long(monkeypatch):
    now = [0.0]

    def one_second(self, method, train, out, budgets):
        now[0] += 1
        return np.ones((1, out.size, 1)), np.ones((1, out.size)), np.ones(1)

    monkeypatch.setattr(evidence, "monotonic", lambda: now[0])
    monkeypatch.setattr(Comparison, "_predicted", one_second)
    train = SimpleNamespace(y=np.arange(30.0), weight=None, groups=None)
    data = {"train": train, "classes": None, "constant": np.zeros(1), "fill": None}
    plan = {"costs": None, "budgets": [1.0], "seed": 0, "n_jobs": None, "times": 9.0}
    comparison = Comparison(objective=Objective("r2"), **data, **plan, deadline=None)
    folds = [np.arange(30) % 3]
    # Three fits of a second, and the last one of nine times as many rows.
    for scaling, seconds in ((1.0, 12), (0.5, 6)):
        method = Method("slow", None, {}, scaling=scaling)
        comparison._compared(method, [0], folds, now[0] + seconds + 0.1)
        with pytest.raises(BudgetlearnError, match="longer than max_minutes"):
            comparison._compared(method, [0], folds, now[0] + seconds - 0.1)
