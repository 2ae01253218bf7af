"""Optional figures of Yan et al.: importance, schedules compared, solution space, own cost."""

from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pandas as pd

from budgetlearn.curves import pareto_indices

from ...analysis.budgets import own_cost_table
from ...analysis.schedules import CASE, of_case
from ...study.records import parse_variables
from ...study.study import ACQUISITION, SCHEDULE
from .. import style
from ..section import Section
from ..text import counted, plus_minus

_MOST_VARIABLES = 40
_NUMBERED = {
    "cost": ("#0072b2", [str(number) for number in range(1, 100)]),
    "importance": ("#d55e00", [*ascii_lowercase, *(f"{a}{a}" for a in ascii_lowercase)]),
}
_SUBSETS = ["run", "subset", "cost", "score"]
_VISITED = ["run", "sequence", "step", "variables", "cost", "score"]
_IMPORTANCE = ["run", "variable", "importance"]


def _read(paths, columns):
    # With `strict: false` jobs may fail, and then their files are missing.
    frames = [pd.read_csv(path) for path in paths if Path(path).exists()]
    return pd.concat(frames) if frames else pd.DataFrame(columns=columns)


class _OnRequest(Section):
    """A section that a study requests, with one figure for each case."""

    under = ACQUISITION
    block = "Figures"
    about = shows = ""  # the text above the figures, and the beginning of their alternative texts
    asked = ""  # its name among the study's `figures`

    def applies(self):
        return self.asked in self.study.config.get("figures", []) and bool(self.cases)

    def context(self, report):
        titles = [report.display.case_title(*case) for case in self.cases]
        return {"figures": list(zip(self.parts, titles, strict=True))}

    def _first(self, dataset, wanted):
        """Return the first method of a data set among the wanted ones, or None."""
        cells = self.study.cells
        return next((method for d, _, method in cells if d == dataset and method in wanted), None)

    def _msb(self, dataset):
        """Return the first method of a data set that is built from sequences, or None."""
        return self._first(dataset, self.study.methods_of(SCHEDULE))


class VariableImportance(_OnRequest):
    """The permutation importance of each variable in the full model (Fig. 2)."""

    id = stem = asked = "importance"
    place = 80
    category = shows = "Importance of the variables"
    about = "The permutation importance from which msB builds its sequences, most important first."

    @property
    def cases(self):
        """The data sets, each once, as importance does not depend on the costs."""
        names = dict.fromkeys(name for name, _ in super().cases)
        return [(name,) for name in names if self._msb(name)]

    def _files(self, dataset):
        folder = f"{self.study.folder}/importance/{dataset}/{self._msb(dataset)}"
        return [f"{folder}/{chunk}.csv" for chunk in self.study.chunks]

    @property
    def inputs(self):
        """Tables of importance, …/<dataset>/<method>/<chunk>.csv."""
        return [path for (dataset,) in self.cases for path in self._files(dataset)]

    def draw(self, report, dataset):
        # A failed run is a row without a variable.
        importance = _read(self._files(dataset), _IMPORTANCE).dropna(subset="variable")
        title, score = report.display.case_title(dataset), report.display.score(dataset)
        if importance.empty:
            return style.message_figure(f"{title}: no importance was computed.")
        # Every run lists the features in the same order.
        features = report.prices.loc[report.prices["dataset"] == dataset, "feature"]
        names = dict(enumerate(features.drop_duplicates()))
        table = importance.groupby("variable")["importance"].agg(["mean", "std", "count"])
        table = table.sort_values("mean", ascending=False, kind="stable")
        shown = table.head(_MOST_VARIABLES)
        with style.drawing(6.4, 1.2 + 0.2 * len(shown)) as (figure, axes):
            places = range(len(shown))
            # Error bars for some variables only would suggest that the others do not vary.
            spread = shown["std"] if (shown["count"] > 1).all() else None
            axes.barh(places, shown["mean"], xerr=spread, color="#0072b2", height=0.7)
            axes.set_yticks(places, [names.get(v, f"x{v}") for v in shown.index])
            axes.set_ylim(len(shown) - 0.4, -0.6)
            axes.grid(axis="y", visible=False)
            more = len(table) - len(shown)
            omitted = f" ({more} less important variables omitted)" if more else ""
            axes.set(xlabel=f"fall in validation {score} when shuffled{omitted}", title=title)
        return figure


