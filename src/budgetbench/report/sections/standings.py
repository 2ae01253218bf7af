"""Standings over all data sets: table of areas, mean ranks, leads, and the areas of all runs."""

import numpy as np
import pandas as pd

from ...analysis.areas import CONSTANT
from ...analysis.differences import FEWEST_CASES, lead_table
from ...analysis.ranks import LEVEL, critical_difference, rank_table
from ...analysis.schedules import CASE, of_case, score_table
from ...study.study import ACQUISITION
from ..section import Section
from ..style import MANY_POINTS, draw_spread, drawing, legend_below, message_figure, name_rows
from ..text import DASH, counted, counts_of, first_upper, interval, mean_rank, plus_minus


class Standings(Section):
    """Standings of the methods that are compared by acquisition cost."""

    id = "areas"
    title = "Who wins"
    place = 20
    under = ACQUISITION
    category = "Who wins"
    pictures = (("ranks", "mean ranks"), ("areas", "areas under the Pareto"))
    names = ("areas", "summary", "ranks", "leads", "controls")

    def tables(self, report):
        results, display, areas = report.results, report.display, report.results.areas
        return {
            "areas": areas,
            "summary": results.summary,
            "ranks": rank_table(results.ranking),
            "leads": lead_table(areas, display.competitors, display.test_ratios, display.bounded),
            "controls": score_table(results.by_cost, display.controls),
        }

    def figures(self, report):
        return {
            "ranks": rank_figure(report.results.ranking, report.display),
            "areas": area_figure(report.results.areas, report.display),
        }

    def summary(self, report):
        display, summary = report.display, report.results.summary
        first, *more = lead_sentences(report.tables["leads"], display)
        # The leads and their certainty come first, above the picture.
        return [first, *no_better(summary, display), *more, *peers_ahead(summary, display)]

    def context(self, report):
        results, display = report.results, report.display
        summary, ranking = results.summary, results.ranking
        _, controls = display.matrix(
            report.tables["controls"],
            display.controls,
            lambda row: plus_minus(row.get("mean"), row.get("sd")),
        )
        score, leads = first_upper(display.score()), report.tables["leads"]
        return {
            "score": display.score(),
            "best": " or ".join(sorted({f"{s.span[1]:g}" for s in display.datasets.values()})),
            "standings": standings(summary, ranking, display),
            "ranked": ranking.pairs is not None and len(ranking.ranks) >= FEWEST_CASES,
            "rank_sentences": rank_sentences(ranking, display),
            "control_rows": [[f"{score}, {label}", "", *cells] for label, *cells in controls],
            "lead_rows": [
                _lead_row(row, display)
                for case in display.cases(leads)
                for row in of_case(leads, *case).itertuples()
            ],
        }


def standings(summary, ranking, display):
    """Return heads and rows of the table of mean AUP by method and case, sorted by mean rank."""
    rivals = sorted(display.rivals(summary), key=lambda name: ranking.mean.get(name, np.inf))
    # Rounded, so that rounding errors do not decide between equal areas. Runs that count as the
    # constant are part of the mean, so they are counted. Data sets with controls alone are shown.
    areas = summary["mean_test"].round(12).where(summary["method"].isin(rivals))
    table = summary.assign(area=areas, runs=summary["n_runs"] + summary["n_constant"])
    groups = table.groupby(CASE)
    best = (areas == groups["area"].transform("max")) & (groups["area"].transform("count") > 1)
    table = table.assign(best=best, most=groups["runs"].transform("max"))
    titles, rows = display.matrix(table, rivals, _area_cell)
    counts = [counted(most, "run") for most in groups["runs"].max()[display.cases(table)]]
    heads = [{"text": t, "note": count} for t, count in zip(titles, counts, strict=True)]
    for name, row in zip(rivals, rows, strict=True):
        note = "peer" if display.methods[name].peer else ""
        row[:1] = {"text": row[0], "note": note}, mean_rank(ranking.mean.get(name))
    return heads, rows


def _area_cell(row):
    if not row:  # not in the study
        return {"text": DASH}
    note = f"{row['n_constant']} of {row['most']} as the constant" if row["n_constant"] else ""
    return {"text": plus_minus(row["mean_test"], row["sd_test"]), "best": row["best"], "note": note}


