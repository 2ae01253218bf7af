"""The study's settings and its methods."""

from ...study.methods import settings_tried
from ..section import Section


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


def settings_of(study):
    """Return the study's settings in the order in which a reader asks for them."""
    config = study.config
    splits = {data: _split(study.sizes(data)) for data in study.datasets}
    own = config.get("by_dataset", {})
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
    return next(iter(settings.values())) if len(set(settings.values())) == 1 else settings


def _split(sizes):
    """Return the sizes of a split in words."""
    if isinstance(sizes, str):
        return sizes
    if isinstance(sizes, dict):
        return f"{_split(sizes['per_class'])} of each class"
    return " / ".join(map(str, sizes))


def offered(table):
    """Return {method: how many models it offers in a run, least to most over the data sets}.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.efforts.time_table`.
    """
    spans = table.groupby("method")["n_points"].agg(["min", "max"]).round().astype(int)
    return {
        name: f"{low}" if low == high else f"{low}–{high}" for name, low, high in spans.itertuples()
    }
