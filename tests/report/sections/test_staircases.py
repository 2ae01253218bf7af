"""Schedules of several methods in one run."""

from budgetbench.report.sections.inside_msb import Staircases
from tests.factories import fail, make_points, make_report, make_study
from tests.report.writing import write_page

PANELS = {"Both": ["msb", "logitb"], "One": ["msb"]}


def drawn(points):
    """The figure of wine, and the schedules behind it."""
    report = make_report(points, make_study(2, staircases=PANELS))
    return Staircases(report.study).draw(report, "wine", "random"), report.results.schedules


def test_staircases_are_those_of_the_lowest_complete_run():
    figure, kept = drawn(fail(make_points(n_runs=2), "logitb", 0))
    both, one = figure.axes
    assert [axes.get_title(loc="left") for axes in (both, one)] == ["Both", "One"]
    assert "run 1" in figure.get_suptitle()
    own = kept[(kept["dataset"] == "wine") & (kept["run"] == 1) & (kept["method"] == "msb")]
    line = one.lines[0]
    assert line.get_xdata()[:-1].tolist() == own["valid_cost"].tolist()
    assert line.get_ydata()[:-1].tolist() == own["valid_score"].tolist()
    assert len(both.lines) == 4


def test_nothing_to_draw_is_said():
    points = make_points(n_runs=2)
    for run in (0, 1):
        points = fail(points, "logitb", run)
    figure, _ = drawn(points)
    assert "no run" in figure.texts[0].get_text()


def test_the_page_shows_them_on_request(tmp_path):
    points = make_points(n_runs=2).query("dataset == 'wine'")
    report = make_report(points, make_study(2, ["wine"], staircases=PANELS))
    page = write_page(report, tmp_path, "staircases", "schedules").read_text(encoding="utf-8")
    assert page.count("Model schedules: Wine") == 1
    assert (tmp_path / "figures" / "staircases_wine_random.svg").exists()
