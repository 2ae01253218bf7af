"""What it took: default and tuned side by side, and who is beaten in both time and score."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from budgetbench.report.page import build_tables
from budgetbench.report.sections.effort import Effort, straw_man_sentences
from tests.factories import METHODS, fail, make_display, make_points, make_report, make_study
from tests.report.writing import write_page


@pytest.fixture(scope="module")
def report():
    points = make_points()
    again = points[points["method"] == "msb"].assign(fit=1, fit_seconds=1.0)
    again = again.assign(stage=again["stage"] + 100)
    again[["valid_score", "test_score"]] += 0.05
    return make_report(pd.concat([points, again], ignore_index=True))


def test_default_and_tuned_stand_side_by_side(report):
    section = Effort(make_study())
    shown = section.context(build_tables([section], report))["rows"]
    rows = {label: row for label, *row in shown}
    assert rows["msB"][1:3] == ["20", "40"]
    assert rows["logitB"][1:3] == ["20", "20"]
    default, tuned = map(float, rows["msB"][-2:])
    assert tuned > default + 0.02
    assert len(set(rows["logitB"][-2:])) == 1


def drawn(report, seconds, aup):
    """The figure of a report with these seconds and areas by method, the same on all data sets."""
    section = Effort(report.study)
    table = build_tables([section], report).tables["effort"]
    method = table["method"]
    table = table.assign(seconds=method.map(seconds), aup=method.map(aup))
    return section.figures(replace(report, tables={"effort": table}))["effort"]


def test_the_line_joins_who_is_not_beaten_in_both(report):
    seconds = {"msb": 1.0, "logitb": 2.0}
    front = drawn(report, seconds, {"msb": 0.9, "logitb": 0.8}).axes[0].get_lines()[0]
    np.testing.assert_allclose(front.get_xydata(), [[1.0, 0.9]])
    front = drawn(report, seconds, {"msb": 0.8, "logitb": 0.9}).axes[0].get_lines()[0]
    assert front.get_xdata().max() == 2


def test_nothing_completed_is_said(report):
    assert "No run completed" in drawn(report, {}, {}).texts[0].get_text()


def test_means_are_over_the_same_data_sets_for_all():
    points = make_points()
    (first, second), methods = points["dataset"].unique()[:2], points["method"].unique()
    lacking = next(name for name in methods if name not in ("msb", "constant", "all_features"))
    # The second data set is without one method: it is not ranked, and neither is the case.
    kept = points[(points["dataset"] != second) | (points["method"] != lacking)].copy()
    kept.loc[kept["dataset"] == second, "test_score"] -= 0.3
    asked = {second: {"methods": [name for name in methods if name != lacking]}}
    report = make_report(kept, make_study(by_dataset=asked))
    section = Effort(report.study)
    context = section.context(build_tables([section], report))
    assert set(report.results.ranking.means.index.get_level_values(0)) == {first}
    assert context["over"] == "over 1 of 2 data sets, those with the most methods"
    alone = kept[kept["dataset"] == first]
    areas = make_report(alone).results.areas.groupby("method")["aup_test"].mean()
    for label, *_, area in context["rows"]:
        name = next(m for m in methods if report.display.label(m) == label)
        assert float(area) == pytest.approx(areas[name], abs=6e-4)


def test_straw_men_are_told_on_the_page_and_on_top():
    points = make_points()
    hit = points["method"] == "logitb"
    points.loc[hit, "test_score"] = 0.1
    report = make_report(points)
    section = Effort(make_study())
    built = build_tables([section], report)
    wine, cancer = section.context(built)["warnings"]
    assert "logitB on " in wine
    assert "has no larger area than the free constant in all 5 runs (mean AUP 0." in wine
    assert "in all 5 runs" in cancer
    assert section.summary(built) == [
        "In 2 comparisons methods have no larger AUP than the free constant, or a smaller one by "
        "tuning: see “What it took”."
    ]


def test_data_from_which_nobody_learns_are_doubted_once():
    points = make_points()
    hit = (points["dataset"] == "wine") & points["method"].isin(["msb", "logitb"])
    points.loc[hit, "test_score"] = 0.1
    section = Effort(make_study())
    built = build_tables([section], make_report(points))
    (sentence,) = section.context(built)["warnings"]
    assert sentence.startswith("On Wine none of 2 methods has a larger area than the free constant")
    assert section.summary(built)[0].startswith("In 1 comparison methods have no larger")


def test_without_straw_men_nothing_is_said(report):
    section = Effort(make_study())
    built = build_tables([section], report)
    assert section.context(built)["warnings"] == []
    assert section.summary(built) == []


def test_equal_seconds_stand_beside_equal_settings_and_change_nothing_else():
    methods = {name: dict(spec) for name, spec in METHODS.items()}
    methods["logitb"]["space"] = {"n_lambda": [5, 50]}
    points = make_points()
    again = points[points["method"] == "logitb"].assign(fit=1)
    again = again.assign(stage=again["stage"] + 100)
    again[["valid_score", "test_score"]] += 0.3
    study = make_study(methods=methods, tries=1, seconds_of="msb")
    section = Effort(study)
    longer = make_report(pd.concat([points, again], ignore_index=True), study)
    context = section.context(build_tables([section], longer))
    rows = {label: cells for label, *cells in context["equal"]}
    assert context["other"] == "msB"
    assert (rows["logitB"][0], rows["logitB"][3]) == ("1", "2")
    assert float(rows["logitB"][5]) > float(rows["logitB"][2]) + 0.1
    assert rows["msB"][:3] == rows["msB"][3:]
    pd.testing.assert_frame_equal(longer.results.areas, make_report(points).results.areas)
    # Each data set with another method: these would have means over other data sets.
    one = points[points["method"] == "msb"]
    points = pd.concat([points, one.assign(method="on_" + one["dataset"])], ignore_index=True)
    for place in ("on_wine", "on_breast_cancer"):
        methods[place] = METHODS["msb"] | {"label": place}
    asked = {name: {"methods": [*METHODS, f"on_{name}"]} for name in ("wine", "breast_cancer")}
    study = make_study(methods=methods, tries=1, seconds_of="msb", by_dataset=asked)
    built = build_tables([section], make_report(points, study))
    assert sorted(label for label, *_ in section.context(built)["equal"]) == ["logitB", "msB"]


def test_a_method_without_any_run_has_dashes_beside_equal_seconds():
    points = make_points(n_runs=2)
    for dataset, run in product(("wine", "breast_cancer"), (0, 1)):
        points = fail(points, "logitb", run, dataset)
    study = make_study(n_runs=2, methods=METHODS, tries=1, seconds_of="msb")
    section = Effort(study)
    context = section.context(build_tables([section], make_report(points, study)))
    (cells,) = (cells for label, *cells in context["equal"] if label == "logitB")
    assert cells[:2] == cells[3:5] == ["–", "–"]


def test_the_page_names_whose_seconds_are_equal_and_how_many_settings(folder, tmp_path):
    study = make_study(n_runs=2, methods=METHODS, tries=3, seconds_of="msb")
    write_page(make_report(make_points(n_runs=2), study), tmp_path, "effort")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = page.partition("<h3>With equal seconds</h3>")[2].partition("</section>")[0]
    assert "processor seconds that msB needed on the same data set and run" in section
    assert "On the left every method has at most 3 settings" in section
    heads = ("Settings", "Processor seconds", "AUP")
    for head in (*heads, *(f"{head}, equal seconds" for head in heads)):
        assert f">{head}</th>" in section
    assert section.count('<td class="number">') == 2 * 6  # msB and logitB, no control
    assert (tmp_path / "tables" / "equal_seconds.csv").is_file()
    # Without being asked for there is none.
    assert "equal seconds" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("n_runs", "runs"), [(1, "its one run"), (2, "both runs")])
def test_a_doubt_names_its_runs_and_both_areas(n_runs, runs):
    row = {"dataset": "wine", "costs": "random", "method": "logitb", "below": "default"}
    row |= {"aup": 0.9, "other_aup": 0.95, "n_runs": n_runs, "n_rivals": 2}
    (sentence,) = straw_man_sentences(pd.DataFrame([row]), make_display())
    assert sentence.startswith("logitB on Wine")
    assert sentence.endswith(
        f" is worse when tuned than at its own settings in {runs} (mean AUP 0.900 against 0.950)."
    )


def test_a_method_whose_seconds_count_may_be_left_out():
    """Its package may not be installed: then nobody has its seconds, and there is no table."""
    study = make_study(n_runs=2, tries=1, seconds_of="absent")
    section, report = Effort(study), make_report(make_points(n_runs=2), study)
    assert list(section.names) == ["effort", "straw_men"]
    assert section.context(build_tables([section], report))["equal"] == []
