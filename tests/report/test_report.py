"""The files of the report and the page: whole, self-contained, the same bytes each time."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from budgetlearn.exceptions import ConfigError
from budgetlearn.report import write_report
from budgetlearn.report.metadata import Metadata

from ..made_up import fail, made_up_metadata, made_up_points

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
    return made_up_points(n_runs=2).query("dataset == 'wine'")


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_every_figure_and_table_is_there(folder):
    cases = ["breast_cancer_random", "wine_random"]
    figures = [
        "areas",
        "ranks",
        "times",
        "growth",
        *(f"{kind}_{c}" for kind in ("curves", "schedule", "acquisition") for c in cases),
    ]
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in figures for kind in ("svg", "png")}
    tables = [
        "areas",
        "summary",
        "ranks",
        "leads",
        "controls",
        "recommendations",
        "acquisition",
        "times",
        "coverage",
    ]
    names = {path.name for path in (folder / "tables").iterdir()}
    assert names == {f"{name}.csv" for name in [*tables, *(f"schedule_{c}" for c in cases)]}
    assert {path.name for path in folder.iterdir()} == {"figures", "tables", "report.html"}


def test_the_same_points_give_the_same_bytes(tmp_path):
    points = small_study()
    write_report(points, made_up_metadata(), tmp_path / "first")
    shuffled = points.sample(frac=1, random_state=1)
    write_report(shuffled, made_up_metadata(), tmp_path / "second")
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
    assert all(target.startswith(("data:", "#")) for target in targets)
    styles_and_text = re.sub("<script.*?</script>", "", page, flags=re.DOTALL)
    assert "@import" not in styles_and_text
    assert not re.search(r"url\(", styles_and_text)


def test_links_lead_somewhere(page):
    outline = outline_of(page)
    ids = {attrs["id"] for _, attrs in outline.tags if "id" in attrs}
    links = {attrs["href"][1:] for attrs in outline.all("a")}
    assert links <= ids
    assert {"areas", "curves", "schedules", "times", "coverage", "settings"} <= links


def test_tables_and_figures_can_be_read_aloud(page):
    outline = outline_of(page)
    assert len(outline.all("caption")) == len(outline.all("table"))
    assert all(attrs.get("scope") in {"col", "row"} for attrs in outline.all("th"))
    assert all(attrs.get("alt") for attrs in outline.all("img"))
    assert len(outline.all("img")) == 6


def test_the_page_says_what_is_missing(page):
    assert "Wine, logitB: 4 ok, 1 failed (failed: ValueError: made up)" in page
    assert "4 runs" in page
    assert "see what is missing" in page


def test_the_page_shows_the_numbers_of_the_tables(folder, page):
    summary = pd.read_csv(folder / "tables" / "summary.csv")
    competing = summary[summary["method"].isin(["msb", "logitb"])]
    for row in competing.itertuples():
        assert f"{row.mean_test:.3f} ± {row.sd_test:.3f}" in page
        assert f"{row.mean_valid:.3f} ± {row.sd_valid:.3f}" in page


def test_the_page_shows_the_data_sheets(page):
    cells = re.findall(
        r'<td class="number">([^<]*)</td>', page[page.index("<caption>Data sets</caption>") :]
    )
    assert cells[:6] == ["178", "13", "3", "178", "30", "2"]
    assert "wine.data " + "ab" * 32 in page


def test_names_are_escaped(tmp_path):
    metadata = made_up_metadata()
    metadata["methods"]["msb"]["label"] = "<script>alert(1)</script>"
    path = write_report(small_study(), metadata, tmp_path)
    assert "<script>" not in path.read_text(encoding="utf-8")


def test_a_study_of_which_everything_failed_still_has_a_page(tmp_path):
    points = made_up_points(n_runs=2)
    for dataset in points["dataset"].unique():
        for method in points["method"].unique():
            for run in (0, 1):
                points = fail(points, method, run, dataset)
    page = write_report(points, made_up_metadata(), tmp_path).read_text(encoding="utf-8")
    assert "No method completed a single run" in page
    assert "2 failed" in page


def test_another_kind_of_costs_is_a_case_of_its_own(tmp_path):
    points = small_study()
    both = pd.concat([points, points.assign(costs="unit")], ignore_index=True)
    page = write_report(both, made_up_metadata(), tmp_path).read_text(encoding="utf-8")
    assert "Wine, unit costs" in page
    assert (tmp_path / "figures" / "curves_wine_unit.svg").exists()


@pytest.mark.parametrize(("column", "kind"), [("method", "msb"), ("dataset", "wine")])
def test_what_has_no_metadata_is_named(column, kind, tmp_path):
    points = made_up_points(n_runs=1).replace({column: {kind: "stranger"}})
    with pytest.raises(ConfigError, match=f"the {column} 'stranger'"):
        write_report(points, made_up_metadata(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_metadata_with_a_typo_is_refused():
    with pytest.raises(ConfigError, match=r"got .*'profils'"):
        Metadata.from_dict(made_up_metadata() | {"profils": None})
    with pytest.raises(ConfigError, match="must have the keys"):
        Metadata.from_dict({"study": "s"})


def test_controls_and_competitors_look_different():
    methods = Metadata.from_dict(made_up_metadata()).methods.values()
    assert len({(m.colour, m.marker) for m in methods}) == len(methods)
    assert [m.id for m in methods if m.control] == ["all_features", "constant"]
