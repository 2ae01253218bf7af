"""Who is first when only a part of the full cost may be spent."""

import pandas as pd

from ...analysis.horizons import HORIZONS, horizon_ranks, survives_leaving_one_out, winners
from ...analysis.ranks import ranking_of
from ...analysis.recommendations import HARD, MEAN
from ...analysis.schedules import CASE
from ...study.study import ACQUISITION
from ..section import Section, table
from ..text import mean_rank

_HORIZONS = """Mean AUP of every method on every data set when at most 10, 25, 50 or 100 % of the
full cost may be spent, and on a logarithmic cost axis from 1 % on, where each decade counts alike;
charged the mean over examples (``budget`` mean) or the most expensive example (hard)."""


class Horizons(Section):
    """Mean ranks up to each horizon."""

    id = "horizons"
    title = "How much to spend"
    place = 21

    def applies(self):
        return bool(self.study.cases_under(ACQUISITION))

    @property
    def parts(self):
        return [table("horizons", _HORIZONS)]

    def tables(self, report):
        results = report.results
        views = {MEAN: results.horizons, HARD: results.hard_horizons}
        return {"horizons": pd.concat([view.assign(budget=name) for name, view in views.items()])}

    def context(self, report):
        display, found = report.display, report.results.horizons
        ranks = horizon_ranks(found, display.rivals(found))
        best = ranks.min()
        return {
            "horizons": list(HORIZONS),
            "rows": [
                {
                    "label": display.label(method),
                    "cells": [
                        {
                            "text": mean_rank(row[horizon]),
                            "best": bool(row[horizon] == best[horizon]),
                        }
                        for horizon in HORIZONS
                    ],
                }
                for method, row in ranks.iterrows()
            ],
        }


def winner_sentences(horizons, display):
    """Return whether the best mean rank depends on how much may be spent, and on single data sets.

    Parameters
    ----------
    horizons : DataFrame
        From `budgetbench.analysis.horizons.horizon_table`.
    display : Display
        Labels.

    Returns
    -------
    list of str
        Empty where fewer than two methods are ranked.
    """
    methods = display.rivals(horizons)
    ranks = horizon_ranks(horizons, methods)
    first = winners(ranks)
    if len(ranks) < 2 or not first:
        return []
    sentences = [f"{_by_horizon(first, display)}{_ranked_part(horizons, methods)}."]
    stays = survives_leaving_one_out(horizons, methods)
    changing = [_where(horizon) for horizon, same in stays.items() if not same]
    if changing:
        some = "at every horizon" if len(changing) == len(stays) else ", ".join(changing)
        sentences.append(f"Leaving one data set out changes who is first {some}.")
    return sentences


def _ranked_part(horizons, methods):
    """Return on which data sets methods are ranked, where that is not all of them."""
    n_cases = horizons.groupby(CASE).ngroups
    n_ranked = len(ranking_of(horizons[horizons["horizon"] == "100 %"], methods).means)
    if n_ranked == n_cases:
        return ""
    return f" (over {n_ranked} of {n_cases} data sets, those with the most methods)"


def _where(horizon):
    """Return a horizon in words."""
    return "on a logarithmic cost axis" if horizon == "log" else f"up to {horizon}"


def _by_horizon(first, display):
    """Return who wins at each horizon, without a full stop."""
    if len(set(first.values())) == 1:
        name = display.label(next(iter(first.values())))
        return f"{name} has the best mean rank however much of the full cost may be spent"
    named = {}
    for horizon, method in first.items():
        named.setdefault(display.label(method), []).append(_where(horizon))
    listed = "; ".join(f"{label} {', '.join(places)}" for label, places in named.items())
    return f"The best mean rank depends on how much of the full cost may be spent: {listed}"
