"""Features by the share of examples for which each method acquires them at half the full cost."""

import numpy as np
import pandas as pd

from ...analysis.budgets import acquisition_table
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section, case_name, table
from ..style import drawing, message_figure
from ..text import counted, number, shortened

MOST_FEATURES = 40  # rows that fit a screen


class AcquiredFeatures(Section):
    """Maps of features × methods."""

    id = "acquisition"
    title = "Acquisition"
    place = 60
    under = ACQUISITION

    @property
    def parts(self):
        figures = self.case_figures("acquisition", "Features bought")
        return [*figures, table("acquisition")]

    def tables(self, report):
        bought = acquisition_table(report.results.schedules, report.display, report.prices)
        return {"acquisition": bought}

    def figures(self, report):
        table, display = report.tables["acquisition"], report.display
        return {
            case_name(*case, "acquisition"): acquisition_figure(table, display, *case)
            for case in report.cases
        }

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


def acquisition_figure(table, display, dataset, costs):
    """Draw a heat map of features × methods, prices in brackets."""
    import seaborn as sns

    if of_case(table, dataset, costs).empty:
        return message_figure("No model within half of the full cost records what it buys.")
    features, rates, hidden = most_bought(table, dataset, costs)
    names = [
        shortened(name if pd.isna(price) else f"{name} ({price:.3g})")
        for name, price in features.to_numpy()
    ]
    # Labels only now: two methods may have the same one.
    rates.columns = [display.label(method) for method in rates]
    with drawing(3.4 + 0.5 * rates.shape[1], 1.8 + 0.2 * len(rates)) as (figure, axes):
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


def _map(table, case, display):
    """Return title, caption, heads and rows of the table that the page shows as a heat map."""
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
            [name, number(price, ".3g"), *map(_rate, own_rates)]
            for (name, price), own_rates in zip(features.to_numpy(), rates.to_numpy(), strict=True)
        ],
    }


def _rate(rate):
    return {"text": f"{100 * rate:.0f}", "rate": f"{rate:.2f}"}
