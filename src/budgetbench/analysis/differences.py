"""Differences of methods over runs that share a table: leads and paired tests.

Runs split the same table again and again, so their results are not independent; the variance of
a mean over them is corrected for that (Nadeau and Bengio).
"""

import numpy as np
import pandas as pd

from ..study.records import OK
from .schedules import CASE

LEVEL = 0.05
FEWEST_CASES = 10  # with fewer data sets no claim is made about data sets in general
DRAWS = 4000


def reference_of(ranking, methods):
    """Return the peer of best mean rank, else the best method; None where nothing is ranked."""
    order = list(ranking.mean.index)
    return next(iter([name for name in order if methods[name].peer] or order), None)


def difference_table(areas, methods, reference, ratios, bounded=()):
    """Return the differences in AUP to a reference on each data set, measured within runs.

    `ratios` are test rows by training rows of each data set, `bounded` the data sets whose score
    lies in [0, 1] by its nature. p_holm is p after Holm's correction over all rows. A run that one
    of both did not complete counts by its area, the free constant's.
    """
    from statsmodels.stats.multitest import multipletests

    # Within runs: split and prices are the same for both, and drop out of the difference.
    wide = areas.pivot_table(index=[*CASE, "run"], columns="method", values="aup_test")
    rows = []
    for method in (name for name in methods if name != reference and name in wide):
        pairs = wide[[method, reference]].dropna() if reference in wide else wide.iloc[:0]
        for case, frame in pairs.groupby(level=CASE):
            gap = (frame[method] - frame[reference]).to_numpy()
            interval = corrected_interval(gap, ratios[case[0]], bounded=case[0] in bounded)
            rows.append((*case, method, *interval, len(gap)))
    table = pd.DataFrame(rows, columns=[*CASE, "method", "mean", "low", "high", "p", "n_runs"])
    known = table["p"].dropna()
    corrected = multipletests(known, method="holm")[1] if len(known) else []
    return table.assign(p_holm=pd.Series(corrected, known.index, dtype=float))


def overall_table(areas, differences, reference):
    """Return each method's mean difference over data sets with its interval, the best first.

    Data sets are drawn with replacement, each under all kinds of its costs, then runs within each:
    the interval speaks of data sets like these; it is NaN with fewer than `FEWEST_CASES` of them.
    wins, ties and losses go by whether an interval in `differences` excludes 0.
    """
    wide = areas.pivot_table(index=[*CASE, "run"], columns="method", values="aup_test")
    rows = []
    for method, own in differences.groupby("method", sort=False):
        gaps = (wide[method] - wide[reference]).dropna()
        datasets = [own.groupby(level="costs") for _, own in gaps.groupby(level="dataset")]
        groups = [[runs.to_numpy() for _, runs in cases] for cases in datasets]
        low, high = _bootstrap(groups) if len(groups) >= FEWEST_CASES else (np.nan, np.nan)
        wins, losses = int((own["low"] > 0).sum()), int((own["high"] < 0).sum())
        mean = float(np.mean([runs.mean() for cases in groups for runs in cases]))
        rows.append((method, mean, low, high, wins, len(own) - wins - losses, losses, len(own)))
    columns = ["method", "mean", "low", "high", "wins", "ties", "losses", "n_cases"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("mean", ascending=False, kind="stable", ignore_index=True)


def _bootstrap(groups):
    """Return the interval of the mean over the cases of groups, groups and runs drawn anew."""
    random = np.random.default_rng(0)
    drawn, n_cases = np.zeros((DRAWS, len(groups))), np.array([len(cases) for cases in groups])
    for column, runs in ((k, runs) for k, cases in enumerate(groups) for runs in cases):
        members = random.integers(len(runs), size=(DRAWS, len(runs)))
        drawn[:, column] += runs[members].mean(axis=1)
    chosen = random.integers(len(groups), size=(DRAWS, len(groups)))
    means = np.take_along_axis(drawn, chosen, axis=1).sum(axis=1) / n_cases[chosen].sum(axis=1)
    return tuple(np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2]))