class Staircases(_OnRequest):
    """Schedules of several methods in one run (Fig. 4 to 7)."""

    id = stem = "staircases"
    title = category = "Schedules compared"
    place = 81
    about = "The schedules of several methods in one run."
    shows = "Model schedules"

    def applies(self):
        return bool(self.study.config.get("staircases")) and bool(self.cases)

    @property
    def cases(self):
        """The cases that have all methods of the panels."""
        shown = set().union(*self.study.config["staircases"].values())
        cells = self.study.cells
        return [c for c in super().cases if all((*c, method) in cells for method in shown)]

    def draw(self, report, *case):
        schedules, name = of_case(report.results.schedules, *case), report.display.case_title(*case)
        panels = self.study.config["staircases"]  # title of each comparison → its methods
        compared = set().union(*panels.values())
        # The same run for all methods, as each run has its own prices and split.
        done = schedules[schedules["method"].isin(compared)].groupby("run")["method"].nunique()
        complete = done.index[done == len(compared)]
        if not len(complete):
            return style.message_figure(f"{name}: no run completed.")
        run = schedules[schedules["run"] == complete.min()]
        with style.drawing(0.6 + 4.4 * len(panels), 4.8, len(panels)) as (figure, grid):
            for axes, (title, methods) in zip(grid, panels.items(), strict=True):
                for method in map(report.display.methods.get, methods):
                    own = run.loc[run["method"] == method.id, ["valid_cost", "valid_score"]]
                    cost, score = own.to_numpy(dtype=float).T
                    # All lines end at the same budget, so that none looks better for being longer.
                    look = {"color": method.colour, "linestyle": method.line, "linewidth": 1.6}
                    look |= {"label": method.label}
                    x, y = [*cost, run["valid_cost"].max()], [*score, score[-1]]
                    axes.step(x, y, where="post", **look)
                    axes.plot(cost, score, method.marker, color=method.colour, markersize=4)
                axes.set(title=title, xlabel="budget")
                axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=9, ncols=2)
            grid[0].set_ylabel(f"validation {report.display.score(case[0])}")
            figure.suptitle(f"{name}, run {complete.min()}")
        return figure


class SolutionSpace(_OnRequest):
    """The whole solution space of a small problem, in one run (Fig. 8)."""

    id = "solution-space"
    place = 82
    stem, asked = "space", "solution_space"
    category = shows = "The whole solution space"
    about = "Every subset of a few variables, and the models that msB visits among them."

    @property
    def cases(self):
        """The cases with a method that searches all subsets."""
        return [case for case in super().cases if self._exhaustive(case[0])]

    def _exhaustive(self, dataset):
        """Return the first method of a data set that tries every subset, or None."""
        specs = self.study.methods.items()
        wanted = [name for name, spec in specs if spec["class"].endswith(".ExhaustiveSearch")]
        return self._first(dataset, wanted)

    def _files(self, dataset, costs):
        """Return the files of all subsets and of msB's visited models, in the first chunk."""
        # One chunk is enough, as the figure shows a single run.
        study, msb, chunk = self.study, self._msb(dataset), self.study.chunks[0]
        case = f"{dataset}/{costs}"
        visited = [
            f"{study.folder}/sequences/{case}/{msb}/{sequence}/{chunk}.csv"
            for sequence in (study.sequences(msb, dataset) if msb else [])
        ]
        return [f"{study.folder}/spaces/{case}/{self._exhaustive(dataset)}/{chunk}.csv"], visited

    @property
    def inputs(self):
        files = (self._files(*case) for case in self.cases)
        return [path for space, visited in files for path in (*space, *visited)]

    def draw(self, report, *case):
        subsets, models = self._files(*case)
        space, visited = _read(subsets, _SUBSETS), _read(models, _VISITED)
        title, score = report.display.case_title(*case), report.display.score(case[0])
        if space.empty:
            return style.message_figure(f"{title}: no search completed.")
        # Costs differ between runs, so a figure shows only one.
        run = space["run"].min()
        space = space[space["run"] == run]
        visited = visited[visited["run"] == run]
        with style.drawing(7.2, 5.4) as (figure, axes):
            axes.scatter(
                space["cost"], space["score"], s=14, color="#bbbbbb", linewidths=0,
                rasterized=len(space) > style.MANY_POINTS, label=f"all {len(space):,} subsets",
            )  # fmt: skip
            # The best schedule of all subsets bounds every search.
            best = space.iloc[pareto_indices(space["cost"], space["score"])]
            look = {"color": "#222222", "linewidth": 1.2, "label": "best schedule"}
            x, y = [*best["cost"], space["cost"].max()], [*best["score"], best["score"].iloc[-1]]
            axes.step(x, y, where="post", **look)
            # Only two sequences are numbered, as more labels would overlap.
            others = visited[~visited["sequence"].isin(_NUMBERED)]
            look = {"marker": "x", "s": 30, "color": "#009e73", "linewidths": 1.2}
            axes.scatter(others["cost"], others["score"], label="other sequences", **look)
            for sequence, (colour, marks) in _NUMBERED.items():
                _number(axes, visited[visited["sequence"] == sequence], sequence, colour, marks)
            # msB may also visit smaller subsets than the search tries: only common ones count.
            codes = [sum(1 << j for j in parse_variables(str(t))) for t in visited["variables"]]
            n_visited = space["subset"].isin(codes).sum()
            share = f"run {run}: msB visits {n_visited} of {len(space):,} subsets"
            axes.set(xlabel="cost", ylabel=f"validation {score}", title=f"{title}\n{share}")
            axes.legend(loc="lower right")
        return figure


