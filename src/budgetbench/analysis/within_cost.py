"""What methods reach within the cost of one that has no choice of budget (Yan et al., 5.3)."""

import pandas as pd

from budgetlearn.costs import affords

from ..study.records import OK
from .areas import CONSTANT
from .schedules import CASE, GROUP, RUN

_CASE_RUN = [*CASE, "run"]
_COLUMNS = [*GROUP, "rival", "cost_fraction", "score", "score_sd", "rival_score", "rival_sd"]
_COLUMNS += ["wins", "n_affording", "n_runs"]


def own_cost_table(points, schedules, methods, compared):
    """Return the accuracy of each such method, and of the others within its cost.

    A run in which a rival affords nothing counts with the free constant, as in the area under the
    Pareto (Yan et al., section 5.2).

    Parameters
    ----------
    points : DataFrame
        Operating points.
    schedules : DataFrame
        The same, from `budgetbench.analysis.schedules.compressed_points`.
    methods : sequence of str
        The methods without a choice of budget; their last stage counts, the whole model.
    compared : Comparison
        Their rivals.

    Returns
    -------
    DataFrame
        dataset, costs, method, rival, cost_fraction (mean share of the full cost that `method`
        comes to), score and score_sd of `method`, rival_score and rival_sd at that cost (for a
        control: at its own), wins (runs in which the rival is ahead), n_affording (runs in which
        the rival has a model within that cost), n_runs that both completed.
    """
    good = points[points["status"] == OK].sort_values([*RUN, "stage"])
    whole = good.groupby(RUN).tail(1)[[*RUN, "cost", "cost_fraction", "test_score"]]
    own = whole[whole["method"].isin(methods)]
    free = whole.loc[whole["method"] == CONSTANT, [*_CASE_RUN, "test_score"]]
    own = own.merge(free.rename(columns={"test_score": "free_score"}), on=_CASE_RUN, how="left")
    rows = []
    for rival in [*compared.competitors, *compared.controls]:
        if rival in methods:
            continue
        control = compared.methods[rival].control
        theirs = whole[whole["cost"] > 0] if control else schedules
        theirs = theirs[theirs["method"] == rival]
        pairs = _with_rival(own, theirs, control)
        rows += [_row(rival, key, part) for key, part in pairs.groupby(GROUP)]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _with_rival(own, theirs, control):
    """Add the rival's score in each run, within the own cost unless it is a control."""
    theirs = theirs[[*_CASE_RUN, "cost", "test_score"]]
    pairs = own.merge(theirs, on=_CASE_RUN, suffixes=("", "_rival"))
    within = control | affords(pairs["cost"], pairs["cost_rival"])
    score = pairs["test_score_rival"].where(within, pairs["free_score"])
    pairs = pairs.assign(within=within, rival_score=score).dropna(subset="rival_score")
    return pairs.sort_values([*RUN, "within", "cost_rival"]).groupby(RUN).tail(1)


def _row(rival, key, part):
    """Return the comparison of one method with one rival in one case."""
    return dict(zip(GROUP, key, strict=True)) | {
        "rival": rival,
        "cost_fraction": part["cost_fraction"].mean(),
        "score": part["test_score"].mean(),
        "score_sd": part["test_score"].std(),
        "rival_score": part["rival_score"].mean(),
        "rival_sd": part["rival_score"].std(),
        "wins": int((part["rival_score"] > part["test_score"]).sum()),
        "n_affording": int(part["within"].sum()),
        "n_runs": len(part),
    }
