"""`budgetlearn predict` and `ask`: predict new rows of a table, or one case step by step."""

import json
import sys
from functools import partial

import click
import numpy as np
import pandas as pd

from ..costs import affords
from ..exceptions import DatasetError
from ..files import csv_text, write_whole
from ..preprocessing.categories import as_words, days, example, is_number, refuse_numbers
from ..preprocessing.reading import MISSING_MARKS, marks_of, read_table
from ..protocol.checked_data import checked_table, missing_cells
from ..protocol.documenting import Limits
from ..protocol.prediction import acquired_from, decided, from_table
from ..validation import listed
from . import options
from .options import needed_and_found, note, shown
from .output import amount, least, mean_cost, money
from .saved_model import SavedModel


@click.command()
@options.of_model
@options.table
@click.option("--fallback", is_flag=True, help="Predict without absent or empty columns.")
@click.option("--out", type=options.OUT, help="Write to this file, not to the screen (-).")
@options.row_id
@options.reading
@options.trusting
def predict(model, table, budget, max_cost, fallback, out, row_id, trust, **how):
    """Predict the rows of TABLE (- for a pipe) with a MODEL of `budgetlearn fit`, as csv.

    Only the columns to buy are read. The output has a row for each row of TABLE: the prediction,
    its probability and those of all classes, the cost, and the columns bought. The table is read as
    in `fit`, unless you give other options. A note counts rows predicted without a missing value.
    """
    options.check_written([] if out == "-" else [out], [model, table])
    saved = SavedModel.load(model, trust)
    learned = saved.reading
    separator, decimal, na = (how[x] or learned.get(x) for x in ("separator", "decimal", "na"))
    source = partial(read_table, table, separator, decimal, missing=na)
    # Only these columns are parsed, as others may be broken or missing.
    limits = saved.limit(budget, max_cost), max_cost
    wanted = needed(saved, limits)
    names = _names(source, table, row_id, learned.get("id"))
    categories = saved.preprocessor.categories_
    frame, dates = _frame(source, table, wanted, categories), learned.get("dates", {})
    frame = frame.assign(**{n: days(frame[n], form) for n, form in dates.items() if n in frame})
    X = saved.preprocessor.transform(frame)
    for name in frame:  # such as 1.234 beside decimal commas: thousands?
        if name not in categories and not is_number(frame[name]):
            refuse_numbers(frame[name])
    _note_out_of_range(saved, frame)
    lacking = cells_to_do_without(saved, X, limits)
    absent = [name for name in wanted if name not in frame.columns]
    if not fallback:
        _refuse_absent(table, source, lacking, absent)
    elif absent:
        note(f"{table} lacks {', '.join(map(shown, absent))}.")
    rows = predictions(saved, X, limits, lacking)
    _note_lacking(lacking, names)
    _note_overspent(saved, rows["cost"], budget)
    columns = [saved.target, *rows.columns[1:]]
    if names is not None:
        rows.insert(0, "name", names.to_numpy())
        columns.insert(0, names.name)
    different = []  # repeated names are numbered: a target may be called cost
    for name in columns:
        while name in different:
            name = f"{name} (2)"
        different.append(name)
    text = csv_text(rows.set_axis(different, axis=1))
    if out in (None, "-"):
        sys.stdout.write(text)
    else:
        write_whole(out, text, through_links=True)


def _names(source, table, asked, remembered):
    name = asked or remembered
    if name is None:
        return None
    frame = source(columns=[name], text=True, missing=())  # a row may be called NA
    if frame.shape[1]:
        return frame[name]
    if asked:
        raise DatasetError(
            f"{table} has no column {name!r} (--id): {needed_and_found([name], source().columns)}."
        )
    note(f"{table} has no column {shown(name)}: the output does not name the rows.")
    return None


