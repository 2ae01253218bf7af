"""Every subset of a few variables, and the ones that msB visits (Fig. 8 of Yan et al.)."""

from pathlib import Path
from string import ascii_lowercase

import pandas as pd

from budgetlearn.curves import pareto_indices

from ...study.study import ACQUISITION
from ..display import exhaustive_method, sequence_method
from ..section import Section, figure
from ..style import house_style, message_figure, new_figure

_NUMBERED = {
    "cost": ("#0072b2", [str(number) for number in range(1, 100)]),
    "importance": ("#d55e00", [*ascii_lowercase, *(f"{a}{a}" for a in ascii_lowercase)]),
}
_CAPTION = """Every subset of the variables by cost and validation accuracy, and the models that msB
visits: by cost 1, 2, 3 …, by importance a, b, c …, other sequences as crosses."""
_SPACE = ["run", "subset", "cost", "score"]
_VISITED = ["run", "sequence", "step", "variables", "cost", "score"]


class SolutionSpace(Section):
    """The whole solution space of a small problem, in one run."""

    id = "solution-space"
    title = "Solution space"
    place = 82

    def applies(self):
        return "solution_space" in self.study.config.get("figures", []) and bool(self._cases)

    @property
    def _cases(self):
        """Return the cases in which all subsets are searched."""
        cases = self.study.cases_under(ACQUISITION)
        return [case for case in cases if exhaustive_method(self.study, case[0])]

    def _space_files(self, dataset, costs):
        """Every subset of one run of the first chunk."""
        # One chunk is enough: the figure shows a single run.
        method, chunk = exhaustive_method(self.study, dataset), self.study.chunks[0]
        return [f"{self.study.folder}/spaces/{dataset}/{costs}/{method}/{chunk}.csv"]

    def _visited_files(self, dataset, costs):
        """The models of the first chunk, …/<dataset>/<costs>/<method>/<sequence>/<chunk>.csv."""
        study, msb = self.study, sequence_method(self.study, dataset)
        return [
            f"{study.folder}/sequences/{dataset}/{costs}/{msb}/{sequence}/{study.chunks[0]}.csv"
            for sequence in (study.sequences(msb, dataset) if msb else [])
        ]

    @property
    def inputs(self):
        return [
            path
            for case in self._cases
            for path in (*self._space_files(*case), *self._visited_files(*case))
        ]

    @property
    def parts(self):
        return [figure(f"space_{'_'.join(case)}", "Inside msB", _CAPTION) for case in self._cases]

    def figures(self, report):
        display = report.display
        return {
            f"space_{'_'.join(case)}": space_figure(
                _read(self._space_files(*case), _SPACE),
                _read(self._visited_files(*case), _VISITED),
                display.case_title(*case),
                display.score(case[0]),
            )
            for case in self._cases
        }

    def context(self, report):
        titles = ((case, report.display.case_title(*case)) for case in self._cases)
        return {"figures": [(f"space_{'_'.join(case)}", title) for case, title in titles]}


def _read(paths, columns):
    """Return the rows of several files."""
    # Under `strict: false` some are not there.
    frames = [pd.read_csv(path) for path in paths if Path(path).exists()]
    return pd.concat(frames) if frames else pd.DataFrame(columns=columns)


def space_figure(space, visited, title, score):
    """Draw cost and validation accuracy of every subset, and number the steps of two sequences.

    Parameters
    ----------
    space : DataFrame
        run, subset, cost, score of every subset.
    visited : DataFrame
        run, sequence, step, variables, cost, score of msB's models.
    title : str
        The case's.
    score : str
        What predictions are scored by.

    Returns
    -------
    matplotlib.figure.Figure
        Of the lowest run; the steps of the cost sequence are 1, 2, 3 …, those of the importance
        sequence a, b, c …, from the full model down.
    """
    if space.empty:
        return message_figure(f"{title}: no search completed.")
    # Costs differ between runs, so that one figure can show only one.
    run = space["run"].min()
    space = space[space["run"] == run]
    visited = visited[visited["run"] == run]
    with house_style():
        figure = new_figure(7.2, 5.4)
        axes = figure.subplots()
        axes.scatter(
            space["cost"], space["score"], s=14, color="#bbbbbb", linewidths=0,
            rasterized=len(space) > 500, label=f"all {len(space):,} subsets",
        )  # fmt: skip
        # Drawn from all subsets: what any search could reach at best.
        _draw_best(axes, space)
        # Numbers on all sequences would hide each other.
        others = visited[~visited["sequence"].isin(_NUMBERED)]
        axes.scatter(others["cost"], others["score"], marker="x", s=30, color="#009e73",
                     linewidths=1.2, label="other sequences")  # fmt: skip
        for sequence, (colour, marks) in _NUMBERED.items():
            _number(axes, visited[visited["sequence"] == sequence], sequence, colour, marks)
        share = f"run {run}: msB visits {visited['variables'].nunique()} of {len(space):,} subsets"
        axes.set(xlabel="cost", ylabel=f"validation {score}")
        axes.set_title(f"{title}\n{share}")
        axes.legend(loc="lower right")
    return figure


def _draw_best(axes, space):
    """Draw the best schedule there is as a staircase."""
    best = space.iloc[pareto_indices(space["cost"], space["score"])]
    cost = [*best["cost"], space["cost"].max()]
    score = [*best["score"], best["score"].iloc[-1]]
    axes.step(cost, score, where="post", color="#222222", linewidth=1.2, label="best schedule")


def _number(axes, models, sequence, colour, marks):
    """Mark the models of a sequence with the number or letter of their step."""
    axes.plot(models["cost"], models["score"], color=colour, linewidth=0.8, alpha=0.6)
    axes.scatter(
        models["cost"], models["score"], s=90, facecolors="white", edgecolors=colour, zorder=3,
        label=f"by {sequence}",
    )  # fmt: skip
    for mark, cost, score in zip(marks, models["cost"], models["score"], strict=False):
        axes.annotate(mark, (cost, score), color=colour, fontsize=7, ha="center", va="center",
                      zorder=4)  # fmt: skip
