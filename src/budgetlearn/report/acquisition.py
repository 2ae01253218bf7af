"""Which features each method buys how often, at half of what all features cost."""

import numpy as np
import pandas as pd
import seaborn as sns

from ..benchmark.points import CASE, of_case
from .schedule import shortened
from .style import house_style, message_figure, new_figure

SHARE = 0.5
MOST_FEATURES = 40
_COLUMNS = [*CASE, "feature", "name", "price", "method", "rate", "n_runs"]


def acquisition_table(schedules, metadata):
    """Return how often each method buys each feature where it may spend half of the full cost.

    In each run a method is represented by the dearest model of its schedule that costs at most
    half of all features on validation data, so methods are compared under the same budget.

    Parameters
    ----------
    schedules : DataFrame
        From `budgetlearn.benchmark.points.compressed_points`.
    metadata : Metadata
        The methods, controls of which are left out, and the prices.

    Returns
    -------
    DataFrame
        dataset, costs, feature (its index), name, price (mean over runs, NaN where unknown),
        method, rate (the share of test examples for which it is bought, mean over runs), n_runs
        (that the mean is over: those that afford a model and tell what it buys).
    """
    affordable = schedules[schedules["valid_fraction"] <= SHARE]
    chosen = affordable.drop_duplicates([*CASE, "method", "run"], keep="last")
    tables = [
        _case_table(of_case(chosen, *case), metadata, *case) for case in metadata.cases(chosen)
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_COLUMNS)


def _case_table(chosen, metadata, dataset, costs):
    """Return the rows of one case."""
    prices = of_case(metadata.profiles, dataset, costs).copy()
    prices["place"] = prices.groupby("run").cumcount()
    known = prices.groupby("place").agg(name=("feature", "first"), price=("cost", "mean"))
    rows = []
    for method in metadata.rivals(chosen):
        rates = _rates(chosen[chosen["method"] == method], len(known))
        if len(rates):
            mean = rates.mean(axis=0)
            table = known.reindex(range(mean.size)).assign(rate=mean, method=method)
            rows.append(table.assign(n_runs=len(rates)).rename_axis("feature").reset_index())
    if not rows:
        return pd.DataFrame(columns=_COLUMNS)
    table = pd.concat(rows, ignore_index=True).assign(dataset=dataset, costs=costs)
    unnamed = "x" + table["feature"].astype(str)
    return table.assign(name=table["name"].fillna(unnamed))[_COLUMNS]


def _rates(models, n_features):
    """Return what the models of a method buy how often, (n_models, n_features)."""
    rates = []
    for recorded, variables in models[["acquisition_rates", "variables"]].to_numpy():
        if recorded is not None:
            rates.append(np.asarray(recorded, dtype=float))
        elif pd.notna(variables) and n_features:
            bought = [int(feature) for feature in variables.split(",") if feature]
            rates.append(np.isin(np.arange(n_features), bought).astype(float))
    return np.array(rates)


def most_bought(table, dataset, costs):
    """Return the rates of a case with its most bought features as rows and methods as columns.

    Parameters
    ----------
    table : DataFrame
        From `acquisition_table`.
    dataset, costs : str
        The case.

    Returns
    -------
    tuple of (DataFrame, DataFrame, int)
        Name and price of the features, most bought over all methods first, 40 at most; their
        rates, a column for each method; and the number of features that are left out.
    """
    case = of_case(table, dataset, costs)
    rates = case.pivot_table("rate", "feature", "method")[list(case["method"].unique())]
    shown = rates.index[np.argsort(-rates.mean(axis=1).to_numpy(), kind="stable")[:MOST_FEATURES]]
    features = case.drop_duplicates("feature").set_index("feature")[["name", "price"]]
    return features.loc[shown], rates.loc[shown], len(rates) - len(shown)


def acquisition_figure(table, metadata, dataset, costs):
    """Draw a heat map of features × methods, prices in brackets.

    Parameters
    ----------
    table : DataFrame
        From `acquisition_table`.
    metadata : Metadata
        Labels.
    dataset, costs : str
        The case.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if of_case(table, dataset, costs).empty:
        return message_figure("No model at half of the full cost tells what it buys.")
    features, rates, hidden = most_bought(table, dataset, costs)
    names = [shortened(feature_label(*feature)) for feature in features.to_numpy()]
    rates.columns = [metadata.methods[method].label for method in rates]
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
        axes.set(title=metadata.case_title(dataset, costs), xlabel=more, ylabel="")
    return figure


def feature_label(name, price):
    """Return a feature with its price in brackets, if it is known."""
    return name if pd.isna(price) else f"{name} ({price:.3g})"


def acquisition_sections(table, metadata):
    """Return the heat maps as the page shows them.

    Parameters
    ----------
    table : DataFrame
        From `acquisition_table`.
    metadata : Metadata
        Labels.

    Returns
    -------
    list of dict
        name, title; runs: the most that a mean is over; methods: label and runs of each column;
        rows: feature, price and rates; hidden: the number of features left out.
    """
    sections = []
    for dataset, costs in metadata.cases(table):
        features, rates, hidden = most_bought(table, dataset, costs)
        runs = of_case(table, dataset, costs).groupby("method")["n_runs"].first()
        sections.append(
            {
                "name": f"{dataset}_{costs}",
                "title": metadata.case_title(dataset, costs),
                "runs": int(runs.max()),
                "methods": [(metadata.methods[m].label, int(runs[m])) for m in rates],
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
