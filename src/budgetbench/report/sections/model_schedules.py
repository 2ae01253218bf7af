"""One model schedule in full, its variables by name: what to buy under which budget."""

import json

import numpy as np
import pandas as pd

from ...analysis.schedules import of_case
from ...study.records import parse_variables
from ...study.study import ACQUISITION
from ..data_page import prices_of
from ..section import Section, case_name, table
from ..style import drawing, message_figure
from ..text import shortened

_MOST_VARIABLES = 30
_COLUMNS = ["method", "run", "cost", "cost_fraction", "valid_score", "test_score"]


class ModelSchedules(Section):
    """One schedule of each data set."""

    id = "schedules"
    title = "Schedules"
    place = 50
    under = ACQUISITION

    @property
    def parts(self):
        figures = self.case_figures("schedule", "Model schedules")
        return [*figures, *(table(part.name, "schedule") for part in figures)]

    def tables(self, report):
        examples = _examples(report).items()
        return {
            case_name(*case, "schedule"): schedule_table(*example) for case, example in examples
        }

    def figures(self, report):
        return {
            case_name(*case, "schedule"): schedule_figure(chosen, report.display, prices)
            for case, (chosen, prices) in _examples(report).items()
        }

    def context(self, report):
        shown = ((case, report.tables[case_name(*case, "schedule")]) for case in report.cases)
        return {
            "cases": [_case(case, table, report.display) for case, table in shown if len(table)]
        }


def _examples(report):
    """Return {case: (schedule to show, prices of its run)}."""
    examples = {}
    for case in report.cases:
        chosen = example_schedule(report.results.schedules, report.display.competitors, *case)
        # Prices are those of the run that is shown: other runs have drawn others.
        run = None if chosen.empty else chosen["run"].iloc[0]
        examples[case] = chosen, prices_of(report.prices, *case, run)
    return examples


def _case(case, table, display):
    """Return the values of one schedule for the page."""
    first = table.iloc[0]
    return {
        "name": case_name(*case),
        "title": display.case_title(*case),
        "score": display.score(case[0]),
        "method": display.label(first["method"]),
        "run": first["run"],
        "rows": [
            [
                f"{row.cost:g}",
                f"{100 * row.cost_fraction:.1f} %",
                f"{row.valid_score:.3f}",
                f"{row.test_score:.3f}",
                _variables(json.loads(row.variables)),
            ]
            for row in table.itertuples()
        ],
    }


def _variables(labels):
    """Return the cell of some variables; many are folded."""
    listed = ", ".join(labels) or "none"
    folded = {"text": listed, "under": f"{len(labels)} variables"}
    return listed if len(labels) <= 6 else folded


def example_schedule(schedules, methods, dataset, costs):
    """Return the schedule to show for a case: empty if there is none.

    It is that of the lowest completed run of the first of the methods, in the order of preference,
    whose models name their variables.
    """
    case = of_case(schedules, dataset, costs)
    for method in methods:
        own = case[case["method"] == method]
        # The lowest run, so that the example is not chosen for its looks.
        own = own[own["run"] == own["run"].min()]
        if len(own) and own["variables"].notna().all():
            return own
    return case.iloc[:0]


def variable_sets(schedule):
    """Return the variables of each model of a schedule as lists of feature indices."""
    return [list(parse_variables(text)) for text in schedule["variables"]]


def variable_labels(prices, features):
    """Return {feature: name with its price}, or "x<index>" for features that `prices` lacks."""
    named = prices.to_dict("index")
    return {
        f: f"{named[f]['feature']} ({named[f]['cost']:g})" if f in named else f"x{f}"
        for f in features
    }


def schedule_table(schedule, prices):
    """Return a schedule with n_variables, and variables by name and price.

    `prices` has feature (its name) and cost, indexed from 0. The variables are a JSON list: a name
    may hold any sign.
    """
    sets = variable_sets(schedule)
    labels = variable_labels(prices, set().union(*sets))
    # JSON, as a name may hold a comma or a bracket.
    named = [json.dumps([labels[f] for f in chosen], ensure_ascii=False) for chosen in sets]
    table = schedule[_COLUMNS].reset_index(drop=True)
    return table.assign(n_variables=list(map(len, sets)), variables=named)


