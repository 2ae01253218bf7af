"""The data sheets on the page, and the categories of coded columns."""

from types import SimpleNamespace

from budgetbench.datasets import load_dataset
from budgetbench.report.sections.about import Settings
from budgetbench.report.sheets import read_sheets
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


def test_numbers_have_no_classes(tmp_path):
    load_dataset("friedman1").save(tmp_path / "friedman1.parquet")
    shown = {"friedman1": {"title": "Friedman 1", "licence": "", "citation": ""}}
    study = SimpleNamespace(
        shown=shown, datasets=shown, seed=1, config={}, budget=lambda _: "acquisition",
        sizes=lambda _: [0.6, 0.2, 0.2],
    )  # fmt: skip
    (sheet,) = read_sheets(study, [tmp_path / "friedman1.parquet"], {}).values()
    assert (sheet.rows, sheet.classes) == (2300, None)


def test_methods_that_are_left_out_are_among_the_settings():
    study = make_study(2, left_out={"mine": "needs the package no_such_package"})
    settings = Settings(study).context(make_report(make_points(2), study))["settings"]
    assert settings["left out"] == {"mine": "needs the package no_such_package"}
    assert next(iter(settings)) == "runs"
    for refit in (True, False):
        study = make_study(2, refit=refit)
        settings = Settings(study).context(make_report(make_points(2), study))["settings"]
        assert settings["refit on training and validation data"] is refit
