"""Claims of papers as data, and the one checker that judges them."""

import numpy as np
import pandas as pd

SUPPORTED, NOT_SUPPORTED, UNTESTABLE = "supported", "not supported", "untestable here"
FEWEST = 5  # runs below which a difference within its spread says nothing
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)  # 97.5 % quantiles, 1 to 9 degrees


def check_claim(claim, values_of):
    """Judge a claim by paired differences over runs.

    Parameters
    ----------
    claim : dict
        `compare`, a list of comparisons {less, than, factor}: in each the mean of `less` is to be
        below `factor` (1) times the mean of `than`. A side is {study, dataset, method, setting,
        quantity}, where `than` may leave out what it shares with `less`, or a number. `untestable`:
        why nothing here can judge it.
    values_of : callable
        From a side to a Series of our values by run, empty where they are not kept.

    Returns
    -------
    dict
        verdict: "supported" when the 95 % interval of every difference lies on the claimed side,
        "not supported" when one does not, and "untestable here" when that may be for want of runs:
        with fewer than `FEWEST` only a difference beyond its spread, either way, is a verdict;
        evidence: each comparison in numbers.
    """
    if claim.get("untestable"):
        return {"verdict": UNTESTABLE, "evidence": claim["untestable"]}
    found = [_comparison(one, values_of) for one in claim["compare"]]
    evidence = "; ".join(text for _, text in found)
    verdicts = {verdict for verdict, _ in found}
    for worst in (NOT_SUPPORTED, UNTESTABLE):
        if worst in verdicts:
            return {"verdict": worst, "evidence": evidence}
    return {"verdict": SUPPORTED, "evidence": evidence}


def _comparison(one, values_of):
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
    decided = len(pairs) >= FEWEST or gap.mean() < -reach
    return (NOT_SUPPORTED if decided else UNTESTABLE), text
