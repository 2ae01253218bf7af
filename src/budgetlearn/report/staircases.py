"""Model schedules of several methods as staircases (Fig. 4 to 7 of Yan et al.)."""

from ..benchmark.points import of_case
from .style import house_style, message_figure, new_figure


def staircase_figure(kept, metadata, dataset, costs):
    """Draw the schedules of one run over the budget, one panel for each comparison of the study.

    Parameters
    ----------
    kept : DataFrame
        From `budgetlearn.benchmark.points.compressed_points`.
    metadata : Metadata
        Labels and colours; `inside.staircases` says what is compared.
    dataset, costs : str
        The case.

    Returns
    -------
    matplotlib.figure.Figure
        The lowest run that all the methods compared completed.
    """
    panels = metadata.inside.staircases
    case = of_case(kept, dataset, costs)
    compared = set().union(*panels.values())
    done = case[case["method"].isin(compared)].groupby("run")["method"].nunique()
    complete = done.index[done == len(compared)]
    if not len(complete):
        return message_figure(f"{metadata.case_title(dataset, costs)}: no run completed.")
    run = case[case["run"] == complete.min()]
    with house_style():
        figure = new_figure(0.6 + 4.4 * len(panels), 4.8)
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, methods) in zip(grid, panels.items(), strict=True):
            for method in methods:
                _draw(axes, run[run["method"] == method], metadata.methods[method], run)
            axes.set(title=title, xlabel="budget")
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=9, ncols=2)
        grid[0].set_ylabel(f"validation {metadata.score(dataset)}")
        figure.suptitle(f"{metadata.case_title(dataset, costs)}, run {complete.min()}")
    return figure


def _draw(axes, schedule, method, run):
    """Draw a staircase, from the cheapest model to the dearest one of all methods."""
    cost = [*schedule["valid_cost"], run["valid_cost"].max()]
    score = [*schedule["valid_score"], schedule["valid_score"].iloc[-1]]
    style = {"color": method.colour, "linestyle": method.line}
    axes.step(cost, score, where="post", linewidth=1.6, label=method.label, **style)
    axes.plot(cost[:-1], score[:-1], linestyle="none", color=method.colour, marker=method.marker,
              markersize=4)  # fmt: skip
