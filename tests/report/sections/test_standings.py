"""Standings: best means marked, ranks in order, peers that win named first."""

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.ranks import critical_difference, ranking_of
from budgetbench.report.labels import Display
from budgetbench.report.page import build_tables
from budgetbench.report.sections.compare import Horizons
from budgetbench.report.sections.standings import (
    Standings,
    area_figure,
    peers_ahead,
    rank_figure,
    rank_sentences,
    standings,
)
from budgetbench.report.style import svg_bytes
from tests.factories import (
    METHODS,
    make_display,
    make_points,
    make_report,
    make_results,
    make_study,
)
from tests.report.writing import write_page


@pytest.fixture(scope="module")
def display():
    return make_display()


@pytest.fixture(scope="module")
def summary():
    return make_results().summary


def marks(summary, display):
    """Return which cells are marked as the best, by method."""
    _, rows = standings(summary, ranking_of(summary, ["msb", "logitb"]), display)
    return {named["text"]: [cell["best"] for cell in cells] for named, _, *cells in rows}


def test_the_best_mean_is_marked_ties_included(summary, display):
    assert marks(summary, display) == {"msB": [True, True], "logitB": [False, False]}
    tied = summary.assign(mean_test=0.5)
    assert marks(tied, display) == {"msB": [True, True], "logitB": [True, True]}


def test_without_a_rival_nobody_is_best(summary, display):
    lost = summary.assign(mean_test=summary["mean_test"].where(summary["method"] == "msb"))
    assert marks(lost, display) == {"msB": [False, False], "logitB": [False, False]}


def test_controls_never_bear_the_mark(summary, display):
    better = summary.assign(
        mean_test=summary["mean_test"].where(summary["method"] != "all_features", 1.0)
    )
    assert marks(better, display) == {"msB": [True, True], "logitB": [False, False]}


def test_rows_come_by_mean_rank(summary, display):
    turned = summary.assign(mean_test=1 - summary["mean_test"])
    heads, rows = standings(turned, ranking_of(turned, ["msb", "logitb"]), display)
    assert [(named["text"], rank) for named, rank, *_ in rows] == [
        ("logitB", "1.00"),
        ("msB", "2.00"),
    ]
    assert [head["note"] for head in heads] == ["5 runs", "5 runs"]


def test_a_method_that_lacks_a_case_has_no_rank_and_is_named(summary, display):
    gap = (summary["method"] == "logitb") & (summary["dataset"] == "wine")
    part = summary.assign(mean_test=summary["mean_test"].where(~gap))
    ranking = ranking_of(part, ["msb", "logitb"])
    _, rows = standings(part, ranking, display)
    assert [(named["text"], rank) for named, rank, *_ in rows] == [("msB", "1.00"), ("logitB", "–")]
    assert rank_sentences(ranking, display)[-1].endswith("on some data set: logitB.")


def test_a_case_without_a_method_has_an_empty_cell(tmp_path):
    points = make_points(n_runs=2).query("not (method == 'logitb' and dataset == 'wine')")
    write_page(make_report(points), tmp_path)
    summary = make_results(points).summary
    display = make_display()
    _, rows = standings(summary, ranking_of(summary, ["msb", "logitb"]), display)
    cells = {named["text"]: cells for named, _, *cells in rows}
    assert cells["logitB"][0]["text"] == "–"
    assert cells["logitB"][1]["text"] != "–"
    # Where only controls are compared, their scores still stand below their own data set.
    rest = summary[~summary["method"].isin(["msb", "logitb"]) | (summary["dataset"] != "wine")]
    heads, rows = standings(rest, ranking_of(rest, ["msb", "logitb"]), display)
    assert heads[0]["text"] == "Wine"
    assert [row[2]["text"] for row in rows] == ["–", "–"]


def test_a_peer_that_wins_is_named(summary, display):
    assert peers_ahead(summary, display) == []
    peer = METHODS | {"msb": METHODS["msb"] | {"peer": True}}
    (sentence,) = peers_ahead(summary, Display(peer, display.datasets))
    wins = "A method that users pick today wins on 2 of 2 data sets: msB on Wine,"
    assert sentence.startswith(wins)
    (sentence,) = peers_ahead(summary.query("dataset == 'wine'"), Display(peer, display.datasets))
    assert sentence.startswith("A method that users pick today wins: msB on Wine.")
    twice = pd.concat([summary, summary.assign(costs="unit")], ignore_index=True)
    (sentence,) = peers_ahead(twice, Display(peer, display.datasets))
    assert "wins on 4 of 4 pairs of data set and costs: msB on Wine, Wine, unit costs," in sentence
    alone = summary[summary["method"].isin(["msb", "constant"])]  # nobody to win against
    assert peers_ahead(alone, Display(peer, display.datasets)) == []
    peers = peer | {"logitb": METHODS["logitb"] | {"peer": True}}  # of which some one is best
    assert peers_ahead(summary, Display(peers, display.datasets)) == []
    # The same area as a method of the papers, but for the last bit, is no win.
    mean = summary.set_index(["dataset", "method"])["mean_test"]
    equal = [mean[d, "msb"] - 1e-16 if m == "logitb" else mean[d, m] for d, m in mean.index]
    assert peers_ahead(summary.assign(mean_test=equal), Display(peer, display.datasets)) == []


