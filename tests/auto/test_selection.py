"""The schedule: nothing below the constant, nothing that something cheaper equals."""

import numpy as np
import pytest

from budgetlearn.auto.evidence import (
    Field,
    best_at_budgets,
    everything,
    optimism,
    score_error,
    surely_better,
)

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


def test_what_is_no_better_than_the_constant_is_not_bought():
    bad = field(("constant", 0, 0.7), ("cascade", 0, 0.65), ("cascade", 1, 0.7))
    assert best_at_budgets(bad) == [0, 0]


def test_what_a_cheaper_one_equals_is_not_bought():
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
    sure = field(("constant", 0, 0.5), ("cascade", 0, 0.7), ("msB", 0, 0.8))
    assert best_at_budgets(sure) == [2]


def test_a_budget_is_spent_on_what_is_better_at_all_but_no_more_is_recommended():
    made = field(("constant", 0, 0.5), ("cascade", 0, 0.8), ("cascade", 1, 0.8025), ("msB", 2, 0.9))
    # One row of 400 is a difference of one standard error: of two that contradict, a third.
    made.rows[2, [0, 1, 2, 3]], made.rows[2, [330, 331, 332, 333]] = 0, 1
    chosen = best_at_budgets(made)
    assert chosen == [1, 2, 3]
    assert surely_better(made, chosen) == [0, 1, 3]
    assert surely_better(made, chosen[:2]) == [0, 1]


def test_the_first_purchase_must_be_better_by_half_a_standard_error():
    random = np.random.default_rng(0)
    rows = np.zeros((2, N))
    rows[0, random.permutation(N)[:300]] = 1
    rows[1, random.permutation(N)[:302]] = 1
    near = Field(rows, ["constant", "cascade"], np.zeros(2, dtype=int), np.zeros(2, bool))
    assert best_at_budgets(near) == [0]


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
    assert optimism(one, 0)[0] < 0.01


def test_the_score_of_a_model_is_less_certain_than_its_rows():
    rows = np.repeat([0.0, 1.0], 50)
    assert score_error(rows, learned=False) == pytest.approx(0.05)
    assert score_error(rows) == pytest.approx(0.06)


def test_everything_is_the_first_model_on_all_features_unless_another_is_surely_better():
    made = field(("constant", 0, 0.5), ("LightGBM", 1, 0.8), ("LightGBM", 1, 0.8))
    assert everything(made) == 1
    made = field(("constant", 0, 0.5), ("LightGBM", 1, 0.8), ("LightGBM", 1, 0.9))
    assert everything(made) == 2
    assert everything(field(("constant", 0, 0.5), ("cascade", 0, 0.8))) is None


@pytest.mark.parametrize("seed", [0, 1])
def test_the_correction_is_the_same_for_the_same_seed(seed):
    made = field(("constant", 0, 0.5), ("cascade", 0, 0.6), ("msB", 1, 0.65))
    np.testing.assert_array_equal(optimism(made, seed), optimism(made, seed))
