"""Mean ranks when only a part of the full cost may be spent."""

import pandas as pd

from ...analysis.areas import HORIZONS
from ...analysis.ranks import horizon_ranks
from ...analysis.recommendations import HARD, MEAN
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
