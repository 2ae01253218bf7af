"""Success of a rerun, by a rule fixed before any number was looked at.

A printed number is reproduced when ours lies in its prediction interval (Patil, Peng and Leek 2016)
*and* within a margin of a tenth of the printed error. The interval alone would pass any noisy
pair, the margin alone would pass a difference that no chance explains.
"""

import numpy as np
import pandas as pd

MARGIN = 0.1  # of the printed error
NORMAL = 1.96  # standard errors of a 95 % interval
MOST = 10.0  # standard errors beyond which a distance says no more
# Verdicts: of numbers that two conditions judge, of those that a single one can, of clocks.
WITHIN, INTERVAL, ONLY_MARGIN = "within", "interval only", "margin only"
OUTSIDE, UNJUDGED, CLOCK = "outside", "single run", "clock"
CLOCKS = ("seconds", "predict_seconds")  # of another machine: nothing to agree with
_SCORES = ("test_score", "valid_score", "estimated_score", "aup_test", "aup_valid", "aup_paper")
_LOWER_IS_BETTER = ("cost", "cost_percent", "error_percent", "mse", "n_features", "n_nodes")
_LOWER_IS_BETTER += ("predict_seconds", "seconds", "test_error")
_NEITHER_IS_BETTER = ("entropy_percent",)


def printed_error(quantity, value):
    """Return the error that a printed number states, of which the margin is a share.

    A score's error is what it lacks of 1, an entropy's what it lacks of 100 %; an error or a cost
    is its own.
    """
    if quantity in _SCORES:
        return 1.0 - value
    return 100.0 - value if quantity == "entropy_percent" else value


def agreement_table(table):
    """Judge each printed number that was rerun.

    Parameters
    ----------
    table : DataFrame
        From `budgetbench.analysis.published.published_table`.

    Returns
    -------
    DataFrame
        With the columns

        se : standard error of the difference, from the spread over runs on both sides and the
            rounding of the printed number, so that runs that agree do not make it 0. A side that
            prints no spread, or has a single run, is taken to spread as the other does; NaN when
            neither is known.
        in_se : the difference in standard errors, within ± `MOST`; NaN where se is.
        margin, share : a tenth of the printed error; the difference as a share of that error.
        in_interval, in_margin : whether each condition holds.
        verdict : "within" (both hold), "interval only", "margin only", "outside" (neither),
            "single run" (se unknown), "clock" (time is not judged), "" (not rerun).
        better : whether ours is the better number; None where neither direction is.
    """
    table = table.assign(se=_standard_errors(table), better=_better(table))
    error = np.array(
        [printed_error(*pair) for pair in zip(table["quantity"], table["value"], strict=True)],
        dtype=float,
    )
    difference = table["difference"].to_numpy(dtype=float)
    slack = 1e-9 * np.abs(table["value"].to_numpy(dtype=float))  # 0.3 - 0.2 is not 0.1
    return table.assign(
        in_se=(difference / table["se"]).clip(-MOST, MOST),
        margin=MARGIN * error,
        share=difference / error,
        in_interval=np.abs(difference) <= NORMAL * table["se"] + slack,
        in_margin=np.abs(difference) <= MARGIN * error + slack,
    ).pipe(lambda judged: judged.assign(verdict=_verdicts(judged)))


def _standard_errors(table):
    """Return the standard error of each difference."""
    own = table["sd"].where(table["n_runs"] > 1)
    printed = table["value_sd"]
    ours = own.fillna(printed) ** 2 / table["n_runs"].clip(lower=1)
    theirs = printed.fillna(own) ** 2 / table["printed_runs"]
    rounding = table["unit"] ** 2 / 12  # variance of what rounding takes away
    return np.sqrt(ours + theirs + rounding)


def _better(table):
    """Return whether ours is the better number; None where neither direction is."""
    lower = table["quantity"].isin(_LOWER_IS_BETTER)
    better = np.where(lower, table["difference"] < 0, table["difference"] > 0).astype(object)
    better[(table["quantity"].isin(_NEITHER_IS_BETTER) | table["difference"].isna())] = None
    return better


def _verdicts(table):
    """Return the verdict on each number."""
    interval, margin = table["in_interval"], table["in_margin"]
    cases = [
        (table["n_runs"] == 0, ""),
        (table["quantity"].isin(CLOCKS), CLOCK),
        (table["se"].isna(), UNJUDGED),
        (interval & margin, WITHIN),
        (interval, INTERVAL),
        (margin, ONLY_MARGIN),
    ]
    return pd.Series(
        np.select([case for case, _ in cases], [name for _, name in cases], OUTSIDE),
        index=table.index,
    )
