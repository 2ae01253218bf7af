"""Names from the user's files are text in every page, and never run: tried in a browser."""

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import called_in, compared_in
from tests.report.browsing import WIDTHS, emulate, resize, wait_for

RUN = "window.hit=1"
SCRIPT, IMAGE = f"<script>{RUN}</script>", f'<img src=x onerror="{RUN}">'
COLUMNS = [SCRIPT, IMAGE, f'" onmouseover="{RUN}', f"</script>{SCRIPT}", "a,b", "{{ 7 * 7 }}"]
TARGET = f"</title></style>{SCRIPT}"
CLASSES = [f"<svg onload={RUN}>", f"<b>{SCRIPT}"]
WORDS = [f"<iframe srcdoc='{SCRIPT}'>", f"javascript:{RUN}"]
TABLE = f"{IMAGE}.csv"  # without a slash, as names of files are
SHARED = f"<i>{SCRIPT}"
OPTIONS = ("--target", TARGET, "--costs", "prices.csv")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder with a table and prices, in which all that has a name is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(120, len(COLUMNS))), columns=COLUMNS)
    table["a,b"] = random.choice(WORDS, 120)
    right = (table[SCRIPT] + table[IMAGE] + (table["a,b"] == WORDS[0])) > 0.5
    table[TARGET] = np.where(right, *CLASSES)
    table.to_csv(folder / TABLE, index=False)
    prices = pd.DataFrame({"feature": COLUMNS, "cost": range(1, 7)})
    prices["group"], prices["group_cost"] = [SHARED] * 2 + [None] * 4, [2] * 2 + [None] * 4
    prices.to_csv(folder / "prices.csv", index=False)
    return folder


def ran(folder, command, *words):
    """Run a command on the hostile table."""
    status, out, err = called_in(folder, command, TABLE, *OPTIONS, *words)
    assert status == 0, out[-3000:] + err[-3000:]


def opened(browser, page):
    """Open a page, let the mouse pass over all that it shows, and return its text."""
    resize(browser, WIDTHS["desktop"])
    emulate(browser)
    browser.get(page.as_uri())
    for figure in browser.find_elements("css selector", "[data-curves]"):
        browser.execute_script("arguments[0].scrollIntoView()", figure)
        wait_for(browser, lambda figure=figure: "drawn" in figure.get_attribute("class"), 60)
    browser.execute_script(
        "for (const one of document.querySelectorAll('body *'))"
        " for (const kind of ['mouseover', 'mousemove', 'focus'])"
        " one.dispatchEvent(new MouseEvent(kind, {bubbles: true}))"
    )
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = 1")
    assert browser.execute_script("return window.hit") is None
    made = "img[src='x'], iframe, svg[onload], [onmouseover], body b, body i"
    assert browser.find_elements("css selector", made) == []
    return browser.execute_script("return document.body.textContent")


def test_the_page_of_a_model_shows_names_as_they_are(hostile, browser):
    ran(hostile, "fit", "--method", "filter_forest", "--budget", "9", "--report", "m.html")
    text = opened(browser, hostile / "m.html")
    assert browser.title.startswith(TARGET)
    for name in (*COLUMNS, *WORDS, TARGET, TABLE):
        assert name in text


@pytest.mark.workflow
def test_the_report_of_a_comparison_shows_names_as_they_are(hostile, browser):
    compared_in(
        *(hostile, TABLE, *OPTIONS, "--name", "hostile", "--runs", "1"),
        *("--methods", "filter_forest", "--methods", "cascade"),
    )
    text = opened(browser, hostile / "results" / "hostile" / "report.html")
    assert browser.title.startswith(TABLE)
    for name in (SCRIPT, IMAGE, WORDS[0]):
        assert name in text
