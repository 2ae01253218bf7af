"""The facts behind the results: settings, data sets, prices, and what they were made with."""

from ...analysis.schedules import CASE
from ...study.methods import settings_tried
from ..section import Section, table


class Settings(Section):
    """Settings of the study and of every method."""

    id = "settings"
    title = "Settings"
    place = 100

    def context(self, report):
        methods = report.display.methods.values()
        return {
            "settings": settings_of(self.study),
            "methods": methods,
            "tried": {method.id: settings_tried(method.spec) for method in methods},
            "offered": offered(report.results.times),
        }


class Prices(Section):
    """Cheapest, median and most expensive feature, and the full cost."""

    id = "prices"
    title = "Prices"
    place = 103

    @property
    def parts(self):
        return [table("prices")]

    def tables(self, report):
        return {"prices": price_summary(report.prices)}

    def context(self, report):
        rows = report.tables["prices"].set_index(CASE).to_dict("index")
        cases = report.display.cases(report.tables["prices"])
        return {"rows": [(report.display.case_title(*case), rows[case]) for case in cases]}


class DataSets(Section):
    """A data sheet in a line for each data set."""

    id = "data"
    title = "Data"
    place = 105


class MadeWith(Section):
    """Provenance of code and data."""

    id = "provenance"
    title = "Provenance"
    place = 110


def settings_of(study):
    """Return the study's settings in the order in which a reader asks for them."""
    config = study.config
    splits = {data: _split(study.sizes(data)) for data in study.datasets}
    own = config.get("by_dataset", {})
    # What differs on a data set is said, or the settings above would be wrong there.
    overrides = {
        f"only on {d}": own[d]["overrides"] for d in splits if "overrides" in own.get(d, {})
    }
    profiles = {
        data: ", ".join(costs for name, costs in study.cases if name == data) for data in splits
    }
    return {
        "runs": config["runs"],
        "split": _same_or_each(splits),
        "cost profiles": _same_or_each(profiles),
        "seed": study.seed,
        **overrides,
        **({"left out": config["left_out"]} if "left_out" in config else {}),
    }


def _same_or_each(settings):
    """Return the value that all data sets share, or else the mapping."""
    # Ten equal lines say less than one.
    return next(iter(settings.values())) if len(set(settings.values())) == 1 else settings


def _split(sizes):
    """Return the sizes of a split in words."""
    if isinstance(sizes, str):
        return sizes
    if isinstance(sizes, dict):
        return f"{_split(sizes['per_class'])} of each class"
    return " / ".join(map(str, sizes))


def offered(times):
    """Return {method: how many models it offers in a run, least to most over the data sets}."""
    # Least to most: how many models there are depends on the data for some methods.
    spans = times.groupby("method")["n_points"].agg(["min", "max"]).round().astype(int)
    return {
        name: f"{low}" if low == high else f"{low}–{high}" for name, low, high in spans.itertuples()
    }


def price_summary(prices):
    """Return dataset, costs; least, median, most and full of the prices of each case.

    The first three are over all runs; full is what all features cost in a run, mean over runs.
    """
    groups = prices.groupby(CASE)["cost"]
    # Runs draw prices anew: the sum is one run's, and only then comes the mean.
    full = prices.groupby([*CASE, "run"])["cost"].sum().groupby(CASE).mean()
    summary = groups.agg(least="min", median="median", most="max")
    return summary.assign(full=full).reset_index()