def _lead_row(row, display):
    """Return a row of `lead_table` as texts."""
    second, wins = DASH, DASH  # a single method has no lead
    if pd.notna(row.runner_up):
        second, wins = display.label(row.runner_up), f"{row.wins:.0f} of {row.n_runs:.0f}"
    lead = interval(row.lead, row.low, row.high)
    return [display.case_title(row.dataset, row.costs), display.label(row.best), second, lead, wins]


def lead_sentences(leads, display):
    """Return sentences on the methods of best mean AUP and the certainty of their leads."""
    if not display.competitors:
        return ["The study has only controls, so there is nothing to compare."]
    if leads.empty:
        return ["No method completed a single run: see the coverage table."]
    # A data set with a single method is not counted as a win.
    contested = leads.dropna(subset="runner_up")
    alone = len(leads) - len(contested)
    if contested.empty:
        return ["No data set has completed runs of two methods, so there is nothing to compare."]
    gap = [f"On {alone} more, only one method completed runs: no comparison."] if alone else []
    return [_who_wins(contested, display), _how_sure(contested), *gap]


def _who_wins(leads, display):
    ahead = leads[leads["lead"].round(12) > 0]
    wins, n_equal = counts_of(ahead["best"]).rename(display.label), len(leads) - len(ahead)
    compared = display.counted(leads)
    if not n_equal and len(wins) == 1:
        few = {1: "the one data set compared", 2: compared.replace("2", "both")}
        where = few.get(len(leads), f"all {compared}")
        return f"{wins.index[0]} has the best mean AUP on {where}."
    shares = [f"{label} on {n}" for label, n in wins.items()]
    shares += [f"several tied on {n_equal}"] if n_equal else []
    return f"Best mean AUP, of {compared}: {', '.join(shares)}."


def _how_sure(leads):
    # A single run has no interval, nor have equal runs.
    measured = leads.dropna(subset="low")
    if measured.empty:
        return "Every method has a single run or equal runs, so the spread between runs is unknown."
    clear, n_cases = int((measured["low"] > 0).sum()), len(measured)
    if clear < n_cases == 1:
        return "Other splits may well put another method first: the lead may be chance (95 %)."
    if clear == 0:
        return "The lead is certain on none of them: other splits may change the order (95 %)."
    where = "" if n_cases == 1 else f" on {'all' if clear == n_cases else clear} of these {n_cases}"
    return f"The lead over every other method is more than chance would give (95 %){where}."


def no_better(summary, display):
    """Return a sentence on the data sets on which no method is better than the free constant."""
    means = summary.pivot_table(index=CASE, columns="method", values="mean_test").round(12)
    best = means[[name for name in display.competitors if name in means]].max(axis=1)
    lost = means.index[best <= means.get(CONSTANT, 0)]
    where = ", ".join(display.case_title(*case) for case in lost)
    return [f"No method has a better mean AUP than the free constant on {where}."] if where else []


def peers_ahead(summary, display):
    """Return a sentence on the data sets on which a peer beats every method of the papers."""
    # Only methods that completed a run, as the others have the constant's area.
    done = summary[summary["n_runs"] > 0].dropna(subset="mean_test")
    ahead = {}
    for case in display.cases(summary):
        own = of_case(done, *case).set_index("method")["mean_test"].round(12)
        own = own[[name for name in display.competitors if name in own]]
        best = own.index[own == own.max()]
        others = [name for name in own.index if not display.methods[name].peer]
        # A peer must be strictly ahead, and there must be a method of the papers.
        if others and not best.isin(others).any():
            ahead.setdefault(best[0], []).append(display.case_title(*case))
    where = "; ".join(f"{display.label(name)} on {', '.join(t)}" for name, t in ahead.items())
    count = f" on {sum(map(len, ahead.values()))} of {display.counted(summary)}"
    count = "" if len(display.cases(summary)) == 1 else count
    return [f"A method that users pick today wins{count}: {where}."] if ahead else []


