"""The importance of the variables that msB starts from (Fig. 2 of Yan et al.)."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...study.study import ACQUISITION
from ..data_page import names_of
from ..display import sequence_method
from ..section import Section, figure
from ..style import house_style, message_figure, new_figure

_MOST_VARIABLES = 40
_CAPTION = """Mean fall in validation accuracy of the full model when a variable's values are
shuffled; bars are standard deviations over runs."""


class VariableImportance(Section):
    """The permutation importance of each variable in the full model."""

    id = "importance"
    title = "Importance"
    place = 80

    def applies(self):
        return "importance" in self.study.config.get("figures", []) and bool(self._datasets)

    @property
    def _datasets(self):
        """Return the data sets for which msB computes importances."""
        names = dict.fromkeys(name for name, _ in self.study.cases_under(ACQUISITION))
        return [name for name in names if sequence_method(self.study, name)]

    @property
    def inputs(self):
        """Tables of importance, …/<dataset>/<method>/<chunk>.csv."""
        study = self.study
        return [
            f"{study.folder}/importance/{dataset}/{method}/{chunk}.csv"
            for dataset in self._datasets
            for method in [sequence_method(study, dataset)]
            for chunk in study.chunks
        ]

    @property
    def parts(self):
        return [
            figure(f"importance_{dataset}", "Inside msB", _CAPTION) for dataset in self._datasets
        ]

    def figures(self, report):
        read = [
            # A run in which it failed is a row without a variable.
            pd.read_csv(path).dropna(subset="variable").assign(dataset=Path(path).parts[-3])
            for path in self.inputs
            if Path(path).exists()
        ]
        empty = pd.DataFrame(columns=["dataset", "run", "variable", "importance"])
        importance = pd.concat(read) if read else empty
        return {
            f"importance_{dataset}": importance_figure(
                importance[importance["dataset"] == dataset],
                names_of(report.prices, dataset),
                report.display.datasets[dataset].title,
            )
            for dataset in self._datasets
        }

    def context(self, report):
        return {
            "figures": [
                (f"importance_{dataset}", report.display.datasets[dataset].title)
                for dataset in self._datasets
            ]
        }


def importance_figure(importance, names, title):
    """Draw the importance of each variable, the most important first.

    Parameters
    ----------
    importance : DataFrame
        run, variable (index), importance.
    """
    if importance.empty:
        return message_figure(f"{title}: no importance was computed.")
    groups = importance.groupby("variable")["importance"]
    table = groups.agg(["mean", "std", "count"]).sort_values("mean", ascending=False, kind="stable")
    shown = table.head(_MOST_VARIABLES)
    with house_style():
        figure = new_figure(6.4, 1.2 + 0.2 * len(shown))
        axes = figure.subplots()
        places = np.arange(len(shown))
        spread = shown["std"] if (shown["count"] > 1).all() else None
        axes.barh(places, shown["mean"], xerr=spread, color="#0072b2", height=0.7)
        axes.set_yticks(places, [names.get(v, f"x{v}") for v in shown.index])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        more = len(table) - len(shown)
        left_out = f" ({more} less important ones left out)" if more else ""
        axes.set(xlabel=f"fall in validation accuracy when shuffled{left_out}", title=title)
    return figure
