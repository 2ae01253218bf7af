"""Times: every method and data set has its numbers."""

from budgetbench.analysis.efforts import time_table
from budgetbench.report.sections.effort import time_rows
from tests.factories import make_display, make_points


def test_numbers_stand_under_their_data_set():
    display, points = (
        make_display(),
        make_points(n_runs=2).query("not (method == 'logitb' and dataset == 'wine')"),
    )
    titles, rows = time_rows(time_table(points), display, "predict")
    assert titles == ["Wine", "Breast cancer Wisconsin (diagnostic)"]
    texts = {label: cells for label, *cells in rows}
    assert texts["logitB"][0] == "–"
    assert texts["msB"] == ["2.00 ± 0.00", "2.00 ± 0.00"]
    _, rows = time_rows(time_table(points.query("method != 'logitb'")), display, "fit")
    assert [label for label, *_ in rows] == ["msB", "all features", "free constant"]