def rank_sentences(ranking, display):
    """Return sentences on the outcome of the rank tests and on methods without a rank."""
    sentences = []
    n_cases = counted(len(ranking.ranks), "data set")
    # Tests over few data sets are unreliable, so no p-value is shown.
    if 0 < len(ranking.ranks) < FEWEST_CASES:
        sentences.append(
            f"{n_cases} {'is' if len(ranking.ranks) == 1 else 'are'} too few for a general claim "
            f"about ranks ({FEWEST_CASES} at least): see the areas and their intervals."
        )
    elif ranking.pairs is not None:
        alike = "may be chance" if ranking.friedman >= LEVEL else "are more than chance"
        sentences.append(
            f"Friedman's test over {n_cases}: p = {ranking.friedman:.2g}, so the differences of "
            f"rank {alike} at {LEVEL:g}. Nemenyi's critical difference is "
            f"{critical_difference(ranking):.2f} ranks; bars join methods within it."
        )
    if ranking.left_out and len(ranking.ranks):
        names = ", ".join(display.label(name) for name in ranking.left_out)
        sentences.append(f"Not ranked, as they lack an area on some data set: {names}.")
    return sentences


def rank_figure(ranking, display):
    """Draw the critical-difference diagram, where bars join ranks that may differ by chance."""
    if ranking.pairs is None or len(ranking.ranks) < FEWEST_CASES:
        return message_figure(f"Tests of ranks need {FEWEST_CASES} data sets and three methods.")
    from scikit_posthocs import critical_difference_diagram

    methods = [display.methods[name] for name in ranking.ranks]
    labels = {method.id: method.label for method in methods}
    # Narrow enough for a phone, where a wide one would be cut off or illegible.
    width = 2.6 + 0.07 * max(map(len, labels.values()))
    with drawing(width, 1.2 + 0.22 * len(labels)) as (figure, axes):
        drawn = critical_difference_diagram(
            ranking.mean.rename(labels), ranking.pairs.rename(index=labels, columns=labels),
            alpha=LEVEL, ax=axes, left_only=True,
            color_palette={method.label: method.colour for method in methods},
            label_fmt_left="{label}  {rank:.2f} ", text_h_margin=0.02,
            crossbar_props={"color": "#222222", "linewidth": 2.4},
        )  # fmt: skip
        # The order of a bar's points comes from a set and differs between processes.
        for (bar,) in drawn["crossbars"]:
            bar.set_xdata(sorted(bar.get_xdata()))
        axes.set_title("mean rank")
    return figure


def area_figure(areas, display):
    """Draw AUP per case and method: every run, and mean ± standard deviation (Fig. 11)."""
    frame = areas[areas["method"].isin(display.competitors)].dropna(subset="aup_test")
    if frame.empty:
        return message_figure("No run completed.")
    cases = display.cases(frame)
    methods = [m for m in display.methods.values() if m.id in set(frame["method"])]
    # Each method has its own line, within 0.4 of the place of a case.
    lines = np.linspace(-0.4, 0.4, 2 * len(methods) + 1)[1::2]
    with drawing(6.4, 1.3 + 0.26 * len(cases) * max(len(methods), 2)) as (figure, axes):
        for method, line in zip(methods, lines, strict=True):
            own = frame[frame["method"] == method.id]
            places = line + np.array([cases.index(tuple(case)) for case in own[CASE].to_numpy()])
            axes.scatter(
                own["aup_test"], places, s=16, alpha=0.35, color=method.colour, linewidths=0,
                rasterized=len(frame) > MANY_POINTS,
            )  # fmt: skip
            runs = own["aup_test"].groupby(places)
            mean, span = runs.mean(), display.span(frame)
            draw_spread(axes, mean, mean.index, runs.std(), span, method, method.label)
        for border in range(1, len(cases)):
            axes.axhline(border - 0.5, color="#cccccc", linewidth=0.8)
        name_rows(axes, [display.case_title(*case) for case in cases])
        axes.set_xlabel("area under the Pareto (AUP), test data")
        axes.grid(axis="y", visible=False)
        legend_below(figure, *axes.get_legend_handles_labels())
    return figure
