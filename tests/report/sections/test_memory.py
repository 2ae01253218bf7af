"""Error against memory: means per size, where methods are compared by memory."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from budgetbench.analysis.budgets import size_table
from budgetbench.report import sections_of
from budgetbench.report.sections.memory import Memory
from tests.factories import METHODS, make_display, make_points, make_report, make_study
from tests.report.writing import write_page

COMPETITORS = ["msb", "logitb"]


def sized(methods=("msb", "logitb")):
    """The generated study, its stages seen as sizes of ten nodes each, on wine."""
    points = make_points(n_runs=2).query("dataset == 'wine'").reset_index(drop=True)
    own = points["method"].isin(methods)
    points.loc[own, "n_nodes"] = 10.0 * (points.loc[own, "stage"] + 1)
    points.loc[own, "n_bytes"] = 64 + 8 * points["n_nodes"]
    points.loc[own, "setting"] = "size=" + points.loc[own, "stage"].astype(str)
    return points


def report_of(table):
    """A report of this table of sizes."""
    return SimpleNamespace(tables={"memory": table}, display=make_display())


def drawn(table):
    """The figure of a table of sizes on wine."""
    return Memory(make_study()).draw(report_of(table), "wine", "random")


def told(table):
    """The sentences about a table of sizes."""
    return Memory(make_study()).summary(report_of(table))


def test_errors_are_means_over_runs():
    points = sized()
    table = size_table(points, COMPETITORS)
    row = table[(table["method"] == "msb") & (table["setting"] == "size=3")].iloc[0]
    scores = points.loc[(points["method"] == "msb") & (points["stage"] == 3), "test_score"]
    assert row["n_nodes"] == 40
    assert row["n_bytes"] == 64 + 8 * 40
    assert row["error"] == pytest.approx(1 - scores.mean())
    assert row["error_sd"] == pytest.approx(scores.std())
    assert row["n_runs"] == 2
    for _, own in table.groupby("method"):
        assert own["n_nodes"].is_monotonic_increasing


def test_regression_shows_mean_squared_errors():
    points = sized().assign(test_mse=7.0)
    assert size_table(points, COMPETITORS)["error"].unique().tolist() == [7.0]


def test_no_nodes_are_a_figure_that_says_so():
    table = size_table(sized(()), COMPETITORS)
    assert table.empty
    assert "no model has nodes" in drawn(table).texts[0].get_text()


def test_comparing_by_acquisition_cost_makes_no_section():
    assert "memory" not in {section.id for section in sections_of(make_study())}


def test_the_sentence_compares_where_every_method_has_a_model():
    table = pd.DataFrame(
        [("msb", 10, 0.4), ("msb", 50, 0.2), ("msb", 90, 0.1), ("logitb", 60, 0.3),
         ("logitb", 900, 0.01)],
        columns=["method", "n_nodes", "error"],
    ).assign(
        dataset="wine", costs="random", variant="", n_bytes=np.nan, valid_score=0.5
    )  # fmt: skip
    (sentence,) = told(table)
    assert sentence.endswith("test error on 1 data set comes from msB.")
    table["n_bytes"] = [800, 900, 1000, 100, 400]  # as a few leaves of many classes take
    in_nodes, in_bytes = told(table)
    assert in_nodes == sentence
    assert "fewest bytes" in in_bytes
    assert in_bytes.endswith("on 1 data set comes from logitB.")
    assert told(table.iloc[:0]) == []


def gridded():
    """The generated study, msB fitted at two depths."""
    points = sized(["msb"]).query("method in ['msb', 'constant'] and stage < 4")
    deeper = points.query("method == 'msb'").assign(fit=1, stage=lambda f: f["stage"] + 4)
    points = pd.concat([points, deeper.assign(test_score=0.99)], ignore_index=True)
    own = points["method"] == "msb"
    depth = "depth=" + (points.loc[own, "fit"] + 1).astype(str)
    points.loc[own, "setting"] = depth + ", " + points.loc[own, "setting"]
    return points


def test_settings_of_a_grid_are_lines_and_rivals_of_their_own():
    table = size_table(gridded(), COMPETITORS)
    assert table["variant"].tolist() == ["depth=1"] * 4 + ["depth=2"] * 4
    assert table["n_nodes"].tolist() == [10, 20, 30, 40] * 2
    figure = drawn(table)
    labels = [text.get_text() for text in figure.axes[-1].texts]
    assert labels == ["msB, depth=1", "msB, depth=2"]
    assert len({container.lines[0].get_color() for container in figure.axes[0].containers}) == 2
    for sentence in told(table):
        assert sentence.endswith("on 1 data set comes from depth=2.")


def test_many_settings_of_a_grid_are_points():
    table = size_table(gridded(), COMPETITORS)
    many = pd.concat([table.assign(variant=f"depth={depth}") for depth in range(6)])
    (container,) = drawn(many).axes[0].containers
    assert container.lines[0].get_linestyle() == "None"


def test_a_method_alone_has_no_sentence():
    assert told(size_table(sized(["msb"]), COMPETITORS)) == []


def test_axes_of_nodes_and_bytes_are_logarithmic():
    table = size_table(sized(), COMPETITORS)
    figure = drawn(table)
    nodes, stored = figure.axes
    assert nodes.get_xscale() == stored.get_xscale() == "log"
    assert nodes.get_ylabel() == "test error"
    places = [axes.containers[0].lines[0].get_xdata(orig=False) for axes in (nodes, stored)]
    np.testing.assert_allclose(places[1], 0.064 + 0.008 * places[0])  # kB
    unknown = drawn(table.assign(n_bytes=np.nan))
    assert [axes.get_xlabel() for axes in unknown.axes] == ["nodes of the model"]


def test_page_has_the_section(tmp_path):
    study = make_study(2, ["wine"], budget="memory")
    page = write_page(make_report(sized(), study), tmp_path, "memory").read_text()
    assert '<section id="memory">' in page
    assert "Error against memory" in page
    table = pd.read_csv(tmp_path / "tables" / "memory.csv")
    assert set(table["method"]) == {"msb", "logitb"}
    assert (table["n_bytes"] == 64 + 8 * table["n_nodes"]).all()
    assert '<td class="number">1,024</td>' in page
    assert (tmp_path / "figures" / "memory_wine_random.svg").exists()


def test_page_without_memory_budgets_has_none(tmp_path):
    page = write_page(make_report(sized()), tmp_path).read_text()
    assert "memory" not in page


def test_what_a_method_tries_is_one_line_chosen_on_validation_data(tmp_path):
    tried = {**METHODS, "msb": {**METHODS["msb"], "space": {"max_variables": [2, 3]}}}
    study = make_study(2, ["wine"], methods=tried, budget="memory", tries=2)
    write_page(make_report(gridded(), study), tmp_path, "memory")
    table = pd.read_csv(tmp_path / "tables" / "memory.csv")
    assert table["variant"].isna().all()
    assert table["setting"].str.fullmatch(r"≤ \d+ nodes").all()


def test_labels_of_many_sizes_are_plain_numbers_side_by_side():
    table = size_table(sized(), COMPETITORS)
    table["n_nodes"] *= np.geomspace(0.1, 3e4, len(table))
    figure = drawn(table)
    figure.draw_without_rendering()
    for axes in figure.axes:
        low, high = axes.get_xlim()
        places = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        labels = [label for place, label in places if low <= place <= high]
        boxes = [label.get_window_extent() for label in labels]
        assert len(labels) > 1
        assert not any("e" in label.get_text() for label in labels)
        assert all(one.x1 < two.x0 for one, two in pairwise(boxes))
