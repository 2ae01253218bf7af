"""Feature costs: every charge once, shared charges included, and prices that are none refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.costs import FeatureCosts, random_costs
from budgetlearn.exceptions import CostError


@st.composite
def purchases(draw):
    """Prices with groups, and what some examples acquired."""
    n = draw(st.integers(1, 8))
    costs = draw(st.lists(st.integers(0, 100), min_size=n, max_size=n))
    charges = draw(st.lists(st.integers(0, 50), min_size=1, max_size=3))
    groups = draw(st.lists(st.integers(-1, len(charges) - 1), min_size=n, max_size=n))
    row = st.lists(st.booleans(), min_size=n, max_size=n)
    return FeatureCosts(costs, groups, charges), draw(st.lists(row, min_size=1, max_size=5))


def bill(costs, acquired):
    """The slow twin: walk through the features and pay what is not paid yet."""
    total, paid = 0.0, set()
    for feature in np.flatnonzero(acquired):
        total += costs.costs[feature]
        group = costs.groups[feature]
        if group >= 0 and group not in paid:
            paid.add(group)
            total += costs.group_costs[group]
    return total


@given(purchases())
def test_total_is_the_bill_of_each_example(case):
    costs, acquired = case
    assert costs.total(acquired).tolist() == [bill(costs, row) for row in acquired]
    assert costs.full == bill(costs, np.ones(costs.n_features))


@given(purchases())
def test_shares_add_up_to_the_bill(case):
    costs, acquired = case
    for row in np.array(acquired):
        shares = costs.shares(row)
        assert shares.sum() == pytest.approx(bill(costs, row))
        assert not shares[~row].any()
        for last in np.flatnonzero(row):
            others = row & (costs.groups == costs.groups[last])
            if costs.groups[last] < 0 or others.sum() == 1:  # nobody shares a charge with it
                without = row & (np.arange(row.size) != last)
                assert shares[last] == pytest.approx(bill(costs, row) - bill(costs, without))


@given(purchases(), st.integers(0, 7))
def test_marginal_is_what_the_bill_would_grow_by(case, feature):
    costs, (before, *_) = case
    feature %= costs.n_features
    after = np.array(before)
    after[feature] = True
    assert costs.marginal(before)[feature] == bill(costs, after) - bill(costs, before)


def test_alone_every_feature_pays_its_group():
    costs = FeatureCosts([1, 2, 3], groups=[0, 0, -1], group_costs=[10])
    assert costs.alone.tolist() == [11, 12, 3] == [costs.subset([f]) for f in range(3)]


def test_subset_takes_indices_or_a_mask():
    costs = FeatureCosts([1, 2, 4])
    assert costs.subset([0, 2]) == costs.subset(np.array([True, False, True])) == 5
    assert costs.subset([]) == 0


def test_none_means_one_each():
    assert FeatureCosts.of(None, 3).costs.tolist() == [1, 1, 1]


def test_random_costs_are_reproducible_whole_numbers_of_the_range():
    drawn = np.concatenate([random_costs(50, seed).costs for seed in range(40)])
    assert (drawn == drawn.round()).all()
    assert (drawn.min(), drawn.max()) == (1, 100)
    assert random_costs(5, 3) == random_costs(5, 3)


def test_prices_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="read-only"):
        FeatureCosts([1, 2]).costs[0] = 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -2],), "entry 1 is -2"),
        (([1, np.nan],), "entry 1 is nan"),
        (([1, np.inf],), "finite"),
        ((["dear"],), "must be numbers"),
        (([[1, 2]],), "must be a vector"),
        (([1, 2], [0, 0]), "give both or none"),
        (([1, 2], [0], [5]), "each of the 2 features"),
        (([1, 2], [0, 1], [5]), "from -1 .* to 0"),
        (([1, 2], [0, 0.5], [5]), "integers"),
        (([1, 2], [-1, -1], []), "group_costs is empty"),
        (([1, 2], [0, 0], [-5]), "group_costs must be finite and >= 0"),
    ],
)
def test_bad_prices_are_refused(arguments, message):
    with pytest.raises(CostError, match=message):
        FeatureCosts(*arguments)


def test_wrong_lengths_are_refused():
    with pytest.raises(CostError, match="each of the 3 features of X, got 2"):
        FeatureCosts.of([1, 2], 3)
    with pytest.raises(CostError, match=r"\(n_samples, 2\)"):
        FeatureCosts([1, 2]).total([[True, False, True]])
