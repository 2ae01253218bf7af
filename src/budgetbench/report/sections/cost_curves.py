"""Cost–accuracy curves of every data set, as still pictures and as data for the page's charts."""

from textwrap import fill

import numpy as np
import pandas as pd

from ...analysis.areas import control_point, free_scores, lowess_mean, mean_curve
from ...analysis.recommendations import MEAN
from ...analysis.schedules import CASE, GROUP, of_case
from ...study.study import ACQUISITION
from .. import style
from ..section import Section, case_name

# Share of the full cost; if most models cost less, the axis shows the square root of the cost.
CHEAP = 0.1
MOST_POINTS = 2000  # limit on the points of single runs in a chart


class CostCurves(Section):
    """Test score over acquisition cost."""

    id = "curves"
    place = 30
    under = ACQUISITION
    script = "cost_curves.js"
    stem, category = "curves", "Cost–accuracy curves"
    names = ("curves",)

    def tables(self, report):
        schedules = report.results.schedules
        columns = [*GROUP, "budget", "mean", "sd", "n_affording", "n_runs"]
        frames = [pd.DataFrame(columns=columns)] if schedules.empty else []
        for (dataset, costs), case in schedules.groupby(CASE):
            free = free_scores(case)
            for method, own in case.groupby("method"):
                curve = mean_curve(own, "cost_fraction", free)
                frames.append(curve.assign(dataset=dataset, costs=costs, method=method))
        return {"curves": pd.concat(frames, ignore_index=True)[columns]}

    def draw(self, report, dataset, costs):
        """Draw the curves of a case (Fig. 9 of Yan et al.; Fig. 3 of Nan et al.)."""
        frame, display = of_case(report.results.schedules, dataset, costs), report.display
        if frame.empty:
            return style.message_figure(f"{display.case_title(dataset, costs)}: no run completed.")
        score = display.score(dataset)
        with style.drawing(6.4, 4.4) as (figure, axes):
            # The axis comes first, as the smooth mean is taken in its coordinates.
            frame = frame.assign(place=_draw_cost_axis(axes, frame, costs))
            for method in display.methods.values():
                own = frame[frame["method"] == method.id]
                if len(own):
                    draw = _draw_control if method.control else _draw_curve
                    draw(axes, own, method)
            axes.set(ylabel=f"test {score}", title=fill(display.case_title(dataset, costs), 56))
            # Papers with given costs print errors, papers with random costs print accuracies.
            if score == "accuracy" and costs != "random":
                errors = axes.secondary_yaxis("right", functions=(lambda share: 1 - share,) * 2)
                errors.set_ylabel("test error")
            style.legend_below(figure, *axes.get_legend_handles_labels())
        return figure

    def context(self, report):
        display, drawn = report.display, set(report.results.schedules["method"])
        names = ((case_name(*c), display.case_title(*c), display.score(c[0])) for c in report.cases)
        legend = [method for name, method in display.methods.items() if name in drawn]
        known = {"legend": legend, "shape_path": style.shape_path}
        return {"score": display.score(), "cases": list(names), **known}

    def script_data(self, report, *case):
        """Return the curves of a case, and the models of its first `runs_shown` runs as points.

        If examples differ in cost, `hard` is the curve that charges the most expensive example.
        """
        results, display, curves = report.results, report.display, []
        frame, hard = of_case(results.schedules, *case), of_case(results.hard_schedules, *case)
        baselines = free_scores(frame)
        for method in display.methods.values():
            own, charged = (part[part["method"] == method.id] for part in (frame, hard))
            if own.empty:
                continue
            units = {"share": (own, "cost_fraction"), "cost": (own, "cost")}
            if method.control:
                # A control has one model, so there is no curve to draw.
                kind = "level" if (own["cost"] == 0).all() else "point"
                found = {name: control_point(*unit) for name, unit in units.items()}
            else:
                kind = "curve"
                # If all examples cost the same, both budgets share a curve, which is sent once.
                if results.budget_kinds.get(method.id) == MEAN and len(charged):
                    units["hard"] = charged, "cost_fraction"
                found = {name: mean_curve(*unit, baselines) for name, unit in units.items()}
            entry = {"method": method.id, "kind": kind}
            for name, curve in found.items():
                entry[name] = {column: _digits(curve[column]) for column in curve}
            curves.append(entry)
        # The points of all runs would take most of the page's bytes. Whole runs are kept, at least
        # one, as a random choice of points would look like other schedules.
        shown = frame[frame["method"].isin(display.competitors)]
        sizes = shown.groupby("run").size().cumsum()
        most = max(int((sizes <= MOST_POINTS).sum()), 1)
        shown = shown[shown["run"].isin(sizes.index[:most])]
        points = {"share": "cost_fraction", "cost": "cost", "score": "test_score"}
        points = {name: _digits(shown[column]) for name, column in points.items()}
        runs = of_case(results.coverage, *case)
        absent = runs[runs["n_ok"] + runs["n_partial"] == 0].itertuples()
        return {
            "curves": curves,
            "points": {"method": list(shown["method"])} | points,
            "runs_shown": shown["run"].nunique(),
            "n_runs": frame["run"].nunique(),
            "absent": [
                f"{display.label(row.method)} ({row.message or 'no record of it was found'})"
                for row in absent
            ],
        }


