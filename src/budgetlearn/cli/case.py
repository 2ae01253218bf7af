"""One case of a saved model, acquired step by step: what is asked for next, and what is known."""

import json
import sys

import click
import numpy as np
import pandas as pd

from ..exceptions import DatasetError
from ..preprocessing.reading import MISSING_MARKS
from . import options
from .messages import shown
from .saved_model import SavedModel
from .table import days, example


class Case:
    """One case, asked and answered in the table's own columns.

    Parameters
    ----------
    saved : SavedModel
        The model.
    budget, max_cost : float or None
        What it may cost on average, and at most.
    """

    def __init__(self, saved, budget, max_cost):
        self.saved, self.encoder = saved, saved.preprocessor
        self._missing = {*MISSING_MARKS, saved.reading.get("na")}
        self._dates = saved.reading.get("dates", {})
        self.stage = saved.model.choose(saved.limit(budget), max_cost)
        self.session = saved.model.session(saved.limit(budget), max_cost)
        self.given = 0  # columns with a value
        names = self.encoder.get_feature_names_out()
        # The model asks for encoded columns, a person answers in those of the table.
        originals = self.encoder.feature_names_in_[self.encoder.origins_]
        self._original = dict(zip(names, originals, strict=True))

    @property
    def next(self):
        """The column that is asked for, None at the end."""
        return None if self.session.done else self._original[self.session.wanted[0][0]]

    @property
    def price(self):
        """Its price now."""
        return self.session.wanted[0][1]

    @property
    def words(self):
        """The categories that may be answered; empty where a number or a date is asked for."""
        return self.encoder.categories_.get(self.next, ())

    @property
    def form(self):
        """An example of the date that is asked for, None where it is none."""
        return example(self._dates[self.next]) if self.next in self._dates else None

    def give(self, name, text):
        """Hand in the value of a column, as text; what stands for a missing one cannot be had."""
        text = None if text is None or str(text).strip() in self._missing else text
        frame = pd.DataFrame({name: [np.nan if text is None else self._value(name, text)]})
        # At a prompt an unknown word is a slip of the pen; in a table it is taken as missing.
        unknown = self.encoder.unknown_words(frame)
        if unknown:
            known = ", ".join(map(shown, self.encoder.categories_[name]))
            raise DatasetError(f"{text!r} is unknown; known are: {known}.")
        made = self.encoder.transform(frame)
        # All indicators of a word are given at once, so that none is asked for again.
        values = made.iloc[0] if text is not None else made.iloc[0] * np.nan
        self.session.give(values.to_dict())
        self.given += text is not None

    def _value(self, name, text):
        """Return an answer as the table would hold it."""
        if name in self.encoder.categories_:
            return text
        if name in self._dates:
            return days(pd.Series([text], name=name), self._dates[name]).iloc[0]
        try:
            number = float(str(text).replace(self.saved.reading.get("decimal") or ".", "."))
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise DatasetError(f"{text!r} is no number; leave it empty if it cannot be had.")
        return number

    def beyond(self, name, text):
        """Return a note on a number that no row of the table had, None for others."""
        low, high = self.saved.reading.get("ranges", {}).get(name, (-np.inf, np.inf))
        if text is None or str(text).strip() in self._missing or name in self._dates:
            return None
        number = self._value(name, text) if np.isfinite(low) else 0.0
        if low <= number <= high:
            return None
        return f"{text} is outside of {low:g} to {high:g}, which the table holds. Is it right?"

    def state(self):
        """Return the state of the case as plain data."""
        now = self.session
        prediction = now.prediction
        # JSON knows no types of NumPy.
        prediction = prediction.item() if hasattr(prediction, "item") else prediction
        known = {"prediction": prediction, "probability": now.probability, "spent": now.cost}
        if now.probabilities is not None:
            classes = map(str, self.saved.model.classes_)
            known["probabilities"] = dict(zip(classes, now.probabilities.tolist(), strict=True))
        if now.done:
            return {"done": True, **known}
        return {"next": self.next, "price": self.price, **known}


@click.command()
@click.argument("model", type=options.FILE)
@options.budget
@click.option("--max-cost", type=click.FloatRange(min=0), help="Most that this case may cost.")
@click.option("--json", "as_json", is_flag=True, help="Talk in lines of JSON, for programs.")
@options.trust
@options.debug
def ask(model, budget, max_cost, as_json, trust):
    """Buy the features of one case step by step, and predict it.

    Each step names the next column and its price; type its value, or nothing if it cannot be had.
    With --json each line out is an object with "next", "price", "prediction", "probability",
    "probabilities" and "spent", at the end with "done"; each line in is {"value": 5.1}, or
    {"value": null}. `budgetlearn serve` asks on a page.
    """
    case = Case(SavedModel.load(model, trust), budget, max_cost)
    (_in_json if as_json else _at_the_prompt)(case)


def _sure(state):
    if state["probability"] is None:
        return f"{state['prediction']:.6g}"
    return f"{state['prediction']} ({100 * state['probability']:.0f} % sure)"


def _at_the_prompt(case):
    while case.next is not None:
        state, name = case.state(), case.next
        click.echo(f"next: {shown(name)}, {case.price:.2f}; now {_sure(state)}")
        hint = f" ({', '.join(map(shown, case.words[:8]))})" if case.words else ""
        hint = f" (such as {case.form})" if case.form else hint
        text = click.prompt(f"  {shown(name)}{hint}", default="", show_default=False)
        try:
            beyond = case.beyond(name, text)
            if beyond and not click.confirm(f"  {beyond}"):
                continue
            case.give(name, text)
        except DatasetError as error:
            click.echo(f"  {error}")
    state = case.state()
    click.echo(f"prediction: {_sure(state)}, for {state['spent']:.2f}")


def _in_json(case):
    while True:
        print(json.dumps(case.state()), flush=True)
        if case.next is None:
            return
        # Line by line: a program waits for each answer before it asks on.
        line = sys.stdin.readline()
        if not line:
            raise DatasetError('The input ended; expected a line such as {"value": 5.1}.')
        try:
            value = json.loads(line)["value"]
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(
                f'Expected a line such as {{"value": 5.1}}, got {line!r}.'
            ) from error
        case.give(case.next, value)