def _frame(source, table, wanted, categories):
    """Return the columns to acquire; if there are none, still with all rows."""
    if not wanted:
        return source()[[]]
    frame = source(columns=wanted)
    if not frame.shape[1]:
        raise DatasetError(
            f"{table} has none of the columns to buy: "
            f"{needed_and_found(wanted, source().columns)}. Is --separator right?"
        )
    words = [name for name in frame if name in categories]
    # As text: of the categories 01 and 1A, a file of 01 alone would be read as numbers.
    written = source(columns=words, text=True) if words else frame
    for name in words:
        text = as_words(written[name])
        frame[name] = text.where(text.isin(categories[name]), as_words(frame[name]))
    return frame


def _note_out_of_range(saved, frame):
    """Note numbers outside the range seen in training, in more rows than chance explains."""
    ranges = saved.reading.get("ranges", {})
    # Of n rows drawn like the others, 2 / n are expected outside; 10 / n is one time in 2,000.
    most = max(0.05, 10 / sum(saved.n_rows)) * len(frame)
    for name in frame.columns.intersection(list(ranges), sort=False):
        low, high = ranges[name]
        outside = ((frame[name] < low) | (frame[name] > high)).sum()
        if outside > most:
            what = f"{shown(name)} is outside the training range ({low:.10g} to {high:.10g})"
            note(f"{what} in {outside} of {len(frame)} rows. Is its unit the same?")


def _note_overspent(saved, costs, budget):
    """Note a mean cost above the budget, with the expected cost."""
    budget = saved.budget if budget is None else budget
    if budget is None or affords(budget, costs.mean()):
        return
    n_rows, cost = len(costs), least(costs.mean())  # not below the budget by rounding
    # With fewer than 30 rows, a standard error says little.
    note(
        f"{f'these rows cost {cost} on average' if n_rows > 1 else f'this row costs {cost}'}, more "
        f"than the budget of {budget:.10g}, which holds on average over many rows. By the rows "
        f"known in training, {mean_cost(saved, saved.stage(budget), max(n_rows, 30))}."
    )


def needed(saved, limits):
    """Return the list of columns that predictions within a budget and a cap may acquire."""
    index = saved.model.choose(*limits)
    # If examples differ in what they acquire, any column may be needed, unless none buys.
    if saved.model.fixed_costs() is not None or not saved.curve.loc[index, "n_features"]:
        return list(saved.curve.loc[index, "variables"])
    return saved.preprocessor.feature_names_in_.tolist()


def cells_to_do_without(saved, X, limits):
    """Return the missing cells that predictions would acquire, by column."""
    model, table = saved.model, checked_table(saved.model, X)[0]
    stage, names = model.choose(*limits), saved.preprocessor.feature_names_in_
    mask = missing_cells(model, table, stage)
    if limits[1] is not None and np.isnan(table).any():
        mask, read = np.zeros(table.shape, dtype=bool), from_table(table)

        def noted(rows, feature):  # with a cap, a row may go another way than its stage
            mask[rows, feature] = np.isnan(values := read(rows, feature))
            return values

        acquired_from(model, noted, len(table), stage, Limits(*limits, fallback=True), at_hand=True)
        mask &= ~model.missing_in_training_
    if mask is None:
        return pd.DataFrame(index=X.index)
    cells = pd.DataFrame(mask, columns=names)
    return cells.loc[:, cells.any(axis=0)]


def _refuse_absent(table, source, lacking, absent):
    """Refuse a needed column that is absent or empty, which is usually a mistake."""
    absent = [name for name in absent if name in lacking.columns]
    if absent:
        found = source().columns
        raise DatasetError(
            f"{table} lacks columns that the prediction needs: {needed_and_found(absent, found)}"
            f". It has: {listed(found, 20, repr)}. Rename them, or use --fallback."
        )
    empty = lacking.columns[lacking.all(axis=0)].tolist() if len(lacking) > 1 else []
    if empty:
        raise DatasetError(
            f"{table} has no value of {listed(empty, 20, repr)}, which the prediction needs, in "
            f"any of its {len(lacking)} rows. Fill it in, or use --fallback to predict without it."
        )


