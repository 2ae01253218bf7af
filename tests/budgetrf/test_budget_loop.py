"""Trees are taken while the mean cost of predictions stays within the budget."""

from budgetlearn.budgetrf.growing import grow_within_budget


def grown(costs, budget):
    """Return the forest that such trees make, each with what predictions cost from it on."""
    return grow_within_budget({}, ((cost, cost, 0.5) for cost in costs), budget)


def test_the_first_tree_beyond_the_budget_is_left_out():
    forest = grown([1.0, 2.0, 3.5, 4.0], budget=3)
    assert (forest.trees, forest.broke_at) == ([1.0, 2.0], 3.5)


def test_a_budget_affords_its_own_sum_in_another_order():
    assert grown([0.1 + 0.2], budget=0.3).trees == [0.1 + 0.2]
