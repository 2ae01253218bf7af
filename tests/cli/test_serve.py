"""The page of one case: asked in a browser, and closed to everybody else."""

import json
import urllib.error
import urllib.request
from threading import Thread
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from budgetlearn.cli import serve
from budgetlearn.cli.commands import run
from budgetlearn.cli.predict import Case
from budgetlearn.cli.saved_model import SavedModel
from budgetlearn.cli.serve import Server, conversation
from tests.cli.conftest import PRICES, patients
from tests.report.browsing import WIDTHS, emulate, requests, resize, wait_for

pytestmark = pytest.mark.usefixtures("quick_cascade")

CASE = {"age": "61", "smoker": "yes", "glucose": "131.5", "insulin": "10", "came": "31.03.2024"}
HOSTILE = "<script>window.hit=1</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models: a cascade, and one of fixed features with a hostile table."""
    folder = tmp_path_factory.mktemp("serve")
    patients().to_csv(folder / "table.csv", index=False)
    (folder / "prices.csv").write_text(PRICES)
    fit(folder, "cascade", "table.csv", "--costs", folder / "prices.csv", "--budget", 20)
    days = pd.date_range("2024-01-01", periods=240).strftime("%d.%m.%Y")
    table = patients().rename(columns={"smoker": HOSTILE}).replace({"former": HOSTILE})
    ill = np.where((table[HOSTILE] == HOSTILE) | (table.index > 160), "yes", "no")
    table.assign(came=days, ill=ill).to_csv(folder / "hostile.csv", index=False)
    fit(folder, "filter_forest", "hostile.csv", "--date", "came")
    return folder


def fit(folder, method, table, *words):
    call = ("fit", folder / table, "--target", "ill", "--method", method, *words)
    assert run([str(word) for word in (*call, "--out", folder / f"{method}.joblib")]) == 0


@pytest.fixture(scope="module")
def cascade(folder):
    return SavedModel.load(folder / "cascade.joblib")


@pytest.fixture
def served():
    """Serve models, and return the servers."""
    running = []

    def start(saved, *limits):
        running.append(Server(saved, *limits))
        Thread(target=running[-1].serve_forever, daemon=True).start()
        return running[-1]

    yield start
    for one in running:
        one.shutdown()
        one.server_close()


def shown(browser, name):
    return browser.find_element("id", name).is_displayed()


def text_of(browser, name):
    return browser.find_element("id", name).text


def answered(browser, value):
    """Answer what is asked for, and wait for the next state."""
    before = browser.execute_script("return state")
    words = browser.find_elements("css selector", "#words button")
    if value is None:
        browser.find_element("id", "none").click()
    elif words:
        next(button for button in words if button.text == value).click()
    else:
        field = browser.find_element("id", "value")
        field.clear()
        field.send_keys(f"{value}\n")
    wait(browser, before)


def wait(browser, before):
    wait_for(
        browser, lambda: browser.execute_script("return state !== arguments[0] && !busy", before)
    )


def opened(browser, running):
    resize(browser, WIDTHS["desktop"])
    emulate(browser)
    browser.get_log("browser")
    browser.get(running.address)
    wait_for(browser, lambda: browser.execute_script("return state !== null"))
    assert not shown(browser, "gone")


@pytest.mark.parametrize("lacking", [None, "glucose"])
def test_the_page_asks_as_a_session_does(browser, served, cascade, lacking):
    running, case, prices = served(cascade), Case(cascade, None, None), []
    opened(browser, running)
    requests(browser)
    assert "accuracy" in text_of(browser, "about")
    while case.next is not None:
        assert shown(browser, "question")
        assert not shown(browser, "done")
        state = case.state()
        assert text_of(browser, "name") == state["next"]
        assert text_of(browser, "price") == f"price {state['price']:.2f}"
        sure = f"{state['prediction']}, {100 * state['probability']:.0f}\u00a0%"
        assert text_of(browser, "sure").replace(" %", "\u00a0%") == sure
        value = None if case.next == lacking else CASE[case.next]
        prices.append("0.00" if value is None else f"{state['price']:.2f}")
        case.give(case.next, value)
        answered(browser, value)
    state = case.state()
    assert shown(browser, "done")
    assert not shown(browser, "question")
    assert text_of(browser, "verdict").startswith(f"ill: {state['prediction']}, ")
    assert "Enough" in text_of(browser, "enough")
    assert f"{state['spent']:.2f} spent; the budget is 20.00" in text_of(browser, "money")
    paid = browser.find_elements("css selector", "#rows td.number")
    assert [cell.text for cell in paid] == prices
    shares = browser.execute_script("return [0, 0.004, 0.25, 0.996, 1].map(percent)")
    assert shares == [f"{share}\u00a0%" for share in ("0", "0.4", "25", "99.6", "100")]
    # Only this server is asked, and each step once.
    assert set(requests(browser)) == {f"{running.address}case"}


