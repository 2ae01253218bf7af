"""The page in a real browser: silent, offline, and its switches do what they say."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.factories import make_points, make_report, prices_of
from tests.report.browsing import (
    WIDTHS,
    chart,
    emulate,
    main_thread_seconds,
    press_key,
    requests,
    resize,
    wait_for,
)
from tests.report.writing import write_page

SLOWEST = 10  # seconds of computing; a page of this size takes less than 2
PATIENCE = 60  # seconds to wait, for a machine on which much else runs


@pytest.fixture
def page(browser, folder):
    """The page just opened in a wide window."""
    resize(browser, WIDTHS["desktop"])
    emulate(browser)
    browser.get((folder / "report.html").as_uri())
    # The page is loaded before its scripts have ended, and these fold sections by its width.
    wait(browser, lambda: every(browser, "html.scripted"))
    return browser


def wait(driver, condition):
    return wait_for(driver, condition, PATIENCE)


def selected(element):
    from selenium.webdriver.support.ui import Select

    return Select(element)


def one(driver, selector):
    return driver.find_element("css selector", selector)


def every(driver, selector):
    return driver.find_elements("css selector", selector)


def drawing(figure):
    """Return the chart's SVG, which a redraw replaces."""
    return figure.find_element("css selector", ".chart svg").get_attribute("outerHTML")


def redraw(figure, act):
    """Act, and return the chart's SVG after it has changed."""
    before = drawing(figure)
    act()
    idle = figure.find_element("css selector", ".chart")
    wait(
        figure.parent,
        lambda: idle.get_attribute("aria-busy") == "false" and drawing(figure) != before,
    )
    return drawing(figure)


def texts(figure):
    return [t.text for t in figure.find_elements("css selector", ".chart svg text")]


def choose(driver, name, value):
    one(driver, f"input[name={name}][value={value}]").click()


def test_the_page_opens_silently_and_offline(browser, folder):
    address = (folder / "report.html").as_uri()
    browser.get("about:blank")
    requests(browser)
    browser.get_log("browser")
    busy = main_thread_seconds(browser)
    browser.get(address)
    chart(browser)
    assert main_thread_seconds(browser) - busy < SLOWEST
    assert browser.get_log("browser") == []
    assert requests(browser) == [address]


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_page_never_scrolls_sideways(page, width):
    resize(page, width)
    for case in ("wine_random", "breast_cancer_random"):
        chart(page, case)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_chart_takes_the_place_of_the_still_picture(page):
    figure = chart(page)
    still = figure.find_element("css selector", "img")
    assert not still.is_displayed()
    assert figure.find_element("css selector", ".chart svg").is_displayed()
    emulate(page, media="print")
    assert still.is_displayed()
    assert not figure.find_element("css selector", ".chart").is_displayed()


def test_the_legend_hides_and_shows_methods(page):
    figure = chart(page)
    button = one(page, "#curve-legend button[data-method=msb]")
    colour = button.find_element("css selector", "path").get_attribute("fill")
    assert colour in drawing(figure)
    hidden = redraw(figure, lambda: press_key(button, "SPACE"))
    assert colour not in hidden
    assert button.get_attribute("aria-pressed") == "false"
    assert colour in redraw(figure, button.click)
    assert button.get_attribute("aria-pressed") == "true"


def test_all_methods_are_hidden_and_shown_at_once(page):
    figure = chart(page)
    page.get_log("browser")
    redraw(figure, one(page, "#curve-controls button[name=none]").click)
    assert texts(figure) == ["No method is shown."]
    redraw(figure, one(page, "#curve-controls button[name=all]").click)
    assert "test accuracy" in texts(figure)
    assert page.get_log("browser") == []


def test_the_cost_axis_is_linear_or_logarithmic(page):
    figure = chart(page)
    assert "0%" in texts(figure)
    redraw(figure, lambda: choose(page, "axis", "log"))
    assert "0%" not in texts(figure)
    assert "100%" in texts(figure)
    redraw(figure, lambda: choose(page, "axis", "linear"))
    assert "0%" in texts(figure)


def test_cost_is_a_share_or_in_its_own_unit(page):
    figure = chart(page)
    redraw(figure, lambda: choose(page, "unit", "cost"))
    assert not any("%" in text for text in texts(figure))
    assert "acquisition cost" in texts(figure)


def hover_box(driver, figure):
    """Point at the right end of the first line, and return the rows of the box that opens."""
    marks = figure.find_elements("css selector", ".chart svg .mark-line path")
    driver.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "const at = {bubbles: true, clientX: box.right - 3, clientY: box.top + 3};"
        "const target = document.elementFromPoint(at.clientX, at.clientY);"
        "for (const kind of ['pointerover', 'pointermove', 'mouseover', 'mousemove'])"
        "  target.dispatchEvent(new PointerEvent(kind, at));",
        marks[0],
    )
    tip = wait(driver, lambda: next(iter(every(driver, "#vg-tooltip-element.visible table")), None))
    rows = [row.find_elements("css selector", "td") for row in tip.find_elements("tag name", "tr")]
    return {key.text.rstrip(":"): value.text for key, value in rows}


