"""Methods beside what others reach at their cost."""

from types import SimpleNamespace

from budgetbench.analysis.budgets import own_cost_table
from budgetbench.analysis.schedules import compressed_points
from budgetbench.report.sections.inside_msb import OwnCost
from tests.analysis.test_within_cost import stopping_early
from tests.factories import make_display, make_points, make_report, make_study
from tests.report.writing import write_page


def test_runs_in_which_a_rival_affords_nothing_are_noted():
    points = stopping_early(n_runs=5, last_stage=0)
    display = make_display()
    table = own_cost_table(points, compressed_points(points), ["logitb"], display)
    n_affording = table.set_index("rival").loc["msb", "n_affording"]
    report = SimpleNamespace(tables={"own_cost": table}, display=display)
    rows = OwnCost(make_study(own_cost=["logitb"])).context(report)["rows"]
    notes = {row[4]: row[5]["note"] for row in rows}
    assert notes == {"msB": f"{n_affording} of 5 runs afford a model", "all features": ""}
    # Its own score is drawn over all its runs, also where the first rival completed fewer.
    table.loc[table["rival"] == "msb", ["score", "n_runs"]] = [0.1, 1]
    (axes,) = OwnCost(make_study(own_cost=["logitb"])).figures(report)["own_cost"].axes
    whole = table.set_index("rival").loc["all_features", "score"]
    assert axes.containers[0].lines[0].get_xdata().tolist() == [whole]


def test_the_page_has_the_section_on_request(tmp_path):
    points = make_points(n_runs=2).query("dataset == 'wine'")
    report = make_report(points, make_study(2, ["wine"], own_cost=["logitb"]))
    page = write_page(report, tmp_path, "own-cost").read_text(encoding="utf-8")
    assert '<section id="own-cost">' in page
    assert (tmp_path / "figures" / "own_cost.svg").exists()
    assert (tmp_path / "tables" / "own_cost.csv").exists()