def _note_lacking(lacking, names):
    rows = np.flatnonzero(lacking.any(axis=1))
    if rows.size:
        first = rows[0]
        named = "" if names is None else f", {names.name} {names.iloc[first]}"
        what = ", ".join(shown(name) for name in lacking.columns[lacking.iloc[first]])
        note(
            f"{rows.size} of {len(lacking)} rows lack a value that would be bought, and are "
            f"predicted without it; the first is row {first + 1}{named} (without {what})."
        )


def predictions(saved, X, limits, lacking):
    """Predict the rows of an encoded table; a row that lacks a cell is predicted without it."""
    gaps, X = lacking.any(axis=1).to_numpy(), X.reset_index(drop=True)
    # Separately, so that rows with gaps do not slow down the others.
    parts = [(X[rows], lack) for rows, lack in ((~gaps, False), (gaps, True)) if rows.any()]
    made = pd.concat([_predicted(saved, part, limits, lack) for part, lack in parts]).sort_index()
    if gaps.any():
        made["missing"] = ["; ".join(lacking.columns[row]) for row in lacking.to_numpy()]
    return made


def _predicted(saved, X, limits, fallback):
    model, limits = saved.model, Limits(*limits, fallback=fallback)
    stage = decided(model, X, {"output", "probabilities", "acquired"}, limits)
    made = {"prediction": stage.output}
    if saved.task == "classification" and stage.probabilities is not None:
        shares = stage.probabilities.round(6)
        place = np.searchsorted(model.classes_, stage.output)
        made["probability"] = shares[np.arange(len(shares)), place]
        made |= {f"probability_{label}": shares[:, k] for k, label in enumerate(model.classes_)}
    # Rounded, so that the order of the sum does not change the text.
    made["cost"] = [float(f"{cost:.13g}") for cost in model.feature_costs_.total(stage.acquired)]
    names = saved.preprocessor.feature_names_in_
    made["bought"] = ["; ".join(names[row]) for row in stage.acquired]
    return pd.DataFrame(made, X.index)


class Case:
    """One case, with questions and answers in terms of the table's own columns."""

    def __init__(self, saved, budget, max_cost):
        self.saved, self.encoder = saved, saved.preprocessor
        self.mark = saved.reading.get("decimal") or "."  # before decimals
        named = marks_of(saved.reading.get("na"))
        self._missing = {*MISSING_MARKS, *named}
        self._codes = [self._number(mark) for mark in named]
        self._dates = saved.reading.get("dates", {})
        limits = saved.limit(budget, max_cost), max_cost
        self.stage, self.session = saved.model.choose(*limits), saved.model.session(*limits)
        self.given = 0  # columns with a value

    @property
    def next(self):
        """The next column to ask for, None at the end."""
        return None if self.session.done else self.session.wanted[0][0]

    @property
    def words(self):
        """Categories of the next column; empty if it holds numbers or dates."""
        return self.encoder.categories_.get(self.next, ())

    @property
    def form(self):
        """Example of a date if the next column holds dates, else None."""
        return example(self._dates[self.next]) if self.next in self._dates else None

    def give(self, name, text):
        """Give the value of a column as text; a mark of missing values means not available."""
        gap = self._is_gap(text)
        frame = pd.DataFrame({name: [np.nan if gap else self._value(name, text)]})
        # At a prompt, an unknown word is a typing error; in a table, it counts as missing.
        if self.encoder.unknown_words(frame):
            known = ", ".join(map(shown, self.encoder.categories_[name]))
            raise DatasetError(f"{text!r} is unknown; known categories: {known}.")
        code = self.encoder.transform(frame)[name].iloc[0]
        self.session.give({name: np.nan if gap else code})
        self.given += not gap

    def _is_gap(self, text):
        # As in a table, -999.0 equals -999.
        known = text is None or str(text).strip() in self._missing
        return known or bool(np.isin(self._number(text), self._codes))

    def _number(self, text):
        """Return text as a number, or NaN if it is none or has marks between thousands."""
        marks = {"_", "."} - {self.mark} if isinstance(text, str) else set()
        try:
            return float("" if marks & set(str(text)) else str(text).replace(self.mark, "."))
        except ValueError:
            return np.nan

    def _value(self, name, text):
        if name in self.encoder.categories_:
            return text
        if name in self._dates:
            return days(pd.Series([text], name=name), self._dates[name]).iloc[0]
        if not np.isfinite(number := self._number(text)):
            raise DatasetError(f"{text!r} is not a number (decimal mark: {self.mark!r}).")
        return number

    def beyond(self, name, text):
        """Return a question about a number outside the table's range, else None."""
        low, high = self.saved.reading.get("ranges", {}).get(name, (None, None))
        if low is None or self._is_gap(text) or low <= self._value(name, text) <= high:
            return None
        span = f"{low:.10g} to {high:.10g}".replace(".", self.mark)
        return f"{text} is outside the range of the table ({span}). Is it correct?"

    def state(self):
        """Return the state of the case as plain data."""
        now = self.session
        # JSON has no types for NumPy's numbers.
        prediction = now.prediction.item() if hasattr(now.prediction, "item") else now.prediction
        known = {"prediction": prediction, "probability": now.probability, "spent": now.cost}
        if now.probabilities is not None:
            classes = map(str, self.saved.model.classes_)
            known["probabilities"] = dict(zip(classes, now.probabilities.tolist(), strict=True))
        step = {"done": True} if now.done else {"next": self.next, "price": now.wanted[0][1]}
        return step | known


