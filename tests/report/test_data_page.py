"""The page of data sets says what is in them."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from budgetbench.datasets.dataset import Dataset
from budgetbench.report.data_page import write_data_page


def study_of(costs, **titles):
    return SimpleNamespace(
        name="made-up",
        config={"title": "Made up"},
        shown={
            name: {"title": title, "licence": "", "citation": "Nobody (2020)"}
            for name, title in titles.items()
        },
        datasets={name: SimpleNamespace(costs=costs.get(name)) for name in titles},
        sizes=lambda _: [0.6, 0.2, 0.2],
    )


def facts(page, section):
    """Return {name: value} of a data set's table."""
    body = page[page.index(f'<section id="{section}">') :]
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', body[: body.index("</section>")])
    return dict(rows)


@pytest.fixture
def page(tmp_path):
    X = np.column_stack([np.arange(10.0), np.ones(10)])
    y = np.repeat([0, 1], [7, 3])
    common = {"title": "x", "X": X, "feature_names": ("a", "<b>")}
    made = [
        Dataset("words", y=y, task="classification", class_names=("no", "<i>yes"),
                categories={"a": ("<u>", "v")}, **common),
        Dataset("numbers", y=np.linspace(-1, 3, 10), task="regression", **common),
    ]  # fmt: skip
    for data in made:
        data.save(tmp_path / f"{data.id}.parquet")
    (tmp_path / "prices.csv").write_text("feature,cost\na,2\n<b>,40\n")
    study = study_of({"words": str(tmp_path / "prices.csv")}, words="<Words>", numbers="Numbers")
    write_data_page(study, [tmp_path / f"{data.id}.parquet" for data in made], tmp_path / "p.html")
    return (tmp_path / "p.html").read_text()


def test_classes_and_prices_are_told(page):
    told = facts(page, "words")
    assert told["rows"] == "10"
    assert told["classes"] == "2"
    assert told["largest class"] == "70.0% of the rows"
    assert told["constant columns"] == "1"
    assert told["prices"] == "a list: 2 to 40, all together 42"
    assert told["citation"] == "Nobody (2020)"


def test_regression_tells_its_target(page):
    told = facts(page, "numbers")
    assert told["target"] == "-1 to 3, mean 1"
    assert told["prices"].startswith("none of its own")
    assert "classes" not in told


def test_a_picture_of_classes_target_and_prices(page):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert captions == ["Classes", "Prices, from the most expensive", "Target"]
    assert page.count("data:image/svg+xml;") == 3


def test_names_from_the_data_are_escaped(page):
    assert "&lt;Words&gt;" in page
    assert "&lt;u&gt;" in page
    assert "<u>" not in page
    assert "http://" not in page
