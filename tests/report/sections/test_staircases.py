"""Schedules of several methods in one run."""

from budgetbench.analysis.schedules import compressed_points
from budgetbench.report.sections.inside_msb import staircase_figure
from tests.factories import fail, make_display, make_points, make_report, make_study
from tests.report.writing import write_page

PANELS = {"Both": ["msb", "logitb"], "One": ["msb"]}


def test_staircases_are_those_of_the_lowest_complete_run():
    kept = compressed_points(fail(make_points(n_runs=2), "logitb", 0))
    figure = staircase_figure(kept, make_display(), PANELS, "wine", "random")
    both, one = figure.axes
    assert [axes.get_title(loc="left") for axes in (both, one)] == ["Both", "One"]
    assert "run 1" in figure.get_suptitle()
    own = kept[(kept["dataset"] == "wine") & (kept["run"] == 1) & (kept["method"] == "msb")]
    drawn = one.lines[0]
    assert drawn.get_xdata()[:-1].tolist() == own["valid_cost"].tolist()
    assert drawn.get_ydata()[:-1].tolist() == own["valid_score"].tolist()
    assert len(both.lines) == 4


def test_nothing_to_draw_is_said():
    kept = compressed_points(make_points(1))[:0]
    figure = staircase_figure(kept, make_display(), PANELS, "wine", "random")
    assert "no run" in figure.texts[0].get_text()


def test_the_page_shows_them_on_request(tmp_path):
    points = make_points(n_runs=2).query("dataset == 'wine'")
    report = make_report(points, make_study(2, ["wine"], staircases=PANELS))
    page = write_page(report, tmp_path, "staircases", "schedules").read_text(encoding="utf-8")
    assert page.count("Model schedules: Wine") == 1
    assert (tmp_path / "figures" / "staircases_wine_random.svg").exists()
