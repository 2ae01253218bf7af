"""Sentences on who wins, computed from the data."""

from ..analysis.areas import HORIZONS
from ..analysis.differences import FEWEST_CASES
from ..analysis.ranks import (
    LEVEL,
    critical_difference,
    horizon_ranks,
    ranking_of,
    survives_leaving_one_out,
    winners,
)
from ..analysis.schedules import CASE, of_case
from .text import counted


def lead_sentences(leads, display):
    """Return sentences on the best mean AUP, its data sets and its certainty, from `lead_table`."""
    if leads.empty:
        return ["No method completed a single run: see the coverage table."]
    # A data set with one method is no comparison, and is not counted as a win.
    contested = leads.dropna(subset="runner_up")
    alone = len(leads) - len(contested)
    if contested.empty:
        return ["No data set has completed runs of two methods, so there is nothing to compare."]
    gap = [f"On {alone} more, only one method completed runs: no comparison."] if alone else []
    return [_who_wins(contested, display), _how_sure(contested), *gap]


def counts_of(names):
    """Count each name of a Series, the most frequent first."""
    # Stable: of equal counts the one that comes first in the order of data sets.
    return names.value_counts(sort=False).sort_values(ascending=False, kind="stable")


def _who_wins(leads, display):
    """Return the sentence that counts the best means."""
    wins = counts_of(leads["best"]).rename(display.label)
    if len(wins) == 1:
        few = {1: "the one data set compared", 2: "both data sets"}
        where = few.get(len(leads), f"all {len(leads)} data sets")
        return f"{wins.index[0]} has the best mean AUP on {where}."
    # Everybody who is best somewhere is named: a single winner would hide the others.
    shares = [f"{label} on {n}" for label, n in wins.items()]
    return f"Best mean AUP, of {len(leads)} data sets: {', '.join(shares)}."


def _how_sure(leads):
    """Return the sentence that tells which leads are more than other splits would undo."""
    # One run has no spread, so no interval.
    measured = leads.dropna(subset="low")
    if measured.empty:
        return "One run each: the spread between runs is unknown."
    clear, n_cases = int((measured["low"] > 0).sum()), len(measured)
    # "On none of them" would be odd of a single data set.
    if clear < n_cases == 1:
        return "Other splits may well put another method first: the lead may be chance (95 %)."
    if clear == 0:
        return "On none of them is the lead sure: other splits may put another first (95 %)."
    where = "" if n_cases == 1 else f" on {'all' if clear == n_cases else clear} of these {n_cases}"
    return f"The lead over every other method is more than chance would give (95 %){where}."


def peers_ahead(summary, display):
    """Return a sentence on the data sets on which a peer beats every method of the papers."""
    ahead = {}
    cases = display.cases(summary)
    for case in cases:
        # Only methods that completed a run: the constant's area is nobody's win.
        own = of_case(summary, *case).query("n_runs > 0").set_index("method")["mean_test"].dropna()
        own = own[display.rivals(own.reset_index())] if len(own) else own
        best = own.idxmax() if len(own) else None
        if best is not None and display.methods[best].peer:
            ahead.setdefault(best, []).append(display.case_title(*case))
    if not ahead:
        return []
    where = "; ".join(f"{display.methods[n].label} on {', '.join(t)}" for n, t in ahead.items())
    count = sum(map(len, ahead.values()))
    return [f"On {count} of {counted(len(cases), 'data set')} what users pick today wins: {where}."]


def rank_sentences(ranking, display):
    """Return the outcome of the rank tests in words, and the methods they leave out."""
    sentences = []
    n_cases = counted(len(ranking.ranks), "data set")
    # Tests over few data sets are blind or lucky: no p-value is shown.
    if 0 < len(ranking.ranks) < FEWEST_CASES:
        sentences.append(
            f"{n_cases} are too few for a claim about ranks in "
            f"general ({FEWEST_CASES} at least): read the areas and their intervals."
        )
    elif ranking.pairs is not None:
        alike = "may be chance" if ranking.friedman >= LEVEL else "are more than chance"
        sentences.append(
            f"Friedman's test over {n_cases}: p = {ranking.friedman:.2g}, so the differences of "
            f"rank {alike} at {LEVEL:g}. Nemenyi's critical difference is "
            f"{critical_difference(ranking):.2f} ranks; bars join methods within it."
        )
    if ranking.left_out and len(ranking.ranks):
        names = ", ".join(display.label(name) for name in ranking.left_out)
        sentences.append(f"Without a rank, as some data set lacks their area: {names}.")
    return sentences


def winner_sentences(horizons, display):
    """Return sentences on the dependence of the best mean rank on horizon and single data sets.

    `horizons` is from `horizon_table`; there are none where fewer than two methods are ranked.
    """
    methods = display.rivals(horizons)
    ranks = horizon_ranks(horizons, methods)
    first = winners(ranks)
    if len(ranks) < 2 or not first:
        return []
    sentences = [f"{_by_horizon(first, display)}{_ranked_part(horizons, methods)}."]
    # A winner that one data set makes is said to be one.
    stays = survives_leaving_one_out(horizons, methods)
    changing = [_where(horizon) for horizon, same in stays.items() if not same]
    if changing:
        some = "at every horizon" if len(changing) == len(stays) else ", ".join(changing)
        sentences.append(f"Leaving one data set out changes who is first {some}.")
    return sentences


def _ranked_part(horizons, methods):
    """Return the number of ranked data sets in words, where that is not all of them."""
    n_cases = horizons.groupby(CASE).ngroups
    # Ranks are over the data sets that most methods share; readers should know which.
    n_ranked = len(ranking_of(horizons[horizons["horizon"] == "100 %"], methods).means)
    if n_ranked == n_cases:
        return ""
    return f" (over {n_ranked} of {n_cases} data sets, those with the most methods)"


def _where(horizon):
    """Return a horizon in words."""
    return "on a logarithmic cost axis" if HORIZONS[horizon] is None else f"up to {horizon}"


def _by_horizon(first, display):
    """Return the winner at each horizon in words, without a full stop."""
    # One sentence per winner, not per horizon: most horizons share theirs.
    named = {}
    for horizon, method in first.items():
        named.setdefault(display.label(method), []).append(_where(horizon))
    if len(named) == 1:
        return (
            f"{next(iter(named))} has the best mean rank however much of the full cost may be spent"
        )
    listed = "; ".join(f"{label} {', '.join(places)}" for label, places in named.items())
    return f"The best mean rank depends on how much of the full cost may be spent: {listed}"
