"""Features by the share of examples for which each method acquires them at half the full cost."""

import numpy as np
import pandas as pd

from ...analysis.budgets import acquisition_table
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section, figure, table
from ..style import house_style, message_figure, new_figure
from ..text import shortened

MOST_FEATURES = 40
_FIGURE = """Which features each method buys on one data set, in percent of the test examples, mean
over runs; prices (means over runs) in brackets. Each run shows the most expensive model of a
method's schedule that costs at most half of all features on validation data. The features bought
most come first."""
_TABLE = """How often each method buys each feature of each data set, where it may spend half of
what all features cost: the share of test examples, mean over runs, and the features' mean
prices."""


class AcquiredFeatures(Section):
    """Maps of features × methods."""

    id = "acquisition"
    title = "Acquisition"
    place = 60

    def applies(self):
        return bool(self.study.cases_under(ACQUISITION))

    @property
    def parts(self):
        figures = [
            figure(
                f"acquisition_{dataset}_{costs}",
                "Features bought",
                _FIGURE,
                **{"data set": dataset, "costs": costs},
            )
            for dataset, costs in self.study.cases_under(ACQUISITION)
        ]
        return [*figures, table("acquisition", _TABLE)]

    def tables(self, report):
        bought = acquisition_table(report.results.schedules, report.display, report.prices)
        return {"acquisition": bought}

    def figures(self, report):
        table, display = report.tables["acquisition"], report.display
        return {
            f"acquisition_{'_'.join(case)}": acquisition_figure(table, display, *case)
            for case in report.cases
        }

    def context(self, report):
        return {"cases": acquisition_maps(report.tables["acquisition"], report.display)}


def most_bought(table, dataset, costs):
    """Return the rates of a case with its most bought features as rows and methods as columns.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.budgets.acquisition_table`.

    Returns
    -------
    tuple of (DataFrame, DataFrame, int)
        Name and price of the features, most bought over all methods first, 40 at most; their
        rates, a column for each method; and the number of features that are left out.
    """
    case = of_case(table, dataset, costs)
    # Columns in the order of display; a pivot sorts them by name.
    rates = case.pivot_table("rate", "feature", "method")[list(case["method"].unique())]
    # Forty rows fit a screen; the figure says how many are left out.
    shown = rates.index[np.argsort(-rates.mean(axis=1).to_numpy(), kind="stable")[:MOST_FEATURES]]
    features = case.drop_duplicates("feature").set_index("feature")[["name", "price"]]
    return features.loc[shown], rates.loc[shown], len(rates) - len(shown)


def acquisition_figure(table, display, dataset, costs):
    """Draw a heat map of features × methods, prices in brackets.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.budgets.acquisition_table`.
    """
    import seaborn as sns

    if of_case(table, dataset, costs).empty:
        return message_figure("No model within half of the full cost records what it buys.")
    features, rates, hidden = most_bought(table, dataset, costs)
    names = [shortened(feature_label(*feature)) for feature in features.to_numpy()]
    # Labels only now: two methods may have the same one.
    rates.columns = [display.label(method) for method in rates]
    with house_style():
        figure = new_figure(3.4 + 0.5 * rates.shape[1], 1.8 + 0.2 * len(rates))
        axes = figure.subplots()
        sns.heatmap(
            100 * rates, vmin=0, vmax=100, cmap="Blues", annot=True, fmt=".0f", ax=axes,
            annot_kws={"size": 7}, linewidths=0.5, yticklabels=names,
            cbar_kws={"label": "% of test examples", "shrink": 0.7},
        )  # fmt: skip
        axes.tick_params(axis="y", labelsize=8, length=0)
        axes.set_xticks(axes.get_xticks(), axes.get_xticklabels(), rotation=45, ha="right")
        more = f"{hidden} features bought less often are not shown" if hidden else ""
        axes.set(title=display.case_title(dataset, costs), xlabel=more, ylabel="")
    return figure


def feature_label(name, price):
    """Return a feature with its price in brackets, if it is known."""
    return name if pd.isna(price) else f"{name} ({price:.3g})"


def acquisition_maps(table, display):
    """Return the heat maps as the page shows them.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.budgets.acquisition_table`.

    Returns
    -------
    list of dict
        name, title; runs: the most that a mean is over; methods: label and runs of each column;
        rows: feature, price and rates; hidden: the number of features left out.
    """
    sections = []
    for dataset, costs in display.cases(table):
        features, rates, hidden = most_bought(table, dataset, costs)
        # Methods may lack runs, so each column says how many it is the mean of.
        runs = of_case(table, dataset, costs).groupby("method")["n_runs"].first()
        sections.append(
            {
                "name": f"{dataset}_{costs}",
                "title": display.case_title(dataset, costs),
                "runs": int(runs.max()),
                "methods": [(display.label(m), int(runs[m])) for m in rates],
                "rows": [
                    {"feature": name, "price": price, "rates": row.tolist()}
                    for (name, price), row in zip(
                        features.to_numpy(), rates.to_numpy(), strict=True
                    )
                ],
                "hidden": hidden,
            }
        )
    return sections
