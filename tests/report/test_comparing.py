"""The filter in a real browser: ranks, table, curves and the address follow every control."""

from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetbench import report
from budgetbench.analysis.areas import HORIZONS
from budgetbench.report.sections.compare import Overview, overview_figure
from tests.factories import (
    METHODS,
    fail,
    make_points,
    make_report,
    make_sheets,
    make_study,
)
from tests.looping import check_each
from tests.report.browsing import WIDTHS, emulate, press_key, resize, wait_for
from tests.report.test_browser import chart, choose, drawing, every, one, redraw, texts, wait
from tests.report.writing import write_page

pytestmark = pytest.mark.usefixtures("quick_texts")
MORE = {f"m{place}": {"label": f"m{place}", "class": "a.B"} for place in range(5)}
MOST_BYTES = 4_000_000


def many_points():
    """Return points of seven methods; logitB's examples differ in cost, m4 never completed."""
    points = make_points()
    msb = points[points["method"] == "msb"]
    frames = [points]
    for place, name in enumerate(MORE):
        # m3 is hardly worse than m2, and still behind it.
        worse = 0.03 * min(place + 1, 3) + 1e-8 * place
        frames.append(
            msb.assign(
                method=name,
                valid_score=msb["valid_score"] - worse,
                test_score=msb["test_score"] - worse,
            )
        )
    points = pd.concat(frames, ignore_index=True)
    points.loc[points["method"] == "logitb", ["cost_max", "valid_cost_max"]] *= 3
    for dataset in ("wine", "breast_cancer"):
        for run in range(5):
            points = fail(points, "m4", run, dataset, status="failed: no such luck")
    return points


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    study = make_study(methods=METHODS | MORE)
    write_page(make_report(many_points(), study), folder)
    return folder


@pytest.fixture(scope="module")
def areas(wide):
    table = pd.read_csv(wide / "tables" / "horizons.csv")
    return table.set_index(["budget", "horizon", "dataset", "method"])["mean_test"].sort_index()


@pytest.fixture
def page(browser, wide):
    resize(browser, WIDTHS["desktop"])
    emulate(browser)
    return opened(browser, (wide / "report.html").as_uri())


def opened(driver, address):
    """Return the driver once it has opened a page anew and the page's scripts have ended."""
    driver.get("about:blank")
    driver.get(address)
    wait_for(driver, lambda: driver.find_elements("css selector", "html.scripted"))
    return driver


# Asked for cell by cell, a table of seven methods takes longer than all else that a test does.
TABLE = """
const texts = (row, kind) => Array.from(row.querySelectorAll(kind), cell => cell.innerText.trim());
const [head, ...rows] = document.querySelectorAll("#compare-table tr");
return [texts(head, "th"), rows.map(row => [row.dataset.method, texts(row, "td")])];
"""


def table_of(driver):
    """Return the comparison's table as a frame, methods by their ids."""
    heads, rows = driver.execute_script(TABLE)
    cells = {method: [cell.rstrip(" ★") for cell in cells] for method, cells in rows}
    columns = [head.rstrip(" ▲▼") for head in heads[1:]]
    return pd.DataFrame.from_dict(cells, orient="index", columns=columns)


def fragment(driver):
    return driver.execute_script("return location.hash")


def press(driver, name, value):
    one(driver, f"#filter [name={name}][value='{value}']").click()


def unpick(driver, place, value):
    details = one(driver, f"#{place}").find_element("xpath", "ancestor::details")
    if details.get_attribute("open") is None:
        details.find_element("css selector", "summary").click()
    press(driver, place, value)


def test_areas_and_ranks_follow_horizon_and_charge(page, areas):
    check_each(product(("mean", "hard"), HORIZONS), partial(check_table, page, areas))


def check_table(page, areas, charge, horizon):
    """Press two buttons, and compare the table with the file of areas."""
    press(page, "horizon", horizon)
    press(page, "charge", charge)
    table, known = table_of(page), areas[charge, horizon]
    for method, text in table["Wine"].items():
        assert text == f"{known['wine', method]:.3f}"
    each = known.reset_index().pivot_table(index="method", columns="dataset", values="mean_test")
    each = each.drop(["all_features", "constant"])
    ranks = each.round(12).rank(ascending=False).mean(axis=1)
    assert set(table.index) == set(ranks.index) == {"msb", "logitb", "m0", "m1", "m2", "m3", "m4"}
    for method, text in table["Mean AUP"].items():
        assert float(text) == pytest.approx(each.loc[method].mean(), abs=6e-4)
    for method, text in table["Mean rank"].items():
        assert float(text) == pytest.approx(ranks[method], abs=0.051)


