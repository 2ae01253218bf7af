"""The section of printed numbers: there when asked for, with what the table says."""

from contextlib import chdir
from pathlib import Path

import pandas as pd
import pytest

from budgetbench.study.records import table
from tests.factories import make_points, make_report, make_sheets, make_study
from tests.report.writing import write_page

ROOT = Path(__file__).resolve().parents[3]

PRINTED = """paper,table,dataset,method,quantity,value
yan,3,wine,msb,aup_test,0.9
yan,3,cancer,msb,aup_test,0.8
yan,3,mushroom,msb,aup_test,0.7
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    printed = folder / "resources" / "published"
    printed.mkdir(parents=True)
    (printed / "printed.csv").write_text(PRINTED)
    (printed / "other.csv").write_text(PRINTED)
    (printed / "deviations.yaml").write_text("[]")
    study = make_study(2, published=["printed"], stand_ins={"breast_cancer": "cancer"})
    with chdir(folder):
        write_page(
            make_report(table(make_points(n_runs=2)), study),
            folder,
            "published",
            "areas",
            "coverage",
        )
    return folder


def test_page_and_csv_hold_each_number(printed):
    page = (printed / "report.html").read_text(encoding="utf-8")
    section = page[page.index('id="published"') : page.index('id="areas"')]
    assert "0.900" in section
    assert "AUP (test), printed" in section
    assert "yan, table 3: Wine (2 runs of ours)" in section
    assert " %)</td>" in section
    assert "outside both interval and margin, with no known reason" in section
    assert 'class="number worse"' in section
    assert "other rows than the paper's cancer".replace("'", "&#39;") in section
    assert "printed: 1 printed number not rerun in this study." in section
    assert (printed / "tables" / "published.csv").read_text().count("\n") == 4


def test_every_quantity_that_a_paper_prints_can_be_shown(tmp_path):
    printed = tmp_path / "resources" / "published"
    printed.mkdir(parents=True)
    recorded = (ROOT / "resources" / "published").glob("*.csv")
    quantities = sorted({q for path in recorded for q in pd.read_csv(path)["quantity"]})
    assert {"predict_seconds", "error_percent"} <= set(quantities)
    rows = [f"yan,3,wine,msb,{quantity},0.9\n" for quantity in quantities]
    (printed / "printed.csv").write_text(PRINTED.partition("\n")[0] + "\n" + "".join(rows))
    (printed / "deviations.yaml").write_text("[]")
    points = table(make_points(n_runs=2)).assign(test_mse=0.1)
    points["node_entropy"] = 0.5 + points["run"] / 10
    with chdir(tmp_path):
        report = make_report(points, make_study(2, published=["printed"]))
        page = write_page(report, tmp_path, "published").read_text(encoding="utf-8")
    assert "seconds to predict, printed" in page
    # A larger or a smaller entropy is neither better nor worse.
    assert '<td class="number off">+54.10 (+55 %)</td>' in page


def test_without_printed_numbers_there_is_no_section(folder):
    assert "Printed and ours" not in (folder / "report.html").read_text(encoding="utf-8")
    assert not (folder / "tables" / "published.csv").exists()


def test_ranking_is_called_by_its_score(tmp_path):
    points, study = make_points(n_runs=1), make_study(1)
    report = make_report(points, study, make_sheets(study, score="AP@5"))
    page = write_page(report, tmp_path).read_text(encoding="utf-8")
    assert "AP@5 against cost" in page
    assert "AP@5, free constant" in page
    assert "ccuracy" not in page.replace("Cost–accuracy", "")
