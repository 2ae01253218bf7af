"""Judging reruns: printed numbers by interval and margin, claims by paired differences.

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
# Of claims.
SUPPORTED, NOT_SUPPORTED, UNTESTABLE = "supported", "not supported", "untestable here"
# Runs below which a difference within its spread says nothing. It was 2 until the verdicts of the
# first reruns were seen: what that changed is said on docs/reproduction.md.
FEWEST, FEWEST_AT_FIRST = 5, 2
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)  # 97.5 % quantiles, 1 to 9 degrees


def printed_error(quantity, value):
    """Return the error that a printed number states, of which the margin is a share.

    A score's error is what it lacks of 1, an entropy's what it lacks of 100 %; an error or a cost
    is its own.
    """
    if quantity in _SCORES:
        return 1.0 - value
    return 100.0 - value if quantity == "entropy_percent" else value


def agreement_table(table):
    """Judge each printed number of `published_table` that was rerun: return it with more columns.

    se : standard error of the difference, from the spread over runs on both sides and the rounding
        of the printed number, so that runs that agree do not make it 0. A side that prints no
        spread, or has a single run, is taken to spread as the other does; NaN when neither is
        known.
    in_se : the difference in standard errors, within ± `MOST`; NaN where se is.
    margin, share : a tenth of the printed error; the difference as a share of that error.
    in_interval, in_margin : whether each condition holds.
    verdict : "within" (both hold), "interval only", "margin only", "outside" (neither), "single
        run" (se unknown), "clock" (time is not judged), "" (not rerun).
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
    """Return True if ours is the better number; None where neither direction is."""
    lower = table["quantity"].isin(_LOWER_IS_BETTER)
    better = np.where(lower, table["difference"] < 0, table["difference"] > 0).astype(object)
    better[(table["quantity"].isin(_NEITHER_IS_BETTER) | table["difference"].isna())] = None
    return better


def _verdicts(table):
    """Return the verdict on each number: of the cases below the first that applies."""
    interval, margin = table["in_interval"], table["in_margin"]
    cases = {
        "": table["n_runs"] == 0,
        CLOCK: table["quantity"].isin(CLOCKS),
        UNJUDGED: table["se"].isna(),
        WITHIN: interval & margin,
        INTERVAL: interval,
        ONLY_MARGIN: margin,
    }
    verdicts = np.select(list(cases.values()), list(cases), OUTSIDE)
    return pd.Series(verdicts, index=table.index)


def check_claim(claim, values_of, fewest=FEWEST):
    """Judge a claim by paired differences over runs: return its verdict and evidence.

    `claim` has `compare`, a list of comparisons {less, than, factor}: in each the mean of `less` is
    to be below `factor` (1) times the mean of `than`. A side is {study, dataset, method, setting,
    quantity}, where `than` may leave out what it shares with `less`, or a number; `values_of` turns
    it into a Series of our values by run, empty where they are not kept. Or it has `untestable`:
    why nothing here can judge it.

    The verdict is "supported" when the 95 % interval of every difference lies on the claimed side,
    "not supported" when one does not, and "untestable here" when that may be for want of runs: with
    fewer than `fewest` only a difference beyond its spread, either way, is a verdict. The evidence
    is each comparison in numbers.
    """
    if claim.get("untestable"):
        return {"verdict": UNTESTABLE, "evidence": claim["untestable"]}
    found = [_comparison(one, values_of, fewest) for one in claim["compare"]]
    verdicts = {verdict for verdict, _ in found}
    # The worst first: a claim holds as a whole or not at all.
    verdict = next(v for v in (NOT_SUPPORTED, UNTESTABLE, SUPPORTED) if v in verdicts)
    return {"verdict": verdict, "evidence": "; ".join(text for _, text in found)}


def _comparison(one, values_of, fewest):
    """Return the verdict on one comparison, and its numbers."""
    less, factor = values_of(one["less"]), one.get("factor", 1.0)
    if isinstance(one["than"], dict):
        than = values_of({**one["less"], **one["than"]})
    else:
        than = pd.Series(float(one["than"]), index=less.index)
    pairs = pd.concat([less.rename("less"), than.rename("than")], axis=1).dropna()
    if len(pairs) < 2:  # no spread
        return UNTESTABLE, f"{one['less']['dataset']}: {len(pairs)} runs kept"
    gap = factor * pairs["than"] - pairs["less"]
    quantile = _T[len(gap) - 2] if len(gap) - 2 < len(_T) else 2.2
    reach = quantile * gap.std() / np.sqrt(len(gap))
    times = "" if factor == 1 else f"{factor:g} × "
    text = (
        f"{one['less']['dataset']}: {pairs['less'].mean():.4g} against {times}"
        f"{pairs['than'].mean():.4g} ({len(pairs)} runs)"
    )
    if gap.mean() > reach:
        return SUPPORTED, text
    # With few runs "not supported" would only say that they were few.
    decided = len(pairs) >= fewest or gap.mean() < -reach
    return (NOT_SUPPORTED if decided else UNTESTABLE), text
