"""Model schedules of several methods as staircases (Fig. 4 to 7 of Yan et al.)."""

from ...analysis.schedules import of_case
from ...study.study import ACQUISITION
from ..section import Section, figure
from ..style import house_style, message_figure, new_figure

_CAPTION = "Validation accuracy to expect under each budget, in one run."


class Staircases(Section):
    """Schedules of one run over the budget."""

    id = "staircases"
    title = "Schedules compared"
    place = 81

    def applies(self):
        return bool(self.study.config.get("staircases")) and bool(self._cases)

    @property
    def _cases(self):
        """Return the cases in which all the methods are compared."""
        shown = set().union(*self.study.config["staircases"].values())
        # A panel with a method missing would compare something else.
        there = {((dataset, costs), method) for dataset, costs, method in self.study.cells}
        cases = self.study.cases_under(ACQUISITION)
        return [case for case in cases if {(case, method) for method in shown} <= there]

    @property
    def parts(self):
        return [figure(f"staircases_{'_'.join(c)}", "Inside msB", _CAPTION) for c in self._cases]

    def figures(self, report):
        schedules, panels = report.results.schedules, self.study.config["staircases"]
        return {
            f"staircases_{'_'.join(case)}": staircase_figure(
                schedules, report.display, panels, *case
            )
            for case in self._cases
        }

    def context(self, report):
        titles = ((case, report.display.case_title(*case)) for case in self._cases)
        return {"figures": [(f"staircases_{'_'.join(case)}", title) for case, title in titles]}


def staircase_figure(schedules, display, panels, dataset, costs):
    """Draw the schedules of one run over the budget, one panel for each comparison of the study.

    Parameters
    ----------
    schedules : DataFrame
        From `budgetbench.analysis.schedules.compressed_points`.
    panels : dict of str to list of str
        Title to the methods that are compared in one panel.

    Returns
    -------
    matplotlib.figure.Figure
        The lowest run that all the methods compared completed.
    """
    case = of_case(schedules, dataset, costs)
    compared = set().union(*panels.values())
    # The same run for all: each has its own prices and split.
    done = case[case["method"].isin(compared)].groupby("run")["method"].nunique()
    complete = done.index[done == len(compared)]
    if not len(complete):
        return message_figure(f"{display.case_title(dataset, costs)}: no run completed.")
    run = case[case["run"] == complete.min()]
    with house_style():
        figure = new_figure(0.6 + 4.4 * len(panels), 4.8)
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, methods) in zip(grid, panels.items(), strict=True):
            for method in methods:
                _draw(axes, run[run["method"] == method], display.methods[method], run)
            axes.set(title=title, xlabel="budget")
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=9, ncols=2)
        grid[0].set_ylabel(f"validation {display.score(dataset)}")
        figure.suptitle(f"{display.case_title(dataset, costs)}, run {complete.min()}")
    return figure


def _draw(axes, schedule, method, run):
    """Draw a staircase, from the cheapest model to the most expensive one of all methods."""
    # All lines end at the same budget, so that none looks better by its length.
    cost = [*schedule["valid_cost"], run["valid_cost"].max()]
    score = [*schedule["valid_score"], schedule["valid_score"].iloc[-1]]
    style = {"color": method.colour, "linestyle": method.line}
    axes.step(cost, score, where="post", linewidth=1.6, label=method.label, **style)
    axes.plot(cost[:-1], score[:-1], linestyle="none", color=method.colour, marker=method.marker,
              markersize=4)  # fmt: skip
