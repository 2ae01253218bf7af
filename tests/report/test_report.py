"""The files of the report and the page: whole, self-contained, the same bytes each time."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from budgetbench.report import sections_of, write_report
from budgetbench.report.page import build_tables, collected
from budgetbench.report.style import svg_bytes
from budgetbench.study.records import POINTS
from budgetlearn.files import write_whole
from tests.factories import (
    METHODS,
    fail,
    make_display,
    make_points,
    make_prices,
    make_report,
    make_sheets,
    make_study,
)
from tests.report.writing import write_page

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Outline(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def outline_of(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    return outline


def small_study():
    return make_points(n_runs=2).query("dataset == 'wine'")


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_what_sections_announce_is_what_they_write(folder):
    sections = sections_of(make_study())
    announced = {part.path for section in sections for part in section.parts}
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    kinds = (".svg", ".csv", ".csv.gz", ".json")
    assert {path for path in written if path.endswith(kinds)} == announced
    captions = {part.caption_path for section in sections for part in section.parts}
    assert {path for path in written if path.endswith(".rst")} == captions
    assert len(captions) == len(announced)


def test_a_study_compared_by_acquisition_cost_has_its_figures(folder):
    cases = ["breast_cancer_random", "wine_random"]
    figures = [
        "areas",
        "ranks",
        "effort",
        "overview",
        "overview_narrow",
        *(f"curves_{c}" for c in cases),
    ]
    assert {path.stem for path in (folder / "figures").iterdir()} == set(figures)


def test_sections_have_an_anchor_and_a_place_of_their_own():
    sections = sections_of(make_study(budget="memory")) + sections_of(
        make_study(
            own_cost=["msb"], figures=["importance", "solution_space"], staircases={"x": ["msb"]}
        )
    )
    kinds = {type(section): section for section in sections}.values()
    assert len({section.id for section in kinds}) == len({s.place for s in kinds}) == len(kinds)
    assert all(section.title for section in kinds)


def test_planning_a_report_loads_no_drawing_library():
    heavy = {"matplotlib", "seaborn", "scipy", "sklearn", "statsmodels", "jinja2", "vl_convert"}
    code = "import sys; from budgetbench.report import sections; sections._classes(); "
    code += f"print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_same_points_give_the_same_bytes(tmp_path):
    points = small_study()
    write_report(make_report(points), tmp_path / "first")
    shuffled = points.sample(frac=1, random_state=1)
    # What a report of more data sets left there, and files of the user.
    left = ["figures/curve_old.svg", "tables/old.csv", "tables/old.json"]
    left += [f"captions/{name}.rst" for name in ("figure_curve_old", "table_old", "file_old.json")]
    own = ["figures/own.svg", "tables/own", "captions/my_own.rst"]
    for name in left + own:
        write_whole(tmp_path / "second" / name, "")
    write_report(make_report(shuffled), tmp_path / "second")
    assert [name for name in left + own if (tmp_path / "second" / name).exists()] == own
    files = [path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*.*")]
    assert len(files) > 10
    for name in files:
        first, second = ((tmp_path / turn / name).read_bytes() for turn in ("first", "second"))
        assert first == second, name


def test_the_page_loads_nothing(page):
    outline = outline_of(page)
    assert outline.all("script")
    targets = [a.get("src") or a.get("href") for _, a in outline.tags if "src" in a or "href" in a]
    assert targets
    downloads = [a["href"] for a in outline.all("a") if "download" in a]
    assert all(t.startswith(("data:", "#")) for t in targets if t not in downloads)
    styles_and_text = re.sub("<script.*?</script>", "", page, flags=re.DOTALL)
    assert "@import" not in styles_and_text
    assert "url(" not in re.sub('"data:[^"]*"', "", styles_and_text)


def test_links_lead_somewhere(page):
    outline = outline_of(page)
    ids = {attrs["id"] for _, attrs in outline.tags if "id" in attrs}
    links = {attrs["href"][1:] for attrs in outline.all("a") if "download" not in attrs}
    assert links <= ids
    assert {"areas", "curves", "schedules", "times", "coverage", "settings"} <= links


def test_every_file_of_the_report_can_be_downloaded(folder, page):
    offered = {a["href"] for a in outline_of(page).all("a") if "download" in a}
    assert all((folder / path).is_file() for path in offered)
    assert {p.name for p in (folder / "tables").iterdir()} <= {Path(path).name for path in offered}


def test_points_and_their_columns_are_described(folder):
    tables = folder / "tables"
    points = pd.read_csv(tables / "points.csv.gz")
    assert len(points) == len(fail(make_points(), "logitb", 3))
    schema = json.loads((tables / "schema.json").read_text())
    assert [one["name"] for one in schema["points"]] == list(points)
    bare = {
        table: [c["name"] for c in columns if not c["meaning"]] for table, columns in schema.items()
    }
    assert not {table: names for table, names in bare.items() if names}
    # A name may mean something else in another table.
    meanings = {t: {c["name"]: c["meaning"] for c in columns} for t, columns in schema.items()}
    assert meanings["points"]["budget"] == POINTS["budget"].meaning
    assert "share" in meanings["curves"]["budget"]
    assert "share" in meanings["recommendations"]["cost"]
    assert "hard" in meanings["horizons"]["budget"]
    curves = pd.read_csv(tables / "curves.csv")
    assert set(curves["method"]) == set(METHODS)


def test_tables_and_figures_can_be_read_aloud(page):
    outline = outline_of(page)
    assert len(outline.all("caption")) == len(outline.all("table"))
    assert all(attrs.get("scope") in {"col", "row"} for attrs in outline.all("th"))
    assert all(attrs.get("alt") for attrs in outline.all("img"))
    assert len(outline.all("img")) == 6


def test_the_page_says_what_is_missing(page):
    assert "Wine, logitB: 4 ok, 1 failed (failed: ValueError: made up)" in page
    assert "see what is missing" in page


def test_the_page_shows_the_numbers_of_the_tables(folder, page):
    summary = pd.read_csv(folder / "tables" / "summary.csv")
    competing = summary[summary["method"].isin(["msb", "logitb"])]
    for row in competing.itertuples():
        assert f"{row.mean_test:.3f} ± {row.sd_test:.3f}" in page


def test_the_page_shows_the_data_sheets(page):
    cells = re.findall(
        r'<td class="number">([^<]*)</td>', page[page.index("<caption>Data sets</caption>") :]
    )
    assert cells[:6] == ["178", "13", "3", "178", "30", "2"]


def test_a_study_without_printed_tables_says_nothing_of_them(folder, page):
    seen = " ".join(outline_of(page).text)
    assert "rinted" not in re.sub(r"<script.*?</script>", "", seen, flags=re.DOTALL)
    assert "Papers that do not say" not in page
    files = {path.name for path in (folder / "tables").iterdir()}
    assert not [name for name in files if "printed" in name]


def test_names_are_escaped(tmp_path):
    named = METHODS | {"msb": METHODS["msb"] | {"label": "<script>alert(1)</script>"}}
    study = make_study(2, ["wine"], named)
    path = write_page(make_report(small_study(), study), tmp_path)  # names in pictures are encoded
    assert "<script>" not in path.read_text(encoding="utf-8")


def test_a_study_of_which_everything_failed_still_has_a_page(tmp_path):
    points = make_points(n_runs=2)
    for dataset in points["dataset"].unique():
        for method in points["method"].unique():
            for run in (0, 1):
                points = fail(points, method, run, dataset)
    page = write_page(make_report(points), tmp_path).read_text(encoding="utf-8")
    assert "No method completed a single run" in page
    assert "2 failed" in page
    assert 'Some runs did not complete: <a href="#coverage">' in page


def test_what_ran_alone_is_not_said_to_be_the_best(tmp_path):
    points = make_points(n_runs=2)
    for dataset in points["dataset"].unique():
        for run in (0, 1):
            points = fail(points, "logitb", run, dataset)
    page = write_page(make_report(points), tmp_path).read_text(encoding="utf-8")
    assert "No data set has completed runs of two methods" in page
    assert "best mean rank however much" not in page


def test_a_data_set_that_nobody_has_begun_has_its_files_too(tmp_path):
    report = make_report(small_study(), make_study(2))  # as of a study that is not strict
    write_page(report, tmp_path)
    parts = [part for section in sections_of(report.study) for part in section.parts]
    assert [part.path for part in parts if not (tmp_path / part.path).is_file()] == []


def test_where_all_completed_nothing_is_said_to_be_missing(tmp_path):
    page = write_page(make_report(small_study(), make_study(2, ["wine"])), tmp_path, "coverage")
    assert "Some runs did not complete" not in page.read_text(encoding="utf-8")


def test_another_kind_of_costs_is_a_case_of_its_own(tmp_path):
    points = small_study()
    both = pd.concat([points, points.assign(costs="unit")], ignore_index=True)
    study = make_study(2, ["wine"], costs=["random", "unit"])
    page = write_page(make_report(both, study), tmp_path).read_text(encoding="utf-8")
    assert "Wine, unit costs" in page
    assert (tmp_path / "figures" / "curves_wine_unit.svg").exists()


def test_controls_and_competitors_look_different():
    methods = make_display().methods.values()
    assert len({(m.colour, m.marker) for m in methods}) == len(methods)
    assert [m.id for m in methods if m.control] == ["all_features", "constant"]


def test_dollars_in_names_are_no_mathematics():
    points, dollars = make_points(n_runs=2), METHODS | {"msb": METHODS["msb"] | {"label": "$_{$"}}
    study = make_study(2, methods=dollars)
    sheets = make_sheets(study, title=r"Fees in $, \frac{$")
    prices = make_prices()
    prices["feature"] += r" $\bad{$"
    report = replace(make_report(points, study, sheets), prices=prices)
    sections = sections_of(study)
    report = build_tables(sections, report)
    for name, figure in collected(sections, report, "figures").items():
        assert svg_bytes(figure), name


def test_the_hashes_of_data_sets_are_those_of_their_content(page):
    """Of none they are those of fetched files: some are embedded, and all are prepared."""
    table = re.search(
        r"<caption>SHA-256 of the prepared data sets</caption>.*?</table>", page, re.S
    )
    assert re.findall(r'<td class="hash">(\w*)</td>', table[0]) == ["ab" * 32, "cd" * 32]
