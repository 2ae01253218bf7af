"""Feature costs: every charge counts once, shared ones too, and only valid prices are accepted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetlearn.costs import FeatureCosts, affords, random_costs
from budgetlearn.exceptions import CostError


@st.composite
def acquisitions(draw):
    """Prices with groups, and the acquisitions of some examples."""
    n = draw(st.integers(1, 8))
    costs = draw(st.lists(st.integers(0, 100), min_size=n, max_size=n))
    charges = draw(st.lists(st.integers(0, 50), min_size=1, max_size=3))
    groups = draw(st.lists(st.integers(-1, len(charges) - 1), min_size=n, max_size=n))
    row = st.lists(st.booleans(), min_size=n, max_size=n)
    return FeatureCosts(costs, groups, charges), draw(st.lists(row, min_size=1, max_size=5))


def bill(costs, acquired):
    """The slow twin: go through the features and pay every charge that is not paid yet."""
    total, paid = 0.0, set()
    for feature in np.flatnonzero(acquired):
        total += costs.costs[feature]
        group = costs.groups[feature]
        if group >= 0 and group not in paid:
            paid.add(group)
            total += costs.group_costs[group]
    return total


@given(acquisitions())
def test_total_is_the_bill_of_each_example(case):
    costs, acquired = case
    assert costs.total(acquired).tolist() == [bill(costs, row) for row in acquired]
    assert costs.full == bill(costs, np.ones(costs.n_features))


@given(acquisitions())
def test_shares_add_up_to_the_bill(case):
    costs, acquired = case
    for row in np.array(acquired):
        shares = costs.shares(row)
        assert shares.sum() == pytest.approx(bill(costs, row))
        assert not shares[~row].any()
        for last in np.flatnonzero(row):
            others = row & (costs.groups == costs.groups[last])
            if costs.groups[last] < 0 or others.sum() == 1:  # no other feature shares its charge
                without = row & (np.arange(row.size) != last)
                assert shares[last] == pytest.approx(bill(costs, row) - bill(costs, without))


@given(acquisitions(), st.integers(0, 7))
def test_marginal_is_what_the_bill_would_grow_by(case, feature):
    costs, (before, *others) = case
    feature %= costs.n_features
    after = np.array(before)
    after[feature] = True
    assert costs.marginal(before)[feature] == bill(costs, after) - bill(costs, before)
    several = np.array([before, *others])
    assert (costs.marginal(several) == [costs.marginal(row) for row in several]).all()


def test_prices_of_some_features_keep_their_groups():
    costs = FeatureCosts([5, 1, 2, 7, 0.5], groups=[-1, 1, 1, -1, 0], group_costs=[20, 10])
    some = costs.take([4, 0, 2], list("abc"))
    assert some == FeatureCosts(dict(zip("abc", [0.5, 5, 2], strict=True)), [0, -1, 1], [20, 10])
    assert FeatureCosts([3, 1]).take([1, 0]) == FeatureCosts([1, 3])


def test_equal_are_prices_that_agree_in_everything():
    costs = FeatureCosts({"a": 1, "b": 2}, [0, -1], [3])
    assert costs == FeatureCosts({"a": 1, "b": 2}, [0, -1], [3])
    others = [
        FeatureCosts({"a": 1, "c": 2}, [0, -1], [3]),
        FeatureCosts({"a": 1, "b": 3}, [0, -1], [3]),
        FeatureCosts({"a": 1, "b": 2}, [0, 0], [3]),
        FeatureCosts({"a": 1, "b": 2}, [0, -1], [4]),
        FeatureCosts({"a": 1, "b": 2}),
        costs.unnamed,
        "prices",
    ]
    assert not any(costs == other for other in others)


def test_names_are_those_of_the_table_and_never_of_the_user_s_object():
    grouped = FeatureCosts([1, 2], [0, 0], [3])
    named = FeatureCosts.of(grouped, 2, ["x", "y"])
    assert (named.names, grouped.names) == (("x", "y"), None)
    assert named.full == 6
    assert FeatureCosts.of(None, 2, ["x", "y"]).names == ("x", "y")
    assert FeatureCosts.of(None, 2, range(2)).names is None
    assert named.unnamed == grouped
    assert repr(grouped) == "FeatureCosts(2 features, full cost 6, 1 group)"
    assert repr(FeatureCosts([1, 2])) == "FeatureCosts(2 features, full cost 3)"
    assert "full cost 1234567)" in repr(FeatureCosts([1_234_560, 7]))


def test_alone_every_feature_pays_its_group():
    costs = FeatureCosts([1, 2, 3], groups=[0, 0, -1], group_costs=[10])
    assert costs.alone.tolist() == [11, 12, 3] == [costs.subset([f]) for f in range(3)]


def test_subset_takes_indices_or_a_mask():
    costs = FeatureCosts([1, 2, 4])
    assert costs.subset([0, 2]) == costs.subset(np.array([True, False, True])) == 5
    assert costs.subset([]) == 0


def test_a_subset_of_what_is_no_index_is_refused():
    costs = FeatureCosts({"age": 1, "glucose": 2, "insulin": 3})
    for features in (["age"], [0.5], [3], [-1], {0}):
        with pytest.raises(CostError, match="indices of 3 features, from 0, or a mask, got "):
            costs.subset(features)


def test_places_that_there_are_not_are_refused_wherever_they_are_asked_for():
    costs = FeatureCosts([1, 2, 4], groups=[0, -1, 0], group_costs=[10, 20])
    for asked in (costs.take, lambda features: costs.group_of(*features)):
        for features in ([5], [-1], ["age"]):
            with pytest.raises(CostError, match="indices of 3 features, from 0, or a mask, got "):
                asked(features)
    assert costs.take([False, True, True]).costs.tolist() == [2, 4]


def test_a_group_is_given_as_its_members_and_their_charge():
    costs = FeatureCosts([1, 2, 4, 8], groups=[0, 1, 0, -1], group_costs=[10, 20])
    found = [costs.group_of(feature) for feature in range(4)]
    assert [members.tolist() for members, _ in found] == [[0, 2], [1], [0, 2], []]
    assert [charge for _, charge in found] == [10, 20, 10, 0]


def test_ones_and_zeros_are_truth_values():
    costs = FeatureCosts([1, 2])
    assert costs.total([[1, 0], [2, 1]]).tolist() == [1, 3]
    assert costs.marginal([1, 0]).tolist() == [0, 2]
    assert costs.shares([1, 0]).tolist() == [1, 0]


def test_a_budget_affords_its_own_sum_in_another_order():
    assert affords(0, 0)
    assert affords(0.3, 0.1 + 0.2)
    assert not affords(0.3, 0.3 + 1e-9)
    assert affords(5, 5)
    assert affords([1, 2], np.array([1, 2.1])).tolist() == [True, False]


NAMED = {"b": 2, "a": 1, "c": 3}


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_prices_by_name_follow_the_columns(kind):
    grouped = FeatureCosts(kind(NAMED), groups=[0, -1, 0], group_costs=[5])
    for costs in (grouped, FeatureCosts.of(grouped, 3, ["a", "b", "c"])):
        assert dict(zip(costs.names, costs.costs, strict=True)) == NAMED
        assert dict(zip(costs.names, costs.groups, strict=True)) == {"b": 0, "a": -1, "c": 0}
    assert FeatureCosts.of(kind(NAMED), 3, ["c", "a", "b"]).costs.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "unknown features: c. Correct"),
        (["a", "b", "c", "d"], "once; no price for features: d. Correct"),
        (["a", "b", "d"], "unknown features: c; no price for features: d. Correct"),
        (list("abcdefgh"), "no price for features: d, e, f, g, h. Correct"),
        (list("abcdefghij"), "no price for features: d, e, f, g, h and 2 more. Correct"),
        (None, "X has no feature names"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, message):
    with pytest.raises(CostError, match=message):
        FeatureCosts.of(NAMED, 3, names)


def test_a_count_is_no_name():
    counted = FeatureCosts(pd.Series([3, 1, 2]))
    assert FeatureCosts.of(counted, 3).costs.tolist() == [3, 1, 2]
    assert FeatureCosts.of(pd.Series({2: 2, 0: 3, 1: 1}), 3).costs.tolist() == [3, 1, 2]
    with pytest.raises(CostError, match=r"features 0 to 2, but X calls .* x, y, z: .*to_numpy"):
        FeatureCosts.of(counted, 3, ["x", "y", "z"])
    with pytest.raises(CostError, match=r"unknown features: 0, 1, 2; no price .*: 5, 6, 7"):
        FeatureCosts.of(counted, 3, [5, 6, 7])
    with pytest.raises(CostError, match=r"more than once: x\."):
        FeatureCosts(pd.Series([1, 2, 3], index=["x", "y", "x"]))


def test_it_is_no_array():
    with pytest.raises(TypeError, match=r"Use \.costs"):
        np.argsort(FeatureCosts([1, 2]))


def test_none_means_one_each():
    assert FeatureCosts.of(None, 3).costs.tolist() == [1, 1, 1]


def test_random_costs_are_reproducible_whole_numbers_of_the_range():
    drawn = np.concatenate([random_costs(50, seed).costs for seed in range(40)])
    assert (drawn == drawn.round()).all()
    assert (drawn.min(), drawn.max()) == (1, 100)
    assert random_costs(5, 3) == random_costs(5, 3)
    with pytest.raises(ValueError, match=r"Generator\(PCG64\).* cannot be used to seed"):
        random_costs(5, np.random.default_rng(0))


def test_prices_cannot_be_changed_afterwards():
    costs = FeatureCosts([1, 2], [0, -1], [3])
    for array in (costs.costs, costs.groups, costs.group_costs):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -2],), "entry 1 is -2"),
        (([1, np.nan],), "entry 1 is nan"),
        (([1, np.inf],), "finite"),
        ((["expensive"],), "must be numbers"),
        (([10**400],), "must be numbers"),
        (([[1, 2]],), "must be a vector"),
        (([1, 2], [0, 0]), "give both or none"),
        (([1, 2], [0], [5]), "each of the 2 features"),
        (([1, 2], [0, 1], [5]), "from -1 .* to 0"),
        (([1, 2], [0, 0.5], [5]), "one integer"),
        (([1, 2], [[0], [0, 0]], [5]), "one integer"),
        (([1, 2], ["blood", None], [5]), "one integer"),
        (([1, 2], [-2, 0], [5]), "from -1 .* to 0"),
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
    # NumPy takes NaN for True.
    for price in (FeatureCosts([1, 2]).total, FeatureCosts([1, 2]).marginal):
        with pytest.raises(CostError, match="True or False for each feature, got NaN"):
            price(np.array([[1, np.nan]]))


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_groups_have_names(kind):
    prices = {"age": 1, "glucose": 15.5, "insulin": 20.7}
    members, charges = kind({"glucose": "blood", "insulin": "blood"}), kind({"blood": 2.1})
    costs = FeatureCosts(kind(prices), groups=members, group_costs=charges)
    assert costs == FeatureCosts(kind(prices), groups=[-1, 0, 0], group_costs=[2.1])
    unnamed = FeatureCosts(
        [1, 2, 3], groups={2: "urine", 1: "blood"}, group_costs={"urine": 5, "blood": 7}
    )
    assert unnamed.subset([1]) == 9
    assert unnamed.subset([2]) == 8
    assert (
        FeatureCosts(kind(prices), groups=kind({}), group_costs=charges).full == 37.2
    )  # no member


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"glucos": "blood"}, "unknown features: glucos"),
        ({"glucose": "urine"}, "groups names urine"),
        ([-1, 0, 0], "unknown groups: blood"),
    ],
)
def test_names_of_groups_that_do_not_fit_are_refused(groups, message):
    prices = {"age": 1, "glucose": 15.5, "insulin": 20.7}
    with pytest.raises(CostError, match=message):
        FeatureCosts(prices, groups=groups, group_costs={"blood": 2.1})