def lead_table(areas, methods, ratios, bounded=()):
    """Return the method of the best mean AUP in each case and its lead, run by run.

    The same runs name the best and the runner-up, so the interval is that of the lead over all
    others at once: each difference at the level .05 divided by the number of others (Bonferroni),
    and of these intervals the smallest bounds. Under methods that are equal it lies above 0 in at
    most one of twenty studies, whoever happens to lead. All share splits and cost profiles, so
    leads within runs vary less than means. A method behind the runner-up that lacks runs is left
    out: its failures would make the interval uncertain. With one competitor runner_up is None and
    the numbers NaN. A case that nobody completed is left to the coverage table.
    """
    rows = []
    for case, frame in areas[areas["method"].isin(methods)].groupby(CASE):
        present = frame.loc[frame["status"] == OK, "method"].unique()
        frame = frame[frame["method"].isin(present)]
        table = frame.pivot_table(index="run", columns="method", values="aup_test").dropna()
        ranked = table.mean().sort_values(ascending=False, kind="stable").index
        if not len(ranked):
            continue
        row = dict(zip(CASE, case, strict=True)) | {"best": ranked[0], "runner_up": None}
        if len(ranked) > 1:
            lead = table[ranked[0]] - table[ranked[1]]
            # A rival that failed in some runs would widen the interval by its failures.
            lacking = set(frame.loc[frame["status"] != OK, "method"])
            rivals = [name for name in ranked[1:] if name == ranked[1] or name not in lacking]
            gaps = table[ranked[0]].to_numpy() - table[rivals].to_numpy().T
            # Bonferroni over the others: whoever leads was chosen by the same runs.
            known = {"level": LEVEL / (len(ranked) - 1), "bounded": case[0] in bounded}
            bounds = [corrected_interval(gap, ratios[case[0]], **known)[1:3] for gap in gaps]
            low, high = np.min(bounds, axis=0)
            row |= {"runner_up": ranked[1], "lead": lead.mean(), "lead_sd": lead.std()}
            row |= {"low": low, "high": high, "wins": int((lead > 0).sum()), "n_runs": len(lead)}
        rows.append(row)
    columns = [*CASE, "best", "runner_up", "lead", "lead_sd", "low", "high", "wins", "n_runs"]
    return pd.DataFrame(rows, columns=columns)


def corrected_interval(differences, ratio, level=LEVEL, bounded=False):
    """Return mean, low, high and p of the corrected resampled t test over runs that share examples.

    `ratio` is test rows by training rows, `level` how often the interval may miss the true mean.
    Differences of scores in [0, 1] are `bounded`: their interval ends at -1 and 1. With one run all
    but the mean are NaN. (C. Nadeau and Y. Bengio. Inference for the generalization error. Machine
    Learning 52, 2003.)
    """
    from scipy import stats  # here: planning a report loads no more than it needs

    n_runs, mean = len(differences), float(np.mean(differences))
    if n_runs < 2:
        return mean, np.nan, np.nan, np.nan
    # The corrected variance: a share for test rows by training rows beside the 1 / n.
    error = float(np.sqrt((1 / n_runs + ratio) * np.var(differences, ddof=1)))
    if error == 0:
        return mean, mean, mean, float(mean == 0)
    reach = stats.t.ppf(1 - level / 2, n_runs - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n_runs - 1)
    # The t interval knows no bounds: with two runs it may be wider than the scale.
    most = 1.0 if bounded else np.inf
    low, high = np.clip([mean - reach, mean + reach], -most, most)
    return mean, float(low), float(high), float(p)


def score_interval(scores, ratio, bounded):
    """Return mean, low and high of the 95 % interval of a score over runs that share examples.

    Where the score is `bounded`, in [0, 1] by its nature, the interval is drawn on the logit axis
    (by the delta method), and stays inside. With one run it is NaN.
    """
    from scipy.special import expit, logit

    mean, low, high, _ = corrected_interval(scores, ratio)
    if not bounded or not low < high or not 0 < mean < 1:
        return mean, low, high
    # The derivative of the logit is 1 / (p (1 - p)).
    reach = (high - mean) / (mean * (1 - mean))
    return mean, float(expit(logit(mean) - reach)), float(expit(logit(mean) + reach))
