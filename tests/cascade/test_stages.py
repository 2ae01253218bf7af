"""Stages of a cascade: acquisitions with whole groups, geometric costs, own nested sets."""

import time

import numpy as np
import pytest

from budgetlearn.cascade import orders
from budgetlearn.cascade.models import Table
from budgetlearn.cascade.orders import (
    geometric_stages,
    nested_stages,
    ordered_acquisitions,
    with_whole_groups,
)
from budgetlearn.costs import FeatureCosts, random_costs
from budgetlearn.validation import ParameterError


def test_a_group_is_acquired_whole_where_the_charge_is_most_of_its_price(monkeypatch):
    costs = FeatureCosts([1, 2, 3, 1], groups=[0, -1, 0, 0], group_costs=[10])
    assert with_whole_groups([2, 1, 0, 3], costs) == [(2, 0, 3), (1,)]
    # What has a single value, or those of an earlier feature, tells nothing, so nobody pays for it;
    # where it is missing may tell.
    monkeypatch.setitem(orders.ORDERS, "any", lambda *_: [2, 1, 0, 3])
    X = np.array([[1, 2, 3, np.nan], [1, 2, 4, 5], [1, 2, 3, 5]])
    twice = np.column_stack([X[:, 2], X[:, 1:]])
    for known, acquired in ((X, [(2, 3)]), (twice, [(2, 3)]), (X[:1], [(2, 0, 3), (1,)])):
        assert ordered_acquisitions("any", Table(known, X[:, 0], None), costs, 0) == acquired


def test_a_group_is_acquired_whole_where_its_members_cost_just_the_charge():
    costs = FeatureCosts([1, 2, 3], groups=[0, 0, 0], group_costs=[5])
    assert with_whole_groups([0, 1, 2], costs) == [(0, 1, 2)]
    more = FeatureCosts([1, 2, 3.5], groups=[0, 0, 0], group_costs=[5])
    assert with_whole_groups([0, 1, 2], more) == [(0,), (1, 2)]


def test_members_wait_where_they_are_expensive_themselves_but_for_the_free_ones():
    costs = FeatureCosts([5, 2, 3, 0], groups=[0, -1, 0, 0], group_costs=[4])
    assert with_whole_groups([2, 1, 0, 3], costs) == [(2, 3), (1,), (0,)]


def test_without_groups_every_feature_is_an_acquisition_and_few_are_all_stages():
    assert with_whole_groups([1, 0], FeatureCosts([1, 1])) == [(1,), (0,)]
    stages = geometric_stages([(2,), (0, 1), (3,)], FeatureCosts([1, 1, 1, 1]), 10)
    assert stages == [(2,), (2, 0, 1), (2, 0, 1, 3)]


@pytest.mark.parametrize("seed", range(5))
def test_many_acquisitions_become_stages_whose_costs_grow_by_a_factor(seed):
    costs = random_costs(60, seed)
    order = np.random.default_rng(seed).permutation(60).tolist()
    stages = geometric_stages([(j,) for j in order], costs, 10)
    assert 2 <= len(stages) <= 10
    assert stages[0] == (order[0],)
    assert stages[-1] == tuple(order)
    spent = np.array([costs.subset(list(stage)) for stage in stages])
    goals = np.geomspace(spent[0], spent[-1], 10)
    for features, cost in zip(stages, spent, strict=True):
        assert features == tuple(order[: len(features)])
        reached = goals[goals >= cost * (1 - 1e-9)][0]
        longer = costs.subset(order[: len(features) + 1])
        assert longer > reached or cost == spent[-1]


def test_free_features_are_a_stage_of_their_own():
    costs = FeatureCosts([0, 0, *range(1, 21)])
    stages = geometric_stages([(j,) for j in range(22)], costs, 5)
    assert stages[0] == (0, 1)
    assert len(stages) <= 5
    assert len(stages[-1]) == 22
    assert geometric_stages([(0,), (1,)], FeatureCosts([0, 0]), 5) == [(0, 1)]


def test_own_sets_keep_their_order_of_acquisition():
    assert nested_stages([[3], [0, 3], [1, 3, 0]], 5) == [(3,), (3, 0), (3, 0, 1)]


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[0, 1], [1, 2]], "must grow"),
        ([[0], [0]], "must grow"),
        ([[0, 0]], "each once"),
        ([[7]], "from 0 to 2"),
        ([[1.5]], "each once, got .1.5."),
        ([[True]], "each once, got .True."),
        ([[]], "must grow"),
    ],
)
def test_sets_that_do_not_nest_are_refused(sets, message):
    with pytest.raises(ParameterError, match=message):
        nested_stages(sets, 3)


def test_thousands_of_features_are_cut_in_no_time():
    """Each prefix was put together anew: of 4,000 features for half a minute."""
    order, start = [(feature,) for feature in range(4_000)], time.process_time()
    stages = geometric_stages(order, FeatureCosts(np.ones(4_000)), 3)
    assert [len(stage) for stage in stages] == [1, 63, 4_000]
    assert stages[-1] == tuple(range(4_000))
    assert time.process_time() - start < 10