def _draw_cost_axis(axes, points, costs):
    """Set up the cost axis and return the position of each point on it."""
    # If prices differ between runs, it shows shares of the full cost: their square root if most
    # models are cheap, otherwise the first fifth takes half of the axis. If prices are the same in
    # all runs, it shows costs in their own unit, logarithmic over more than two decades.
    if costs == "random":
        axes.set(xlim=(-0.02, 1.03), xlabel="acquisition cost (share of all features)")
        # Without the free constant, which is on every figure.
        paid = points.loc[points["cost"] > 0, "cost_fraction"]
        if (paid < CHEAP).sum() > len(paid) / 2:
            root, square = lambda x: np.sqrt(np.maximum(x, 0)), lambda x: np.maximum(x, 0) ** 2
            axes.set_xscale("function", functions=(root, square))
            axes.set_xlim(0, 1.03)
        else:
            style.split_axis(axes)
            axes.set_xlabel("acquisition cost (% of all features)")
        return points["cost_fraction"]
    axes.set_xlabel("mean acquisition cost")
    paid = points.loc[points["cost"] > 0, "cost"]
    # Within two decades a linear axis shows more.
    if not len(paid) or paid.max() <= 100 * paid.min():
        return points["cost"]
    axes.set_xscale("log")
    # Free models have no place on this axis: they are drawn one decade below the others, with ≤.
    floor = 10.0 ** (np.ceil(np.log10(paid.min())) - 1)
    axes.xaxis.set_major_formatter(lambda x, _: f"≤ {x:g}" if x <= floor else f"{x:g}")
    return points["cost"].clip(lower=floor)


def _draw_curve(axes, points, method):
    """Draw the points of every run faintly and, if there are enough, their lowess mean."""
    forward, back = (np.log, np.exp) if axes.get_xscale() == "log" else (np.array, np.array)
    x, y = points["place"], points["test_score"]
    # Smoothed in the coordinates of the axis, so that the line looks smooth.
    mean = lowess_mean(forward(x), y)
    axes.scatter(
        x, y, s=18, alpha=0.4, linewidths=0, rasterized=len(points) > style.MANY_POINTS,
        color=method.colour, marker=method.marker, label=method.label if mean is None else None,
    )  # fmt: skip
    if mean is not None:
        axes.plot(back(mean[0]), mean[1], **style.marked_line(method, mean[0].size))


def _draw_control(axes, points, method):
    score = points["test_score"]
    # A free control is available at every budget, so it is drawn as a level.
    if (points["cost"] == 0).all():
        axes.axhline(score.mean(), color=method.colour, linestyle="--", label=method.label)
        return
    axes.errorbar(
        points["place"].mean(), score.mean(),
        yerr=style.bars(score.mean(), score.std(), most=1)[:, None] if len(score) > 1 else None,
        fmt=method.marker, color=method.colour, markersize=9, capsize=3, label=method.label,
        zorder=5,
    )  # fmt: skip


def _digits(values):
    return [float(f"{value:.5g}") for value in np.asarray(values, dtype=float)]