def _number(axes, models, sequence, colour, marks):
    cost, score = models["cost"], models["score"]
    axes.plot(cost, score, color=colour, linewidth=0.8, alpha=0.6)
    look = {"s": 90, "facecolors": "white", "edgecolors": colour, "zorder": 3}
    axes.scatter(cost, score, label=f"by {sequence}", **look)
    look = {"color": colour, "fontsize": 7, "ha": "center", "va": "center", "zorder": 4}
    for mark, *place in zip(marks, cost, score, strict=False):
        axes.annotate(mark, place, **look)


class OwnCost(Section):
    """Scores of methods without a choice of budget, and of others within the same cost."""

    id = "own-cost"
    title = "At their own cost"
    place = 84
    category = "Inside msB"
    pictures = (("own_cost", "own_cost"),)
    names = ("own_cost",)

    @property
    def _methods(self):
        return self.study.config.get("own_cost", [])

    def applies(self):
        return bool(self._methods)

    def tables(self, report):
        found, display = report.results, report.display
        return {"own_cost": own_cost_table(found.by_cost, found.schedules, self._methods, display)}

    def figures(self, report):
        table, display = report.tables["own_cost"], report.display
        if table.empty:
            return {"own_cost": style.message_figure("No run completed.")}
        methods = [name for name in self._methods if (table["method"] == name).any()]
        cases = display.cases(table)
        width, height = 1.8 + 3.4 * len(methods), 2.0 + 0.5 * len(cases)
        with style.drawing(width, height, len(methods)) as (figure, grid):
            entries = {}  # of the legend, which has each rival once
            for axes, name in zip(grid, methods, strict=True):
                _draw_panel(axes, table[table["method"] == name], display, cases)
                axes.set(title=display.label(name), xlabel=f"test {display.score()}")
                handles, labels = axes.get_legend_handles_labels()
                entries |= dict(zip(labels, handles, strict=True))
            style.name_rows(grid[0], [display.case_title(*case) for case in cases])
            style.legend_below(figure, list(entries.values()), list(entries))
        return {"own_cost": figure}

    def context(self, report):
        table, display, rows = report.tables["own_cost"], report.display, []
        for case in display.cases(table):
            for row in of_case(table, *case).itertuples():
                some = f"{row.n_affording} of {counted(row.n_runs, 'run')} afford a model"
                note = "" if row.n_affording == row.n_runs else some
                rival = {"text": plus_minus(row.rival_score, row.rival_sd), "note": note}
                own = f"{100 * row.cost_fraction:.1f} %", plus_minus(row.score, row.score_sd)
                named = display.case_title(*case), display.label(row.method)
                won = display.label(row.rival), rival, f"{row.wins} of {row.n_runs}"
                rows.append([*named, *own, *won])
        return {"rows": rows}


def _draw_panel(axes, part, display, cases):
    # The method first and its rivals below it, so that the intervals do not overlap.
    whole = part.sort_values("n_runs", kind="stable").drop_duplicates(CASE, keep="last")
    own = whole, part["method"].iloc[0], ", at its own cost"
    shown = [(*own, "score", "score_sd")]
    for rival, rows in part.groupby("rival"):
        note = "" if display.methods[rival].control else ", within that cost"
        shown.append((rows, rival, note, "rival_score", "rival_sd"))
    order, span = list(display.methods), display.span(part)
    shown[1:] = sorted(shown[1:], key=lambda entry: order.index(entry[1]))
    lines = np.linspace(-0.25, 0.25, len(shown))
    for line, (rows, name, note, score, spread) in zip(lines, shown, strict=True):
        places = [cases.index(tuple(case)) + line for case in rows[CASE].to_numpy()]
        method = display.methods[name]
        label = method.label + note
        style.draw_spread(axes, rows[score], places, rows[spread], span, method, label)
