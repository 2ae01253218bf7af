"""The data sheets on the page, and the categories of coded columns."""

from tests.factories import make_points, make_report, make_sheets, make_study
from tests.report.writing import write_page


def test_coded_columns_are_shown_with_their_categories(tmp_path):
    points, study = make_points(n_runs=1).query("dataset == 'wine'"), make_study(1, ["wine"])
    sheets = make_sheets(study, categories={"colour": ("red", "<white>")})
    page = write_page(make_report(points, study, sheets), tmp_path, "data").read_text()
    section = page[page.index('<section id="data">') :]
    assert '<tr><th scope="row">colour</th><td>red, &lt;white&gt;</td></tr>' in section


def test_data_without_coded_columns_show_none(tmp_path):
    points = make_points(n_runs=1).query("dataset == 'wine'")
    page = write_page(make_report(points), tmp_path, "data").read_text(encoding="utf-8")
    assert '<section id="data">' in page
    assert "coded columns" not in page
