"""What to buy: the best method under a budget, one schedule in full, the features bought most."""

import json

import numpy as np
import pandas as pd

from ...analysis.budgets import acquisition_table
from ...analysis.schedules import full_costs, of_case
from ...study.records import parse_variables
from ...study.study import ACQUISITION
from ..section import Section, case_name, table
from ..sheets import prices_of
from ..style import draw_steps, drawing, message_figure
from ..text import counted, number, shortened

MOST_RUNS = 10  # whose models are shown with their variables
MOST_FEATURES = 40  # rows of a map that fit a screen
_MOST_VARIABLES = 30
_COLUMNS = ["method", "run", "cost", "cost_fraction", "valid_score", "test_score"]


class WhatToBuy(Section):
    """A slider that recommends what to buy under a budget."""

    id = "recommendations"
    title = "What to buy"
    place = 40
    under = ACQUISITION
    script = "what_to_buy.js"
    names = ("recommendations",)

    def tables(self, report):
        # Indices of models mean nothing outside of this process.
        found = report.results.recommendations.drop(columns="models")
        named = [
            "; ".join(f"{one['method']} {one['test']:.4f}" for one in others)
            for others in found["runners_up"]
        ]
        # Text, also where there is none: else the column of no rows would be numbers.
        return {"recommendations": found.assign(runners_up=np.array(named, dtype=object))}

    def script_data(self, report):
        schedules, table = report.results.schedules, report.results.recommendations
        return {
            case_name(*case): offers_of(of_case(table, *case), schedules, report.prices, *case)
            for case in report.cases
        }


def offers_of(table, schedules, prices, dataset, costs):
    """Return the recommendations of a case with their models, as the page embeds them.

    An offer's models are indices into models, one of each run in runs (the first ten at most); full
    is what all features cost in a run; bought are pairs of a feature's index and the share of
    examples for which it is bought, most bought first (None where a method does not tell).
    """
    # Ten runs show how models vary; more would only swell the page.
    case = of_case(schedules, dataset, costs)
    runs = sorted(case["run"].unique())[:MOST_RUNS]
    # Each model once, however many budgets lead to it.
    used = sorted({model for models in table["models"] for model in models[: len(runs)]})
    place = {model: turn for turn, model in enumerate(used)}
    lists = [prices_of(prices, dataset, costs, run) for run in runs]
    # Charges of groups are part of it, so the prices alone do not sum to it.
    full = dict(zip(case["run"], full_costs(case), strict=True))
    table = table.drop(columns=["dataset", "costs"], errors="ignore")
    offers = [
        _plain(row) | {"models": [place[model] for model in row["models"][: len(runs)]]}
        for row in table.to_dict("records")
    ]
    return {
        "offers": offers,
        "runs": [
            {"run": int(run), "full": _number(full[run]), "prices": priced["cost"].tolist()}
            for run, priced in zip(runs, lists, strict=True)
        ],
        "names": lists[0]["feature"].tolist() if lists else [],
        "models": [_model(row) for row in schedules.loc[used].to_dict("records")],
    }


def _number(value):
    """Return a value as JSON has it, which has no NaN: None."""
    return None if value != value else value


def _plain(row):
    """Return a recommendation as JSON has it, with its runners-up."""
    plain = {key: _number(value) for key, value in row.items()}
    others = row.get("runners_up")
    return plain if others is None else plain | {"runners_up": list(map(_plain, others))}


def _model(row):
    return {
        "cost": row["valid_cost"],  # users choose by it
        "share": row["valid_fraction"],
        "valid": row["valid_score"],
        "test": row["test_score"],
        "setting": row["setting"] if pd.notna(row["setting"]) else None,
        "bought": _features_bought(row),
    }


def _features_bought(row):
    """Return [[feature, share of examples that buy it]], most bought first; None if unknown."""
    rates = row["acquisition_rates"]
    if rates is not None:
        rates = np.asarray(rates, dtype=float)
        # Stable: equally frequent features stay in the order of the data.
        ranked = np.argsort(-rates, kind="stable")
        return [[int(f), round(float(rates[f]), 3)] for f in ranked if rates[f] > 0]
    if pd.isna(row["variables"]):
        return None
    return [[feature, 1.0] for feature in parse_variables(row["variables"])]


