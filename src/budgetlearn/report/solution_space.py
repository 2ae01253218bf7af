"""Every subset of a few variables, and the ones that msB visits (Fig. 8 of Yan et al.)."""

from string import ascii_lowercase

from ..benchmark.points import of_case
from ..curves import pareto_indices
from .style import house_style, message_figure, new_figure

_NUMBERED = {
    "cost": ("#0072b2", [str(number) for number in range(1, 100)]),
    "importance": ("#d55e00", [*ascii_lowercase, *(f"{a}{a}" for a in ascii_lowercase)]),
}


def space_figure(metadata, dataset, costs):
    """Draw cost and validation accuracy of every subset, and number the steps of two sequences.

    Parameters
    ----------
    metadata : Metadata
        With `inside.space` and `inside.visited`.
    dataset, costs : str
        The case.

    Returns
    -------
    matplotlib.figure.Figure
        Of the lowest run; the steps of the cost sequence are 1, 2, 3 …, those of the importance
        sequence a, b, c …, from the full model down.
    """
    space = of_case(metadata.inside.space, dataset, costs)
    if space.empty:
        return message_figure(f"{metadata.case_title(dataset, costs)}: no search completed.")
    run = space["run"].min()
    space = space[space["run"] == run]
    visited = of_case(metadata.inside.visited, dataset, costs)
    visited = visited[visited["run"] == run]
    with house_style():
        figure = new_figure(7.2, 5.4)
        axes = figure.subplots()
        axes.scatter(
            space["cost"], space["score"], s=14, color="#bbbbbb", linewidths=0,
            rasterized=len(space) > 500, label=f"all {len(space):,} subsets",
        )  # fmt: skip
        _draw_best(axes, space)
        others = visited[~visited["sequence"].isin(_NUMBERED)]
        axes.scatter(others["cost"], others["score"], marker="x", s=30, color="#009e73",
                     linewidths=1.2, label="other sequences")  # fmt: skip
        for sequence, (colour, marks) in _NUMBERED.items():
            _number(axes, visited[visited["sequence"] == sequence], sequence, colour, marks)
        share = f"run {run}: msB visits {visited['variables'].nunique()} of {len(space):,} subsets"
        axes.set(xlabel="cost", ylabel=f"validation {metadata.score(dataset)}")
        axes.set_title(f"{metadata.case_title(dataset, costs)}\n{share}")
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
