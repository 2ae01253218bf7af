"""`budgetlearn ask`: one case, acquired step by step."""

import json
import sys

import click

from ..exceptions import DatasetError
from . import options
from .case import Case
from .messages import shown
from .saved_model import SavedModel


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
