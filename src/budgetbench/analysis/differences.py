"""Differences of methods over runs that share a table: leads and paired tests.

As all runs split the same table, the variance of their mean is corrected (Nadeau and Bengio).
"""

import numpy as np
import pandas as pd

from ..study.records import OK
from .schedules import CASE

LEVEL = 0.05
FEWEST_CASES = 10  # with fewer data sets there are no general claims about data sets
SAME = 1e-12  # scores that differ by less are equal but for rounding


def reference_of(results):
    """Return the peer of best mean rank, or the best method if no peer is ranked, or None."""
    order = list(results.ranking.mean.index) if results.completed else []
    peers = [name for name in order if results.compared.methods[name].peer]
    return next(iter(peers or order), None)


def difference_table(areas, methods, reference, ratios, bounded=()):
    """Return the differences in AUP to a reference on each data set, measured within runs.

    `ratios` are the ratios of test rows to training rows, and `bounded` the data sets whose score
    lies in [0, 1] by definition. `p_holm` is p after Holm's correction over all rows. An incomplete
    run counts with the area of the free constant.
    """
    from statsmodels.stats.multitest import multipletests

    # Both methods of a run share split and prices, so their effects cancel in the difference.
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


def overall_table(differences):
    """Return each method's mean difference over data sets with its interval, the best first."""
    from scipy import stats  # here, to keep planning a report fast

    # Each data set, with all kinds of its costs, is one observation of a t test, so the interval is
    # about data sets like these. It is NaN with fewer than `FEWEST_CASES` data sets. A win or a
    # loss is an interval in `differences` that excludes 0; the other intervals are ties.
    rows = []
    for method, own in differences.groupby("method", sort=False):
        mean, cases = own["mean"].mean(), own.groupby("dataset")["mean"].agg(["sum", "size"])
        n, away = len(cases), cases["sum"] - mean * cases["size"]
        # The standard error of a ratio of sums over data sets (differences / kinds of costs), as
        # data sets may have several kinds of costs.
        error = np.sqrt(away @ away * n / (n - 1)) / len(own) if n >= FEWEST_CASES else np.nan
        reach = stats.t.ppf(1 - LEVEL / 2, n - 1) * error
        wins, losses = int((own["low"] > 0).sum()), int((own["high"] < 0).sum())
        counts = wins, own["low"].count() - wins - losses, losses, len(own)
        rows.append((method, mean, mean - reach, mean + reach, *counts))
    columns = ["method", "mean", "low", "high", "wins", "ties", "losses", "n_cases"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("mean", ascending=False, kind="stable", ignore_index=True)


def lead_table(areas, methods, ratios, bounded=()):
    """Return the method of the best mean AUP in each case and its lead, run by run.

    Leads are measured within runs, which share splits and cost profiles, so they vary less than
    means. The same runs choose the best and the runner-up, so the interval is that of the lead over
    all others at once. Each difference has the level .05 divided by the number of others
    (Bonferroni), and the smallest bounds count. Among equal methods the interval lies above 0 in at
    most one of twenty studies, whichever method leads. A method that lacks runs is omitted unless
    it is the runner-up, as its failures would make the interval uncertain. With one competitor
    `runner_up` is None and the numbers are NaN. Cases without completed runs are omitted.
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
            # Failed runs of a rival would widen the interval.
            lacking = set(frame.loc[frame["status"] != OK, "method"])
            rivals = [name for name in ranked[1:] if name == ranked[1] or name not in lacking]
            gaps = table[ranked[0]].to_numpy() - table[rivals].to_numpy().T
            # Bonferroni over all others, as the same runs choose the leader.
            known = {"level": LEVEL / (len(ranked) - 1), "bounded": case[0] in bounded}
            bounds = [corrected_interval(gap, ratios[case[0]], **known)[1:3] for gap in gaps]
            low, high = np.min(bounds, axis=0)  # NaN if the lead over any of them has none
            row |= {"runner_up": ranked[1], "lead": lead.mean(), "lead_sd": lead.std()}
            wins = int((lead > SAME).sum())
            row |= {"low": low, "high": high, "wins": wins, "n_runs": len(lead)}
        rows.append(row)
    columns = [*CASE, "best", "runner_up", "lead", "lead_sd", "low", "high", "wins", "n_runs"]
    return pd.DataFrame(rows, columns=columns)


def corrected_interval(differences, ratio, level=LEVEL, bounded=False):
    """Return mean, low, high and p of the corrected resampled t test over runs that share examples.

    `ratio` is the number of test rows divided by that of training rows, and `level` the error rate
    of the interval. Differences of scores in [0, 1] are `bounded`: their interval is cut at -1 and
    1. With one run, or equal runs other than 0, all values but the mean are NaN. (C. Nadeau and
    Y. Bengio. Inference for the generalization error. Machine Learning 52, 2003.)
    """
    from scipy import stats  # here, to keep planning a report fast

    n_runs, mean = len(differences), float(np.mean(differences))
    if n_runs > 1 and np.max(np.abs(differences)) < SAME:
        return 0.0, 0.0, 0.0, 1.0  # the same predictions
    # Scores of few rows often agree by chance, which says nothing about other splits.
    if np.ptp(differences) < SAME:
        return mean, np.nan, np.nan, np.nan
    # The corrected variance adds the ratio of test rows to training rows to 1 / n.
    error = float(np.sqrt((1 / n_runs + ratio) * np.var(differences, ddof=1)))
    reach = stats.t.ppf(1 - level / 2, n_runs - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n_runs - 1)
    # With two runs the t interval may be wider than the scale.
    most = 1.0 if bounded else np.inf
    low, high = np.clip([mean - reach, mean + reach], -most, most)
    return mean, float(low), float(high), float(p)


def score_interval(scores, ratio, span):
    """Return mean, low and high of the 95 % interval of a score over runs that share examples.

    `span` are the lowest possible score and that of perfect predictions. If it is [0, 1], the
    interval is computed on the logit scale (by the delta method), so that it stays inside. Others
    are cut at perfect predictions. With one run, or equal runs, it is NaN.
    """
    from scipy.special import expit, logit

    mean, low, high, _ = corrected_interval(scores, ratio)
    if span != (0, 1) or not 0 < mean < 1:
        return mean, low, min(high, span[1])
    # The derivative of the logit is 1 / (p (1 - p)).
    reach = (high - mean) / (mean * (1 - mean))
    return mean, float(expit(logit(mean) - reach)), float(expit(logit(mean) + reach))