@click.command()
@options.of_model
@click.option("--json", "as_json", is_flag=True, help="Read and write lines of JSON, for programs.")
@options.trusting
def ask(model, budget, max_cost, as_json, trust):
    """Buy the features of one case step by step, and predict it.

    Each step shows the next column and its price. Type the value, or nothing if you do not have it.
    `budgetlearn serve` does the same on a web page. With --json, each output line is an object with
    "next", "price", "prediction", "probability", "probabilities" and "spent"; the last one has
    "done" instead of "next" and "price". Each input line is {"value": 5.1} or {"value": null}.
    """
    run = _in_json if as_json else _at_the_prompt
    run(Case(SavedModel.load(model, trust), budget, max_cost))


def _sure(state):
    if state["probability"] is None:
        return amount(state["prediction"])
    share = 100 * state["probability"]
    return f"{state['prediction']} ({share:.{int(99.5 < share < 100)}f} % sure)"


def _at_the_prompt(case):
    while case.next is not None:
        state, name = case.state(), case.next
        click.echo(f"next: {shown(name)}, {money(state['price'])}; now {_sure(state)}")
        hint = f" ({listed(case.words, 8, shown)})" if case.words else ""
        hint = f" (such as {case.form})" if case.form else hint
        text = click.prompt(f"  {shown(name)}{hint}", default="", show_default=False)
        try:
            beyond = case.beyond(name, text)
            if beyond and not click.confirm(f"  {beyond}"):
                continue
            case.give(name, text)
        except DatasetError as error:
            click.echo(f"  {error} Leave it empty if you do not have it.")
    state = case.state()
    click.echo(f"prediction: {_sure(state)}, for {money(state['spent'])}")


def _in_json(case):
    while True:
        print(json.dumps(case.state()), flush=True)
        if case.next is None:
            return
        # Line by line, as the program waits for each state before it answers.
        line = sys.stdin.readline()
        try:
            value = json.loads(line)["value"]
        except (ValueError, KeyError, TypeError) as error:
            got = f"Got {line!r}" if line else "The input ended"
            raise DatasetError(f'{got}: expected a line such as {{"value": 5.1}}.') from error
        case.give(case.next, value)
