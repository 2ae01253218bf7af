"""What every method tried for its result: models fitted, seconds, and what tuning brought."""

import pandas as pd

from ...analysis.efforts import effort_table
from ...analysis.schedules import CASE
from ...benchmark.study import ACQUISITION
from ...curves import pareto_indices
from ..section import Section, figure, table
from ..style import house_style, legend_below, message_figure, new_figure, plain_decades
from ..text import DASH, seconds

_EFFORT = """Models fitted in a run, seconds that their fits took and AUP on test data: of the first
fit, the method by default, and of all fits, the method tuned; means over runs."""
_PARETO = """Mean AUP over the data sets on which methods are ranked against the median seconds of
all fits of a run; the line joins the methods that no other one beats in both."""


class Effort(Section):
    """Models fitted, seconds and areas, by default and tuned."""

    id = "effort"
    title = "Effort"
    place = 24

    def applies(self):
        return bool(self.study.cases_under(ACQUISITION))

    @property
    def parts(self):
        return [figure("effort", "Time", _PARETO), table("effort", _EFFORT)]

    def tables(self, report):
        return {"effort": effort_table(report.results.bought, report.results.areas)}

    def figures(self, report):
        return {"effort": effort_figure(_over_data_sets(report), report.display)}

    def context(self, report):
        ranking, n_cases = report.results.ranking, len(report.cases)
        some = 0 < len(ranking.means) < n_cases
        return {
            "rows": [
                _row(row, report.display) for row in _over_data_sets(report).to_dict("records")
            ],
            "tries": self.study.config.get("tries"),
            "over": f" ({len(ranking.means)} of {n_cases}, those with the most methods)"
            if some
            else "",
        }


def _over_data_sets(report):
    """Return one row for each method: mean models and areas, median seconds; best area first.

    Over the data sets on which methods are ranked, and without methods that lack one of them: a
    mean over others could not be compared.
    """
    table, ranking = report.tables["effort"], report.results.ranking
    if len(ranking.means):
        table = table[table.set_index(CASE).index.isin(ranking.means.index)]
    table = table[~table["method"].isin(ranking.left_out)]
    groups = table.groupby("method")
    means = groups[["default_models", "default_aup", "models", "aup"]].mean()
    medians = groups[["default_seconds", "seconds"]].median()
    return means.join(medians).sort_values("aup", ascending=False, kind="stable").reset_index()


def _row(row, display):
    def number(value, form):
        return DASH if pd.isna(value) else format(value, form)

    return {
        "label": display.label(row["method"]),
        "models": (number(row["default_models"], ".0f"), number(row["models"], ".0f")),
        "seconds": (seconds(row["default_seconds"]), seconds(row["seconds"])),
        "aup": (number(row["default_aup"], ".3f"), number(row["aup"], ".3f")),
    }


def effort_figure(means, display):
    """Draw mean AUP against median seconds to fit, and who is beaten in both.

    Parameters
    ----------
    means : DataFrame
        method, seconds, aup.
    display : Display
        Labels and colours; controls are left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown = means[means["method"].isin(display.competitors)].dropna(subset=["seconds", "aup"])
    if shown.empty:
        return message_figure("No run completed.")
    shown = shown.assign(seconds=shown["seconds"].clip(lower=1e-4))
    with house_style():
        figure = new_figure(6.4, 4.2)
        axes = figure.subplots()
        front = shown.iloc[pareto_indices(shown["seconds"], shown["aup"])]
        axes.step(front["seconds"], front["aup"], where="post", color="#777777", linewidth=1.2)
        for row in shown.itertuples():
            method = display.methods[row.method]
            style = {"color": method.colour, "marker": method.marker, "linestyle": "none"}
            axes.plot([row.seconds], [row.aup], markersize=8, label=method.label, **style)
        axes.set(
            xscale="log", xlabel="seconds to fit a run, all tries", ylabel="mean AUP, test data"
        )
        plain_decades(axes.xaxis, shown["seconds"])
        legend_below(figure, *axes.get_legend_handles_labels())
    return figure