def test_a_hard_budget_charges_the_most_expensive_example(page):
    before = float(table_of(page).loc["logitb", "Wine"])
    others = table_of(page).loc["msb", "Wine"]
    press(page, "charge", "hard")
    table = table_of(page)
    assert float(table.loc["logitb", "Wine"]) < before - 0.05
    assert table.loc["msb", "Wine"] == others
    assert "charge=hard" in fragment(page)
    assert "hard budget" not in one(page, "#compared").text
    assert "most expensive example" in one(page, "#compared").text
    assert "acquisition cost of the most expensive example" in " ".join(texts(chart(page)))


def test_curves_end_where_the_horizon_does(page):
    figure = chart(page)
    assert "100%" in texts(figure)
    redraw(figure, lambda: press(page, "horizon", "25 %"))
    assert "100%" not in texts(figure)
    assert "25%" in texts(figure)


def test_a_data_set_that_is_not_picked_is_gone(page):
    unpick(page, "filter-cases", "breast_cancer_random")
    assert list(table_of(page)) == ["Mean rank", "Mean AUP", "Wine"]
    assert not one(page, "[data-curves=breast_cancer_random]").is_displayed()
    assert one(page, "[data-curves=wine_random]").is_displayed()
    assert "over 1 of 2 data sets" in one(page, "#compared").text
    assert "data=wine_random" in fragment(page)


def test_a_method_that_is_not_picked_is_not_ranked(page):
    first = table_of(page).index[0]
    unpick(page, "filter-methods", first)
    table = table_of(page)
    assert first not in table.index
    assert table["Mean rank"].iloc[0] != "–"
    last, *others = table.index
    for name in others:
        unpick(page, "filter-methods", name)
    assert one(page, "#compared").text == f"{last} is alone, so there is nothing to compare."
    assert "★" not in one(page, "#compare-table").text


def test_nothing_picked_is_said(page):
    for case in ("wine_random", "breast_cancer_random"):
        unpick(page, "filter-cases", case)
    assert "Nothing is chosen" in one(page, "#compared").text
    one(page, "#filter button[name=everything]").click()
    assert len(table_of(page).columns) == 4
    assert fragment(page) == ""


def test_the_address_keeps_the_choice(page, wide):
    press(page, "horizon", "10 %")
    press(page, "charge", "hard")
    unpick(page, "filter-methods", "m0")
    kept, before = fragment(page), table_of(page)
    opened(page, (wide / "report.html").as_uri() + kept)
    pd.testing.assert_frame_equal(table_of(page), before)
    assert one(page, "#filter [name=horizon][value='10 %']").is_selected()


def pressed(page):
    """Return the methods whose lines are shown."""
    buttons = every(page, "#curve-legend button[aria-pressed=true]")
    return {button.get_attribute("data-method") for button in buttons}


def test_five_best_are_drawn_and_others_on_request(page):
    figure = chart(page)
    best = list(table_of(page).index[:5])
    assert pressed(page) == {*best, "all_features", "constant"}
    assert one(page, "#curve-legend [data-method=m3]").get_attribute("aria-pressed") == "false"
    before = len(figure.find_elements("css selector", ".chart svg .mark-line path"))
    redraw(figure, one(page, "#curve-legend [data-method=m3]").click)
    assert len(figure.find_elements("css selector", ".chart svg .mark-line path")) == before + 1
    redraw(figure, one(page, "#curve-controls button[name=best]").click)
    assert len(figure.find_elements("css selector", ".chart svg .mark-line path")) == before


def test_the_five_best_are_of_those_that_have_a_line(page):
    before = pressed(page)
    page.execute_script(
        "window.comparison.order.unshift('m4');"  # as where it comes before others
        "document.dispatchEvent(new Event('comparison'));"
    )
    assert pressed(page) == before