def test_a_step_is_taken_back_and_a_new_case_begins(browser, served, cascade):
    opened(browser, served(cascade))
    first = text_of(browser, "name")
    answered(browser, CASE[first])
    for button in ("back", "restart"):
        if button == "restart":
            answered(browser, CASE[first])
        before = browser.execute_script("return state")
        browser.find_element("id", button).click()
        wait(browser, before)
        assert text_of(browser, "name") == first
        assert not shown(browser, "history")


def test_a_number_beyond_the_table_is_asked_about(browser, served, cascade):
    opened(browser, served(cascade))
    assert text_of(browser, "name") == "age"
    answered(browser, "610")
    assert (
        text_of(browser, "said")
        == "610 is outside the range of the table (20 to 79). Is it correct?"
    )
    answered(browser, "601")  # another slip is asked about anew
    assert text_of(browser, "said").startswith("601 is outside")
    assert not shown(browser, "history")
    answered(browser, "601")
    assert shown(browser, "history")


def test_what_is_no_number_is_told(browser, served, cascade):
    opened(browser, served(cascade))
    answered(browser, "old")
    said = (
        "'old' is not a number (decimal mark: '.'). If you do not have it, press “Not available”."
    )
    assert text_of(browser, "said") == said
    browser.find_element("id", "value").clear()
    browser.find_element("id", "next").click()
    assert text_of(browser, "said") == "Type a value, or press “Not available”."
    assert not shown(browser, "history")


def test_names_are_text_and_dates_are_answered_as_dates(browser, served, folder):
    opened(browser, served(SavedModel.load(folder / "filter_forest.joblib")))
    seen = set()
    while shown(browser, "question"):
        name = text_of(browser, "name")
        seen.add(name)
        if name == "came":
            assert text_of(browser, "hint") == "A date such as 31.03.2024"
        answered(browser, CASE.get(name, HOSTILE))
        assert not shown(browser, "said")
    assert {HOSTILE, "came"} <= seen
    assert HOSTILE in text_of(browser, "rows")
    assert browser.execute_script("return window.hit") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_on_a_phone_and_can_be_read(browser, served, cascade, scheme):
    opened(browser, served(cascade))
    answered(browser, "61")
    for width in (320, 390, 1280):
        resize(browser, width)
        emulate(browser, scheme=scheme)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    colours = "return [getComputedStyle(document.body).color, getComputedStyle(document.body)"
    ink, paper = browser.execute_script(f"{colours}.backgroundColor]")
    ink, paper = (sum(map(int, colour[4:-1].split(","))) for colour in (ink, paper))
    assert abs(ink - paper) > 400
    assert (ink > paper) == (scheme == "dark")
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    emulate(browser)


