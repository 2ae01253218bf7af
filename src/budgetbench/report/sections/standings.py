"""The standings over all data sets: table, mean ranks and leads."""

import pandas as pd

from ...analysis.differences import FEWEST_CASES, lead_table
from ...analysis.ranks import rank_table
from ...analysis.schedules import of_case, score_table
from ...study.study import ACQUISITION
from ..section import Section, figure, table
from ..standings_figures import area_figure, rank_figure
from ..summary import lead_sentences, peers_ahead, rank_sentences
from ..text import DASH, counted, interval, mean_rank, plus_minus

# The cell of a method that the study does not ask for on a data set.
_EMPTY = {"text": DASH, "best": False, "note": ""}
_RANKS = """Mean rank of each method over the data sets, by the area under the Pareto staircase on
test data; 1 is the best. A bar joins methods that Nemenyi's test cannot tell apart."""
_AREAS = """Area under the Pareto staircase (AUP) of test score over acquisition cost, cost as a
share of what all features cost. Faint: every run; large: mean ± standard deviation."""
_SUMMARY = """AUP of every method on every data set: mean and standard deviation over runs on test
data (``mean_test``, ``sd_test``) and on validation data (``mean_valid``, ``sd_valid``), with the
number of runs that completed (``n_runs``), that failed, and that so count as the free constant
(``n_constant``)."""
_LEADS = """The best mean AUP of each data set, the runner-up, and the lead between the two. It is
measured within runs, which share split and prices: mean, standard deviation, in how many runs the
best was ahead, and the 95 % interval of the lead over all others at once (corrected resampled t,
Bonferroni): the same runs say who is best, and who comes second."""
_CONTROLS = "Test score of the controls, which bracket all methods: no feature bought, and all."
_EVERY_RUN = "AUP of every method in every run, and the length of its schedule."


class Standings(Section):
    """Standings of the methods that are compared by acquisition cost."""

    id = "areas"
    title = "Who wins"
    place = 20

    def applies(self):
        return bool(self.study.cases_under(ACQUISITION))

    @property
    def parts(self):
        return [
            figure("ranks", "Who wins", _RANKS, figure="mean ranks"),
            figure("areas", "Who wins", _AREAS, figure="areas under the Pareto"),
            table("areas", _EVERY_RUN),
            table("summary", _SUMMARY),
            table("ranks", _RANKS),
            table("leads", _LEADS),
            table("controls", _CONTROLS),
        ]

    def tables(self, report):
        results, display = report.results, report.display
        return {
            "areas": results.areas,
            "summary": results.summary,
            "ranks": rank_table(results.ranking),
            "leads": lead_table(results.areas, display.competitors, display.test_ratios),
            "controls": score_table(results.bought, display.controls),
        }

    def figures(self, report):
        return {
            "ranks": rank_figure(report.results.ranking, report.display),
            "areas": area_figure(report.results.areas, report.display),
        }

    def summary(self, report):
        display = report.display
        return [
            *peers_ahead(report.results.summary, display),
            *lead_sentences(report.tables["leads"], display),
        ]

    def context(self, report):
        results, display = report.results, report.display
        return {
            "score": display.score(),
            "standings": standings(results.summary, results.ranking, display),
            "valid_standings": standings(
                results.summary, results.valid_ranking, display, part="valid"
            ),
            "ranked": results.ranking.pairs is not None
            and len(results.ranking.ranks) >= FEWEST_CASES,
            "rank_sentences": rank_sentences(results.ranking, display),
            "control_rows": control_rows(report.tables["controls"], display),
            "lead_rows": lead_rows(report.tables["leads"], display),
        }


def standings(summary, ranking, display, part="test"):
    """Return the table methods × data sets of mean AUP, the best mean rank first.

    Parameters
    ----------
    summary : DataFrame
        From `budgetbench.analysis.areas.summary_table`.
    ranking : Ranking
        From `budgetbench.analysis.ranks.ranking_of`.
    part : {"test", "valid"}, default="test"
        Which reading of the area.

    Returns
    -------
    dict
        columns: title and runs (in words) of each case; rows: for each method its Method,
        mean rank as text and cells, each a dict of text, best (bool) and note (runs that count as
        the constant).
    """
    cases = display.cases(summary)
    mean = ranking.mean
    rivals = sorted(display.rivals(summary), key=lambda name: mean.get(name, float("inf")))
    competing = summary[summary["method"].isin(rivals)]
    columns = [_column(of_case(competing, *case), part) for case in cases]
    rows = [
        {
            "method": display.methods[name],
            "rank": mean_rank(mean.get(name)),
            "cells": [column["cells"].get(name, _EMPTY) for column in columns],
        }
        for name in rivals
    ]
    heads = [
        {"title": display.case_title(*case), "runs": counted(column["runs"], "run")}
        for case, column in zip(cases, columns, strict=True)
    ]
    return {"columns": heads, "rows": rows}


def _column(frame, part):
    """Return the cells of one case by method, and the runs that its means are over."""
    # Last bits do not make one of two equal areas the best.
    means = frame[f"mean_{part}"].round(12)
    counting = frame["n_runs"] + frame["n_constant"]
    runs = int(counting.max()) if len(frame) else 0  # where only controls completed
    cells = {
        row["method"]: {
            "text": plus_minus(row[f"mean_{part}"], row[f"sd_{part}"]),
            "best": bool(mean == means.max()) and means.count() > 1,
            "note": f"{row['n_constant']} of {runs} as the constant" if row["n_constant"] else "",
        }
        for row, mean in zip(frame.to_dict("records"), means, strict=True)
    }
    return {"runs": runs, "cells": cells}


def control_rows(scores, display):
    """Return for each control its Method and the texts of its mean test score in each case.

    Parameters
    ----------
    scores : DataFrame
        From `budgetbench.analysis.schedules.score_table`.
    """
    known = scores.set_index(["dataset", "costs", "method"])[["mean", "sd"]]
    return [
        {
            "method": display.methods[name],
            "texts": [
                plus_minus(*known.loc[(*case, name)]) if (*case, name) in known.index else DASH
                for case in display.cases(scores)
            ],
        }
        for name in display.controls
        if name in set(scores["method"])
    ]


def lead_rows(table, display):
    """Return the leads of `budgetbench.analysis.differences.lead_table` as words."""
    rows = []
    ordered = [of_case(table, *case) for case in display.cases(table)]
    for row in (row for part in ordered for row in part.to_dict("records")):
        alone = pd.isna(row["runner_up"])
        rows.append(
            {
                "title": display.case_title(row["dataset"], row["costs"]),
                "best": display.label(row["best"]),
                "runner_up": DASH if alone else display.label(row["runner_up"]),
                "lead": interval(row["lead"], row["low"], row["high"]),
                "wins": DASH if alone else f"{row['wins']:.0f} of {row['n_runs']:.0f}",
            }
        )
    return rows