def test_pointing_at_a_line_shows_its_numbers(page, folder):
    box = hover_box(page, chart(page))
    curve = study_of(page)["cases"]["wine_random"]["curves"]["curves"]
    shown = {
        f"{mean:.3f}": f"{100 * cost:.1f}%"
        for entry in curve
        if LABELS[entry["method"]] == box["Method"]
        for cost, mean in zip(entry["share"]["budget"], entry["share"]["mean"], strict=True)
    }
    assert box["Method"] in LABELS.values()
    assert shown[box["Mean test accuracy"]] == box["Cost"]
    assert re.fullmatch(r"± 0\.\d{3}", box["sd over runs"])
    assert box["Runs"] == ("4" if box["Method"] == "logitB" else "5")


def study_of(driver):
    """Return what the page carries for its scripts."""
    return json.loads(one(driver, "#study").get_attribute("textContent"))


def test_free_models_stay_on_a_logarithmic_axis(browser, tmp_path):
    points = make_points()
    cheapest = points.query("method == 'msb' and stage == 0").index
    points.loc[cheapest, ["cost", "valid_cost", "cost_fraction"]] = 0.0
    write_page(make_report(points), tmp_path, "curves", "compare")
    browser.get((tmp_path / "report.html").as_uri())
    figure = chart(browser)
    faint = ".chart svg .mark-symbol.role-mark path"
    before = len(figure.find_elements("css selector", faint))
    redraw(figure, lambda: choose(browser, "axis", "log"))
    assert len(figure.find_elements("css selector", faint)) == before
    assert [text for text in texts(figure) if text.startswith("≤ ")]


@pytest.mark.parametrize("dataset", ["wine", "breast_cancer"])
def test_a_data_set_that_nobody_completed_breaks_no_other(browser, tmp_path, dataset):
    points = make_points(n_runs=2)
    numbers = ["cost", "cost_fraction", "valid_score", "test_score", "fit_seconds"]
    lost = points["dataset"] == dataset
    points.loc[lost, numbers] = np.nan
    points.loc[lost, ["variables", "acquisition_rates"]] = None
    points.loc[lost, "status"] = "failed: ValueError: made up"
    write_page(make_report(points), tmp_path)
    browser.get_log("browser")
    browser.get((tmp_path / "report.html").as_uri())
    other = "breast_cancer_random" if dataset == "wine" else "wine_random"
    assert chart(browser, other)
    assert texts(chart(browser, f"{dataset}_random")) == ["No method is shown."]
    choose_case = selected(one(browser, "#buy-case"))
    choose_case.select_by_value(f"{dataset}_random")
    assert said(browser, "method").startswith("nothing: no method has an affordable model")
    choose_case.select_by_value(other)
    assert said(browser, "method") in ("msB", "logitB")
    assert browser.get_log("browser") == []


def slide(driver, share):
    """Move the budget, as a reader would."""
    driver.execute_script(
        "const slider = document.getElementById('buy-budget'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input', {bubbles: true}))",
        100 * share,
    )


def said(driver, name):
    return one(driver, f"#purchase [data-out={name}]").get_attribute("textContent")


def offers_of(folder, dataset="wine"):
    table = pd.read_csv(folder / "tables" / "recommendations.csv")
    return table[table["dataset"] == dataset].reset_index(drop=True)


LABELS = {"msb": "msB", "logitb": "logitB", "all_features": "all features"} | {
    "constant": "free constant"
}


def test_the_slider_recommends_what_python_recommends(page, folder):
    offers = offers_of(folder)
    for share in (0, 0.2, 0.31, 0.5, 1):
        slide(page, share)
        place = int((offers["budget"] <= share + 1e-9).sum()) - 1
        offer = offers.loc[place]
        assert said(page, "method") == LABELS[offer["method"]]
        assert said(page, "valid") == f"{offer['valid']:.3f} ± {offer['valid_sd']:.3f}"
        known = pd.notna(offer["low"])  # unless its runs have the same score, as the constant's
        reach = f" [{offer['low']:.3f}, {offer['high']:.3f}]" if known else ""
        end = " with its 95 % interval" if known else "; equal runs have no interval"
        assert said(page, "test") == f"{offer['test']:.3f}{reach}, mean of 5 runs{end}"
        rivals = [pair.split(" ") for pair in str(offer["runners_up"]).split("; ") if " " in pair]
        for method, score in rivals:
            assert f"{LABELS[method]} {float(score):.3f}" in said(page, "others")
        if place + 1 < len(offers):
            assert f"{offers.loc[place + 1, 'test']:.3f}" in said(page, "next")
        else:
            assert said(page, "next").startswith("none")


