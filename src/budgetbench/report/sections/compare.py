"""The best methods at each cost: the overview, mean ranks by horizon, and the filter."""

from functools import lru_cache
from textwrap import fill

import numpy as np
import pandas as pd

from ...analysis.areas import CONSTANT, HORIZONS, free_scores, mean_curve
from ...analysis.ranks import horizon_ranks, ranking_of, survives_leaving_one_out, winners
from ...analysis.recommendations import HARD, MEAN
from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section
from ..style import drawing, label_ends, legend_below, marked_line, message_figure, split_axis
from ..text import listed, mean_rank

SHOWN = 5  # methods in the first picture
LONG_NAME = 45  # characters above which labels go to a legend, as they would crowd out the lines


class Overview(Section):
    """One picture of the five best methods with their names beside the lines, and the winner."""

    id = "overview"
    place = 5
    under = ACQUISITION
    category = "Overview"
    pictures = (("overview", "overview"), ("overview_narrow", "overview, narrow"))

    def summary(self, report):
        # Qualifications follow below the picture: see Horizons.
        return _winners(report)[:1]

    def figures(self, report):
        wide, narrow = overview_figure(report), overview_figure(report, narrow=True)
        return {"overview": wide, "overview_narrow": narrow}

    def context(self, report):
        case, names = _pictured(report)
        return {"case": report.display.case_title(*case) if case and names else ""}


def _pictured(report):
    """Return the first ranked case, or None, and the best methods."""
    results = report.results
    best = [name for name in results.ranking.mean.index if name in results.completed]
    case = next((case for case in report.cases if case in results.ranking.means.index), None)
    return case, best[:SHOWN]


def overview_figure(report, narrow=False):
    """Draw the mean curves of the best methods on the first ranked data set."""
    case, names = _pictured(report)
    if case is None or not names:
        return message_figure("No method completed a run.")
    display, frame = report.display, of_case(report.results.schedules, *case)
    free, ends = free_scores(frame), []
    with drawing(*((4.0, 2.7) if narrow else (7.6, 3.9))) as (figure, axes):
        for method in map(display.methods.get, names):
            own = mean_curve(frame[frame["method"] == method.id], "cost_fraction", free)
            if own.empty:
                continue
            x, y = np.r_[own["budget"], 1], np.r_[own["mean"], own["mean"].iloc[-1]]
            if x[0] > 0:  # below the cheapest model a budget gets the free constant
                x, y = np.r_[0, x], np.r_[free.mean(), y]
            axes.step(x, y, where="post", **marked_line(method, len(x)))
            ends.append((method.label, y[-1], method.colour))
        constant = display.methods[CONSTANT]
        label, colour = constant.label, constant.colour
        axes.axhline(free.mean(), label=label, color=colour, linestyle="--", linewidth=1.2)
        ends.append((label, free.mean(), colour))
        split_axis(axes)
        axes.set(xlim=(0, 1), xlabel="budget (% of what all features cost)")
        title = fill(display.case_title(*case), 34 if narrow else 68)
        axes.set(ylabel=f"test {display.score(case[0])}", title=title)
        if narrow or max(len(name) for name, *_ in ends) > LONG_NAME:
            legend_below(figure, *axes.get_legend_handles_labels())
        else:
            label_ends(axes, ends)
    return figure


class Compare(Section):
    """A filter of data sets, methods and budgets, which updates ranks, table and curves."""

    id = "compare"
    place = 10
    under = ACQUISITION
    script = "compare.js"

    def context(self, report):
        # The kind of budget is measured on test examples, not declared.
        kinds, display = report.results.budget_kinds, report.display
        names = display.rivals(report.results.horizons[MEAN])
        rivals = {name: display.label(name) for name in names}
        keeping = {
            kind: [label for name, label in rivals.items() if kinds.get(name) == kind]
            for kind in (HARD, MEAN)
        }
        return {"horizons": list(HORIZONS), "keeping": keeping, "rivals": rivals}

    def script_data(self, report, *case):
        areas = {}
        for kind, view in report.results.horizons.items():
            rows = of_case(view, *case)
            known = rows.pivot_table(index="method", columns="horizon", values="mean_test")
            # As `ranking_of` rounds, so that the script has the same ties.
            known = known.reindex(report.display.rivals(rows), columns=list(HORIZONS)).round(12)
            areas[kind] = {name: values for name, *values in known.itertuples()}
        return areas


class Horizons(Section):
    """Mean ranks when only a share of the full cost may be spent."""

    id = "horizons"
    title = "How much to spend"
    place = 21
    under = ACQUISITION
    names = ("horizons",)

    def summary(self, report):
        return _winners(report)[1:]

    def tables(self, report):
        views = report.results.horizons.items()
        return {"horizons": pd.concat([view.assign(budget=name) for name, view in views])}

    def context(self, report):
        found, display = report.results.horizons[MEAN], report.display
        ranks = horizon_ranks(found, display.rivals(found))
        best = winners(ranks) if len(ranks) > 1 else {}  # a method alone is not the best
        rows = [
            [display.label(name)]
            + [{"text": mean_rank(row[h]), "best": name in best.get(h, ())} for h in HORIZONS]
            for name, row in ranks.iterrows()
        ]
        heads = ["logarithmic" if share is None else f"up to {h}" for h, share in HORIZONS.items()]
        return {"heads": ["Method", *heads], "rows": rows}


@lru_cache(1)  # two sections use the sentences
def _winners(report):
    compared = len(report.results.completed) > 1  # a single method would only beat failures
    return winner_sentences(report.results.horizons[MEAN], report.display) if compared else []


def winner_sentences(horizons, display):
    """Return sentences on how the best mean rank depends on the horizon and on single data sets."""
    methods = display.rivals(horizons)
    ranks = horizon_ranks(horizons, methods)
    first = winners(ranks)
    if len(ranks) < 2 or not first:
        return []
    some = display.among(ranking_of(horizons[horizons["horizon"] == "100 %"], methods), horizons)
    sentences = [_by_horizon(first, display) + (f" ({some})." if some else ".")]
    # Winners that depend on a single data set are reported as such.
    stays = survives_leaving_one_out(horizons, methods, first)
    changing = [_where(horizon) for horizon, same in stays.items() if not same]
    if changing:
        some = "at every horizon" if len(changing) == len(stays) else ", ".join(changing)
        sentences.append(f"Leaving one data set out changes who is first {some}.")
    return sentences


def _where(horizon):
    return "on a logarithmic cost axis" if HORIZONS[horizon] is None else f"up to {horizon}"


def _by_horizon(first, display):
    """Return the winner at each horizon in words, without a full stop."""
    # Grouped by winner, as most horizons share one.
    named = {}
    for horizon, methods in first.items():
        named.setdefault(listed(display, methods), []).append(_where(horizon))
    if len(named) == 1:
        (labels,), (methods, *_) = named, first.values()
        has = "has" if len(methods) == 1 else "share"
        return f"{labels} {has} the best mean rank however much of the full cost may be spent"
    by_winner = "; ".join(f"{labels} {', '.join(places)}" for labels, places in named.items())
    return f"The best mean rank depends on how much of the full cost may be spent: {by_winner}"