class ModelSchedules(Section):
    """One schedule of each data set."""

    id = "schedules"
    title = "Schedules"
    place = 50
    under = ACQUISITION
    stem, category = "schedule", "Model schedules"

    @property
    def parts(self):
        figures = super().parts
        return [*figures, *(table(part.name, self.stem) for part in figures)]

    def tables(self, report):
        examples = ((case, _example(report, *case)) for case in report.cases)
        return {case_name(*case, self.stem): schedule_table(*one) for case, one in examples}

    def draw(self, report, *case):
        schedule, prices = _example(report, *case)
        return schedule_figure(schedule, report.display, prices)

    def context(self, report):
        shown = ((case, report.tables[case_name(*case, "schedule")]) for case in report.cases)
        return {
            "cases": [_case(case, table, report.display) for case, table in shown if len(table)]
        }


def _example(report, dataset, costs):
    results, methods = report.results, report.display.competitors
    chosen = example_schedule(results.schedules, methods, dataset, costs)
    # Prices are those of the run that is shown: other runs have drawn others.
    run = None if chosen.empty else chosen["run"].iloc[0]
    return chosen, prices_of(report.prices, dataset, costs, run)


def _case(case, table, display):
    first, rows = table.iloc[0], []
    for row in table.itertuples():
        variables = json.loads(row.variables)
        listed = ", ".join(variables) or "none"
        # Many are folded.
        folded = {"text": listed, "under": f"{len(variables)} variables"}
        scores = f"{row.valid_score:.3f}", f"{row.test_score:.3f}"
        cost, share = f"{row.cost:g}", f"{100 * row.cost_fraction:.1f} %"
        rows.append([cost, share, *scores, listed if len(variables) <= 6 else folded])
    return {
        "name": case_name(*case),
        "title": display.case_title(*case),
        "score": display.score(case[0]),
        "method": display.label(first["method"]),
        "run": first["run"],
        "rows": rows,
    }


def example_schedule(schedules, methods, dataset, costs):
    """Return the lowest completed run of the first method whose models name their variables."""
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
    """Return a schedule with n_variables, and variables by name and price, as a JSON list."""
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
    cost, valid, test = schedule[["cost", "valid_score", "test_score"]].to_numpy(dtype=float).T
    colour, dots = method.colour, {"linestyle": "none", "marker": "o"}
    hollow = {"markerfacecolor": "white", "markeredgecolor": "#222222"}
    draw_steps(axes, cost, valid, _right_end(schedule), color=colour, linewidth=1.8)
    axes.plot(cost, valid, **dots, color=colour, label="validation")
    axes.plot(cost, test, **dots, **hollow, label="test")
    axes.legend(loc="lower right")


def _ownership(schedule):
    """Return feature, start and width of the budgets over which each model buys each variable.

    The widest bought variables come first, of equals the one that is bought under the smaller
    budget.
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


class AcquiredFeatures(Section):
    """Maps of features × methods."""

    id = "acquisition"
    title = "Acquisition"
    place = 60
    under = ACQUISITION
    names = ("acquisition",)

    def tables(self, report):
        bought = acquisition_table(report.results.schedules, report.display, report.prices)
        return {"acquisition": bought}

    def context(self, report):
        table, display = report.tables["acquisition"], report.display
        return {"cases": [_map(table, case, display) for case in display.cases(table)]}


def most_bought(table, dataset, costs):
    """Return the `MOST_FEATURES` features of a case that are bought most, and how many are left.

    Returned are their names and prices, their rates (features × methods), and the number left out.
    """
    case = of_case(table, dataset, costs)
    # Columns in the order of display; a pivot sorts them by name.
    rates = case.pivot_table("rate", "feature", "method")[list(case["method"].unique())]
    # Stable: features bought equally often stay in the order of the data.
    shown = rates.index[np.argsort(-rates.mean(axis=1).to_numpy(), kind="stable")[:MOST_FEATURES]]
    features = case.drop_duplicates("feature").set_index("feature")[["name", "price"]]
    return features.loc[shown], rates.loc[shown], len(rates) - len(shown)


def _map(table, case, display):
    own, title = of_case(table, *case), display.case_title(*case)
    features, rates, hidden = most_bought(own, *case)
    # Methods may lack runs, so each column says how many it is the mean of.
    runs = own.groupby("method")["n_runs"].first()
    most = int(runs.max())
    more = f"; the {len(rates)} features bought most, {hidden} more are not shown" if hidden else ""
    return {
        "title": title,
        "caption": "Percent of test examples for which each feature is bought on "
        f"{title}, means over {counted(most, 'run')}{more}",
        "heads": [
            {"text": display.label(m), "note": counted(runs[m], "run") if runs[m] < most else ""}
            for m in rates
        ],
        "rows": [
            [
                name,
                number(price, ".3g"),
                *({"text": f"{100 * rate:.0f}", "rate": f"{rate:.2f}"} for rate in own_rates),
            ]
            for (name, price), own_rates in zip(features.to_numpy(), rates.to_numpy(), strict=True)
        ],
    }
