"""Rows that belong together, such as the visits of a patient, are left out together."""

import numpy as np
import pytest

from budgetlearn import AutoBudgetClassifier, AutoBudgetRegressor
from budgetlearn.auto.evidence import Comparison
from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.cascade.models import assign_folds
from budgetlearn.validation import ParameterError, holdout


def visits(n_patients=40, n_visits=6, seed=0):
    """Return features that tell patients apart, labels that nothing tells, and the patients."""
    random = np.random.RandomState(seed)
    who = np.repeat(np.arange(n_patients), n_visits)
    y = random.randint(2, size=n_patients)[who]
    X = random.normal(size=(n_patients, 40))[who]
    return X, y, who


def auto(**parameters):
    return AutoBudgetClassifier(max_minutes=1e-5, random_state=0, **parameters)


def test_what_nothing_tells_of_new_patients_is_not_promised():
    X, y, who = visits()
    known = auto().fit(X, y).operating_points_["score"].max()
    new = auto().fit(X, y, groups=who).operating_points_
    assert known > 0.75 > 0.65 > new["score"].max()
    # As uncertain as so many patients are, not as so many rows.
    share = y.mean()
    assert new["score_se"].iloc[0] > 0.8 * np.sqrt(share * (1 - share) / 40)


def test_of_few_patients_neither_a_perfect_area_nor_a_mean_is_sure():
    y = np.arange(60) // 6 % 2
    X = np.column_stack([y, 0.1 * np.random.RandomState(0).normal(size=60)])
    for groups, n in ((np.arange(60) // 6, 10), (None, 60)):
        last = auto(scoring="roc_auc").fit(X, y, groups=groups).operating_points_.iloc[-1]
        assert last["score"] == 1
        each = n / 2  # of a class
        assert last["score_se"] == pytest.approx(1.5 * np.sqrt(2 * (each + 1) / each) / (each + 2))
        numbers = AutoBudgetRegressor(max_minutes=1e-5, random_state=0).fit(X, y, groups=groups)
        free = numbers.operating_points_.iloc[0]
        assert free["score"] == pytest.approx(0)
        error = 2 * np.sqrt(3) / (n - (n == 10))
        assert free["score_se"] == pytest.approx(error)
        # 0 is within two errors of the R² that the mean has on as many other patients.
        new = np.random.RandomState(0).binomial(n, 0.5, 1000) / n
        assert 0.9 < np.mean((new - 0.5) ** 2 < 2 * error * new * (1 - new)) < 1


def test_no_group_is_on_both_sides(monkeypatch):
    X, y, who = visits()
    seen, real = [], Comparison._predicted

    def predicted(self, method, train, out, budgets):
        seen.append(not set(self.train.groups[train]) & set(self.train.groups[out]))
        return real(self, method, train, out, budgets)

    monkeypatch.setattr(Comparison, "_predicted", predicted)
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.0)  # rows of weight 0 are dropped before
    auto().fit(X, y, groups=[f"patient {k}" for k in who], sample_weight=weight)
    assert len(seen) > 5
    assert all(seen)


def test_groups_may_have_any_names_and_unknown_ones_are_apart():
    X, y, who = visits()
    first = auto().fit(X, y, groups=who).operating_points_
    named = auto().fit(X, y, groups=[f"{k:02d}" for k in who]).operating_points_
    np.testing.assert_array_equal(named["score"], first["score"])
    alone = auto().fit(X, y, groups=np.full(len(y), None)).operating_points_
    assert alone["score"].max() > 0.75  # as many groups as rows


def test_splits_by_group_hold_out_their_share():
    _, y, who = visits(200)
    for classifies in (True, False):
        train, valid = holdout(y, 0.25, np.random.RandomState(0), classifies, who)
        assert not set(who[train]) & set(who[valid])
        assert sorted([*train, *valid]) == list(range(len(y)))
        assert valid.size == pytest.approx(0.25 * y.size, rel=0.05)
        folds = assign_folds(y, 2 if classifies else None, 5, np.random.RandomState(0), who)
        assert all(len(set(folds[who == k])) == 1 for k in range(200))
        assert np.bincount(folds).tolist() == [240] * 5


def test_validation_rows_are_groups_by_themselves(monkeypatch):
    X, y, who = visits()
    groups, real = [], Comparison.run

    def run(self, methods):
        groups.append(self.train.groups)
        return real(self, methods)

    monkeypatch.setattr(Comparison, "run", run)
    auto().fit(X, y, X[:50], y[:50], groups=who)
    assert np.unique(groups[0]).size == 40 + 50


def test_few_groups_and_others_than_rows_are_refused():
    X, y, who = visits()
    with pytest.raises(ParameterError, match="compared on 5 groups or more, got 4"):
        auto().fit(X, y, groups=who % 4)
    with pytest.raises(ParameterError, match="groups must be two or more, got one"):
        ScheduleCascadeClassifier().fit(X, y, groups=np.zeros(240))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        auto().fit(X, y, groups=who[1:])


def test_a_cascade_learns_out_of_fold_by_group_and_without_bags():
    X, y, who = visits()
    X = X[:, :3]
    known = ScheduleCascadeClassifier(random_state=0).fit(X, y)
    new = ScheduleCascadeClassifier(random_state=0).fit(X, y, groups=who)
    assert known.operating_points_["score"].max() > 0.9
    assert new.operating_points_["score"].max() < 0.7
    forest = ScheduleCascadeClassifier(estimators=("forest",), random_state=0).fit(X, y, groups=who)
    assert {kind for kind, _ in forest.models_.models} == {"constant", "forest"}
    one_pair = np.maximum(np.arange(len(y)), 1)
    kept = ScheduleCascadeClassifier(estimators=("forest", "linear"), random_state=0)
    kept.fit(X, (X[:, 0] > 0) ^ (X[:, 1] > 0), groups=one_pair)
    assert "forest" in {kind for kind, _ in kept.models_.models}