@pytest.mark.parametrize("failing", [False, True])
def test_the_first_picture_is_of_ranked_data_and_of_methods_with_a_line(failing):
    points = make_points(n_runs=2)
    # Fewer methods compete on the first data set: ranks are those on the other one.
    points = points[(points["method"] != "logitb") | (points["dataset"] != "wine")]
    free = (points["method"] == "logitb") & (points["stage"] == 0)
    points.loc[free, ["cost", "cost_fraction", "valid_cost"]] = 0.0
    at_once = points.loc[free, "test_score"].mean()
    for run in (0, 1) if failing else ():
        points = fail(points, "msb", run, "breast_cancer")
        points = fail(points, "msb", run, "wine")
    some = {"wine": {"methods": [name for name in METHODS if name != "logitb"]}}
    made = make_report(points, make_study(2, by_dataset=some))
    assert made.cases[0] == ("wine", "random")
    assert Overview(made.study).context(made)["case"].startswith("Breast cancer")
    axes = overview_figure(made).axes[0]
    shown = {line.get_label() for line in axes.lines} & {"msB", "logitB"}
    assert shown == ({"logitB"} if failing else {"msB", "logitB"})
    # A curve with free models starts at their score, not at that of the constant.
    (line,) = (line for line in axes.lines if line.get_label() == "logitB")
    assert line.get_ydata()[0] == pytest.approx(at_once)


@pytest.mark.parametrize("narrow", [False, True])
def test_long_names_and_titles_stay_within_the_first_picture(narrow):
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow: not when collected

    long = "A name that says all settings of a method in full, as some do, "
    methods = {name: given | {"label": long + name} for name, given in METHODS.items()}
    study = make_study(2, methods=methods)
    title = "One title that is as long as those of tables sometimes are, or longer than that"
    made = make_report(make_points(n_runs=2), study, make_sheets(study, title=title))
    figure = overview_figure(made, narrow)
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    said = [axes.title, axes._left_title, *axes.texts]
    said += [text for legend in figure.legends for text in legend.get_texts()]
    for text in said:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
    assert axes.get_window_extent().width > 0.7 * figure.bbox.width


def test_a_method_without_a_line_says_why(page):
    caption = one(page, "[data-curves=wine_random] .absent").text
    assert caption == "No line: m4 (failed: no such luck)."


def test_pointing_at_a_line_sets_the_others_back(page):
    figure = chart(page)
    lines = figure.find_elements("css selector", ".chart svg .mark-line path")

    def seen():
        return [path.value_of_css_property("opacity") for path in lines]

    assert set(seen()) == {"1"}
    page.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "const at = {bubbles: true, clientX: box.left + 1, clientY: box.bottom - 1};"
        "const target = document.elementFromPoint(at.clientX, at.clientY);"
        "for (const kind of ['pointerover', 'pointermove', 'mouseover', 'mousemove'])"
        "  target.dispatchEvent(new PointerEvent(kind, at));",
        lines[0],
    )
    wait(page, lambda: seen().count("0.2") == len(lines) - 1)


def test_costs_are_logarithmic_where_most_models_are_cheap(browser, tmp_path):
    points = make_points(n_runs=2)
    wine = points["dataset"] == "wine"
    cheap = wine & (points["cost"] > 0) & (points["method"] != "all_features")
    columns = ["cost", "valid_cost", "cost_fraction", "cost_max", "valid_cost_max"]
    points.loc[cheap, columns] *= 0.05
    write_page(make_report(points), tmp_path, "curves", "compare")
    emulate(browser)
    opened(browser, (tmp_path / "report.html").as_uri())
    figure = chart(browser)
    assert "0%" not in texts(figure)
    assert "10%" in texts(figure)
    redraw(figure, lambda: choose(browser, "axis", "linear"))
    assert "0%" in texts(figure)
    assert "0%" in texts(chart(browser, "breast_cancer_random"))


def test_headings_sort_by_mouse_and_keyboard(page):
    def column():
        return [float(t) for t in table_of(page)["Breast cancer Wisconsin (diagnostic)"]]

    head = every(page, "#compare-table thead button")[4]
    head.click()
    assert column() == sorted(column())
    press_key(head, "ENTER")
    assert column() == sorted(column(), reverse=True)
    cell = every(page, "#compare-table thead th")[4]
    assert cell.get_attribute("aria-sort") == "descending"
    assert every(page, "#areas table thead button")


def test_numbers_of_any_writing_are_sorted_by_their_size(browser, tmp_path):
    cells = ["1,234 ± 5", "2.5e-05", "−3", "–", "12 %", "none", "0.5 [0.1, 0.9]", "12,345"]
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in cells)
    table = f"<table><thead><tr><th>a</th></tr></thead><tbody>{rows}</tbody></table>"
    script = Path(report.__file__).with_name("templates") / "page.js"
    text = f'<meta charset="utf-8">{table}<script>{script.read_text(encoding="utf-8")}</script>'
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    opened(browser, (tmp_path / "page.html").as_uri())
    every(browser, "th button")[0].click()
    found = [cell.text for cell in every(browser, "td")]
    numbers = ["−3", "2.5e-05", "0.5 [0.1, 0.9]", "12 %", "1,234 ± 5", "12,345"]
    assert found[:6] == numbers
    assert set(found[6:]) == {"–", "none"}