def test_the_budget_may_be_told_in_the_unit_of_the_prices(page, folder, tmp_path):
    slide(page, 0.5)
    full = prices_of("wine", 0).sum()
    amount = one(page, "#buy-amount")
    assert float(amount.get_attribute("value")) == pytest.approx(full / 2, rel=1e-3)
    amount.clear()
    amount.send_keys(str(full / 4))
    assert one(page, "#buy-share").text == "25.0 %"
    assert f"of {full:g}" in said(page, "cost")
    # A whole number keeps its digits.
    text = (folder / "report.html").read_text(encoding="utf-8")
    (tmp_path / "dear.html").write_text(re.sub(r'"full": ?[\d.]+', '"full": 25253', text), "utf-8")
    page.get((tmp_path / "dear.html").as_uri())
    wait(page, lambda: one(page, "#buy-full").text == "of 25253 for all features")


def test_the_slider_works_by_keyboard(page):
    slider = one(page, "#buy-budget")
    press_key(slider, "END")
    assert one(page, "#buy-share").text == "100.0 %"
    assert not one(page, "#buying button[name=better]").is_displayed()  # it would lead nowhere
    press_key(slider, "HOME")
    assert said(page, "method") == "free constant"
    assert not one(page, "#buying button[name=cheaper]").is_displayed()
    assert one(page, "#basket").text.startswith("Run 0, free constant: 0 variables")
    press_key(slider, "ARROW_RIGHT")
    assert slider.get_attribute("aria-valuetext") == "1.0\u00a0% of the full cost"


def test_buttons_step_from_model_to_model(page, folder):
    offers = offers_of(folder)
    slide(page, 0)
    for place in (1, 2, 3):
        one(page, "#buying button[name=better]").click()
        assert said(page, "test").startswith(f"{offers.loc[place, 'test']:.3f}")
    one(page, "#buying button[name=cheaper]").click()
    assert said(page, "test").startswith(f"{offers.loc[2, 'test']:.3f}")


def test_the_basket_names_variables_and_prices_of_the_chosen_run(page):
    slide(page, 1)
    selected(one(page, "#buy-run")).select_by_visible_text("2")
    rows = every(page, "#basket ~ tbody tr")
    cells = [[c.text for c in row.find_elements("css selector", "th, td")] for row in rows]
    prices = {f"wine measurement {n}": price for n, price in enumerate(prices_of("wine", 2))}
    assert cells
    assert {name: float(price) for name, price, _ in cells}.items() <= prices.items()
    assert {rate for _, _, rate in cells} == {"all examples"}


def test_another_data_set_has_its_own_offers(page, folder):
    slide(page, 0.5)
    selected(one(page, "#buy-case")).select_by_value("breast_cancer_random")
    offers = offers_of(folder, "breast_cancer")
    offer = offers[offers["budget"] <= 0.5].iloc[-1]
    assert said(page, "test").startswith(f"{offer['test']:.3f}")


def test_without_scripts_the_still_pictures_are_there(page, folder):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.get((folder / "report.html").as_uri())
    try:
        pictures = every(page, "#curves img")
        assert pictures
        assert all(picture.is_displayed() for picture in pictures)
        assert not one(page, "#curve-controls").is_displayed()
        assert not one(page, "#buying").is_displayed()
        assert every(page, "#schedules details table")
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.fixture
def phone(browser, folder):
    """The page just opened on a phone."""
    resize(browser, 390)
    emulate(browser)
    browser.get("about:blank")
    browser.get((folder / "report.html").as_uri())
    yield browser
    resize(browser, WIDTHS["desktop"])


def bottom(driver, selector):
    """Return where an element ends on the page, and how wide it is."""
    box = (
        "const box = arguments[0].getBoundingClientRect(); return [box.bottom + scrollY, box.width]"
    )
    return driver.execute_script(box, one(driver, selector))


def test_three_sentences_and_the_picture_are_the_first_screen(page):
    assert len(every(page, ".summary p")) == 3
    assert bottom(page, "#overview img.overview")[0] < 900
    assert not one(page, "#overview img.overview_narrow").is_displayed()


def test_the_first_screen_of_a_phone_has_a_picture_of_its_own(phone):
    assert not one(phone, "#overview img.overview").is_displayed()
    end, width = bottom(phone, "#overview img.overview_narrow")
    assert end < 844
    assert 300 < width < 390


def test_a_phone_folds_sections_and_links_unfold_them(phone):
    assert phone.execute_script("return document.documentElement.scrollHeight") < 12_000
    assert not one(phone, "#times table").is_displayed()
    phone.execute_script("arguments[0].click()", one(phone, "nav a[href='#times']"))
    wait(phone, one(phone, "#times table").is_displayed)
    one(phone, "#coverage summary").click()
    assert one(phone, "#coverage table").is_displayed()


def test_the_first_fifth_of_the_cost_has_half_of_the_axis(page):
    figure = chart(page)
    places = {
        text.text: text.location["x"] + text.size["width"] / 2
        for text in figure.find_elements("css selector", ".chart svg text")
        if text.text in ("0%", "20%", "100%")
    }
    axis = places["100%"] - places["0%"]
    assert places["20%"] - places["0%"] == pytest.approx(axis / 2, rel=0.1)
    redraw(figure, lambda: choose(page, "axis", "linear"))
    fifth = next(
        t for t in figure.find_elements("css selector", ".chart svg text") if t.text == "20%"
    )
    assert fifth.location["x"] < places["0%"] + axis / 3
