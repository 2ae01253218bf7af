"""Effort of every method: models fitted, seconds, and the gain by tuning."""

import pandas as pd

from budgetlearn.curves import pareto_indices

from ...analysis.efforts import effort_table, equal_seconds_table, straw_men
from ...analysis.schedules import CASE
from ...study.study import ACQUISITION
from ..section import Section, figure, table
from ..style import house_style, legend_below, message_figure, new_figure, plain_decades
from ..text import DASH, seconds

_EFFORT = """Settings tried and models fitted in a run, seconds that their fits took by the clock
and of processors, and AUP on test data: of the first fit, the method by default, and of all fits,
the method tuned; means over runs."""
_STRAW_MEN = """Methods whose AUP is in no run above that of the free constant, or in every run
below that of their own first fit: rather set up wrongly than beaten."""
_EQUAL = """What methods reach with equally many settings, and with the processor seconds of one of
them in the same run: settings, processor seconds and AUP on test data, means over runs."""
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
        equal = [table("equal_seconds", _EQUAL)] if self._other else []
        return [
            figure("effort", "Time", _PARETO),
            table("effort", _EFFORT),
            table("straw_men", _STRAW_MEN),
            *equal,
        ]

    @property
    def _other(self):
        """The method whose seconds all others may use, None where the study names none."""
        return self.study.config.get("seconds_of")

    def tables(self, report):
        points, areas = report.results.bought, report.results.areas
        tables = {
            "effort": effort_table(points, areas),
            "straw_men": straw_men(points, areas, report.display.competitors),
        }
        if self._other:
            # With the fits beyond equal tries, which all other tables leave out.
            whole = report.display.under(ACQUISITION, report.all_points)
            beyond = self.study.beyond_tries(whole)
            tables["equal_seconds"] = equal_seconds_table(whole, beyond, self._other)
        return tables

    def summary(self, report):
        n_found = len(report.tables["straw_men"])
        if not n_found:
            return []
        where = "one place" if n_found == 1 else f"{n_found} places"
        return [f"Doubtful rivals in {where}: see the warning under “What it took”."]

    def figures(self, report):
        return {"effort": effort_figure(_over_data_sets(report), report.display)}

    def context(self, report):
        ranking, n_cases = report.results.ranking, len(report.cases)
        some = 0 < len(ranking.means) < n_cases
        return {
            "rows": [
                _row(row, report.display) for row in _over_data_sets(report).to_dict("records")
            ],
            "warnings": straw_man_sentences(report.tables["straw_men"], report.display),
            "equal": equal_rows(report) if self._other else [],
            "other": report.display.label(self._other) if self._other else "",
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
    means = groups[["default_models", "default_aup", "settings", "models", "aup"]].mean()
    medians = groups[["default_seconds", "seconds", "processor_seconds"]].median()
    return means.join(medians).sort_values("aup", ascending=False, kind="stable").reset_index()


def _row(row, display):
    def number(value, form):
        return DASH if pd.isna(value) else format(value, form)

    return {
        "label": display.label(row["method"]),
        "settings": number(row["settings"], ".0f"),
        "models": (number(row["default_models"], ".0f"), number(row["models"], ".0f")),
        "seconds": (
            seconds(row["default_seconds"]),
            seconds(row["seconds"]),
            seconds(row["processor_seconds"]),
        ),
        "aup": (number(row["default_aup"], ".3f"), number(row["aup"], ".3f")),
    }


def equal_rows(report):
    """Return one row for each method: settings, processor seconds and AUP at both equalities."""
    table, ranking = report.tables["equal_seconds"], report.results.ranking
    table = table[table["method"].isin(report.display.competitors)]
    if len(ranking.means):
        table = table[table.set_index(CASE).index.isin(ranking.means.index)]
    means = table.groupby(["method", "equal"])[["settings", "processor_seconds", "aup"]].mean()
    # By the better of both readings, so that neither decides the order alone.
    best = means["aup"].groupby("method").max().sort_values(ascending=False, kind="stable")
    return [
        {
            "label": report.display.label(name),
            "cells": [
                text
                for equal in ("tries", "seconds")
                for text in _reach_texts(means.loc[name, equal])
            ],
        }
        for name in best.index
    ]


def _reach_texts(row):
    aup = DASH if pd.isna(row["aup"]) else f"{row['aup']:.3f}"
    return f"{row['settings']:.0f}", seconds(row["processor_seconds"]), aup


def straw_man_sentences(found, display):
    """Return a sentence of doubt about each method that `straw_men` found.

    Parameters
    ----------
    found : DataFrame
        From `budgetbench.analysis.efforts.straw_men`.
    """
    return [
        _doubt(row, display.label(row.method), display.case_title(row.dataset, row.costs))
        for row in found.itertuples()
    ]


def _doubt(row, label, where):
    runs = {1: "its one run", 2: "both runs"}.get(row.n_runs, f"all {row.n_runs} runs")
    areas = f"(mean AUP {row.aup:.3f} against {row.other_aup:.3f})"
    if row.below == "constant":
        return f"{label} on {where} is no better than the free constant in {runs} {areas}."
    return f"{label} on {where} is worse tuned than at its own settings in {runs} {areas}."


def effort_figure(means, display):
    """Draw mean AUP against median seconds to fit, and who is beaten in both.

    Parameters
    ----------
    means : DataFrame
        method, seconds, aup.
    display : Display
        Labels and colours; controls are left out.
    """
    shown = means[means["method"].isin(display.competitors)].dropna(subset=["seconds", "aup"])
    if shown.empty:
        return message_figure("No run completed.")
    # A fit of no measurable time has a place on a logarithmic axis all the same.
    shown = shown.assign(seconds=shown["seconds"].clip(lower=1e-4))
    with house_style():
        figure = new_figure(6.4, 4.2)
        axes = figure.subplots()
        # Seconds as a cost: less time and more area are both better.
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