def test_bands_stay_within_what_a_score_can_be(browser, tmp_path):
    points = make_points(n_runs=3)
    high = (points["method"] == "msb") & (points["stage"] > 5)
    spread = np.random.default_rng(0).choice([-0.3, 0.05], size=high.sum())
    points.loc[high, "test_score"] = np.minimum(0.95 + spread, 1.0)
    write_page(make_report(points), tmp_path, "curves", "compare")
    opened(browser, (tmp_path / "report.html").as_uri())
    labels = [t for t in texts(chart(browser)) if t.replace(".", "").isdigit()]
    assert max(float(t) for t in labels) <= 1.0
    assert drawing(chart(browser))


def told_where(browser, tmp_path, **rivals):
    """Show a page whose data sets have these rivals, and return what is told above its ranks."""
    controls, points = ["all_features", "constant"], many_points()
    asked = {name: {"methods": [*methods, *controls]} for name, methods in rivals.items()}
    names = ["msb", "logitb", "m0", "m1", *controls]
    study = make_study(methods={name: (METHODS | MORE)[name] for name in names}, by_dataset=asked)
    here = [(d, m) for d, _, m in study.cells]
    points = points[pd.MultiIndex.from_frame(points[["dataset", "method"]]).isin(here)]
    write_page(make_report(points, study), tmp_path, "compare")
    opened(browser, (tmp_path / "report.html").as_uri())
    return one(browser, "#compared").text


def test_methods_without_a_data_set_in_common_are_ranked_on_one(browser, tmp_path):
    told = told_where(browser, tmp_path, wine=["m0", "m1"], breast_cancer=["msb", "logitb"])
    assert told.startswith("m0 has the best mean rank (1.00 of 2) over 1 of 2 data sets")
    assert table_of(browser).loc[["msb", "logitb"], "Mean AUP"].tolist() == ["–", "–"]


def test_ranks_and_mean_areas_are_over_the_same_data_sets(browser, tmp_path):
    told = told_where(browser, tmp_path, wine=["msb", "m0"])
    assert "over 1 of 2 data sets (those with the most methods)" in told
    table = table_of(browser)
    assert set(table.index) == {"msb", "logitb", "m0", "m1"}
    assert (table["Mean AUP"] == table["Breast cancer Wisconsin (diagnostic)"]).all()
    assert table.loc["logitb", "Wine"] == "–"


def test_a_data_set_is_one_observation_with_all_kinds_of_its_costs(browser, tmp_path):
    points, names = make_points(), {"msb": "logitb", "logitb": "msb"}
    wine = points[points["dataset"] == "wine"].assign(costs="unit")
    worse = wine.assign(method=wine["method"].replace(names))
    by_dataset = {"wine": {"costs": ["random", "unit", "given"]}}
    every = pd.concat([points, worse, worse.assign(costs="given")], ignore_index=True)
    made = make_report(every, make_study(by_dataset=by_dataset))
    write_page(made, tmp_path, "compare")
    opened(browser, (tmp_path / "report.html").as_uri())
    table, ranks = table_of(browser), made.results.ranking.mean
    assert table["Mean rank"].to_dict() == {name: f"{rank:.2f}" for name, rank in ranks.items()}
    assert sorted(ranks) == pytest.approx([4 / 3, 5 / 3])
    assert "over 4 of 4 pairs of data set and costs" in one(browser, "#compared").text


def test_a_method_that_never_completes_counts_as_the_constant(page):
    table = table_of(page)
    assert float(table.loc["m4", "Wine"]) == pytest.approx(0.4, abs=0.01)
    note = one(page, "#areas table").text
    assert "5 of 5 as the constant" in note


def test_a_phone_keeps_the_first_column_and_the_dark_has_dark_figures(page):
    resize(page, 390)
    region = one(page, "#areas .scroll")
    cell = region.find_element("css selector", "tbody th")
    page.execute_script("arguments[0].scrollLeft = 60", region)
    assert page.execute_script("return arguments[0].scrollLeft", region) > 0
    assert cell.rect["x"] == pytest.approx(region.rect["x"], abs=2)
    emulate(page, scheme="dark")
    turned = "return getComputedStyle(document.querySelector('figure')).filter"
    assert "invert" in page.execute_script(turned)
    emulate(page, media="print", scheme="dark")
    assert page.execute_script(turned) == "none"


def test_the_page_is_small(wide):
    assert (wide / "report.html").stat().st_size < MOST_BYTES
