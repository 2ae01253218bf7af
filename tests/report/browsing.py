"""A headless Chromium, and what it says about the page that it shows."""

import json
import os
import shutil

import pytest

WIDTHS = {"desktop": 1280, "phone": 400, "small phone": 320}
SWITCHES = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    # What a test does not look at takes a fifth of the browser's time.
    *("--disable-software-rasterizer", "--disable-extensions", "--disable-component-update"),
    *("--disable-background-networking", "--disable-sync", "--disable-breakpad"),
)


def start_browser():
    """Return a driver; skip the test where there is no browser, unless one is required."""
    from selenium import webdriver  # takes most of a second: not when tests are collected
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if not (browser and driver):
        _do_without("no Chromium with its chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        return webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        return _do_without(f"Chromium does not start: {error.msg}")


def _do_without(reason):
    if os.environ.get("BUDGETLEARN_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def wait_for(driver, condition, seconds=20):
    """Return what a condition without arguments comes to, as soon as it is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, seconds, poll_frequency=0.05).until(lambda _: condition())


def chart(driver, case="wine_random"):
    """Return the figure of a case once its chart is drawn."""
    figure = driver.find_element("css selector", f"[data-curves={case}]")

    def drawn():
        # Again and again, because figures drawn above it move it out of sight.
        driver.execute_script("arguments[0].scrollIntoView()", figure)
        return "drawn" in figure.get_attribute("class")

    wait_for(driver, drawn, 60)
    return figure


def press_key(element, name):
    """Press a key by its name in `selenium.webdriver.common.keys.Keys`."""
    from selenium.webdriver.common.keys import Keys

    element.send_keys(getattr(Keys, name))


def resize(driver, width):
    """Give the page a width in CSS pixels, smaller than a window can be if need be."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def emulate(driver, *, media="screen", scheme="light"):
    """Show the page as in print, or to a reader who prefers a dark scheme; nothing glides."""
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def requests(driver):
    """Return the addresses that the page asked for since the last call, data URIs left out."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    return [address for address in asked if not address.startswith("data:")]


def main_thread_seconds(driver):
    """Return the computing time that the page's main thread has taken so far."""
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
