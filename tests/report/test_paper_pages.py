"""Every study of the papers has a page, with ours beside every printed number of its methods."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.reproduction import MEMBERS
from budgetbench.report import Report
from budgetbench.report.labels import DataSheet
from budgetbench.report.paper_studies import Reproduction
from budgetbench.report.sections.printed import read_published
from budgetbench.study.records import parse_setting, table
from budgetbench.study.study import Study
from budgetlearn.files import read_yaml
from tests.factories import make_points
from tests.report.writing import write_page

pytestmark = pytest.mark.usefixtures("quick_texts")
ROOT = Path(__file__).resolve().parents[2]
FOUND = Reproduction(ROOT, kept={})
STUDIES = [*FOUND.studies, *(one["study"] for one in FOUND.about["apart"] if not one["datasets"])]
N_RUNS = 2


@cache
def study_of(name):
    config = read_yaml(ROOT / "config/config.yaml")
    return Study.from_config(config | read_yaml(ROOT / f"config/studies/{name}.yaml"), ROOT)


def made_up_points(study, printed):
    """Return a few points of each method in two runs: one at every setting that is printed."""
    first = make_points(n_runs=1).drop_duplicates("method").set_index("method", drop=False)
    templates = first.loc[["msb", "constant"]].to_dict("index")
    known = {"test_mse": 0.1, "node_entropy": 0.5, "estimated_score": 0.7, "n_nodes": 9.0}
    stand_ins, rows = study.config.get("stand_ins", {}), []
    for dataset, costs, method in study.cells:
        row = templates["constant" if method == "constant" else "msb"] | known
        own = printed["dataset"] == stand_ins.get(dataset, dataset)
        settings = printed.loc[own & (printed["method"] == method), "setting"]
        for run in range(N_RUNS):
            head = {"dataset": dataset, "costs": costs, "method": method, "run": run}
            for stage, setting in enumerate(dict.fromkeys([*settings, ""])):
                # The number of features is a column, not a setting of a method.
                n_features = float(parse_setting(setting or None).get("n_features", 3))
                kept = ", ".join(p for p in setting.split(", ") if "n_features=" not in p)
                own = {"stage": stage, "setting": kept or pd.NA, "n_features": n_features}
                rows.append(row | head | own | {"valid_score": 0.5 + 0.1 * run + 0.01 * stage})
    return table(rows)


def report_of(study, points):
    shared = {"rows": 99, "features": 13, "classes": 2, "licence": "free", "citation": "Made up"}
    sheets = {name: DataSheet(title=name, **shared) for name in study.datasets}
    prices = [
        {"dataset": dataset, "costs": costs, "run": run, "feature": f"x{j}", "cost": 1.0}
        for dataset, costs in study.cases
        for run in range(N_RUNS)
        for j in range(13)
    ]
    prices = pd.DataFrame(prices).assign(group=None, group_cost=np.nan)
    return Report.of(study, points, sheets, prices, {"commit": "0123456789abcdef"})


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_has_ours_beside_every_printed_number_of_its_methods(name, tmp_path):
    study = study_of(name)
    printed = read_published(study.published)
    report = report_of(study, made_up_points(study, printed))
    section = "published" if study.published else "coverage"
    page = write_page(report, tmp_path, section, "downloads").read_text(encoding="utf-8")
    assert ("Printed and ours" in page) == bool(study.published)
    schema = json.loads((tmp_path / "tables/schema.json").read_text(encoding="utf-8"))
    described = [column for columns in schema.values() for column in columns]
    assert {column["name"] for column in described if not column["meaning"]} == set()
    if not study.published:
        return
    shown = pd.read_csv(tmp_path / "tables" / "published.csv")
    assert len(shown) >= len(printed)
    if not set(MEMBERS["msb"]) <= set(study.methods):  # its third reading is of its members
        shown = shown[shown["quantity"] != "aup_paper"]
    has = {(dataset, method) for dataset, _, method in study.cells}
    asked = shown[[pair in has for pair in zip(shown["run_on"], shown["method"], strict=True)]]
    assert len(asked)
    assert (asked["n_runs"] == N_RUNS).all(), asked[asked["n_runs"] != N_RUNS]
    assert (shown.drop(asked.index)["n_runs"] == 0).all()
