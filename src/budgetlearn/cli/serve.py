"""`budgetlearn serve`: predicts cases step by step on a local web page."""

import json
import secrets
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

import click

from ..exceptions import DatasetError
from . import options
from .output import in_words, money, percent, rendered
from .predict import Case
from .saved_model import SavedModel

LOCAL = "127.0.0.1"
MOST_BYTES = 1 << 20  # of a request


@click.command()
@options.of_model
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="any free port")
@click.option("--browser/--no-browser", default=True, help="Open the page or not.")
@options.trusting
def serve(model, budget, max_cost, port, browser, trust):
    """Predict one case after another on a web page, which asks only for the features it needs.

    The page is served to this machine only, and needs no network. Its address contains a secret, so
    that no other page can use it. Nothing is stored. Ctrl-C stops it.
    """
    saved = SavedModel.load(model, trust)
    Case(saved, budget, max_cost)  # refuses a budget that is too small before the page opens
    with Server(saved, budget, max_cost, port) as running:
        click.echo(f"{running.address}  (Ctrl-C stops it)")
        if browser:
            webbrowser.open(running.address)
        running.serve_forever()


class Server(ThreadingHTTPServer):
    """Serves a page and the states of its cases to whoever knows the `address`."""

    daemon_threads = True

    def __init__(self, saved, budget=None, max_cost=None, port=0):
        super().__init__((LOCAL, port), _Handler)
        self.secret = secrets.token_urlsafe(24)
        self.hosts = {f"{name}:{self.server_port}" for name in (LOCAL, "localhost")}
        self.address = f"http://{LOCAL}:{self.server_port}/{self.secret}/"
        self._case, self._lock = (saved, budget, max_cost), Lock()

    def state(self, asked):
        """Return the state after some answers; locked, as models may not be thread-safe."""
        with self._lock:
            return conversation(*self._case, **asked)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self._is_allowed(""):
            nonce = secrets.token_urlsafe(16)
            self._send("text/html; charset=utf-8", rendered("case.html.j2", nonce=nonce), nonce)

    def do_POST(self):
        if not self._is_allowed("case"):
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
            # Browsers let other pages send forms here, but not JSON.
            is_json = self.headers.get_content_type() == "application/json"
            if not (is_json and 0 < length <= MOST_BYTES):
                raise ValueError
            asked = json.loads(self.rfile.read(length))
            answers = [(name, text) for name, text in asked["answers"]]
            state = self.server.state({"answers": answers, "sure": bool(asked.get("sure"))})
        except (ValueError, KeyError, TypeError, RecursionError):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        self._send("application/json", json.dumps(state))

    def _is_allowed(self, name):
        """Return whether a request comes from the page; answer others with an error."""
        # Other names that lead to this machine, as in DNS rebinding, are refused.
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin", f"http://{host}")
        known = secrets.compare_digest(self.path.encode(), f"/{self.server.secret}/{name}".encode())
        if host not in self.server.hosts or origin != f"http://{host}":
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not known:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            return True
        return False

    def _send(self, kind, text, nonce=""):
        content = text.encode()
        rules = f"default-src 'none'; img-src data:; style-src 'nonce-{nonce}'; "
        rules += f"script-src 'nonce-{nonce}'; connect-src 'self'; base-uri 'none'; "
        self.send_response(HTTPStatus.OK)
        for header, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": f"{rules}form-action 'none'; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Log nothing: the screen is for the address, and answers are private."""


def conversation(saved, budget, max_cost, answers, sure=False):
    """Return all that the page shows after some answers (column, value or None), as plain data.

    Each call gives all answers to a new case: the server stores nothing, and steps can be undone.
    With `sure`, the last answer is accepted even if it is outside the range of the table.
    """
    case = Case(saved, budget, max_cost)
    steps, error_text, question = [], None, None
    for place, (name, text) in enumerate(answers):
        spent, last = case.session.cost, place == len(answers) - 1
        try:
            question = case.beyond(name, text) if last and not sure else None
            if question or name != case.next:
                break
            case.give(name, text)
        except DatasetError as error:
            error_text = f"{error} If you do not have it, press “Not available”."
            break
        after = case.state()
        # The price of this column, not of the next one.
        steps.append({**after, "name": name, "value": text, "price": after["spent"] - spent})
    return {
        "target": saved.target,
        "about": about(case, max_cost),
        "full": saved.costs.full,
        "budget": saved.budget if budget is None else budget,
        "max_cost": max_cost,
        "steps": steps,
        "now": case.state(),
        "said": error_text,
        "question": question,
        "asked": asked(case),
        "enough": enough(case),
    }


def about(case, max_cost):
    """Describe the model and its expected score; `max_cost` was not part of the measurement."""
    saved, row = case.saved, case.saved.curve.loc[case.stage]
    limit = "" if max_cost is None else f", measured without the limit of {max_cost:.10g} per case"
    name, _, held_out = in_words(saved, row)
    return (
        f"{saved.method}, trained on {saved.n_rows[0]:,} rows of {saved.table}. On "
        f"{saved.n_rows[2]:,} held-out rows: {name} {held_out}, for "
        f"{money(row['test_cost'])} on average{limit}."
    )


def asked(case):
    """Return the next column, its price and the reason for it, None at the end."""
    name = case.next
    if name is None:
        return None
    low, high = case.saved.reading.get("ranges", {}).get(name, (None, None))
    known = {"words": list(case.words), "form": case.form, "low": low, "high": high}
    known |= {"name": name, "mark": case.mark, "price": case.state()["price"]}
    return known | {"why": why(case, known["price"])}


def why(case, price):
    """Explain why the next column is needed, and its price."""
    saved, name = case.saved, case.next
    columns = list(saved.preprocessor.feature_names_in_)
    if saved.model.fixed_costs() is None:
        reason = "The values so far are not enough: the model needs this one next."
        rates = saved.held_out["rates"]
        if name in rates and case.stage in rates.index:
            share = percent(rates.loc[case.stage, name])
            reason += f" It was needed for {share} of the held-out cases."
    else:
        reason = "The model needs the same columns in every case, and this is one of them."
    members, charge = saved.costs.group_of(columns.index(name))
    others = [columns[member] for member in members if columns[member] != name]
    if others and price > saved.costs.costs[columns.index(name)]:
        shared = f"{charge:.10g} of its price is shared with {', '.join(others)}"
        reason += f" {shared} and paid only once."
    elif others:
        shared = f"The {charge:.10g} that it shares with {', '.join(others)}"
        reason += f" {shared} has already been paid."
    return reason


def enough(case):
    """Explain why no more columns are needed, None while one is."""
    if case.next is not None:
        return None
    saved = case.saved
    rest = float(f"{saved.costs.full:.13g}") - float(f"{case.session.cost:.13g}")
    if saved.model.fixed_costs() is None:
        reason = "Enough: no other available column within the limits is worth its price."
    else:
        reason = "Enough: the model has asked for all columns that it needs within the budget."
    return f"{reason} {case.given} of {saved.costs.n_features} columns known; {rest:.10g} saved."
