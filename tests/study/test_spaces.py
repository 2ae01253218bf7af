"""The solution space of a search: the lowest completed run, shared charges paid once."""

import pandas as pd
import pytest

from budgetbench.study.model_sequences import solution_space

FEATURES = [("a", 1, "g", 10), ("b", 2, "g", 10), ("c", 4, None, None)]
PRICES = pd.DataFrame(
    [
        {"run": run, "feature": name, "cost": cost, "group": group, "group_cost": charge}
        for run in (0, 1)
        for name, cost, group, charge in FEATURES
    ]
)


@pytest.fixture
def folder(tmp_path):
    for run in (0, 1):
        lines = '# {"format": 1}\nsubset,score,seconds\n' + f"3,0.{9 - run},1\n5,0.7,1\n"
        (tmp_path / f"{run}.csv").write_text(lines)
    return tmp_path


def test_costs_hold_shared_charges_once(folder):
    points = pd.DataFrame({"run": [0, 1], "status": ["ok", "ok"]})
    space = solution_space(points, PRICES, folder)
    assert space["cost"].tolist() == [13, 15]
    assert space["score"].tolist() == [0.9, 0.7]
    assert set(space["run"]) == {0}


def test_what_a_failed_run_left_behind_is_not_taken(folder):
    points = pd.DataFrame({"run": [0, 1], "status": ["failed: so", "ok"]})
    assert set(solution_space(points, PRICES, folder)["run"]) == {1}
    failed = points.assign(status="failed: so")
    assert solution_space(failed, PRICES, folder).empty