def test_it_is_told_where_no_method_is_better_than_the_constant():
    points = make_points(n_runs=2)
    section = Standings(make_study(2))
    usual = section.summary(build_tables([section], make_report(points)))
    assert not any("free constant" in sentence for sentence in usual)
    hit = (points["dataset"] == "wine") & points["method"].isin(["msb", "logitb"])
    points.loc[hit, "test_score"] = 0.1
    told = section.summary(build_tables([section], make_report(points)))
    # Right after the method of best mean, so above the picture.
    assert told[1] == "No method has a better mean AUP than the free constant on Wine."


def many_cases(n_copies):
    """Return a summary of several copies of two data sets."""
    one = make_results(make_points(n_runs=1)).summary
    copies = [one.assign(dataset=one["dataset"] + f" {turn}") for turn in range(n_copies)]
    return pd.concat(copies, ignore_index=True)


def test_the_diagram_shows_every_ranked_method(display):
    rng = np.random.default_rng(0)
    methods = ["msb", "logitb", "all_features"]
    summary = many_cases(5)
    summary["mean_test"] = rng.uniform(size=len(summary))
    figure = rank_figure(ranking_of(summary, methods), display)
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(display.methods[name].label in texts for name in methods)
    # On a phone, too: nothing is cut off, and a letter is 7 pixels high.
    figure.draw_without_rendering()
    width, box = figure.get_figwidth(), figure.get_tightbbox()
    assert 0 <= box.x0 < box.x1 <= width
    assert 10 / 72 * 350 / width > 7
    bars = [line.get_xdata() for line in figure.axes[0].lines if line.get_linewidth() == 2.4]
    assert bars
    assert all(list(bar) == sorted(bar) for bar in bars)


def test_few_data_sets_make_no_claim_of_rank(display):
    summary = many_cases(4)
    summary["mean_test"] = np.random.default_rng(0).uniform(size=len(summary))
    ranking = ranking_of(summary, ["msb", "logitb", "all_features"])
    assert len(ranking.ranks) == 8
    assert ranking.pairs is not None
    (sentence,) = rank_sentences(ranking, display)
    assert sentence.startswith("8 data sets are too few")
    assert "10 data sets" in rank_figure(ranking, display).texts[0].get_text()
    one = ranking_of(summary[summary["dataset"] == "wine 0"], ["msb", "logitb"])
    assert rank_sentences(one, display)[0].startswith("1 data set is too few for a general claim")
    twice = pd.concat([summary, summary.assign(costs="unit")], ignore_index=True)
    ranking = ranking_of(twice, ["msb", "logitb", "all_features"])
    assert len(ranking.means) == 16
    assert rank_sentences(ranking, display) == [sentence]
    assert "10 data sets" in rank_figure(ranking, display).texts[0].get_text()


def test_a_method_alone_has_no_lead():
    methods = {name: spec for name, spec in METHODS.items() if name != "logitb"}
    points = make_points(n_runs=2).query("method != 'logitb'")
    report = make_report(points, make_study(2, methods=methods))
    section = Standings(report.study)
    wine, _ = section.context(build_tables([section], report))["lead_rows"]
    assert wine == ["Wine", "msB", "–", "–", "–"]
    ((_, *ranks),) = Horizons(report.study).context(report)["rows"]
    assert {(rank["text"], rank["best"]) for rank in ranks} == {("1.00", False)}


def test_many_data_sets_tell_the_critical_difference(display):
    summary = many_cases(5)
    summary["mean_test"] = np.random.default_rng(0).uniform(size=len(summary))
    ranking = ranking_of(summary, ["msb", "logitb", "all_features"])
    # Demsar 2006, table 5: q(.05) = 2.343 for three classifiers.
    expected = 2.343 * np.sqrt(3 * 4 / (6 * 10))
    assert critical_difference(ranking) == pytest.approx(expected, abs=1e-3)
    assert f"critical difference is {expected:.2f} ranks" in rank_sentences(ranking, display)[0]


def test_two_methods_are_too_few_for_a_test(summary, display):
    ranking = ranking_of(summary, ["msb", "logitb"])
    assert np.isnan(ranking.friedman)
    assert [said for said in rank_sentences(ranking, display) if "too few" not in said] == []
    assert "three methods" in rank_figure(ranking, display).texts[0].get_text()


def test_a_study_of_memory_has_no_areas(tmp_path):
    study = make_study(2, budget="memory")
    points = make_points(n_runs=2).assign(n_nodes=10.0)
    page = write_page(make_report(points, study), tmp_path).read_text(encoding="utf-8")
    assert "Who wins" not in page
    assert "Error against memory" in page
    assert not (tmp_path / "figures" / "areas.svg").exists()
    assert (tmp_path / "figures" / "memory_wine_random.svg").exists()


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize("n_runs", [1, 4])
def test_the_area_figure_shows_every_method_and_case(display, n_runs):
    areas = area_figure(make_results(make_points(n_runs=n_runs)).areas, display)
    assert legend(areas) == ["msB", "logitB"]
    rows = [t.get_text().replace("\n", " ") for t in areas.axes[0].get_yticklabels()]
    assert rows == ["Wine", "Breast cancer Wisconsin (diagnostic)"]


def test_one_method_alone_has_a_figure(display):
    areas = make_results(make_points(n_runs=2)).areas
    drawn = area_figure(areas[areas["method"] == "msb"], display)
    assert legend(drawn) == ["msB"]
    assert b"<svg" in svg_bytes(drawn)


def test_only_controls_completed(tmp_path):
    points = make_points(n_runs=2)
    write_page(make_report(points[points["method"].isin(["constant", "all_features"])]), tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No method completed a single run" in page
    assert "There is nothing to compare" in page
    assert 'class="overview"' not in page  # no empty picture, whose caption names no data set
