"""Time to open a report in headless Chromium, and to draw a chart after scrolling to it.

    python benchmarks/speed_page.py results/default/report.html

Prints the best and the median of several openings, and the page's size. Charts are drawn when they
come near the window, so opening the page does not wait for them. Needs selenium, as the tests do.
"""

import argparse
import shutil
import statistics
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900")
OPENED = """
const [page] = performance.getEntriesByType("navigation");
const [paint] = performance.getEntriesByName("first-contentful-paint");
return page.loadEventEnd && paint ? [paint.startTime / 1000, page.loadEventEnd / 1000] : null;
"""
SCROLLED = "document.querySelector('[data-curves]').scrollIntoView()"
DRAWN = "return document.querySelector('[data-curves] .chart svg') !== null"


def waited(driver, script):
    """Return the result of a script as soon as it is neither null nor false."""
    while not (found := driver.execute_script(script)):
        time.sleep(0.01)
    return found


def opened(driver, address):
    """Open a page; return the seconds to the first paint, to the end of loading and for a chart."""
    driver.get(address)
    times = waited(driver, OPENED)
    start = time.perf_counter()
    driver.execute_script(SCROLLED)
    waited(driver, DRAWN)
    return *times, time.perf_counter() - start


def main():
    """Print the times."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("page", type=Path)
    options.add_argument("--repeats", type=int, default=5)
    asked = options.parse_args()
    chromium = webdriver.ChromeOptions()
    for switch in SWITCHES:
        chromium.add_argument(switch)
    chromium.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    driver = webdriver.Chrome(options=chromium, service=Service(shutil.which("chromedriver")))
    try:
        address = asked.page.resolve().as_uri()
        rows = [opened(driver, address) for _ in range(asked.repeats)]
    finally:
        driver.quit()
    names = ("first seen", "all there", "first chart drawn, once scrolled to")
    for name, seconds in zip(names, zip(*rows, strict=True), strict=True):
        print(f"{name}: {min(seconds):.2f} s, median {statistics.median(seconds):.2f} s")
    print(f"size: {asked.page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
