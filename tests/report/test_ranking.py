"""Standings: best means marked, ranks in order, peers that win named first."""

import re

import numpy as np
import pytest

from budgetlearn.benchmark import aggregate
from budgetlearn.benchmark.ranking import ranking_of
from budgetlearn.report import write_report
from budgetlearn.report.metadata import Metadata
from budgetlearn.report.ranking import peers_ahead, rank_figure, rank_sentences, standings

from ..made_up import made_up_metadata, made_up_points


@pytest.fixture(scope="module")
def metadata():
    return Metadata.from_dict(made_up_metadata())


@pytest.fixture(scope="module")
def summary():
    return aggregate.summary_table(aggregate.area_table(made_up_points()))


def marks(summary, metadata):
    """Return which cells are marked as the best, by method."""
    table = standings(summary, ranking_of(summary, ["msb", "logitb"]), metadata)
    return {row["method"].id: [cell["best"] for cell in row["cells"]] for row in table["rows"]}


def test_the_best_mean_is_marked_ties_included(summary, metadata):
    assert marks(summary, metadata) == {"msb": [True, True], "logitb": [False, False]}
    tied = summary.assign(mean_test=0.5)
    assert marks(tied, metadata) == {"msb": [True, True], "logitb": [True, True]}


def test_without_a_rival_nobody_is_best(summary, metadata):
    lost = summary.assign(mean_test=summary["mean_test"].where(summary["method"] == "msb"))
    assert marks(lost, metadata) == {"msb": [False, False], "logitb": [False, False]}


def test_controls_never_bear_the_mark(summary, metadata):
    better = summary.assign(
        mean_test=summary["mean_test"].where(summary["method"] != "all_features", 1.0)
    )
    assert marks(better, metadata) == {"msb": [True, True], "logitb": [False, False]}


def test_rows_come_by_mean_rank(summary, metadata):
    turned = summary.assign(mean_test=1 - summary["mean_test"])
    table = standings(turned, ranking_of(turned, ["msb", "logitb"]), metadata)
    assert [row["method"].id for row in table["rows"]] == ["logitb", "msb"]
    assert [row["rank"] for row in table["rows"]] == ["1.0", "2.0"]
    assert [column["runs"] for column in table["columns"]] == ["5 runs", "5 runs"]


def test_the_validation_table_has_ranks_of_its_own(tmp_path):
    points = made_up_points(n_runs=2)
    turned = points["method"].isin(["msb", "logitb"])
    points.loc[turned, "valid_score"] = (
        points["test_score"].where(points["method"] == "logitb", points["test_score"] - 0.2)
    )[turned]
    write_report(points, made_up_metadata(), tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    tables = re.findall(r"<caption>AUP on (test|validation) data.*?</table>", page, re.DOTALL)
    assert tables == ["test", "validation"]
    rows = re.findall(
        r"<caption>AUP on (test|validation).*?<tbody>\s*<tr>\s*<th[^>]*>(\w+).*?"
        r'<td class="number">([\d.]+)</td>',
        page,
        re.DOTALL,
    )
    assert rows == [("test", "msB", "1.0"), ("validation", "logitB", "1.0")]


def test_a_method_that_lacks_a_case_has_no_rank_and_is_named(summary, metadata):
    gap = (summary["method"] == "logitb") & (summary["dataset"] == "wine")
    part = summary.assign(mean_test=summary["mean_test"].where(~gap))
    ranking = ranking_of(part, ["msb", "logitb"])
    rows = standings(part, ranking, metadata)["rows"]
    assert [(row["method"].id, row["rank"]) for row in rows] == [("msb", "1.0"), ("logitb", "–")]
    assert rank_sentences(ranking, metadata)[-1].endswith("lacks their area: logitB.")


def test_a_case_without_a_method_has_an_empty_cell(tmp_path):
    points = made_up_points(n_runs=2).query("not (method == 'logitb' and dataset == 'wine')")
    write_report(points, made_up_metadata(), tmp_path)
    summary = aggregate.summary_table(aggregate.area_table(points))
    metadata = Metadata.from_dict(made_up_metadata())
    rows = standings(summary, ranking_of(summary, ["msb", "logitb"]), metadata)["rows"]
    cells = {row["method"].id: row["cells"] for row in rows}
    assert cells["logitb"][0]["text"] == "–"
    assert cells["logitb"][1]["text"] != "–"


def test_a_peer_that_wins_is_named(summary):
    given = made_up_metadata()
    assert peers_ahead(summary, Metadata.from_dict(given)) == []
    given["methods"]["msb"]["peer"] = True
    (sentence,) = peers_ahead(summary, Metadata.from_dict(given))
    assert sentence.startswith("On 2 of 2 data sets what users pick today wins: msB on Wine,")


def test_the_diagram_shows_every_ranked_method(metadata):
    rng = np.random.default_rng(0)
    methods = ["msb", "logitb", "all_features"]
    points = made_up_points(n_runs=1)
    summary = aggregate.summary_table(aggregate.area_table(points))
    summary["mean_test"] = rng.uniform(size=len(summary))
    figure = rank_figure(ranking_of(summary, methods), metadata)
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(metadata.methods[name].label in texts for name in methods)
    bars = [line.get_xdata() for line in figure.axes[0].lines if line.get_linewidth() == 2.4]
    assert bars
    assert all(list(bar) == sorted(bar) for bar in bars)


def test_two_methods_are_too_few_for_a_test(summary, metadata):
    ranking = ranking_of(summary, ["msb", "logitb"])
    assert np.isnan(ranking.friedman)
    assert rank_sentences(ranking, metadata) == []
    assert "three methods" in rank_figure(ranking, metadata).texts[0].get_text()


def test_a_study_of_memory_has_no_areas(tmp_path):
    given = made_up_metadata()
    for sheet in given["datasets"].values():
        sheet["budget"] = "memory"
    points = made_up_points(n_runs=2).assign(n_nodes=10.0)
    page = write_report(points, given, tmp_path).read_text(encoding="utf-8")
    assert "Who wins" not in page
    assert "Error against memory" in page
    assert not (tmp_path / "figures" / "areas.svg").exists()
    assert (tmp_path / "figures" / "memory_wine_random.svg").exists()