def asked(running, path=None, host=None, data=b'{"answers": []}', **headers):
    """Send a request to a server, and return its status and what it said."""
    path = f"/{running.secret}/case" if path is None else path
    request = urllib.request.Request(f"http://127.0.0.1:{running.server_port}{path}", data)
    request.add_header("Content-Type", headers.pop("kind", "application/json"))
    for name, value in headers.items():
        request.add_header(name, value)
    if host:
        request.add_header("Host", host)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read().decode(), reply.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def test_nobody_else_can_ask(served, cascade):
    running = served(cascade)
    other = served(cascade)
    own = f"127.0.0.1:{running.server_port}"
    assert running.server_address[0] == "127.0.0.1"
    assert asked(running)[0] == asked(running, Origin=f"http://{own}")[0] == 200
    assert asked(running, host=f"localhost:{running.server_port}")[0] == 200
    for refused in (
        {"path": "/case"},
        {"path": "/"},
        {"path": "/", "data": None},
        {"path": f"/{other.secret}/case"},
        {"path": f"/{running.secret}", "data": None},
        {"path": f"/{running.secret}/../case"},
        {"path": f"/{running.secret}/case", "data": None},
        {"path": f"/{running.secret[:-1]}%C3%A9/case"},
        {"host": "evil.example"},
        {"host": f"evil.example:{running.server_port}"},
        {"path": f"/{running.secret}/", "data": None, "host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"kind": "text/plain"},
        {"kind": "application/x-www-form-urlencoded"},
        {"data": b"no json"},
        {"data": b'{"answers": 3}'},
        {"data": b"[]"},
        {"data": b"[" * 100_000},
        {"Content-Length": str(serve.MOST_BYTES + 1)},
        {"Content-Length": "-1"},
    ):
        status, said, _ = asked(running, **refused)
        assert status in (400, 403, 404), refused
        assert "prediction" not in said
    status, page, headers = asked(running, f"/{running.secret}/", data=None)
    assert status == 200
    rules = headers["Content-Security-Policy"]
    assert "default-src 'none'" in rules
    assert "frame-ancestors 'none'" in rules
    assert "unsafe" not in rules
    assert "http" not in page.replace("http-equiv", "")


def test_the_program_says_where_the_page_is_and_opens_it(folder, monkeypatch, told):
    there = []
    monkeypatch.setattr(serve.webbrowser, "open", there.append)

    def stop(running):
        raise KeyboardInterrupt

    monkeypatch.setattr(serve.Server, "serve_forever", stop)
    model = folder / "cascade.joblib"
    status, out, err = told("serve", model)
    assert (status, err) == (130, "\nStopped.\n")
    assert there == [out.split()[0]]
    assert there[0].startswith("http://127.0.0.1:")
    assert told("serve", model, "--no-browser")[0] == 130
    assert len(there) == 1
    fixed = folder / "filter_forest.joblib"
    assert "the cheapest one costs 1" in told("serve", fixed, "--budget", "0.5")[2]


def test_the_state_is_plain_data_and_complete(cascade):
    state = conversation(cascade, 20, None, [("age", "61")])
    json.dumps(state)
    assert state["steps"][0]["price"] == 1
    assert sum(state["now"]["probabilities"].values()) == pytest.approx(1)
    stale = conversation(cascade, 20, None, [("no such", "61")])
    assert stale["steps"] == []
    capped = conversation(cascade, None, 1.0, [("age", "61")])
    assert capped["enough"]
    assert capped["now"]["spent"] <= 1


def test_the_price_says_what_is_shared(cascade):
    reasons, answers = {}, []
    state = conversation(cascade, 100, None, answers)
    while state["asked"]:
        name = state["asked"]["name"]
        reasons[name] = state["asked"]["why"], state["asked"]["price"]
        answers.append((name, CASE[name]))
        state = conversation(cascade, 100, None, answers, sure=True)
    blood = [name for name in reasons if name in ("glucose", "insulin")]
    for place, name in enumerate(blood):
        why, price = reasons[name]
        other = {"glucose": "insulin", "insulin": "glucose"}[name]
        part = (
            f"is shared with {other}"
            if place == 0
            else f"shares with {other} has already been paid"
        )
        assert part in why
        plain = {"glucose": 15.5, "insulin": 20.7}[name]
        assert price == pytest.approx(plain + 2.1 * (place == 0))
    assert "glucose" in blood
    with mock.patch.dict(cascade.held_out, rates=0 * cascade.held_out["rates"] + 0.004):
        why = conversation(cascade, 100, None, [])["asked"]["why"]
    assert why.endswith("It was needed for <1 % of the held-out cases.")


def test_a_regression_has_a_number_and_no_bars(tmp_path, browser, served):
    table = patients(120).assign(ill=lambda t: t["age"].fillna(50) * 2 + t["glucose"])
    table.to_csv(tmp_path / "table.csv", index=False)
    fit(tmp_path, "cascade", "table.csv")
    opened(browser, served(SavedModel.load(tmp_path / "cascade.joblib")))
    assert np.isfinite(float(text_of(browser, "sure")))
    assert text_of(browser, "bars") == ""
