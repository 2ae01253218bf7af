"""What to buy: the recommended method under each budget, and complete example schedules."""

import json

import numpy as np

from ...analysis.schedules import CASE, full_costs, of_case
from ...study.records import parse_variables
from ...study.study import ACQUISITION
from ..section import Section, case_name, part
from ..sheets import prices_of
from ..text import setting_shown

MOST_RUNS = 10  # limit on the runs whose models are shown with their variables
_COLUMNS = ["method", "run", "cost", "cost_fraction", "valid_score", "test_score"]


class WhatToBuy(Section):
    """A slider for the budget, with the recommended method and its variables."""

    id = "recommendations"
    title = "What to buy"
    place = 40
    under = ACQUISITION
    script = "what_to_buy.js"
    names = ("recommendations",)

    def tables(self, report):
        # Indices of models have no meaning outside this process.
        found = report.results.recommendations.drop(columns="models")
        named = [
            "; ".join(f"{one['method']} {one['test']:.4f}" for one in others)
            for others in found["runners_up"]
        ]
        return {"recommendations": found.assign(runners_up=named)}

    def script_data(self, report, *case):
        """Return the recommendations of a case with their models.

        An offer's `models` are indices into the list of models, one for each of the shown `runs`
        (at most ten, to keep the page small). `full` is the cost of all features in a run. `bought`
        lists pairs of a feature's index and the share of examples that acquire it, largest first.
        """
        table = of_case(report.results.recommendations, *case)
        schedules = of_case(report.results.schedules, *case)
        compared = table["models"].iloc[0] if len(table) else schedules.index  # one of each run
        runs = sorted(schedules.loc[compared, "run"].unique())[:MOST_RUNS]
        # Each model is sent once, even if several budgets lead to it.
        used = sorted({model for models in table["models"] for model in models[: len(runs)]})
        place = {model: turn for turn, model in enumerate(used)}
        lists = [prices_of(report.prices, *case, run) for run in runs]
        # The full cost includes the charges of cost groups.
        full = dict(zip(schedules["run"], full_costs(schedules), strict=True))
        return {
            "offers": [
                row | {"models": [place[model] for model in row["models"][: len(runs)]]}
                for row in table.drop(columns=CASE).to_dict("records")
            ],
            "runs": [
                {"run": int(run), "full": full[run], "prices": priced["cost"].tolist()}
                for run, priced in zip(runs, lists, strict=True)
            ],
            "names": lists[0]["feature"].tolist() if lists else [],
            "models": [_model(row) for row in schedules.loc[used].itertuples()],
        }


def _model(row):
    rates = np.asarray(row.acquisition_rates, dtype=float)
    # A stable sort keeps equally frequent features in the order of the data.
    ranked = np.argsort(-rates, kind="stable")
    return {
        "cost": row.valid_cost,  # users choose by it
        "share": row.valid_fraction,
        "valid": row.valid_score,
        "test": row.test_score,
        "setting": setting_shown(row.setting),
        "bought": [[int(f), round(float(rates[f]), 3)] for f in ranked if rates[f] > 0],
    }


class ModelSchedules(Section):
    """One schedule of each data set."""

    id = "schedules"
    place = 50
    under = ACQUISITION

    @property
    def parts(self):
        return [part(case_name(*case, "schedule"), stem="schedule") for case in self.cases]

    def tables(self, report):
        schedules, methods, tables = report.results.schedules, report.display.competitors, {}
        for case in self.cases:
            chosen = example_schedule(schedules, methods, *case)
            prices = prices_of(report.prices, *case, chosen["run"].min())
            tables[case_name(*case, "schedule")] = schedule_table(chosen, prices)
        return tables

    def context(self, report):
        display = report.display
        shown = ((case, report.tables[case_name(*case, "schedule")]) for case in report.cases)
        cases = [
            {
                "title": display.case_title(*case),
                "method": display.label(table["method"].iloc[0]),
                "run": table["run"].iloc[0],
                "rows": list(map(_row, table.itertuples())),
            }
            for case, table in shown
            if len(table)
        ]
        return {"cases": cases}


def _row(row):
    variables = json.loads(row.variables)
    listed = ", ".join(variables) or "none"
    folded = {"text": listed, "under": f"{len(variables)} variables"}
    scores = f"{row.valid_score:.3f}", f"{row.test_score:.3f}"
    cost, share = f"{row.cost:g}", f"{100 * row.cost_fraction:.1f} %"
    return [cost, share, *scores, listed if len(variables) <= 6 else folded]


def example_schedule(schedules, methods, dataset, costs):
    """Return the first run's schedule of the first method whose models list their variables."""
    case = of_case(schedules, dataset, costs)
    for method in methods:
        own = case[case["method"] == method]
        # Always the lowest run, so that the example is not a favourable one.
        own = own[own["run"] == own["run"].min()]
        if len(own) and own["variables"].notna().all():
            return own
    return case.iloc[:0]


def schedule_table(schedule, prices):
    """Return a schedule with n_variables and, as JSON lists, the names and prices of variables."""
    labels = {
        feature: f"{name} ({cost if isinstance(cost, str) else format(cost, 'g')})"
        for feature, name, cost in prices.itertuples()
    }
    sets = [[labels.get(f, f"x{f}") for f in parse_variables(v)] for v in schedule["variables"]]
    # JSON, as a name may contain a comma or a bracket.
    named = [json.dumps(names, ensure_ascii=False) for names in sets]
    table = schedule[_COLUMNS].reset_index(drop=True)
    return table.assign(n_variables=list(map(len, sets)), variables=named)