def schedule_figure(schedule, display, prices):
    """Draw a schedule as a staircase over the budget, and below it what each budget buys."""
    if schedule.empty:
        return message_figure("No completed run of a method whose models name their variables.")
    first = schedule.iloc[0]
    method = display.methods[first["method"]]
    # The widest first: variables that nearly every budget buys matter most.
    spans = _ownership(schedule)
    shown = spans["feature"].drop_duplicates()[:_MOST_VARIABLES]
    hidden = spans["feature"].nunique() - len(shown)
    size = 6.8, 3.3 + 0.2 * len(shown)
    ratios = [2.3, max(0.2 * len(shown), 0.4)]
    with drawing(*size, 2, 1, sharex=True, height_ratios=ratios) as (figure, (top, bottom)):
        _draw_staircase(top, schedule, method)
        top.set_ylabel(display.score(first["dataset"]))
        _draw_ownership(bottom, spans[spans["feature"].isin(shown)], prices, method)
        title = display.case_title(first["dataset"], first["costs"])
        figure.suptitle(f"{title}: {method.label}, run {first['run']}", x=0.01, ha="left")
        more = f" ({hidden} more variables are in the table)" if hidden else ""
        bottom.set(xlabel=f"budget{more}", xlim=(0, _right_end(schedule)))
    return figure


def _right_end(schedule):
    """Return the end of the budget axis, a little after the most expensive model."""
    # Above 0 also where nothing costs anything: an axis needs a width.
    return max(float(schedule["cost"].max()) * 1.06, 1e-9)


def _draw_staircase(axes, schedule, method):
    """Draw validation accuracy as a staircase over the budget, test accuracy as open dots."""
    cost = [*schedule["cost"], _right_end(schedule)]
    # The last step is drawn to the end: larger budgets buy the last model.
    valid = [*schedule["valid_score"], schedule["valid_score"].iloc[-1]]
    colour, dots = method.colour, {"linestyle": "none", "marker": "o"}
    hollow = {"markerfacecolor": "white", "markeredgecolor": "#222222"}
    axes.step(cost, valid, where="post", color=colour, linewidth=1.8)
    axes.plot(cost[:-1], valid[:-1], **dots, color=colour, label="validation")
    axes.plot(cost[:-1], schedule["test_score"], **dots, **hollow, label="test")
    axes.legend(loc="lower right")


def _ownership(schedule):
    """Return feature, start and width of the budgets over which each variable is bought.

    There is one row per model and variable; the widest bought variables come first, of equals the
    one that is bought under the smaller budget.
    """
    edges = [*schedule["cost"], _right_end(schedule)]
    rows = [
        (feature, start, end - start)
        for chosen, start, end in zip(variable_sets(schedule), edges[:-1], edges[1:], strict=True)
        for feature in chosen
    ]
    spans = pd.DataFrame(rows, columns=["feature", "start", "width"])
    # Rounded, so that sums in another order do not change the order of rows.
    total = spans.groupby("feature")["width"].transform("sum").round(9)
    first = spans.groupby("feature")["start"].transform("min")
    return spans.iloc[np.lexsort((spans["start"], spans["feature"], first, -total))]


def _draw_ownership(axes, spans, prices, method):
    """Draw a bar for each variable over the budgets that buy it."""
    features = list(spans["feature"].drop_duplicates())
    labels = variable_labels(prices, features)
    for row, feature in enumerate(features):
        own = spans[spans["feature"] == feature]
        bars = list(zip(own["start"], own["width"], strict=True))
        axes.broken_barh(bars, (row - 0.36, 0.72), facecolors=method.colour, alpha=0.75)
    axes.set_yticks(range(len(features)), [shortened(labels[f]) for f in features])
    axes.tick_params(axis="y", labelsize=8)
    # Downwards, as a table is read.
    axes.set_ylim(max(len(features), 1) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
