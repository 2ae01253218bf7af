"""The best validated method under a budget, and its models run by run."""

import numpy as np
import pandas as pd

from ...analysis.schedules import of_case
from ...study.records import parse_variables
from ...study.study import ACQUISITION
from ..data_page import prices_of
from ..section import Section, case_name, table

MOST_RUNS = 10  # whose models are shown with their variables


class WhatToBuy(Section):
    """A slider that recommends what to buy under a budget."""

    id = "recommendations"
    title = "What to buy"
    place = 40
    under = ACQUISITION
    script = "what_to_buy.js"

    @property
    def parts(self):
        return [table("recommendations")]

    def tables(self, report):
        # Indices of models mean nothing outside of this process.
        found = report.results.recommendations.drop(columns="models")
        return {"recommendations": found.assign(runners_up=found["runners_up"].map(_in_words))}

    def script_data(self, report):
        schedules, table = report.results.schedules, report.results.recommendations
        return {
            case_name(*case): offers_of(of_case(table, *case), schedules, report.prices, *case)
            for case in report.display.cases(schedules)
        }


def _in_words(runners_up):
    """Return the runners-up as one cell of a table."""
    return "; ".join(f"{one['method']} {one['test']:.4f}" for one in runners_up)


def offers_of(table, schedules, prices, dataset, costs):
    """Return the recommendations of a case with their models, as the page embeds them.

    `table` is from `recommendations`. Returned is a dict of offers: one dict per recommendation,
    models being indices into models, one of each run in runs (the first ten at most); runs: run,
    full (what all features cost) and prices (of each feature; none where unknown); names: of the
    features; models: cost, share, valid, test, setting, and bought: pairs of a feature's index and
    the share of examples for which it is bought, most bought first (None where a method does not
    tell).
    """
    # Ten runs show how models vary; more would only swell the page.
    runs = sorted(of_case(schedules, dataset, costs)["run"].unique())[:MOST_RUNS]
    # Each model once, however many budgets lead to it.
    used = sorted({model for models in table["models"] for model in models[: len(runs)]})
    place = {model: turn for turn, model in enumerate(used)}
    lists = [prices_of(prices, dataset, costs, run) for run in runs]
    # Charges of groups are part of it, so the prices alone do not sum to it.
    full = _full_costs(of_case(schedules, dataset, costs))
    table = table.drop(columns=["dataset", "costs"], errors="ignore")
    offers = [
        _plain(row) | {"models": [place[model] for model in row["models"][: len(runs)]]}
        for row in table.to_dict("records")
    ]
    return {
        "offers": offers,
        "runs": [
            {"run": int(run), "full": full.get(run), "prices": priced["cost"].tolist()}
            for run, priced in zip(runs, lists, strict=True)
        ],
        "names": lists[0]["feature"].tolist() if lists else [],
        "models": [_model(row) for row in schedules.loc[used].to_dict("records")],
    }


def _full_costs(points):
    """Return the cost of all features in each run that acquired any."""
    paid = points[points["cost"] > 0]
    return (paid["cost"] / paid["cost_fraction"]).groupby(paid["run"]).max().to_dict()


def _plain(row):
    """Return a recommendation as JSON has it: None for NaN, also in its runners-up."""
    # JSON has no NaN, and browsers refuse a page that writes it.
    plain = {
        key: None if isinstance(value, float) and np.isnan(value) else value
        for key, value in row.items()
    }
    if "runners_up" in plain:
        plain["runners_up"] = [_plain(one) for one in row["runners_up"]]
    return plain


def _model(row):
    """Return the values of one model for the page."""
    return {
        # Users choose by validation cost; older results have none.
        "cost": row["valid_cost"] if pd.notna(row["valid_cost"]) else row["cost"],
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
