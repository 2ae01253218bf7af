"""msB from inside: what the report draws of its importance, its sequences and its search."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from ..benchmark.inside import IMPORTANCE, SOLUTION_SPACE, importance_files, visited_files
from ..benchmark.runs import profiles_of
from ..datasets import read_prices
from .importance import importance_figure
from .solution_space import space_figure
from .staircases import staircase_figure


def _frame(columns):
    """Return what makes an empty frame with these columns."""
    return partial(pd.DataFrame, columns=columns.split())


@dataclass(frozen=True)
class Inside:
    """What is known beside the operating points.

    Attributes
    ----------
    figures : list of str
        What is to be drawn: "importance", "solution_space".
    importance : DataFrame
        dataset, run, variable (index), importance.
    visited : DataFrame
        Models of msB's sequences in their order: dataset, costs, run, sequence, step, variables,
        cost, score (on the validation data).
    space : DataFrame
        Every subset: dataset, costs, run, subset (bit j for variable j), cost, score.
    staircases : dict of str to list of str
        Title → methods whose schedules are drawn into one panel.
    own_cost : list of str
        Methods without a choice of budget, shown beside what others reach at their cost.
    """

    figures: list = field(default_factory=list)
    importance: pd.DataFrame = field(default_factory=_frame("dataset run variable importance"))
    visited: pd.DataFrame = field(
        default_factory=_frame("dataset costs run sequence step variables cost score")
    )
    space: pd.DataFrame = field(default_factory=_frame("dataset costs run subset cost score"))
    staircases: dict = field(default_factory=dict)
    own_cost: list = field(default_factory=list)


def inside_of(study, cost_paths):
    """Return the `Inside` of a study, read from the workflow's files.

    Parameters
    ----------
    study : Study
        The study.
    cost_paths : iterable of path-like
        Its cost tables, at …/<dataset>/<costs>/<chunk>.csv.

    Returns
    -------
    Inside
    """
    importance = [
        pd.read_csv(path).assign(dataset=Path(path).parts[-3]) for path in importance_files(study)
    ]
    visited = [
        pd.read_csv(path).assign(dataset=Path(path).parts[-5], costs=Path(path).parts[-4])
        for path in visited_files(study)
    ]
    space = [_space(path) for path in sorted(map(Path, cost_paths))] if visited else []
    read = {"importance": importance, "visited": visited, "space": space}
    return Inside(
        **{name: pd.concat(frames) for name, frames in read.items() if frames},
        figures=study.config.get("figures", []),
        staircases=study.config.get("staircases", {}),
        own_cost=study.config.get("own_cost", []),
    )


def _space(cost_path):
    """Return the solution space of the lowest run of a cost table that was searched to the end."""
    *_, dataset, kind, _ = cost_path.parts
    table = read_prices(cost_path)
    names = list(table.loc[table["run"] == table["run"].iloc[0], "feature"])
    for run, costs in profiles_of(table, names).items():
        for path in sorted(cost_path.parents[3].glob(f"subsets/{dataset}/{kind}/*/{run}.csv")):
            frame = pd.read_csv(path, comment="#")
            chosen = frame["subset"].to_numpy()[:, None] >> np.arange(len(names)) & 1
            priced = frame.assign(cost=costs.total(chosen), run=run)
            return priced.assign(dataset=dataset, costs=kind)
    return pd.DataFrame()


def inside_drawings(kept, cases, metadata):
    """Return the figures that show msB from inside.

    Parameters
    ----------
    kept : DataFrame
        From `budgetlearn.benchmark.points.compressed_points`.
    cases : list of (str, str)
        The (dataset, costs) pairs to show.
    metadata : Metadata
        With what is known beside the operating points.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        importance_<dataset>; staircases_<case> and space_<case>.
    """
    inside, figures = metadata.inside, {}
    for case in cases:
        if IMPORTANCE in inside.figures:
            figures[f"importance_{case[0]}"] = importance_figure(metadata, case[0])
        if inside.staircases:
            figures["staircases_{}_{}".format(*case)] = staircase_figure(kept, metadata, *case)
        if SOLUTION_SPACE in inside.figures:
            figures["space_{}_{}".format(*case)] = space_figure(metadata, *case)
    return figures


_WORDS = {
    "importance": (
        "Importance of the variables",
        "Mean fall in validation accuracy of the full model when a variable's values are shuffled; "
        "bars are standard deviations over runs.",
    ),
    "staircases": (
        "Model schedules",
        "Validation accuracy to expect under each budget, in one run.",
    ),
    "space": (
        "The whole solution space",
        "Every subset of the variables by cost and validation accuracy, and the models that msB "
        "visits: by cost 1, 2, 3 …, by importance a, b, c …, other sequences as crosses.",
    ),
}


def inside_sections(names, metadata):
    """Return what the page shows of msB from inside.

    Parameters
    ----------
    names : iterable of str
        Names of all figures of the report.
    metadata : Metadata
        Titles.

    Returns
    -------
    list of dict
        name (of the figure), alt and caption, in the order of the data sets.
    """
    shown = []
    for dataset in metadata.datasets:
        for kind, (alt, caption) in _WORDS.items():
            for name in names:
                if name == f"{kind}_{dataset}" or name.rpartition("_")[0] == f"{kind}_{dataset}":
                    title = metadata.datasets[dataset].get("title", dataset)
                    shown.append({"name": name, "alt": f"{alt}: {title}", "caption": caption})
    return shown
