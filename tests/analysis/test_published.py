"""Printed numbers beside ours: read whole, matched by setting, and honest about what differs."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.areas import area_table
from budgetbench.analysis.reproduction import OurValues, published_table
from budgetbench.analysis.schedules import compressed_points
from budgetbench.report.sections.printed import read_published
from budgetbench.study import records

HEAD = "paper,table,dataset,method,trees,quantity,value"


def printed(tmp_path, *lines, head=HEAD):
    path = tmp_path / "one.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    return read_published([path])


def compared(points, printed, stand_ins=None):
    """Return the table of printed numbers, areas computed from the same points."""
    values = OurValues(points, lambda: area_table(points, compressed_points(points)))
    return published_table(values, printed, stand_ins or {})


def points():
    """Two runs of a forest of two trees, grown at two alphas, and the constant."""
    rows = []
    for run, shift in ((0, 0.0), (1, 0.02)):
        head = {"dataset": "sample", "costs": "unit", "run": run, "fit_seconds": 1.0}
        head |= {"predict_seconds": 0.1, "n_nodes": 9.0}
        for stage, (setting, cost, valid, test) in enumerate(
            [
                ("alpha=0, trees=1", 2, 0.7, 0.75),
                ("alpha=0, trees=2", 4, 0.9, 0.8),
                ("alpha=4, trees=1", 1, 0.8, 0.6),
                ("alpha=4, trees=2", 3, 0.8, 0.99),
            ]
        ):
            rows.append(
                head
                | {"method": "m", "stage": stage, "setting": setting, "cost": cost}
                | {"cost_fraction": cost / 10, "n_features": cost, "valid_cost": cost}
                | {"valid_score": valid, "test_score": test - shift}
            )
        free = {"method": "constant", "cost": 0, "cost_fraction": 0, "valid_score": 0.5}
        rows.append(head | free | {"n_features": 0, "valid_cost": 0, "test_score": 0.5})
    return records.table(rows)


def test_means_stand_beside_printed_numbers(tmp_path):
    table = compared(
        points(),
        printed(tmp_path, "p,1,sample,m,2,test_error,0.21", "p,1,sample,m,2,cost_percent,38"),
    )
    # Of the two alphas with two trees validation picks alpha=0.
    assert table["ours"].tolist() == pytest.approx([0.21, 40])
    assert table["sd"].tolist() == pytest.approx([np.std([0.2, 0.22], ddof=1), 0])
    assert table["difference"].tolist() == pytest.approx([0, 2])
    assert table["n_runs"].tolist() == [2, 2]
    assert table["note"].tolist() == ["", ""]


def test_a_full_setting_needs_no_choice(tmp_path):
    lines = ["p,1,sample,m,1,4,test_error,0.4", "p,1,sample,m,,4,n_features,1"]
    head = HEAD.replace("trees", "trees,alpha")
    table = compared(points(), printed(tmp_path, *lines, head=head))
    assert table["ours"].tolist() == pytest.approx([0.41, 1])


def test_stand_ins_and_gaps_are_noted(tmp_path):
    lines = ["full,m,1", "elsewhere,m,1", "full,other,1", "full,m,7"]
    table = compared(
        points(),
        printed(tmp_path, *(f"p,1,{line},test_error,0.5" for line in lines)),
        {"sample": "full"},
    )
    assert table["run_on"].fillna("none").tolist() == ["sample", "none", "sample", "sample"]
    assert table["note"].tolist() == [
        "ours on sample",
        "not rerun in this study",
        "no run of ours has it",
        "no run of ours has it",
    ]
    assert table["ours"].notna().tolist() == [True, False, False, False]


def test_a_failed_run_is_not_counted(tmp_path):
    frame = points()
    frame.loc[(frame["run"] == 1) & (frame["method"] == "m"), "status"] = "failed: made up"
    (row,) = compared(frame, printed(tmp_path, "p,1,sample,m,2,test_error,0.2")).to_dict("records")
    assert row["n_runs"] == 1
    assert row["ours"] == pytest.approx(0.2)
    assert np.isnan(row["sd"])


def test_areas_belong_to_runs(tmp_path):
    table = compared(points(), printed(tmp_path, "p,2,sample,m,,aup_test,0.7"))
    # Validation keeps the points of cost 1 and 4 (0.6 and 0.8 on test data).
    first = 0.1 * 0.5 + 0.3 * 0.6 + 0.6 * 0.8
    assert table["ours"].item() == pytest.approx(first - 0.02 * 0.9 / 2)


def test_an_estimate_stands_beside_the_printed_one(tmp_path):
    frame = points().assign(estimated_score=lambda f: f["test_score"] + 0.03)
    table = compared(frame, printed(tmp_path, "p,1,sample,m,2,estimated_score,0.8"))
    assert table["ours"].item() == pytest.approx(0.82)


def test_errors_are_in_the_unit_that_papers_print(tmp_path):
    frame = points().assign(test_mse=lambda f: 3 * f["test_score"])
    lines = ["p,1,sample,m,2,error_percent,20,0.5", "p,1,sample,m,2,mse,2.4,"]
    table = compared(frame, printed(tmp_path, *lines, head=HEAD + ",value_sd"))
    assert table["ours"].tolist() == pytest.approx([21, 2.37])
    assert table["setting"].tolist() == ["trees=2", "trees=2"]
    assert table["value_sd"].fillna(-1).tolist() == [0.5, -1]


def test_none_is_a_setting_and_an_empty_field_is_not(tmp_path):
    frame = points().assign(node_entropy=0.75)
    frame["setting"] = frame["setting"].str.replace("alpha=0", "alpha=None")
    lines = ["p,1,sample,m,None,entropy_percent,80", "p,1,sample,m,,entropy_percent,81"]
    table = compared(frame, printed(tmp_path, *lines, head=HEAD.replace("trees", "alpha")))
    assert table["setting"].tolist() == ["alpha=None", ""]
    assert table["ours"].tolist() == [75, 75]


def test_a_budget_leaves_the_points_that_keep_it_on_validation_data():
    values = OurValues(points(), dict)
    row = {"run_on": "sample", "costs": "unit", "method": "m", "setting": ""}
    row |= {"quantity": "test_error"}
    # At any cost validation picks alpha=0 with two trees, up to 1 alpha=4 with one, which costs 1.
    chosen = {most: values.of(row | {"at_most": most}).tolist() for most in (np.inf, 1, 1 - 1e-12)}
    assert chosen[np.inf] == values.of(row).tolist() == pytest.approx([0.2, 0.22])
    assert chosen[1] == chosen[1 - 1e-12] == pytest.approx([0.4, 0.42])
    assert values.of(row | {"at_most": 0.5}).empty
    by_run = pd.Series({0: np.inf, 1: 1.0})
    assert values.of(row | {"at_most": by_run}).to_dict() == pytest.approx({0: 0.2, 1: 0.42})
